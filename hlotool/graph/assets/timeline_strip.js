"use strict";
/* The strip of passes: a tick for each, as high as it changed much, and a cursor. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 62, TOP = 5, BASE = 46, EDGE = 26;
  const WIDEST = 84, LEAST = 3, ROOM_FOR_NAMES = 46;
  const FONT = "10.5px system-ui, sans-serif";
  const COLOURS = ["removed", "added", "changed"];

  class Strip {
    /** `state` has {run, shown, at, side}; `chosen(p)` is called for a click, `step` for keys. */
    constructor(viewer, state, { chosen, step }) {
      Object.assign(this, { viewer, state, chosen, step, hovered: null, _asked: 0 });
      this.canvas = element("canvas", { tabindex: "0", role: "slider",
        "aria-label": "Passes; arrow keys step through them" });
      this.tip = element("div", { class: "tip", hidden: true });
      this.place = element("div", { class: "ticks" }, this.canvas, this.tip);
      const listen = (name, call) => this.canvas.addEventListener(name, call.bind(this));
      listen("pointerdown", this._press);
      listen("pointermove", this._move);
      listen("pointerleave", () => this._hover(null));
      listen("keydown", this._key);
    }

    /** Passes from left to right with the ends of the run. */
    get places() {
      const { run, shown } = this.state;
      return [-1, ...shown, run.length];
    }

    get _slot() {
      return Math.min(WIDEST, (this._width - 2 * EDGE) / Math.max(1, this.state.shown.length));
    }

    get _width() { return this.canvas.clientWidth; }

    /** Left edge of the tick at a position of `places`. */
    _left(n) {
      return n === 0 ? EDGE : EDGE + (n - 1) * this._slot;
    }

    _placeAt(x) {
      const { places } = this, n = Math.floor((x - EDGE) / this._slot) + 1;
      return places[Math.max(0, Math.min(places.length - 1, n))];
    }

    _press(event) {
      this.canvas.setPointerCapture(event.pointerId);
      this.chosen(this._placeAt(event.offsetX));
    }

    _move(event) {
      const p = this._placeAt(event.offsetX);
      if (event.buttons & 1 && p !== this.state.at) {
        this.chosen(p);
      }
      this._hover(p, event.offsetX);
    }

    _hover(p, x = 0) {
      const { run } = this.state;
      this.tip.hidden = p === null;
      if (p !== null) {
        this.tip.replaceChildren(element("div", {}, this._says(p)), element("div",
          { class: "dim" }, "height: how many instructions, logarithmic"));
        this.tip.style.left = `${Math.max(4, Math.min(this._width - 200, x - 60))}px`;
        this.tip.classList.toggle("dim", run.isPass(p) && run.isQuiet(p));
      }
      if (p !== this.hovered) {
        this.hovered = p;
        this.draw();
      }
    }

    _says(p) {
      const { run } = this.state;
      if (!run.isPass(p)) {
        return run.name(p);
      }
      const decided = run.passes[p].decisions[1] - run.passes[p].decisions[0];
      return [run.name(p), run.countText(p) || "unchanged", run.timeText(p),
        decided > 0 ? `${decided} decisions` : ""].filter(Boolean).join(" · ");
    }

    _key(event) {
      const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
      if (by !== undefined && !event.altKey) {
        event.preventDefault();
        event.stopPropagation();
        this.step(by);
      }
    }

    /** Draws anew, once a frame: how wide it is is only known when all has been laid out. */
    draw() {
      const { at, run } = this.state;
      this.canvas.setAttribute("aria-valuenow", String(at));
      this.canvas.setAttribute("aria-valuemin", "-1");
      this.canvas.setAttribute("aria-valuemax", String(run.length));
      this.canvas.setAttribute("aria-valuetext", this._says(at));
      cancelAnimationFrame(this._asked);
      this._asked = requestAnimationFrame(() => this._draw());
    }

    _draw() {
      const width = this._width, ratio = root.devicePixelRatio || 1;
      if (width === 0) {
        return;
      }
      const { canvas } = this, ctx = canvas.getContext("2d");
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.font = FONT;
      this._drawCursor(ctx);
      this._drawEnds(ctx);
      this.places.forEach((p, n) => this.state.run.isPass(p) && this._drawTick(ctx, p, n));
      this._drawPipelines(ctx);
    }

    /* A band over the pass, and a line at the side of it that the picture shows. */
    _drawCursor(ctx) {
      const { theme } = this.viewer, { at, side, run } = this.state, n = this.places.indexOf(at);
      if (n < 0) {
        return;
      }
      const left = this._left(n), slot = run.isPass(at) ? this._slot : 0;
      ctx.fillStyle = theme.selected;
      ctx.globalAlpha = 0.14;
      ctx.fillRect(left, 0, slot, HEIGHT);
      ctx.globalAlpha = 1;
      const x = at < 0 || (run.isPass(at) && side === "before") ? left : left + slot;
      ctx.fillRect(x - 1, 0, 2, BASE + 2);
      ctx.beginPath();
      ctx.moveTo(x - 5, 0);
      ctx.lineTo(x + 5, 0);
      ctx.lineTo(x, 6);
      ctx.fill();
    }

    _drawEnds(ctx) {
      const { theme } = this.viewer, last = this._left(this.places.length - 1);
      ctx.fillStyle = theme.border;
      ctx.fillRect(EDGE, BASE, last - EDGE, 1);
      ctx.fillStyle = theme.quiet;
      for (const x of [EDGE, last]) {
        ctx.beginPath();
        ctx.arc(x, BASE, 3, 0, 7);
        ctx.fill();
      }
    }

    _drawTick(ctx, p, n) {
      const { theme } = this.viewer, { run } = this.state, slot = this._slot;
      const wide = Math.max(1, Math.min(26, slot * 0.62)), x = this._left(n) + (slot - wide) / 2;
      const total = run.total(p), { before, after } = run.passes[p];
      const high = total === 0 ? LEAST
        : Math.max(LEAST + 2, (BASE - TOP) * Math.log1p(total) / Math.log1p(run.most));
      let y = BASE;
      if (total === 0) {
        ctx.fillStyle = before === after ? theme.quiet : theme.hit;
        ctx.globalAlpha = 0.7;
        ctx.fillRect(x, y - high, wide, high);
        ctx.globalAlpha = 1;
      }
      run.counts(p).forEach((count, k) => {
        const part = total === 0 ? 0 : high * count / total;
        ctx.fillStyle = theme[COLOURS[k]];
        ctx.fillRect(x, y - part, wide, part);
        y -= part;
      });
      if (p === this.hovered) {
        ctx.strokeStyle = theme.ink;
        ctx.strokeRect(x - 1.5, BASE - high - 1.5, wide + 3, high + 3);
      }
      if (slot >= ROOM_FOR_NAMES) {
        ctx.fillStyle = p === this.state.at ? theme.ink : theme.quiet;
        ctx.textAlign = "center";
        ctx.fillText(Hlo.fittingText(ctx, run.name(p), slot - 4), x + wide / 2, BASE + 13);
      }
    }

    /* Where names have no room, brackets say at least which pipeline the passes are of. */
    _drawPipelines(ctx) {
      const { run, shown } = this.state, { theme } = this.viewer, slot = this._slot;
      if (slot >= ROOM_FOR_NAMES) {
        return;
      }
      ctx.textAlign = "left";
      for (let n = 0; n < shown.length;) {
        let end = n + 1;
        while (end < shown.length && run.pipeline(shown[end]) === run.pipeline(shown[n])) {
          end++;
        }
        const left = this._left(n + 1) + 1, wide = (end - n) * slot - 2;
        ctx.fillStyle = theme.border;
        ctx.fillRect(left, BASE + 3, wide, 2);
        ctx.fillStyle = theme.quiet;
        if (wide > ROOM_FOR_NAMES) {
          ctx.fillText(Hlo.fittingText(ctx, run.pipeline(shown[n]), wide), left, BASE + 15);
        }
        n = end;
      }
    }
  }

  Hlo.PassStrip = Strip;
})(globalThis);
