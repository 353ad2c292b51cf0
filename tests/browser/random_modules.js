"use strict";
/* Documents of pages over modules that nobody would write: the layout must hold for all of them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const OPS = [
    ["add", "elementwise", ""], ["dot", "contraction", ""], ["reduce", "reduction", ""],
    ["bitcast", "movement", ""], ["broadcast", "movement", "broadcast"],
    ["constant", "source", "constant"], ["parameter", "source", "parameter"],
    ["tuple", "movement", "tuple"], ["get-tuple-element", "movement", "element"],
    ["fusion", "elementwise", "fusion"], ["while", "control", "while"],
    ["conditional", "control", "conditional"], ["call", "control", "call"],
    ["custom-call", "external", ""],
  ];
  const CATEGORIES = ["contraction", "elementwise", "reduction", "movement", "indexing", "control",
    "collective", "external", "source"];
  const SHAPES = [["f32[8,16]{1,0}", 512, 0], ["f32[]", 4, 1], ["pred[]", 1, 1],
    ["(f32[8,16]{1,0}, (f32[], f32[8,16]{1,0}))", 1028, 0],
    ["bf16[1024,4096,32]{2,1,0}", 268435456, 0]];
  const TUPLE = 3;
  const opNumber = (opcode) => OPS.findIndex(([text]) => text === opcode);

  /** Returns a function of pseudo-random numbers below `limit` (mulberry32). */
  function randomNumbers(seed) {
    let state = seed >>> 0;
    return (limit) => {
      state = (state + 0x6d2b79f5) >>> 0;
      let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
      mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
      return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296) * limit);
    };
  }

  class DocumentBuilder {
    constructor(seed) {
      this.random = randomNumbers(seed);
      this.strings = [];
      this._numbers = new Map();
      this.computations = [];
    }

    string(text) {
      if (!this._numbers.has(text)) {
        this._numbers.set(text, this.strings.length);
        this.strings.push(text);
      }
      return this._numbers.get(text);
    }

    /** Adds a computation of at most `most` instructions that may call those before it. */
    computation(kind, most) {
      const number = this.computations.length, size = 1 + this.random(most);
      const one = { kind, name: this.string(`computation.${number}`), line: 0, root: 0, size,
        op: [], names: [], title: [], shape: [], lines: [], index: [], value: [], attributes: [],
        scope: [], source: [], frames: [], sharding: [], operands: [], ends: [], calls: [],
        control: [], alias: [] };
      this.computations.push(one);
      this._habit = { width: 1 + this.random(40), parameters: this.random(6),
        lookback: 1 + this.random(60) };
      for (let i = 0; i < size; i++) {
        this._instruction(one, number, i);
      }
      one.root = this.random(4) === 0 ? this.random(size) : size - 1;
      delete one.size;
      return number;
    }

    _instruction(one, number, i) {
      const op = i < this._habit.parameters ? opNumber("parameter") : this.random(OPS.length);
      const opcode = OPS[op][0];
      const operands = this._operands(opcode, i);
      const isTuple = opcode === "tuple" || (opcode !== "reduce" && this.random(8) === 0);
      one.op.push(op);
      one.names.push(this.string(`${opcode}.${number}.${i}`));
      const fused = `dot · add${"·x".repeat(i % 9)} …`;
      one.title.push(this.string(opcode === "fusion" ? fused : opcode));
      one.shape.push(isTuple ? TUPLE : this.random(SHAPES.length));
      one.lines.push(this.random(100));
      one.index.push(opcode === "parameter" || opcode === "get-tuple-element" ? i % 4 : -1);
      one.value.push(opcode === "constant" ? this.string(`${this.random(1000) / 7}`) : -1);
      one.scope.push(this.random(3) === 0 ? this.string(`model/layer_${i % 5}/${opcode}`) : -1);
      for (const column of ["attributes", "source", "frames", "sharding"]) {
        one[column].push(-1);
      }
      one.operands.push(...operands.map((operand) => i - operand));
      one.ends.push(operands.length);
      this._callees(one, number, opcode, i);
      if (i > 0 && this.random(20) === 0) {
        one.control.push(i, this.random(i));
      }
    }

    _operands(opcode, i) {
      if (i === 0 || opcode === "constant" || opcode === "parameter") {
        return [];
      }
      const { width, lookback } = this._habit;
      const single = opcode === "get-tuple-element" || opcode === "broadcast"
        || opcode === "bitcast" || opcode === "while";
      const count = single ? 1 : this.random(this.random(9) === 0 ? width : 4);
      return Array.from({ length: count }, () => {
        // A dump may be wrong: an operand that comes later must not break the page.
        if (this.random(400) === 0) {
          return i + this.random(3);
        }
        const near = this.random(5) > 0 ? Math.min(i, lookback) : i;
        return i - 1 - this.random(near);
      }).filter((operand) => operand < i || operand === i);
    }

    _callees(one, number, opcode, i) {
      const roles = { fusion: ["calls"], while: ["condition", "body"], call: ["to_apply"],
        conditional: ["branch 0", "branch 1"], reduce: ["to_apply"] }[opcode] || [];
      for (const role of number > 0 ? roles : []) {
        one.calls.push(i, this.random(number), this.string(role));
      }
    }

    document() {
      return { version: 2, tool: "hlotool", title: "random", text: "", strings: this.strings,
        entry: this.computations.length - 1, categories: CATEGORIES,
        ops: OPS.map(([opcode, category, role]) =>
          ({ opcode, category: CATEGORIES.indexOf(category), role })),
        shapes: SHAPES.map(([text, bytes, scalar]) => ({ text, bytes, scalar,
          plain: text.replace(/\{[^}]*\}/g, ""), tuple: [] })),
        computations: this.computations.map((one) => ({ ...one,
          names: differences(one.names), lines: differences(one.lines) })),
        stacks: [], overlays: [], modules: [], passes: [], decisions: [], difference: null };
    }
  }

  function differences(numbers) {
    return numbers.map((number, n) => number - (n > 0 ? numbers[n - 1] : 0));
  }

  /** Returns the document of a module that the seed alone decides. */
  function randomDocument(seed) {
    const builder = new DocumentBuilder(seed);
    const kinds = ["fusion", "body", "condition", "branch", "call", "applied"];
    const inner = builder.random(5);
    for (let n = 0; n < inner; n++) {
      builder.computation(kinds[builder.random(kinds.length)], 24);
    }
    builder.computation("entry", seed % 3 === 0 ? 600 : 80);
    return builder.document();
  }

  Hlo.randomDocument = randomDocument;
})(globalThis);
