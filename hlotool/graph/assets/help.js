"use strict";
/* The help: keys from their table, what can be searched for, what the drawing means. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const SEARCH = [["relu", "in names, opcodes, shapes, attributes, sources"],
    ["op:dot", "by opcode"], ["shape:f32[2,16]", "by shape"], ["attr:dim_labels", "by attribute"],
    ["source:model.py", "by line of the source"], ["scope:layer_3", "by op_name"],
    ["name:while", "by name"], ["/conv.*3x3/i", "a regular expression (given up after a second)"],
    ["op:dot shape:bf16", "both must hold"],
    ["with an overlay", "the largest values come first"],
    ["nothing, a part of the legend", "n goes through the boxes that are left"]];
  const MOUSE = [["drag, wheel", "move"], ["Ctrl+wheel, pinch", "zoom"], ["click", "select"],
    ["double click", "open or close in place"],
    ["Shift+drag", "choose all boxes in an area: their sums stand at the right"],
    ["Shift+click", "choose one more, or one less"],
    ["click on ▴ name", "go to where it comes from"],
    ["strip at the right", "the whole graph; drag to go there"]];
  const DRAWING = [["double frame, +12", "a closed fusion, loop or call of 12 instructions"],
    ["while ×8", "a loop that turns 8 times"],
    ["the same ×11", "the stages above it 11 times more, folded; a double click unfolds"],
    ["green row", "a constant, an input or an element of a loop's state"],
    ["▴ name", "an operand from far above; its line shows when selected"],
    ["▾3", "three users are far below"], ["#1 at a line", "element 1 of a tuple"],
    ["dotted line", "control dependency"], ["thick lower edge", "result of its computation"],
    ["⟲", "an operand is updated in place"],
    ["orange, violet", "operands, users of the selection"],
    ["+ ≠ −", "added, changed, removed"], ["dashed and pale", "removed by the pass"]];

  function list(rows) {
    return element("dl", {}, ...rows.flatMap(([term, text]) => [
      element("dt", {}, ...[term].flat().map((one) => element("kbd", {}, one))),
      element("dd", {}, text)]));
  }

  function fillHelp(dialog, table, tool) {
    const groups = [...new Set(table.map(({ group }) => group))];
    const close = element("button", { type: "button", onclick: () => dialog.close() }, "Close");
    dialog.replaceChildren(element("h2", {}, "Keys and search", close),
      element("div", { class: "columns" },
        ...groups.map((group) => element("section", {}, element("h3", {}, group),
          list(table.filter((entry) => entry.group === group)
            .map(({ keys, text }) => [keys.map(Hlo.keyText), text])))),
        element("section", {}, element("h3", {}, "Mouse and fingers"), list(MOUSE)),
        element("section", {}, element("h3", {}, "Search"), list(SEARCH)),
        element("section", {}, element("h3", {}, "The drawing"), list(DRAWING))),
      element("p", { class: "dim" }, `Made by ${tool}. The page needs no network.`));
    // Filled again with each part of the page, but one listener is enough.
    dialog.onclick = ({ target }) => {
      if (target === dialog) {
        dialog.close();
      }
    };
  }

  /**
   * Binds more keys of a page, and lists them in its help; those without `run` are listed alone,
   * since others hear of them.
   */
  function addKeys(page, keys) {
    Hlo.bindKeys(keys.filter(({ run }) => run !== undefined));
    page.keys = [...page.keys, ...keys];
    fillHelp(Hlo.shell("help"), page.keys, page.viewer.outer.tool);
  }

  /** Lists more of what can be searched for, in the help as it is filled next. */
  function addSearchHelp(term, text) {
    SEARCH.push([term, text]);
  }

  Object.assign(Hlo, { addKeys, addSearchHelp });
})(globalThis);
