"use strict";
/* Texts and differences of texts: numbered lines with a search through them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 18, WIDTH = 7.3, MARGIN = 130, LONGEST = 6000, CONTEXT = 3;
  const SIGNS = { ...Hlo.signs, same: "" };

  /** Equal lines far from a difference become one row {gap}; `all` shows them all the same. */
  function folded(rows, all = false) {
    const isNear = new Uint8Array(rows.length);
    rows.forEach(({ kind }, n) => {
      if (kind !== "same") {
        isNear.fill(1, Math.max(0, n - CONTEXT), n + CONTEXT + 1);
      }
    });
    const shown = [];
    for (let n = 0; n < rows.length; n++) {
      const last = shown[shown.length - 1];
      if (all || isNear[n]) {
        shown.push(rows[n]);
      } else if (last !== undefined && last.gap !== undefined) {
        last.gap.push(rows[n]);
      } else {
        shown.push({ kind: "gap", gap: [rows[n]] });
      }
    }
    // One hidden line takes as much room as what stands for it.
    return shown.flatMap((row) => (row.gap !== undefined && row.gap.length === 1 ? row.gap : row));
  }

  /**
   * Returns rows with the tables of files and locations in front of the first computation as one
   * row that opens: where a pass made instructions, most of their lines are new too.
   */
  function tablesFolded(rows) {
    const begin = rows.findIndex(({ text }) => /^(FileNames|FunctionNames|FileLoc)/.test(text));
    const behind = rows.findIndex(({ text }, n) => n > begin && /^(ENTRY |%).*\{$/.test(text));
    return begin < 0 || behind < 0 ? rows : [...rows.slice(0, begin), { kind: "gap",
      gap: rows.slice(begin, behind), what: "lines of tables of source files" },
    ...rows.slice(behind)];
  }

  /** Numbered lines; `rows` are those of `changeRows` or of `textRows`. */
  class LinesSheet {
    /**
     * `head`: elements in front of the search; `isDifference`: two columns of numbers, with n and
     * N through the differences.
     */
    constructor({ label, head, rows, isDifference = false }) {
      Object.assign(this, { rows, isDifference });
      this._hits = [];
      this._hit = -1;
      this._change = -1;
      this._starts = [];
      this._field = element("input", { type: "search", placeholder: "Search in these lines",
        "aria-label": "Search in these lines", spellcheck: "false",
        oninput: () => this._search(), onkeydown: (event) => this._fieldKey(event) });
      this._count = element("output", { class: "dim" });
      this._place = element("div", { class: "lines" });
      this.element = element("section", { class: "lines-sheet", "aria-label": label,
        onkeydown: (event) => this._key(event) },
      element("div", { class: "sheet-head" }, ...head, element("span", { class: "gap" }),
        ...this._steps(), this._field, this._count), this._place);
      this._list = new Hlo.Rows(this._place, { height: HEIGHT, label,
        make: (number) => this._row(this._shown[number]),
        mark: (row, number) => this._mark(row, number) });
      this._list.list.addEventListener("click", (event) => this._click(event));
      this._restart(isDifference ? folded(rows) : rows);
      if (isDifference) {
        this._place.classList.add("difference");
      }
    }

    /** The keyboard goes to the lines. */
    focus() {
      this._list.list.focus({ preventScroll: true });
    }

    close() {
      this._list.close();
    }

    _steps() {
      if (!this.isDifference) {
        return [];
      }
      const button = (text, label, by) => element("button", { type: "button", title: label,
        "aria-label": label, onclick: () => this._stepChange(by) }, text);
      this._changes = element("output", { class: "dim" });
      return [this._changes, button("↑", "Change before (N)", -1),
        button("↓", "Next change (n)", 1)];
    }

    _restart(shown) {
      this._shown = shown;
      if (this.isDifference) {
        this._starts = shown.map((_, n) => n).filter((n) => isChange(shown[n])
          && (n === 0 || !isChange(shown[n - 1])));
        this._sayChanges();
      }
      const longest = shown.reduce((most, { text = "" }) => Math.max(most, text.length), 0);
      this._list.set(shown.length, Math.min(LONGEST, longest) * WIDTH + MARGIN);
    }

    _sayChanges() {
      const { length } = this._starts, at = this._change < 0 ? "" : `${this._change + 1}/`;
      this._changes.textContent = length === 0 ? "no line differs"
        : `${at}${length} ${length === 1 ? "change" : "changes"}`;
    }

    _stepChange(by) {
      const { length } = this._starts;
      if (length > 0) {
        this._change = Hlo.around(this._change, by, length);
        this._list.reveal(this._starts[this._change]);
        this._sayChanges();
        this._list.refresh();
      }
    }

    _row(row) {
      if (row.gap !== undefined) {
        return element("div", { class: "gap-row" }, element("button", { type: "button",
          class: "link" }, `⋯ ${row.gap.length.toLocaleString("en")} ` +
          `${row.what || "equal lines"}`));
      }
      const numbers = this.isDifference ? [number(row.before), number(row.after),
        element("span", { class: "sign" }, SIGNS[row.kind])] : [number(row.before)];
      return element("div", { class: `line ${row.kind}` }, ...numbers,
        element("code", {}, ...this._pieces(row)));
    }

    /* What differs within a changed line, and what was searched for, stands out. */
    _pieces({ text, other }) {
      const shown = text.slice(0, LONGEST);
      const query = this._query;
      if (query) {
        return highlighted(shown, query);
      }
      if (typeof other !== "string") {
        return [shown];
      }
      const [head, middle, tail] = Hlo.differingPart(shown, other);
      return [head, element("b", {}, middle), tail];
    }

    _mark(row, number) {
      row.classList.toggle("current", number === this._hits[this._hit]
        || (this.isDifference && number === this._starts[this._change]));
    }

    _click(event) {
      const number = this._list.numberOf(event.target);
      if (number >= 0 && this._shown[number].gap !== undefined
        && event.target.closest("button") !== null) {
        this._restart(this._shown.flatMap((row, n) => (n === number ? row.gap : row)));
        this._search();
        this.focus();
      }
    }

    _search() {
      const query = this._field.value.toLowerCase();
      this._query = query;
      if (query !== "" && this.isDifference && this._shown.some(({ gap }) => gap !== undefined)) {
        this._restart(folded(this.rows, true));
      }
      this._hits = query === "" ? [] : this._shown.map((_, n) => n)
        .filter((n) => (this._shown[n].text || "").toLowerCase().includes(query));
      this._hit = -1;
      this._list.set(this._shown.length, parseFloat(this._list.list.style.width) || 0);
      this._sayHits();
      if (this._hits.length > 0) {
        this._stepHit(1);
      }
    }

    _sayHits() {
      const { length } = this._hits, at = this._hit < 0 ? "" : `${this._hit + 1}/`;
      this._count.textContent = this._query === "" ? ""
        : `${at}${length} ${length === 1 ? "line" : "lines"}`;
    }

    _stepHit(by) {
      const { length } = this._hits;
      if (length > 0) {
        this._hit = Hlo.around(this._hit, by, length);
        this._list.reveal(this._hits[this._hit]);
        this._sayHits();
        this._list.refresh();
      }
    }

    _fieldKey(event) {
      if (event.key === "Enter") {
        this._stepHit(event.shiftKey ? -1 : 1);
      } else if (event.key === "Escape" && this._field.value !== "") {
        this._field.value = "";
        this._search();
        this.focus();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }

    _key(event) {
      if (event.target === this._field || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      const by = { n: 1, N: -1 }[event.key];
      if (event.key === "/") {
        this._field.focus();
        this._field.select();
      } else if (by !== undefined && this._hits.length > 0) {
        this._stepHit(by);
      } else if (by !== undefined && this.isDifference) {
        this._stepChange(by);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }
  }

  function isChange({ kind }) {
    return kind === "added" || kind === "removed";
  }

  function number(line) {
    return element("span", { class: "number" }, line < 0 ? "" : String(line + 1));
  }

  function highlighted(text, query) {
    const pieces = [], lower = text.toLowerCase();
    let at = 0;
    for (let found = lower.indexOf(query); found >= 0; found = lower.indexOf(query, at)) {
      pieces.push(text.slice(at, found),
        element("mark", {}, text.slice(found, found + query.length)));
      at = found + query.length;
    }
    return [...pieces, text.slice(at)];
  }

  /** Rows of a plain text. */
  function textRows(text) {
    const lines = text.split("\n");
    if (lines[lines.length - 1] === "") {
      lines.pop();
    }
    return lines.map((line, before) => ({ kind: "same", before, after: -1, text: line }));
  }

  Object.assign(Hlo, { LinesSheet, tablesFolded, textRows });
})(globalThis);
