"use strict";
/* Tables of a directory: its files, and the decisions of fusion passes. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 24;

  /**
   * A long table with a filter. `columns`: [{title, width, of(item), number}]: CSS widths; `of`
   * gives a text or an element. `search(item)`: the text that is filtered.
   */
  class TableSheet {
    constructor({ label, head, items, columns, search, choices = [], empty }) {
      Object.assign(this, { items, columns, search, choices, _empty: empty });
      this._field = element("input", { type: "search", placeholder: "Filter",
        "aria-label": "Filter the table", spellcheck: "false", oninput: () => this._filter(),
        onkeydown: (event) => this._fieldKey(event) });
      this._count = element("output", { class: "dim" });
      this._choice = choices.length === 0 ? null : element("select", { "aria-label": "Which rows",
        onchange: () => this._filter() }, ...choices.map(({ title }, n) =>
        element("option", { value: n }, title)));
      this._place = element("div", { class: "table-rows" });
      const widths = columns.map(({ width }) => width).join(" ");
      this.element = element("section", { class: "table-sheet", "aria-label": label,
        onkeydown: (event) => this._key(event) },
      element("div", { class: "sheet-head" }, ...head, element("span", { class: "gap" }),
        this._count, this._choice, this._field),
      element("div", { class: "table-head" }, ...columns.map(({ title, number }) =>
        element("span", { class: number ? "number" : "" }, title))), this._place);
      this.element.style.setProperty("--columns", widths);
      this._list = new Hlo.Rows(this._place, { height: HEIGHT, label,
        make: (number) => this._row(this._shown[number]) });
      this._filter();
    }

    focus() {
      this._list.list.focus({ preventScroll: true });
    }

    close() {
      this._list.close();
    }

    _row(item) {
      return element("div", { class: "table-row" }, ...this.columns.map(({ of, number }) => {
        const shown = of(item);
        return element("span", { class: number ? "number" : "",
          title: typeof shown === "string" ? shown : null }, shown);
      }));
    }

    _filter() {
      const words = this._field.value.toLowerCase().split(/\s+/).filter(Boolean);
      const choice = this._choice === null ? null : this.choices[Number(this._choice.value)];
      this._shown = this.items.filter((item) => {
        const text = this.search(item).toLowerCase();
        return (choice === null || choice.keeps(item)) && words.every((one) => text.includes(one));
      });
      this._place.dataset.empty = this._shown.length === 0 ? this._empty : "";
      this._list.set(this._shown.length);
      const { length } = this._shown;
      this._count.textContent = length === this.items.length ? `${length.toLocaleString("en")}`
        : `${length.toLocaleString("en")} of ${this.items.length.toLocaleString("en")}`;
    }

    _fieldKey(event) {
      if (event.key === "Escape" && this._field.value !== "") {
        this._field.value = "";
        this._filter();
        this.focus();
        event.preventDefault();
        event.stopPropagation();
      }
    }

    _key(event) {
      if (event.key === "/" && event.target !== this._field) {
        this._field.focus();
        event.preventDefault();
        event.stopPropagation();
      }
    }
  }

  /** Bytes as people write them. */
  function byteText(count) {
    return count < 1000 ? `${count} B` : Hlo.readable(count, "B");
  }

  /** All files of a directory: where each is shown, or why it is not. */
  function filesSheet(directory, first = 0) {
    const { files, strings } = directory, text = (number) => (number < 0 ? "" : strings[number]);
    const isShown = ({ why }) => why < 0;
    const hidden = files.filter((file) => !isShown(file)).length;
    const items = files.map((file, number) => ({ ...file, number }));
    const sheet = new TableSheet({
      label: "Files of the directory", items: [...items.filter((one) => !isShown(one)),
        ...items.filter(isShown)],
      head: [...Hlo.directoryHead(directory, "files"), element("strong", {}, "Files"),
        element("span", { class: "dim" }, `${files.length - hidden} shown, ${hidden} not shown`)],
      choices: [{ title: "all files", keeps: () => true },
        { title: "not shown", keeps: (file) => !isShown(file) },
        { title: "shown", keeps: isShown }],
      columns: [
        { title: "file", width: "minmax(120px, 5fr)", of: ({ path }) => Hlo.twoEnds(path, 34) },
        { title: "size", width: "70px", number: true, of: ({ size }) => byteText(size) },
        { title: "kind", width: "minmax(80px, 1fr)", of: ({ kind }) => text(kind) },
        { title: "shown", width: "minmax(150px, 3fr)", of: (file) => (isShown(file)
          ? element("button", { type: "button", class: "link",
            onclick: () => directory.openFile(file.number) }, "show it")
          : text(file.why)) },
      ],
      search: ({ path, kind, why }) => `${path} ${text(kind)} ${text(why)}`,
      empty: "No file of this kind.",
    });
    if (first > 0) {
      sheet.element.querySelector("select").value = String(first);
      sheet._filter();
    }
    return sheet;
  }

  /** The decisions of the fusion passes of a module. */
  function decisionsSheet(directory, module) {
    const { strings } = directory, text = (number) => (number < 0 ? "" : strings[number]);
    const { decisions, passes } = directory.data.modules[module];
    const isFused = ({ kind }) => kind === "fused";
    const name = ({ pass }) => (pass < 0 ? "" : text(passes[pass].name));
    const link = (decision, shown) => (decision.module < 0 ? text(shown)
      : element("button", { type: "button", class: "link", title: text(shown),
        onclick: () => directory.goTo(decision.module, text(shown)) }, text(shown)));
    const verdict = (one) => {
      const words = isFused(one) ? "✓ fused" : "✗ not fused";
      return one.module < 0 ? words : element("button", { type: "button", class: "link",
        title: "Show both in the graph, with the reason",
        onclick: () => directory.showDecision(module, decisions.indexOf(one)) }, words);
    };
    const fused = decisions.filter(isFused).length;
    return new TableSheet({
      label: "Fusion decisions", items: decisions,
      head: [...Hlo.directoryHead(directory, "decisions"),
        element("strong", {}, "Fusion decisions"), element("span", { class: "dim" },
        `${fused} fused, ${decisions.length - fused} not fused`)],
      choices: [{ title: "all", keeps: () => true }, { title: "fused", keeps: isFused },
        { title: "not fused", keeps: (one) => !isFused(one) }],
      columns: [
        { title: "", width: "84px", of: verdict },
        { title: "producer", width: "minmax(90px, 2fr)", of: (one) => link(one, one.producer) },
        { title: "into", width: "minmax(90px, 2fr)", of: (one) => link(one, one.consumer) },
        { title: "reason", width: "minmax(120px, 4fr)", of: ({ reason }) => text(reason) },
        { title: "pass", width: "minmax(60px, 1fr)", of: name },
      ],
      search: (one) => [one.producer, one.consumer, one.reason].map(text)
        .concat(one.kind, name(one)).join(" "),
      empty: "No decision of this kind.",
    });
  }

  Object.assign(Hlo, { filesSheet, decisionsSheet, byteText });
})(globalThis);
