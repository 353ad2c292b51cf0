"use strict";
/* What the data of the page says: columns as typed arrays, edges, users and call paths. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const VERSION = 2;
  /* Roles of calls that are drawn inside the box of the caller. */
  const APPLIED = "applied";
  /* What the documents of one page share, but for those that have it of their own. */
  const SHARED = ["version", "tool", "strings", "categories", "legend", "shortLegend", "ops",
    "shapes", "stacks", "pieces"];
  const PLAIN_COLUMNS = ["op", "title", "shape", "index", "value", "attributes", "scope", "source",
    "frames", "sharding"];

  /** Returns the numbers whose differences are given, the first one from `value`. */
  function summed(differences, Column = Int32Array, value = 0) {
    const values = new Column(differences.length);
    for (let n = 0; n < differences.length; n++) {
      value += differences[n];
      values[n] = value;
    }
    return values;
  }

  /** Returns offsets of groups, given the group of each item; groups are 0 to count - 1. */
  function offsetsOf(groups, count) {
    const offsets = new Int32Array(count + 1);
    for (const group of groups) {
      offsets[group + 1]++;
    }
    for (let n = 0; n < count; n++) {
      offsets[n + 1] += offsets[n];
    }
    return offsets;
  }

  /** Instructions of one computation, as columns. */
  class Computation {
    constructor(number, data, strings, line) {
      this.number = number;
      this.name = strings[data.name];
      this.line = line;
      this.root = data.root;
      this.kind = data.kind;
      this.size = data.op.length;
      for (const column of PLAIN_COLUMNS) {
        this[column] = new Int32Array(data[column]);
      }
      this.names = summed(data.names);
      this.lines = summed(data.lines, Int32Array, line);
      this.ends = this._ends(data.ends);
      this.operands = this._operands(data.operands);
      this.calls = new Int32Array(data.calls);
      this.control = new Int32Array(data.control);
      this.alias = new Int32Array(data.alias);
      this._users = null;
      this._callIndex = null;
    }

    _ends(differences) {
      const ends = new Int32Array(this.size + 1);
      ends.set(summed(differences), 1);
      return ends;
    }

    _operands(distances) {
      const operands = new Int32Array(distances.length);
      for (let i = 0; i < this.size; i++) {
        for (let k = this.ends[i]; k < this.ends[i + 1]; k++) {
          operands[k] = i - distances[k];
        }
      }
      return operands;
    }

    /** Users of i are users[userEnds[i] .. userEnds[i + 1]], ascending, each once. */
    get users() {
      return this._withUsers().users;
    }

    get userEnds() {
      return this._withUsers().ends;
    }

    _withUsers() {
      if (this._users === null) {
        this._users = usersOf(this);
      }
      return this._users;
    }

    /** Positions in `calls` of each instruction that calls: a Map from instruction to positions. */
    get callIndex() {
      if (this._callIndex === null) {
        this._callIndex = new Map();
        for (let at = 0; at < this.calls.length; at += 3) {
          const positions = this._callIndex.get(this.calls[at]);
          if (positions === undefined) {
            this._callIndex.set(this.calls[at], [at]);
          } else {
            positions.push(at);
          }
        }
      }
      return this._callIndex;
    }
  }

  function usersOf(computation) {
    const { size, operands, ends } = computation;
    const lastUser = new Int32Array(size).fill(-1);
    const sources = [], takers = [];
    for (let i = 0; i < size; i++) {
      for (let k = ends[i]; k < ends[i + 1]; k++) {
        const source = operands[k];
        if (lastUser[source] !== i) {
          lastUser[source] = i;
          sources.push(source);
          takers.push(i);
        }
      }
    }
    const userEnds = offsetsOf(sources, size);
    const next = userEnds.slice();
    const users = new Int32Array(sources.length);
    for (let n = 0; n < sources.length; n++) {
      users[next[sources[n]]++] = takers[n];
    }
    return { users, ends: userEnds };
  }

  /** A module as the page knows it; README.md lists what it offers. */
  class Model {
    /**
     * Returns the model of a parsed document, which may be put together of pieces; it has from
     * `shared` what it lacks. Throws an Error if it is of another version.
     */
    static decode(given, shared = {}) {
      const document = { passes: [], decisions: [], difference: null, ...shared, ...given };
      if (document.version !== VERSION) {
        throw new Error(`This page reads data of version ${VERSION}, not ${document.version}: ` +
          "make the page again with the hlotool that reads it.");
      }
      if (document.own) {
        Object.assign(document, { ...joined(document.own, document.pieces), title: given.title });
      }
      return new Model(document);
    }

    constructor(document) {
      for (const key of ["tool", "title", "entry", "text", "strings", "categories", "legend",
        "shortLegend", "stacks", "overlays", "passes", "decisions", "begin", "difference",
        "directory"]) {
        this[key] = document[key];
      }
      /** What the boxes stand for: "instruction", of graphs of TensorFlow "node". */
      this.noun = document.noun || "instruction";
      this.ops = columnsOf(document.ops, ["opcode", "category", "role"]);
      this.shapes = columnsOf(document.shapes, ["text", "plain", "bytes", "scalar", "tuple"]);
      let line = 0;
      this.computations = document.computations.map((data, number) => {
        line += data.line;
        return new Computation(number, data, document.strings, line);
      });
      this.instructions = this.computations.reduce((sum, one) => sum + one.size, 0);
      this._shared = Object.fromEntries(SHARED.map((key) => [key, document[key]]));
      this._documents = document.modules || [];
      this._titles = document.titles || [];
      this._modules = null;
      this._lines = null;
      this._names = null;
      this._callers = null;
      this._byLine = null;
      this._ownScopes = new Map();
    }

    /** Models of the other modules of the page; each is decoded when it is first asked for. */
    get modules() {
      if (this._modules === null) {
        this._modules = lazyModels(this._documents, this, this._shared);
      }
      return this._modules;
    }

    /** Returns the title of one of the other modules, without decoding it. */
    moduleTitle(number) {
      return this._titles[number] ?? this._documents[number].title;
    }

    get lines() {
      if (this._lines === null) {
        this._lines = this.text.split("\n");
      }
      return this._lines;
    }

    _string(number) {
      return number < 0 ? "" : this.strings[number];
    }

    name(c, i) { return this.strings[this.computations[c].names[i]]; }
    opcode(c, i) { return this.ops.opcode[this.computations[c].op[i]]; }
    role(c, i) { return this.ops.role[this.computations[c].op[i]]; }
    titleText(c, i) { return this._string(this.computations[c].title[i]); }
    shapeText(c, i) { return this.shapes.text[this.computations[c].shape[i]]; }
    shapePlain(c, i) { return this.shapes.plain[this.computations[c].shape[i]]; }
    bytes(c, i) { return this.shapes.bytes[this.computations[c].shape[i]]; }
    isScalar(c, i) { return this.shapes.scalar[this.computations[c].shape[i]] === 1; }
    isTuple(c, i) { return this.shapePlain(c, i).startsWith("("); }
    valueText(c, i) { return this._string(this.computations[c].value[i]); }
    attributesText(c, i) { return this._string(this.computations[c].attributes[i]); }
    scopeText(c, i) { return this._string(this.computations[c].scope[i]); }
    sourceText(c, i) { return this._string(this.computations[c].source[i]); }
    shardingText(c, i) { return this._string(this.computations[c].sharding[i]); }
    line(c, i) { return this.computations[c].lines[i]; }

    /** Whether no other parameter of the computation has the same op_name: then it is a name. */
    isOwnScope(c, i) {
      const computation = this.computations[c];
      if (!this._ownScopes.has(c)) {
        const counts = new Map();
        for (let other = 0; other < computation.size; other++) {
          if (this.ops.role[computation.op[other]] === "parameter") {
            const scope = computation.scope[other];
            counts.set(scope, (counts.get(scope) || 0) + 1);
          }
        }
        this._ownScopes.set(c, counts);
      }
      return this._ownScopes.get(c).get(computation.scope[i]) === 1;
    }

    /** Returns the key of the palette for an instruction; of a fusion that of its weightiest. */
    category(c, i) { return this.categories[this.ops.category[this.computations[c].op[i]]]; }

    /** Returns the frames of the source, innermost first. */
    framesOf(c, i) {
      const number = this.computations[c].frames[i];
      return number < 0 ? [] : this.stacks[number].map((text) => this.strings[text]);
    }

    operandsOf(c, i) {
      const { operands, ends } = this.computations[c];
      return operands.subarray(ends[i], ends[i + 1]);
    }

    usersOf(c, i) {
      const { users, userEnds } = this.computations[c];
      return users.subarray(userEnds[i], userEnds[i + 1]);
    }

    controlBefore(c, i) { return pairedWith(this.computations[c].control, 0, i); }
    controlAfter(c, i) { return pairedWith(this.computations[c].control, 1, i); }
    aliasesOf(c, i) { return pairedWith(this.computations[c].alias, 0, i); }

    /** Returns what an instruction calls: {computation, role, inside}, in the order of the data. */
    callsOf(c, i) {
      const { callIndex, calls } = this.computations[c];
      const positions = callIndex.get(i);
      return positions === undefined ? [] : positions.map((at) => ({
        computation: calls[at + 1],
        role: this.strings[calls[at + 2]],
        inside: this.computations[calls[at + 1]].kind !== APPLIED,
      }));
    }

    /** Returns the instructions that call a computation: {computation, instruction, call}. */
    callersOf(c) {
      if (this._callers === null) {
        this._callers = callersIn(this.computations);
      }
      return this._callers[c];
    }

    /** Returns where an instruction of exactly this name stands: {computation, instruction}. */
    find(name) {
      if (this._names === null) {
        this._names = namesIn(this);
      }
      return this._names.get(name) || [];
    }

    /** Returns the instruction in a line of the text as {computation, instruction}, or null. */
    instructionAtLine(line) {
      if (this._byLine === null) {
        this._byLine = new Map();
        for (const computation of this.computations) {
          for (let i = 0; i < computation.size; i++) {
            this._byLine.set(computation.lines[i],
              { computation: computation.number, instruction: i });
          }
        }
      }
      return this._byLine.get(line) || null;
    }

    overlay(name) {
      return this.overlays.find((overlay) => overlay.name === name) || null;
    }
  }

  /** Returns a table of objects as an object of columns. */
  function columnsOf(rows, names) {
    return Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]));
  }

  /** Returns the document whose JSON is put together of texts with these numbers, given as Δ. */
  function joined(numbers, pieces) {
    return JSON.parse(Array.from(summed(numbers), (number) => pieces[number]).join(""));
  }

  /* Pages over many modules hold each as a text or in pieces, to be read when it is looked at. */
  function read(document, pieces) {
    return Array.isArray(document) ? joined(document, pieces)
      : typeof document === "string" ? JSON.parse(document) : document;
  }

  /** Returns a list whose entries are decoded when they are first read. */
  function lazyModels(documents, outer, shared) {
    const models = [], decoded = new Map();
    documents.forEach((document, number) => {
      Object.defineProperty(models, number, {
        enumerable: true,
        get() {
          if (!decoded.has(number)) {
            decoded.set(number, document === null ? outer
              : Model.decode(read(document, shared.pieces), shared));
          }
          return decoded.get(number);
        },
      });
    });
    return models;
  }

  function pairedWith(pairs, side, i) {
    const found = [];
    for (let at = 0; at < pairs.length; at += 2) {
      if (pairs[at + side] === i) {
        found.push(pairs[at + 1 - side]);
      }
    }
    return found;
  }

  function callersIn(computations) {
    const callers = computations.map(() => []);
    for (const { number, callIndex, calls } of computations) {
      for (const [instruction, positions] of callIndex) {
        positions.forEach((at, call) => {
          callers[calls[at + 1]].push({ computation: number, instruction, call });
        });
      }
    }
    return callers;
  }

  function namesIn(model) {
    const places = new Map();
    for (const computation of model.computations) {
      for (let i = 0; i < computation.size; i++) {
        const name = model.strings[computation.names[i]];
        const place = { computation: computation.number, instruction: i };
        const known = places.get(name);
        if (known === undefined) {
          places.set(name, [place]);
        } else {
          known.push(place);
        }
      }
    }
    return places;
  }

  Object.assign(Hlo, { Model, summed });
})(globalThis);
