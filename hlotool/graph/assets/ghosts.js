"use strict";
/* Ghosts: boxes of what a pass has removed, pale and dashed beside what is left after it. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths, sizes } = Hlo;
  /* More would hide what is there; and how far away what stays is looked for. */
  const MOST = 300, MOST_STEPS = 12;
  /* Room for the sign before the title. */
  const SIGN = 14;
  const APART = 12, ABOVE = 6, ALPHA = 0.75, DASHES = [5, 3];

  /** What a picture of the state before and one of the state after have in common. */
  class Sides {
    /** `gone`: {removed: names, changed: [{before, after}], fused: Set of names}. */
    constructor(old, now, { removed, changed, fused }) {
      Object.assign(this, { old, now });
      this.removed = new Set(removed.filter((name) => !fused.has(name)));
      this._names = new Map(changed.map(({ before, after }) => [before, after]));
    }

    /** Whether an instruction of the old state is gone: what only moved elsewhere is not. */
    isGone(c, i) {
      const name = this.old.model.name(c, i);
      return this.removed.has(name) && this.now.model.find(name).length === 0;
    }

    /** The graph of the state after that is this one of the state before, or undefined. */
    graphOf(graph) {
      const path = this.now.model.pathFromText(this.old.model.pathText(graph.path));
      return path === null ? undefined : this.now.graphs.get(path);
    }

    /** The box after of an instruction of a graph before, or null. */
    boxAfter(graph, after, i) {
      const name = this.old.model.name(graph.computation, i);
      const place = this.now.model.find(this._names.get(name) || name)
        .find(({ computation }) => computation === after.computation);
      return place === undefined ? null : this.now.find(paths.join(after.path, place.instruction));
    }
  }

  /* The boxes of a graph, from top to bottom, so that those at some height are found at once. */
  class Room {
    constructor(picture, graph) {
      const { x, y } = picture.origin(graph.path);
      this.boxes = [];
      for (const { x: left, y: top, geometry } of graph.stages) {
        for (let node = 0; node < geometry.size; node++) {
          this.boxes.push({ x: x + left + geometry.x[node], y: y + top + geometry.y[node],
            w: geometry.w[node], h: geometry.h[node] });
        }
      }
      this.boxes.sort((one, other) => one.y - other.y);
      this._highest = this.boxes.reduce((most, { h }) => Math.max(most, h), 0);
    }

    _at(y, h) {
      let low = 0, high = this.boxes.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (this.boxes[middle].y + this._highest < y) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      const found = [];
      for (let n = low; n < this.boxes.length && this.boxes[n].y <= y + h; n++) {
        found.push(this.boxes[n]);
      }
      return found.filter((box) => box.y + box.h >= y);
    }

    /** Moves a box sideways to where it hides nothing, no further than needed; it stays there. */
    take(box) {
      const near = this._at(box.y - ABOVE, box.h + 2 * ABOVE);
      const isFree = (x) => near.every((one) =>
        x + box.w + APART <= one.x || x >= one.x + one.w + APART);
      const places = [box.x, ...near.flatMap((one) =>
        [one.x + one.w + APART, one.x - APART - box.w])].filter(isFree);
      box.x = places.reduce((best, x) =>
        (Math.abs(x - box.x) < Math.abs(best - box.x) ? x : best), places[0]);
      const at = this.boxes.findIndex((one) => one.y > box.y);
      this.boxes.splice(at < 0 ? this.boxes.length : at, 0, box);
      this._highest = Math.max(this._highest, box.h);
    }
  }

  /** Returns {boxes, lines} of the ghosts of what is gone between two pictures. */
  function ghostsBetween(old, now, gone) {
    const sides = new Sides(old, now, gone), found = { boxes: [], lines: [] };
    for (const graph of old.graphs.values()) {
      const after = sides.graphOf(graph);
      if (after !== undefined && found.boxes.length < MOST) {
        addGhosts(sides, graph, after, found);
      }
    }
    return found;
  }

  function addGhosts(sides, graph, after, found) {
    const { old, now } = sides, c = graph.computation, here = new Map();
    const boxOf = (i) => here.get(i) || sides.boxAfter(graph, after, i);
    const room = new Room(now, after);
    for (const { instructions, geometry, folded } of graph.stages) {
      for (let node = 0; node < geometry.size && !folded; node++) {
        const i = instructions[node];
        if (sides.isGone(c, i) && found.boxes.length < MOST) {
          const ghost = ghostOf(sides, graph, after, i);
          if (ghost !== null) {
            room.take(ghost);
            here.set(i, ghost);
            found.boxes.push(ghost);
          }
        }
      }
    }
    for (const [i, ghost] of here) {
      for (const from of old.model.operandsOf(c, i)) {
        addLine(found.lines, boxOf(from), ghost);
      }
      for (const user of old.model.usersOf(c, i)) {
        addLine(found.lines, ghost, here.has(user) ? null : boxOf(user));
      }
    }
  }

  function addLine(lines, from, to) {
    if (from !== null && to !== null && from !== to) {
      lines.push([from.x + from.w / 2, from.y + from.h, to.x + to.w / 2, to.y]);
    }
  }

  /* It stands to the nearest box that stays as it stood before. */
  function ghostOf(sides, graph, after, i) {
    const { old } = sides, { model } = old, c = graph.computation;
    const box = old.find(paths.join(graph.path, i));
    const anchor = nearestStaying(sides, graph, after, i);
    if (anchor === null) {
      return null;
    }
    return { x: anchor.now.x + box.x - anchor.old.x, y: anchor.now.y + box.y - anchor.old.y,
      w: box.w + SIGN, h: Math.min(box.h, sizes.box), isPill: box.h < sizes.box,
      name: model.name(c, i), title: Hlo.labels.title(model, c, i, graph),
      shape: Hlo.labels.shape(model, c, i) };
  }

  /** Goes along users and operands to a box that is drawn before and after: {old, now} or null. */
  function nearestStaying(sides, graph, after, start) {
    const { old } = sides, { model } = old, c = graph.computation, seen = new Set([start]);
    let edge = [start];
    for (let step = 0; step < MOST_STEPS && edge.length > 0; step++) {
      const next = edge.flatMap((i) => [...model.usersOf(c, i), ...model.operandsOf(c, i)])
        .filter((i) => !seen.has(i) && seen.add(i));
      for (const i of next) {
        const before = graph.nodeOf[i] < 0 ? null : old.find(paths.join(graph.path, i));
        const now = before === null ? null : sides.boxAfter(graph, after, i);
        if (now !== null) {
          return { old: before, now };
        }
      }
      edge = next;
    }
    return null;
  }

  /** Draws ghosts as far as they are in sight; below the picture, which hides them if it must. */
  function drawGhosts(frame, { boxes, lines }) {
    const { ctx, theme, k, sight } = frame;
    Hlo.moveFrame(frame, frame.x, frame.y);
    ctx.strokeStyle = theme.removed;
    ctx.globalAlpha = ALPHA;
    ctx.lineWidth = 1 / Math.min(1, k);
    ctx.setLineDash(DASHES);
    ctx.beginPath();
    for (const [x0, y0, x1, y1] of lines) {
      if (Math.max(y0, y1) >= sight.y0 && Math.min(y0, y1) <= sight.y1) {
        Hlo.jointPath(ctx, x0 - frame.x, y0 - frame.y, x1 - frame.x, y1 - frame.y);
      }
    }
    ctx.stroke();
    for (const box of boxes) {
      if (box.x <= sight.x1 && box.x + box.w >= sight.x0 && box.y <= sight.y1
        && box.y + box.h >= sight.y0) {
        drawGhost(frame, box);
      }
    }
    ctx.setLineDash([]);
    ctx.globalAlpha = 1;
  }

  function drawGhost({ ctx, theme, x, y, hasText }, box) {
    const left = box.x - x, top = box.y - y;
    ctx.beginPath();
    ctx.roundRect(left, top, box.w, box.h, box.isPill ? box.h / 2 : 5);
    ctx.fillStyle = theme.paper;
    ctx.fill();
    ctx.stroke();
    if (!hasText) {
      return;
    }
    ctx.fillStyle = theme.quiet;
    ctx.font = box.isPill ? Hlo.boxFonts.small : Hlo.boxFonts.title;
    const title = `${Hlo.signs.removed} ${box.title}`;
    const base = box.isPill ? sizes.pillBase : sizes.titleBase;
    ctx.fillText(Hlo.fittingText(ctx, title, box.w - 12), left + 6, top + base);
    if (!box.isPill) {
      ctx.font = Hlo.boxFonts.text;
      ctx.fillText(box.shape, left + sizes.padding, top + sizes.textBase);
    }
  }

  /** The ghosts of the pass that a page shows. */
  class Ghosts {
    /** `changed` is called when they come or go. */
    constructor(viewer, changed) {
      /* Null as long as nobody has asked for them or sent them away. */
      Object.assign(this, { viewer, changed, isOn: null, gone: null, old: null, _before: -1 });
      viewer.signals.on("picture", () => this._place());
    }

    /** The boxes that are shown, in the picture. */
    get boxes() { return this.isShown ? this.viewer.ghosts.boxes : []; }

    /**
     * Shows what a pass removed in the state after it: `gone` as for `Sides`. `before` is the
     * number of the module before, `old` its picture or null, where it has to be laid out.
     */
    async show(gone, before, old) {
      Object.assign(this, { gone, old, _before: before });
      if (this.isOn !== false && gone.removed.length > 0 && old === null) {
        await this._layOut();
      }
      this._place();
    }

    clear() {
      Object.assign(this, { gone: null, old: null });
      this._place();
    }

    get isShown() { return this.viewer.ghosts !== null; }

    async switch(isOn = !this.isShown) {
      this.isOn = isOn;
      if (this.gone !== null) {
        await this.show(this.gone, this._before, this.old);
      }
    }

    /* Any newer layout comes first: then there are no ghosts. */
    async _layOut() {
      const { viewer, gone, _before: before } = this;
      if (viewer.isLayingOut) {
        return;
      }
      try {
        const old = await viewer.layouter.layout({ ...Hlo.viewOfModule(viewer, before),
          hint: viewer.picture }).promise;
        if (this.gone === gone) {
          this.old = old;
        }
      } catch (error) {
        if (!(error instanceof Hlo.Cancelled)) {
          throw error;
        }
      }
    }

    _place() {
      const { viewer } = this, had = this.isShown;
      viewer.ghosts = this._found();
      if (had || this.isShown) {
        viewer.signals.give("colours");
        this.changed();
      }
    }

    /* Unasked there are no more of them than boxes: they would hide what is there. */
    _found() {
      const { viewer: { picture }, gone, old, isOn } = this;
      if (isOn === false || gone === null || old === null || old === picture) {
        return null;
      }
      const found = ghostsBetween(old, picture, gone), count = found.boxes.length;
      return count === 0 || (isOn === null && count > picture.stats.nodes) ? null : found;
    }
  }

  Object.assign(Hlo, { Ghosts, drawGhosts });
})(globalThis);
