"use strict";
/* Titles and shapes beside the names in the list of passes, as the boxes have them. They are
   filled in a while after the list, when nothing else is to be done: the state before a pass is
   read for them where it was not yet, which takes long. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const PAUSE = 60, SLICE = 8;

  /** A place for what the box of a name says; `side` of the pass that is shown has it. */
  function titlePlace(name, side) {
    return element("span", { class: "dim title", "data-of": name, "data-from": side });
  }

  /** Fills the places inside of some elements for a timeline. */
  class PassTitles {
    constructor(timeline, ...around) {
      Object.assign(this, { timeline, around, _timer: 0 });
    }

    /** Fills what is empty, as soon as the page has time. */
    ask() {
      clearTimeout(this._timer);
      this._timer = setTimeout(() => this._fill(), PAUSE);
    }

    _fill() {
      const { timeline } = this, { run, state, viewer } = timeline;
      if (timeline.isBusy || viewer.isLayingOut) {
        this.ask();
        return;
      }
      const start = performance.now();
      for (const place of this._places()) {
        if (performance.now() - start > SLICE) {
          this.ask();
          return;
        }
        const p = run.isPass(state.at) ? state.at : run.length;
        const sides = place.dataset.from === "" ? ["before", "after"] : [place.dataset.from];
        const text = sides.map((side) => Hlo.described(
          Hlo.modelNumbered(viewer, run.module(p, side)), place.dataset.of)).find(Boolean);
        place.textContent = text === undefined ? "" : ` ${text}`;
        place.dataset.done = "1";
      }
    }

    _places() {
      return this.around.flatMap((one) => [...one.querySelectorAll(".title:not([data-done])")]);
    }
  }

  Object.assign(Hlo, { PassTitles, titlePlace });
})(globalThis);
