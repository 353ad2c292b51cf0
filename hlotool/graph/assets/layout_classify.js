"use strict";
/* Step 1 of the layout: what is drawn as a box, and what as a chip, a label or an edge. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { operand, line, flag } = Hlo;
  /* From so many parameters on a row of them would be wider than what they go into. */
  const MANY_INPUTS = 12;
  const BOX = 0, CONSTANT = 1, INPUT = 2, STATE = 3, LABEL = 4, ABSENT = 5;

  /** Whether an op only shows the same elements another way, so that of a constant it is one. */
  function rewrites(model, op) {
    const { role, category } = model.ops;
    return role[op] === "broadcast"
      || (role[op] === "" && model.categories[category[op]] === "movement");
  }

  function partKind(kinds, from) {
    return kinds[from] === INPUT || kinds[from] === STATE ? STATE : LABEL;
  }

  /** Whether parameters are chips of their users: in the entry, and where there are many. */
  function hasChipInputs(model, computation, isEntry) {
    let inputs = 0;
    for (const op of computation.op) {
      inputs += model.ops.role[op] === "parameter" ? 1 : 0;
    }
    return isEntry || inputs > MANY_INPUTS;
  }

  /** Returns what each instruction is drawn as. */
  function kindsOf(model, computation, chipInputs) {
    const { size, op, operands, ends, userEnds, root } = computation;
    const kinds = new Uint8Array(size);
    const rewriting = model.ops.opcode.map((_, number) => rewrites(model, number));
    for (let i = 0; i < size; i++) {
      const role = model.ops.role[op[i]];
      const single = ends[i + 1] - ends[i] === 1 && operands[ends[i]] < i;
      const from = operands[ends[i]];
      if (i === root) {
        continue;
      }
      if (role === "constant") {
        kinds[i] = userEnds[i + 1] > userEnds[i] ? CONSTANT : BOX;
      } else if (role === "parameter") {
        const isTuple = model.isTuple(computation.number, i);
        const isUsed = userEnds[i + 1] > userEnds[i];
        kinds[i] = chipInputs ? (isUsed ? INPUT : BOX) : (isTuple ? STATE : BOX);
      } else if (role === "element" && single) {
        kinds[i] = partKind(kinds, from);
      } else if (single && kinds[from] === CONSTANT && rewriting[op[i]]) {
        kinds[i] = CONSTANT;
      }
    }
    return kinds;
  }

  /** Returns the instruction that an element of an element is part of; itself for others. */
  function basesOf(computation, kinds) {
    const bases = new Int32Array(computation.size);
    for (let i = 0; i < computation.size; i++) {
      bases[i] = kinds[i] === LABEL ? bases[computation.operands[computation.ends[i]]] : i;
    }
    return bases;
  }

  function leaveOut(kinds, only) {
    const shown = new Uint8Array(kinds.length);
    for (const i of only) {
      shown[i] = 1;
    }
    for (let i = 0; i < kinds.length; i++) {
      if (kinds[i] === BOX && shown[i] === 0) {
        kinds[i] = ABSENT;
      }
    }
  }

  /** Instructions of one computation as boxes and edges; rows and ranks come later. */
  class Structure {
    constructor(model, c, isEntry, only) {
      const computation = model.computations[c];
      this.model = model;
      this.computation = computation;
      this.chipInputs = hasChipInputs(model, computation, isEntry);
      this.kinds = kindsOf(model, computation, this.chipInputs);
      if (only !== null) {
        leaveOut(this.kinds, only);
      }
      this.bases = basesOf(computation, this.kinds);
      this.operandStates = new Uint8Array(computation.operands.length);
      this._number();
      this._connect();
      this._flag(isEntry);
    }

    _number() {
      const { size } = this.computation;
      this.nodeOf = new Int32Array(size).fill(-1);
      const instructions = [];
      for (let i = 0; i < size; i++) {
        if (this.kinds[i] === BOX) {
          this.nodeOf[i] = instructions.length;
          instructions.push(i);
        }
      }
      this.instructions = Int32Array.from(instructions);
      this.nodes = instructions.length;
    }

    _flag(isEntry) {
      const { model, computation, nodes, instructions } = this;
      this.flags = new Uint8Array(nodes);
      const callers = computation.callIndex;
      for (let q = 0; q < nodes; q++) {
        const i = instructions[q];
        let flags = i === computation.root ? flag.ROOT : 0;
        if (model.ops.role[computation.op[i]] === "parameter") {
          flags |= isEntry ? 0 : flag.INPUT;
        }
        if (callers.has(i) && model.callsOf(computation.number, i).some((call) => call.inside)) {
          flags |= flag.CLOSED;
        }
        this.flags[q] = flags;
      }
    }

    _connect() {
      const { operands, control } = this.computation;
      const most = operands.length + control.length / 2;
      this.edges = 0;
      this.edgeFrom = new Int32Array(most);
      this.edgeTo = new Int32Array(most);
      this.edgePort = new Int32Array(most);
      this.edgeKind = new Uint8Array(most);
      this.edgeVia = new Int32Array(most);
      this.inStart = new Int32Array(this.nodes + 1);
      this.hidden = [];
      this._controls = controlsByInstruction(this.computation);
      for (let i = 0; i < this.computation.size; i++) {
        this._connectInstruction(i);
      }
      this._countOut();
    }

    _connectInstruction(i) {
      const { operands, ends } = this.computation;
      const { kinds, operandStates, nodeOf } = this;
      const q = nodeOf[i];
      for (let k = ends[i]; k < ends[i + 1]; k++) {
        if (kinds[i] === BOX) {
          operandStates[k] = this._operandState(q, operands[k], k - ends[i], i);
        } else if (kinds[i] !== ABSENT) {
          operandStates[k] = kinds[i] === CONSTANT ? operand.CHIP : operand.LABEL;
        }
      }
      if (q >= 0) {
        for (const before of this._controls.get(i) || []) {
          this._controlEdge(q, this.bases[before], before, i);
        }
        this.inStart[q + 1] = this.edges;
      }
    }

    _operandState(q, source, port, i) {
      const base = this.bases[source], kind = this.kinds[base];
      if (kind === BOX && base < i) {
        this._edge(this.nodeOf[base], q, port, line.DATA, source);
        return operand.EDGE;
      }
      if (kind === ABSENT || base >= i) {
        this.hidden.push(source, i, port);
        return operand.PORTAL;
      }
      return operand.CHIP;
    }

    _controlEdge(q, base, before, i) {
      if (this.kinds[base] === BOX && base < i) {
        this._edge(this.nodeOf[base], q, -1, line.CONTROL, base);
      } else if (this.kinds[base] === BOX || this.kinds[base] === ABSENT) {
        this.hidden.push(before, i, -1);
      }
    }

    _edge(from, to, port, kind, via) {
      const e = this.edges++;
      this.edgeFrom[e] = from;
      this.edgeTo[e] = to;
      this.edgePort[e] = port;
      this.edgeKind[e] = kind;
      this.edgeVia[e] = via;
    }

    /** Sorts the edges by where they come from: outEdges[outStart[q] .. outStart[q + 1]]. */
    _countOut() {
      const { nodes, edges, edgeFrom } = this;
      this.outStart = new Int32Array(nodes + 1);
      for (let e = 0; e < edges; e++) {
        this.outStart[edgeFrom[e] + 1]++;
      }
      for (let q = 0; q < nodes; q++) {
        this.outStart[q + 1] += this.outStart[q];
      }
      const next = this.outStart.slice();
      this.outEdges = new Int32Array(edges);
      for (let e = 0; e < edges; e++) {
        this.outEdges[next[edgeFrom[e]]++] = e;
      }
    }
  }

  function controlsByInstruction(computation) {
    const { control } = computation, before = new Map();
    for (let at = 0; at < control.length; at += 2) {
      const known = before.get(control[at]);
      if (known === undefined) {
        before.set(control[at], [control[at + 1]]);
      } else {
        known.push(control[at + 1]);
      }
    }
    return before;
  }

  Hlo.Structure = Structure;
  Hlo.drawn = { BOX, CONSTANT, INPUT, STATE, LABEL, ABSENT };
})(globalThis);
