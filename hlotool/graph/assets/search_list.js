"use strict";
/* The list below the search field: what was found, why, and what an overlay says of it. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const LISTED = 100, LONGEST_SHAPE = 60;

  /** Fills a list with the hits of a viewer, and with what other states have. */
  function fillHits(list, viewer, query, others) {
    const { hits } = viewer;
    list.replaceChildren(
      ...hits.slice(0, LISTED).map((path, n) => hitItem(viewer, query, path, n)),
      ...more(hits.length - LISTED),
      ...(others.length === 0 ? [] : [element("li", { class: "dim heading" },
        "In other states of the module")]),
      ...others.slice(0, LISTED).map(({ name, note }, n) => element("li", { role: "option",
        "data-other": n, id: `other-${n}` }, element("span", { class: "what" },
        element("b", {}, name), element("span", { class: "dim" }, `: ${note}`)))),
      ...more(others.length - LISTED));
  }

  function more(count) {
    return count > 0 ? [element("li", { class: "dim" }, `and ${count.toLocaleString("en")} more`)]
      : [];
  }

  /* The name, then what the box says, and why it is a hit where that is not to be seen. */
  function hitItem({ model, overlay }, query, path, n) {
    const c = model.computationOf(paths.graph(path)), i = paths.instruction(path);
    const name = model.name(c, i), shape = Hlo.labels.cut(model.shapePlain(c, i), LONGEST_SHAPE);
    const title = boxTitle(model, c, i) === name ? model.opcode(c, i) : boxTitle(model, c, i);
    const notes = [c === model.entry ? "" : `in ${model.computations[c].name}`,
      model.reason(query, c, i)].filter(Boolean).join(", ");
    const value = overlay === null || overlay.valueOf(c, i) === null ? null
      : element("span", { class: "value" }, overlay.text(c, i));
    return element("li", { role: "option", "data-hit": n, id: `hit-${n}` },
      element("span", { class: "what" }, element("b", {}, name),
        ` ${title} ${shape} `, notes === "" ? null : element("span", { class: "dim" }, notes)),
      value);
  }

  /** What the box of an instruction says first. */
  function boxTitle(model, c, i) {
    return model.role(c, i) === "parameter" ? Hlo.labels.inputName(model, c, i)
      : model.titleText(c, i) || model.opcode(c, i);
  }

  /** Returns "dot f32[2,4]" of the instruction of a name: its title and shape; "" if none. */
  function described(model, name) {
    const [place] = name === "" ? [] : model.find(name);
    if (place === undefined) {
      return "";
    }
    return titleAndShape(model, place.computation, place.instruction);
  }

  function titleAndShape(model, c, i) {
    return `${boxTitle(model, c, i)} ${Hlo.labels.cut(model.shapePlain(c, i), LONGEST_SHAPE)}`;
  }

  /** Marks the item of a kind ("hit", "other") and a number as the one that is meant. */
  function markHit(list, kind, number) {
    for (const item of list.children) {
      item.setAttribute("aria-selected", String(item.dataset[kind] === String(number)));
    }
    const current = list.querySelector(`[data-${kind}="${number}"]`);
    if (current !== null && !list.hidden) {
      current.scrollIntoView({ block: "nearest" });
    }
  }

  Object.assign(Hlo, { fillHits, markHit, boxTitle, titleAndShape, described });
})(globalThis);
