"use strict";
/* What a pass changed in the text of the module, as a unified diff of which each line is a link. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 17, CONTEXT = 2, LONGEST = 2000, WIDTH = 7;
  const NAME = /^\s*(?:ROOT\s+)?%?([\w.-]+)\s*=/;
  const WORD = /[\w.%-]/;
  const SIGNS = { ...Hlo.signs, same: " ", gap: "⋯" };

  function nameIn(line) {
    const found = NAME.exec(line);
    return found === null ? "" : found[1];
  }

  /**
   * Rows of an edit, lines [a, b) to lines [c, d): each removed line stands right above the added
   * one of the same instruction, as far as the order of both allows. Rows are {kind, before,
   * after, other}; `other` is the line that the row is the twin of.
   */
  function rowsOfEdit(old, now, [a, b, c, d]) {
    const places = new Map();
    for (let line = c; line < d; line++) {
      places.set(nameIn(now[line]), line);
    }
    const rows = [];
    let next = c;
    const add = (end) => {
      for (; next < end; next++) {
        rows.push({ kind: "added", before: -1, after: next, other: -1 });
      }
    };
    for (let line = a; line < b; line++) {
      const name = nameIn(old[line]), twin = name === "" ? undefined : places.get(name);
      const isPair = twin !== undefined && twin >= next;
      if (isPair) {
        add(twin);
      }
      rows.push({ kind: "removed", before: line, after: -1, other: isPair ? twin : -1 });
      if (isPair) {
        rows.push({ kind: "added", before: -1, after: twin, other: line });
        next = twin + 1;
      }
    }
    add(d);
    return rows;
  }

  /** Returns the rows of a whole diff with some equal lines around each edit. */
  function rowsOfDiff(old, now, edits) {
    const rows = [];
    let before = 0, after = 0;
    const same = (count) => {
      const head = rows.length > 0 ? CONTEXT : 0, isWhole = count <= head + CONTEXT + 1;
      for (let n = 0; n < count; n++) {
        const isNear = isWhole || n < head || n >= count - CONTEXT;
        if (isNear || (n === head && rows.length > 0)) {
          rows.push({ kind: isNear ? "same" : "gap", before: before + n, after: after + n,
            other: -1 });
        }
      }
    };
    for (let at = 0; at < edits.length; at += 4) {
      const edit = edits.slice(at, at + 4);
      same(edit[0] - before);
      for (const row of rowsOfEdit(old, now, edit)) {
        rows.push(row);
      }
      [, before, , after] = edit;
    }
    for (let n = 0; edits.length > 0 && n < CONTEXT && before + n < old.length; n++) {
      rows.push({ kind: "same", before: before + n, after: after + n, other: -1 });
    }
    return rows;
  }

  /** Returns a line in three parts, the middle one being what its twin has otherwise. */
  function parts(text, twin) {
    let [{ length: start }, , { length: end }] = Hlo.differingPart(text, twin);
    // Names differ as a whole.
    while (start > 0 && WORD.test(text[start - 1])) {
      start--;
    }
    while (end > 0 && WORD.test(text[text.length - end])) {
      end--;
    }
    return [text.slice(0, start), text.slice(start, text.length - end),
      text.slice(text.length - end)];
  }

  class DiffView {
    /** `jump(side, line)` is called for a row that is clicked. */
    constructor(viewer, jump) {
      Object.assign(this, { viewer, jump, rows: [], old: [], now: [], _key: "", _selected: -1 });
      this.place = element("div", { class: "diff" });
      this._list = new Hlo.Rows(this.place, { height: HEIGHT, label: "What the pass changed",
        make: (n) => this._row(this.rows[n]),
        mark: (row, n) => row.classList.toggle("selected", n === this._selected) });
      this._list.list.addEventListener("click", ({ target }) =>
        this._click(this._list.numberOf(target)));
      viewer.signals.on("selection", () => this._select());
    }

    /** Shows the edits of a pass between two models, or `words` where there are none. */
    show(key, models, edits, words) {
      if (key !== this._key) {
        this._key = key;
        this._models = models;
        [this.old, this.now] = models.map((model) => model.lines);
        this.rows = rowsOfDiff(this.old, this.now, edits);
        const longest = this.rows.reduce((most, row) => Math.max(most, this._text(row).length), 0);
        this.place.dataset.words = this.rows.length === 0 ? words : "";
        this._list.begin();
        this._list.set(this.rows.length, Math.min(LONGEST, longest) * WIDTH + 90);
      }
      this._select();
    }

    _text(row) {
      return row.after >= 0 ? this.now[row.after] : this.old[row.before];
    }

    _row(row) {
      const { kind, before, after, other } = row;
      const number = (line) => element("span", { class: "number" }, line < 0 || kind === "gap" ? ""
        : String(line + 1));
      const text = kind === "gap" ? "" : this._text(row).slice(0, LONGEST);
      return element("div", { class: `row ${kind}` }, number(before), number(after),
        element("b", {}, SIGNS[kind]), ...this._pieces(text, kind, other));
    }

    _pieces(text, kind, other) {
      if (other < 0) {
        const at = text.indexOf(", metadata={");
        return at < 0 ? [text] : [text.slice(0, at), element("span", { class: "dim" },
          text.slice(at))];
      }
      const twin = (kind === "added" ? this.old : this.now)[other].slice(0, LONGEST);
      const [start, middle, end] = parts(text, twin);
      return [start, middle === "" ? null : element("mark", {}, middle), end]
        .filter((one) => one !== null);
    }

    _click(n) {
      const row = n < 0 ? null : this.rows[n];
      if (row !== null && row.kind !== "gap") {
        this.jump(row.after >= 0 ? "after" : "before", row.after >= 0 ? row.after : row.before);
      }
    }

    /* The line of the selection is lit, and in sight if the diff has it. */
    _select() {
      const { selected, model } = this.viewer;
      this._selected = -1;
      const side = this._models ? this._models.indexOf(model) : -1;
      if (selected !== "" && side >= 0) {
        const c = model.computationOf(Hlo.paths.graph(selected));
        const line = model.line(c, Hlo.paths.instruction(selected));
        this._selected = this.rows.findIndex((row) => row.kind !== "gap"
          && (side === 0 ? row.before : row.after) === line);
      }
      if (this._selected >= 0) {
        this._list.reveal(this._selected);
      }
      this._list.refresh();
    }
  }

  Object.assign(Hlo, { PassDiff: DiffView, rowsOfDiff });
})(globalThis);
