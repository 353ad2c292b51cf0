"use strict";
/* What the page shows at the moment: module, open clusters, selection; and the way back. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const paths = Hlo.paths;
  const MOST_STEPS = 100;

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

  /** Returns {x0, x1}, from where to where the boxes in the first `height` px of a picture are. */
  function firstRows({ root: graph, width }, height) {
    let x0 = Infinity, x1 = -Infinity;
    for (const { geometry, x, y } of graph.stages.slice(0, 1)) {
      for (let n = 0; n < geometry.size && y + geometry.y[n] < height; n++) {
        x0 = Math.min(x0, x + geometry.x[n]);
        x1 = Math.max(x1, x + geometry.x[n] + geometry.w[n]);
      }
    }
    return x0 < x1 ? { x0, x1 } : { x0: 0, x1: width };
  }

  /**
   * The state of the page; README.md lists its signals.
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
      /** (computation, instruction) -> true for what is chosen in the legend; null: all is. */
      this.legendTest = null;
      /** instruction path -> "added" | "removed" | "changed" | ""; null: nothing is marked. */
      this.markOf = null;
      /** Which lines are wide, as a LineWidths; null: all are alike. */
      this.widths = null;
      /**
       * What is said of an edge: {from, to, mark, text}, of instruction paths ("" where one is
       * gone) and a colour of the palette; null: nothing.
       */
      this.edgeNote = null;
      /** What is drawn pale below the picture, as of ghosts.js; null: nothing. */
      this.ghosts = null;
      /** Boxes that are chosen together. */
      this.group = new Hlo.Group(this);
      this._history = [];
      this._future = [];
      this._layouts = 0;
      this.shownModule = -1;
      this.selected = "";
      this.hovered = "";
      this.reset(-1);
    }

    /** The model of what is drawn: another module counts once it is laid out. */
    get model() { return this._modelOf(this.shownModule); }

    /** Takes a module without anything open, folded or left out; before a layout. */
    reset(module) {
      this.module = module;
      this.root = String(this._modelOf(module).entry);
      this.open = new Set();
      this.folded = [];
      this.only = null;
      this.hidden = new Set();
      this.focus = null;
    }

    /** Begins with another module than the outer one; before the first layout. */
    startWith(module) {
      this.shownModule = module;
      this.reset(module);
      this.signals.give("module");
    }

    /** The model of `module`, drawn or on its way. */
    get coming() { return this._modelOf(this.module); }

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

    /** Whether a layout is on its way. */
    get isLayingOut() { return this._layouts > 0; }

    /**
     * Whether another module is on its way: `module`, `root`, `open` and the like are of that one
     * already, but picture, model and selection still of the one that is seen. What takes paths of
     * the picture and changes what is open does nothing then.
     */
    get isAway() { return this.picture === null || this.module !== this.shownModule; }

    /** The view that the layouter is asked for. */
    view(hint = null) {
      return {
        module: this.module, root: this.root, open: [...this.open],
        folded: this.isPart ? [] : this.folded, only: this._shown(), hint,
      };
    }

    /** Whether cones or hidden boxes leave some of the root out. */
    get isPart() { return this.only !== null || this.hidden.size > 0; }

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
      this._layouts++;
      try {
        const picture = await this.layouter.layout(this.view(hint)).promise;
        if (turn !== this._turn) {
          // It was done already when another was asked for: what it shows is of another state.
          return false;
        }
        this.picture = picture;
        Hlo.labels.settings.named = picture.view.named;
      } catch (error) {
        if (error instanceof Hlo.Cancelled) {
          return false;
        }
        throw error;
      } finally {
        clearTimeout(busy);
        this._layouts--;
        this.signals.give("busy", false);
      }
      this.camera.bounds = this.picture;
      const after = anchor ? this.picture.find(anchor) : null;
      if (screen && after) {
        this.camera.pin(after.x, after.y, screen);
      }
      if (this.shownModule !== this.module) {
        this._arrive();
      }
      this.signals.give("picture");
      return true;
    }

    /* Another module is drawn: what is selected by now is what is called so there. */
    _arrive() {
      const old = this.model;
      this.shownModule = this.module;
      this.selected = old.pathIn(this.model, this.selected);
      this.hovered = "";
      this.legendTest = null;
      this.signals.give("module");
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
      if (this.isAway) {
        return;
      }
      const graphPath = paths.graph(path);
      let changed = this._toRootOf(graphPath);
      if (inside) {
        for (const step of below(this.root, graphPath)) {
          const caller = paths.parent(step);
          changed = changed || !this.open.has(caller);
          this.open.add(caller);
        }
      }
      changed = this._unfoldAround(path) || changed;
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

    /** Unfolds the repeats that an instruction is one of. */
    _unfoldAround(path) {
      const box = this.picture === null ? null : this.picture.find(path);
      const stage = box === null ? null : box.graph.stages[box.stage];
      if (stage === null || !stage.folded) {
        return false;
      }
      const fold = Hlo.foldOf(this.folded, box.graph, stage);
      this.folded = this.folded.filter((one) => one !== fold);
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

    /** Returns the instruction of the root that is or holds that of a path; -1: it is outside. */
    inRoot(path) {
      if (!isInside(this.root, paths.graph(path))) {
        return -1;
      }
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
      if (this.isAway || !this.canOpen(path)) {
        return;
      }
      this.remember();
      if (!this.open.delete(path)) {
        this.open.add(path);
      } else if (this.selected.startsWith(`${paths.graph(path)}/${paths.instruction(path)}.`)) {
        this.select(path);
      }
      if (await this.layout({ anchor: path })) {
        this.camera.uncover(this.picture.find(path));
      }
    }

    /** Returns the paths of all that can be opened below the root; found once for each root. */
    everything() {
      const key = `${this.module}:${this.root}`;
      if (this._everythingOf !== key) {
        this._everythingOf = key;
        this._everything = Hlo.clustersBelow(this._modelOf(this.module), this.root);
      }
      return this._everything;
    }

    /** Opens every cluster below the root; closes them where all are open. */
    async openAll() {
      if (this.isAway) {
        return;
      }
      this.remember();
      const all = this.everything();
      this.open = new Set(this.isAllOpen ? [] : all);
      await this.layout({ anchor: this.selected || this.middle() });
    }

    /** Returns the path of the box of the root that is nearest to the middle, or "". */
    middle() {
      if (this.picture === null) {
        return "";
      }
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
      if (this.isAway) {
        return;
      }
      this.remember();
      this._setRoot(graphPath);
      if (await this.layout()) {
        this.start();
      }
    }

    /** Shows another module; the selection stays on the instruction of the same name. */
    async showModule(number) {
      if (this.picture === null) {
        return;
      }
      this.remember();
      const hint = this.picture;
      this.reset(number);
      if (!(await this.layout({ hint }))) {
        return;
      }
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

    /** Looks at the beginning: all if it is easily read so, else the top. */
    start(quick = true) {
      const { camera, picture } = this;
      if (picture === null) {
        return;
      }
      const { width, height } = picture;
      if (camera.fitting(width, height) >= camera.readable) {
        camera.fit({ x: 0, y: 0, w: width, h: height }, 1.1, quick);
        return;
      }
      const { x0, x1 } = firstRows(picture, camera.height);
      const k = Math.max(camera.reading, Math.min(1, camera.fitting(x1 - x0, 1)));
      const { x, y } = camera.tidied((x0 + x1) / 2 - camera.width / 2 / k, 0, k);
      camera.glide(x, Math.max(y, -16 / k), k, quick);
    }

    /** Brings all into sight. */
    fit() {
      if (this.picture === null) {
        return;
      }
      const { width, height } = this.picture;
      this.camera.fit({ x: 0, y: 0, w: width, h: height });
    }

    /** Keeps the present state, so that `back` can return to it. */
    remember() {
      if (!this.isAway) {
        this._history.push(this._state());
        this._history.splice(0, this._history.length - MOST_STEPS);
        this._future = [];
      }
    }

    _state() {
      const { x, y, k } = this.camera;
      const { module, root: top, only, focus } = this;
      const selected = this.isAway ? "" : this.selected;
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
      const { module, x, y, k, selected, ...rest } = state;
      Object.assign(this, rest, { module, open: new Set(rest.open), hidden: new Set(rest.hidden) });
      if (await this.layout()) {
        this.selected = selected;
        this.signals.give("root");
        this.signals.give("focus");
        this.signals.give("selection");
        this.camera.glide(x, y, k);
      }
    }
  }

  Hlo.Viewer = Viewer;
})(globalThis);
