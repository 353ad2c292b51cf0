"use strict";
/* What differs between two modules: marks of their instructions, and who is whose partner. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;

  /** Texts of the line of an instruction without metadata, which do not count. */
  function lineOf(model, c, i) {
    return model.lines[model.line(c, i)].trim().replace(/, metadata=\{.*$/, "");
  }

  /** Whether an instruction is drawn inside its users' boxes: a constant, or its broadcast. */
  function isConstant(model, c, i) {
    const role = model.role(c, i);
    return role === "constant"
      || (role === "broadcast" && isConstant(model, c, model.operandsOf(c, i)[0]));
  }

  class Difference {
    /** `data`: the entry `difference`; `models`: that of the old module and of the new one. */
    constructor(data, models) {
      Object.assign(this, { data, models, titles: data.titles });
      this._marks = models.map((model) => model.computations.map(({ size }) =>
        new Array(size).fill("")));
      this._partner = models.map(() => new Map());
      data.pairs.forEach((pair) => {
        this._partner[0].set(pair.old, { computation: pair.new, partners: pair.partners });
        const back = new Array(models[1].computations[pair.new].size).fill(-1);
        pair.partners.forEach((other, i) => other >= 0 && (back[other] = i));
        this._partner[1].set(pair.new, { computation: pair.old, partners: back });
        this._mark(pair);
      });
      data.removed.forEach((c) => this._marks[0][c].fill("removed"));
      data.added.forEach((c) => this._marks[1][c].fill("added"));
      this.items = this._items();
      models.forEach((_, side) => {
        this._markHolders(side);
        this._markCallers(side);
      });
    }

    _mark({ old, new: other, removed, added, changed }) {
      removed.forEach((i) => { this._marks[0][old][i] = "removed"; });
      added.forEach((i) => { this._marks[1][other][i] = "added"; });
      for (const one of changed) {
        this._marks[0][old][one.old] = this._marks[1][other][one.new] = "changed";
      }
    }

    /* Constants are drawn inside their users' boxes, so these show the difference. */
    _markHolders(side) {
      const model = this.models[side];
      this._marks[side].forEach((marks, c) => marks.forEach((mark, i) => {
        if (mark !== "" && isConstant(model, c, i)) {
          for (const user of model.usersOf(c, i)) {
            marks[user] = marks[user] || "inside";
          }
        }
      }));
    }

    /* Who calls a computation with differences counts as changed, so closed boxes tell of them. */
    _markCallers(side) {
      const model = this.models[side], marks = this._marks[side];
      const work = marks.map((_, c) => c).filter((c) => marks[c].some(Boolean)), seen = new Set();
      while (work.length > 0) {
        const c = work.pop();
        for (const { computation, instruction } of seen.has(c) ? [] : model.callersOf(c)) {
          marks[computation][instruction] = marks[computation][instruction] || "inside";
          work.push(computation);
        }
        seen.add(c);
      }
    }

    /** "added", "removed", "changed", or "". */
    mark(side, c, i) {
      const mark = this._marks[side][c][i];
      return mark === "inside" ? "changed" : mark;
    }

    /** Whether an instruction and all that it calls is the same on both sides. */
    isSame(side, c, i) {
      return this._marks[side][c][i] === "";
    }

    /** {computation, instruction} on the other side, or null. */
    partner(side, c, i) {
      const found = this._partner[side].get(c);
      const other = found === undefined ? -1 : found.partners[i];
      return other < 0 ? null : { computation: found.computation, instruction: other };
    }

    /** The computation on the other side, or -1. */
    partnerOf(side, c) {
      const found = this._partner[side].get(c);
      return found === undefined ? -1 : found.computation;
    }

    /** Marks of lines of the text of a side. */
    lines(side) {
      const found = new Map(), model = this.models[side];
      this._marks[side].forEach((marks, c) => marks.forEach((mark, i) => {
        if (mark !== "" && mark !== "inside") {
          found.set(model.line(c, i), mark);
        }
      }));
      return found;
    }

    /* All differences by computation: {title, items: [{side, c, i, mark, words, other}]}. */
    _items() {
      const { pairs, removed, added } = this.data, found = [];
      for (const pair of pairs) {
        const items = [
          ...pair.removed.map((i) => ({ side: 0, c: pair.old, i, mark: "removed", words: [] })),
          ...pair.added.map((i) => ({ side: 1, c: pair.new, i, mark: "added", words: [] })),
          ...pair.changed.map((one) => ({ side: 1, c: pair.new, i: one.new, mark: "changed",
            words: one.words, other: { c: pair.old, i: one.old } })),
        ];
        if (items.length > 0) {
          found.push({ title: this._title(pair), items });
        }
      }
      const whole = (side, mark) => (c) => {
        const { name, size } = this.models[side].computations[c];
        found.push({ title: name, mark, items: Array.from({ length: size }, (_, i) =>
          ({ side, c, i, mark, words: [] })) });
      };
      removed.forEach(whole(0, "removed"));
      added.forEach(whole(1, "added"));
      return found;
    }

    _title({ old, new: other }) {
      const names = [this.models[0].computations[old].name,
        this.models[1].computations[other].name];
      return names[0] === names[1] ? names[0] : `${names[0]}, now ${names[1]}`;
    }

    /** What there is to say of an instruction: {mark, words, lines: [old, new]}, "" for none. */
    about(side, c, i) {
      const mark = this.mark(side, c, i), partner = this.partner(side, c, i);
      const lines = ["", ""];
      lines[side] = lineOf(this.models[side], c, i);
      if (partner !== null) {
        lines[1 - side] = lineOf(this.models[1 - side], partner.computation, partner.instruction);
      }
      const now = side === 1 ? { computation: c, instruction: i } : partner;
      const pair = now === null ? undefined
        : this.data.pairs.find((one) => one.new === now.computation);
      const change = pair === undefined ? undefined
        : pair.changed.find((one) => one.new === now.instruction);
      return { mark, lines, words: change === undefined ? [] : change.words };
    }

    /** The same call path on the other side, as far as its steps have partners; else "". */
    otherPath(side, path) {
      const model = this.models[side], other = this.models[1 - side];
      const partner = this.partner(side, model.computationOf(paths.graph(path)),
        paths.instruction(path));
      if (partner === null) {
        return "";
      }
      const top = this._otherGraph(side, paths.graph(path));
      return top !== null && other.computationOf(top) === partner.computation
        ? paths.join(top, partner.instruction)
        : other.pathOf(partner.computation, partner.instruction);
    }

    _otherGraph(side, graphPath) {
      const caller = paths.parent(graphPath);
      if (caller === null) {
        const c = this.partnerOf(side, this.models[side].computationOf(graphPath));
        return c < 0 ? null : String(c);
      }
      const place = this.otherPath(side, caller);
      const call = paths.call(graphPath);
      if (place === "") {
        return null;
      }
      const other = this.models[1 - side], c = other.computationOf(paths.graph(place));
      const isThere = other.callsOf(c, paths.instruction(place)).length > call;
      return isThere ? paths.enter(paths.graph(place), paths.instruction(place), call) : null;
    }
  }

  Hlo.Difference = Difference;
})(globalThis);
