"use strict";
/* What a layout gives to the page: graphs, their stages, and what stands where. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths, flag, sizes } = Hlo;

  /** One drawn stage of a graph. */
  class Stage {
    constructor(data, geometries, n) {
      this.x = data.stageX[n];
      this.y = data.stageY[n];
      this.geometry = geometries.get(data.stageGeometry[n]);
      this.number = data.stageFirst[n];
      this.last = data.stageLast[n];
      this.kind = data.stageKind[n];
      this.folded = data.stageFolded[n] === 1;
      this.instructions = data.instructions.subarray(
        data.instructionEnds[n], data.instructionEnds[n + 1]);
      this.rowSources = data.rowSources.subarray(data.rowSourceEnds[n], data.rowSourceEnds[n + 1]);
    }
  }

  /** One computation on one call path. */
  class Graph {
    constructor(data, geometries, model) {
      for (const key of ["id", "path", "computation", "depth", "caller", "role", "width", "height",
        "joints", "jointSource", "jointKind", "portals", "portalsOut", "operandStates", "bases",
        "stageNumbers"]) {
        this[key] = data[key];
      }
      this.children = new Map();
      this._data = data;
      this._model = model;
      this._geometries = geometries;
      this._size = model.computations[data.computation].size;
      this._stages = null;
      this._stageOf = null;
      this._nodeOf = null;
    }

    /* Thousands of graphs may be open, and few of them in sight: the rest waits. */
    get stages() {
      if (this._stages === null) {
        this._stages = Array.from(this._data.stageX, (_, n) =>
          new Stage(this._data, this._geometries, n));
      }
      return this._stages;
    }

    get stageOf() {
      this._index();
      return this._stageOf;
    }

    get nodeOf() {
      this._index();
      return this._nodeOf;
    }

    /** Iterates the geometries of the stages. */
    * geometries() {
      for (const id of this._data.stageGeometry) {
        yield this._geometries.get(id);
      }
    }

    _index() {
      if (this._stageOf !== null) {
        return;
      }
      this._stageOf = new Int32Array(this._size).fill(-1);
      this._nodeOf = new Int32Array(this._size).fill(-1);
      this.stages.forEach((stage, number) => {
        const { geometry, instructions, folded } = stage;
        for (let node = 0; node < geometry.size && !folded; node++) {
          this._stageOf[instructions[node]] = number;
          this._nodeOf[instructions[node]] = node;
        }
        if (folded) {
          this._indexFold(stage, number);
        }
      });
    }

    _indexFold(stage, number) {
      this.stageNumbers.forEach((one, instruction) => {
        if (stage.number <= one && one <= stage.last) {
          this._stageOf[instruction] = number;
          this._nodeOf[instruction] = 0;
        }
      });
    }

    /** Joins the graph to those that are open in it. */
    link(graphs) {
      this.children = new Map(this._data.children.map(({ instruction, children }) => [instruction,
        children.map(({ id, role, x, y }) => ({ graph: graphs.get(id), role, x, y }))]));
    }

    /** Whether a line arrives in this graph's open cluster above the pill of child's parameter i;
        else the operand is a chip or a portal. */
    feeds(child, i) {
      const position = Hlo.labels.argumentPosition(this._model, child.caller, child.computation, i);
      const { ends } = this._model.computations[this.computation];
      return position >= 0 && this.operandStates[ends[child.caller.instruction] + position]
        === Hlo.operand.EDGE;
    }

    /** Returns the number of the stage that y is in or just above; y from the top of the graph. */
    stageAt(y) {
      let low = 0, high = this.stages.length - 1;
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.stages[middle].y <= y) {
          low = middle;
        } else {
          high = middle - 1;
        }
      }
      return low;
    }
  }

  /** All that a view shows; README.md lists what it offers. */
  class Picture {
    constructor(view, model, graphs, stats) {
      this.view = view;
      this.model = model;
      this.root = graphs[0];
      this.graphs = new Map(graphs.map((graph) => [graph.path, graph]));
      this.width = this.root.width;
      this.height = this.root.height;
      this._origins = this._placeGraphs();
      this.stats = { ...this._count(), ...stats };
    }

    /** Origins of all graphs in the picture, by path. */
    _placeGraphs() {
      const origins = new Map([[this.root.path, { x: 0, y: 0 }]]);
      const pending = [this.root];
      while (pending.length > 0) {
        const graph = pending.pop(), origin = origins.get(graph.path);
        for (const [instruction, children] of graph.children) {
          const box = boxIn(graph, graph.stageOf[instruction], graph.nodeOf[instruction]);
          for (const child of children) {
            origins.set(child.graph.path,
              { x: origin.x + box.x + child.x, y: origin.y + box.y + child.y });
            pending.push(child.graph);
          }
        }
      }
      return origins;
    }

    _count() {
      const geometries = new Set();
      const stats = { nodes: 0, lines: 0, portals: 0, stages: 0, graphs: this.graphs.size };
      for (const graph of this.graphs.values()) {
        stats.portals += graph.portals.length / 3;
        for (const geometry of graph.geometries()) {
          stats.stages++;
          stats.nodes += geometry.size;
          stats.lines += geometry.lineSource.length;
          geometries.add(geometry.id);
        }
      }
      return { ...stats, geometries: geometries.size };
    }

    /** Returns {x, y} of a graph's corner in the picture, or null if it is not drawn. */
    origin(graphPath) {
      return this._origins.get(graphPath) || null;
    }

    _place(graph, stage, node) {
      const box = boxIn(graph, stage, node), origin = this._origins.get(graph.path);
      const instruction = graph.stages[stage].instructions[node];
      return { x: origin.x + box.x, y: origin.y + box.y, w: box.w, h: box.h, graph, stage, node,
        path: instruction < 0 ? null : paths.join(graph.path, instruction) };
    }

    /** Returns the box of an instruction, or the one that shows it; null if nothing does. */
    find(path) {
      let graphPath = paths.graph(path), instruction = paths.instruction(path);
      let exact = true;
      while (!this.graphs.has(graphPath)) {
        const parent = paths.parent(graphPath);
        if (parent === null) {
          return null;
        }
        graphPath = paths.graph(parent);
        instruction = paths.instruction(parent);
        exact = false;
      }
      const graph = this.graphs.get(graphPath);
      if (instruction < 0) {
        return null;
      }
      const shown = graph.nodeOf[instruction] >= 0
        ? instruction : this._shownBy(graph, instruction);
      if (shown < 0) {
        return null;
      }
      const place = this._place(graph, graph.stageOf[shown], graph.nodeOf[shown]);
      return { ...place, exact: exact && place.path === paths.join(graphPath, instruction) };
    }

    /* A label belongs to what it is a part of, a chip to the first box that has it. */
    _shownBy(graph, instruction) {
      const base = graph.bases[instruction];
      if (graph.nodeOf[base] >= 0) {
        return base;
      }
      if (this._isLeftOut(graph, base)) {
        return -1;
      }
      let next = [base];
      const seen = new Set(next);
      while (next.length > 0) {
        const users = next.flatMap((i) => [...this.model.usersOf(graph.computation, i)]);
        const box = users.find((i) => graph.nodeOf[i] >= 0);
        if (box !== undefined) {
          return box;
        }
        next = users.filter((i) => !seen.has(i) && seen.add(i));
      }
      return -1;
    }

    _isLeftOut(graph, instruction) {
      const { only } = this.view;
      if (graph !== this.root || !only) {
        return false;
      }
      this._kept = this._kept || new Set(only);
      return !this._kept.has(instruction);
    }

    /** Returns the innermost box at a point, or null. */
    nodeAt(x, y) {
      let graph = this.root, found = null;
      while (graph !== null) {
        const origin = this._origins.get(graph.path);
        const hit = hitIn(graph, x - origin.x, y - origin.y);
        if (hit === null) {
          break;
        }
        found = this._place(graph, hit.stage, hit.node);
        graph = this._childAt(found, x, y);
      }
      return found;
    }

    _childAt(place, x, y) {
      if (place.path === null) {
        return null;
      }
      const children = place.graph.children.get(paths.instruction(place.path)) || [];
      for (const child of children) {
        const left = place.x + child.x, top = place.y + child.y;
        if (x >= left && x <= left + child.graph.width && y >= top
          && y <= top + child.graph.height) {
          return child.graph;
        }
      }
      return null;
    }

    /** Returns the row of a box at a point: nodeAt's and {row, kind, source, port, y0}; or null. */
    rowAt(x, y) {
      const place = this.nodeAt(x, y);
      if (place === null) {
        return null;
      }
      const stage = place.graph.stages[place.stage];
      const { rowEnds, rowKinds, rowPorts } = stage.geometry;
      const row = Math.floor((y - place.y - sizes.rowTop) / sizes.row);
      const at = rowEnds[place.node] + row;
      if (row < 0 || at >= rowEnds[place.node + 1]) {
        return null;
      }
      return { ...place, row: at, kind: rowKinds[at], source: stage.rowSources[at],
        port: rowPorts[at], y0: place.y + sizes.rowTop + row * sizes.row };
    }

    /** Returns where boxes stand from left to right: a Map from names of computations to Maps from
        names of instructions to x. It is what a hint is made of. */
    places() {
      const places = new Map();
      for (const graph of this.graphs.values()) {
        const inGraph = new Map(), c = graph.computation;
        for (const { x, geometry, instructions, folded } of graph.stages) {
          for (let node = 0; node < geometry.size && !folded; node++) {
            inGraph.set(this.model.name(c, instructions[node]),
              x + geometry.x[node] + geometry.w[node] / 2);
          }
        }
        places.set(this.model.computations[c].name, inGraph);
      }
      return places;
    }

    /** Iterates the paths of all boxes. */
    * instructionPaths() {
      for (const graph of this.graphs.values()) {
        for (const { geometry, instructions, folded } of graph.stages) {
          for (let node = 0; node < geometry.size && !folded; node++) {
            yield paths.join(graph.path, instructions[node]);
          }
        }
      }
    }
  }

  function boxIn(graph, stage, node) {
    const { x, y, geometry } = graph.stages[stage];
    return { x: x + geometry.x[node], y: y + geometry.y[node], w: geometry.w[node],
      h: geometry.h[node] };
  }

  /** Returns {stage, node} of the box of a graph at a point of it, or null. */
  function hitIn(graph, x, y) {
    if (graph.stages.length === 0) {
      return null;
    }
    const number = graph.stageAt(y), stage = graph.stages[number], { geometry } = stage;
    const inX = x - stage.x, inY = y - stage.y;
    for (let r = 0; r < geometry.layerTop.length; r++) {
      if (inY < geometry.layerTop[r] || inY > geometry.layerBottom[r]) {
        continue;
      }
      for (let node = geometry.layerNodes[r]; node < geometry.layerNodes[r + 1]; node++) {
        if (inX >= geometry.x[node] && inX <= geometry.x[node] + geometry.w[node]
          && inY <= geometry.y[node] + geometry.h[node]) {
          return { stage: number, node };
        }
      }
    }
    return null;
  }

  /** Makes pictures of replies of the layout; holds what later replies refer to. */
  class PictureAlbum {
    constructor(modelOf) {
      this._modelOf = modelOf;
      this._geometries = new Map();
      this._graphs = new Map();
    }

    /** Returns the Picture of a reply. */
    add(view, reply) {
      const model = this._modelOf(view.module === undefined ? -1 : view.module);
      for (const geometry of reply.freshGeometries) {
        this._geometries.set(geometry.id, geometry);
      }
      const fresh = reply.freshGraphs.map((data) =>
        new Graph(data, this._geometries, this._modelOf(data.module)));
      for (const graph of fresh) {
        this._graphs.set(graph.id, graph);
      }
      for (const graph of fresh) {
        graph.link(this._graphs);
      }
      const picture = new Picture(view, model, reply.graphs.map((id) => this._graphs.get(id)),
        reply.stats);
      for (const id of reply.forgotten) {
        this._graphs.delete(id);
      }
      return picture;
    }
  }

  Hlo.Picture = Picture;
  Hlo.PictureAlbum = PictureAlbum;
  Hlo.hasFlag = (geometry, node, wanted) => (geometry.flags[node] & flag[wanted]) !== 0;
})(globalThis);
