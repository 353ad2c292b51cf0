"use strict";
/* Names of instructions over a run of passes: which pass made them, took them away or touched
   them, so that what is not in the shown state can be found all the same. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  const MOST = 1000, LEAST_LETTERS = 2, MOST_STEPS = 8;

  /** Comings and goings of names in a run, found when they are first asked for. */
  class PassNames {
    constructor(run) {
      this.run = run;
      this._known = null;
    }

    /* String number -> [{pass, isThere, other}]: from then on it is there, or no more; `other` is
       the string number of what the same instruction is called on the other side. */
    get _events() {
      if (this._known === null) {
        this._known = new Map();
        this.run.passes.forEach(({ removed, added, altered }, pass) => {
          removed.forEach((name) => this._note(name, { pass, isThere: false, other: -1 }));
          added.forEach((name) => this._note(name, { pass, isThere: true, other: -1 }));
          for (let at = 0; at < altered.length; at += 3) {
            const [before, after] = altered.slice(at, at + 2);
            if (before !== after) {
              this._note(before, { pass, isThere: false, other: after });
              this._note(after, { pass, isThere: true, other: before });
            }
          }
        });
      }
      return this._known;
    }

    _note(name, event) {
      const known = this._known.get(name);
      if (known === undefined) {
        this._known.set(name, [event]);
      } else {
        known.push(event);
      }
    }

    /**
     * What became of a name that is not in the state before pass `at` (`length`: behind all):
     * {name, pass, side, note}, where `side` of `pass` has it; null if no pass took or made it.
     */
    fate(name, at) {
      const number = this.run.strings.indexOf(name);
      return this._fateOf(number, this._events.get(number) || [], at);
    }

    _fateOf(number, events, at) {
      const gone = events.filter(({ pass, isThere }) => !isThere && pass < at).pop();
      const event = gone || events.find(({ pass, isThere }) => isThere && pass >= at);
      if (event === undefined) {
        return null;
      }
      const { pass, isThere, other } = event, { run } = this, old = run.text(other);
      const verb = isThere ? "added by" : "removed by";
      const what = other < 0 ? verb : isThere ? `is ${old} before` : `called ${old} since`;
      return { name: run.strings[number], pass, side: isThere ? "after" : "before", other: old,
        note: `${what} ${run.name(pass)}, pass ${pass + 1}` };
    }

    /** The fates of all names that a search means and a model does not have; the nearest first. */
    find({ terms }, model, at) {
      if (terms.length === 0 || terms.some(({ field }) => field !== "" && field !== "name")) {
        return [];
      }
      const found = [];
      for (const [number, events] of this._events) {
        const name = this.run.strings[number];
        if (terms.every(({ test }) => test(name)) && model.find(name).length === 0) {
          const fate = this._fateOf(number, events, at);
          if (fate !== null) {
            found.push(fate);
          }
        }
      }
      return found.sort((one, other) => Math.abs(one.pass - at) - Math.abs(other.pass - at))
        .slice(0, MOST);
    }

    /** Names with a text in them that a pass touched: [{name, kind}], each once. */
    touched(p, text) {
      const wanted = text.trim().toLowerCase(), { removed, added, altered } = this.run.passes[p];
      if (wanted.length < LEAST_LETTERS) {
        return [];
      }
      const fits = this._fitting(wanted), found = new Map();
      const take = (number, kind) => fits(number) && found.set(number, kind);
      altered.forEach((number, at) => at % 3 < 2 && take(number, "changed"));
      removed.forEach((number) => take(number, "removed"));
      added.forEach((number) => take(number, "added"));
      return Array.from(found, ([number, kind]) => ({ name: this.run.strings[number], kind }));
    }

    /* Whether a string has a text in it, each looked at once for each text. */
    _fitting(wanted) {
      if (this._wanted !== wanted) {
        Object.assign(this, { _wanted: wanted, _fits: new Map() });
      }
      return (number) => {
        if (!this._fits.has(number)) {
          this._fits.set(number, this.run.strings[number].toLowerCase().includes(wanted));
        }
        return this._fits.get(number);
      };
    }
  }

  /**
   * What takes the place of an instruction that a pass removed: {user, name}, where `user` is there
   * on both sides and takes `name` now instead of it, or of what was made of it and is gone too;
   * `user` is "" where it was the result. Null where that cannot be known.
   */
  function replacement(old, now, c, i, renamed) {
    const same = now.computations.find(({ name }) => name === old.computations[c].name);
    if (old.computations[c].root === i && same !== undefined) {
      return { user: "", name: now.name(same.number, same.root) };
    }
    const seen = new Set([i]);
    for (let edge = [i], step = 0; step < MOST_STEPS && edge.length > 0; step++) {
      const next = [];
      for (const from of edge) {
        for (const user of old.usersOf(c, from)) {
          const found = takenNow(old, now, c, from, user, renamed);
          if (found !== null) {
            return found;
          }
          if (!seen.has(user) && seen.add(user)) {
            next.push(user);
          }
        }
      }
      edge = next;
    }
    return null;
  }

  /* What a user of an instruction takes now in its stead; null if the user is gone or as before. */
  function takenNow(old, now, c, from, user, renamed) {
    const name = renamed.get(old.name(c, user)) || old.name(c, user), [place] = now.find(name);
    if (place === undefined) {
      return null;
    }
    const before = old.operandsOf(c, user);
    const after = now.operandsOf(place.computation, place.instruction);
    const taken = before.length !== after.length ? ""
      : now.name(place.computation, after[before.indexOf(from)]);
    return taken === "" || taken === old.name(c, from) ? null : { user: name, name: taken };
  }

  /** The number of the state that a timeline shows: that before pass n, `length` at the end. */
  function stateNumber({ run, state: { at, side } }) {
    return run.isPass(at) && side === "after" ? at + 1 : Math.max(0, Math.min(run.length, at));
  }

  /** Shows a side of a pass, and an instruction there. */
  async function goToName(timeline, { pass, side, name }) {
    await timeline.show(pass, side);
    const path = Hlo.pathOfName(timeline.viewer.model, name);
    if (path !== "" && timeline.state.at === pass) {
      await timeline.viewer.jump(path, { inside: true });
    }
  }

  /** Lets the search of a page find what other states have. */
  function searchElsewhere({ search, viewer }, timeline) {
    search.elsewhere = (query) => (timeline.run === null ? []
      : timeline.names.find(query, viewer.model, stateNumber(timeline))
        .map((fate) => ({ ...fate, go: () => goToName(timeline, fate) })));
  }

  /** What is selected, to be asked after when another state is shown; null: nothing. */
  function selectionOf({ model, selected, shownModule }) {
    return selected === "" ? null : { model, number: shownModule,
      c: model.computationOf(paths.graph(selected)), i: paths.instruction(selected) };
  }

  /** Says what became of a selection that the state which is shown now does not have. */
  function sayVanished(timeline, { model: old, number, c, i }) {
    const { page, viewer, run } = timeline, name = old.name(c, i);
    const fate = viewer.selected === "" ? timeline.names.fate(name, stateNumber(timeline)) : null;
    if (fate === null) {
      return;
    }
    const by = `${name} was ${fate.note}`, { before, after } = run.passes[fate.pass];
    const isNear = fate.side === "before" && fate.other === "" && before === number
      && run.module(timeline.state.at, timeline.state.side) === after;
    const renamed = new Map(run.lists(fate.pass).changed.map((one) => [one.before, one.after]));
    const instead = isNear ? replacement(old, viewer.model, c, i, renamed) : null;
    const now = instead === null ? "" : instead.user === "" ? `; ${instead.name} is the result now`
      : `; ${instead.user} takes ${instead.name} now`;
    page.notice(`${by}${now}`,
      { label: "Show it", run: () => goToName(timeline, fate) });
  }

  Object.assign(Hlo, { PassNames, goToName, searchElsewhere, selectionOf, sayVanished });
})(globalThis);
