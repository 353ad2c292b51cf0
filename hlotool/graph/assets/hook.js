"use strict";
/* What tests in a browser may read: `window.hlotool`. Nothing here changes the page. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const hook = { ready: false, readyAt: 0, failures: [] };

  function screenBox(viewer, path) {
    const box = viewer.picture === null ? null : viewer.picture.find(path);
    if (box === null) {
      return null;
    }
    const { x, y } = viewer.camera.toScreen(box.x, box.y), { k } = viewer.camera;
    const { left, top } = document.getElementById("marks").getBoundingClientRect();
    return { x: left + x, y: top + y, width: box.w * k, height: box.h * k, path: box.path,
      exact: box.exact };
  }

  /** Fills the hook for a page. */
  function offerHook(page) {
    const { viewer, drawing } = page;
    const properties = {
      selected: () => viewer.selected,
      selectedName: () => (viewer.selected === "" ? "" : viewer.nameOf(viewer.selected)),
      hovered: () => viewer.hovered,
      stats: () => ({ ...(viewer.picture ? viewer.picture.stats : {}), drawn: drawing.drawn,
        isFar: drawing.isFar, layouter: viewer.layouter.kind }),
      frames: () => drawing.frames,
      camera: () => ({ x: viewer.camera.x, y: viewer.camera.y, k: viewer.camera.k,
        moving: viewer.camera.moving }),
      root: () => viewer.root,
      open: () => [...viewer.open],
      shown: () => (viewer.picture === null ? [] : [...viewer.picture.instructionPaths()]),
      hits: () => viewer.hits.length,
      chosen: () => [...viewer.group.paths].map((path) => viewer.nameOf(path)),
      area: () => viewer.group.area,
      folded: () => viewer.folded,
      overlay: () => (viewer.overlay === null ? "" : viewer.overlay.name),
      theme: () => (viewer.theme.dark ? "dark" : "light"),
      module: () => viewer.module,
      model: () => viewer.model,
      picture: () => viewer.picture,
      keys: () => page.keys.flatMap(({ keys }) => keys),
    };
    for (const [name, get] of Object.entries(properties)) {
      Object.defineProperty(hook, name, { get, enumerable: true });
    }
    Object.assign(hook, {
      /** The path of the box at a point of the window, or "". */
      nodeAt(x, y) {
        const { left, top } = document.getElementById("marks").getBoundingClientRect();
        const at = viewer.camera.toPicture(x - left, y - top);
        const node = viewer.picture === null ? null : viewer.picture.nodeAt(at.x, at.y);
        return node === null ? "" : node.path || "";
      },
      /** Where the box of a path is in the window, or null. */
      box: (path) => screenBox(viewer, path),
      /** The same by the name of an instruction. */
      boxNamed(name) {
        const [place] = viewer.model.find(name);
        return place ? screenBox(viewer,
          Hlo.nearestPath(viewer.model, viewer.picture, viewer.selected, place)) : null;
      },
      svg: (isWindow = false) => Hlo.svgText(viewer, isWindow),
    });
  }

  function hookReady() {
    hook.readyAt = performance.now();
    hook.ready = true;
  }

  root.hlotool = hook;
  Object.assign(Hlo, { offerHook, hookReady });
})(globalThis);
