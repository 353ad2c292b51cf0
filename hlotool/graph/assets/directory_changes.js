"use strict";
/* Below the list of a directory: what the pass that is shown removed, changed and added. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const MOST = 100, LONGEST = 120;

  class PassChanges {
    /** `goTo(side, name)` is called for the instruction that is chosen. */
    constructor(place, goTo) {
      this._goTo = goTo;
      this._place = element("div", { id: "changes", tabindex: "-1",
        "aria-label": "What the pass did", hidden: true });
      place.append(this._place);
    }

    /** Lists what a pass of a run did; of none, or of one that did nothing, there is no list. */
    show(run, p) {
      const lists = run === null || !run.isPass(p) ? null : run.lists(p);
      this._place.hidden = lists === null || run.total(p) === 0;
      this._place.scrollTop = 0;
      this._place.replaceChildren(...(this._place.hidden ? []
        : Hlo.changeGroups(lists, { size: MOST, longest: LONGEST, choose: this._goTo })));
    }
  }

  Hlo.PassChanges = PassChanges;
})(globalThis);
