"use strict";
/* The layout of a view: the graphs that are open, inner ones first, each in steps, so that the
   work can be cut short and done in slices. What did not change is taken from memory. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { sizes, paths } = Hlo;
  /* Layouts that are kept of each graph, so that what was closed opens as it was. */
  const KEPT = 2;
  /* For the sign before the title, and between it and the shape. */
  const TITLE_ROOM = 60;

  /** Geometries, each once. */
  class GeometryStore {
    constructor() {
      this._byKey = new Map();
      this.fresh = [];
      this.module = -1;
    }

    /** Makes the geometry of a sheet, or finds it; `key` says all of it but the sizes. */
    * intern(key, sheet) {
      const clusters = Array.from(sheet.clusters, ([box, { pins, out }]) =>
        [box, out, pins === null ? "" : Array.from(pins).join()].join("/"));
      const whole = [this.module, key, sheet.widths, sheet.heights, sheet.entryKinds, sheet.exits,
        clusters.join(";"), sheet.wanted].join("|");
      let geometry = this._byKey.get(whole);
      if (geometry === undefined) {
        geometry = yield* Hlo.layoutSheet(sheet);
        geometry.id = this._byKey.size;
        this._byKey.set(whole, geometry);
        this.fresh.push(geometry);
      }
      return geometry;
    }
  }

  /** Lays out views of modules; keeps what it knows from one to the next. */
  class LayoutEngine {
    /** `modelOf` gives the Model of a number, -1 for the outer one. */
    constructor(modelOf, widths) {
      this._modelOf = modelOf;
      this._measurer = new Hlo.Measure(widths);
      this._store = new GeometryStore();
      this._structures = new Map();
      this._graphs = new Map();
      this._freshGraphs = [];
      this._forgotten = [];
      this._ids = 0;
    }

    /** A generator: yields whenever it could stop; returns {graphs: ids, freshGraphs,
        freshGeometries, forgotten, times}. `fresh` are those that were not returned before. */
    * run(view) {
      const module = view.module === undefined ? -1 : view.module;
      const model = this._modelOf(module);
      Hlo.labels.settings.named = view.named === true;
      const requests = requestsOf(model, view);
      this._store.module = module;
      const results = new Map();
      for (let n = requests.length - 1; n >= 0; n--) {
        const request = requests[n];
        request.key = `${module}|${view.named ? "named" : ""}|${request.path}`;
        results.set(request, yield* this._graph(model, request, results));
      }
      return this._reply(requests[0], results);
    }

    * _graph(model, request, results) {
      const children = request.opened.map((child) => results.get(child));
      const signature = JSON.stringify([request.depth > 0, request.only, request.folds,
        children.map((child) => child.data.id), request.hintKey]);
      const known = this._graphs.get(request.key) || [];
      const same = known.find((one) => one.signature === signature);
      if (same !== undefined) {
        return same;
      }
      const structure = yield* this._structure(model, request);
      const clusters = clustersOf(model, request, structure, children, this._measurer);
      const drawn = Hlo.graphs.drawnStages(structure, request.folds);
      yield* Hlo.graphs.drawStages(structure, drawn, clusters, request.hint, this._store);
      Hlo.graphs.joinStages(drawn);
      const data = Hlo.graphs.assemble(structure, request, drawn, clusters);
      data.id = this._ids++;
      data.module = this._store.module;
      this._freshGraphs.push(data);
      const graph = { signature, data, ...Hlo.graphs.connections(structure, drawn) };
      this._keep(request.key, known, graph);
      return graph;
    }

    * _structure(model, request) {
      const only = request.only === null ? "" : request.only.join();
      const key = `${request.key}|${request.depth > 0}|${request.only === null}`;
      const known = this._structures.get(key);
      if (known !== undefined && known.only === only) {
        return known.structure;
      }
      const structure = yield* Hlo.graphs.makeStructure(model, request, this._measurer);
      this._structures.set(key, { only, structure });
      return structure;
    }

    _keep(key, known, graph) {
      const kept = [graph, ...known];
      for (const old of kept.splice(KEPT)) {
        this._forgotten.push(old.data.id);
      }
      this._graphs.set(key, kept);
    }

    _reply(first, results) {
      const ids = [], pending = [first];
      for (let n = 0; n < pending.length; n++) {
        const request = pending[n];
        const { data } = results.get(request);
        ids.push(data.id);
        const drawn = new Set(data.children.flatMap(({ children }) =>
          children.map(({ path }) => path)));
        for (const opened of request.opened) {
          if (drawn.has(opened.path)) {
            pending.push(opened);
          }
        }
      }
      const needed = new Set(ids);
      const reply = {
        graphs: ids,
        freshGraphs: this._freshGraphs,
        freshGeometries: this._store.fresh,
        forgotten: this._forgotten.filter((id) => !needed.has(id)),
      };
      this._freshGraphs = [];
      this._store.fresh = [];
      this._forgotten = [];
      return reply;
    }
  }

  /** Returns the graphs of a view, callers before what is open in them. */
  function requestsOf(model, view) {
    const open = new Map(), folds = new Map();
    for (const path of view.open || []) {
      append(open, paths.graph(path), paths.instruction(path));
    }
    for (const [path, first, last] of view.folded || []) {
      append(folds, path, [first, last]);
    }
    const computation = model.computationOf(view.root);
    const requests = [{ path: view.root, computation, depth: 0, role: "",
      caller: callerOf(model, view.root), only: view.only || null }];
    for (let n = 0; n < requests.length; n++) {
      const request = requests[n];
      const hint = view.hint || { key: -1, places: new Map() };
      request.hint = hint.places.get(model.computations[request.computation].name) || null;
      request.hintKey = request.hint === null ? -1 : hint.key;
      request.folds = folds.get(request.path) || [];
      request.opened = [];
      const instructions = new Set(open.get(request.path) || []);
      for (const i of [...instructions].sort((a, b) => a - b)) {
        request.opened.push(...requestsIn(model, request, i));
      }
      for (const opened of request.opened) {
        requests.push(opened);
      }
    }
    return requests;
  }

  function append(lists, key, value) {
    const list = lists.get(key);
    if (list === undefined) {
      lists.set(key, [value]);
    } else {
      list.push(value);
    }
  }

  function requestsIn(model, request, i) {
    const found = [];
    model.callsOf(request.computation, i).forEach(({ computation, role, inside }, call) => {
      if (inside) {
        found.push({ path: paths.enter(request.path, i, call), computation, role,
          depth: request.depth + 1, only: null, call, instruction: i,
          caller: { path: paths.join(request.path, i), computation: request.computation,
            instruction: i, call } });
      }
    });
    return found;
  }

  function callerOf(model, path) {
    const parent = paths.parent(path);
    return parent === null ? null : { path: parent, instruction: paths.instruction(parent),
      computation: model.computationOf(paths.graph(parent)), call: paths.call(path) };
  }

  /** Returns the open clusters of a graph by instruction, with the place of what is in them. */
  function clustersOf(model, request, structure, children, measurer) {
    const byInstruction = new Map();
    const isFolded = (number) =>
      request.folds.some(([first, last]) => first <= number && number <= last);
    request.opened.forEach((child, n) => {
      const q = structure.nodeOf[child.instruction];
      if (q >= 0 && !isFolded(structure.stageOf[q])) {
        append(byInstruction, child.instruction, { child, graph: children[n] });
      }
    });
    const clusters = new Map();
    for (const [i, parts] of byInstruction) {
      clusters.set(i, clusterOf(model, request.computation, i, parts, measurer));
    }
    return clusters;
  }

  /* Bodies stand side by side below the title. */
  function clusterOf(model, c, i, parts, measurer) {
    const titleRow = parts.length > 1 ? 2 * sizes.head : sizes.head;
    const children = [];
    let x = parts.length > 1 ? sizes.rowPadding : 0, height = 0;
    for (const { child, graph } of parts) {
      children.push({ path: child.path, id: graph.data.id, role: child.role, x, y: titleRow });
      x += graph.data.width + (parts.length > 1 ? sizes.rowPadding : 0);
      height = Math.max(height, graph.data.height);
    }
    const title = measurer.width(Hlo.labels.cluster(model, c, i), sizes.small, "bold")
      + measurer.width(Hlo.labels.shape(model, c, i), sizes.text) + TITLE_ROOM;
    const w = Math.ceil(Math.max(x, title)), shift = (w - x) / 2;
    for (const child of children) {
      child.x += shift;
    }
    const { pins, out } = parts[0].graph;
    const single = parts.length === 1;
    const moved = (at) => at + children[0].x;
    return {
      w, h: Math.ceil(titleRow + height), children,
      pins: single && pins.size > 0
        ? new Map(Array.from(pins, ([port, at]) => [port, moved(at)])) : null,
      out: single && out !== null ? moved(out) : w / 2,
    };
  }

  Hlo.LayoutEngine = LayoutEngine;
})(globalThis);
