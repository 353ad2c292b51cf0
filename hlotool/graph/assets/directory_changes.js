"use strict";
/* Below the list of a directory: what the pass that is shown removed, changed and added. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const MOST = 100, LONGEST = 120;
  const KINDS = [["removed", "Removed", "−"], ["changed", "Changed", "≠"], ["added", "Added", "+"]];

  class PassChanges {
    /** `goTo(side, name)` is called for the instruction that is chosen. */
    constructor(place, goTo) {
      this._goTo = goTo;
      this._place = element("div", { id: "changes", tabindex: "-1",
        "aria-label": "What the pass did", hidden: true });
      place.append(this._place);
    }

    /** Lists what a pass of a run did; of none, or of one that did nothing, there is no list. */
    show(run, p) {
      const lists = run === null || !run.isPass(p) ? null : run.lists(p);
      this._place.hidden = lists === null || run.total(p) === 0;
      this._place.scrollTop = 0;
      this._place.replaceChildren(...(this._place.hidden ? []
        : KINDS.filter(([kind]) => lists[kind].length > 0)
          .map((kind) => this._group(kind, lists[kind[0]]))));
    }

    _group([kind, title, sign], items) {
      const list = element("ul");
      this._fill(list, items, { kind, sign, first: 0 });
      return element("details", { open: true },
        element("summary", {}, `${title} (${items.length})`), list);
    }

    _fill(list, items, { kind, sign, first }) {
      const last = Math.min(items.length, first + MOST);
      list.append(...items.slice(first, last).map((one) => this._item(kind, sign, one)));
      if (last < items.length) {
        const more = element("li", {}, element("button", { type: "button", class: "link",
          onclick: () => {
            more.remove();
            this._fill(list, items, { kind, sign, first: last });
          } }, `the next ${Math.min(MOST, items.length - last)}`));
        list.append(more);
      }
    }

    _item(kind, sign, one) {
      const name = one.after || one, side = kind === "removed" ? "before" : "after";
      const was = kind === "changed" && one.before !== one.after ? ` (was ${one.before})` : "";
      return element("li", {}, element("b", { class: kind }, sign), element("button",
        { type: "button", class: "link", onclick: () => this._goTo(side, name) }, name),
      element("span", { class: "dim" }, `${was} ${Hlo.labels.cut(one.words || "", LONGEST)}`));
    }
  }

  Hlo.PassChanges = PassChanges;
})(globalThis);
