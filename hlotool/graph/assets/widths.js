"use strict";
/* Lines as wide as the values on them are large, on request: brushes for the drawing, a legend. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, line } = Hlo;
  const THIN = 0, CONTROL = line.CONTROL;
  /* Widths in px by brush; that of control dependencies stays as it is, since no value flows. */
  const PIXELS = [1, 1.2, 1.9, 3, 4.4, 6];
  /* [brush, share of the largest value from which on a line has it]; steps of a logarithm. */
  const SHARES = [[5, 1 / 4], [4, 1 / 32], [3, 1 / 256], [2, 1 / 4096]];
  const SAMPLE = { wide: 20, high: 12 };

  /** Bytes of a value, or with a label ("#1.0") of that part of it. */
  function bytesOf(model, c, i, label) {
    const { tuple, bytes } = model.shapes;
    let shape = model.computations[c].shape[i];
    for (const index of label === "" ? [] : label.slice(1).split(".")) {
      shape = tuple[shape][index];
      if (shape === undefined) {
        return 0;
      }
    }
    return bytes[shape];
  }

  /** The largest value that an instruction of a model has, tuples left out. */
  function largestOf(model) {
    let largest = 0;
    for (const { size, number } of model.computations) {
      for (let i = 0; i < size; i++) {
        largest = model.isTuple(number, i) ? largest : Math.max(largest, model.bytes(number, i));
      }
    }
    return largest;
  }

  /* Lines that leave a fold have no source of their own: that of the line that they go on in. */
  function leavingSource({ joints, jointSource }, { x, y, geometry }, n) {
    const left = x + geometry.lines[5 * n + 2], bottom = y + geometry.height;
    const found = jointSource.findIndex((_, joint) => Math.abs(joints[4 * joint] - left) < 1
      && Math.abs(joints[4 * joint + 1] - bottom) < 1);
    return found < 0 ? -1 : jointSource[found];
  }

  /** Which brush each line is drawn with; found once for each stage. */
  class LineWidths {
    /** The scale is that of a model; lines of others are drawn to it as well. */
    constructor(model) {
      this.model = model;
      this.largest = largestOf(model);
      this._stages = new WeakMap();
      this._joints = new WeakMap();
    }

    get pixels() { return PIXELS; }

    /** The brush for a value. */
    brush(bytes) {
      const found = SHARES.find(([, share]) => bytes >= this.largest * share);
      return found === undefined || bytes === 0 ? THIN : found[0];
    }

    /** Brushes along the lines of a stage. */
    ofStage(model, graph, stage) {
      let brushes = this._stages.get(stage);
      if (brushes === undefined) {
        const { lineSource, lineKind, lineLabel, labels } = stage.geometry;
        const sourceOf = (n) => (stage.folded && stage.instructions[lineSource[n]] < 0
          ? leavingSource(graph, stage, n) : stage.instructions[lineSource[n]]);
        brushes = Uint8Array.from(lineKind, (kind, n) => (kind === CONTROL ? CONTROL
          : this._brushOf(model, graph, sourceOf(n),
            lineLabel[n] < 0 ? "" : labels[lineLabel[n]])));
        this._stages.set(stage, brushes);
      }
      return brushes;
    }

    /** Brushes along the lines between the stages of a graph. */
    ofJoints(model, graph) {
      let brushes = this._joints.get(graph);
      if (brushes === undefined) {
        brushes = Uint8Array.from(graph.jointKind, (kind, n) => (kind === CONTROL ? CONTROL
          : this._brushOf(model, graph, graph.jointSource[n], "")));
        this._joints.set(graph, brushes);
      }
      return brushes;
    }

    _brushOf(model, graph, i, label) {
      return i < 0 ? THIN : this.brush(bytesOf(model, graph.computation, i, label));
    }
  }

  /** The button that turns widths on and off, and over the picture what they mean. */
  class WidthLegend {
    constructor(viewer, button, place) {
      Object.assign(this, { viewer, button, place });
      button.addEventListener("click", () => this.show());
      viewer.signals.on("module", () => this.isOn && this.show(true));
      viewer.signals.on("theme", () => this._fill());
      this._fill();
    }

    get isOn() { return this.viewer.widths !== null; }

    show(isOn = !this.isOn) {
      this.viewer.widths = isOn ? new LineWidths(this.viewer.model) : null;
      this._fill();
      this.viewer.signals.give("colours");
      this.viewer.signals.give("panels");
    }

    _fill() {
      this.button.setAttribute("aria-pressed", String(this.isOn));
      this.place.hidden = !this.isOn;
      this.place.replaceChildren(...(this.isOn ? this._samples() : []));
    }

    _samples() {
      const { largest } = this.viewer.widths;
      const from = SHARES.map(([brush, share]) =>
        [brush, `≥ ${Hlo.readable(Math.ceil(largest * share), "B")}`]);
      // Where the largest value is small, the least steps are not met.
      const met = from.filter((_, n) => n === 0 || largest * SHARES[n][1] >= 1);
      return [...met, [THIN, "less"]].map(([brush, text]) =>
        element("span", { class: "sample" }, this._line(PIXELS[brush]), text));
    }

    _line(pixels) {
      const ratio = root.devicePixelRatio || 1, canvas = element("canvas", {
        width: SAMPLE.wide * ratio, height: SAMPLE.high * ratio, "aria-hidden": "true" });
      canvas.style.width = `${SAMPLE.wide}px`;
      canvas.style.height = `${SAMPLE.high}px`;
      const ctx = canvas.getContext("2d"), { theme } = this.viewer;
      ctx.fillStyle = theme.edge;
      ctx.fillRect(0, (SAMPLE.high - pixels) / 2 * ratio, SAMPLE.wide * ratio, pixels * ratio);
      return canvas;
    }
  }

  Object.assign(Hlo, { LineWidths, WidthLegend });
})(globalThis);
