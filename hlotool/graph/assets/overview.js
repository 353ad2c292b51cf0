"use strict";
/* The first screen of a big module: a card for each of its stages, what repeats folded. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* How much an op of a category says about what a stage does. */
  const WEIGHTS = { contraction: 9, external: 8, collective: 8, control: 7, indexing: 6,
    reduction: 5, elementwise: 3, movement: 1, source: 0 };
  const HEADS = 3;
  const BIG = 400;

  /** Whether a picture has too many boxes to start with; then its stages come first. */
  function isBig(picture) {
    const { stages } = picture.root;
    return stages.length > 1 && stages.reduce((sum, { geometry }) => sum + geometry.size, 0) > BIG;
  }

  /** Returns what a fusion is mostly, or the title of another instruction. */
  function mainTitle(model, c, i) {
    return model.titleText(c, i).split(" · ", 1)[0].replace(/ …$/, "");
  }

  function headsOf(model, c, instructions) {
    const heads = new Map();
    for (const i of instructions) {
      const title = mainTitle(model, c, i), known = heads.get(title);
      if (known === undefined) {
        heads.set(title, { title, count: 1, category: model.category(c, i) });
      } else {
        known.count++;
      }
    }
    const weight = ({ category }) => WEIGHTS[category] || 0;
    return [...heads.values()].sort((a, b) => weight(b) - weight(a) || b.count - a.count)
      .slice(0, HEADS);
  }

  /** Returns how many instructions boxes stand for, with all that is inside them; `boxes` are
      pairs of computation and instruction. */
  function instructionCount(model, boxes) {
    let total = boxes.length;
    const pending = [...boxes];
    while (pending.length > 0) {
      const [computation, i] = pending.pop();
      for (const call of model.callsOf(computation, i)) {
        const inner = model.computations[call.computation];
        total += call.inside ? inner.size : 0;
        for (const caller of call.inside ? inner.callIndex.keys() : []) {
          pending.push([call.computation, caller]);
        }
      }
    }
    return total;
  }

  /** Returns the part that op_names have in common, a list of its pieces. */
  function commonScope(model, c, instructions) {
    let common = null;
    for (const i of instructions) {
      const scope = model.scopeText(c, i).split("/").slice(0, -1);
      if (scope.length > 0) {
        common = common === null ? scope : common.slice(0, equalPieces(common, scope));
      }
    }
    return common || [];
  }

  /** Returns what the op_names of a stage have in common, besides what those of all have. */
  function scopeOf(model, graph, stage, shared) {
    return commonScope(model, graph.computation, boxesOf(stage, graph)).slice(shared).join("/");
  }

  /** Returns the scope of the last value of each of some stages that has one, "" for others. */
  function lastScopes(model, graph, stages, shared) {
    return stages.map((stage) => {
      const scopes = boxesOf(stage, graph).map((i) => model.scopeText(graph.computation, i));
      const last = scopes.findLast((scope) => scope.includes("/")) || "";
      return last.split("/").slice(shared, -1).join("/");
    });
  }

  /* A scope that several cards end in tells them not apart, so then it is not said. */
  function keepTelling(rows) {
    const cards = rows.flatMap((row) => row.cards), counts = new Map();
    for (const { last } of cards) {
      counts.set(last, (counts.get(last) || 0) + 1);
    }
    for (const card of cards) {
      card.last = counts.get(card.last) === 1 ? card.last : "";
    }
  }

  function equalPieces(one, other) {
    const different = one.findIndex((piece, n) => piece !== other[n]);
    return different < 0 ? one.length : different;
  }

  /** Returns for each stage how many portals pass the cut above it. */
  function passingPortals(graph) {
    const { portals, bases, stageOf, stages } = graph;
    const change = new Int32Array(stages.length + 1);
    for (let at = 0; at < portals.length; at += 3) {
      const from = stageOf[bases[portals[at]]], to = stageOf[portals[at + 1]];
      if (from >= 0 && to > from) {
        change[from + 1]++;
        change[to + 1]--;
      }
    }
    for (let n = 1; n < change.length; n++) {
      change[n] += change[n - 1];
    }
    return change;
  }

  function outputOf(picture, stage, below) {
    const { model, root: graph } = picture;
    const { geometry, instructions } = stage;
    const passed = below === undefined ? -1 : below.instructions[below.geometry.size];
    const i = passed === undefined || passed < 0 ? instructions[geometry.size - 1] : passed;
    return i < 0 ? "" : model.shapePlain(graph.computation, i);
  }

  function added(overlay, sum, value) {
    if (value === null) {
      return sum;
    }
    if (sum === null) {
      return value;
    }
    return overlay.sum === "max" ? Math.max(sum, value) : sum + value;
  }

  /** Returns the sums of overlays over stages, by name; null where there is nothing to sum. */
  function sumsOf(model, graph, stages) {
    const sums = {}, c = graph.computation;
    for (const overlay of model.overlays) {
      sums[overlay.name] = null;
      for (const stage of overlay.sum === "none" ? [] : stages) {
        for (const i of boxesOf(stage, graph)) {
          sums[overlay.name] = added(overlay, sums[overlay.name], overlay.values[c][i]);
        }
      }
    }
    return sums;
  }

  /** Returns the overview of a picture's root: see README.md. */
  function overview(picture) {
    const { model, root: graph } = picture;
    const { stages, computation: c } = graph;
    const runs = Hlo.stages.foldRepeats(stages.map(({ kind, folded }, n) =>
      (folded ? -1 - n : kind)));
    const portals = passingPortals(graph);
    const shared = commonScope(model, c, stages.flatMap((stage) =>
      boxesOf(stage, graph))).length;
    const rows = runs.map(({ first, period, count }) => ({
      count,
      cards: stages.slice(first, first + period).map((stage, n) => {
        const repeats = Array.from({ length: count }, (_, k) => stages[first + n + k * period]);
        const ends = [repeats[0], repeats[count - 1]];
        const between = (scopes) => [...new Set(scopes)].filter(Boolean).join(" – ");
        return { stage: first + n, portals: portals[first + n],
          scope: between(ends.map((one) => scopeOf(model, graph, one, shared))),
          last: between(lastScopes(model, graph, ends, shared)),
          output: outputOf(picture, stage, stages[first + n + 1]),
          ...cardOf(model, graph, stage), sums: sumsOf(model, graph, repeats) };
      }),
    }));
    keepTelling(rows);
    return { rows, different: new Set(stages.map(({ kind }) => kind)).size,
      stages: stages.reduce((sum, { number, last }) => sum + last - number + 1, 0),
      nodes: stages.reduce((sum, stage) => sum + boxesOf(stage, graph).length, 0) };
  }

  function boxesOf({ geometry, instructions, folded, number, last }, { stageNumbers }) {
    return folded
      ? [...stageNumbers.keys()].filter((i) => number <= stageNumbers[i] && stageNumbers[i] <= last)
      : [...instructions.subarray(0, geometry.size)];
  }

  function cardOf(model, graph, stage) {
    const boxes = boxesOf(stage, graph), c = graph.computation;
    const instructions = instructionCount(model, boxes.map((i) => [c, i]));
    return { number: stage.number, kind: stage.kind, nodes: boxes.length, instructions,
      heads: headsOf(model, c, boxes), geometry: stage.geometry };
  }

  Hlo.overview = overview;
  Hlo.instructionCount = instructionCount;
  Hlo.isBig = isBig;
})(globalThis);
