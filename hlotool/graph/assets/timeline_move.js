"use strict";
/* From one state of a module to another, so that the eye finds again what it looked at. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  /* So many of the nearest boxes are looked for one by one. */
  const UNSORTED = 8;

  /** Returns a model of the page by the number of its module; -1: the outer one. */
  function modelNumbered(viewer, number) {
    return number < 0 ? viewer.outer : viewer.outer.modules[number];
  }

  /* Distances from (x, y) and corners of all boxes, each an object {far, graph, i, x, y}. */
  function boxesFrom(picture, x, y) {
    const found = [];
    for (const graph of picture.graphs.values()) {
      const origin = picture.origin(graph.path);
      for (const { x: left, y: top, geometry, instructions, folded } of graph.stages) {
        for (let node = 0; node < geometry.size && !folded; node++) {
          const x0 = origin.x + left + geometry.x[node], y0 = origin.y + top + geometry.y[node];
          found.push({ far: Math.hypot(x0 + geometry.w[node] / 2 - x,
            y0 + geometry.h[node] / 2 - y), graph, i: instructions[node], x: x0, y: y0 });
        }
      }
    }
    return found;
  }

  /** Yields {graph, i, x, y} of what is drawn, from near (x, y) to far. */
  function* nearestBoxes(picture, x, y) {
    const boxes = boxesFrom(picture, x, y);
    // As a rule one of the first is on both sides: all need not be in order for that.
    for (let turn = 0; turn < UNSORTED && boxes.length > 0; turn++) {
      let nearest = 0;
      for (let n = 1; n < boxes.length; n++) {
        nearest = boxes[n].far < boxes[nearest].far ? n : nearest;
      }
      yield boxes[nearest];
      boxes[nearest] = boxes[boxes.length - 1];
      boxes.pop();
    }
    yield* boxes.sort((one, other) => one.far - other.far);
  }

  /**
   * What stays where it is: {path, at} with the path in the new model and the place on the screen
   * now; null if nothing is on both sides. The selection comes first, then what is near it.
   */
  function anchorOf(viewer, model) {
    const { camera, picture, model: old } = viewer, box = viewer.selectedBox();
    const isSeen = box !== null && camera.sees(box);
    if (isSeen) {
      const path = old.pathIn(model, viewer.selected);
      if (path !== "") {
        return { path, at: camera.toScreen(box.x, box.y) };
      }
    }
    const { x0, y0, x1, y1 } = camera.sight;
    const [x, y] = isSeen ? [box.x + box.w / 2, box.y + box.h / 2] : [(x0 + x1) / 2, (y0 + y1) / 2];
    for (const near of nearestBoxes(picture, x, y)) {
      const same = old.pathIn(model, paths.join(near.graph.path, near.i));
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

  /** Returns a view of another module with the same graph and the same clusters open. */
  function viewOfModule(viewer, number) {
    const model = modelNumbered(viewer, number);
    return { module: number, root: rootIn(viewer, model), open: [...openIn(viewer, model)] };
  }

  /**
   * Shows another module with the same clusters open and the same place in sight; `wanted` is the
   * name of what is to be selected there. Returns whether nothing newer came in between.
   */
  async function moveToModule(viewer, number, wanted) {
    const model = modelNumbered(viewer, number), hint = viewer.picture;
    const anchor = anchorOf(viewer, model);
    const isKept = viewer.selected !== ""
      && viewer.model.pathIn(model, viewer.selected) !== "";
    const open = openIn(viewer, model), top = rootIn(viewer, model);
    viewer.remember();
    Object.assign(viewer, { module: number, open, root: top, focus: null, only: null, folded: [],
      hidden: new Set() });
    if (!(await viewer.layout({ hint }))) {
      return false;
    }
    if (viewer.selected === "" && !isKept) {
      viewer.selected = Hlo.pathOfName(model, wanted);
    }
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

  Object.assign(Hlo, { moveToModule, viewOfModule, modelNumbered });
})(globalThis);
