"use strict";
/* The buffer assignment of a module: the chart, and tables of its values and allocations. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 22, MOST_STEADY = 0.6;

  /** Memory of one module; `goTo(name)` shows an instruction in the graph. */
  class MemorySheet {
    constructor(data, { viewer, strings, head, goTo }) {
      const { bytes } = Hlo.memory.steadyOf(data);
      this._data = data;
      this._strings = strings;
      this.use = new Hlo.memory.MemoryUse(data, strings);
      const isMostSteady = bytes > this.use.curve[this.use.peak] * MOST_STEADY;
      this._said = element("output", { class: "said" });
      this._viewer = viewer;
      this._goTo = goTo;
      this._place = element("div", { class: "table-rows" });
      this.element = element("section", { class: "memory-sheet table-sheet",
        "aria-label": "Memory" }, element("div", { class: "sheet-head" }, ...head));
      this._addChart();
      this._addTables();
      this._follow();
      if (bytes > 0 && this._chart !== undefined) {
        this._addSwitch(bytes, isMostSteady);
      }
    }

    /* Arguments and constants take the room that what comes and goes would need to be seen. */
    _addSwitch(bytes, isOn) {
      const button = element("button", { type: "button", "aria-pressed": "false", onclick: () =>
        set(button.getAttribute("aria-pressed") !== "true") },
      `Without ${Hlo.byteText(bytes)} that are there all the time`);
      const set = (isMoving) => {
        button.setAttribute("aria-pressed", String(isMoving));
        this.use = new Hlo.memory.MemoryUse(this._data, this._strings, isMoving);
        this._orderAt = undefined;
        this._chart.show(this.use);
      };
      this.element.firstElementChild.append(button);
      if (isOn) {
        set(true);
      }
    }

    focus() {
      (this._chart ? this._chart.canvas : this._list.list).focus({ preventScroll: true });
    }

    /** The colours are others now. */
    redraw() {
      if (this._chart !== undefined) {
        this._chart.draw();
      }
    }

    close() {
      this._list.close();
      if (this._chart) {
        this._chart.close();
      }
    }

    _addChart() {
      const { use } = this;
      if (use.steps.length === 0) {
        this.element.append(element("p", { class: "plain" },
          "The dump does not say in which order instructions run, so there is no chart."));
        return;
      }
      this._chart = new Hlo.memory.MemoryChart(use, this._viewer, {
        pointed: () => this._follow(), chosen: (name) => this._goTo(name) });
      this.element.append(element("div", { class: "memory-chart" }, this._chart.canvas,
        element("div", { class: "memory-legend" }, this._said, ...this._legend())));
    }

    _legend() {
      const kinds = [...new Set(this.use.values.map(({ kind }) => kind))].filter(Boolean);
      return kinds.map((kind) => {
        const swatch = element("span", { class: "swatch" });
        const key = Hlo.memory.COLOURS[kind];
        swatch.style.background = `var(--${key}-fill)`;
        swatch.style.borderColor = `var(--${key}-line)`;
        return element("span", {}, swatch, kind);
      });
    }

    _addTables() {
      this.element.style.setProperty("--columns",
        "minmax(110px, 3fr) minmax(110px, 3fr) minmax(90px, 2fr) 90px 90px 100px");
      const titles = ["value", "shape", "allocation", "offset", "size", "steps"];
      this.element.append(element("div", { class: "table-head" }, ...titles.map((title, n) =>
        element("span", { class: n > 2 ? "number" : "" }, title))), this._place,
      this._allocations());
      this._list = new Hlo.Rows(this._place, { height: HEIGHT,
        label: "Values, those of the step first",
        make: (number) => this._row(this._shown[number]),
        mark: (row, number) => this._mark(row, this._shown[number]) });
      // Rows that slide under a pointer at rest are not pointed at.
      this._list.list.addEventListener("pointermove", (event) => this._over(event));
      this._list.list.addEventListener("pointerleave", () => this._point(null));
      this._list.list.addEventListener("focusin", (event) => this._over(event));
      this._reorder();
    }

    _row(value) {
      const { name, index, shape, allocation, kind, offset, size, start, end } = value;
      const cells = [element("button", { type: "button", class: "link", title: `${name}${index}`,
        onclick: () => this._goTo(name) }, `${name}${index}`), shape, `${allocation} ${kind}`,
      offset.toLocaleString("en"), Hlo.byteText(size), start < 0 ? "–" : `${start} – ${end}`];
      return element("div", { class: "table-row" }, ...cells.map((cell, n) =>
        element("span", { class: n > 2 ? "number" : "",
          title: typeof cell === "string" ? cell : null }, cell)));
    }

    _mark(row, value) {
      const { _chart: chart } = this;
      const isPointed = chart !== undefined && chart.value === value;
      row.classList.toggle("current", isPointed);
      row.classList.toggle("pale", chart !== undefined && chart.value === null
        && !this.use.isLive(value, chart.step));
    }

    _over(event) {
      const number = this._list.numberOf(event.target);
      if (number >= 0) {
        this._point(this._shown[number]);
      }
    }

    _point(value) {
      if (this._chart !== undefined) {
        const at = value === null || value.start < 0 ? this.use.peak : value.start;
        this._chart.point(at, value);
      }
    }

    _follow() {
      if (this._chart !== undefined) {
        this._said.textContent = this._chart.says();
      }
      if (this._list !== undefined && this._orderAt !== this._orderNow) {
        this._reorder();
      } else if (this._list !== undefined) {
        this._list.refresh();
      }
    }

    /* The step that the table begins with the values of; a value alone leaves it as it is. */
    get _orderNow() {
      const { _chart: chart } = this;
      return chart === undefined || chart.value !== null ? this._orderAt : chart.step;
    }

    /* What lives at the step comes first. */
    _reorder() {
      const { use } = this, step = this._orderAt = this._orderNow;
      this._shown = step === undefined ? use.values
        : [...use.live(step), ...use.values.filter((value) => !use.isLive(value, step))];
      this._list.begin();
      this._list.set(this._shown.length);
    }

    _allocations() {
      const { allocations, total } = this.use;
      const rows = allocations.map(({ number, size, kind, color, words }) => element("tr", {},
        element("td", { class: "number" }, String(number)), element("td", {}, kind),
        element("td", { class: "number" }, Hlo.byteText(size)),
        element("td", { class: "number" }, color === 0 ? "" : `memory space ${color}`),
        element("td", {}, words)));
      return element("details", { class: "allocations" }, element("summary", {},
        `${allocations.length} allocations, ${Hlo.byteText(total)}`),
      element("table", {}, element("tbody", {}, ...rows)));
    }
  }

  Hlo.MemorySheet = MemorySheet;
})(globalThis);
