"use strict";
/* What the data says about one run of passes, and which instructions of a state it marks. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* Marks of instructions, as columns of bytes; 0 stands for none. */
  const KINDS = ["", "added", "removed", "changed", "operand", "user"];

  /** The passes of one run, by number; -1 stands before the first, `length` behind the last. */
  class PassRun {
    /** `strings` are those of the document that `passes` and `decisions` are from, as given there:
        the `edits` of `this.passes` are quadruples as those of `lineEdits`. */
    constructor(strings, passes, decisions) {
      Object.assign(this, { strings, decisions, passes: passes.map(readPass) });
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

    /** Numbers of the passes that a list shows; `query` is a part of a name, in any case;
        `touches(p)`: whether it is also one of an instruction that the pass touched. */
    shown({ isAll, query, keep, touches = () => false }) {
      const wanted = query.trim().toLowerCase();
      return this.passes.map((_, p) => p).filter((p) => (isAll || !this.isQuiet(p) || p === keep)
        && (`${this.name(p)} ${this.pipeline(p)}`.toLowerCase().includes(wanted) || touches(p)));
    }

    /** What a pass changed, as words: "−3 +2 ≠1", "" for nothing. */
    countText(p) {
      return this.signedCounts(p).map(({ text }) => text).join(" ");
    }

    /** What a pass removed, added and changed as [{kind, text}], such as "−3"; 0 left out. */
    signedCounts(p) {
      return Object.entries(Hlo.signs).map(([kind, sign], n) => ({ kind, sign,
        count: this.counts(p)[n] })).filter(({ count }) => count > 0)
        .map(({ kind, sign, count }) => ({ kind, text: `${sign}${count}` }));
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

    /** What passes did to instructions of a name, in order: [{pass, kind, words}]. */
    historyOf(name) {
      const wanted = this.strings.indexOf(name), found = [];
      this.passes.forEach(({ removed, added, altered }, pass) => {
        if (removed.includes(wanted)) {
          found.push({ pass, kind: "removed", words: "" });
        }
        if (added.includes(wanted)) {
          found.push({ pass, kind: "added", words: "" });
        }
        for (let at = 0; at < altered.length; at += 3) {
          if (altered[at] === wanted || altered[at + 1] === wanted) {
            found.push({ pass, kind: "changed", words: this.strings[altered[at + 2]] });
          }
        }
      });
      return wanted < 0 ? [] : found;
    }

    /** The lists of a pass, with the names of what it has fused: that is gone, but not lost. */
    gone(p) {
      const taken = this.decisions.slice(...this.passes[p].decisions);
      return { ...this.lists(p), fused: new Set(taken.filter(({ kind }) => kind === "fused")
        .flatMap(({ producer, consumer }) => [this.text(producer), this.text(consumer)])) };
    }

    /** A decision as texts: {producer, consumer, isFused, reason, saved, pass, module}. */
    decision(n) {
      const { producer, consumer, kind, reason, saved, pass, module } = this.decisions[n];
      return { producer: this.text(producer), consumer: this.text(consumer), pass, module, saved,
        isFused: kind === "fused", reason: this.text(reason) };
    }
  }

  /** Returns a pass of the data with its numbers as they are, not as differences. */
  function readPass(pass) {
    const { removed, added, altered, edits } = pass, read = [];
    let before = 0, after = 0;
    for (let at = 0; at < edits.length; at += 3) {
      const [equal, taken, given] = edits.slice(at, at + 3);
      read.push(before + equal, before + equal + taken, after + equal, after + equal + given);
      [, before, , after] = read.slice(-4);
    }
    return { ...pass, edits: read, removed: Array.from(Hlo.summed(removed)),
      added: Array.from(Hlo.summed(added)), altered: summedTriples(altered) };
  }

  /** Returns triples flat of which each number is given as what it is more than the one before. */
  function summedTriples(differences) {
    const found = [...differences];
    for (let at = 3; at < found.length; at++) {
      found[at] += found[at - 3];
    }
    return found;
  }

  /** What is said of the edge between both instructions of a decision, for `viewer.edgeNote`. */
  function decisionNote(model, { producer, consumer, isFused, reason, saved }) {
    const why = [reason, saved > 0 ? `saves ${Hlo.readable(saved, "B")}` : ""].filter(Boolean);
    const verdict = isFused ? "✓ fused" : "✗ not fused";
    return { from: Hlo.pathOfName(model, producer), to: Hlo.pathOfName(model, consumer),
      mark: isFused ? "added" : "removed",
      text: why.length === 0 ? verdict : `${verdict}: ${why.join(", ")}` };
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

    /** Yields the boxes of a picture of the model that are marked, as of `picture.find`. */
    * boxesIn(picture) {
      for (const { path, computation, stages } of picture.graphs.values()) {
        const column = this._columns.get(computation);
        for (const { geometry, instructions, folded } of column === undefined ? [] : stages) {
          for (let node = 0; node < geometry.size && !folded; node++) {
            if (column[instructions[node]] > 0) {
              yield picture.find(Hlo.paths.join(path, instructions[node]));
            }
          }
        }
      }
    }

    /**
     * Returns paths of all that is marked: first what has a box in a picture, from the outermost
     * graph inwards; then what stands in other boxes; then what is in closed ones.
     */
    seenFirst(picture) {
      const shown = [...picture.graphs.values()], boxes = [], chips = [];
      for (const { path, computation } of shown) {
        for (const i of this._marked(computation)) {
          const at = Hlo.paths.join(path, i), box = picture.find(at);
          (box !== null && box.exact ? boxes : chips).push(at);
        }
      }
      const seen = new Set(shown.map(({ computation }) => computation));
      const hidden = [...this._columns.keys()].filter((c) => !seen.has(c)).sort((a, b) => a - b)
        .flatMap((c) => this._marked(c).map((i) => this.model.pathOf(c, i)));
      return [...boxes, ...chips, ...hidden];
    }

    _marked(c) {
      const column = this._columns.get(c) || [];
      return Array.from(column.keys()).filter((i) => column[i] > 0);
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

  Object.assign(Hlo, { PassRun, decisionNote, MarkColumns });
})(globalThis);
