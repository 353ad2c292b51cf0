"use strict";
/* Parts of a graph alone: what a value needs or feeds, paths between two, hidden boxes. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const RADII = [1, 2, 3, 5, 10, Infinity];
  const DIRECTIONS = ["up", "down", "both"];
  const WORDS = { up: "what it needs", down: "what it feeds", both: "needs and feeds" };

  /** Returns the instructions within `radius` steps against (up) or along (down) the edges. */
  function cone(model, c, start, direction, radius) {
    const seen = new Set(start);
    const nearOf = direction === "up"
      ? (i) => [...model.operandsOf(c, i), ...model.controlBefore(c, i)]
      : (i) => [...model.usersOf(c, i), ...model.controlAfter(c, i)];
    let edge = [...start];
    for (let step = 0; step < radius && edge.length > 0; step++) {
      const next = [];
      for (const i of edge) {
        for (const near of nearOf(i)) {
          if (!seen.has(near)) {
            seen.add(near);
            next.push(near);
          }
        }
      }
      edge = next;
    }
    return seen;
  }

  /** Returns the instructions on paths between two, in either direction; empty if there is none. */
  function between(model, c, one, other) {
    const [from, to] = one < other ? [one, other] : [other, one];
    const after = cone(model, c, [from], "down", Infinity);
    if (!after.has(to)) {
      return new Set();
    }
    const before = cone(model, c, [to], "up", Infinity);
    return new Set([...after].filter((i) => before.has(i)));
  }

  class Focus {
    constructor(viewer, place, notice) {
      Object.assign(this, { viewer, place, notice });
      /** The path that the next click is the other end of, or "". */
      this.waiting = "";
      viewer.signals.on("module", () => { this.waiting = ""; });
      viewer.signals.on("focus picture", () => this._show());
    }

    get _root() {
      return this.viewer.model.computationOf(this.viewer.root);
    }

    /* Whether nothing can be done as some are not in the graph that is shown, and says so. */
    _isElsewhere(found) {
      const isOutside = !this.viewer.isAway && found.some((i) => i < 0);
      if (isOutside) {
        this.notice("That is not in the graph that is shown: u leads out to its caller.");
      }
      return this.viewer.isAway || isOutside;
    }

    /** Shows the cone of a path: "up", "down" or "both", within a radius. */
    async cone(path, direction, radius = Infinity) {
      const { viewer } = this, i = viewer.inRoot(path);
      if (this._isElsewhere([i])) {
        return;
      }
      const c = this._root;
      viewer.remember();
      const found = new Set();
      for (const way of direction === "both" ? ["up", "down"] : [direction]) {
        for (const one of cone(viewer.model, c, [i], way, radius)) {
          found.add(one);
        }
      }
      await this._apply({ kind: "cone", path, direction, radius }, found);
    }

    /** Shows some instructions alone, those of inner graphs as what they are in. */
    async together(some) {
      const { viewer } = this, found = some.map((path) => viewer.inRoot(path));
      if (this._isElsewhere(found)) {
        return;
      }
      viewer.remember();
      await this._apply({ kind: "together", path: some[0] }, new Set(found));
    }

    /** Goes from up to down, both, and all again. */
    async nextCone(path) {
      const { focus } = this.viewer;
      const isSame = focus !== null && focus.kind === "cone" && focus.path === path;
      const at = isSame ? DIRECTIONS.indexOf(focus.direction) + 1 : 0;
      await (at < DIRECTIONS.length ? this.cone(path, DIRECTIONS[at]) : this.clear());
    }

    /** Waits for the click on the other end of a path. */
    startPath(path) {
      this.waiting = path;
      this._show();
    }

    async finishPath(path) {
      const { viewer } = this, from = this.waiting;
      this.waiting = "";
      if (this._isElsewhere([viewer.inRoot(from), viewer.inRoot(path)])) {
        this._show();
        return;
      }
      const found = between(viewer.model, this._root, viewer.inRoot(from), viewer.inRoot(path));
      if (found.size === 0) {
        this.notice(`No path between ${viewer.nameOf(from)} and ${viewer.nameOf(path)}.`);
        this._show();
        return;
      }
      viewer.remember();
      viewer.select(path);
      await this._apply({ kind: "path", path: from, other: path }, found);
    }

    async _apply(focus, found) {
      const { viewer } = this;
      viewer.focus = focus;
      viewer.only = [...found].sort((a, b) => a - b);
      if (await viewer.layout({ anchor: focus.path })) {
        const box = viewer.picture.find(focus.path);
        const { width, height } = viewer.picture;
        if (viewer.camera.fitting(width, height) >= viewer.camera.opened) {
          viewer.fit();
        } else if (box !== null) {
          viewer.camera.show(box);
        }
      }
    }

    /** Leaves an instruction of the root out. */
    async hide(path) {
      const { viewer } = this;
      if (this._isElsewhere([viewer.inRoot(path)])) {
        return;
      }
      viewer.remember();
      viewer.hidden.add(viewer.inRoot(path));
      viewer.select("");
      await viewer.layout({ anchor: viewer.middle() });
    }

    /** Shows all again. */
    async clear() {
      const { viewer } = this;
      if (this.waiting !== "") {
        this.waiting = "";
        this._show();
        return;
      }
      if (viewer.isAway || (viewer.only === null && viewer.hidden.size === 0)) {
        this._show();
        return;
      }
      viewer.remember();
      const anchor = viewer.selected || viewer.middle();
      viewer.only = null;
      viewer.focus = null;
      viewer.hidden.clear();
      if (await viewer.layout({ anchor })) {
        const box = anchor ? viewer.picture.find(anchor) : null;
        if (box !== null) {
          viewer.camera.show(box);
        }
      }
    }

    _show() {
      const { viewer } = this, { focus, hidden } = viewer;
      const parts = [];
      if (this.waiting !== "") {
        parts.push(`Path from ${viewer.nameOf(this.waiting)}: click where to, ` +
          "or select it and press Enter.");
      } else if (focus !== null) {
        parts.push(...this._described(focus));
      }
      if (hidden.size > 0) {
        parts.push(`${hidden.size} hidden`);
      }
      if (parts.length > 0) {
        parts.push(element("button", { type: "button", title: "Show all (Esc)",
          onclick: () => this.clear() }, this.waiting === "" ? "Show all" : "Cancel"));
      }
      this.place.replaceChildren(...parts);
      this.place.hidden = parts.length === 0;
    }

    get _count() {
      const { only, model } = this.viewer;
      return Hlo.counted(only.length, model.noun);
    }

    _described(focus) {
      const { viewer } = this, name = viewer.nameOf(focus.path);
      if (focus.kind === "together") {
        return [`${this._count} alone`];
      }
      if (focus.kind === "path") {
        return [`Paths ${name} – ${viewer.nameOf(focus.other)}: ${this._count}`];
      }
      const direction = element("select", { "aria-label": "Direction", onchange: () =>
        this.cone(focus.path, direction.value, focus.radius) },
      ...DIRECTIONS.map((one) => element("option", { value: one,
        selected: one === focus.direction }, WORDS[one])));
      const radius = element("select", { "aria-label": "Steps", onchange: () =>
        this.cone(focus.path, focus.direction, Number(radius.value)) },
      ...RADII.map((one) => element("option", { value: one, selected: one === focus.radius },
        one === Infinity ? "all steps" : Hlo.counted(one, "step"))));
      return [element("b", {}, name), direction, radius,
        this._count];
    }
  }

  Object.assign(Hlo, { Focus, cone, between });
})(globalThis);
