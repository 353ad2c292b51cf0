"use strict";
/* Step 10 of the layout: heights of layers, and the picture of a stage as flat arrays. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const GAP = 20;
  /* Beside a layer that has only values on their way in or out of the stage. */
  const BORDER_GAP = 12;
  const PORTAL_GAP = 8, LABEL_GAP = 8;
  /* How the gap grows with the distance that a line runs sideways in it. */
  const SLOPE = 0.08, HIGHEST_GROWTH = 44;
  const NUMBERS_A_LINE = 5;

  /** Makes the geometry of a sheet: see README.md; without an id. A generator, since some stages
      are whole modules. */
  function* layoutSheet(sheet) {
    const grid = new Hlo.Grid(sheet);
    yield* Hlo.orderLayers(grid);
    yield* Hlo.place(grid);
    const levels = stack(grid);
    const boxes = boxesOf(grid, levels);
    return { ...extent(grid, levels), ...boxes, ...linesOf(grid, levels, boxes.places),
      labels: sheet.labels, entryX: crossingsOf(grid, grid.boxes, grid.firstExit),
      exitX: crossingsOf(grid, grid.firstExit, grid.firstPiece), crossings: grid.crossings };
  }

  function crossingsOf(grid, from, to) {
    return Float32Array.from(grid.x.slice(from, to));
  }

  /** Puts the layers below each other. */
  function stack(grid) {
    const layers = grid.rows.length;
    const top = new Float32Array(layers), bottom = new Float32Array(layers);
    let y = 0;
    for (let r = 0; r < layers; r++) {
      let height = 0;
      for (const item of grid.rows[r]) {
        if (grid.isBox(item)) {
          height = Math.max(height, grid.sheet.heights[item]);
        }
      }
      top[r] = y;
      bottom[r] = y + height;
      y += height + gapBelow(grid, r);
    }
    return { top, bottom };
  }

  function gapBelow(grid, r) {
    const { sheet, x, out, arrival, above, below, label } = grid;
    const isBorder = r + 1 >= grid.rows.length || !hasBox(grid, r) || !hasBox(grid, r + 1);
    let sideways = 0, hasLabels = false;
    for (const s of grid.gaps[r]) {
      const start = x[above[s]] + out[above[s]], end = x[below[s]] + arrival[s];
      sideways = Math.max(sideways, Math.abs(start - end));
      hasLabels = hasLabels || label[s] >= 0;
    }
    const hasPortals = grid.rows[r].some((item) => grid.isBox(item) && sheet.hasPortals[item]);
    return (isBorder ? BORDER_GAP : GAP) + (hasPortals ? PORTAL_GAP : 0)
      + (hasLabels ? LABEL_GAP : 0) + Math.min(HIGHEST_GROWTH, sideways * SLOPE);
  }

  function hasBox(grid, r) {
    return grid.rows[r].some((item) => grid.isBox(item));
  }

  function extent(grid, { top, bottom }) {
    let left = Infinity, right = -Infinity;
    for (let item = 0; item < grid.x.length; item++) {
      left = Math.min(left, grid.x[item] - grid.width[item] / 2);
      right = Math.max(right, grid.x[item] + grid.width[item] / 2);
    }
    const isEmpty = left > right;
    return { left: isEmpty ? 0 : left, right: isEmpty ? 0 : right,
      height: bottom.length > 0 ? bottom[bottom.length - 1] : 0,
      layerTop: top, layerBottom: bottom };
  }

  /** Boxes in the order of layers and from left to right; `order` says which of the sheet. */
  function boxesOf(grid, { top }) {
    const { sheet, boxes: size } = grid;
    const order = new Int32Array(size), places = new Int32Array(size);
    const layerNodes = new Int32Array(grid.rows.length + 1);
    let next = 0;
    grid.rows.forEach((row, r) => {
      for (const item of row) {
        if (grid.isBox(item)) {
          places[item] = next;
          order[next++] = item;
        }
      }
      layerNodes[r + 1] = next;
    });
    return {
      size, order, places, layerNodes,
      x: Float32Array.from(order, (box) => grid.x[box] - grid.width[box] / 2),
      y: Float32Array.from(order, (box) => top[grid.layer[box]]),
      w: Float32Array.from(order, (box) => sheet.widths[box]),
      h: Float32Array.from(order, (box) => sheet.heights[box]),
      flags: Uint8Array.from(order, (box) => sheet.flags[box]),
      ...rowsOf(sheet, order),
    };
  }

  function rowsOf(sheet, order) {
    const rowEnds = new Int32Array(order.length + 1);
    const kinds = [], ports = [];
    order.forEach((box, place) => {
      for (let r = sheet.rowEnds[box]; r < sheet.rowEnds[box + 1]; r++) {
        kinds.push(sheet.rowKinds[r]);
        ports.push(sheet.rowPorts[r]);
      }
      rowEnds[place + 1] = kinds.length;
    });
    return { rowEnds, rowKinds: Uint8Array.from(kinds), rowPorts: Int32Array.from(ports) };
  }

  function linesOf(grid, { top, bottom }, places) {
    const sorted = grid.gaps.flat(), count = sorted.length;
    const lines = new Float32Array(count * NUMBERS_A_LINE);
    const layerLines = new Int32Array(grid.rows.length + 1);
    grid.gaps.forEach((gap, r) => {
      layerLines[r + 1] = layerLines[r] + gap.length;
    });
    const placed = (item) => (item >= 0 && item < grid.boxes ? places[item] : item);
    sorted.forEach((s, n) => {
      const above = grid.above[s], below = grid.below[s];
      const isFromBox = grid.isBox(above), r = grid.layer[above], at = n * NUMBERS_A_LINE;
      lines[at] = grid.x[above] + grid.out[above];
      lines[at + 1] = isFromBox ? top[r] + grid.sheet.heights[above] : bottom[r];
      lines[at + 2] = grid.x[below] + grid.arrival[s];
      lines[at + 3] = top[r + 1];
      lines[at + 4] = grid.isBox(below) ? top[r + 1] : bottom[r + 1];
    });
    return {
      lines, layerLines,
      lineSource: Int32Array.from(sorted, (s) => placed(grid.source[s])),
      lineTarget: Int32Array.from(sorted, (s) => placed(grid.target[s])),
      linePort: Int32Array.from(sorted, (s) => grid.port[s]),
      lineKind: Uint8Array.from(sorted, (s) => grid.kind[s]),
      lineLabel: Int32Array.from(sorted, (s) => grid.label[s]),
    };
  }

  Hlo.layoutSheet = layoutSheet;
})(globalThis);
