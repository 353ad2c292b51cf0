"use strict";
/* How one box looks: nodes, pills, open clusters and folds, with their rows and marks. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { sizes, flag, row, labels } = Hlo;
  const SANS = 'system-ui, -apple-system, "Segoe UI", Roboto, sans-serif';
  const fonts = {
    title: `600 ${sizes.title}px ${SANS}`, small: `600 ${sizes.small}px ${SANS}`,
    text: `${sizes.text}px ${SANS}`, value: `600 ${sizes.text}px ${SANS}`,
    count: `${sizes.count}px ${SANS}`,
    mark: `600 9px ${SANS}`, fold: `600 ${sizes.title}px ${SANS}`,
  };
  const PALE = 0.22;
  /* How much the text of a pale box still stands out from its fill. */
  const FAINT = 0.55;
  /* So many more characters a text may have at most where its box is wider than it must be. */
  const LONGER = 100;
  const measuring = document.createElement("canvas").getContext("2d");
  /* How far the box behind a fold looks out. */
  const STACKED = 3;
  const DASHES = [6, 3], LONG_FRAME = 6000;
  const IN_PLACE = 17;
  const NO_VALUE = { text: "", width: 0, shape: 0 };

  /** Texts of the boxes of one stage, each made when it is first drawn. */
  class StageTexts {
    /** `folds`: what is folded in the picture. */
    constructor(model, graph, stage, folds) {
      Object.assign(this, { model, graph, stage, folds, known: [] });
    }

    of(node) {
      return (this.known[node] = this.known[node] || this._make(node));
    }

    _make(node) {
      const { model, graph, stage } = this, c = graph.computation, i = stage.instructions[node];
      if (stage.folded) {
        const { title, note } = Hlo.foldTexts(this.folds, graph, stage);
        return { title, shape: note, count: "", rows: [], category: "movement" };
      }
      const { rowEnds, rowKinds, rowPorts, flags } = stage.geometry;
      const rows = [];
      for (let at = rowEnds[node]; at < rowEnds[node + 1]; at++) {
        rows.push(roomy((more) => labels.row(model, graph, rowKinds[at], stage.rowSources[at],
          rowPorts[at], i, more), stage.geometry.w[node] - 4 * sizes.rowPadding));
      }
      return {
        graph, title: flags[node] & flag.OPEN ? labels.cluster(model, c, i)
          : labels.title(model, c, i, graph),
        shape: labels.shape(model, c, i), count: labels.count(model, c, i), rows,
        sources: stage.rowSources.subarray(rowEnds[node], rowEnds[node + 1]),
        category: flags[node] & flag.INPUT ? "source" : model.category(c, i),
        isInPlace: aliasesIn(model.computations[c]).has(i),
      };
    }
  }

  /** Returns a text as long as there is room for: `make(more)` makes one that is less cut. */
  function roomy(make, room) {
    let low = 0, high = make(0).includes("…") ? LONGER : 0;
    measuring.font = fonts.text;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (measuring.measureText(make(middle)).width <= room) {
        low = middle;
      } else {
        high = middle - 1;
      }
    }
    return make(low);
  }

  const known = new WeakMap();

  /** Instructions of a computation that update an operand in place. */
  function aliasesIn(computation) {
    if (!known.has(computation)) {
      known.set(computation, new Set(computation.alias.filter((_, n) => n % 2 === 0)));
    }
    return known.get(computation);
  }

  /** Returns the colours of a box: fill, line, text. */
  function coloursOf(frame, texts, c, i) {
    const colours = frame.theme.category[texts.category];
    const overlaid = frame.overlay && i >= 0 ? frame.overlay.fillOf(c, i) : null;
    return overlaid === null ? colours : { ...colours, fill: overlaid.fill, text: overlaid.text };
  }

  /* For each theme: the pale forms of colours that were asked for. */
  const paled = new WeakMap();

  /**
   * Returns what colours come to on the ground when they are pale. Text is mixed from the fill
   * that is really behind it: white on a dark fill would not be seen on the same fill when pale.
   */
  function paleColours({ theme }, { fill, line }) {
    const found = paled.get(theme) || new Map(), key = fill + line;
    paled.set(theme, found);
    if (!found.has(key)) {
      const behind = Hlo.mixed(theme.paper, fill, PALE);
      found.set(key, { fill: behind, line: Hlo.mixed(theme.paper, line, 2 * PALE),
        text: Hlo.mixed(behind, Hlo.inkOn(behind), FAINT) });
    }
    return found.get(key);
  }

  /** Whether the box of an instruction is drawn pale: never that of the selection. */
  function isPaleBox({ isPale, kept }, graph, i) {
    return isPale !== null && i >= 0 && isPale(graph.computation, i)
      && (kept === null || kept.i !== i || kept.graph !== graph.path);
  }

  /* What the overlay says of a box, with the widths of it and of the shape, each found once. */
  function valueOf({ ctx, overlay }, texts, graph, stage, i) {
    if (overlay === null || overlay.kind === "categorical") {
      return NO_VALUE;
    }
    if (texts.overlay !== overlay) {
      const c = graph.computation, text = stage.folded ? Hlo.foldValue(overlay, graph, stage)
        : overlay.valueOf(c, i) === null ? "" : overlay.text(c, i);
      ctx.font = fonts.value;
      const width = ctx.measureText(text).width;
      ctx.font = fonts.text;
      const shape = ctx.measureText(texts.shape).width;
      Object.assign(texts, { overlay, valued: text === "" ? NO_VALUE : { text, width, shape } });
    }
    return texts.valued;
  }

  function outline(ctx, x, y, w, h, radius) {
    ctx.beginPath();
    ctx.roundRect(x, y, w, h, radius);
  }

  /** Draws a closed box, with its texts if `frame.hasText`. */
  function drawBox(frame, graph, stage, node, texts) {
    const { ctx } = frame, { geometry } = stage;
    const x = geometry.x[node], y = geometry.y[node], w = geometry.w[node], h = geometry.h[node];
    const flags = geometry.flags[node], c = graph.computation, i = stage.instructions[node];
    const isPale = isPaleBox(frame, graph, i), plain = coloursOf(frame, texts, c, i);
    const colours = isPale ? paleColours(frame, plain) : plain;
    drawFrame(ctx, { x, y, w, h, flags, colours, category: texts.category });
    if (frame.hasText) {
      const value = valueOf(frame, texts, graph, stage, i);
      drawTexts(frame, { x, y, w, h, flags, colours, value, isPale }, texts, geometry, node);
    }
    ctx.globalAlpha = isPale ? PALE : 1;
    drawMarks(frame, graph, i, { x, y, w, h });
    ctx.globalAlpha = 1;
  }

  function drawFrame(ctx, { x, y, w, h, flags, colours, category }) {
    const isPill = (flags & (flag.PILL | flag.INPUT)) !== 0 && h <= sizes.pill + 1;
    const radius = isPill ? h / 2 : 5;
    const behind = flags & flag.FOLD ? STACKED : 0;
    if (behind > 0) {
      outline(ctx, x + behind, y + behind, w - behind, h - behind, radius);
      ctx.fillStyle = colours.fill;
      ctx.strokeStyle = colours.line;
      ctx.lineWidth = 1;
      ctx.fill();
      ctx.stroke();
    }
    outline(ctx, x, y, w - behind, h - behind, radius);
    ctx.fillStyle = colours.fill;
    ctx.fill();
    ctx.strokeStyle = colours.line;
    ctx.lineWidth = flags & flag.CLOSED ? 1.5 : 1;
    ctx.setLineDash(category === "control" ? [5, 3] : []);
    ctx.stroke();
    ctx.setLineDash([]);
    if (flags & flag.CLOSED) {
      outline(ctx, x + 2.5, y + 2.5, w - 5, h - 5, 3);
      ctx.lineWidth = 0.7;
      ctx.stroke();
    }
    ctx.fillStyle = colours.line;
    if (category === "collective") {
      ctx.fillRect(x, y + 3, 4, h - 6);
    }
    if (flags & flag.ROOT) {
      const thick = isPill ? 2 : 3;
      ctx.fillRect(x + radius, y + h - thick, w - 2 * radius, thick);
    }
  }

  function drawTexts(frame, box, texts, geometry, node) {
    const { ctx } = frame, { x, y, w, flags, colours } = box;
    ctx.fillStyle = colours.text;
    if (flags & (flag.PILL | flag.INPUT) && geometry.rowEnds[node] === geometry.rowEnds[node + 1]
      && box.h <= sizes.pill + 1) {
      drawPill(frame, box, texts);
      return;
    }
    ctx.font = fonts.title;
    ctx.fillText(texts.title, x + sizes.padding, y + sizes.titleBase);
    ctx.textAlign = "right";
    if (texts.count !== "" && flags & flag.CLOSED) {
      ctx.font = fonts.count;
      ctx.fillText(texts.count, x + w - 8, y + sizes.titleBase - 1);
    }
    ctx.textAlign = "left";
    drawSecond(ctx, box, texts);
    drawRows(frame, box, texts, geometry, node);
  }

  /* The shape, and what the overlay says; where there is no room for both, that alone. */
  function drawSecond(ctx, { x, y, w, value }, texts) {
    const left = x + sizes.padding, base = y + sizes.textBase, alpha = ctx.globalAlpha;
    const right = x + w - (texts.isInPlace ? IN_PLACE : sizes.padding);
    ctx.font = fonts.text;
    if (texts.isInPlace) {
      ctx.fillText("⟲", right, base);
    }
    const isCrowded = value.width > 0
      && left + value.shape + sizes.padding + value.width > right;
    if (!isCrowded) {
      ctx.globalAlpha = alpha * 0.85;
      ctx.fillText(texts.shape, left, base);
      ctx.globalAlpha = alpha;
    }
    if (value.width > 0) {
      ctx.font = fonts.value;
      ctx.fillText(value.text, isCrowded ? left : right - value.width, base);
      ctx.font = fonts.text;
    }
  }

  function drawPill(frame, { x, y, w, colours, value }, texts) {
    const { ctx } = frame;
    ctx.font = fonts.small;
    ctx.fillText(texts.title, x + sizes.padding, y + sizes.pillBase);
    ctx.font = value.width > 0 ? fonts.value : fonts.text;
    ctx.textAlign = "right";
    ctx.fillStyle = colours.text;
    const alpha = ctx.globalAlpha;
    ctx.globalAlpha = alpha * (value.width > 0 ? 1 : 0.8);
    ctx.fillText(value.text || texts.shape, x + w - sizes.padding, y + sizes.pillBase);
    ctx.globalAlpha = alpha;
    ctx.textAlign = "left";
  }

  function drawRows(frame, { x, y, w, colours: own, isPale }, texts, geometry, node) {
    const { ctx, theme } = frame, first = geometry.rowEnds[node];
    ctx.lineWidth = 0.7;
    texts.rows.forEach((text, n) => {
      const kind = geometry.rowKinds[first + n], top = y + sizes.rowTop + n * sizes.row;
      const isCount = kind === row.MORE || kind === row.INVARIANT, plain = rowColours(theme, kind);
      const colours = isCount ? own : isPale ? paleColours(frame, plain) : plain;
      if (!isCount) {
        outline(ctx, x + sizes.rowPadding, top, w - 2 * sizes.rowPadding, sizes.rowHeight, 6);
        ctx.fillStyle = colours.fill;
        ctx.fill();
        ctx.strokeStyle = colours.line;
        ctx.stroke();
        strokeMark(frame, kind === row.CHIP ? markAt(frame, texts.graph, texts.sources[n]) : "");
      }
      ctx.fillStyle = colours.text;
      ctx.fillText(text, x + 2 * sizes.rowPadding, top + sizes.rowBase);
    });
  }

  function markAt(frame, graph, i) {
    return frame.markOf === null || i < 0 ? "" : frame.markOf(Hlo.paths.join(graph.path, i));
  }

  /* A chip that is marked has the colour of the mark around it. */
  function strokeMark({ ctx, theme }, mark) {
    if (mark) {
      ctx.strokeStyle = theme[mark];
      ctx.lineWidth = 2;
      ctx.setLineDash(mark === "removed" ? [3, 2] : []);
      ctx.stroke();
      ctx.setLineDash([]);
      ctx.lineWidth = 0.7;
    }
  }

  function rowColours(theme, kind) {
    if (kind === row.CHIP || kind === row.STATE) {
      return theme.category.source;
    }
    const text = kind === row.PORTAL ? theme.user : theme.ink;
    return { fill: theme.paper, line: kind === row.PORTAL ? theme.user : theme.edge, text };
  }

  /** Draws what stands at a box: portals out, and added, removed, changed. */
  function drawMarks(frame, graph, i, { x, y, w, h }) {
    const { ctx, theme } = frame;
    const portals = i < 0 ? 0 : graph.portalsOut[i];
    if (portals > 0 && frame.hasText) {
      ctx.fillStyle = ctx.strokeStyle = theme.user;
      ctx.lineWidth = 1.2;
      ctx.beginPath();
      ctx.moveTo(x + w - 12, y + h);
      ctx.lineTo(x + w - 12, y + h + 5);
      ctx.stroke();
      ctx.font = fonts.mark;
      ctx.textAlign = "center";
      ctx.fillText(`▾${portals}`, x + w - 12, y + h + 13);
      ctx.textAlign = "left";
    }
    const mark = markAt(frame, graph, i);
    if (mark) {
      drawDifference(frame, mark, { x, y, w, h });
    }
  }

  function drawDifference({ ctx, theme }, mark, { x, y, w, h }) {
    ctx.strokeStyle = ctx.fillStyle = theme[mark];
    ctx.lineWidth = 2.5;
    ctx.setLineDash(mark === "removed" ? [5, 3] : []);
    outline(ctx, x - 3, y - 3, w + 6, h + 6, 7);
    ctx.stroke();
    ctx.setLineDash([]);
    ctx.font = fonts.title;
    ctx.fillText(Hlo.signs[mark] || "", x - 14, y + 10);
  }

  /**
   * Draws the frame of an open cluster; what is in it comes later. `clip` is the window, in the
   * stage's coordinates.
   */
  function drawCluster(frame, graph, stage, node, texts, clip) {
    const { ctx, theme } = frame, { geometry } = stage;
    const x = geometry.x[node], y = geometry.y[node], w = geometry.w[node], h = geometry.h[node];
    const { line } = coloursOf(frame, texts, graph.computation, stage.instructions[node]);
    outline(ctx, x, y, w, h, 8);
    ctx.fillStyle = theme.ink;
    ctx.globalAlpha = graph.depth % 2 === 0 ? 0.035 : 0.025;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.strokeStyle = line;
    ctx.lineWidth = frame.isTiny ? 1 / frame.k : 1.2;
    ctx.setLineDash(texts.category === "control" ? DASHES : []);
    if (Math.max(w, h) > LONG_FRAME) {
      longFrame(ctx, { x, y, w, h }, clip);
    }
    ctx.stroke();
    ctx.setLineDash([]);
    drawMarks(frame, graph, stage.instructions[node], { x, y, w, h });
  }

  /* Dashes take time by their length, so of a long frame only what is in sight gets a line. */
  function longFrame(ctx, { x, y, w, h }, clip) {
    const period = DASHES[0] + DASHES[1];
    const from = (start, edge) => start + Math.max(0, Math.floor((edge - start) / period)) * period;
    const left = from(x, clip.x0), right = Math.min(x + w, clip.x1 + period);
    const top = from(y, clip.y0), bottom = Math.min(y + h, clip.y1 + period);
    ctx.beginPath();
    for (const edge of [x, x + w]) {
      ctx.moveTo(edge, top);
      ctx.lineTo(edge, bottom);
    }
    for (const edge of [y, y + h]) {
      ctx.moveTo(left, edge);
      ctx.lineTo(right, edge);
    }
  }

  /** Draws the title of an open cluster of width w, over the lines that cross it. */
  function drawClusterTitle(frame, texts, w) {
    const { ctx, theme } = frame, title = `− ${texts.title}`;
    ctx.font = fonts.small;
    const width = ctx.measureText(title).width;
    // About the colour that the fills of this cluster and those around it add up to.
    ctx.fillStyle = Hlo.mixed(theme.paper, theme.ink, 0.03 * (texts.graph.depth + 1));
    ctx.fillRect(7, 4, width + 4, 14);
    ctx.fillStyle = theme.ink;
    ctx.fillText(title, 9, 15);
    ctx.font = fonts.text;
    const room = w - width - 34, shape = ctx.measureText(texts.shape).width;
    if (shape < room) {
      ctx.textAlign = "right";
      ctx.fillStyle = theme.quiet;
      ctx.fillText(texts.shape, w - 9, 15);
      ctx.textAlign = "left";
    }
  }

  Object.assign(Hlo, { StageTexts, isPaleBox, boxFonts: fonts, drawBox, drawCluster,
    drawClusterTitle, paleness: PALE });
})(globalThis);
