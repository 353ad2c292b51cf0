"use strict";
/* The list of the differences between two modules, by computation. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, signs } = Hlo;
  const HEIGHT = 22;
  const NAMES = { added: "only in the new module", removed: "only in the old module",
    changed: "changed" };

  class DifferenceList {
    /** `chosen(item)` is called with one of the items of `difference`. */
    constructor(difference, { place, chosen }) {
      Object.assign(this, { difference, place, chosen, at: -1 });
      this._rowsOf = this._rowsList();
      this.items = this._rowsOf.filter(({ item }) => item !== undefined).map(({ item }) => item);
      this._position = element("output", { class: "dim" });
      this._scroll = element("div", { class: "entries" });
      place.append(this._head(), this._scroll);
      this._rows = new Hlo.Rows(this._scroll, { height: HEIGHT, label: "Differences",
        make: (number) => this._row(this._rowsOf[number]),
        mark: (row, number) => this._mark(row, number) });
      this._rows.list.addEventListener("click", (event) => this._click(event));
      this._rows.list.addEventListener("keydown", (event) => this._key(event));
      this._rows.set(this._rowsOf.length);
      this._sayPosition();
    }

    /** Goes to the next difference (1) or the one before (-1). */
    step(by) {
      const { length } = this.items;
      if (length > 0) {
        this._go(Hlo.around(this.at, by, length));
      }
    }

    /** Marks the entry of an instruction, if it has one. */
    show(side, c, i) {
      this.at = this.items.findIndex((item) => (item.side === side && item.c === c && item.i === i)
        || (item.other !== undefined && side === 0 && item.other.c === c && item.other.i === i));
      this._follow();
    }

    _rowsList() {
      const { items, data } = this.difference;
      const header = data.header.map((text) => ({ text: `${signs.changed} ${text}`,
        kind: "note" }));
      const heading = (text) => ({ text, kind: "heading" });
      return [...(header.length > 0 ? [heading("Header"), ...header] : []),
        ...items.flatMap(({ title, mark, items: own }) => [
          heading(mark ? `${signs[mark]} ${title}` : title),
          ...own.map((item) => ({ item, kind: item.mark }))])];
    }

    _head() {
      const { data, titles } = this.difference, [removed, added, changed] = data.counts;
      const count = (mark, number, text) => element("span", { class: mark },
        `${signs[mark]} ${number.toLocaleString("en")} ${text}`);
      const button = (text, label, by) => element("button", { type: "button", title: label,
        "aria-label": label, disabled: this.items.length === 0,
        onclick: () => this.step(by) }, text);
      const counts = data.equal ? [element("strong", {}, "The same graph")]
        : [count("removed", removed, "removed"), count("added", added, "added"),
          count("changed", changed, "changed")];
      return element("div", { class: "difference-head" },
        element("div", { title: titles.join("\n") }, element("b", {}, titles[0]), " → ",
          element("b", {}, titles[1])),
        element("div", { class: "counts" }, ...counts),
        element("div", { class: "steps" }, button("↑", "Difference before (N)", -1),
          button("↓", "Next difference (n)", 1), this._position));
    }

    _row({ item, text, kind }) {
      if (item === undefined) {
        return element("div", { class: `entry ${kind}`, title: text },
          element("span", { class: "text" }, text));
      }
      const model = this.difference.models[item.side], { c, i } = item;
      const note = item.words.length > 0 ? item.words.join("; ") : Hlo.titleAndShape(model, c, i);
      return element("div", { class: `entry item ${kind}`,
        title: [`${model.name(c, i)}: ${NAMES[kind]}`, ...item.words].join("\n") },
      element("span", { class: "sign", "aria-label": kind }, signs[kind]),
      element("span", { class: "name" }, model.name(c, i)),
      element("span", { class: "dim" }, note));
    }

    _mark(row, number) {
      const { item } = this._rowsOf[number];
      const isHere = item !== undefined && item === this.items[this.at];
      row.classList.toggle("here", isHere);
      row.setAttribute("aria-current", String(isHere));
    }

    _go(number) {
      this.at = number;
      this._follow();
      this.chosen(this.items[number]);
    }

    _follow() {
      const at = this.at < 0 ? -1
        : this._rowsOf.findIndex(({ item }) => item === this.items[this.at]);
      if (at >= 0) {
        this._rows.reveal(at);
      }
      this._rows.refresh();
      this._sayPosition();
    }

    _sayPosition() {
      const { length } = this.items;
      this._position.textContent = length === 0 ? "no difference"
        : `${this.at < 0 ? "" : `${this.at + 1}/`}${length} ` +
          `${length === 1 ? "difference" : "differences"}`;
    }

    _click(event) {
      const number = this._rows.numberOf(event.target);
      const item = number < 0 ? undefined : this._rowsOf[number].item;
      if (item !== undefined) {
        this._go(this.items.indexOf(item));
      }
    }

    _key(event) {
      const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (by !== undefined) {
        this.step(by);
        event.preventDefault();
        event.stopPropagation();
      }
    }
  }

  Hlo.DifferenceList = DifferenceList;
})(globalThis);
