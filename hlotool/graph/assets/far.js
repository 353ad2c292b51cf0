"use strict";
/* A bitmap of the whole picture, x and y scaled apart, painted a piece at a time. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const SLICE = 8;
  const WIDTH = 512, HIGHEST = 4096;

  /** Yields after each stage, having painted its boxes. */
  function* paint(ctx, viewer, scale) {
    const { picture } = viewer;
    const work = [{ graph: picture.root, x: 0, y: 0 }];
    while (work.length > 0) {
      const { graph, x, y } = work.pop();
      for (const stage of graph.stages) {
        paintStage(ctx, viewer, graph, stage, { x: x + stage.x, y: y + stage.y, ...scale });
        yield;
      }
      for (const [instruction, children] of graph.children) {
        const box = picture.find(Hlo.paths.join(graph.path, instruction));
        for (const child of children) {
          work.push({ graph: child.graph, x: box.x + child.x, y: box.y + child.y });
        }
      }
    }
  }

  function paintStage(ctx, viewer, graph, stage, { x, y, sx, sy }) {
    const { theme, model, overlay, isPale } = viewer, { geometry, instructions } = stage;
    const c = graph.computation;
    for (let node = 0; node < geometry.size; node++) {
      const i = instructions[node];
      const category = i < 0 ? "movement" : model.category(c, i);
      const isOpen = (geometry.flags[node] & Hlo.flag.OPEN) !== 0;
      const overlaid = overlay && i >= 0 ? overlay.fillOf(c, i) : null;
      ctx.fillStyle = overlaid === null ? theme.category[category].line : overlaid.fill;
      ctx.globalAlpha = isOpen ? 0.12 : isPale !== null && i >= 0 && isPale(c, i) ? 0.15 : 0.85;
      ctx.fillRect((x + geometry.x[node]) * sx, (y + geometry.y[node]) * sy,
        Math.max(1, geometry.w[node] * sx), Math.max(0.7, geometry.h[node] * sy));
    }
  }

  /** Paints the picture into canvases of a size of their own, without holding up the page. */
  class FarPicture {
    constructor(viewer) {
      this._viewer = viewer;
      this._canvas = null;
      this._painting = null;
      this._timer = 0;
      this.whenDone = () => {};
      viewer.signals.on("picture colours", () => this.start());
    }

    /** Paints anew. */
    start() {
      clearTimeout(this._timer);
      const { picture, theme } = this._viewer;
      if (picture === null || theme === null) {
        return;
      }
      const canvas = document.createElement("canvas");
      canvas.width = WIDTH;
      canvas.height = Math.max(64, Math.min(HIGHEST, Math.round(picture.height / 8)));
      const ctx = canvas.getContext("2d");
      const scale = { sx: canvas.width / picture.width, sy: canvas.height / picture.height };
      this._painting = { canvas, steps: paint(ctx, this._viewer, scale), picture };
      // Not at once: what has changed now may be followed by more of the same in a moment.
      this._timer = setTimeout(() => this._go(), 0);
    }

    _go() {
      const { canvas, steps, picture } = this._painting, start = performance.now();
      while (performance.now() - start < SLICE) {
        if (steps.next().done) {
          this._canvas = canvas;
          this._picture = picture;
          this.whenDone();
          this.whenReady && this.whenReady();
          return;
        }
      }
      this._timer = setTimeout(() => this._go(), 0);
    }

    /** The bitmap, or null as long as there is none of the present picture. */
    get bitmap() {
      return this._picture === this._viewer.picture ? this._canvas : null;
    }

    /** Draws the bitmap where the picture would be; returns false if there is none yet. */
    draw(ctx, camera, ratio) {
      const { bitmap } = this, { picture } = this._viewer;
      if (bitmap === null) {
        return false;
      }
      const k = camera.k * ratio;
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.drawImage(bitmap, -camera.x * k, -camera.y * k, picture.width * k, picture.height * k);
      return true;
    }
  }

  Hlo.FarPicture = FarPicture;
})(globalThis);
