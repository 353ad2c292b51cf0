"use strict";
/* What stands on the second canvas: hits, hover, selection with its operands and users. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /* Portals longer than this many windows are only hinted at; more than so many are a blur. */
  const FAR = 3, MOST_PORTALS = 400;

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

  function strokeInSight({ joint, geometry, line, y }, { y0, y1 }) {
    const top = joint ? joint[1] : y + geometry.lines[5 * line + 1];
    const bottom = joint ? joint[3] : y + geometry.lines[5 * line + 4];
    return bottom >= y0 && top <= y1;
  }

  function drawStrokes(frame, strokes, colour) {
    const { ctx, k } = frame;
    ctx.strokeStyle = colour;
    ctx.lineWidth = 2 / Math.min(1, k);
    for (const stroke of strokes) {
      if (!strokeInSight(stroke, frame.sight)) {
        continue;
      }
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

  function drawHits(frame, viewer) {
    for (const box of viewer.hitBoxes || []) {
      ring(frame, box, frame.theme.hit, 3, 3);
    }
  }

  /** Draws all marks; `relations` as of `relationsOf`, or null; with the hover unless told not. */
  function drawMarksOver(frame, viewer, relations, hasHover = true) {
    const { theme } = frame, { picture, hovered } = viewer;
    drawHits(frame, viewer);
    const hover = hovered && hasHover ? picture.find(hovered) : null;
    if (hover !== null) {
      ring(frame, hover, theme.selected, 1.5, 2);
    }
    if (relations !== null) {
      drawSide(frame, relations.users, theme.user);
      drawSide(frame, relations.operands, theme.operand);
      ring(frame, relations.box, theme.selected, 3, 2);
    }
  }

  Hlo.drawMarksOver = drawMarksOver;
})(globalThis);
