"use strict";
/* Steps 2 and 3 of the layout: the rank of each box, and which edges become portals. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { operand, flag } = Hlo;
  /* An edge over more ranks than this is a pair of portals. */
  const LONG = 16;
  /* So are the farther edges of a value that more users take than this ... */
  const WIDE_OUT = 8;
  /* ... and of a box that takes more values than this. */
  const WIDE_IN = 24;
  /* Users of a scalar from which on only the nearest one is wired. */
  const SCALAR_USERS = 3;

  /** Gives each box its rank: below all it takes, and just above the first that takes it. */
  function rank(structure) {
    const { nodes } = structure;
    const ranks = new Int32Array(nodes);
    longestPaths(structure, ranks);
    const loose = looseBoxes(structure);
    pullDown(structure, ranks, loose);
    pullDown(structure, ranks, loose);
    structure.ranks = ranks;
    structure.layers = withoutGaps(ranks);
  }

  function longestPaths(structure, ranks) {
    const { nodes, inStart, edgeFrom } = structure;
    for (let q = 0; q < nodes; q++) {
      let lowest = 0;
      for (let e = inStart[q]; e < inStart[q + 1]; e++) {
        lowest = Math.max(lowest, ranks[edgeFrom[e]] + 1);
      }
      ranks[q] = lowest;
    }
  }

  /* A box is loose if all it takes can move with it: it hangs on its users alone, as what is done
     to a weight before it is used. */
  function looseBoxes({ nodes, inStart, outStart, edgeFrom, flags }) {
    const loose = new Uint8Array(nodes);
    for (let q = 0; q < nodes; q++) {
      let isLoose = (flags[q] & flag.INPUT) === 0;
      for (let e = inStart[q]; e < inStart[q + 1] && isLoose; e++) {
        const from = edgeFrom[e];
        isLoose = loose[from] === 1 && outStart[from + 1] - outStart[from] === 1;
      }
      loose[q] = isLoose ? 1 : 0;
    }
    return loose;
  }

  /* A box with fewer inputs than users moves down to its first user: that shortens more edges
     than it makes longer. A wide tuple does not pull, or all that it takes got one rank. */
  function pullDown(structure, ranks, loose) {
    const { nodes, inStart, outStart, outEdges, edgeTo, flags } = structure;
    for (let q = nodes - 1; q >= 0; q--) {
      const taken = inStart[q + 1] - inStart[q], given = outStart[q + 1] - outStart[q];
      const isStuck = taken >= given && loose[q] === 0;
      if (given === 0 || isStuck || (flags[q] & flag.INPUT) !== 0) {
        continue;
      }
      let first = Infinity, lowest = Infinity;
      for (let at = outStart[q]; at < outStart[q + 1]; at++) {
        const to = edgeTo[outEdges[at]];
        lowest = Math.min(lowest, ranks[to] - 1);
        if (inStart[to + 1] - inStart[to] <= WIDE_IN) {
          first = Math.min(first, ranks[to] - 1);
        }
      }
      if (first !== Infinity) {
        ranks[q] = Math.max(ranks[q], Math.min(first, lowest));
      }
    }
  }

  /** Renumbers ranks so that each has a box; returns how many there are. */
  function withoutGaps(ranks) {
    let highest = -1;
    for (const one of ranks) {
      highest = Math.max(highest, one);
    }
    const used = new Int32Array(highest + 2);
    for (const one of ranks) {
      used[one + 1] = 1;
    }
    for (let n = 1; n < used.length; n++) {
      used[n] += used[n - 1];
    }
    for (let q = 0; q < ranks.length; q++) {
      ranks[q] = used[ranks[q]];
    }
    return used[highest + 1];
  }

  /** Marks the edges that are lines (`kept`) and lists the others in `portals`. */
  function choosePortals(structure) {
    const { nodes, edges, edgeFrom, edgeTo, edgePort, edgeVia, ranks, inStart } = structure;
    const { instructions, operandStates, computation } = structure;
    structure.kept = new Uint8Array(edges).fill(1);
    const portals = structure.hidden.slice();
    const spread = outgoing(structure);
    for (let q = 0; q < nodes; q++) {
      const wideIn = inStart[q + 1] - inStart[q] > WIDE_IN;
      for (let e = inStart[q]; e < inStart[q + 1]; e++) {
        const from = edgeFrom[e], span = ranks[q] - ranks[from];
        const wideOut = spread.users[from] > WIDE_OUT;
        const isFar = spread.scalar[from] === 1 && spread.nearest[from] !== q;
        if (span > LONG || (wideOut && span > 2) || (wideIn && span > 1) || isFar) {
          structure.kept[e] = 0;
          portals.push(edgeVia[e], instructions[edgeTo[e]], edgePort[e]);
          if (edgePort[e] >= 0) {
            operandStates[computation.ends[instructions[q]] + edgePort[e]] = operand.PORTAL;
          }
        }
      }
    }
    structure.portals = Int32Array.from(portals);
    structure.portalsOut = portalCounts(structure);
  }

  /** Returns how many boxes take each box, and for scalars with many users the nearest of them. */
  function outgoing(structure) {
    const { nodes, outStart, outEdges, edgeTo, ranks, model, computation, instructions } =
      structure;
    const users = new Int32Array(nodes), nearest = new Int32Array(nodes).fill(-1);
    const scalar = new Uint8Array(nodes);
    for (let q = 0; q < nodes; q++) {
      let last = -1;
      for (let at = outStart[q]; at < outStart[q + 1]; at++) {
        const to = edgeTo[outEdges[at]];
        if (to === last) {
          continue;
        }
        last = to;
        users[q]++;
        if (nearest[q] < 0 || ranks[to] < ranks[nearest[q]]) {
          nearest[q] = to;
        }
      }
      const isScalar = model.shapes.scalar[computation.shape[instructions[q]]] === 1;
      scalar[q] = isScalar && users[q] > SCALAR_USERS ? 1 : 0;
    }
    return { users, nearest, scalar };
  }

  function portalCounts(structure) {
    const { portals, bases, computation } = structure;
    const counts = new Int32Array(computation.size);
    for (let at = 0; at < portals.length; at += 3) {
      counts[bases[portals[at]]]++;
    }
    return counts;
  }

  Hlo.rank = rank;
  Hlo.choosePortals = choosePortals;
})(globalThis);
