"use strict";
/* Memory over time: bytes in use at each step, and where each value lies for how long. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const CURVE = 150, MAP = 170, GAP = 22, TOP = 20, LEFT = 66, RIGHT = 12;
  const LEAST_TEXT = 40, LEAST_FRAME = 4, PALE = 0.25;
  /* Which category's colours an allocation has; the words beside the chart say it too. */
  const COLOURS = { parameter: "source", constant: "movement", result: "contraction",
    temporary: "elementwise", "thread-local": "control", "": "reduction" };

  /** What a dump says of the memory of a module, by number of a value or a step. */
  class MemoryUse {
    /** `isMoving`: leaves out allocations whose only value is there all the time. */
    constructor(data, strings, isMoving = false) {
      const steady = isMoving ? steadyOf(data) : { numbers: new Set(), bytes: 0 };
      const { values } = data;
      const allocations = data.allocations.filter(({ number }) => !steady.numbers.has(number));
      this.module = data.module;
      this.total = allocations.reduce((sum, { size }) => sum + size, 0);
      this.steps = data.steps.map((number) => strings[number]);
      // Bytes need more digits than whole numbers of 32 bits have.
      this.curve = Hlo.summed(data.curve, Float64Array).map((bytes) => bytes - steady.bytes);
      this.peak = this.curve.indexOf(this.curve.reduce((most, bytes) => Math.max(most, bytes),
        -Infinity));
      this.kindOf = new Map(allocations.map(({ number, kind }) => [number, kind]));
      this.allocations = allocations.map((one) => ({ ...one, words: strings[one.words] }));
      this._bases = basesOf(allocations);
      this.values = values.name.map((_, n) => n)
        .filter((n) => !steady.numbers.has(values.allocation[n]))
        .map((n) => this._value(values, strings, n))
        .sort((one, other) => other.size - one.size || one.start - other.start);
    }

    _value(values, strings, n) {
      const allocation = values.allocation[n], last = this.steps.length - 1;
      const index = values.index[n] < 0 ? "" : strings[values.index[n]];
      return { name: strings[values.name[n]], index, shape: strings[values.shape[n]], allocation,
        kind: this.kindOf.get(allocation) || "", offset: values.offset[n], size: values.size[n],
        start: values.start[n], end: Math.min(last, values.end[n]),
        address: this._bases.get(allocation) + values.offset[n] };
    }

    /** Whether a value is there at a step. */
    isLive({ start, end }, step) {
      return start >= 0 && start <= step && step <= end;
    }

    live(step) {
      return this.values.filter((value) => this.isLive(value, step));
    }
  }

  /** Allocations whose only value is there all the time, such as arguments: numbers, bytes. */
  function steadyOf({ values, steps }) {
    const numbers = new Set(values.allocation), last = steps.length - 1;
    const sizes = new Map();
    values.allocation.forEach((number, n) => {
      if (sizes.has(number) || values.start[n] !== 0 || values.end[n] < last) {
        numbers.delete(number);
      }
      sizes.set(number, values.size[n]);
    });
    let bytes = 0;
    for (const number of numbers) {
      bytes += sizes.get(number);
    }
    return { numbers, bytes };
  }

  /* Allocations one above the other. */
  function basesOf(allocations) {
    const bases = new Map();
    let base = 0;
    for (const { number, size } of allocations) {
      bases.set(number, base);
      base += size;
    }
    return bases;
  }

  /** The chart; `pointed({step, value})` is called when something else is under the pointer. */
  class MemoryChart {
    constructor(use, viewer, { pointed, chosen }) {
      Object.assign(this, { use, viewer, pointed, chosen, step: use.peak, value: null });
      this.canvas = element("canvas", { tabindex: "0", role: "slider", "aria-valuemin": "0",
        "aria-valuemax": use.steps.length - 1,
        "aria-label": "Memory over the order of the program; arrow keys move through it" });
      this.canvas.addEventListener("pointermove", (event) => this._move(event));
      this.canvas.addEventListener("pointerleave", () => this.point(this.use.peak, null));
      this.canvas.addEventListener("click", (event) => this._click(event));
      this.canvas.addEventListener("keydown", (event) => this._key(event));
      this._observer = new ResizeObserver(() => this.draw());
      this._observer.observe(this.canvas);
    }

    close() {
      this._observer.disconnect();
    }

    /** Draws other values or fewer of them. */
    show(use) {
      Object.assign(this, { use, step: use.peak, value: null });
      this.draw();
      this.pointed(this);
    }

    /** Points at a step, or at a value and its first step. */
    point(step, value) {
      if (step !== this.step || value !== this.value) {
        Object.assign(this, { step, value });
        this.canvas.setAttribute("aria-valuenow", String(step));
        this.canvas.setAttribute("aria-valuetext", this.says());
        this.draw();
        this.pointed(this);
      }
    }

    /** What is pointed at, in words. */
    says() {
      const { use, step, value } = this;
      if (value !== null) {
        return value.start < 0 ? `${value.name}${value.index}: ${Hlo.byteText(value.size)}`
          : `${value.name}${value.index}: ${Hlo.byteText(value.size)}, ` +
            `steps ${value.start} to ${value.end}`;
      }
      const peak = step === use.peak ? "Peak, step" : "Step";
      return `${peak} ${step}, ${use.steps[step]}: ${Hlo.byteText(use.curve[step])} ` +
        `in ${Hlo.counted(use.live(step).length, "value")}`;
    }

    _x(step) {
      return LEFT + (this._width - LEFT - RIGHT) * step / Math.max(1, this.use.steps.length);
    }

    _curveY(bytes) {
      return TOP + CURVE - (CURVE - 6) * bytes / Math.max(1, this.use.curve[this.use.peak]);
    }

    _mapY(address) {
      return TOP + CURVE + GAP + MAP - MAP * address / Math.max(1, this.use.total);
    }

    _stepAt(event) {
      const share = (event.offsetX - LEFT) / (this._width - LEFT - RIGHT);
      const { length } = this.use.steps;
      return Math.max(0, Math.min(length - 1, Math.floor(share * length)));
    }

    _valueAt(event, step) {
      if (event.offsetY < TOP + CURVE + GAP / 2) {
        return null;
      }
      const address = (TOP + CURVE + GAP + MAP - event.offsetY) / MAP * this.use.total;
      return this.use.live(step).reverse().find((value) => address >= value.address
        && address <= value.address + value.size) || null;
    }

    _move(event) {
      const step = this._stepAt(event);
      this.point(step, this._valueAt(event, step));
    }

    _click(event) {
      const step = this._stepAt(event), value = this._valueAt(event, step);
      this.chosen(value === null ? this.use.steps[step] : value.name);
    }

    _key(event) {
      const { length } = this.use.steps;
      const to = { ArrowLeft: this.step - 1, ArrowRight: this.step + 1, Home: 0,
        End: length - 1 }[event.key];
      if (to !== undefined) {
        this.point(Math.max(0, Math.min(length - 1, to)), null);
      } else if (event.key === "Enter") {
        this.chosen(this.value === null ? this.use.steps[this.step] : this.value.name);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }

    draw() {
      const width = this.canvas.clientWidth, ratio = root.devicePixelRatio || 1;
      if (width === 0) {
        return;
      }
      const height = TOP + CURVE + GAP + MAP + 8, ctx = this.canvas.getContext("2d");
      this._width = width;
      this.canvas.width = Math.round(width * ratio);
      this.canvas.height = Math.round(height * ratio);
      this.canvas.style.height = `${height}px`;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, width, height);
      this._drawAxes(ctx);
      this._drawStep(ctx);
      this._drawCurve(ctx);
      this._drawMap(ctx);
      this._drawLife(ctx);
    }

    _drawAxes(ctx) {
      const { theme } = this.viewer, { use } = this, most = use.curve[use.peak];
      ctx.font = Hlo.boxFonts.text;
      ctx.fillStyle = theme.quiet;
      ctx.textAlign = "left";
      ctx.fillText(`In use: ${Hlo.byteText(most)} at most, at step ${use.peak} of ` +
        `${use.steps.length}`, LEFT, 12);
      const allocations = Hlo.counted(use.allocations.length, "allocation");
      ctx.fillText(`Where values lie: ${allocations}, one above the other, ` +
        `${Hlo.byteText(use.total)}`, LEFT, TOP + CURVE + GAP - 6);
      ctx.textAlign = "right";
      for (const [top, high, whole] of [[TOP + 6, CURVE - 6, most],
        [TOP + CURVE + GAP, MAP, use.total]]) {
        for (const share of [0, 0.5, 1]) {
          const y = top + high * (1 - share);
          ctx.fillStyle = theme.border;
          ctx.fillRect(LEFT, Math.round(y), this._width - LEFT - RIGHT, 1);
          ctx.fillStyle = theme.quiet;
          const text = share === 0 ? "0" : Hlo.byteText(Math.round(whole * share));
          ctx.fillText(text, LEFT - 6, y + 4);
        }
      }
      ctx.textAlign = "left";
    }

    _drawStep(ctx) {
      const { theme } = this.viewer, x = this._x(this.step);
      ctx.globalAlpha = 0.22;
      ctx.fillStyle = theme.operand;
      ctx.fillRect(x, TOP, Math.max(2, this._x(this.step + 1) - x), CURVE + GAP + MAP);
      ctx.globalAlpha = 1;
    }

    _drawCurve(ctx) {
      const { theme } = this.viewer, { curve } = this.use;
      ctx.beginPath();
      curve.forEach((bytes, step) => {
        const y = this._curveY(bytes);
        ctx.lineTo(this._x(step), y);
        ctx.lineTo(this._x(step + 1), y);
      });
      ctx.strokeStyle = ctx.fillStyle = theme.sequence[theme.sequence.length - 2];
      ctx.lineWidth = 1.5;
      ctx.stroke();
      ctx.lineTo(this._x(curve.length), this._curveY(0));
      ctx.lineTo(this._x(0), this._curveY(0));
      ctx.globalAlpha = 0.2;
      ctx.fill();
      ctx.globalAlpha = 1;
    }

    /* Each value is a box: as long as it lives, as high as it is big. */
    _drawMap(ctx) {
      const { theme } = this.viewer;
      ctx.font = Hlo.boxFonts.text;
      for (const value of this.use.values) {
        if (value.start < 0) {
          continue;
        }
        const { fill, line, text } = theme.category[COLOURS[value.kind]];
        const { x, y, w, h } = this._boxOf(value);
        ctx.globalAlpha = this._isLit(value) ? 1 : PALE;
        ctx.fillStyle = fill;
        ctx.strokeStyle = line;
        ctx.lineWidth = 1;
        ctx.fillRect(x, y, w, h);
        if (h >= LEAST_FRAME) {
          ctx.strokeRect(x + 0.5, y + 0.5, Math.max(0.5, w - 1), h - 1);
        }
        if (h >= 12 && w >= LEAST_TEXT) {
          ctx.fillStyle = text;
          ctx.fillText(Hlo.fittingText(ctx, value.name, w - 8), x + 4, y + h / 2 + 4);
        }
      }
      ctx.globalAlpha = 1;
    }

    _isLit(value) {
      return this.value === null ? this.use.isLive(value, this.step) : value === this.value;
    }

    _boxOf(value) {
      const x = this._x(value.start), y = this._mapY(value.address + value.size);
      return { x, y, w: Math.max(2, this._x(value.end + 1) - x),
        h: Math.max(1, this._mapY(value.address) - y) };
    }

    /* How long the value lives, as a bar over the curve as high as the value is big. */
    _drawLife(ctx) {
      const { value } = this, { theme } = this.viewer;
      if (value === null || value.start < 0) {
        return;
      }
      const x = this._x(value.start), w = Math.max(2, this._x(value.end + 1) - x);
      const top = this._curveY(value.size), h = Math.max(3, this._curveY(0) - top);
      ctx.strokeStyle = ctx.fillStyle = theme.selected;
      ctx.lineWidth = 2;
      ctx.globalAlpha = 0.35;
      ctx.fillRect(x, TOP + CURVE - h, w, h);
      ctx.globalAlpha = 1;
      ctx.strokeRect(x, TOP + CURVE - h, w, h);
      const box = this._boxOf(value);
      ctx.strokeRect(box.x - 1, box.y - 1, box.w + 2, box.h + 2);
    }
  }

  Hlo.memory = { MemoryUse, MemoryChart, steadyOf, COLOURS };
})(globalThis);
