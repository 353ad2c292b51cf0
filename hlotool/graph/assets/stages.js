"use strict";
/* Step 4 of the layout: stages, the parts between ranks where at most one value crosses. Equal
   stages are laid out once. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const SHORTEST = 6;
  /* From so many ranks on two values may cross: the residual of a network does all along. */
  const LONGEST = 40;
  const LONGEST_PERIOD = 32;

  /** Returns for each box the last rank that a line of it reaches, by kind of line. */
  function reaches(structure) {
    const { edges, edgeFrom, edgeTo, edgeKind, kept, ranks } = structure;
    const reach = [ranks.slice(), ranks.slice()];
    for (let e = 0; e < edges; e++) {
      const of = reach[edgeKind[e]], from = edgeFrom[e];
      if (kept[e] === 1 && ranks[edgeTo[e]] > of[from]) {
        of[from] = ranks[edgeTo[e]];
      }
    }
    return reach;
  }

  /** Returns how many values cross the gap below each rank. */
  function crossingCounts(structure, reach) {
    const change = new Int32Array(structure.layers + 1);
    for (const of of reach) {
      for (let q = 0; q < structure.nodes; q++) {
        change[structure.ranks[q]]++;
        change[of[q]]--;
      }
    }
    for (let r = 1; r <= structure.layers; r++) {
      change[r] += change[r - 1];
    }
    return change;
  }

  /** Finds the stages of a structure: `stages` with first and last rank, boxes and values. */
  function findStages(structure) {
    const reach = reaches(structure);
    const crossing = crossingCounts(structure, reach);
    const bounds = [];
    let first = 0;
    for (let r = 0; r < structure.layers; r++) {
      const length = r - first + 1;
      const isCut = length >= SHORTEST && crossing[r] <= (length > LONGEST ? 2 : 1);
      if (isCut || r === structure.layers - 1) {
        bounds.push({ first, last: r });
        first = r + 1;
      }
    }
    fillStages(structure, bounds, reach);
  }

  function fillStages(structure, bounds, reach) {
    const { nodes, ranks, layers } = structure;
    const start = new Int32Array(layers + 1);
    for (let q = 0; q < nodes; q++) {
      start[ranks[q] + 1]++;
    }
    for (let r = 0; r < layers; r++) {
      start[r + 1] += start[r];
    }
    const next = start.slice(), byRank = new Int32Array(nodes);
    for (let q = 0; q < nodes; q++) {
      byRank[next[ranks[q]]++] = q;
    }
    structure.stageOf = new Int32Array(nodes);
    structure.localOf = new Int32Array(nodes);
    let crossing = [];
    structure.stages = bounds.map(({ first, last }, number) => {
      const members = byRank.subarray(start[first], start[last + 1]);
      members.forEach((q, local) => {
        structure.stageOf[q] = number;
        structure.localOf[q] = local;
      });
      const entries = crossing;
      crossing = leaving(members, entries, reach, last);
      return { number, first, last, members, entries, exits: crossing };
    });
  }

  /** Returns what leaves a stage downwards, as {node, kind}: new values and passing ones. */
  function leaving(members, entries, reach, last) {
    const exits = entries.filter(({ node, kind }) => reach[kind][node] > last);
    for (let kind = 0; kind < reach.length; kind++) {
      for (const q of members) {
        if (reach[kind][q] > last) {
          exits.push({ node: q, kind });
        }
      }
    }
    return exits;
  }

  /** Returns where a line comes from within a stage: a box of it, or a value from above. */
  function sourceIn(structure, stage, node, kind) {
    if (structure.stageOf[node] === stage.number) {
      return structure.localOf[node];
    }
    const at = stage.entries.findIndex((entry) => entry.node === node && entry.kind === kind);
    return stage.members.length + at;
  }

  /** Names each stage by what decides its picture but for widths of texts; equal names give
      equal `kind`s. */
  function nameStages(structure) {
    const kinds = new Map();
    structure.classes = [];
    for (const stage of structure.stages) {
      stage.key = stageKey(structure, stage);
      let kind = kinds.get(stage.key);
      if (kind === undefined) {
        kind = structure.classes.length;
        kinds.set(stage.key, kind);
        structure.classes.push({ stages: [], key: stage.key, geometry: null });
      }
      stage.kind = kind;
      structure.classes[kind].stages.push(stage);
    }
  }

  function stageKey(structure, stage) {
    const parts = [];
    for (const q of stage.members) {
      parts.push(boxKey(structure, stage, q));
    }
    const crossing = stage.exits.map(({ node, kind }) =>
      `${kind}:${sourceIn(structure, stage, node, kind)}`);
    const entering = stage.entries.map(({ kind }) => kind);
    return `${entering}>${parts.join(";")}>${crossing}`;
  }

  function boxKey(structure, stage, q) {
    const { computation, instructions, flags, ranks, rowEnds, rowKinds, rowPorts } = structure;
    const { inStart, kept, edgeFrom, edgePort, edgeKind, edgeVia } = structure;
    const i = instructions[q];
    // What a parameter is called is not what it is.
    let key = `${computation.op[i]},${computation.title[i]},${computation.shape[i]},${flags[q]},`
      + (ranks[q] - stage.first);
    for (let r = rowEnds[q]; r < rowEnds[q + 1]; r++) {
      key += `r${rowKinds[r]}.${rowPorts[r]}`;
    }
    key += structure.portalsOut[i] > 0 ? "p" : "";
    for (let e = inStart[q]; e < inStart[q + 1]; e++) {
      if (kept[e] === 1) {
        const from = sourceIn(structure, stage, edgeFrom[e], edgeKind[e]);
        key += `e${from}.${edgePort[e]}`;
        if (edgeVia[e] !== instructions[edgeFrom[e]]) {
          key += Hlo.labels.elementOf(structure.model, computation.number, edgeVia[e]).label;
        }
      }
    }
    return key;
  }

  /** Makes boxes of equal stages as wide as the widest of them, so that they share a picture. */
  function alignWidths(structure) {
    const { widths, classes } = structure;
    for (const { stages } of classes) {
      if (stages.length > 1) {
        const count = stages[0].members.length;
        for (let n = 0; n < count; n++) {
          const widest = stages.reduce((most, one) => Math.max(most, widths[one.members[n]]), 0);
          for (const one of stages) {
            widths[one.members[n]] = widest;
          }
        }
      }
    }
  }

  /** Finds what repeats in a row of kinds: [{first, period, count}] in order; a b a b a b is
      {period: 2, count: 3}. Of what could be folded the longest is taken. */
  function foldRepeats(kinds) {
    const runs = [];
    for (let first = 0; first < kinds.length;) {
      let best = { first, period: 1, count: 1 };
      for (let period = 1; period <= LONGEST_PERIOD; period++) {
        const count = repetitions(kinds, first, period);
        if (count > 1 && count * period > best.count * best.period) {
          best = { first, period, count };
        }
      }
      runs.push(best);
      first += best.period * best.count;
    }
    return runs;
  }

  function repetitions(kinds, first, period) {
    let at = first + period;
    while (at < kinds.length && kinds[at] === kinds[at - period]) {
      at++;
    }
    return Math.floor((at - first) / period);
  }

  Hlo.stages = { find: findStages, name: nameStages, alignWidths, sourceIn, foldRepeats };
})(globalThis);
