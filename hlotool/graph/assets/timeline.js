"use strict";
/* The pass explorer: which pass and side of it the page shows, and what is marked there. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell, paths } = Hlo;
  const NARROW = 1000, LEAST_DIFF = 60;

  class Timeline {
    /** Makes the places of the page; nothing is seen of it before `use`. */
    constructor(page) {
      const { viewer } = page;
      Object.assign(this, { page, viewer, run: null, isListOpen: false, isDiffOpen: true });
      this.state = { run: null, shown: [], at: 0, side: "after", frame: -1, isAll: false,
        query: "" };
      Object.assign(this, { _wanted: "", _turn: 0, _done: 0, _busy: false, _stays: false, _mark: -1,
        _columns: null, _moving: Promise.resolve() });
      this.strip = new Hlo.PassStrip(viewer, this.state,
        { chosen: (p) => this.show(p, "after"), step: (by) => this.step(by) });
      this.ghosts = new Hlo.Ghosts(viewer, () => this.run !== null && this.bar.fill());
      this.list = new Hlo.PassList(this);
      this.bar = new Hlo.PassBar(this);
      this.diff = new Hlo.PassDiff(viewer, (side, line) => this._toLine(side, line));
      this._split = element("div", { class: "split", role: "separator", tabindex: "0",
        "aria-orientation": "horizontal", "aria-label": "Height of the diff" });
      this._banner = element("div", { id: "decision", role: "status", hidden: true });
      // The strip comes last, so that ticks stay under the pointer when the diff opens.
      shell("timeline").append(this._split, this.diff.place, this._banner, this.bar.place,
        this.strip.place);
      shell("work").insertBefore(this.list.place, shell("stage"));
      this.titles = new Hlo.PassTitles(this, this.list.place, this._banner);
      this._listen();
    }

    _listen() {
      const { signals } = this.viewer;
      signals.on("selection", () => {
        if (!this._busy) {
          const { selected } = this.viewer;
          this._wanted = selected === "" ? "" : this.viewer.nameOf(selected);
        }
      });
      signals.on("module", () => !this._busy && this.run !== null && this._follow());
      signals.on("theme", () => this.run !== null && this.strip.draw());
      new ResizeObserver(() => {
        if (this.run !== null) {
          this.strip.draw();
        }
      }).observe(shell("timeline"));
      bindSplit(this._split, this.diff.place);
    }

    /** Whether another state is on its way. */
    get isBusy() { return this._busy || this._done !== this._turn; }

    /** Shows a run of passes, from its end on. */
    use(run) {
      this.run = this.state.run = run;
      this.names = new Hlo.PassNames(run);
      Object.assign(this.state, { at: run.length, side: "after", frame: -1, query: "" });
      shell("timeline").hidden = false;
      shell("modules").hidden = true;
      this.page.showOutline(false);
      this.showList(root.innerWidth >= NARROW);
      this.filter({});
    }

    /** Changes what the list and the strip leave out. */
    filter(wishes) {
      const { state } = this;
      Object.assign(state, wishes);
      state.shown = this.run.shown({ isAll: state.isAll, query: state.query, keep: state.at,
        touches: (p) => this.names.touched(p, state.query).length > 0 });
      this._fill();
    }

    /** Goes to the next pass of those shown, around the ends; far ways go to the end. */
    step(by) {
      const { places } = this.strip, { at } = this.state;
      const here = places.indexOf(at) >= 0 ? places.indexOf(at)
        : places.findIndex((p) => p > at) - (by > 0 ? 1 : 0);
      const next = Number.isFinite(by) ? (here + by + places.length) % places.length
        : (by > 0 ? places.length - 1 : 0);
      this.show(places[next], "after");
    }

    /** Shows a side of a pass, or an end of the run. */
    async show(p, side = "after") {
      const { state, run } = this;
      Object.assign(state, { at: Math.max(-1, Math.min(run.length, p)), side, frame: -1 });
      this._mark = -1;
      await this._apply();
    }

    /** The other side of the pass, or the one that is named. */
    async turn(side = this.state.side === "after" ? "before" : "after") {
      if (this.run.isPass(this.state.at)) {
        await this.show(this.state.at, side);
      }
    }

    /** Shows a side of the pass and goes to an instruction there. */
    async jumpTo(side, name) {
      await this.show(this.state.at, side);
      const path = Hlo.pathOfName(this.viewer.model, name);
      if (path !== "") {
        await this.viewer.jump(path, { inside: true });
      }
    }

    async _toLine(side, line) {
      const model = Hlo.modelNumbered(this.viewer, this.run.module(this.state.at, side));
      const place = model.instructionAtLine(line);
      if (place !== null) {
        await this.jumpTo(side, model.name(place.computation, place.instruction));
      }
    }

    /** Shows one decision: what came of it, and both instructions in the graph. */
    async showFrame(n) {
      const { run, state } = this, { pass, producer, consumer } = run.decision(n);
      const isThere = (side) => [producer, consumer].filter((name) =>
        Hlo.modelNumbered(this.viewer, run.module(pass, side)).find(name).length > 0).length;
      // Later decisions are about fusions that the pass itself has made.
      const side = isThere("after") > isThere("before") ? "after" : "before";
      Object.assign(state, { at: pass, side, frame: n });
      await this._apply();
    }

    /** Goes to the next decision, of this pass or another, around the ends. */
    stepFrame(by) {
      const { run, state } = this, count = run.decisions.length;
      if (count === 0) {
        this.page.notice("No pass of this run decided about fusions.");
        return;
      }
      let next = state.frame + by;
      if (state.frame < 0) {
        const [first, end] = run.isPass(state.at) ? run.passes[state.at].decisions : [0, 0];
        next = first === end ? (by > 0 ? 0 : count - 1) : (by > 0 ? first : end - 1);
      }
      this.showFrame((next + count) % count);
    }

    /** Opens or closes the list at the side. */
    showList(isOpen = !this.isListOpen) {
      this.isListOpen = isOpen;
      this.list.place.hidden = !isOpen;
      this._fill();
    }

    /** Shows what the pass removed, or does no more. */
    async switchGhosts() {
      await this.ghosts.switch();
      if (this.ghosts.isOn && !this.ghosts.isShown) {
        this.page.notice("No box is gone for good here: what was fused is inside of fusions.");
      }
    }

    showDiff(isOpen = !this.isDiffOpen) {
      this.isDiffOpen = isOpen;
      this._fill();
      this.viewer.signals.give("panels");
    }

    /** Goes to the next instruction that is marked, in the order of the text. */
    nextMark() {
      const { viewer, _columns: columns } = this;
      if (columns !== null && columns.model !== viewer.model) {
        return;
      }
      const marked = columns === null ? [] : columns.seenFirst(viewer.picture);
      if (marked.length === 0) {
        this.page.notice(this.state.side === "after"
          ? "Nothing is marked after the pass: r shows the side before it."
          : "Nothing is marked before the pass: r shows the side after it.");
        return;
      }
      this._mark = (this._mark + 1) % marked.length;
      viewer.jump(marked[this._mark], { inside: false });
    }

    /* Only the newest wish is done, after what was begun before. */
    async _apply() {
      const turn = ++this._turn;
      this.filter({});
      await this._moving;
      if (turn === this._turn) {
        this._moving = this._move(turn);
        await this._moving;
      }
    }

    async _move(turn) {
      const { run, state, viewer } = this, number = run.module(state.at, state.side);
      const before = run.module(state.at, "before");
      const old = viewer.shownModule === before ? viewer.picture : null;
      this.ghosts.clear();
      this._busy = true;
      try {
        this.page.showOverview(false);
        const selection = Hlo.selectionOf(viewer);
        if (viewer.module !== number && !(await Hlo.moveToModule(viewer, number, this._wanted))) {
          return;
        }
        if (selection !== null) {
          Hlo.sayVanished(this, selection);
        }
        await (state.frame < 0 ? this._showMarks(old) : this._showDecision(state.frame));
      } finally {
        this._busy = false;
        this._done = turn;
      }
    }

    /** Marks what the pass changed; `old` is the picture of the state before, if there is one. */
    async _showMarks(old) {
      const { run, state, viewer } = this, { at, side } = state;
      const hasMarks = run.isPass(at) && run.total(at) > 0;
      this._setMarks(hasMarks ? new Hlo.MarkColumns(viewer.model, run.marks(at, side)) : null);
      if (hasMarks && !this._stays && viewer.selected === "" && !this._isMarkSeen()) {
        await this._toFirstMark();
      }
      if (hasMarks && side === "after") {
        // Nothing waits for it: what one wishes next comes first.
        this.ghosts.show(run.gone(at), run.module(at, "before"), old);
      }
    }

    _setMarks(columns, note = null) {
      const { viewer } = this;
      this._columns = columns;
      viewer.edgeNote = note;
      viewer.markOf = columns === null ? null : (path) =>
        (columns.model === viewer.model ? columns.of(viewer.model.computationOf(paths.graph(path)),
          paths.instruction(path)) : "");
      viewer.lineMarks = columns === null ? null : columns.lines();
      viewer.signals.give("colours");
    }

    _isMarkSeen() {
      const { picture, camera } = this.viewer;
      for (const box of this._columns.boxesIn(picture)) {
        if (camera.sees(box)) {
          return true;
        }
      }
      return false;
    }

    /* What is nearest to where one looks. */
    async _toFirstMark() {
      const { picture, camera } = this.viewer, { y0, y1 } = camera.sight;
      let best = null, least = Infinity;
      for (const box of this._columns.boxesIn(picture)) {
        const far = Math.abs(box.y - (y0 + y1) / 2);
        if (far < least) {
          [best, least] = [box, far];
        }
      }
      if (best !== null) {
        camera.show(best);
      }
    }

    async _showDecision(n) {
      const { viewer, run } = this, decision = run.decision(n), { producer, consumer } = decision;
      const found = [producer, consumer].map((name) => Hlo.pathOfName(viewer.model, name));
      viewer.select("");
      for (const path of this._stays ? [] : found.filter((one) => one !== "")) {
        await viewer.reveal(path);
      }
      this._setMarks(new Hlo.MarkColumns(viewer.model, new Map([[producer, "operand"],
        [consumer, "user"]]), false), Hlo.decisionNote(viewer.model, decision));
      this._look(this._stays ? [] : found.filter((path) => path !== "")
        .map((path) => viewer.picture.find(path)).filter((box) => box !== null));
    }

    /* Both in sight, if that can be read; else the consumer. */
    _look(boxes) {
      const { camera } = this.viewer;
      if (boxes.length === 0) {
        return;
      }
      const x0 = Math.min(...boxes.map(({ x }) => x)), y0 = Math.min(...boxes.map(({ y }) => y));
      const box = { x: x0 - 40, y: y0 - 70,
        w: Math.max(...boxes.map(({ x, w }) => x + w)) - x0 + 80,
        h: Math.max(...boxes.map(({ y, h }) => y + h)) - y0 + 110 };
      if (camera.fitting(box.w, box.h) >= camera.legible) {
        camera.fit(box, camera.reading);
      } else {
        const last = boxes[boxes.length - 1];
        camera.centre(last.x + Math.min(last.w, 400) / 2, last.y + Math.min(last.h, 300) / 2,
          camera.reading);
      }
    }

    /* Another part of the page has shown another state: the pass is the one that made it. */
    _follow() {
      const { run, state, viewer } = this, { module } = viewer;
      const fits = (p, side) => run.module(p, side) === module;
      if (!fits(state.at, state.side)) {
        const sides = ["after", "before"];
        const side = sides.find((one) => run.passes.some((_, p) => fits(p, one)));
        state.at = module < 0 || side === undefined ? run.length
          : run.passes.findIndex((_, p) => fits(p, side));
        state.side = side || "after";
        state.frame = -1;
        this.ghosts.clear();
        this.filter({});
      }
      const hasMarks = run.isPass(state.at) && state.frame < 0;
      this._setMarks(hasMarks
        ? new Hlo.MarkColumns(viewer.model, run.marks(state.at, state.side)) : null);
    }

    _fill() {
      if (this.run === null) {
        return;
      }
      const { run, state } = this, isPass = run.isPass(state.at);
      this.bar.fill();
      this.list.fill();
      const hasDiff = isPass && this.isDiffOpen && state.frame < 0;
      this.diff.place.hidden = this._split.hidden = !hasDiff;
      this.strip.draw();
      if (hasDiff) {
        const { before, after, edits } = run.passes[state.at];
        this.diff.show(`${before} ${after}`, [before, after].map((number) =>
          Hlo.modelNumbered(this.viewer, number)), edits, "The pass left the text as it was.");
      }
      this._fillBanner();
      this.titles.ask();
    }

    _fillBanner() {
      const { run, state } = this;
      this._banner.hidden = state.frame < 0;
      if (state.frame < 0) {
        return;
      }
      const { producer, consumer, isFused, reason, saved } = run.decision(state.frame);
      const step = (text, title, by) => element("button", { type: "button", title,
        "aria-label": title, onclick: () => this.stepFrame(by) }, text);
      const why = [reason, saved > 0 ? `saves ${Hlo.readable(saved, "B")}` : ""].filter(Boolean);
      this._banner.replaceChildren(step("◀", "Decision before (K)", -1),
        step("▶", "Next decision (J)", 1),
        element("span", { class: "words" }, element("b", { class: isFused ? "added" : "removed" },
          isFused ? "Fused: " : "Not fused: "),
          element("span", { class: "producer" }, producer), Hlo.titlePlace(producer, ""),
          isFused ? " into " : " → ", element("span", { class: "consumer" }, consumer),
          Hlo.titlePlace(consumer, ""),
          element("span", { class: "dim" }, why.length === 0 ? "" : ` — ${why.join(", ")}`)));
    }

    /** Keys and values for the address. */
    address() {
      const { run, state } = this;
      if (run === null || state.at === run.length) {
        return {};
      }
      return { pass: state.at < 0 ? "start" : state.at,
        side: state.side === "before" ? "before" : "", frame: state.frame < 0 ? "" : state.frame,
        diff: this.isDiffOpen ? "" : 0 };
    }

    /**
     * Shows what an address says, with an instruction selected; returns whether it says anything
     * about passes.
     */
    async restore(values, instruction) {
      // An address that says where to look knows better than what is marked.
      this._stays = values.at !== undefined;
      try {
        return await this._restore(values, instruction);
      } finally {
        this._stays = false;
      }
    }

    async _restore({ pass, side, frame, diff }, instruction) {
      const { run } = this, p = pass === "start" ? -1 : Number(pass), n = Number(frame);
      this._wanted = instruction === "" ? this._wanted : instruction;
      if (diff !== undefined) {
        this.isDiffOpen = diff !== "0";
      }
      if (frame !== undefined && Number.isInteger(n) && n >= 0 && n < run.decisions.length) {
        await this.showFrame(n);
      } else if (pass !== undefined && Number.isInteger(p) && p < run.length) {
        await this.show(p, side === "before" ? "before" : "after");
      } else {
        return false;
      }
      return true;
    }
  }

  /* The border above the diff can be dragged, or moved by arrow keys. */
  function bindSplit(split, place) {
    const setHeight = (height) => {
      const most = shell("stage").clientHeight - 260;
      place.style.height = `${Math.max(LEAST_DIFF, Math.min(most, height))}px`;
    };
    split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
    split.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) {
        setHeight(place.getBoundingClientRect().bottom - event.clientY);
      }
    });
    split.addEventListener("keydown", (event) => {
      const by = { ArrowUp: 24, ArrowDown: -24 }[event.key];
      if (by !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        setHeight(place.clientHeight + by);
      }
    });
  }

  Hlo.Timeline = Timeline;
})(globalThis);
