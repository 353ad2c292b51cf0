"use strict";
/* Memory over the order of the program: what lives at a point, and how long a value lives. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const HEIGHT = 76, TOP = 18, LEFT = 8;
  /* Values of these hold nothing themselves: what they pass on lives as long as their users. */
  const PASSING = ["tuple", "element"];

  /** Returns for each instruction the last one that needs its value. */
  function lastUses(model, c) {
    const { size, root: result } = model.computations[c], last = new Int32Array(size);
    for (let i = size - 1; i >= 0; i--) {
      last[i] = i === result ? size - 1 : i;
      for (const user of model.usersOf(c, i)) {
        const end = PASSING.includes(model.role(c, user)) ? last[user] : user;
        last[i] = Math.max(last[i], end);
      }
    }
    return last;
  }

  /** Whether an overlay is one that makes sense over time: bytes, of which the peak counts. */
  function isMemory(overlay) {
    return overlay !== null && overlay.data.sum === "max" && overlay.unit === "B";
  }

  class Curve {
    constructor(viewer, place) {
      Object.assign(this, { viewer, place });
      this._canvas = element("canvas", { tabindex: "0", role: "slider",
        "aria-label": "Memory over the order of the program; arrow keys move through it" });
      this._at = -1;
      place.append(this._canvas);
      viewer.signals.on("colours picture selection module", () => this._update());
      viewer.signals.on("hover", () => this._ask());
      this._canvas.addEventListener("pointermove", (event) => this._point(this._step(event)));
      this._canvas.addEventListener("pointerleave", () => this._point(-1));
      this._canvas.addEventListener("blur", () => this._point(-1));
      this._canvas.addEventListener("click", (event) => this._choose(this._step(event)));
      this._canvas.addEventListener("keydown", (event) => this._key(event));
    }

    _ask() {
      if (!this.place.hidden) {
        cancelAnimationFrame(this._asked);
        this._asked = requestAnimationFrame(() => this._draw());
      }
    }

    /** Draws anew, for another width. */
    resize() {
      this._draw();
    }

    get _values() {
      const { overlay, picture } = this.viewer;
      return overlay.data.values[picture.root.computation] || [];
    }

    _update() {
      const { overlay, picture } = this.viewer;
      this.place.hidden = picture === null || !isMemory(overlay)
        || !this._values.some((value) => value !== null);
      if (this.place.hidden) {
        this._point(-1);
        return;
      }
      const c = picture.root.computation;
      if (this._of !== picture.model || this._computation !== c) {
        this._of = picture.model;
        this._computation = c;
        this._last = lastUses(picture.model, c);
        this._point(-1);
      }
      this._draw();
    }

    _step(event) {
      const share = (event.offsetX - LEFT) / (this._canvas.clientWidth - 2 * LEFT);
      const { length } = this._values;
      return Math.max(0, Math.min(length - 1, Math.round(share * (length - 1))));
    }

    /** Lights what lives at a step of the program; -1: everything again. */
    _point(step) {
      if (step === this._at) {
        return;
      }
      this._at = step;
      if (step < 0) {
        this.viewer.pale("curve", null);
        return;
      }
      const { _computation: c, _last: last, viewer } = this;
      viewer.pale("curve", (other, i) => other === c && (i > step || last[i] < step));
      this._canvas.setAttribute("aria-valuenow", String(step));
      this._canvas.setAttribute("aria-valuetext", this._says(step));
    }

    _says(step) {
      const { overlay, picture } = this.viewer, value = this._values[step];
      return `${picture.model.name(this._computation, step)}: ` +
        `${value === null ? "–" : Hlo.readable(value, overlay.unit)}`;
    }

    _choose(step) {
      this.viewer.jump(paths.join(this.viewer.picture.root.path, step));
    }

    _key(event) {
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (by !== undefined) {
        this._point(Math.max(0, Math.min(this._values.length - 1, this._at + by)));
      } else if (event.key === "Enter" && this._at >= 0) {
        this._choose(this._at);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }

    _draw() {
      const width = this.place.clientWidth, ratio = root.devicePixelRatio || 1;
      if (this.place.hidden || width === 0) {
        return;
      }
      const canvas = this._canvas, ctx = canvas.getContext("2d");
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(HEIGHT * ratio);
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, width, HEIGHT);
      const values = this._values;
      const most = values.reduce((peak, value) => Math.max(peak, value || 0), 1);
      const scale = {
        x: (step) => LEFT + (width - 2 * LEFT) * step / Math.max(1, values.length - 1),
        y: (value) => HEIGHT - 2 - (HEIGHT - TOP - 4) * (value || 0) / most,
      };
      this._drawLife(ctx, scale);
      this._drawArea(ctx, scale, values);
      this._drawText(ctx, scale, values, most, width);
    }

    /* How long what is under the pointer lives, else the selection: a band behind the curve. */
    _drawLife(ctx, { x }) {
      const { viewer } = this, path = viewer.hovered || viewer.selected;
      if (path === "" || (viewer.hovered === "" && viewer.selectedBox() === null)) {
        return;
      }
      const i = viewer.inRoot(path), from = x(i);
      ctx.fillStyle = viewer.theme.selected;
      ctx.globalAlpha = 0.22;
      ctx.fillRect(from, TOP, Math.max(2, x(this._last[i]) - from), HEIGHT - TOP);
      ctx.globalAlpha = 1;
    }

    _drawArea(ctx, { x, y }, values) {
      const { theme } = this.viewer;
      ctx.beginPath();
      ctx.moveTo(x(0), y(0));
      let known = 0;
      values.forEach((value, step) => {
        known = value === null ? known : value;
        ctx.lineTo(x(step), y(known));
      });
      ctx.strokeStyle = theme.sequence[theme.sequence.length - 2];
      ctx.lineWidth = 1.5;
      ctx.stroke();
      ctx.lineTo(x(values.length - 1), y(0));
      ctx.globalAlpha = 0.25;
      ctx.fillStyle = ctx.strokeStyle;
      ctx.fill();
      ctx.globalAlpha = 1;
    }

    _drawText(ctx, { x, y }, values, most, width) {
      const { theme, overlay } = this.viewer;
      ctx.font = `600 ${Hlo.boxFonts.count}`;
      ctx.fillStyle = theme.quiet;
      const peak = values.indexOf(most);
      ctx.textAlign = "left";
      ctx.fillText(`Peak ${Hlo.readable(most, overlay.unit)}` +
        `${peak < 0 ? "" : ` at ${this.viewer.model.name(this._computation, peak)}`}`, LEFT, 12);
      if (this._at < 0) {
        return;
      }
      ctx.fillStyle = theme.operand;
      ctx.fillRect(x(this._at) - 0.5, TOP, 1, HEIGHT - TOP);
      ctx.beginPath();
      ctx.arc(x(this._at), y(values[this._at]), 3, 0, 7);
      ctx.fill();
      ctx.textAlign = "right";
      ctx.fillText(this._says(this._at), width - LEFT, 12);
    }
  }

  Hlo.Curve = Curve;
})(globalThis);
