"use strict";
/* The list of passes at the side: counts, time, and of the one that is shown all it did. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const MOST = 60, MOST_FRAMES = 400;
  const TITLES = { removed: "Removed", changed: "Changed", added: "Added" };
  const SIGNS = { removed: "−", changed: "≠", added: "+" };

  class PassList {
    /** `timeline` has run, state and what rows do: show, jumpTo, showFrame, filter. */
    constructor(timeline) {
      this.timeline = timeline;
      this.field = element("input", { type: "search", class: "find", placeholder: "Find a pass",
        "aria-label": "Find a pass by name or pipeline", spellcheck: "false", autocomplete: "off",
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

    /** Fills the list for the state of the timeline. */
    fill() {
      const { run, state } = this.timeline;
      const quiet = run.passes.filter((_, p) => run.isQuiet(p)).length;
      this._unchanged.textContent = ` Unchanged (${quiet})`;
      this.all.disabled = quiet === 0;
      this.all.checked = state.isAll;
      this.field.value = state.query === this.field.value.trim() ? this.field.value : state.query;
      const rows = [this._end(-1)];
      let pipeline = "";
      for (const p of state.shown) {
        if (run.pipeline(p) !== pipeline) {
          pipeline = run.pipeline(p);
          rows.push(element("li", { class: "pipeline" }, pipeline));
        }
        rows.push(this._row(p));
        if (p === state.at) {
          rows.push(this._details(p));
        }
      }
      const focused = this._focused();
      this._list.replaceChildren(...rows, state.shown.length === 0
        ? element("li", { class: "pipeline" }, state.query === "" ? "No pass changed the module."
          : "No pass has this in its name.") : "", this._end(run.length));
      this._scroll();
      const again = focused === "" ? null : this._list.querySelector(focused);
      if (again !== null) {
        again.focus({ preventScroll: true });
      }
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
      const { run, state } = this.timeline;
      return element("li", {}, element("button", { type: "button", class: "pass",
        "data-pass": p, "aria-current": p === state.at ? "true" : null,
        onclick: () => this.timeline.show(p, "after") }, element("span", { class: "dim" },
        run.name(p))));
    }

    _row(p) {
      const { run, state } = this.timeline, { before, after } = run.passes[p];
      const note = before === after ? "unchanged" : "text only";
      return element("li", {}, element("button", { type: "button",
        class: `pass${before === after ? " idle" : ""}`, "data-pass": p,
        "aria-current": p === state.at ? "true" : null,
        onclick: () => this.timeline.show(p, "after") },
      element("span", { class: "name" }, run.name(p)),
      ...(run.total(p) > 0 ? Hlo.passCounts(run, p) : [element("span", { class: "dim" }, note)]),
      element("span", { class: "time" }, run.timeText(p))));
    }

    _details(p) {
      const { run } = this.timeline, lists = run.lists(p);
      const groups = ["removed", "changed", "added"].filter((kind) => lists[kind].length > 0)
        .map((kind) => this._group(kind, lists[kind]));
      return element("li", { class: "details" }, ...this._frames(p), ...groups,
        run.passes[p].alone ? null : element("p", { class: "dim" },
          "Other passes ran before it that the dump has left out."));
    }

    _group(kind, items) {
      const list = element("ul", { class: kind });
      this._fillGroup(list, kind, items, 0);
      return element("details", { open: true }, element("summary", {},
        `${TITLES[kind]} (${items.length})`), list);
    }

    _fillGroup(list, kind, items, first) {
      const last = Math.min(items.length, first + MOST);
      for (const one of items.slice(first, last)) {
        const side = kind === "removed" ? "before" : "after", name = one.after || one;
        const isRenamed = kind === "changed" && one.before !== one.after;
        list.append(element("li", {}, element("b", { class: kind }, SIGNS[kind]),
          element("button", { type: "button", class: "link", "data-name": name,
            onclick: () => this.timeline.jumpTo(side, name) }, name),
          element("span", { class: "dim" }, isRenamed ? ` (was ${one.before})` : "",
            ` ${one.words || ""}`)));
      }
      if (last < items.length) {
        const more = element("li", {}, element("button", { type: "button", class: "link more",
          onclick: () => {
            more.remove();
            this._fillGroup(list, kind, items, last);
          } }, `the next ${Math.min(MOST, items.length - last)}`));
        list.append(more);
      }
    }

    /** Decisions of a fusion pass; of very many those around the one that is shown. */
    _frames(p) {
      const { run, state } = this.timeline, [start, end] = run.passes[p].decisions;
      if (start === end) {
        return [];
      }
      const middle = state.frame < 0 ? start : state.frame;
      const first = Math.max(start, Math.min(middle - MOST_FRAMES / 2, end - MOST_FRAMES));
      const last = Math.min(end, first + MOST_FRAMES), rows = [];
      const note = (count) => (count === 0 ? null
        : element("li", { class: "dim" }, ` ${count} more`));
      for (let n = first; n < last; n++) {
        rows.push(this._frame(n));
      }
      const fused = run.decisions.slice(start, end).filter(({ kind }) => kind === "fused").length;
      return [element("details", { open: true }, element("summary", {},
        `Decisions (${end - start}): ${fused} fused, ${end - start - fused} not`),
      element("ol", { class: "frames" }, note(first - start), ...rows, note(end - last)))];
    }

    _frame(n) {
      const { run, state } = this.timeline;
      const { producer, consumer, isFused, reason } = run.decision(n);
      return element("li", {}, element("button", { type: "button", class: "frame", "data-frame": n,
        "aria-current": n === state.frame ? "true" : null,
        onclick: () => this.timeline.showFrame(n) },
      element("b", { class: isFused ? "added" : "removed" }, isFused ? "✓" : "✗"),
      element("span", {}, element("span", { class: "producer" }, producer), " → ",
        element("span", { class: "consumer" }, consumer),
        element("span", { class: "dim" }, reason === "" ? "" : ` — ${reason}`))));
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
