"use strict";
/* What a pass removed, changed and added, as lists of names that lead to the instructions. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const TITLES = { removed: "Removed", changed: "Changed", added: "Added" };

  /**
   * Returns an element for each kind of change that `lists`, as of a PassRun, has any of.
   * `choose(side, name)` is called for the instruction that is chosen; `size` rows are shown at a
   * time and `longest` characters of what changed; `titleOf(name, side)` returns an element behind
   * a name, or null; `added()` is called when more rows were asked for.
   */
  function changeGroups(lists, options) {
    return Object.keys(TITLES).filter((kind) => lists[kind].length > 0).map((kind) =>
      element("details", { open: true },
        element("summary", {}, `${TITLES[kind]} (${lists[kind].length})`),
        Hlo.pagedList(element("ul", { class: kind }), lists[kind], { size: options.size,
          added: options.added, make: (one) => changeItem(kind, one, options) })));
  }

  function changeItem(kind, one, { choose, longest, titleOf = () => null }) {
    const name = one.after || one, side = kind === "removed" ? "before" : "after";
    const was = kind === "changed" && one.before !== one.after ? ` (was ${one.before})` : "";
    return element("li", {}, element("b", { class: kind }, Hlo.signs[kind]),
      element("button", { type: "button", class: "link", "data-name": name,
        onclick: () => choose(side, name) }, name), titleOf(name, side),
      element("span", { class: "dim" }, `${was} ${Hlo.labels.cut(one.words || "", longest)}`));
  }

  Hlo.changeGroups = changeGroups;
})(globalThis);
