"use strict";
/* Stages that repeat in a row, folded into one box of the graph, and unfolded again. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { counted, paths } = Hlo;

  /**
   * Returns what of a graph can be folded: [graph path, first, last, times], where the stages
   * `first` to `last` are `times` repetitions of those just above them.
   */
  function repeatsIn(graph) {
    const { stages } = graph;
    const kinds = stages.map(({ kind, folded }, n) => (folded ? -1 - n : kind));
    return Hlo.stages.foldRepeats(kinds).filter(({ count }) => count > 1)
      .map(({ first, period, count }) => [graph.path, stages[first + period].number,
        stages[first + period * count - 1].last, count - 1]);
  }

  /** The entry of `folds` that a folded stage of a graph is drawn for. */
  function foldOf(folds, graph, stage) {
    return folds.find(([path, first]) => path === graph.path && first === stage.number);
  }

  /** Returns the two lines of a fold's box: {title, note}. */
  function foldTexts(folds, graph, stage) {
    const fold = foldOf(folds, graph, stage);
    const boxes = graph.stageNumbers.reduce((sum, number) =>
      sum + (stage.number <= number && number <= stage.last ? 1 : 0), 0);
    return { title: fold === undefined ? Hlo.labels.fold(stage) : `the same ×${fold[3]}`,
      note: `${Hlo.labels.fold(stage)}, ${counted(boxes, "box", "boxes")}` };
  }

  /** Text of the folds of a graph for an address, and back. */
  function foldsText(folds, path) {
    return folds.filter(([one]) => one === path)
      .map(([, ...numbers]) => numbers.join("-")).join(".");
  }

  function foldsFromText(text, path) {
    return text.split(".").map((part) => part.split("-").map(Number))
      .filter((numbers) => numbers.length === 3 && numbers.every(Number.isInteger))
      .map((numbers) => [path, ...numbers]);
  }

  /** Folds and unfolds what a viewer shows; keeps a button. */
  class Folds {
    constructor(viewer, button, notice) {
      Object.assign(this, { viewer, button, notice });
      button.addEventListener("click", () => this.switch());
      viewer.signals.on("picture", () => this._show());
    }

    /** Folds all repeats in sight or beyond; unfolds where some are folded. */
    async switch() {
      const { viewer } = this, { picture, folded } = viewer;
      if (viewer.isAway) {
        return;
      }
      const found = folded.length > 0 ? []
        : [...picture.graphs.values()].flatMap((graph) => repeatsIn(graph));
      if (viewer.isPart) {
        this.notice("Repeats are folded only where the whole graph is shown.");
      } else if (found.length === 0 && folded.length === 0) {
        this.notice("Nothing here repeats in a row.");
      } else {
        viewer.remember();
        viewer.folded = found;
        await viewer.layout({ anchor: viewer.selected || viewer.middle() });
      }
    }

    _show() {
      const { viewer, button } = this, isFolded = viewer.folded.length > 0;
      button.hidden = !isFolded && (viewer.isPart || repeatsIn(viewer.picture.root).length === 0);
      button.textContent = isFolded ? "Unfold" : "Fold repeats";
      button.setAttribute("aria-pressed", String(isFolded));
    }
  }

  /** Unfolds the box at a place of a picture; returns whether it is a fold. */
  async function unfold(viewer, { graph, stage }) {
    const drawn = graph.stages[stage];
    if (viewer.isAway || !drawn.folded) {
      return false;
    }
    viewer.remember();
    viewer.folded = viewer.folded.filter((one) => one !== foldOf(viewer.folded, graph, drawn));
    const first = graph.stageNumbers.indexOf(drawn.number);
    await viewer.layout({ anchor: first < 0 ? "" : paths.join(graph.path, first) });
    return true;
  }

  Object.assign(Hlo, { Folds, foldOf, foldTexts, foldsText, foldsFromText, unfold });
})(globalThis);
