"use strict";
/* What the page shows at the moment: module, open clusters, selection; and the way back. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const paths = Hlo.paths;
  const MOST_STEPS = 100, MOST_CLUSTERS = 20000;

  /** Returns the graph paths from `top` (left out) down to `graphPath`. */
  function below(top, graphPath) {
    const found = [];
    for (let at = graphPath; at !== null && at !== top; ) {
      found.unshift(at);
      const caller = paths.parent(at);
      at = caller === null ? null : paths.graph(caller);
    }
    return found;
  }

  function isInside(top, graphPath) {
    return graphPath === top || graphPath.startsWith(`${top}/`);
  }

  /** Paths of all instructions at and below a graph that show a graph inside when opened. */
  function clustersBelow(model, top) {
    const found = [], work = [top];
    while (work.length > 0 && found.length < MOST_CLUSTERS) {
      const graphPath = work.pop(), c = model.computationOf(graphPath);
      for (const i of model.computations[c].callIndex.keys()) {
        const calls = model.callsOf(c, i);
        if (calls.some(({ inside }) => inside)) {
          found.push(paths.join(graphPath, i));
        }
        calls.forEach(({ inside }, number) => {
          if (inside) {
            work.push(paths.enter(graphPath, i, number));
          }
        });
      }
    }
    return found;
  }

  /**
   * The state of the page. Signals: "picture" (laid out again), "camera", "selection", "hover",
   * "root" (another graph is shown), "colours" (overlay, filter or theme), "hits", "module",
   * "busy" (true while a layout takes long).
   */
  class Viewer {
    /** `model`: of the outer module, with the others in it; `layouter` as in README.md. */
    constructor(model, layouter) {
      this.outer = model;
      this._modelOf = Hlo.modelsOf(model);
      this.layouter = layouter;
      this.signals = new Hlo.Signals();
      this.camera = new Hlo.Camera(() => this.signals.give("camera"));
      this.picture = null;
      this.theme = null;
      this.overlay = null;
      this.hits = [];
      this.hit = -1;
      /** (computation, instruction) -> true for what is drawn pale; null: nothing is. */
      this.isPale = null;
      this._pale = new Map();
      /** instruction path -> "added" | "removed" | "changed" | ""; null: nothing is marked. */
      this.markOf = null;
      this._history = [];
      this._future = [];
      this.shownModule = -1;
      this._reset(-1);
    }

    /** The model of what is drawn: another module counts once it is laid out. */
    get model() { return this._modelOf(this.shownModule); }

    _reset(module) {
      this.module = module;
      this.root = String(this._modelOf(module).entry);
      this.open = new Set();
      this.folded = [];
      this.only = null;
      this.hidden = new Set();
      this.focus = null;
      this.selected = "";
      this.hovered = "";
    }

    /** Begins with another module than the outer one; before the first layout. */
    startWith(module) {
      this.shownModule = module;
      this._reset(module);
      this.signals.give("module");
    }

    /**
     * Draws pale what a test of (computation, instruction) holds of, besides what the tests of
     * other owners hold of; null: this owner makes nothing pale any more.
     */
    pale(owner, test) {
      if (test === null) {
        this._pale.delete(owner);
      } else {
        this._pale.set(owner, test);
      }
      const tests = [...this._pale.values()];
      this.isPale = tests.length === 0 ? null : (c, i) => tests.some((one) => one(c, i));
      this.signals.give("colours");
    }

    /** The view that the layouter is asked for. */
    view(hint = null) {
      return {
        module: this.module, root: this.root, open: [...this.open], folded: this.folded,
        only: this._shown(), hint,
      };
    }

    /** Instructions of the root that are left when cones and hidden ones are taken into account. */
    _shown() {
      if (this.hidden.size === 0) {
        return this.only;
      }
      const model = this._modelOf(this.module);
      const { size } = model.computations[model.computationOf(this.root)];
      const all = this.only || Array.from({ length: size }, (_, i) => i);
      return all.filter((i) => !this.hidden.has(i));
    }

    /**
     * Lays out again. The box of `anchor` (an instruction path) stays where it is on the screen.
     * Returns whether it was done, or false if a newer layout came before it.
     */
    async layout({ anchor = "", hint = null } = {}) {
      const before = anchor && this.picture ? this.picture.find(anchor) : null;
      const screen = before && this.camera.toScreen(before.x, before.y);
      const busy = setTimeout(() => this.signals.give("busy", true), 250);
      const turn = this._turn = (this._turn || 0) + 1;
      try {
        const picture = await this.layouter.layout(this.view(hint)).promise;
        if (turn !== this._turn) {
          // It was done already when another was asked for: what it shows is of another state.
          return false;
        }
        this.picture = picture;
      } catch (error) {
        if (error instanceof Hlo.Cancelled) {
          return false;
        }
        throw error;
      } finally {
        clearTimeout(busy);
        this.signals.give("busy", false);
      }
      this.camera.bounds = this.picture;
      const after = anchor ? this.picture.find(anchor) : null;
      if (screen && after) {
        this.camera.pin(after.x, after.y, screen);
      }
      if (this.shownModule !== this.module) {
        this.shownModule = this.module;
        this.signals.give("module");
      }
      this.signals.give("picture");
      return true;
    }

    /** Selects an instruction ("" for none) without moving. */
    select(path) {
      if (path !== this.selected) {
        this.selected = path;
        this.signals.give("selection");
      }
    }

    hover(path) {
      if (path !== this.hovered) {
        this.hovered = path;
        this.signals.give("hover");
      }
    }

    /** Returns the overview of the picture's stages, made once a picture. */
    overview() {
      if (this._overviewOf !== this.picture) {
        this._overviewOf = this.picture;
        this._overview = Hlo.overview(this.picture);
      }
      return this._overview;
    }

    /** Returns the box that shows the selection, or null. */
    selectedBox() {
      return this.selected && this.picture && this.shownModule === this.module
        ? this.picture.find(this.selected) : null;
    }

    /** Selects an instruction and goes there; `inside`: opens what it is in. */
    async jump(path, { inside = true } = {}) {
      this.remember();
      this.select(path);
      await this.reveal(path, inside);
    }

    /** Brings an instruction into sight; opens the clusters around it if `inside`. */
    async reveal(path, inside = true) {
      const graphPath = paths.graph(path);
      let changed = this._toRootOf(graphPath);
      if (inside) {
        for (const step of below(this.root, graphPath)) {
          const caller = paths.parent(step);
          changed = changed || !this.open.has(caller);
          this.open.add(caller);
        }
      }
      changed = this._outOfFocus(path) || changed;
      if (changed && !(await this.layout())) {
        return;
      }
      const box = this.picture.find(path);
      if (box) {
        this.camera.show(box);
      }
    }

    _toRootOf(graphPath) {
      if (isInside(this.root, graphPath)) {
        return false;
      }
      this._setRoot(graphPath.split("/")[0]);
      return true;
    }

    /** Gives up cones and hidden nodes where they leave an instruction out. */
    _outOfFocus(path) {
      const shown = this._shown();
      const i = this.inRoot(path);
      if (shown === null || shown.includes(i)) {
        return false;
      }
      this.only = null;
      this.hidden.clear();
      this.focus = null;
      this.signals.give("focus");
      return true;
    }

    /** Returns the instruction of the root that is or holds the one of a path. */
    inRoot(path) {
      const [step] = below(this.root, paths.graph(path));
      return paths.instruction(step === undefined ? path : paths.parent(step));
    }

    _setRoot(graphPath) {
      this.root = graphPath;
      this.only = null;
      this.hidden.clear();
      this.focus = null;
      this.folded = [];
      this.signals.give("focus");
      this.signals.give("root");
    }

    /** Whether an instruction can be opened in place. */
    canOpen(path) {
      const c = this.model.computationOf(paths.graph(path));
      return this.model.callsOf(c, paths.instruction(path)).some((call) => call.inside);
    }

    /** Opens a cluster in place, or closes it. */
    async toggle(path) {
      if (!this.canOpen(path)) {
        return;
      }
      this.remember();
      if (!this.open.delete(path)) {
        this.open.add(path);
      } else if (this.selected.startsWith(`${paths.graph(path)}/${paths.instruction(path)}.`)) {
        this.select(path);
      }
      await this.layout({ anchor: path });
    }

    /** Returns the paths of all that can be opened below the root; found once for each root. */
    everything() {
      const key = `${this.module}:${this.root}`;
      if (this._everythingOf !== key) {
        this._everythingOf = key;
        this._everything = clustersBelow(this._modelOf(this.module), this.root);
      }
      return this._everything;
    }

    /** Opens every cluster below the root; closes them where all are open. */
    async openAll() {
      this.remember();
      const all = this.everything();
      this.open = new Set(this.isAllOpen ? [] : all);
      await this.layout({ anchor: this.selected || this.middle() });
    }

    /** Returns the path of the box of the root that is nearest to the middle, or "". */
    middle() {
      const { x0, y0, x1, y1 } = this.camera.sight, x = (x0 + x1) / 2, y = (y0 + y1) / 2;
      const node = this.picture.nodeAt(x, y), { root: graph } = this.picture;
      if (node !== null && node.path !== null) {
        return node.path;
      }
      const stage = graph.stages[graph.stageAt(y)];
      let best = "", least = Infinity;
      for (let n = 0; stage && !stage.folded && n < stage.geometry.size; n++) {
        const { geometry } = stage;
        const far = Math.hypot(stage.x + geometry.x[n] + geometry.w[n] / 2 - x,
          stage.y + geometry.y[n] + geometry.h[n] / 2 - y);
        if (far < least) {
          least = far;
          best = paths.join(graph.path, stage.instructions[n]);
        }
      }
      return best;
    }

    get isAllOpen() {
      const all = this.everything();
      return all.length > 0 && this.open.size >= all.length
        && all.every((path) => this.open.has(path));
    }

    /** Shows a graph alone. */
    async openAlone(graphPath) {
      this.remember();
      this._setRoot(graphPath);
      if (await this.layout()) {
        this.start();
      }
    }

    /** Shows another module; the selection stays on the instruction of the same name. */
    async showModule(number) {
      this.remember();
      const name = this.selected && this.nameOf(this.selected);
      const hint = this.picture, model = this._modelOf(number);
      this._reset(number);
      const [place] = name ? model.find(name) : [];
      const path = place ? model.pathOf(place.computation, place.instruction) : "";
      if (!(await this.layout({ hint }))) {
        return;
      }
      this.selected = path;
      this.signals.give("selection");
      this.signals.give("root");
      const box = this.selectedBox();
      if (box === null) {
        this.start();
      } else {
        this.camera.show(box);
      }
    }

    nameOf(path) {
      return this.model.name(this.model.computationOf(paths.graph(path)), paths.instruction(path));
    }

    /** Looks at the beginning: all if it is readable so, else the top. */
    start(quick = true) {
      const { width, height, root: graph } = this.picture;
      const k = this.camera.fitting(width, height);
      if (k >= 0.55) {
        this.camera.fit({ x: 0, y: 0, w: width, h: height }, 1.1, quick);
        return;
      }
      const stage = graph.stages[0];
      const geometry = stage && stage.geometry;
      const { reading } = this.camera;
      const isNarrow = !stage || width * reading <= this.camera.width;
      const middle = isNarrow ? width / 2 : stage.x + (geometry.left + geometry.right) / 2;
      this.camera.glide(middle - this.camera.width / 2 / reading, -16 / reading, reading, quick);
    }

    /** Brings all into sight. */
    fit() {
      const { width, height } = this.picture;
      this.camera.fit({ x: 0, y: 0, w: width, h: height });
    }

    /** Keeps the present state, so that `back` can return to it. */
    remember() {
      if (this.picture) {
        this._history.push(this._state());
        this._history.splice(0, this._history.length - MOST_STEPS);
        this._future = [];
      }
    }

    _state() {
      const { x, y, k } = this.camera;
      const { module, root: top, only, focus, selected } = this;
      return { module, root: top, only, focus, selected, x, y, k,
        open: new Set(this.open), hidden: new Set(this.hidden), folded: this.folded };
    }

    /** Goes back to the state before the last jump, opening or focus. */
    async back() {
      await this._travel(this._history, this._future);
    }

    async forward() {
      await this._travel(this._future, this._history);
    }

    async _travel(from, to) {
      const state = from.pop();
      if (state === undefined) {
        return;
      }
      to.push(this._state());
      const { module, x, y, k, ...rest } = state;
      this.module = module;
      Object.assign(this, rest, { open: new Set(rest.open), hidden: new Set(rest.hidden) });
      if (await this.layout()) {
        this.signals.give("root");
        this.signals.give("focus");
        this.signals.give("selection");
        this.camera.glide(x, y, k);
      }
    }
  }

  Hlo.Viewer = Viewer;
})(globalThis);
