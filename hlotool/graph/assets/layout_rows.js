"use strict";
/* Step 5 of the layout: the rows in each box, and the size of the box. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { row, flag, operand, sizes, labels, drawn } = Hlo;
  const FEW = { portals: 3, chips: 4 };
  /* A tuple is a list: its box may be longer. */
  const MANY = { portals: 8, chips: 8 };

  /** Lists the rows of all boxes: `rowEnds` by box, and columns along the rows. */
  function listRows(structure) {
    const { nodes, instructions } = structure;
    const rows = { kinds: [], ports: [], sources: [] };
    structure.rowEnds = new Int32Array(nodes + 1);
    for (let q = 0; q < nodes; q++) {
      const i = instructions[q];
      if (structure.computation.ends[i + 1] > structure.computation.ends[i]) {
        listRowsOf(structure, i, rows);
      }
      structure.rowEnds[q + 1] = rows.kinds.length;
    }
    structure.rowKinds = Uint8Array.from(rows.kinds);
    structure.rowPorts = Int32Array.from(rows.ports);
    structure.rowSources = Int32Array.from(rows.sources);
  }

  function listRowsOf(structure, i, rows) {
    const { computation, operandStates, model } = structure;
    const { operands, ends, op } = computation;
    const isTuple = model.ops.role[op[i]] === "tuple";
    const limit = isTuple ? MANY : FEW;
    const portals = [], chips = [], seen = new Set();
    let unchanged = 0;
    for (let k = ends[i]; k < ends[i + 1]; k++) {
      const source = operands[k], state = operandStates[k];
      // A tuple shows the same value twice, since it has it twice.
      if (state === operand.EDGE || (!isTuple && seen.has(source))) {
        continue;
      }
      seen.add(source);
      if (state === operand.PORTAL) {
        portals.push(k - ends[i]);
      } else if (isUnchanged(structure, i, source, k - ends[i])) {
        unchanged++;
      } else {
        chips.push(k - ends[i]);
      }
    }
    const take = (port, kind) => addRow(rows, kind, port, operands[ends[i] + port]);
    for (const port of portals.slice(0, limit.portals)) {
      take(port, isTuple ? row.RESULT : row.PORTAL);
    }
    for (const port of chips.slice(0, limit.chips)) {
      take(port, chipKind(structure, operands[ends[i] + port]));
    }
    if (unchanged > 0) {
      addRow(rows, row.INVARIANT, -1, unchanged);
    }
    const more = Math.max(0, portals.length - limit.portals)
      + Math.max(0, chips.length - limit.chips);
    if (more > 0) {
      addRow(rows, row.MORE, -1, more);
    }
  }

  function addRow(rows, kind, port, source) {
    rows.kinds.push(kind);
    rows.ports.push(port);
    rows.sources.push(source);
  }

  function chipKind(structure, source) {
    return structure.kinds[source] === drawn.CONSTANT ? row.CHIP : row.STATE;
  }

  /** Whether the result of a loop's body has a part of its state as it came. */
  function isUnchanged(structure, i, source, port) {
    const { computation, kinds, model } = structure;
    return computation.kind === "body" && i === computation.root
      && kinds[source] === drawn.STATE
      && labels.elementOf(model, computation.number, source).label === `#${port}`;
  }

  /** Gives each box its size; open clusters get theirs from what is in them. */
  function measure(structure, graph, measurer) {
    const { nodes } = structure;
    structure.widths = new Float32Array(nodes);
    structure.heights = new Float32Array(nodes);
    const isPillOp = structure.model.ops.category.map((number, op) => {
      const category = structure.model.categories[number];
      return (category === "movement" || category === "source")
        && structure.model.ops.role[op] !== "tuple";
    });
    const inside = measureText(structure, graph, measurer);
    for (let q = 0; q < nodes; q++) {
      const rows = structure.rowEnds[q + 1] - structure.rowEnds[q];
      const op = structure.computation.op[structure.instructions[q]];
      if (rows === 0 && isPillOp[op] && (structure.flags[q] & flag.CLOSED) === 0) {
        structure.flags[q] |= flag.PILL;
        structure.heights[q] = sizes.pill;
      } else {
        structure.heights[q] = sizes.box + (rows > 0 ? rows * sizes.row + sizes.rowsEnd : 0);
      }
      structure.widths[q] = inside(q);
    }
  }

  /** Returns a function that gives the width of a box, whose flags are right by then. */
  function measureText(structure, graph, measurer) {
    const { model, computation, instructions, flags, rowEnds, rowKinds, rowPorts, rowSources } =
      structure;
    const c = computation.number;
    return (q) => {
      const i = instructions[q];
      const title = labels.title(model, c, i, graph), shape = labels.shape(model, c, i);
      if ((flags[q] & flag.PILL) !== 0) {
        return Math.ceil(measurer.width(title, sizes.small, "bold") + sizes.rowPadding
          + measurer.width(shape, sizes.text) + 2 * sizes.padding);
      }
      let width = measurer.width(title, sizes.title, "bold");
      if ((flags[q] & flag.CLOSED) !== 0) {
        width += measurer.width(labels.count(model, c, i), sizes.count) + 12;
      }
      width = Math.max(width, measurer.width(shape, sizes.text)) + 2 * sizes.padding;
      for (let r = rowEnds[q]; r < rowEnds[q + 1]; r++) {
        const text = labels.row(model, graph, rowKinds[r], rowSources[r], rowPorts[r], i);
        width = Math.max(width, measurer.width(text, sizes.text) + 4 * sizes.rowPadding);
      }
      return Math.ceil(Math.max(width, sizes.smallest));
    };
  }

  Hlo.listRows = listRows;
  Hlo.measureBoxes = measure;
})(globalThis);
