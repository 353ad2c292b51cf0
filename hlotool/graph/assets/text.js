"use strict";
/* The text of the module beside the graph: linked both ways, and its twin for screen readers. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const HEIGHT = 18, MARGIN = 12;
  const LONGEST = 4000;
  const TOKEN = /%?[A-Za-z_][\w.-]*|"(?:[^"\\]|\\.)*"|[^%A-Za-z_"]+|./g;

  class TextView {
    /** `place` scrolls; only the lines in sight are in the document. */
    constructor(viewer, place) {
      Object.assign(this, { viewer, place });
      this.isOpen = false;
      this._lines = element("div", { id: "lines", role: "listbox", tabindex: "0",
        "aria-label": "Lines of the module" });
      place.append(this._lines);
      this._rows = new Map();
      this._hits = new Set();
      this._current = 0;
      place.addEventListener("scroll", () => this._fill());
      this._lines.addEventListener("click", (event) => this._click(event));
      this._lines.addEventListener("keydown", (event) => this._key(event));
      viewer.signals.on("selection", () => this._follow());
      viewer.signals.on("hits colours", () => this._mark());
      viewer.signals.on("module", () => this._restart());
    }

    /** Opens or closes the text. */
    show(isOpen) {
      this.isOpen = isOpen;
      this.place.hidden = !isOpen;
      if (isOpen) {
        this._restart();
        this._follow();
      }
    }

    resize() {
      this._fill();
    }

    _restart() {
      if (!this.isOpen) {
        return;
      }
      const { lines } = this.viewer.model;
      this._rows.clear();
      this._lines.replaceChildren();
      this._lines.style.height = `${lines.length * HEIGHT}px`;
      const longest = lines.reduce((most, line) => Math.max(most, line.length), 0);
      this._lines.style.width = `${Math.min(LONGEST, longest) * 7.3 + 80}px`;
      this._fill();
    }

    /* Makes the rows in sight, takes away those that are far. */
    _fill() {
      if (!this.isOpen) {
        return;
      }
      const { lines } = this.viewer.model, { scrollTop, clientHeight } = this.place;
      const first = Math.max(0, Math.floor(scrollTop / HEIGHT) - MARGIN);
      const last = Math.min(lines.length, Math.ceil((scrollTop + clientHeight) / HEIGHT) + MARGIN);
      for (const [number, row] of this._rows) {
        if (number < first || number >= last) {
          row.remove();
          this._rows.delete(number);
        }
      }
      for (let number = first; number < last; number++) {
        if (!this._rows.has(number)) {
          const row = this._row(number, lines[number]);
          this._rows.set(number, row);
          this._lines.append(row);
        }
      }
      this._mark();
    }

    _row(number, text) {
      const row = element("div", { class: "line", role: "option", id: `line-${number}`,
        "data-line": number, "data-number": number + 1, "aria-setsize":
        this.viewer.model.lines.length, "aria-posinset": number + 1 });
      row.style.top = `${number * HEIGHT}px`;
      const place = this.viewer.model.instructionAtLine(number);
      row.append(...(place === null ? [element("b", {}, text.slice(0, LONGEST))]
        : this._tokens(text.slice(0, LONGEST), place)));
      return row;
    }

    /** Pieces of a line: names of instructions are links, the opcode is bold. */
    _tokens(text, { computation, instruction }) {
      const { model } = this.viewer, opcode = model.opcode(computation, instruction);
      const metadata = text.indexOf(", metadata={");
      const end = metadata < 0 ? text.length : metadata;
      let plain = "", hasOpcode = false;
      const pieces = [], flush = () => {
        pieces.push(plain);
        plain = "";
      };
      for (const [token] of text.slice(0, end).matchAll(TOKEN)) {
        const name = token.startsWith("%") ? token.slice(1) : token;
        if (!hasOpcode && token === opcode) {
          flush();
          pieces.push(element("b", {}, token));
          hasOpcode = true;
        } else if (/[\w]/.test(name[0] || "") && hasOpcode && this._isNamed(name, computation)) {
          flush();
          pieces.push(element("i", { "data-name": name }, token));
        } else {
          plain += token;
        }
      }
      flush();
      if (end < text.length) {
        pieces.push(element("span", { class: "rest" }, text.slice(end)));
      }
      return pieces;
    }

    _isNamed(name, c) {
      return this.viewer.model.find(name).some(({ computation }) => computation === c);
    }

    /** The path of a line's instruction: of the call that is selected, if it is in that one. */
    _pathOf(number) {
      const { model, selected, picture } = this.viewer, place = model.instructionAtLine(number);
      return place === null ? "" : Hlo.nearestPath(model, picture, selected, place);
    }

    _click(event) {
      const row = event.target.closest(".line");
      if (row === null) {
        return;
      }
      const number = Number(row.dataset.line), { name } = event.target.dataset;
      const { model } = this.viewer;
      this._current = number;
      let path = this._pathOf(number);
      if (path !== "" && name !== undefined) {
        const c = model.computationOf(paths.graph(path));
        const named = model.find(name).find(({ computation }) => computation === c);
        path = paths.join(paths.graph(path), named.instruction);
      }
      if (path !== "") {
        this.viewer.jump(path, { inside: false });
      }
    }

    _key(event) {
      const page = Math.max(1, Math.floor(this.place.clientHeight / HEIGHT) - 1);
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
      if (step !== undefined) {
        const { lines } = this.viewer.model;
        this._goTo(Math.max(0, Math.min(lines.length - 1, this._current + step)));
      } else if (event.key === "Enter") {
        const path = this._pathOf(this._current);
        if (path !== "") {
          this.viewer.jump(path, { inside: false });
        }
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }

    _goTo(number) {
      this._current = number;
      this._scrollTo(number);
      this._fill();
      this._lines.setAttribute("aria-activedescendant", `line-${number}`);
      this._mark();
    }

    _scrollTo(number) {
      const top = number * HEIGHT, { scrollTop, clientHeight } = this.place;
      if (top < scrollTop || top + HEIGHT > scrollTop + clientHeight - 14) {
        this.place.scrollTop = top - clientHeight / 2;
      }
    }

    /** Goes to the line of the selection. */
    _follow() {
      const { selected, model } = this.viewer;
      if (!this.isOpen || selected === "") {
        this._mark();
        return;
      }
      const c = model.computationOf(paths.graph(selected));
      this._goTo(model.line(c, paths.instruction(selected)));
    }

    _mark() {
      if (!this.isOpen) {
        return;
      }
      const { selected, model, hits, lineMarks } = this.viewer;
      const line = selected === "" ? -1
        : model.line(model.computationOf(paths.graph(selected)), paths.instruction(selected));
      if (this._hitsOf !== hits) {
        this._hitsOf = hits;
        this._hits = new Set(hits.map((path) => model.line(
          model.computationOf(paths.graph(path)), paths.instruction(path))));
      }
      for (const [number, row] of this._rows) {
        row.classList.toggle("selected", number === line);
        row.classList.toggle("current", number === this._current);
        row.classList.toggle("hit", this._hits.has(number));
        row.setAttribute("aria-selected", String(number === line));
        const mark = lineMarks ? lineMarks.get(number) : undefined;
        row.classList.remove("added", "removed", "changed");
        if (["added", "removed", "changed"].includes(mark)) {
          row.classList.add(mark);
        }
      }
    }
  }

  /** Returns a path of an instruction, of several calls that near the selection or drawn. */
  function nearestPath(model, picture, selected, { computation, instruction }) {
    for (let at = paths.graph(selected || ""); at !== ""; ) {
      if (model.computationOf(at) === computation) {
        return paths.join(at, instruction);
      }
      const caller = paths.parent(at);
      at = caller === null ? "" : paths.graph(caller);
    }
    for (const graph of picture ? picture.graphs.values() : []) {
      if (graph.computation === computation) {
        return paths.join(graph.path, instruction);
      }
    }
    return model.pathOf(computation, instruction);
  }

  Object.assign(Hlo, { TextView, nearestPath });
})(globalThis);
