"use strict";
/* What the data says about one run of passes, and which instructions of a state it marks. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* Marks of instructions, as columns of bytes; 0 stands for none. */
  const KINDS = ["", "added", "removed", "changed", "operand", "user"];

  /** The passes of one run, by number; -1 stands before the first, `length` behind the last. */
  class PassRun {
    /** `strings` are those of the document that `passes` and `decisions` are from. */
    constructor(strings, passes, decisions) {
      Object.assign(this, { strings, passes, decisions });
      this.most = passes.reduce((most, { counts }) => Math.max(most, sum(counts)), 1);
    }

    get length() { return this.passes.length; }

    text(number) { return number < 0 ? "" : this.strings[number]; }

    isPass(p) { return p >= 0 && p < this.length; }

    /** Name of a pass; of the ends of the run what the state there is. */
    name(p) {
      if (this.isPass(p)) {
        return this.text(this.passes[p].name);
      }
      return p < 0 ? "before the passes" : "after all passes";
    }

    pipeline(p) { return this.text(this.passes[p].pipeline); }

    /** [removed, added, changed] instructions. */
    counts(p) { return this.passes[p].counts; }

    total(p) { return sum(this.passes[p].counts); }

    /** Whether a pass neither wrote the module otherwise nor decided anything. */
    isQuiet(p) {
      const { before, after, decisions: [first, end] } = this.passes[p];
      return before === after && first === end;
    }

    get changes() { return this.passes.filter(({ before, after }) => before !== after).length; }

    /** The number of the module to show on a side of a pass; -1: the outer one. */
    module(p, side) {
      if (this.isPass(p)) {
        return this.passes[p][side];
      }
      return p < 0 && this.length > 0 ? this.passes[0].before : -1;
    }

    /** Numbers of the passes that a list shows; `query` is a part of a name, in any case. */
    shown({ isAll, query, keep }) {
      const wanted = query.trim().toLowerCase();
      return this.passes.map((_, p) => p).filter((p) => (isAll || !this.isQuiet(p) || p === keep)
        && `${this.name(p)} ${this.pipeline(p)}`.toLowerCase().includes(wanted));
    }

    /** What a pass changed, as words: "−3 +2 ≠1", "" for nothing. */
    countText(p) {
      return this.counts(p).map((count, n) => (count > 0 ? `${"−+≠"[n]}${count}` : ""))
        .filter(Boolean).join(" ");
    }

    timeText(p) {
      const { milliseconds } = this.passes[p];
      return milliseconds === null ? "" : `${milliseconds < 10 ? milliseconds.toFixed(1)
        : Math.round(milliseconds)} ms`;
    }

    /** Lists of a pass: {removed, added: [name], changed: [{before, after, words}]}. */
    lists(p) {
      const { removed, added, altered } = this.passes[p], changed = [];
      for (let at = 0; at < altered.length; at += 3) {
        const [before, after, words] = altered.slice(at, at + 3).map((n) => this.strings[n]);
        changed.push({ before, after, words });
      }
      const names = (numbers) => numbers.map((number) => this.strings[number]);
      return { removed: names(removed), added: names(added), changed };
    }

    /** What is marked on a side of a pass: a Map of name -> kind. */
    marks(p, side) {
      const found = new Map(), { removed, added, changed } = this.lists(p);
      for (const one of changed) {
        found.set(one[side], "changed");
      }
      for (const name of side === "before" ? removed : added) {
        found.set(name, side === "before" ? "removed" : "added");
      }
      return found;
    }

    /** A decision as texts: {producer, consumer, isFused, reason, saved, pass, module}. */
    decision(n) {
      const { producer, consumer, kind, reason, saved, pass, module } = this.decisions[n];
      return { producer: this.text(producer), consumer: this.text(consumer), pass, module, saved,
        isFused: kind === "fused", reason: this.text(reason) };
    }
  }

  function sum(numbers) {
    return numbers.reduce((total, one) => total + one, 0);
  }

  /**
   * Marks of a model's instructions: `of(c, i)` gives the kind, "" for none. Who calls marked ones
   * counts as changed, unless `isUpward` is false.
   */
  class MarkColumns {
    constructor(model, kinds, isUpward = true) {
      this._columns = new Map();
      this.model = model;
      const work = [];
      for (const [name, kind] of kinds) {
        for (const { computation, instruction } of model.find(name)) {
          this._set(computation, instruction, kind);
          work.push(computation);
        }
      }
      if (isUpward) {
        this._spread(work);
      }
    }

    _set(c, i, kind) {
      let column = this._columns.get(c);
      if (column === undefined) {
        column = new Uint8Array(this.model.computations[c].size);
        this._columns.set(c, column);
      }
      column[i] = KINDS.indexOf(kind);
    }

    _spread(work) {
      const seen = new Set();
      while (work.length > 0) {
        const c = work.pop();
        if (seen.has(c)) {
          continue;
        }
        seen.add(c);
        for (const { computation, instruction } of this.model.callersOf(c)) {
          if (this.of(computation, instruction) === "") {
            this._set(computation, instruction, "changed");
          }
          work.push(computation);
        }
      }
    }

    of(c, i) {
      const column = this._columns.get(c);
      return column === undefined ? "" : KINDS[column[i]];
    }

    /** The same for lines of the text: a Map of line -> kind. */
    lines() {
      const found = new Map();
      for (const [c, column] of this._columns) {
        const { lines } = this.model.computations[c];
        column.forEach((kind, i) => kind > 0 && found.set(lines[i], KINDS[kind]));
      }
      return found;
    }
  }

  Object.assign(Hlo, { PassRun, MarkColumns });
})(globalThis);
