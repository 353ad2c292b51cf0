"use strict";
/* Puts the pass explorer into pages that have passes: keys, address, what tests may read. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  function passKeys(timeline) {
    const go = (keys, text, run) => ({ keys, group: "Passes", text,
      run: (key) => timeline.run !== null && run(key) });
    return [
      go(["j", "]"], "next pass", () => timeline.step(1)),
      go(["k", "["], "pass before", () => timeline.step(-1)),
      go(["r"], "before or after the pass", () => timeline.turn()),
      go(["g"], "to the next change", () => timeline.nextMark()),
      go(["J"], "next fusion decision", () => timeline.stepFrame(1)),
      go(["K"], "fusion decision before", () => timeline.stepFrame(-1)),
      go(["G"], "what the pass removed, dashed", () => timeline.switchGhosts()),
      go(["D"], "diff of the texts", () => timeline.showDiff()),
      go(["i"], "to the filter of the list", () => timeline.list.focus()),
    ];
  }

  /** Gives a page its pass explorer, `page.timeline`; nothing of it is seen before its `use`. */
  function addTimeline(page) {
    const timeline = page.timeline = new Hlo.Timeline(page);
    Hlo.addSearchHelp("a name that is gone", "which pass took it, and the way there");
    Hlo.addKeys(page, passKeys(timeline));
    Hlo.searchElsewhere(page, timeline);
    page.panel.actions.history = (name) => (timeline.run === null ? []
      : timeline.run.historyOf(name).map((one) => ({ ...one, name: timeline.run.name(one.pass) })));
    page.panel.actions.pass = (p, kind) =>
      timeline.show(p, kind === "removed" ? "before" : "after");
    page.panel.actions.decision = (n) => timeline.showFrame(n);
    const { extra } = page.address;
    page.address.extra = () => ({ ...extra(), ...timeline.address() });
    page.restore.others.push(async ({ instruction, values }) => {
      if (timeline.run !== null && !(await timeline.restore(values, instruction))) {
        await timeline.show(timeline.run.length);
      }
    });
    Object.defineProperty(root.hlotool, "passes", { enumerable: true, get: () => ({
      run: timeline.run, model: (n) => Hlo.modelNumbered(page.viewer, n),
      at: timeline.state.at, side: timeline.state.side, frame: timeline.state.frame,
      shown: timeline.state.shown, busy: timeline.isBusy, ghosts: timeline.ghosts.boxes,
      note: noteOf(page.viewer),
      /** How the box of an instruction of this name is marked. */
      markOf: (name) => timeline.viewer.markOf === null ? ""
        : timeline.viewer.markOf(Hlo.pathOfName(timeline.viewer.model, name)) }) });
    return timeline;
  }

  function noteOf({ edgeNote }) {
    return edgeNote === null ? null : { text: edgeNote.text, mark: edgeNote.mark,
      lines: edgeNote.edge ? edgeNote.edge.strokes.length : 0 };
  }

  const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

  /** Shows what the address says, or what the page is to begin with. */
  async function begin(page, timeline, { instruction, values }) {
    const { viewer } = page;
    // The list takes room from the picture: sizes are known after a frame.
    await nextFrame();
    await nextFrame();
    if (values.at === undefined && viewer.selected === "") {
      viewer.start();
    }
    const isRestored = await timeline.restore(values, instruction);
    if (!isRestored && viewer.outer.begin === "decisions" && timeline.run.decisions.length > 0) {
      await timeline.showFrame(0);
    }
    page.restore.sayMissing({ instruction, values });
  }

  Hlo.parts = Hlo.parts || [];
  Hlo.parts.push((page) => {
    const { outer } = page.viewer;
    if (outer.passes.length === 0) {
      return;
    }
    const timeline = addTimeline(page);
    timeline.use(new Hlo.PassRun(outer.strings, outer.passes, outer.decisions));
    begin(page, timeline, Hlo.parseHash(root.location.hash));
  });
})(globalThis);
