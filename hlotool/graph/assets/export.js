"use strict";
/* SVG of the graph for papers: the same drawing, onto something that writes instead of painting. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const measuring = document.createElement("canvas").getContext("2d");
  const MARGIN = 10, ENDLESS = 1e7;
  /* More boxes than these are no figure any more, and editors of SVG choke on them. */
  const MOST = 5000;
  /* Milliseconds of work after which the page gets a turn. */
  const SLICE = 12;
  /* Above so many pages in height a graph is printed over several. */
  const TALL = 1.9;
  const ESCAPES = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  // What XML does not allow, not even escaped.
  const FORBIDDEN = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

  function rounded(value) {
    return String(Math.round(value * 100) / 100);
  }

  function escaped(text) {
    return text.replace(FORBIDDEN, "\ufffd").replace(/[&<>"]/g, (one) => ESCAPES[one]);
  }

  function attributesText(attributes) {
    return Object.entries(attributes).map(([key, value]) => ` ${key}="${value}"`).join("");
  }

  /** Acts as a canvas context as far as the drawing here needs one; writes SVG elements. */
  class SvgPainter {
    constructor() {
      this.parts = [];
      /** What all that was drawn takes up. */
      this.bounds = { x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
      this.fillStyle = this.strokeStyle = "#000000";
      this.lineWidth = 1;
      this.globalAlpha = 1;
      this.font = "10px sans-serif";
      this.textAlign = "left";
      this._dash = [];
      this._path = "";
      this._isOpen = false;
      this.setTransform(1, 0, 0, 1, 0, 0);
    }

    setTransform(a, b, c, d, e, f) {
      this._close();
      Object.assign(this, { _scale: a, _left: e, _top: f });
    }

    setLineDash(dash) {
      this._dash = dash;
    }

    beginPath() {
      this._path = "";
    }

    moveTo(x, y) {
      this._reach(x, y);
      this._path += `M${rounded(x)} ${rounded(y)}`;
    }

    lineTo(x, y) {
      this._reach(x, y);
      this._path += `L${rounded(x)} ${rounded(y)}`;
    }

    bezierCurveTo(...numbers) {
      for (let n = 0; n < numbers.length; n += 2) {
        this._reach(numbers[n], numbers[n + 1]);
      }
      this._path += `C${numbers.map(rounded).join(" ")}`;
    }

    roundRect(x, y, w, h, radius) {
      const r = Math.max(0, Math.min(radius, w / 2, h / 2));
      const arc = (dx, dy) => `a${rounded(r)} ${rounded(r)} 0 0 1 ${rounded(dx)} ${rounded(dy)}`;
      this._reach(x, y);
      this._reach(x + w, y + h);
      this._path += `M${rounded(x + r)} ${rounded(y)}h${rounded(w - 2 * r)}${arc(r, r)}` +
        `v${rounded(h - 2 * r)}${arc(-r, r)}h${rounded(2 * r - w)}${arc(-r, -r)}` +
        `v${rounded(2 * r - h)}${arc(r, -r)}z`;
    }

    fillRect(x, y, w, h) {
      this._reach(x, y);
      this._reach(x + w, y + h);
      this._add("rect", { x: rounded(x), y: rounded(y), width: rounded(w), height: rounded(h),
        ...this._paint("fill", this.fillStyle) });
    }

    fill() {
      this._addPath({ ...this._paint("fill", this.fillStyle) });
    }

    stroke() {
      const attributes = { fill: "none", "stroke-width": rounded(this.lineWidth),
        ...this._paint("stroke", this.strokeStyle) };
      if (this._dash.length > 0) {
        attributes["stroke-dasharray"] = this._dash.map(rounded).join(" ");
      }
      this._addPath(attributes);
    }

    measureText(text) {
      measuring.font = this.font;
      return measuring.measureText(text);
    }

    fillText(text, x, y) {
      const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
      const attributes = { x: rounded(x), y: rounded(y), "font-size": size,
        "font-family": escaped(family), ...this._paint("fill", this.fillStyle) };
      if (weight) {
        attributes["font-weight"] = weight;
      }
      if (this.textAlign !== "left") {
        attributes["text-anchor"] = this.textAlign === "right" ? "end" : "middle";
      }
      this._reach(x, y - Number(size));
      this._reach(x + (this.textAlign === "left" ? this.measureText(text).width : 0), y);
      this._add("text", attributes, text);
    }

    _reach(x, y) {
      const { bounds } = this;
      const at = this._left + x * this._scale, down = this._top + y * this._scale;
      bounds.x0 = Math.min(bounds.x0, at);
      bounds.x1 = Math.max(bounds.x1, at);
      bounds.y0 = Math.min(bounds.y0, down);
      bounds.y1 = Math.max(bounds.y1, down);
    }

    _paint(name, colour) {
      return this.globalAlpha < 1
        ? { [name]: colour, [`${name}-opacity`]: rounded(this.globalAlpha) } : { [name]: colour };
    }

    _addPath(attributes) {
      if (this._path !== "") {
        this._add("path", { d: this._path, ...attributes });
      }
    }

    _add(name, attributes, text = "") {
      if (!this._isOpen) {
        const scale = this._scale === 1 ? "" : ` scale(${this._scale})`;
        this._isOpen = true;
        this.parts.push(
          `<g transform="translate(${rounded(this._left)} ${rounded(this._top)})${scale}">`);
      }
      this.parts.push(`<${name}${attributesText(attributes)}` +
        `${text === "" ? "/>" : `>${escaped(text)}</${name}>`}\n`);
    }

    _close() {
      if (this._isOpen) {
        this._isOpen = false;
        this.parts.push("</g>\n");
      }
    }

    /** Returns the pieces of an SVG document of what is in a box {x0, y0, x1, y1}. */
    document({ x0, y0, x1, y1 }, title) {
      this._close();
      const width = rounded(x1 - x0), height = rounded(y1 - y0);
      return [`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
        `viewBox="${rounded(x0)} ${rounded(y0)} ${width} ${height}">\n` +
        `<title>${escaped(title)}</title>\n<rect x="${rounded(x0)}" y="${rounded(y0)}" ` +
        `width="${width}" height="${height}" fill="#ffffff"/>\n`, ...this.parts, "</svg>\n"];
    }
  }

  /** Returns the light colours, since paper is white; what the page shows stays as it is. */
  function lightTheme(categories) {
    const before = Hlo.chosenTheme();
    Hlo.chooseTheme("light");
    try {
      return Hlo.readTheme(categories);
    } finally {
      Hlo.chooseTheme(before);
    }
  }

  /**
   * A drawing of what a viewer shows, with all texts and in light colours: of the whole picture,
   * or of the part in the window. Marks of passes and differences are in it, what is only there
   * for the moment (selection, hits, hover) is not.
   */
  class SvgDrawing {
    constructor(viewer, { isWindow = false } = {}) {
      const { picture, camera, overlay } = viewer, theme = lightTheme(picture.model.categories);
      const texts = new Map(), { folded } = viewer;
      const of = (graph, stage) => {
        if (!texts.has(stage)) {
          texts.set(stage, new Hlo.StageTexts(picture.model, graph, stage, folded));
        }
        return texts.get(stage);
      };
      const sight = isWindow ? camera.sight
        : { x0: -ENDLESS, y0: -ENDLESS, x1: ENDLESS, y1: ENDLESS };
      this.painter = new SvgPainter();
      this.frame = Hlo.makeFrame(this.painter, 1, { x: 0, y: 0, k: 1, sight }, {
        model: picture.model, theme, isPale: viewer.isPale, markOf: viewer.markOf,
        widths: viewer.widths, ghosts: viewer.ghosts, stageTexts: { of },
        overlay: overlay === null ? null : Hlo.makeOverlay(picture.model, overlay.name, theme),
      }, 0);
      Object.assign(this, { isWindow, picture, edgeNote: viewer.edgeNote });
    }

    /** Whether so much was drawn, or will be, that it is too much. */
    get isTooLarge() {
      return this.frame.drawn > MOST || (!this.isWindow && this.picture.stats.nodes > MOST);
    }

    /** Draws in steps; stops where it gets too large. */
    * steps() {
      for (const step of this.isTooLarge ? [] : Hlo.pictureSteps(this.frame, this.picture)) {
        yield step;
        if (this.isTooLarge) {
          return;
        }
      }
      if (this.edgeNote !== null) {
        Hlo.drawEdgeNote(this.frame, this);
      }
    }

    /** Pieces of the text, cropped to what was drawn. */
    get texts() {
      const { bounds } = this.painter, { sight } = this.frame;
      const isEmpty = bounds.x0 > bounds.x1;
      return this.painter.document(isEmpty ? { x0: 0, y0: 0, x1: 1, y1: 1 } : {
        x0: Math.max(sight.x0, bounds.x0 - MARGIN), y0: Math.max(sight.y0, bounds.y0 - MARGIN),
        x1: Math.min(sight.x1, bounds.x1 + MARGIN), y1: Math.min(sight.y1, bounds.y1 + MARGIN),
      }, this.picture.model.title);
    }

    /** Draws all at once. */
    finish() {
      for (const step of this.steps()) {
        void step;
      }
      return this;
    }

    /** Draws, with pauses in which the page can do other things. */
    async finishInPieces() {
      let start = performance.now();
      for (const step of this.steps()) {
        void step;
        if (performance.now() - start > SLICE) {
          await new Promise((go) => { setTimeout(go); });
          start = performance.now();
        }
      }
      return this;
    }
  }

  /** Offers texts as a file. */
  function save(texts, name, kind) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob(texts, { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /**
   * Saves the graph that is shown as NAME.svg, or the part of it in the window. Of what is too
   * large it says so: `notice(text, {label, run})` shows a text with a button.
   */
  async function saveSvg(viewer, notice, isWindow = false) {
    if (viewer.picture === null) {
      return;
    }
    const made = await new SvgDrawing(viewer, { isWindow }).finishInPieces();
    const most = MOST.toLocaleString("en");
    if (made.isTooLarge && isWindow) {
      notice(`The window shows more than the ${most} boxes that one SVG can hold: zoom in.`);
    } else if (made.isTooLarge) {
      notice(`The graph has ${Hlo.counted(made.picture.stats.nodes, "box", "boxes")}, and one ` +
        `SVG can hold ${most}.`, { label: "Save what the window shows (Shift+E)",
        run: () => saveSvg(viewer, notice, true) });
    } else {
      const name = viewer.model.title.replace(/[^\w.-]+/g, "_") || "graph";
      save(made.texts, `${name}.svg`, "image/svg+xml");
    }
  }

  /** Returns the SVG of all that is shown as one text. */
  function svgText(viewer, isWindow = false) {
    return new SvgDrawing(viewer, { isWindow }).finish().texts.join("");
  }

  /** What goes to paper is the same; of what is too large the part in the window. */
  function preparePrint(viewer, place) {
    root.addEventListener("beforeprint", () => {
      if (viewer.picture !== null) {
        const whole = new SvgDrawing(viewer).finish();
        const made = whole.isTooLarge ? new SvgDrawing(viewer, { isWindow: true }).finish() : whole;
        const parsed = new DOMParser().parseFromString(made.texts.join(""), "image/svg+xml");
        const svg = document.importNode(parsed.documentElement, true);
        const isTall = Number(svg.getAttribute("height")) >
          TALL * Number(svg.getAttribute("width"));
        svg.classList.toggle("tall", isTall);
        place.replaceChildren(svg);
      }
    });
    root.addEventListener("afterprint", () => place.replaceChildren());
  }

  Object.assign(Hlo, { svgText, saveSvg, preparePrint });
})(globalThis);
