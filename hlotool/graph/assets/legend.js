"use strict";
/* The legend: what the colours mean; it makes pale what is not chosen in it. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, toggle } = Hlo;
  const WIDTH = 260, HEIGHT = 34, MOST_WORDS = 9, LONGEST_WORD = 30;

  class Legend {
    /** `choice` is the select element with the names of the overlays. */
    constructor(viewer, place, choice) {
      Object.assign(this, { viewer, place, choice });
      this._categories = new Set();
      choice.addEventListener("change", () => this.show(choice.value));
      viewer.signals.on("module", () => this._offer());
      viewer.signals.on("theme", () => this._theme());
      viewer.signals.on("picture", () => this.viewer.overlay || this._draw());
      this._offer();
    }

    _offer() {
      const { overlays } = this.viewer.model;
      this.choice.replaceChildren(element("option", { value: "" }, "Colours: opcodes"),
        ...overlays.map((one) => element("option", { value: one.name },
          one.unit ? `${Hlo.overlayLabel(one)} (${one.unit})` : Hlo.overlayLabel(one))));
      const current = this.viewer.overlay;
      this.show(current && this.viewer.model.overlay(current.name) ? current.name : "");
    }

    /** Shows an overlay by its name; "" shows the categories of the opcodes. */
    show(name) {
      const { viewer } = this;
      viewer.overlay = name && viewer.theme
        ? Hlo.makeOverlay(viewer.model, name, viewer.theme) : null;
      this.choice.value = viewer.overlay === null ? "" : name;
      this._categories.clear();
      this.filter();
      this._draw();
    }

    /** The overlay after the present one; after the last the categories. */
    next() {
      const names = ["", ...this.viewer.model.overlays.map(({ name }) => name)];
      const at = names.indexOf(this.viewer.overlay === null ? "" : this.viewer.overlay.name);
      this.show(names[(at + 1) % names.length]);
    }

    _theme() {
      if (this.viewer.overlay !== null) {
        this.viewer.overlay.setTheme(this.viewer.theme);
      }
      this._draw();
      this.viewer.signals.give("colours");
    }

    /** Makes pale what is not chosen in the legend. */
    filter() {
      const { viewer } = this, { overlay, model } = viewer, chosen = this._categories;
      const isOut = overlay !== null
        ? (overlay.range === null ? null : (c, i) => overlay.isOut(c, i))
        : (chosen.size === 0 ? null : (c, i) => !chosen.has(model.category(c, i)));
      viewer.pale("legend", isOut);
      viewer.legendTest = isOut === null ? null : (c, i) => !isOut(c, i);
      viewer.signals.give("legend");
    }

    _draw() {
      const { overlay, theme } = this.viewer;
      if (theme === null) {
        return;
      }
      const content = overlay === null ? this._categoryButtons()
        : overlay.kind === "categorical" ? this._words(overlay) : this._histogram(overlay);
      this.place.replaceChildren(...content);
    }

    _categoryButtons() {
      const { picture, model, theme } = this.viewer;
      if (picture === null) {
        return [];
      }
      const present = categoriesIn(picture, model);
      const buttons = model.categories.flatMap((name, n) => {
        if (!present.has(name)) {
          return [];
        }
        const { fill, line } = theme.category[name], isChosen = this._categories.has(name);
        return [this._button(model.shortLegend[n], fill, line, isChosen, () => {
          toggle(this._categories, name);
          this.filter();
          this._draw();
        }, `Show these alone: ${model.legend[n]}`)];
      });
      return [element("div", { class: "kinds", role: "group", "aria-label": "Colours" },
        ...buttons)];
    }

    _button(text, fill, line, isPressed, onclick, title = "Show these alone") {
      const swatch = element("span", { class: "swatch" });
      swatch.style.background = fill;
      swatch.style.borderColor = line;
      return element("button", { type: "button", "aria-pressed": String(isPressed), onclick,
        title }, swatch, text);
    }

    _words(overlay) {
      const { model, theme } = this.viewer;
      const buttons = overlay.words.slice(0, MOST_WORDS).map(([word, count]) => {
        const isPressed = overlay.range !== null && overlay.range.includes(word);
        const text = `${ending(model.strings[word])} ×${count}`;
        return this._button(text, overlay.fillOfWord(word).fill, theme.edge, isPressed, () => {
          const chosen = new Set(overlay.range || []);
          toggle(chosen, word);
          overlay.range = chosen.size === 0 ? null : [...chosen];
          this.filter();
          this._draw();
        }, `${model.strings[word]}: ${Hlo.counted(count, model.noun)}`);
      });
      const rest = overlay.words.length - buttons.length;
      return [this._head(overlay), element("div", { class: "kinds" }, ...buttons,
        rest > 0 ? element("span", { class: "dim" }, `and ${rest} more`) : null)];
    }

    _head(overlay) {
      return element("span", {}, element("b", {}, overlay.label), " ", overlay.range === null ? ""
        : element("button", { type: "button", class: "link",
          onclick: () => {
            overlay.range = null;
            this.filter();
            this._draw();
          } }, "show all"));
    }

    _histogram(overlay) {
      const canvas = element("canvas", { tabindex: "0", role: "slider",
        "aria-label": `Range of ${overlay.label}; drag, or Shift with the arrow keys`,
        "aria-valuemin": "0", "aria-valuemax": "1", "aria-valuenow": "1" });
      const ratio = root.devicePixelRatio || 1;
      canvas.width = WIDTH * ratio;
      canvas.height = HEIGHT * ratio;
      canvas.style.width = `${WIDTH}px`;
      canvas.style.height = `${HEIGHT}px`;
      this._bars(canvas, overlay, ratio);
      this._listen(canvas, overlay, ratio);
      const range = overlay.range || [0, 1];
      const [low, high] = range.map((share) => element("span", { class: "dim" },
        Hlo.readable(overlay.valueAt(share), overlay.unit)));
      canvas.title = scaleText(overlay);
      return [this._head(overlay), low, canvas, high, overlay.isWide
        ? element("span", { class: "dim", title: canvas.title }, "log") : null,
      this._topButton(overlay)].filter((part) => part !== null);
    }

    _topButton({ data: { peak } }) {
      return element("button", { type: "button", class: "top",
        title: peak ? "What lives at the peak (T)" : "Which have most of it (T)",
        onclick: () => this.viewer.signals.give("top") }, peak ? "Peak values" : "Top");
    }

    _bars(canvas, overlay, ratio) {
      const ctx = canvas.getContext("2d"), { theme } = this.viewer;
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, WIDTH, HEIGHT);
      const most = Math.max(...overlay.bins), step = WIDTH / overlay.bins.length;
      const [low, high] = overlay.range || [0, 1];
      overlay.bins.forEach((count, n) => {
        const share = (n + 0.5) / overlay.bins.length;
        const tall = count === 0 ? 0 : Math.max(2, (HEIGHT - 8) * Math.sqrt(count / most));
        ctx.globalAlpha = share < low || share > high ? 0.2 : 1;
        ctx.fillStyle = theme.edge;
        ctx.fillRect(n * step, HEIGHT - 7 - tall, step - 1, tall);
        ctx.fillStyle = overlay.fillAt(share);
        ctx.fillRect(n * step, HEIGHT - 6, step, 6);
      });
      ctx.globalAlpha = 1;
    }

    _listen(canvas, overlay, ratio) {
      let start = null;
      const share = (event) => Math.max(0, Math.min(1, event.offsetX / WIDTH));
      const show = () => {
        this.filter();
        this._bars(canvas, overlay, ratio);
      };
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        start = share(event);
      });
      canvas.addEventListener("pointermove", (event) => {
        if (start !== null) {
          overlay.range = [Math.min(start, share(event)), Math.max(start, share(event))];
          show();
        }
      });
      canvas.addEventListener("pointerup", () => {
        start = null;
        if (overlay.range !== null && overlay.range[1] - overlay.range[0] < 0.01) {
          overlay.range = null;
        }
        this.filter();
        this._draw();
      });
      canvas.addEventListener("keydown", (event) => this._slide(event, overlay));
    }

    /* Arrow keys move the lower end, with Shift the upper one. */
    _slide(event, overlay) {
      const step = { ArrowLeft: -0.05, ArrowRight: 0.05 }[event.key];
      if (step === undefined) {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
      let [low, high] = overlay.range || [0, 1];
      if (event.shiftKey) {
        high = Math.max(low, Math.min(1, high + step));
      } else {
        low = Math.min(high, Math.max(0, low + step));
      }
      overlay.range = low <= 0 && high >= 1 ? null : [low, high];
      this.filter();
      this._draw();
      this.place.querySelector("canvas").focus();
    }
  }

  /** What the colours and the heights of a histogram stand for. */
  function scaleText({ isWide, unit, smallest, largest }) {
    const [low, high] = [smallest, largest].map((value) => Hlo.readable(value, unit));
    return `Colours: ${low} to ${high}, ${isWide ? "by magnitude (logarithmic)" : "evenly"}. ` +
      "Heights: how many instructions have such a value (square roots). Drag to keep a part.";
  }

  /* Names of scopes and buffers differ at their ends. */
  function ending(text) {
    const end = text.slice(1 - LONGEST_WORD), slash = end.indexOf("/");
    return text.length <= LONGEST_WORD ? text
      : `…${end.slice(slash >= 0 && slash < LONGEST_WORD / 2 ? slash : 0)}`;
  }

  function categoriesIn(picture, model) {
    const present = new Set(), seen = new Set();
    for (const graph of picture.graphs.values()) {
      for (const { geometry, instructions, folded } of graph.stages) {
        // Equal stages share their geometry.
        for (let node = 0; node < geometry.size && !folded && !seen.has(geometry); node++) {
          present.add(model.category(graph.computation, instructions[node]));
          if (geometry.rowEnds[node + 1] > geometry.rowEnds[node]) {
            present.add("source");
          }
        }
        seen.add(geometry);
      }
    }
    return present;
  }

  Hlo.Legend = Legend;
})(globalThis);
