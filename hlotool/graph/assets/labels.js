"use strict";
/* Texts in boxes, and how much room they take: what measures and what draws use the same. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** Sizes in px at zoom 1. */
  const sizes = {
    title: 12, small: 11, text: 10, count: 11,
    padding: 9,
    titleBase: 16, textBase: 29, rowTop: 35, row: 15, rowHeight: 13, rowBase: 9.7, rowPadding: 6,
    rowsEnd: 4,
    box: 36, pill: 18, pillBase: 13,
    head: 22, margin: 12,
    smallest: 56,
  };
  const LONGEST = { title: 40, shape: 34, name: 24, input: 20, value: 14, inner: 18 };

  /** Signs of what was done to an instruction or a line, in the order of the counts of a pass. */
  const signs = { removed: "−", added: "+", changed: "≠" };

  /** `named`: boxes have their names too. */
  const settings = { named: false };

  const row = { CHIP: 0, STATE: 1, PORTAL: 2, RESULT: 3, INVARIANT: 4, MORE: 5 };
  const flag = { OPEN: 1, CLOSED: 2, PILL: 4, ROOT: 8, FOLD: 16, INPUT: 32 };
  const line = { DATA: 0, CONTROL: 1 };
  const operand = { EDGE: 1, CHIP: 2, PORTAL: 3, LABEL: 4 };

  /** Returns a number with its noun: "1 box", "2,646 boxes". */
  function counted(number, noun, nouns = `${noun}s`) {
    return `${number.toLocaleString("en")} ${number === 1 ? noun : nouns}`;
  }

  /** Returns a text that has at most `length` characters. */
  function cut(text, length) {
    return text.length > length ? `${text.slice(0, length - 1)}…` : text;
  }

  /** Returns a name of at most `length` characters, cut in the middle: names differ at the end. */
  function cutName(text, length) {
    const tail = Math.ceil(0.6 * (length - 1));
    return text.length > length
      ? `${text.slice(0, length - 1 - tail)}…${text.slice(-tail)}` : text;
  }

  /** Returns a name of an argument as the source has it: a[0]['blocks'][1] is blocks.1. */
  function sourceArgument(scope) {
    const parts = scope.replace(/\\'/g, "").split(/[[\]'"/.]+/).filter((part) => part !== "");
    if (parts.length < 2) {
      return scope;
    }
    const last = parts.slice(-3);
    return last.filter((part, n) => n > 0 || last.length < 3 || Number.isNaN(Number(part)))
      .join(".");
  }

  /**
   * Returns the argument that a name was made from, or "". Modules that come right out of JAX have
   * no op_names yet, but names of parameters in which all that is no letter became "_":
   * a_0___blocks___1_.1 is a[0]['blocks'][1].
   */
  function namedArgument(name) {
    const text = name.replace(/\.\d+$/, ""), start = text.search(/_(?:\d+_|_[A-Za-z])/);
    const part = /_(\d+)_|__([A-Za-z]\w*?)__(?=_|$)/y;
    let found = start > 0 ? text.slice(0, start) : "", at = start;
    while (found !== "" && at < text.length) {
      part.lastIndex = at;
      const [whole, index, key] = part.exec(text) || [""];
      found = whole === "" ? "" : `${found}[${index || key}]`;
      at += whole.length;
    }
    return found;
  }

  /** Returns what a parameter is called: the argument of the source, or else its name. */
  function inputName(model, c, i) {
    const title = model.titleText(c, i);
    if (title !== "" && title !== model.opcode(c, i)) {
      return title;
    }
    const scope = model.scopeText(c, i), name = model.name(c, i);
    return scope !== "" && scope !== "XLA_Args" && model.isOwnScope(c, i)
      ? sourceArgument(scope) : sourceArgument(namedArgument(name)) || name;
  }

  /** Returns the position of the operand of the caller that a parameter stands for, or -1. */
  function argumentPosition(model, caller, c, i) {
    const operands = model.operandsOf(caller.computation, caller.instruction);
    const isBranch = model.role(caller.computation, caller.instruction) === "conditional";
    const position = isBranch ? caller.call + 1 : model.computations[c].index[i];
    return position >= 0 && position < operands.length ? position : -1;
  }

  /** Returns the operand of the caller that a parameter stands for, or -1. */
  function argumentOf(model, caller, c, i) {
    const position = argumentPosition(model, caller, c, i);
    return position < 0 ? -1
      : model.operandsOf(caller.computation, caller.instruction)[position];
  }

  /** Returns what an instruction is called where another one takes it: constants by their value,
      parts by what they are a part of. */
  function sourceName(model, c, i) {
    const { base, label } = elementOf(model, c, i), role = model.role(c, base);
    if (role === "parameter") {
      const name = inputName(model, c, base);
      return label === "" ? name : partName(model, c, label, name);
    }
    const name = role === "constant" && model.valueText(c, base) !== ""
      ? model.valueText(c, base) : model.name(c, base);
    return label === "" ? name : `${name} ${label}`;
  }

  /** Returns "#3 of state": what a body hands to its next run has no better name. */
  function partName(model, c, label, name) {
    return `${label} of ${model.computations[c].kind === "entry" ? name : "state"}`;
  }

  /** Returns what a parameter is called in a graph: as its caller calls what it hands in. */
  function argumentName(model, c, i, graph) {
    const caller = graph ? graph.caller : null;
    const argument = caller ? argumentOf(model, caller, c, i) : -1;
    return argument < 0
      ? inputName(model, c, i) : sourceName(model, caller.computation, argument);
  }

  function title(model, c, i, graph) {
    const role = model.role(c, i), value = role === "constant" ? model.valueText(c, i) : "";
    const head = role === "parameter" ? cutName(argumentName(model, c, i, graph), LONGEST.name)
      : `${model.titleText(c, i)} ${cut(value, LONGEST.value)}`.trim();
    return cut(settings.named ? withName(head, model.name(c, i)) : head, LONGEST.title);
  }

  /* The name first; many begin with the opcode, which need not be said twice then. */
  function withName(head, name) {
    return name.startsWith(head) ? name : `${cutName(name, LONGEST.name)} ${head}`;
  }

  function shape(model, c, i) {
    return cut(model.shapePlain(c, i), LONGEST.shape);
  }

  /** Returns the number of instructions in a closed cluster, as "+12". */
  function count(model, c, i) {
    let inside = 0;
    for (const call of model.callsOf(c, i)) {
      inside += call.inside ? model.computations[call.computation].size : 0;
    }
    return inside > 0 ? `+${inside}` : "";
  }

  /** Returns the title of an open cluster; of a loop with how often it turns, if that is known. */
  function cluster(model, c, i) {
    const head = model.role(c, i) === "while" ? model.titleText(c, i) : model.opcode(c, i);
    return `${head} ${cutName(model.name(c, i), LONGEST.title)}`;
  }

  function fold(stage) {
    const stages = stage.last - stage.number + 1;
    return counted(stages, "stage");
  }

  /** Returns "#1.0" for an element of an element, and the instruction that they are parts of. */
  function elementOf(model, c, i) {
    const { index } = model.computations[c];
    const parts = [];
    let base = i;
    while (model.role(c, base) === "element" && model.operandsOf(c, base).length === 1
      && model.operandsOf(c, base)[0] < base) {
      parts.unshift(index[base]);
      base = model.operandsOf(c, base)[0];
    }
    return { base, label: parts.length > 0 ? `#${parts.join(".")}` : "" };
  }

  /** Returns what the text of a chip is about: broadcasts of a constant are the constant. */
  function chipBase(model, c, i) {
    let at = i;
    for (;;) {
      const element = elementOf(model, c, at), role = model.role(c, element.base);
      const operands = model.operandsOf(c, element.base);
      if (role === "parameter" || role === "constant" || operands.length === 0
        || operands[0] >= element.base) {
        return { ...element, role };
      }
      at = operands[0];
    }
  }

  /** Returns the text of a chip: a constant, an input, or a part of one. */
  function chip(model, graph, i, more) {
    const c = graph.computation, { base, label, role } = chipBase(model, c, i);
    if (role === "constant") {
      return cut(model.valueText(c, base) || "constant", LONGEST.value + more);
    }
    if (role !== "parameter") {
      return cutName(model.name(c, base), LONGEST.name + more);
    }
    const name = cutName(argumentName(model, c, base, graph), LONGEST.input + more);
    const part = label === "" ? name : partName(model, c, label, name);
    return `${part} ${cut(model.shapePlain(c, i), LONGEST.inner + more)}`;
  }

  /**
   * Returns the text of a row of a box; see README.md for what the arguments are. Its names may
   * have `more` characters than those that boxes are made wide enough for.
   */
  function rowText(model, graph, kind, source, port, user, more = 0) {
    const c = graph.computation;
    if (kind === row.MORE) {
      return `+${source} more`;
    }
    if (kind === row.INVARIANT) {
      return `${source} unchanged`;
    }
    if (kind === row.PORTAL || kind === row.RESULT) {
      const name = cutName(sourceName(model, c, source), LONGEST.name + more);
      return kind === row.PORTAL ? `▴ ${name}` : `#${port} ← ${name}`;
    }
    const text = chip(model, graph, source, more);
    return model.role(c, user) === "tuple" ? `#${port} ← ${text}` : text;
  }

  /** Widths of texts, from widths of characters as shares of the size of the font. */
  class Measure {
    constructor(widths) {
      this.widths = widths;
      this._known = { regular: new Map(), bold: new Map() };
    }

    /** Returns the width of a text in px. */
    width(text, size, weight = "regular") {
      const known = this._known[weight];
      let share = known.get(text);
      if (share === undefined) {
        share = this._share(text, this.widths[weight]);
        known.set(text, share);
      }
      return share * size;
    }

    _share(text, table) {
      let share = 0;
      for (let n = 0; n < text.length; n++) {
        const code = text.charCodeAt(n);
        if (code >= 32 && code < 127) {
          share += table[code - 32];
        } else {
          share += code < 0x1100 ? this.widths.other : this.widths.wide;
        }
      }
      return share;
    }
  }

  Hlo.sizes = sizes;
  Hlo.signs = signs;
  Hlo.counted = counted;
  Hlo.row = row;
  Hlo.flag = flag;
  Hlo.line = line;
  Hlo.operand = operand;
  Hlo.Measure = Measure;
  Hlo.labels = { title, shape, count, cluster, fold, row: rowText, inputName, sourceName,
    argumentPosition, argumentOf, elementOf, cut, cutName, settings };
})(globalThis);
