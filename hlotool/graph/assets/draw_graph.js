"use strict";
/* Draws a picture as far as it is in sight: lines of a stage, its boxes, what is open in them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { flag, line } = Hlo;
  /* Zooms at which there is less to see: no text, no shapes but rectangles, no lines. */
  const TEXT = 0.38, TINY = 0.16, LINES = 0.05;
  const CURVED = 1;
  const WIDTH = 1.2, HEAD = 3;
  /* A path of very many lines takes a rasterizer much longer than its parts do one by one. */
  const AT_ONCE = 200;
  /* So many of the lines that are longer than the window is wide are drawn of each kind: of those
     that pass it, begin in it and end in it. More of them would be one blot. */
  const MOST_LONG = 1000;

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
      widths: viewer.widths || null, ghosts: viewer.ghosts || null, drawn: 0,
      kept: keptBox(viewer),
    };
  }

  /* Which box shows the selection, where something is pale. */
  function keptBox({ isPale, picture, selected }) {
    const box = isPale !== null && selected && picture ? picture.find(selected) : null;
    return box === null || box.path === null ? null
      : { graph: box.graph.path, i: Hlo.paths.instruction(box.path) };
  }

  /** Sets the transform so that (0, 0) is a point of the picture; added up in doubles. */
  function moveTo(frame, x, y) {
    const { ctx, k, ratio } = frame;
    ctx.setTransform(k * ratio, 0, 0, k * ratio, (x - frame.x) * k * ratio,
      (y - frame.y) * k * ratio);
  }

  function drawPicture(frame, picture) {
    finish(pictureSteps(frame, picture));
  }

  /** Draws a picture in steps: yields after each layer of boxes, so that one can pause there. */
  function* pictureSteps(frame, picture) {
    if (frame.ghosts !== null) {
      Hlo.drawGhosts(frame, frame.ghosts);
      yield;
    }
    yield* graphSteps(frame, picture.root, 0, 0);
  }

  function finish(steps) {
    while (!steps.next().done) {
      // Each step draws.
    }
  }

  function* graphSteps(frame, graph, x, y) {
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
      yield* stageSteps(frame, graph, stage, x + stage.x, y + stage.y);
    }
  }

  /* Lines between stages run far, so they are drawn from the corner of the window. */
  function drawJoints(frame, graph, x, y) {
    const { ctx, sight } = frame, { joints } = graph, brushes = jointBrushes(frame, graph);
    moveTo(frame, frame.x, frame.y);
    eachBrush(frame, (brush) => {
      let others = 0;
      for (let n = 0; n < brushes.length; n++) {
        if (y + joints[4 * n + 3] < sight.y0 || y + joints[4 * n + 1] > sight.y1) {
          continue;
        }
        if (brushes[n] === brush) {
          const [x0, y0, x1, y1] = joints.subarray(4 * n, 4 * n + 4);
          jointPath(ctx, x + x0 - frame.x, y + y0 - frame.y, x + x1 - frame.x, y + y1 - frame.y);
        } else {
          others |= 1 << brushes[n];
        }
      }
      return others;
    });
  }

  function jointBrushes(frame, graph) {
    return frame.widths === null ? graph.jointKind : frame.widths.ofJoints(frame.model, graph);
  }

  /**
   * Strokes the lines of each brush in one path: 0 for data, 1 for control, more where lines have
   * widths. `add(brush)` adds those of a brush and returns which others it met, as bits.
   */
  function eachBrush(frame, add) {
    for (let brush = 0, left = 1; left >> brush > 0; brush++) {
      if (left >> brush & 1) {
        frame.ctx.beginPath();
        left |= add(brush);
        strokeLines(frame, brush);
      }
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

  /** Px at zoom 1 of a brush; far away lines are not to vanish. */
  function brushWidth({ widths, isTiny, k }, brush) {
    const width = widths === null ? WIDTH : widths.pixels[brush];
    return isTiny ? Math.max(1, width / 2) / k : width;
  }

  function strokeLines(frame, brush) {
    const { ctx, theme, isTiny } = frame;
    ctx.strokeStyle = brush === line.CONTROL ? theme.control : theme.edge;
    ctx.setLineDash(brush === line.CONTROL ? [1.5, 3.5] : []);
    ctx.lineWidth = brushWidth(frame, brush);
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
    finish(stageSteps(frame, graph, stage, x, y));
  }

  function* stageSteps(frame, graph, stage, x, y) {
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
      const brushes = frame.widths === null ? geometry.lineKind
        : frame.widths.ofStage(frame.model, graph, stage);
      drawLines(frame, geometry, brushes, { first: Math.max(0, first - 1), last, clip });
    }
    const open = [];
    yield* nodeSteps(frame, graph, stage, { first, last, clip, open });
    for (const node of open) {
      yield* insideSteps(frame, graph, stage, node, x, y);
    }
  }

  function drawLines(frame, geometry, brushes, { first, last, clip }) {
    const { layerLines } = geometry;
    const isLeftOut = leftOut(layerLines[first], layerLines[last], (n) =>
      reach(geometry.lines, n, clip));
    eachBrush(frame, (brush) => {
      const width = brushWidth(frame, brush);
      // On wide lines heads are blots; all lines run downwards.
      const head = width > HEAD || frame.k <= 0.3 ? 0 : HEAD + (width - WIDTH) / 2;
      let others = 0, added = 0;
      for (let r = first; r < last; r++) {
        for (let n = layerLines[r]; n < layerLines[r + 1]; n++) {
          if (brushes[n] === brush) {
            added += isLeftOut(n) ? 0 : linePath(frame, geometry, r, n, head, clip);
            if (added >= AT_ONCE) {
              strokeLines(frame, brush);
              frame.ctx.beginPath();
              added = 0;
            }
          } else {
            others |= 1 << brushes[n];
          }
        }
      }
      return others;
    });
    if (frame.hasText && geometry.labels.length > 0) {
      drawLabels(frame, geometry, first, last, clip);
    }
  }

  /* Of lines longer than the window: 1 begins in it, 2 ends in it, 3 passes; 0: it is short. */
  function reach(lines, n, { x0: left, x1: right }) {
    const x0 = lines[5 * n], x1 = lines[5 * n + 2];
    if (Math.abs(x0 - x1) <= right - left) {
      return 0;
    }
    return x0 >= left && x0 <= right ? 1 : x1 >= left && x1 <= right ? 2
      : (x0 < left) === (x1 < left) ? 0 : 3;
  }

  /**
   * Returns which of the numbers from `first` to `end` need not be drawn, as n -> true;
   * `reachOf(n)` says what `reach` does of the line that is meant.
   */
  function leftOut(first, end, reachOf) {
    if (end - first <= MOST_LONG) {
      return () => false;
    }
    const counts = [0, 0, 0, 0];
    for (let n = first; n < end; n++) {
      counts[reachOf(n)]++;
    }
    const steps = counts.map((count, kind) => (kind === 0 ? 1 : Math.ceil(count / MOST_LONG)));
    return Math.max(...steps) <= 1 ? () => false : (n) => n % steps[reachOf(n)] !== 0;
  }

  /* Adds line n, which starts in layer r, to the path; an arrow head where it ends in a box.
     Returns 1, or 0 where it is not in sight. */
  function linePath(frame, geometry, r, n, head, clip) {
    const { ctx } = frame, { lines } = geometry;
    const x0 = lines[5 * n], x1 = lines[5 * n + 2];
    if ((x0 < clip.x0 && x1 < clip.x0) || (x0 > clip.x1 && x1 > clip.x1)) {
      return 0;
    }
    addLine(ctx, geometry, r, n, frame.isTiny);
    if (geometry.lineTarget[n] >= 0 && head > 0) {
      const y = lines[5 * n + 4];
      ctx.moveTo(x1 - head, y - 2 * head);
      ctx.lineTo(x1, y);
      ctx.lineTo(x1 + head, y - 2 * head);
    }
    return 1;
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

  function* nodeSteps(frame, graph, stage, { first, last, clip, open }) {
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
      yield;
    }
  }

  function drawTiny(frame, graph, stage, node, texts) {
    const { ctx } = frame, { geometry } = stage, i = stage.instructions[node];
    const c = graph.computation;
    const isPale = Hlo.isPaleBox(frame, graph, i);
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
  function* insideSteps(frame, graph, stage, node, x, y) {
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
      yield* graphSteps(frame, child.graph, left + child.x, top + child.y);
    }
  }

  function inputBrush({ widths, model }, graph, i) {
    return widths === null ? line.DATA : widths.brush(model.bytes(graph.computation, i));
  }

  /** Draws the lines from the top edge of an open box to the inputs in it. */
  function drawFeeds(frame, graph, child, left, top) {
    const { ctx } = frame, [stage] = child.graph.stages;
    if (!frame.hasLines || stage === undefined) {
      return;
    }
    const { geometry } = stage;
    moveTo(frame, left + child.x + stage.x, top + child.y + stage.y);
    eachBrush(frame, (wanted) => {
      let others = 0;
      for (let node = 0; node < geometry.layerNodes[1]; node++) {
        const i = stage.instructions[node];
        if (!(geometry.flags[node] & flag.INPUT) || !graph.feeds(child.graph, i)) {
          continue;
        }
        const brush = inputBrush(frame, child.graph, i);
        if (brush === wanted) {
          const x = geometry.x[node] + geometry.w[node] / 2;
          ctx.moveTo(x, -child.y - stage.y);
          ctx.lineTo(x, geometry.y[node]);
        } else {
          others |= 1 << brush;
        }
      }
      return others;
    });
  }

  Object.assign(Hlo, { makeFrame, drawPicture, pictureSteps, drawStage,
    moveFrame: moveTo, addLine, jointPath, leftOut, reach });
})(globalThis);
