"use strict";
/* The picture of one computation: its stages, each from the geometry that equal ones share,
   joined below each other. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { flag, sizes } = Hlo;
  const BREAK = 28;
  const JOINT_GAP = 6, SLOPE = 0.08, HIGHEST_GROWTH = 40;
  /* Stages hang straight below each other as long as they do not wander farther than this. */
  const WANDERING = 600;
  const ANCHOR = 0.06;

  /** Makes the structure of a graph, steps 1 to 5; a generator, since it may take long. */
  function* makeStructure(model, request, measurer) {
    const isEntry = request.depth === 0 && model.computations[request.computation].kind === "entry";
    const structure = new Hlo.Structure(model, request.computation, isEntry, request.only);
    yield;
    Hlo.rank(structure);
    Hlo.choosePortals(structure);
    yield;
    Hlo.listRows(structure);
    yield;
    Hlo.measureBoxes(structure, request, measurer);
    yield;
    Hlo.stages.find(structure);
    yield;
    Hlo.stages.name(structure);
    Hlo.stages.alignWidths(structure);
    yield;
    return structure;
  }

  /** Returns the stages as they are drawn: {first, last, folded}, folds as one. */
  function drawnStages(structure, folds) {
    const drawn = [];
    const sorted = folds.slice().sort((a, b) => a[0] - b[0]);
    const last = structure.stages.length - 1;
    let next = 0;
    for (const [first, end] of sorted) {
      if (first < next || first > last || end < first) {
        continue;
      }
      for (; next < first; next++) {
        drawn.push({ first: next, last: next, folded: false });
      }
      drawn.push({ first, last: Math.min(end, last), folded: true });
      next = Math.min(end, last) + 1;
    }
    for (; next <= last; next++) {
      drawn.push({ first: next, last: next, folded: false });
    }
    return drawn;
  }

  /** Returns a Map from the number of a stage to the clusters that are open in it. */
  function clustersByStage(structure, clusters) {
    const found = new Map();
    for (const [instruction, cluster] of clusters) {
      const q = structure.nodeOf[instruction];
      const number = structure.stageOf[q];
      if (!found.has(number)) {
        found.set(number, new Map());
      }
      found.get(number).set(instruction, cluster);
    }
    return found;
  }

  const NOTHING = new Map();

  /** Gives each drawn stage its geometry; a generator, since it may take long. */
  function* drawStages(structure, drawn, clusters, hint, store) {
    const open = clustersByStage(structure, clusters);
    // With a hint a stage looks as it did there, not as its equals do elsewhere.
    const classes = hint === null ? structure.classes
      : structure.classes.map(() => ({ geometry: null }));
    for (const one of drawn) {
      const stage = structure.stages[one.first];
      if (one.folded) {
        const exits = structure.stages[one.last].exits;
        one.geometry = yield* store.intern("fold", Hlo.foldSheet(stage.entries, exits));
        continue;
      }
      const inside = open.get(one.first);
      if (inside !== undefined) {
        const sheet = Hlo.makeSheet(structure, stage, inside, hint);
        one.geometry = yield* store.intern(stage.key, sheet);
        yield;
        continue;
      }
      const shared = classes[stage.kind];
      if (shared.geometry === null) {
        const sheet = Hlo.makeSheet(structure, stage, NOTHING, hint);
        shared.geometry = yield* store.intern(stage.key, sheet);
        yield;
      }
      one.geometry = shared.geometry;
    }
  }

  function mean(numbers) {
    return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  }

  /** Puts the stages below each other: the value that leaves one straight above its entry into
      the next. */
  function joinStages(drawn) {
    const steps = drawn.map(({ geometry }, n) => {
      const { exitX } = n > 0 ? drawn[n - 1].geometry : geometry;
      return n === 0 || exitX.length === 0 ? null : mean(exitX) - mean(geometry.entryX);
    });
    for (let first = 0; first < drawn.length;) {
      let end = first + 1;
      while (end < drawn.length && steps[end] !== null) {
        end++;
      }
      placeChain(drawn, steps, first, end);
      first = end;
    }
    let y = 0;
    drawn.forEach((one, n) => {
      if (n > 0) {
        y += jointGap(drawn[n - 1], one);
      }
      one.y = y;
      y += one.geometry.height;
    });
  }

  function placeChain(drawn, steps, first, end) {
    let x = 0, least = 0, most = 0, widest = 0;
    for (let n = first; n < end; n++) {
      x += n > first ? steps[n] : 0;
      drawn[n].x = x;
      least = Math.min(least, x);
      most = Math.max(most, x);
      widest = Math.max(widest, drawn[n].geometry.right - drawn[n].geometry.left);
    }
    const middle = (least + most) / 2;
    if (most - least > Math.max(WANDERING, widest / 2)) {
      anchorChain(drawn, steps, first, end);
    } else {
      for (let n = first; n < end; n++) {
        drawn[n].x -= middle;
      }
    }
  }

  /* Least squares: each step as wished, all near the middle; a tridiagonal system. */
  function anchorChain(drawn, steps, first, end) {
    const count = end - first, ratio = new Float64Array(count), value = new Float64Array(count);
    for (let n = 0; n < count; n++) {
      const before = n > 0 ? 1 : 0, after = n + 1 < count ? 1 : 0;
      const wished = (before ? steps[first + n] : 0) - (after ? steps[first + n + 1] : 0);
      const divisor = before + after + ANCHOR - (before ? ratio[n - 1] : 0);
      ratio[n] = after / divisor;
      value[n] = (wished + (before ? value[n - 1] : 0)) / divisor;
    }
    let x = 0;
    for (let n = count - 1; n >= 0; n--) {
      x = value[n] + ratio[n] * x;
      drawn[first + n].x = x;
    }
  }

  function jointGap(above, below) {
    const { exitX } = above.geometry, { entryX } = below.geometry;
    if (exitX.length === 0) {
      return BREAK;
    }
    let sideways = 0;
    exitX.forEach((x, n) => {
      sideways = Math.max(sideways, Math.abs(above.x + x - below.x - entryX[n]));
    });
    return sideways < 0.5 ? 0 : JOINT_GAP + Math.min(HIGHEST_GROWTH, sideways * SLOPE);
  }

  /** Moves all stages so that the graph starts at its margin; returns its size. */
  function frame(drawn, depth) {
    let left = Infinity, right = -Infinity, bottom = 0;
    for (const { x, y, geometry } of drawn) {
      left = Math.min(left, x + geometry.left);
      right = Math.max(right, x + geometry.right);
      bottom = Math.max(bottom, y + geometry.height);
    }
    if (left > right) {
      left = right = 0;
    }
    const top = depth > 0 ? sizes.rowPadding : sizes.margin;
    for (const one of drawn) {
      one.x += sizes.margin - left;
      one.y += top;
    }
    return { width: right - left + 2 * sizes.margin, height: top + bottom + sizes.margin };
  }

  /** Returns the data of a graph, as README.md has it but for what the page adds. */
  function assemble(structure, request, drawn, clusters) {
    const size = frame(drawn, request.depth);
    const stages = stageColumns(structure, drawn);
    return {
      path: request.path, computation: request.computation, depth: request.depth,
      caller: request.caller, role: request.role, ...size, ...stages, ...jointsOf(structure, drawn),
      portals: structure.portals, portalsOut: structure.portalsOut,
      operandStates: structure.operandStates, bases: structure.bases,
      stageNumbers: stageNumbers(structure),
      children: Array.from(clusters, ([instruction, { children }]) => ({ instruction, children })),
    };
  }

  /** Returns the number of the stage that each instruction's box is in, -1 without one. */
  function stageNumbers(structure) {
    const numbers = new Int32Array(structure.computation.size).fill(-1);
    structure.instructions.forEach((i, q) => {
      numbers[i] = structure.stageOf[q];
    });
    return numbers;
  }

  function stageColumns(structure, drawn) {
    const instructions = [], rowSources = [], instructionEnds = [0], rowSourceEnds = [0];
    for (const one of drawn) {
      const stage = structure.stages[one.first];
      if (one.folded) {
        instructions.push(-1);
      } else {
        for (const local of one.geometry.order) {
          const q = stage.members[local];
          instructions.push(structure.instructions[q]);
          addRowSources(structure, one.geometry, local, q, rowSources);
        }
      }
      for (const { node } of stage.entries) {
        instructions.push(structure.instructions[node]);
      }
      instructionEnds.push(instructions.length);
      rowSourceEnds.push(rowSources.length);
    }
    return {
      stageX: Float64Array.from(drawn, ({ x }) => x),
      stageY: Float64Array.from(drawn, ({ y }) => y),
      stageGeometry: Int32Array.from(drawn, ({ geometry }) => geometry.id),
      stageFirst: Int32Array.from(drawn, ({ first }) => first),
      stageLast: Int32Array.from(drawn, ({ last }) => last),
      stageKind: Int32Array.from(drawn, ({ first }) => structure.stages[first].kind),
      stageFolded: Uint8Array.from(drawn, ({ folded }) => (folded ? 1 : 0)),
      instructions: Int32Array.from(instructions),
      instructionEnds: Int32Array.from(instructionEnds),
      rowSources: Int32Array.from(rowSources),
      rowSourceEnds: Int32Array.from(rowSourceEnds),
    };
  }

  function addRowSources(structure, geometry, local, q, rowSources) {
    if ((geometry.flags[geometry.places[local]] & flag.OPEN) === 0) {
      for (let r = structure.rowEnds[q]; r < structure.rowEnds[q + 1]; r++) {
        rowSources.push(structure.rowSources[r]);
      }
    }
  }

  function jointsOf(structure, drawn) {
    const joints = [], sources = [], kinds = [];
    for (let n = 1; n < drawn.length; n++) {
      const above = drawn[n - 1], below = drawn[n];
      structure.stages[above.last].exits.forEach(({ node, kind }, k) => {
        joints.push(above.x + above.geometry.exitX[k], above.y + above.geometry.height,
          below.x + below.geometry.entryX[k], below.y);
        sources.push(structure.instructions[node]);
        kinds.push(kind);
      });
    }
    return { joints: Float64Array.from(joints), jointSource: Int32Array.from(sources),
      jointKind: Uint8Array.from(kinds) };
  }

  /** Returns where an open cluster's lines come in above the pills of parameters, and where its
      result goes out; in px from the left of the graph. */
  function connections(structure, drawn) {
    const pins = new Map();
    let out = null;
    for (const { x, first, folded, geometry } of drawn) {
      const { members } = structure.stages[first];
      for (let n = 0; n < geometry.size && !folded; n++) {
        if ((geometry.flags[n] & (flag.INPUT | flag.ROOT)) === 0) {
          continue;
        }
        const i = structure.instructions[members[geometry.order[n]]];
        const middle = x + geometry.x[n] + geometry.w[n] / 2;
        if ((geometry.flags[n] & flag.INPUT) !== 0 && !structure.chipInputs) {
          pins.set(structure.computation.index[i], middle);
        }
        if ((geometry.flags[n] & flag.ROOT) !== 0) {
          out = middle;
        }
      }
    }
    return { pins, out };
  }

  Hlo.graphs = { makeStructure, drawnStages, drawStages, joinStages, assemble, connections };
})(globalThis);
