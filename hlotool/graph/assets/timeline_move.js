"use strict";
/* From one state of a module to another, so that the eye finds again what it looked at. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;

  /** Returns a model of the page by the number of its module; -1: the outer one. */
  function modelNumbered(viewer, number) {
    return number < 0 ? viewer.outer : viewer.outer.modules[number];
  }

  /** Returns the path of the instruction of a name that is first called from the entry, or "". */
  function pathOfName(model, name) {
    const [place] = name === "" ? [] : model.find(name);
    return place === undefined ? "" : model.pathOf(place.computation, place.instruction);
  }

  /* The same call path by names, where that is there; else the first call of the name. */
  function translated(from, to, path) {
    return to.pathFromText(from.pathText(path)) || pathOfName(to,
      from.name(from.computationOf(paths.graph(path)), paths.instruction(path)));
  }

  /** Yields [path, box] of what is drawn, from near (x, y) to far. */
  function nearestBoxes(picture, x, y) {
    return [...picture.instructionPaths()].map((path) => [path, picture.find(path)])
      .map(([path, box]) => [Math.hypot(box.x + box.w / 2 - x, box.y + box.h / 2 - y), path, box])
      .sort((one, other) => one[0] - other[0]).map(([, path, box]) => [path, box]);
  }

  /**
   * What stays where it is: {path, at} with the path in the new model and the place on the screen
   * now; null if nothing is on both sides. The selection comes first, then what is near it.
   */
  function anchorOf(viewer, model) {
    const { camera, picture, model: old } = viewer, box = viewer.selectedBox();
    const isSeen = box !== null && camera.sees(box);
    if (isSeen) {
      const path = translated(old, model, viewer.selected);
      if (path !== "") {
        return { path, at: camera.toScreen(box.x, box.y) };
      }
    }
    const { x0, y0, x1, y1 } = camera.sight;
    const [x, y] = isSeen ? [box.x + box.w / 2, box.y + box.h / 2] : [(x0 + x1) / 2, (y0 + y1) / 2];
    for (const [path, near] of nearestBoxes(picture, x, y)) {
      const same = translated(old, model, path);
      if (same !== "") {
        return { path: same, at: camera.toScreen(near.x, near.y) };
      }
    }
    return null;
  }

  /* What is open, and the root, are of the module that was asked for last, drawn or not. */
  function openIn(viewer, model) {
    const old = modelNumbered(viewer, viewer.module);
    return new Set([...viewer.open].map((path) => model.pathFromText(old.pathText(path)))
      .filter((path) => path !== null && paths.instruction(path) >= 0));
  }

  function rootIn(viewer, model) {
    const top = model.pathFromText(
      modelNumbered(viewer, viewer.module).pathText(viewer.root));
    return top === null || paths.instruction(top) >= 0 ? String(model.entry) : top;
  }

  /**
   * Shows another module with the same clusters open and the same place in sight; `wanted` is the
   * name of what is to be selected there. Returns whether nothing newer came in between.
   */
  async function moveToModule(viewer, number, wanted) {
    const model = modelNumbered(viewer, number), hint = viewer.picture;
    const anchor = anchorOf(viewer, model);
    const kept = viewer.selected === "" ? null : translated(viewer.model, model, viewer.selected);
    const selected = kept || pathOfName(model, wanted);
    const open = openIn(viewer, model), top = rootIn(viewer, model);
    viewer.remember();
    Object.assign(viewer, { module: number, open, root: top, selected: "", hovered: "", focus: null,
      only: null, folded: [], hidden: new Set() });
    if (!(await viewer.layout({ hint }))) {
      return false;
    }
    viewer.selected = selected;
    place(viewer, anchor);
    for (const signal of ["selection", "root", "focus"]) {
      viewer.signals.give(signal);
    }
    return true;
  }

  function place(viewer, anchor) {
    const box = anchor === null ? null : viewer.picture.find(anchor.path);
    if (box === null) {
      viewer.start();
      return;
    }
    viewer.camera.pin(box.x, box.y, anchor.at);
  }

  Object.assign(Hlo, { moveToModule, modelNumbered, pathOfName });
})(globalThis);
