"use strict";
/* Steps 8 and 9 of the layout: where each item of a layer stands from left to right. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const BOX_GAP = 18, TRUNK_GAP = 6;
  /* What a straightened trunk keeps from its neighbours. */
  const LEAST_BOX_GAP = 10, LEAST_TRUNK_GAP = 4;
  const WEIGHT = { trunks: 12, trunkAndBox: 3, boxes: 1 };
  /* A weak pull to the middle: without it a long graph drifts sideways for ever. */
  const ANCHOR = 0.06;
  /* Values between stages stand near the middle, so that stages join without wandering off. */
  const CROSSING_ANCHOR = 0.4;
  const ROUNDS = 3;
  const PORT_DISTANCE = 22;
  const NEARLY_STRAIGHT = 14;
  /* A trunk starts straight below its producer if that is no farther from its best place. */
  const NEAR_PRODUCER = 40;

  /** Gives each item of the grid its middle `x`, and each segment where it leaves and arrives; a
      generator of rounds. */
  function* place(grid) {
    grid.x = new Array(grid.layer.length).fill(0);
    grid.out = grid.x.slice();
    grid.arrival = new Array(grid.above.length).fill(0);
    grid.rows.forEach((row) => pack(grid, row));
    for (const [box, cluster] of grid.sheet.clusters) {
      grid.out[box] = cluster.out - grid.width[box] / 2;
    }
    const last = grid.rows.length - 1;
    for (let round = 0; round < ROUNDS; round++) {
      yield;
      spreadPorts(grid);
      const both = round > 1;
      for (let r = 1; r <= last; r++) {
        fit(grid, grid.rows[r], true, both);
      }
      for (let r = last - 1; r >= 0; r--) {
        fit(grid, grid.rows[r], both, true);
      }
    }
    for (let r = 1; r <= last; r++) {
      fit(grid, grid.rows[r], true, true);
    }
    yield;
    straighten(grid);
    spreadPorts(grid);
    alignPorts(grid);
  }

  /** Puts the items of a layer side by side, around 0. */
  function pack(grid, row) {
    let x = 0;
    for (const item of row) {
      grid.x[item] = x + grid.width[item] / 2;
      x += grid.width[item] + BOX_GAP;
    }
    for (const item of row) {
      grid.x[item] -= (x - BOX_GAP) / 2;
    }
  }

  /** Spreads what a box takes over its top, in the order of where it comes from. */
  function spreadPorts(grid) {
    const { up, above, x, port, arrival, width } = grid;
    for (let box = 0; box < grid.boxes; box++) {
      const segments = up[box], cluster = grid.sheet.clusters.get(box);
      if (cluster !== undefined && cluster.pins !== null) {
        for (const s of segments) {
          const pin = cluster.pins.get(port[s]);
          arrival[s] = pin === undefined ? 0 : pin - width[box] / 2;
        }
      } else if (segments.length > 1) {
        const span = Math.min(width[box] - 16, (segments.length - 1) * PORT_DISTANCE);
        const sorted = segments.slice().sort((s, t) =>
          x[above[s]] - x[above[t]] || port[s] - port[t]);
        sorted.forEach((s, n) => {
          arrival[s] = (n / (sorted.length - 1) - 0.5) * span;
        });
      }
    }
  }

  /** Lets a lone line that is nearly straight down be straight: its port moves, not the box. */
  function alignPorts(grid) {
    const { up, above, x, out, arrival, width } = grid;
    for (let box = 0; box < grid.boxes; box++) {
      const [s] = up[box];
      if (up[box].length === 1 && arrival[s] === 0) {
        const aside = x[above[s]] + out[above[s]] - x[box];
        if (Math.abs(aside) <= Math.min(NEARLY_STRAIGHT, width[box] / 2 - 8)) {
          arrival[s] = aside;
        }
      }
    }
  }

  /** Moves a layer to the exact least-squares fit to its neighbours under its order and gaps:
      pool adjacent violators. */
  function fit(grid, row, useUp, useDown) {
    const offsets = [], values = [], weights = [], counts = [];
    let offset = 0;
    for (let n = 0; n < row.length; n++) {
      const item = row[n];
      if (n > 0) {
        offset += distance(grid, row[n - 1], item);
      }
      offsets.push(offset);
      wish(grid, item, useUp, useDown);
      let value = grid.wished - offset, weight = grid.wishWeight, count = 1;
      while (values.length > 0 && values[values.length - 1] > value) {
        const other = weights.pop();
        value = (values.pop() * other + value * weight) / (other + weight);
        weight += other;
        count += counts.pop();
      }
      values.push(value);
      weights.push(weight);
      counts.push(count);
    }
    let n = 0;
    for (let block = 0; block < values.length; block++) {
      for (let k = 0; k < counts[block]; k++, n++) {
        grid.x[row[n]] = values[block] + offsets[n];
      }
    }
  }

  function distance(grid, left, right) {
    const trunks = !grid.isBox(left) && !grid.isBox(right);
    return (grid.width[left] + grid.width[right]) / 2 + (trunks ? TRUNK_GAP : BOX_GAP);
  }

  /* Sets grid.wished and grid.wishWeight: where the neighbours want an item, and how strongly.
     Two fields, since this runs for each item of each round. */
  function wish(grid, item, useUp, useDown) {
    const { above, below, x, out, arrival } = grid;
    const isBox = grid.isBox(item);
    let sum = 0, weight = 0;
    if (useUp) {
      for (const s of grid.up[item]) {
        const strength = pull(isBox, grid.isBox(above[s]));
        sum += strength * (x[above[s]] + out[above[s]] - arrival[s]);
        weight += strength;
      }
    }
    if (useDown) {
      for (const s of grid.down[item]) {
        const strength = pull(isBox, grid.isBox(below[s]));
        sum += strength * (x[below[s]] + arrival[s] - out[item]);
        weight += strength;
      }
    }
    if (weight === 0) {
      sum = x[item] * 0.05;
      weight = 0.05;
    }
    if (isBox) {
      weight += ANCHOR;
    } else if (item < grid.firstPiece) {
      weight += CROSSING_ANCHOR;
    }
    grid.wished = sum / weight;
    grid.wishWeight = weight;
  }

  function pull(isBox, isOtherBox) {
    if (isBox && isOtherBox) {
      return WEIGHT.boxes;
    }
    return isBox || isOtherBox ? WEIGHT.trunkAndBox : WEIGHT.trunks;
  }

  /** Gives trunks one x over as many layers as the room beside them allows. */
  function straighten(grid) {
    for (let item = 0; item < grid.firstExit; item++) {
      const isEntry = !grid.isBox(item);
      for (const s of grid.down[item]) {
        const chain = chainFrom(grid, grid.below[s]);
        if (isEntry && chain.length > 0) {
          chain.unshift(item);
        }
        straightenChain(grid, chain, grid.x[item] + grid.out[item]);
      }
    }
  }

  function chainFrom(grid, start) {
    const chain = [];
    let item = grid.isBox(start) ? -1 : start;
    while (item >= 0) {
      chain.push(item);
      const next = grid.down[item].find((s) => !grid.isBox(grid.below[s]));
      item = next === undefined ? -1 : grid.below[next];
    }
    return chain;
  }

  function straightenChain(grid, chain, producer) {
    let before = producer, reach = NEAR_PRODUCER;
    for (let n = 0; n < chain.length;) {
      let [least, most] = room(grid, chain[n]);
      if (least > most) {
        n++;
        continue;
      }
      let sum = grid.x[chain[n]], end = n + 1;
      for (; end < chain.length; end++) {
        const [left, right] = room(grid, chain[end]);
        if (Math.max(least, left) > Math.min(most, right)) {
          break;
        }
        least = Math.max(least, left);
        most = Math.min(most, right);
        sum += grid.x[chain[end]];
      }
      const mean = Math.min(most, Math.max(least, sum / (end - n)));
      const straight = Math.min(most, Math.max(least, before));
      const x = Math.abs(straight - mean) <= reach ? straight : mean;
      for (; n < end; n++) {
        grid.x[chain[n]] = x;
      }
      before = x;
      // After the first piece a bend is worse than a detour.
      reach = Infinity;
    }
  }

  /** Returns from where to where an item may move without meeting its neighbours. */
  function room(grid, item) {
    const row = grid.rows[grid.layer[item]], at = grid.position[item];
    const { x, width } = grid;
    let least = -Infinity, most = Infinity;
    if (at > 0) {
      const left = row[at - 1];
      least = x[left] + (width[left] + width[item]) / 2
        + (grid.isBox(left) ? LEAST_BOX_GAP : LEAST_TRUNK_GAP);
    }
    if (at + 1 < row.length) {
      const right = row[at + 1];
      most = x[right] - (width[right] + width[item]) / 2
        - (grid.isBox(right) ? LEAST_BOX_GAP : LEAST_TRUNK_GAP);
    }
    return [least, most];
  }

  Hlo.place = place;
})(globalThis);
