"use strict";
/* The two canvases over each other: the picture, and above it what is hovered and selected. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* So many boxes in sight are drawn as one bitmap made before. */
  const MOST = 4000;
  const KEPT_FRAMES = 600;

  /** Texts of all stages that were drawn, as long as the picture lives. */
  class TextCache {
    constructor(viewer) {
      this._viewer = viewer;
      this._byStage = new WeakMap();
    }

    of(graph, stage) {
      let texts = this._byStage.get(stage);
      if (texts === undefined || texts.graph !== graph) {
        texts = new Hlo.StageTexts(this._viewer.picture.model, graph, stage,
          this._viewer.folded);
        this._byStage.set(stage, texts);
      }
      return texts;
    }
  }

  /** Draws what a viewer shows whenever something of it has changed, once a frame. */
  class Drawing {
    constructor(viewer, graphCanvas, marksCanvas, far) {
      this.viewer = viewer;
      this.far = far;
      this._canvases = [graphCanvas, marksCanvas];
      this._graph = graphCanvas.getContext("2d", { alpha: false });
      this._marks = marksCanvas.getContext("2d");
      this._asked = 0;
      this._isGraphOld = true;
      this._relations = null;
      /** Milliseconds that drawing took, of the last frames; and boxes drawn in the last one. */
      this.frames = [];
      this.drawn = 0;
      this.isFar = false;
      viewer.stageTexts = new TextCache(viewer);
      viewer.signals.on("camera picture colours", () => this.ask());
      viewer.signals.on("hover hits area group", () => this.ask(false));
      viewer.signals.on("selection picture", () => {
        this._relations = undefined;
        // Of what is pale the selection stands out.
        this.ask(viewer.isPale !== null);
      });
      far.whenDone = () => this.ask();
    }

    /** The canvases have another size now. */
    resize(width, height) {
      const ratio = this.ratio;
      for (const canvas of this._canvases) {
        canvas.width = Math.max(1, Math.round(width * ratio));
        canvas.height = Math.max(1, Math.round(height * ratio));
      }
      this.viewer.camera.resize(width, height);
    }

    get ratio() { return root.devicePixelRatio || 1; }

    ask(isGraphOld = true) {
      this._isGraphOld = this._isGraphOld || isGraphOld;
      if (this._asked === 0) {
        this._asked = requestAnimationFrame(() => this._frame());
      }
    }

    /** Calls once, when the picture has been drawn. */
    whenDrawn(call) {
      this._whenDrawn = call;
      this.ask();
    }

    get relations() {
      if (this._relations === undefined) {
        const { picture, selected } = this.viewer;
        this._relations = picture && selected ? Hlo.relationsOf(picture, selected) : null;
      }
      return this._relations;
    }

    _frame() {
      this._asked = 0;
      if (this.viewer.picture === null) {
        return;
      }
      const start = performance.now();
      if (this._isGraphOld) {
        this._drawGraph();
        this._isGraphOld = false;
      }
      this._marks.setTransform(1, 0, 0, 1, 0, 0);
      this._marks.clearRect(0, 0, this._marks.canvas.width, this._marks.canvas.height);
      Hlo.drawMarksOver(Hlo.makeFrame(this._marks, this.ratio, this.viewer.camera, this.viewer),
        this.viewer, this.relations);
      this.frames.push(performance.now() - start);
      this.frames.splice(0, this.frames.length - KEPT_FRAMES);
      if (this._whenDrawn) {
        this._whenDrawn();
        this._whenDrawn = null;
      }
    }

    _drawGraph() {
      const { camera, picture, theme } = this.viewer, ctx = this._graph;
      ctx.setTransform(1, 0, 0, 1, 0, 0);
      ctx.globalAlpha = 1;
      ctx.fillStyle = theme.paper;
      ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
      const frame = Hlo.makeFrame(ctx, this.ratio, camera, this.viewer);
      this.isFar = frame.isTiny && boxesInSight(picture.root, camera.sight, 0) > MOST
        && this.far.draw(ctx, camera, this.ratio);
      if (!this.isFar) {
        Hlo.drawPicture(frame, picture);
      }
      this.drawn = frame.drawn;
    }
  }

  const totals = new WeakMap();

  /** Boxes of a graph with all that is open in it. */
  function boxesOf(graph) {
    let total = totals.get(graph);
    if (total === undefined) {
      total = 0;
      for (const { geometry } of graph.stages) {
        total += geometry.size;
      }
      for (const children of graph.children.values()) {
        for (const child of children) {
          total += boxesOf(child.graph);
        }
      }
      totals.set(graph, total);
    }
    return total;
  }

  /* An estimate: the boxes are taken to be spread evenly over the height. */
  function boxesInSight(graph, sight, y) {
    const seen = Math.min(sight.y1, y + graph.height) - Math.max(sight.y0, y);
    return boxesOf(graph) * Math.max(0, seen) / Math.max(1, graph.height);
  }

  /** Returns a text, or its beginning with an ellipsis, as far as it fits in `width` px. */
  function fittingText(ctx, text, width) {
    if (ctx.measureText(text).width <= width) {
      return text;
    }
    let most = text.length;
    while (most > 0 && ctx.measureText(`${text.slice(0, most)}…`).width > width) {
      most--;
    }
    return most > 0 ? `${text.slice(0, most)}…` : "";
  }

  Object.assign(Hlo, { Drawing, boxesOf, fittingText });
})(globalThis);
