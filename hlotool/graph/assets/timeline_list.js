"use strict";
/* The list of passes at the side: counts, time, and of the one that is shown all it did. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const MOST = 40, LONGEST = 300, MOST_TOUCHED = 4;

  class PassList {
    /** `timeline` has run, state and what rows do: show, jumpTo, showFrame, filter. */
    constructor(timeline) {
      this.timeline = timeline;
      this._asked = 0;
      this.field = element("input", { type: "search", class: "find", placeholder: "Find a pass",
        title: "By its name, its pipeline, or an instruction that it touched",
        "aria-label": "Find a pass by name, pipeline or an instruction that it touched",
        spellcheck: "false", autocomplete: "off",
        oninput: () => timeline.filter({ query: this.field.value }) });
      this.all = element("input", { type: "checkbox",
        onchange: () => timeline.filter({ isAll: this.all.checked }) });
      this._unchanged = element("span", {}, "");
      this._list = element("ol", { class: "passes" });
      this.place = element("aside", { id: "passes", "aria-label": "Passes", hidden: true },
        element("div", { class: "head" }, this.field,
          element("label", {}, this.all, this._unchanged)), this._list);
      this.field.addEventListener("keydown", (event) => this._key(event));
    }

    /** The keyboard goes to the field; the list is opened where it is not. */
    focus() {
      this.timeline.showList(true);
      this.field.focus();
      this.field.select();
    }

    /* Enter goes to the first that was found, the arrows to the others. */
    _key(event) {
      const { shown } = this.timeline.state, { key } = event;
      if (key === "Enter" && shown.length > 0) {
        this.timeline.show(shown[0], "after");
      } else if (key === "ArrowDown" || key === "ArrowUp") {
        event.preventDefault();
        this.timeline.step(key === "ArrowDown" ? 1 : -1);
      } else if (key === "Escape") {
        event.stopPropagation();
        this.field.value = "";
        this.timeline.filter({ query: "" });
        this.field.blur();
      }
    }

    /** Fills the list for the state of the timeline; what is there already stays. */
    fill() {
      const { run, state } = this.timeline, focused = this._focused();
      this._fillHead();
      if (this._run !== run) {
        Object.assign(this, { _run: run, _rows: new Map(), _placed: "", _detailsOf: null });
      }
      this._placeRows();
      this._placeDetails();
      this._markCurrent(".pass", state.at);
      this._markCurrent(".frame", state.frame);
      this._scrollSoon();
      const again = focused === "" || this._list.contains(document.activeElement) ? null
        : this._list.querySelector(focused);
      if (again !== null) {
        again.focus({ preventScroll: true });
      }
    }

    _fillHead() {
      const { run, state } = this.timeline;
      const quiet = run.passes.filter((_, p) => run.isQuiet(p)).length;
      this._unchanged.textContent = ` Unchanged (${quiet})`;
      this.all.disabled = quiet === 0;
      this.all.checked = state.isAll;
      this.field.value = state.query === this.field.value.trim() ? this.field.value : state.query;
    }

    /* A row is made once: a long run has hundreds, and every step would make them anew. */
    _rowOf(p) {
      if (!this._rows.has(p)) {
        this._rows.set(p, this._run.isPass(p) ? this._row(p) : this._end(p));
      }
      return this._rows.get(p);
    }

    _placeRows() {
      const { run, state } = this.timeline, key = `${state.shown} ${state.query}`;
      if (key === this._placed) {
        return;
      }
      this._placed = key;
      const rows = [this._rowOf(-1)];
      let pipeline = "";
      for (const p of state.shown) {
        if (run.pipeline(p) !== pipeline) {
          pipeline = run.pipeline(p);
          rows.push(element("li", { class: "pipeline" }, pipeline));
        }
        rows.push(this._rowOf(p), ...this._touchedBy(p));
      }
      this._list.replaceChildren(...rows, state.shown.length === 0
        ? element("li", { class: "pipeline" }, state.query === "" ? "No pass changed the module."
          : "No pass has this in its name, or touched what has.") : "", this._rowOf(run.length));
    }

    /* Instructions that are meant by what is looked for, below the pass that touched them. */
    _touchedBy(p) {
      const { timeline } = this, names = timeline.names.touched(p, timeline.state.query);
      const links = names.slice(0, MOST_TOUCHED).map(({ name, kind }) => element("li", {},
        element("b", { class: kind }, Hlo.signs[kind]), element("button", { type: "button",
          class: "link", onclick: () => Hlo.goToName(timeline,
            { pass: p, side: kind === "removed" ? "before" : "after", name }) }, name)));
      const rest = names.length - links.length;
      return links.length === 0 ? [] : [element("li", { class: "touched" }, element("ul", {},
        ...links, rest > 0 ? element("li", { class: "dim" }, `and ${rest} more`) : null))];
    }

    /* What the pass did stands below its row. */
    _placeDetails() {
      const { run, state } = this.timeline, { at } = state;
      const isListed = run.isPass(at) && state.shown.includes(at);
      if (this._detailsOf !== at || !isListed) {
        this._details?.remove();
        this._details = isListed ? this._makeDetails(at) : null;
        this._detailsOf = isListed ? at : null;
      }
      if (isListed) {
        this._showFrames(at);
        if (this._details.previousElementSibling !== this._rowOf(at)) {
          this._rowOf(at).after(this._details);
        }
      }
    }

    _markCurrent(kind, number) {
      const wanted = this._list.querySelector(`${kind}[data-${kind.slice(1)}="${number}"]`);
      for (const old of this._list.querySelectorAll(`${kind}[aria-current]`)) {
        if (old !== wanted) {
          old.removeAttribute("aria-current");
        }
      }
      wanted?.setAttribute("aria-current", "true");
    }

    /* What finds the button again that has the focus, since the list is made anew. */
    _focused() {
      const { activeElement: held } = document;
      if (held === null || !this._list.contains(held)) {
        return "";
      }
      const { pass, frame, name } = held.dataset;
      const data = Object.entries({ pass, frame, name }).find(([, value]) => value !== undefined);
      return data === undefined ? "" : `[data-${data[0]}="${CSS.escape(data[1])}"]`;
    }

    _end(p) {
      const { run } = this.timeline;
      return element("li", {}, element("button", { type: "button", class: "pass",
        "data-pass": p, onclick: () => this.timeline.show(p, "after") },
      element("span", { class: "dim" }, run.name(p))));
    }

    _row(p) {
      const { run } = this.timeline, { before, after } = run.passes[p];
      const note = before === after ? "unchanged" : "text only";
      return element("li", {}, element("button", { type: "button",
        class: `pass${before === after ? " idle" : ""}`, "data-pass": p,
        onclick: () => this.timeline.show(p, "after") },
      element("span", { class: "name" }, run.name(p)),
      ...(run.total(p) > 0 ? Hlo.passCounts(run, p) : [element("span", { class: "dim" }, note)]),
      element("span", { class: "time" }, run.timeText(p))));
    }

    _makeDetails(p) {
      const { timeline } = this, { run } = timeline;
      const groups = Hlo.changeGroups(run.lists(p), { size: MOST, longest: LONGEST,
        titleOf: Hlo.titlePlace, choose: (side, name) => timeline.jumpTo(side, name),
        added: () => timeline.titles.ask() });
      return element("li", { class: "details" }, ...this._framesPart(p), ...groups,
        run.passes[p].alone ? null : element("p", { class: "dim" },
          "Other passes ran before it that the dump has left out."));
    }

    /* Decisions of a fusion pass; of very many a part, with ways to what is around it. */
    _framesPart(p) {
      const { run } = this.timeline, [start, end] = run.passes[p].decisions;
      this._frames = { first: -1, last: -1, list: element("ol", { class: "frames" }) };
      if (start === end) {
        return [];
      }
      const fused = run.decisions.slice(start, end).filter(({ kind }) => kind === "fused").length;
      return [element("details", { open: true }, element("summary", {},
        `Decisions (${end - start}): ${fused} fused, ${end - start - fused} not`),
      this._frames.list)];
    }

    /* Lists the decisions around the one that is shown, if it is not listed yet. */
    _showFrames(p) {
      const { run, state } = this.timeline, [start, end] = run.passes[p].decisions;
      const middle = state.frame < 0 ? start : state.frame, { first, last } = this._frames;
      if (start < end && (first < 0 || middle < first || middle >= last)) {
        const from = Math.max(start, Math.min(middle - MOST / 2, end - MOST));
        this._listFrames(p, from, Math.min(end, from + MOST));
      }
    }

    _listFrames(p, first, last) {
      const { run, state } = this.timeline, [start, end] = run.passes[p].decisions, rows = [];
      for (let n = first; n < last; n++) {
        rows.push(this._frame(n));
      }
      const more = (text, count, show) => (count === 0 ? "" : element("li", {}, element("button",
        { type: "button", class: "link more", onclick: show },
        `the ${text} ${Math.min(MOST, count)} of ${count} more`)));
      Object.assign(this._frames, { first, last });
      this._frames.list.replaceChildren(
        more("last", first - start, () => this._listFrames(p, Math.max(start, first - MOST), last)),
        ...rows,
        more("next", end - last, () => this._listFrames(p, first, Math.min(end, last + MOST))));
      this._markCurrent(".frame", state.frame);
      this.timeline.titles.ask();
    }

    _frame(n) {
      const { producer, consumer, isFused, reason } = this.timeline.run.decision(n);
      return element("li", {}, element("button", { type: "button", class: "frame", "data-frame": n,
        onclick: () => this.timeline.showFrame(n) },
      element("b", { class: isFused ? "added" : "removed" }, isFused ? "✓" : "✗"),
      element("span", {}, element("span", { class: "producer" }, producer),
        Hlo.titlePlace(producer, ""), " → ", element("span", { class: "consumer" }, consumer),
        Hlo.titlePlace(consumer, ""),
        element("span", { class: "dim" }, reason === "" ? "" : ` — ${reason}`))));
    }

    /* Once a frame: where things are is only known when all has been laid out. */
    _scrollSoon() {
      cancelAnimationFrame(this._asked);
      this._asked = requestAnimationFrame(() => this._scroll());
    }

    _scroll() {
      const current = this._list.querySelector(".frame[aria-current]")
        || this._list.querySelector(".pass[aria-current]");
      if (current !== null && !this.place.hidden) {
        const { top, bottom } = current.getBoundingClientRect();
        const around = this._list.getBoundingClientRect();
        if (top < around.top || bottom > around.bottom - 40) {
          this._list.scrollTop += top - around.top - around.height / 3;
        }
      }
    }
  }

  Hlo.PassList = PassList;
})(globalThis);
