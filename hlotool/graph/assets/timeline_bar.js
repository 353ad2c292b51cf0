"use strict";
/* The line over the strip of passes: steps, what is shown, before or after, what else is open. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;

  class PassBar {
    constructor(timeline) {
      this.timeline = timeline;
      const button = (text, title, onclick, attributes = {}) => element("button",
        { type: "button", title, onclick, ...attributes }, text);
      this._name = element("strong", { "aria-live": "polite" });
      this._facts = element("span", { class: "dim facts" });
      this._sides = Object.fromEntries(["before", "after"].map((side) => [side,
        button(side === "before" ? "Before" : "After", "Before or after the pass (r)",
          () => timeline.turn(side), { "data-side": side })]));
      this._side = element("span", { class: "pair", role: "group", "aria-label": "Side" },
        this._sides.before, this._sides.after);
      this._change = button("Next change", "To the next marked instruction (g)",
        () => timeline.nextMark());
      this._decisions = button("Decisions", "Step through the fusion decisions (J, K)",
        () => timeline.stepFrame(1), { class: "decisions" });
      this._ghosts = button("Ghosts", "What the pass removed, dashed (G)",
        () => timeline.switchGhosts());
      this._list = button("Passes", "List of the passes", () => timeline.showList(),
        { "aria-controls": "passes" });
      this._diff = button("Diff", "Diff of the texts (D)", () => timeline.showDiff());
      this.place = element("div", { class: "bar" },
        button("◀", "Pass before (k)", () => timeline.step(-1), { "aria-label": "Pass before" }),
        button("▶", "Next pass (j)", () => timeline.step(1), { "aria-label": "Next pass" }),
        this._name, this._facts, element("span", { class: "controls" }, this._change,
          this._decisions, this._side, this._ghosts, this._list, this._diff));
    }

    fill() {
      const { run, state, isListOpen, isDiffOpen } = this.timeline, { at, side, frame } = state;
      const isPass = run.isPass(at);
      this._name.textContent = isPass ? run.name(at) : capitalized(run.name(at));
      this._facts.replaceChildren(...(isPass ? this._about(at) : [this._summary()]));
      this._facts.title = this._facts.textContent;
      this._side.hidden = !isPass || run.passes[at].before === run.passes[at].after;
      for (const [name, button] of Object.entries(this._sides)) {
        button.setAttribute("aria-pressed", String(name === side));
      }
      const [first, end] = isPass ? run.passes[at].decisions : [0, 0];
      this._decisions.hidden = first === end;
      this._decisions.setAttribute("aria-pressed", String(frame >= 0));
      this._decisions.textContent = frame < 0 ? `Decisions (${end - first})`
        : `Decision ${frame - first + 1} of ${end - first}`;
      this._change.hidden = !isPass || run.total(at) === 0 || frame >= 0;
      const [removed] = isPass ? run.counts(at) : [0];
      this._ghosts.hidden = removed === 0 || side !== "after" || frame >= 0;
      this._ghosts.setAttribute("aria-pressed", String(this.timeline.ghosts.isShown));
      this._list.setAttribute("aria-pressed", String(isListOpen));
      this._diff.setAttribute("aria-pressed", String(isDiffOpen));
    }

    _about(p) {
      const { run } = this.timeline, { instructions, before, after } = run.passes[p];
      const what = before === after ? "changed nothing"
        : `${run.total(p) === 0 ? "only names or order" : ""}`;
      const rest = [what, run.timeText(p), Hlo.counted(instructions, "instruction"),
        `pass ${p + 1} of ${run.length}`, run.pipeline(p)].filter(Boolean).join(" · ");
      return [...passCounts(run, p).flatMap((one) => [one, " "]), run.total(p) > 0 ? "· " : "",
        rest];
    }

    _summary() {
      const { run } = this.timeline;
      const times = run.passes.map(({ milliseconds }) => milliseconds || 0);
      const total = times.reduce((sum, one) => sum + one, 0);
      const time = total > 0 ? ` · ${total.toFixed(total < 10 ? 1 : 0)} ms` : "";
      return `${run.changes} of ${run.length} passes changed the module${time} · ` +
        "j and k step through them";
    }
  }

  /** Returns what a pass removed, added and changed as coloured numbers, 0 left out. */
  function passCounts(run, p) {
    return run.signedCounts(p).map(({ kind, text }) => element("span", { class: kind }, text));
  }

  function capitalized(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
  }

  Object.assign(Hlo, { PassBar, passCounts });
})(globalThis);
