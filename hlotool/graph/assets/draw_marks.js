"use strict";
/* What stands on the second canvas: hits, hover, selection with its operands and users. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /* Portals longer than this many windows are only hinted at; more than so many are a blur. */
  const FAR = 3, MOST_PORTALS = 400;
  const MOST_CHOSEN = 3000;
  /* Of a note at an edge, in px of the screen, but for `lines`: how many there are at most. */
  const NOTE = { width: 250, padding: 7, line: 16, base: 15, gap: 16, lines: 5 };

  function isInSight(box, { x0, y0, x1, y1 }) {
    return box.x <= x1 && box.x + box.w >= x0 && box.y <= y1 && box.y + box.h >= y0;
  }

  /** Strokes around a box, `grow` pixels of the screen away from it. */
  function ring(frame, box, colour, width, grow = 0) {
    if (!isInSight(box, frame.sight)) {
      return;
    }
    const { ctx, k } = frame, out = grow / k;
    Hlo.moveFrame(frame, box.x, box.y);
    ctx.beginPath();
    ctx.roundRect(-out, -out, box.w + 2 * out, box.h + 2 * out, Math.min(5, box.h / 2) + out);
    ctx.strokeStyle = colour;
    ctx.lineWidth = width / k;
    ctx.stroke();
  }

  function strokeInSight({ joint, geometry, line, x, y }, { x0, y0, x1, y1 }) {
    const [start, top, end, bottom] = joint || [x + geometry.lines[5 * line],
      y + geometry.lines[5 * line + 1], x + geometry.lines[5 * line + 2],
      y + geometry.lines[5 * line + 4]];
    return bottom >= y0 && top <= y1 && Math.max(start, end) >= x0 && Math.min(start, end) <= x1;
  }

  function drawStrokes(frame, strokes, colour) {
    const { ctx, k } = frame;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2 / Math.min(1, k);
    const { sight } = frame, seen = strokes.filter((stroke) => strokeInSight(stroke, sight));
    const isLeftOut = Hlo.leftOut(0, seen.length, (n) => {
      const { joint, geometry, line, x } = seen[n];
      return joint ? 0 : Hlo.reach(geometry.lines, line, { x0: sight.x0 - x, x1: sight.x1 - x });
    });
    for (const stroke of seen.filter((_, n) => !isLeftOut(n))) {
      ctx.beginPath();
      if (stroke.joint) {
        const [x0, y0, x1, y1] = stroke.joint;
        Hlo.moveFrame(frame, frame.x, frame.y);
        Hlo.jointPath(ctx, x0 - frame.x, y0 - frame.y, x1 - frame.x, y1 - frame.y);
      } else {
        Hlo.moveFrame(frame, stroke.x, stroke.y);
        Hlo.addLine(ctx, stroke.geometry, stroke.layer, stroke.line, frame.isTiny);
      }
      ctx.stroke();
    }
  }

  /**
   * Lines that are not drawn else, as bows beside the picture. Of those that run far out of the
   * window only the beginning is drawn: dashes over a long way would take seconds.
   */
  function drawPortals(frame, pairs, colour) {
    const { ctx, k, sight } = frame, far = FAR * (sight.y1 - sight.y0);
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1.5 / Math.min(1, k);
    ctx.setLineDash([6 / Math.min(1, k), 4 / Math.min(1, k)]);
    Hlo.moveFrame(frame, frame.x, frame.y);
    ctx.beginPath();
    let drawn = 0;
    for (const [from, to] of pairs) {
      const ends = [from, to].filter((box) => isInSight(box, sight));
      const isFar = Math.abs(to.y - from.y) > far || Math.abs(to.x - from.x) > far;
      if (drawn < MOST_PORTALS && (!isFar || ends.length > 0)) {
        drawn++;
        if (isFar) {
          stub(frame, from, ends[0] === from);
        } else {
          bow(frame, from, to);
        }
      }
    }
    ctx.stroke();
    ctx.setLineDash([]);
  }

  function bow({ ctx, x, y }, from, to) {
    const x0 = from.x + from.w - 12 - x, y0 = from.y + from.h - y;
    const x1 = to.x + to.w / 2 - x, y1 = to.y - y;
    const side = Math.max(x0, x1) + Math.min(260, 40 + Math.abs(y1 - y0) * 0.12);
    ctx.moveTo(x0, y0);
    ctx.bezierCurveTo(side, y0 + (y1 - y0) * 0.2, side, y1 - (y1 - y0) * 0.2, x1, y1);
  }

  /* Where a far line leaves its source; at its target the row ▴ says where it comes from. */
  function stub({ ctx, x, y }, from, isSource) {
    if (isSource) {
      const x0 = from.x + from.w - 12 - x, y0 = from.y + from.h - y;
      ctx.moveTo(x0, y0);
      ctx.bezierCurveTo(x0, y0 + 20, x0 + 30, y0 + 20, x0 + 30, y0 + 60);
    }
  }

  function drawSide(frame, side, colour) {
    drawStrokes(frame, side.strokes, colour);
    drawPortals(frame, side.portals, colour);
    for (const box of side.boxes) {
      ring(frame, box, colour, 2);
    }
  }

  /* Breaks a text into lines of at most `width` px; what is left over is cut. */
  function broken(ctx, text, width) {
    const lines = [""];
    for (const word of text.split(" ")) {
      const longer = `${lines[lines.length - 1]} ${word}`.trim();
      if (lines[lines.length - 1] === "" || ctx.measureText(longer).width <= width) {
        lines[lines.length - 1] = longer;
      } else if (lines.push(word) > NOTE.lines) {
        lines.length = NOTE.lines;
        lines[NOTE.lines - 1] += " …";
        break;
      }
    }
    return lines;
  }

  /** Where an edge is labelled: the middle of its last line, else the top of what it leads to. */
  function edgeMiddle({ to, strokes }) {
    const last = strokes.find(({ geometry, line }) => geometry && geometry.lineTarget[line] >= 0);
    if (last === undefined) {
      return { x: to.x + to.w / 2, y: to.y };
    }
    const { lines } = last.geometry, at = 5 * last.line;
    return { x: last.x + (lines[at] + lines[at + 2]) / 2,
      y: last.y + (lines[at + 1] + lines[at + 4]) / 2 };
  }

  /* Beside both boxes, where there is room for it, at the right if possible. */
  function noteCorner({ k, sight }, { from, to }, middle, w, h) {
    const ends = from === null ? [to] : [from, to], gap = NOTE.gap / k;
    const right = Math.max(middle.x, ...ends.map((box) => box.x + box.w)) + gap;
    const left = Math.min(middle.x, ...ends.map((box) => box.x)) - gap - w;
    const x = right + w <= sight.x1 ? right : left >= sight.x0 ? left : sight.x1 - w - gap / 2;
    return { x, y: middle.y - h / 2 };
  }

  /** Draws what is said of an edge: its line, and a note beside it, as large at each zoom. */
  function drawEdgeNote(frame, viewer) {
    const { edgeNote, picture } = viewer, { ctx, k, theme } = frame;
    if (edgeNote.picture !== picture) {
      Object.assign(edgeNote, { picture,
        edge: Hlo.edgeBetween(picture, edgeNote.from, edgeNote.to) });
    }
    const { edge } = edgeNote;
    if (edge === null) {
      return;
    }
    const colour = theme[edgeNote.mark];
    drawStrokes(frame, edge.strokes, colour);
    if (edge.from !== null && edge.strokes.length === 0) {
      drawPortals(frame, [[edge.from, edge.to]], colour);
    }
    const size = Hlo.sizes.title / k;
    ctx.font = Hlo.boxFonts.title.replace(/[\d.]+px/, `${size}px`);
    const lines = broken(ctx, edgeNote.text, NOTE.width / k);
    const w = Math.max(...lines.map((text) => ctx.measureText(text).width)) + 2 * NOTE.padding / k;
    const h = (NOTE.line * lines.length + NOTE.padding) / k, middle = edgeMiddle(edge);
    const corner = noteCorner(frame, edge, middle, w, h);
    Hlo.moveFrame(frame, corner.x, corner.y);
    ctx.strokeStyle = colour;
    ctx.fillStyle = theme.paper;
    ctx.lineWidth = 1.5 / k;
    ctx.beginPath();
    ctx.moveTo(middle.x - corner.x, middle.y - corner.y);
    ctx.lineTo(middle.x > corner.x ? w : 0, h / 2);
    ctx.stroke();
    ctx.beginPath();
    ctx.roundRect(0, 0, w, h, 5 / k);
    ctx.fill();
    ctx.stroke();
    ctx.fillStyle = theme.ink;
    lines.forEach((text, n) => ctx.fillText(text, NOTE.padding / k,
      (NOTE.line * n + NOTE.base) / k));
  }

  function drawHits(frame, viewer) {
    for (const box of viewer.hitBoxes || []) {
      ring(frame, box, frame.theme.hit, 3, 3);
    }
  }

  /* One path for all of them, since there may be thousands. */
  function drawGroup(frame, { boxes }) {
    const { ctx, theme, k, sight } = frame, out = 2 / k;
    Hlo.moveFrame(frame, frame.x, frame.y);
    ctx.beginPath();
    const seen = new Set();
    for (const box of boxes) {
      // From far away many are at the same place of the screen.
      const place = 8192 * Math.round(box.y * k / 2) + Math.round(box.x * k / 2);
      if (isInSight(box, sight) && seen.size < MOST_CHOSEN && !seen.has(place)) {
        seen.add(place);
        ctx.roundRect(box.x - frame.x - out, box.y - frame.y - out, box.w + 2 * out,
          box.h + 2 * out, Math.min(5, box.h / 2) + out);
      }
    }
    ctx.strokeStyle = theme.selected;
    ctx.lineWidth = 2 / k;
    ctx.stroke();
  }

  function drawArea(frame, { x0, y0, x1, y1 }) {
    const { ctx, theme, k } = frame;
    Hlo.moveFrame(frame, x0, y0);
    ctx.beginPath();
    ctx.roundRect(0, 0, x1 - x0, y1 - y0, 0);
    ctx.strokeStyle = ctx.fillStyle = theme.selected;
    ctx.globalAlpha = 0.08;
    ctx.fill();
    ctx.globalAlpha = 1;
    ctx.lineWidth = 1 / k;
    ctx.setLineDash([4 / k, 3 / k]);
    ctx.stroke();
    ctx.setLineDash([]);
  }

  /** Draws all marks; `relations` as of `relationsOf`, or null; with the hover unless told not. */
  function drawMarksOver(frame, viewer, relations, hasHover = true) {
    const { theme } = frame, { picture, hovered, group } = viewer;
    drawHits(frame, viewer);
    if (group.size > 0) {
      drawGroup(frame, group);
    }
    if (group.area !== null) {
      drawArea(frame, group.area);
    }
    const hover = hovered && hasHover ? picture.find(hovered) : null;
    if (hover !== null) {
      ring(frame, hover, theme.selected, 1.5, 2);
    }
    if (relations !== null) {
      drawSide(frame, relations.users, theme.user);
      drawSide(frame, relations.operands, theme.operand);
      ring(frame, relations.box, theme.selected, 3, 2);
    }
    if (viewer.edgeNote !== null) {
      drawEdgeNote(frame, viewer);
    }
  }

  Object.assign(Hlo, { drawMarksOver, drawEdgeNote });
})(globalThis);
