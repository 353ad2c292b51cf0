"use strict";
/* Several boxes chosen together, by an area or one by one, and what they come to in sum. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { counted, element, flag, paths } = Hlo;
  const MOST_TITLES = 8;

  /** Yields the paths of the boxes that touch an area {x0, y0, x1, y1} of a picture; of an open
      cluster that is not wholly in it what is inside; of a fold all that it stands for. */
  function* boxesIn(picture, area) {
    const work = [{ graph: picture.root, x: 0, y: 0 }];
    while (work.length > 0) {
      const { graph, x, y } = work.pop();
      const first = graph.stages.length === 0 ? 0 : graph.stageAt(area.y0 - y);
      for (let n = first; n < graph.stages.length && y + graph.stages[n].y <= area.y1; n++) {
        const stage = graph.stages[n];
        for (let node = 0; node < stage.geometry.size; node++) {
          const box = boxOf(stage, node, x, y);
          if (!touches(box, area)) {
            continue;
          }
          if (stage.geometry.flags[node] & flag.OPEN && !holds(area, box)) {
            for (const child of graph.children.get(stage.instructions[node]) || []) {
              work.push({ graph: child.graph, x: box.x0 + child.x, y: box.y0 + child.y });
            }
          } else {
            yield* instructionsOf(graph, stage, node);
          }
        }
      }
    }
  }

  function boxOf(stage, node, x, y) {
    const { geometry } = stage, x0 = x + stage.x + geometry.x[node];
    const y0 = y + stage.y + geometry.y[node];
    return { x0, y0, x1: x0 + geometry.w[node], y1: y0 + geometry.h[node] };
  }

  function touches(box, area) {
    return box.x0 <= area.x1 && box.x1 >= area.x0 && box.y0 <= area.y1 && box.y1 >= area.y0;
  }

  function holds(area, box) {
    return area.x0 <= box.x0 && area.x1 >= box.x1 && area.y0 <= box.y0 && area.y1 >= box.y1;
  }

  function* instructionsOf(graph, stage, node) {
    if (!stage.folded) {
      yield paths.join(graph.path, stage.instructions[node]);
      return;
    }
    for (let i = 0; i < graph.stageNumbers.length; i++) {
      const number = graph.stageNumbers[i];
      if (stage.number <= number && number <= stage.last) {
        yield paths.join(graph.path, i);
      }
    }
  }

  /** The boxes that a viewer has chosen together: paths of instructions. */
  class Group {
    constructor(viewer) {
      this.viewer = viewer;
      this.paths = new Set();
      /** The area that is being dragged, in the picture; null: none. */
      this.area = null;
      this._boxesOf = null;
      viewer.signals.on("module root", () => this.clear());
    }

    get size() { return this.paths.size; }

    /** Chooses what touches an area. */
    choose(area) {
      this.area = null;
      this.set(boxesIn(this.viewer.picture, area));
    }

    /** Shows how far an area is dragged; null: no more. */
    drag(area) {
      this.area = area;
      this.viewer.signals.give("area");
    }

    set(found) {
      this.paths = new Set(found);
      this._boxesOf = null;
      this.viewer.signals.give("group");
    }

    /** Takes one in or out. */
    toggle(path) {
      if (path !== "") {
        const isIn = this.paths.has(path);
        this.set([...this.paths].filter((one) => one !== path).concat(isIn ? [] : [path]));
      }
    }

    clear() {
      if (this.size > 0) {
        this.set([]);
      }
    }

    /** The boxes that show them, found once a picture. */
    get boxes() {
      const { picture } = this.viewer;
      if (this._boxesOf !== picture) {
        this._boxesOf = picture;
        const found = new Map();
        for (const path of this.paths) {
          const box = picture.find(path);
          if (box !== null) {
            found.set(`${box.x},${box.y}`, box);
          }
        }
        this._boxes = [...found.values()];
      }
      return this._boxes;
    }

    /** [computation, instruction] of all but those that are inside of another one. */
    members() {
      const { model } = this.viewer;
      return [...this.paths].filter((path) => !this._isCovered(path))
        .map((path) => [model.computationOf(paths.graph(path)), paths.instruction(path)]);
    }

    _isCovered(path) {
      for (let at = paths.parent(paths.graph(path)); at !== null;
        at = paths.parent(paths.graph(at))) {
        if (this.paths.has(at)) {
          return true;
        }
      }
      return false;
    }

    /** The box around all. */
    get bounds() {
      const { boxes } = this, edge = (pick, of) => boxes.reduce((most, box) => pick(most, of(box)),
        pick === Math.min ? Infinity : -Infinity);
      const x = edge(Math.min, (box) => box.x), y = edge(Math.min, (box) => box.y);
      return { x, y, w: edge(Math.max, (box) => box.x + box.w) - x,
        h: edge(Math.max, (box) => box.y + box.h) - y };
    }
  }

  /**
   * Returns what an overlay comes to over members of a group: {value, mean, count}, or null where
   * it has no numbers that can be put together. Of those that count by their peak it is the
   * largest one, without a mean.
   */
  function summed(overlay, members) {
    if (overlay.kind === "categorical" || overlay.sum === "none") {
      return null;
    }
    const values = members.map(([c, i]) => (overlay.values[c] || [])[i])
      .filter((value) => value !== null && value !== undefined);
    if (values.length === 0) {
      return null;
    }
    if (overlay.sum === "max") {
      const value = values.reduce((most, one) => Math.max(most, one), -Infinity);
      return { value, mean: null, count: values.length };
    }
    const value = values.reduce((sum, one) => sum + one, 0);
    return { value, mean: value / values.length, count: values.length };
  }

  /** What an overlay comes to over the stages that a fold stands for, as text; "" for nothing. */
  function foldValue({ data, unit }, graph, stage) {
    const members = [...instructionsOf(graph, stage, 0)]
      .map((path) => [graph.computation, paths.instruction(path)]);
    const sum = summed(data, members);
    return sum === null ? "" : Hlo.readable(sum.value, unit);
  }

  /** Returns what the panel says of a group; `alone` shows its members alone. */
  function groupParts(viewer, alone) {
    const { group, model } = viewer, members = group.members();
    const button = (text, title, onclick) => element("button",
      { type: "button", title, onclick }, text);
    const close = element("button", { type: "button", title: "Choose none (Esc)",
      "aria-label": "Choose none", onclick: () => group.clear() }, "×");
    const total = Hlo.instructionCount(model, members);
    return [
      element("h2", { class: "group" }, element("span", {},
        `${counted(members.length, "box", "boxes")} chosen`), close),
      total > members.length ? element("div", { class: "dim" },
        `${counted(total, model.noun)} with what is inside`) : null,
      element("div", { class: "actions" },
        button("Zoom to", "Bring them all into sight", () => viewer.camera.fit(group.bounds)),
        button("Alone", "Leave all others out", () => alone([...group.paths]))),
      ...sumParts(model, members), ...titleParts(model, members),
    ];
  }

  function sumParts(model, members) {
    const rows = model.overlays.flatMap((overlay) => {
      const sum = summed(overlay, members);
      if (sum === null) {
        return [];
      }
      const what = sum.mean === null ? `${Hlo.overlayLabel(overlay)}, peak`
        : Hlo.overlayLabel(overlay);
      const isOfAll = sum.count === members.length;
      const note = sum.mean === null || sum.count < 2 ? ""
        : `mean${isOfAll ? "" : ` of ${sum.count.toLocaleString("en")}:`} ` +
          Hlo.readable(sum.mean, overlay.unit);
      return [element("dt", { "data-overlay": overlay.name }, what), element("dd", {},
        element("b", {}, Hlo.readable(sum.value, overlay.unit)), " ",
        element("span", { class: "dim" }, note))];
    });
    return rows.length === 0 ? [] : [element("h3", {}, "In sum"),
      element("dl", { class: "sums" }, ...rows)];
  }

  /* What they are, the most frequent first. */
  function titleParts(model, members) {
    const counts = new Map();
    for (const [c, i] of members) {
      const title = model.titleText(c, i);
      counts.set(title, (counts.get(title) || 0) + 1);
    }
    const sorted = [...counts].sort((a, b) => b[1] - a[1]), rest = sorted.length - MOST_TITLES;
    return [element("h3", {}, "What they are"), element("ul", { class: "titles" },
      ...sorted.slice(0, MOST_TITLES).map(([title, count]) => element("li", {},
        element("span", { class: "number" }, String(count)), element("span", {}, title))),
      rest > 0 ? element("li", { class: "dim" }, `and ${rest} other kinds`) : null)];
  }

  Object.assign(Hlo, { boxesIn, Group, foldValue, groupParts });
})(globalThis);
