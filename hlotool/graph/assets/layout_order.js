"use strict";
/* Steps 6 and 7 of the layout: trunks of lines through the layers of a stage, and the order in
   each layer. A sheet (see layout_sheet.js) becomes a grid: items in layers, joined by segments
   from one layer to the next. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const TRUNK_WIDTH = 8;
  const SWEEPS = 4;
  /* Up to so many segments in a gap, comparing all pairs is the fastest way to count. */
  const FEW = 16;
  /* Exchanges of neighbours stop after so many rounds, and leave wide fans alone. */
  /* How many more crossings of a stage are worth to keep to what was seen before. */
  const DEAREST_HINT = 4;
  const EXCHANGES = 4, WIDEST_FAN = 24;

  /** Items and segments of a stage; boxes first, then entries, exits and pieces of trunks. */
  class Grid {
    constructor(sheet) {
      this.sheet = sheet;
      this.boxes = sheet.widths.length;
      this.firstExit = this.boxes + sheet.entryKinds.length;
      this.layer = Array.from(sheet.layer);
      this.width = Array.from(sheet.widths);
      for (let n = 0; n < sheet.entryKinds.length; n++) {
        this._item(0);
      }
      for (let n = 0; n < sheet.exits; n++) {
        this._item(sheet.layers - 1);
      }
      this.firstPiece = this.layer.length;
      this.above = [];
      this.below = [];
      this.source = [];
      this.target = [];
      this.port = [];
      this.kind = [];
      this.label = [];
      this._wire();
      this._collect();
    }

    _item(layer) {
      this.layer.push(layer);
      this.width.push(TRUNK_WIDTH);
      return this.layer.length - 1;
    }

    isBox(item) {
      return item < this.boxes;
    }

    _segment(above, below, source, kind) {
      this.above.push(above);
      this.below.push(below);
      this.source.push(source);
      this.kind.push(kind);
      this.target.push(-1);
      this.port.push(-1);
      this.label.push(-1);
    }

    /* One trunk a producer and kind, down to its farthest user; users branch off it. */
    _wire() {
      const { from, to, kind, port, label } = this.sheet.edges;
      const sorted = from.map((_, e) => e).sort((a, b) => from[a] - from[b] || kind[a] - kind[b]
        || this.layer[to[a]] - this.layer[to[b]] || a - b);
      let tip = -1, last = -1;
      for (const e of sorted) {
        if (last < 0 || from[last] !== from[e] || kind[last] !== kind[e]) {
          tip = from[e];
        }
        last = e;
        while (this.layer[tip] < this.layer[to[e]] - 1) {
          const piece = this._item(this.layer[tip] + 1);
          this._segment(tip, piece, from[e], kind[e]);
          tip = piece;
        }
        this._segment(tip, to[e], from[e], kind[e]);
        const s = this.target.length - 1;
        this.target[s] = this.isBox(to[e]) ? to[e] : -2;
        this.port[s] = port[e];
        this.label[s] = label[e];
      }
    }

    _collect() {
      const count = this.layer.length;
      this.rows = Array.from({ length: this.sheet.layers }, () => []);
      this.position = new Array(count).fill(0);
      this.keys = new Array(count).fill(0);
      this.up = Array.from({ length: count }, () => []);
      this.down = Array.from({ length: count }, () => []);
      this.gaps = Array.from({ length: this.sheet.layers }, () => []);
      for (let item = 0; item < count; item++) {
        this.position[item] = this.rows[this.layer[item]].length;
        this.rows[this.layer[item]].push(item);
      }
      for (let s = 0; s < this.above.length; s++) {
        this.down[this.above[s]].push(s);
        this.up[this.below[s]].push(s);
        this.gaps[this.layer[this.above[s]]].push(s);
      }
    }

    setRow(layer, items) {
      this.rows[layer] = items;
      for (let n = 0; n < items.length; n++) {
        this.position[items[n]] = n;
      }
    }
  }

  /** Returns how many pairs of segments cross. */
  function crossings(grid) {
    let total = 0;
    for (let r = 0; r + 1 < grid.rows.length; r++) {
      const gap = grid.gaps[r];
      if (gap.length > 1 && grid.rows[r + 1].length > 1) {
        total += gap.length <= FEW ? crossingPairs(grid, gap) : crossingsSwept(grid, gap, r);
      }
    }
    return total;
  }

  function crossingPairs(grid, gap) {
    const { above, below, position } = grid;
    let total = 0;
    for (let m = 0; m < gap.length; m++) {
      const a = position[above[gap[m]]], b = position[below[gap[m]]];
      for (let n = m + 1; n < gap.length; n++) {
        if ((a - position[above[gap[n]]]) * (b - position[below[gap[n]]]) < 0) {
          total++;
        }
      }
    }
    return total;
  }

  /* With a tree of counts by lower end (Fenwick): n log n. */
  function crossingsSwept(grid, gap, r) {
    const { above, below, position } = grid;
    const width = grid.rows[r + 1].length, tree = new Int32Array(width + 1);
    const sorted = gap.slice().sort((s, t) => position[above[s]] - position[above[t]]
      || position[below[s]] - position[below[t]]);
    let total = 0, seen = 0;
    for (const s of sorted) {
      let notRight = 0;
      for (let at = position[below[s]] + 1; at > 0; at -= at & -at) {
        notRight += tree[at];
      }
      total += seen - notRight;
      seen++;
      for (let at = position[below[s]] + 1; at <= width; at += at & -at) {
        tree[at]++;
      }
    }
    return total;
  }

  /** Orders each layer by sweeps of barycentres; keeps the order with the fewest crossings. */
  function* orderLayers(grid) {
    let fewest = crossings(grid), best = null;
    for (let sweep = 0; sweep < SWEEPS && fewest > 0; sweep++) {
      yield;
      sweepOnce(grid, sweep % 2 === 0);
      const now = crossings(grid);
      if (now < fewest) {
        fewest = now;
        best = grid.rows.map((row) => row.slice());
      }
    }
    if (best !== null) {
      best.forEach((row, r) => grid.setRow(r, row));
    } else {
      grid.rows.forEach((row, r) => grid.setRow(r, row.slice().sort((a, b) => a - b)));
    }
    grid.crossings = fewest > 0 ? fewest - exchangeNeighbours(grid) : 0;
    if (grid.sheet.wanted !== null) {
      keepToHint(grid);
    }
  }

  /** Puts the boxes that a hint knows into its order, if that costs few crossings. */
  function keepToHint(grid) {
    const { wanted } = grid.sheet, before = grid.rows.map((row) => row.slice());
    for (let r = 0; r < grid.rows.length; r++) {
      const row = grid.rows[r].slice();
      const slots = row.map((_, n) => n).filter((n) =>
        grid.isBox(row[n]) && wanted[row[n]] >= 0);
      const sorted = slots.map((n) => row[n]).sort((a, b) => wanted[a] - wanted[b]);
      slots.forEach((n, k) => {
        row[n] = sorted[k];
      });
      grid.setRow(r, row);
    }
    const now = crossings(grid);
    if (now > grid.crossings + DEAREST_HINT) {
      before.forEach((row, r) => grid.setRow(r, row));
    } else {
      grid.crossings = now;
    }
  }

  /** Exchanges neighbours in a layer as long as that saves crossings; returns how many it saved. */
  function exchangeNeighbours(grid) {
    let saved = 0;
    for (let round = 0; round < EXCHANGES; round++) {
      const before = saved;
      for (const row of grid.rows) {
        for (let n = 1; n < row.length; n++) {
          const gain = gainOfExchange(grid, row[n - 1], row[n]);
          if (gain > 0) {
            [row[n - 1], row[n]] = [row[n], row[n - 1]];
            grid.position[row[n - 1]] = n - 1;
            grid.position[row[n]] = n;
            saved += gain;
          }
        }
      }
      if (saved === before) {
        break;
      }
    }
    return saved;
  }

  function gainOfExchange(grid, left, right) {
    return gainAtSide(grid, grid.up[left], grid.up[right], grid.above)
      + gainAtSide(grid, grid.down[left], grid.down[right], grid.below);
  }

  function gainAtSide({ position }, ofLeft, ofRight, ends) {
    if (ofLeft.length > WIDEST_FAN || ofRight.length > WIDEST_FAN) {
      return 0;
    }
    let gain = 0;
    for (const s of ofLeft) {
      for (const t of ofRight) {
        gain += Math.sign(position[ends[s]] - position[ends[t]]);
      }
    }
    return gain;
  }

  function sweepOnce(grid, isDown) {
    const last = grid.rows.length - 1;
    for (let n = 0; n <= last; n++) {
      const r = isDown ? n : last - n;
      if (grid.rows[r].length > 1) {
        sweepRow(grid, r, isDown);
      }
    }
  }

  function sweepRow(grid, r, isDown) {
    const row = grid.rows[r], keys = grid.keys;
    const near = isDown ? grid.up : grid.down, ends = isDown ? grid.above : grid.below;
    let isSorted = true, before = -Infinity;
    for (const item of row) {
      let key = grid.position[item];
      if (near[item].length > 0) {
        let sum = 0;
        for (const s of near[item]) {
          const other = ends[s];
          sum += (grid.position[other] + 0.5) / grid.rows[grid.layer[other]].length;
        }
        key = (sum / near[item].length) * row.length - 0.5;
      }
      keys[item] = key;
      isSorted = isSorted && before <= key;
      before = key;
    }
    if (!isSorted) {
      grid.setRow(r, row.slice().sort((a, b) => keys[a] - keys[b]));
    }
  }

  Hlo.Grid = Grid;
  Hlo.orderLayers = orderLayers;
})(globalThis);
