"use strict";
/* Draws a picture as far as it is in sight: lines of a stage, its boxes, what is open in them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { flag, line } = Hlo;
  /* Zooms at which there is less to see: no text, no shapes but rectangles, no lines. */
  const TEXT = 0.38, TINY = 0.16, LINES = 0.05;
  const CURVED = 1;

  /**
   * Returns what drawing needs to know, for a canvas (or what acts as one) whose `ratio` pixels
   * are one of the page; `view` has x, y, k and `sight` as a Camera has.
   */
  function makeFrame(ctx, ratio, view, viewer, textFrom = TEXT) {
    const { k } = view;
    return {
      ctx, ratio, k, x: view.x, y: view.y, sight: view.sight, model: viewer.model,
      theme: viewer.theme, overlay: viewer.overlay, isPale: viewer.isPale, markOf: viewer.markOf,
      hasText: k > textFrom, isTiny: k < TINY, hasLines: k > LINES, texts: viewer.stageTexts,
      drawn: 0,
    };
  }

  /** Sets the transform so that (0, 0) is a point of the picture; added up in doubles. */
  function moveTo(frame, x, y) {
    const { ctx, k, ratio } = frame;
    ctx.setTransform(k * ratio, 0, 0, k * ratio, (x - frame.x) * k * ratio,
      (y - frame.y) * k * ratio);
  }

  function drawPicture(frame, picture) {
    drawGraph(frame, picture.root, 0, 0);
  }

  function drawGraph(frame, graph, x, y) {
    const { sight } = frame;
    if (frame.hasLines) {
      drawJoints(frame, graph, x, y);
    }
    for (let n = graph.stages.length === 0 ? 0 : graph.stageAt(sight.y0 - y);
      n < graph.stages.length; n++) {
      const stage = graph.stages[n];
      if (y + stage.y > sight.y1) {
        break;
      }
      drawStage(frame, graph, stage, x + stage.x, y + stage.y);
    }
  }

  /* Lines between stages run far, so they are drawn from the corner of the window. */
  function drawJoints(frame, graph, x, y) {
    const { ctx, sight } = frame, { joints, jointKind } = graph;
    moveTo(frame, frame.x, frame.y);
    for (const kind of [line.DATA, line.CONTROL]) {
      ctx.beginPath();
      for (let n = 0; n < jointKind.length; n++) {
        if (jointKind[n] === kind && y + joints[4 * n + 3] >= sight.y0
          && y + joints[4 * n + 1] <= sight.y1) {
          const [x0, y0, x1, y1] = joints.subarray(4 * n, 4 * n + 4);
          jointPath(ctx, x + x0 - frame.x, y + y0 - frame.y, x + x1 - frame.x, y + y1 - frame.y);
        }
      }
      strokeLines(frame, kind);
    }
  }

  function jointPath(ctx, x0, y0, x1, y1) {
    ctx.moveTo(x0, y0);
    if (Math.abs(x0 - x1) < CURVED) {
      ctx.lineTo(x1, y1);
    } else {
      ctx.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    }
  }

  function strokeLines(frame, kind) {
    const { ctx, theme, isTiny, k } = frame;
    ctx.strokeStyle = kind === line.CONTROL ? theme.control : theme.edge;
    ctx.setLineDash(kind === line.CONTROL ? [1.5, 3.5] : []);
    ctx.lineWidth = isTiny ? 1 / k : 1.2;
    ctx.globalAlpha = isTiny ? 0.5 : 0.9;
    ctx.stroke();
    ctx.globalAlpha = 1;
    ctx.setLineDash([]);
  }

  /** Returns the first layer that reaches down to y. */
  function layerAt({ layerBottom }, y) {
    let low = 0, high = layerBottom.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (layerBottom[middle] < y) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  function drawStage(frame, graph, stage, x, y) {
    const { sight } = frame, { geometry } = stage;
    const clip = { x0: sight.x0 - x, y0: sight.y0 - y, x1: sight.x1 - x, y1: sight.y1 - y };
    if (geometry.right < clip.x0 || geometry.left > clip.x1 || geometry.height < clip.y0) {
      return;
    }
    moveTo(frame, x, y);
    const first = layerAt(geometry, clip.y0);
    let last = first;
    while (last < geometry.layerTop.length && geometry.layerTop[last] <= clip.y1) {
      last++;
    }
    if (frame.hasLines) {
      drawLines(frame, geometry, Math.max(0, first - 1), last, clip);
    }
    const open = [];
    drawNodes(frame, graph, stage, { first, last, clip, open });
    for (const node of open) {
      drawInside(frame, graph, stage, node, x, y);
    }
  }

  function drawLines(frame, geometry, first, last, clip) {
    const { ctx } = frame, { layerLines, lineKind } = geometry;
    let hasControl = false;
    ctx.beginPath();
    for (let r = first; r < last; r++) {
      for (let n = layerLines[r]; n < layerLines[r + 1]; n++) {
        if (lineKind[n] === line.DATA) {
          linePath(frame, geometry, r, n, clip);
        } else {
          hasControl = true;
        }
      }
    }
    strokeLines(frame, line.DATA);
    if (hasControl) {
      ctx.beginPath();
      for (let r = first; r < last; r++) {
        for (let n = layerLines[r]; n < layerLines[r + 1]; n++) {
          if (lineKind[n] !== line.DATA) {
            linePath(frame, geometry, r, n, clip);
          }
        }
      }
      strokeLines(frame, line.CONTROL);
    }
    if (frame.hasText && geometry.labels.length > 0) {
      drawLabels(frame, geometry, first, last, clip);
    }
  }

  /** Adds line n, which starts in layer r, to the path; arrow heads where it ends in a box. */
  function linePath(frame, geometry, r, n, clip) {
    const { ctx } = frame, { lines } = geometry;
    const x0 = lines[5 * n], x1 = lines[5 * n + 2];
    if ((x0 < clip.x0 && x1 < clip.x0) || (x0 > clip.x1 && x1 > clip.x1)) {
      return;
    }
    addLine(ctx, geometry, r, n, frame.isTiny);
    if (geometry.lineTarget[n] >= 0 && frame.k > 0.3) {
      const y = lines[5 * n + 4];
      ctx.moveTo(x1 - 3, y - 6);
      ctx.lineTo(x1, y);
      ctx.lineTo(x1 + 3, y - 6);
    }
  }

  function addLine(ctx, geometry, r, n, isStraight) {
    // No subarray here: it would make an object a line and frame.
    const { lines, layerBottom } = geometry, at = 5 * n;
    const x0 = lines[at], y0 = lines[at + 1], x1 = lines[at + 2], y1 = lines[at + 3];
    const y2 = lines[at + 4];
    ctx.moveTo(x0, y0);
    if (isStraight || Math.abs(x0 - x1) < CURVED) {
      ctx.lineTo(x1, y1);
    } else {
      const bottom = Math.max(layerBottom[r], y0), middle = (bottom + y1) / 2;
      if (bottom > y0) {
        ctx.lineTo(x0, bottom);
      }
      ctx.bezierCurveTo(x0, middle, x1, middle, x1, y1);
    }
    if (y2 > y1) {
      ctx.lineTo(x1, y2);
    }
  }

  function drawLabels(frame, geometry, first, last, clip) {
    const { ctx, theme } = frame, { lines, layerLines, lineLabel, labels } = geometry;
    ctx.font = Hlo.boxFonts.mark;
    for (let r = first; r < last; r++) {
      for (let n = layerLines[r]; n < layerLines[r + 1]; n++) {
        const x = lines[5 * n + 2], y = lines[5 * n + 3];
        if (lineLabel[n] >= 0 && x >= clip.x0 - 40 && x <= clip.x1) {
          const text = labels[lineLabel[n]], width = 5.6 * text.length + 2;
          ctx.fillStyle = theme.paper;
          ctx.fillRect(x + 3, y - 12, width, 10);
          ctx.fillStyle = theme.quiet;
          ctx.fillText(text, x + 4, y - 4);
        }
      }
    }
  }

  function drawNodes(frame, graph, stage, { first, last, clip, open }) {
    const { geometry } = stage, texts = frame.texts.of(graph, stage);
    for (let r = first; r < last; r++) {
      for (let node = geometry.layerNodes[r]; node < geometry.layerNodes[r + 1]; node++) {
        const x = geometry.x[node];
        if (x > clip.x1 || x + geometry.w[node] < clip.x0 || geometry.y[node] > clip.y1) {
          continue;
        }
        frame.drawn++;
        if (geometry.flags[node] & flag.OPEN) {
          Hlo.drawCluster(frame, graph, stage, node, texts.of(node), clip);
          open.push(node);
        } else if (frame.isTiny) {
          drawTiny(frame, graph, stage, node, texts.of(node));
        } else {
          Hlo.drawBox(frame, graph, stage, node, texts.of(node));
        }
      }
    }
  }

  function drawTiny(frame, graph, stage, node, texts) {
    const { ctx } = frame, { geometry } = stage, i = stage.instructions[node];
    const c = graph.computation;
    const isPale = frame.isPale !== null && i >= 0 && frame.isPale(c, i);
    const overlaid = frame.overlay !== null && i >= 0 ? frame.overlay.fillOf(c, i) : null;
    ctx.globalAlpha = isPale ? Hlo.paleness : 1;
    ctx.fillStyle = overlaid === null ? frame.theme.category[texts.category].line : overlaid.fill;
    const mark = frame.markOf && i >= 0 ? frame.markOf(Hlo.paths.join(graph.path, i)) : "";
    if (mark) {
      ctx.fillStyle = frame.theme[mark];
    }
    ctx.fillRect(geometry.x[node], geometry.y[node], geometry.w[node], geometry.h[node]);
    ctx.globalAlpha = 1;
  }

  /** Draws the graphs that are open in a box, each with its title where there are several. */
  function drawInside(frame, graph, stage, node, x, y) {
    const { geometry } = stage, { ctx } = frame;
    const left = x + geometry.x[node], top = y + geometry.y[node];
    const children = graph.children.get(stage.instructions[node]) || [];
    for (const child of children) {
      drawFeeds(frame, graph, child, left, top);
    }
    if (frame.hasText) {
      moveTo(frame, left, top);
      Hlo.drawClusterTitle(frame, frame.texts.of(graph, stage).of(node), geometry.w[node]);
    }
    for (const child of children) {
      if (frame.hasText && children.length > 1) {
        moveTo(frame, left + child.x, top + child.y);
        ctx.font = Hlo.boxFonts.small;
        ctx.fillStyle = frame.theme.quiet;
        ctx.fillText(child.role, 6, -3);
      }
      drawGraph(frame, child.graph, left + child.x, top + child.y);
    }
  }

  /** Draws the lines from the top edge of an open box to the inputs in it. */
  function drawFeeds(frame, graph, child, left, top) {
    const { ctx } = frame, [stage] = child.graph.stages;
    if (!frame.hasLines || stage === undefined) {
      return;
    }
    const { geometry } = stage;
    moveTo(frame, left + child.x + stage.x, top + child.y + stage.y);
    ctx.beginPath();
    for (let node = 0; node < geometry.layerNodes[1]; node++) {
      if (geometry.flags[node] & flag.INPUT && graph.feeds(child.graph, stage.instructions[node])) {
        const x = geometry.x[node] + geometry.w[node] / 2;
        ctx.moveTo(x, -child.y - stage.y);
        ctx.lineTo(x, geometry.y[node]);
      }
    }
    strokeLines(frame, line.DATA);
  }

  Object.assign(Hlo, { makeFrame, drawPicture, drawStage, moveFrame: moveTo, addLine, jointPath });
})(globalThis);
