"use strict";
/* A page over a directory of dumps: what its list leads to, as graph, text, table or chart. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell, paths } = Hlo;
  /* Graphs of up to so many nodes are shown with their clusters open. */
  const MOST_OPEN = 400;

  /** Returns the kind and the numbers of a place such as "pass:0:7"; NaN for what is none. */
  function parsedPlace(place) {
    const [kind, ...numbers] = place.split(":");
    return [kind, ...numbers.map((text) => (/^\d+$/.test(text) ? Number(text) : NaN))];
  }

  class Directory {
    constructor(page, data) {
      const { viewer } = page, { strings } = viewer.outer;
      Object.assign(this, { page, viewer, data, strings, files: data.files, place: "" });
      this.runs = data.modules.map(({ passes, decisions }) =>
        new Hlo.PassRun(strings, passes, decisions));
      this._outer = this._numberOfOuter();
      this.ghosts = new Hlo.Ghosts(viewer, () => {});
      this._sheet = null;
      this._graphPlace = "";
      this._moving = null;
      this._kinds = this._kindsOfPlaces();
      this._makeShell();
      this.list = new Hlo.DirectoryList(new Hlo.DirectoryEntries(data, strings, this.runs),
        { place: shell("directory"), open: (place) => this.open(this._sideOf(place)) });
      this.changes = new Hlo.PassChanges(shell("directory"), (side, name) =>
        this._toChange(side, name));
      viewer.signals.on("selection", () => viewer.selected !== "" && this.closeSheet());
      viewer.signals.on("module", () => this._otherModule());
      viewer.signals.on("theme", () => this._sheet instanceof Hlo.MemorySheet
        && this._sheet.redraw());
      this._bindKeys();
      /* Whether there is any graph to be shown, or texts alone. */
      this.hasGraphs = data.graphs.length > 0 || data.modules.some(({ stages }) =>
        stages.some(({ module }) => module >= 0));
      document.body.classList.toggle("without-graphs", !this.hasGraphs);
      const { extra } = page.address;
      page.address.extra = () => ({ ...extra(), show: this.place });
    }

    /* The outer document is one of the states as well. */
    _numberOfOuter() {
      const read = (this.data.modules[0] || { stages: [] }).stages
        .filter(({ module }) => module >= 0);
      return read.length > 0 ? read[read.length - 1].module : -1;
    }

    _makeShell() {
      const work = shell("work");
      work.classList.add("with-directory");
      work.prepend(element("aside", { id: "directory", "aria-label": "Directory" }));
      this._head = element("div", { id: "shown", class: "sheet-head" });
      shell("view").before(this._head);
      this._over = element("div", { id: "sheet", tabindex: "-1", hidden: true,
        onkeydown: (event) => this._sheetKey(event) });
      work.append(this._over);
      shell("modules").hidden = true;
      this.page.showOutline(false);
    }

    _bindKeys() {
      const go = (keys, text, run) => ({ keys, group: "Directory", text, run });
      Hlo.addKeys(this.page, [
        go(["j"], "next entry of the list", () => this.list.step(1)),
        go(["k"], "entry before", () => this.list.step(-1)),
        go(["i"], "to the filter of the list", () => this.list.focus()),
        go(["r"], "before or after the pass", () => this._otherSide()),
        go(["G"], "what the pass removed, dashed", () => this.ghosts.switch()),
        go(["D"], "diff of the texts, or the graph again", () => this._toLines()),
      ]);
    }

    text(number) { return number < 0 ? "" : this.strings[number]; }

    /* Kind of a place -> {counts: how many numbers it has, has: whether they name something,
       show, isOfModule: whether the first one is that of a module}. */
    _kindsOfPlaces() {
      const { graphs, texts, modules } = this.data;
      const kind = (counts, has, show, isOfModule = true) => ({ counts, has, show, isOfModule });
      const hasModule = (m) => modules[m] !== undefined;
      const stage = kind([2], (m, s) => hasModule(m) && modules[m].stages[s] !== undefined
        && modules[m].stages[s].module >= 0, this._openStage);
      const pass = kind([2], (m, p) => hasModule(m) && this.runs[m].isPass(p), this._openPass);
      const files = kind([0], () => true, this._openFiles, false);
      return new Map(Object.entries({
        stage, pass, before: pass, files, hidden: files,
        graph: kind([1], (g) => graphs[g] !== undefined, this._openGraph, false),
        text: kind([1], (t) => texts[t] !== undefined, this._openText, false),
        compare: kind([3, 4], (...all) => this._hasLines(...all), this._openLines),
        memory: kind([1], (m) => hasModule(m) && modules[m].memory !== null, this._openMemory),
        decisions: kind([1], hasModule, this._openDecisions),
      }));
    }

    /* Whether two numbers are states of a module, with a pass those on its two sides. */
    _hasLines(m, before, after, p) {
      const module = this.data.modules[m];
      if (module === undefined) {
        return false;
      }
      if (p !== undefined) {
        const run = this.runs[m];
        return run.isPass(p) && run.passes[p].before === before && run.passes[p].after === after;
      }
      return [before, after].every((state) => module.stages.some((one) => one.module === state));
    }

    /* Whether a place names something that can be shown. */
    _has(place) {
      const [name, ...numbers] = parsedPlace(place), kind = this._kinds.get(name);
      return kind !== undefined && kind.counts.includes(numbers.length)
        && !numbers.some(Number.isNaN) && kind.has(...numbers);
    }

    /** Shows what a place names; of one that names nothing the place to start at. */
    async open(wanted) {
      const place = this._has(wanted) ? wanted : this.first;
      const [name, ...numbers] = parsedPlace(place), kind = this._kinds.get(name);
      this.place = place;
      this.changes.show(...this._passOf(place));
      if (place !== wanted) {
        this.page.notice(`There is no ${wanted} here.`);
      }
      await kind.show.call(this, ...numbers);
      this.list.show(this._listed(place), kind.isOfModule ? numbers[0] : -1);
      this.viewer.signals.give("panels");
    }

    /* A pass that only removes has nothing to be seen on the side behind it. */
    _sideOf(place) {
      const [kind, m, p] = parsedPlace(place);
      if (kind !== "pass") {
        return place;
      }
      const [removed, added, changed] = this.runs[m].counts(p);
      return removed > 0 && added === 0 && changed === 0 ? `before:${m}:${p}` : place;
    }

    /* The run and the number of the pass that a place is about, [null, -1] for none. */
    _passOf(place) {
      const [kind, m, p, , pass] = parsedPlace(place);
      const number = kind === "compare" ? pass ?? -1 : p;
      return ["pass", "before", "compare"].includes(kind) ? [this.runs[m], number] : [null, -1];
    }

    /* To an instruction on a side of the pass that is shown. */
    async _toChange(side, name) {
      const [, m] = parsedPlace(this.place), [, p] = this._passOf(this.place);
      await this.open(`${side === "before" ? "before" : "pass"}:${m}:${p}`);
      const path = Hlo.pathOfName(this.viewer.model, name);
      if (path !== "") {
        await this.viewer.jump(path);
      }
    }

    /* Both sides of a pass and its lines have one entry in the list. */
    _listed(place) {
      const [kind, module, first, second, pass] = parsedPlace(place);
      if (kind === "before") {
        return `pass:${module}:${first}`;
      }
      return kind === "compare" && pass !== undefined && second >= 0 ? `pass:${module}:${pass}`
        : place;
    }

    /** The place to start at, where the address names none. */
    get first() {
      const { modules, graphs } = this.data;
      const [module] = modules;
      if (module !== undefined && this._outer >= 0) {
        return this.placeOf(this._outer);
      }
      return graphs.length > 0 ? "graph:0" : "files";
    }

    /** The last place that shows a state, "" for none. */
    placeOf(state) {
      for (let m = 0; m < this.data.modules.length; m++) {
        const { stages, passes } = this.data.modules[m];
        for (let s = stages.length - 1; s >= 0; s--) {
          if (stages[s].module === state) {
            const p = passes.findIndex(({ stage }) => stage === s);
            return p < 0 ? `stage:${m}:${s}` : `pass:${m}:${p}`;
          }
        }
      }
      return "";
    }

    /** Shows where a file is shown. */
    openFile(number) {
      const { texts, graphs, modules } = this.data;
      const text = texts.findIndex(({ file }) => file === number);
      const graph = graphs.findIndex(({ files }) => files.includes(number));
      if (text >= 0 || graph >= 0) {
        return this.open(text >= 0 ? `text:${text}` : `graph:${graph}`);
      }
      const m = this.files[number].module;
      const s = modules[m].stages.findIndex(({ file }) => file === number);
      const p = modules[m].passes.findIndex(({ stage }) => stage === s);
      return this.open(s < 0 ? `decisions:${m}` : p < 0 ? `stage:${m}:${s}` : `pass:${m}:${p}`);
    }

    /** Shows an instruction in a state. */
    async goTo(state, name) {
      const place = this.placeOf(state);
      if (place === "") {
        this.page.notice("The state of the module that this is about was not read.");
        return;
      }
      await this.open(place);
      const path = Hlo.pathOfName(this.viewer.model, name);
      if (path === "") {
        this.page.notice(`No instruction is called ${name} in this state.`);
        return;
      }
      this.page.showOverview(false);
      await this.viewer.jump(path);
    }

    /** Opens the first place; the list has taken room from the picture since it was placed. */
    async begin(place, isPlaced) {
      await this.open(place);
      if (!isPlaced) {
        // Sizes are known when a frame has been laid out.
        requestAnimationFrame(() => setTimeout(() => this.viewer.start()));
      }
    }

    closeSheet() {
      if (this._sheet === null || !this.hasGraphs) {
        return;
      }
      this._putSheet(null);
      if (this._graphPlace !== "") {
        this.place = this._graphPlace;
        this.list.show(this._listed(this.place), -1);
      }
      this.viewer.signals.give("panels");
      shell("marks").focus({ preventScroll: true });
    }

    _putSheet(sheet) {
      if (this._sheet !== null) {
        this._sheet.close();
      }
      this._sheet = sheet;
      this._over.hidden = sheet === null;
      this._over.replaceChildren(...(sheet === null ? [] : [sheet.element]));
      for (const id of ["outline", "stage", "panel", "strip"]) {
        shell(id).inert = sheet !== null;
      }
      if (sheet !== null) {
        sheet.focus();
      }
    }

    _sheetKey(event) {
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        this.closeSheet();
      }
    }

    /* The number of a state's module as the viewer has it. */
    _number(state) { return state === this._outer ? -1 : state; }

    /** Shows both instructions of a decision in the graph, and at their edge the reason. */
    async showDecision(m, n) {
      const decision = this.runs[m].decision(n), { module, producer, consumer } = decision;
      await this.goTo(module, consumer);
      if (this.viewer.shownModule === this._number(module)) {
        this._mark(new Map([[producer, "operand"], [consumer, "user"]]), false);
        this.viewer.edgeNote = Hlo.decisionNote(this.viewer.model, decision);
        this.viewer.select("");
        this.viewer.signals.give("colours");
      }
    }

    /** Shows a state with marks of what a pass did; `open`: whether all clusters shall be open. */
    async _showState(state, kinds, isOpen = false) {
      const { viewer } = this, number = this._number(state), moving = {};
      this._graphPlace = this.place;
      this._moving = moving;
      this._putSheet(null);
      viewer.markOf = viewer.lineMarks = viewer.edgeNote = null;
      this.ghosts.clear();
      viewer.pale("cluster", null);
      this.page.showOverview(false);
      const isShown = viewer.module === number && viewer.shownModule === number;
      if (!isShown && !(await Hlo.moveToModule(viewer, number, ""))) {
        this._moving = this._moving === moving ? null : this._moving;
        return;
      }
      this._mark(kinds);
      if (isOpen && viewer.open.size === 0) {
        viewer.open = viewer.everything();
        await viewer.layout();
        viewer.start();
      }
      this._moving = this._moving === moving ? null : this._moving;
    }

    _mark(kinds, isUpward = true) {
      const { viewer } = this, { model } = viewer;
      const marks = new Hlo.MarkColumns(model, kinds, isUpward);
      const isMarked = kinds.size > 0;
      viewer.markOf = isMarked ? (path) => marks.of(model.computationOf(paths.graph(path)),
        paths.instruction(path)) : null;
      viewer.lineMarks = isMarked ? marks.lines() : null;
      this.page.text.show(this.page.text.isOpen);
      viewer.signals.give("colours");
    }

    /* Another module than that of the place is shown: by the way back, say. */
    _otherModule() {
      const { viewer } = this;
      if (this._moving !== null) {
        return;
      }
      viewer.pale("cluster", null);
      viewer.edgeNote = null;
      this.ghosts.clear();
      const state = viewer.module < 0 ? this._outer : viewer.module;
      const g = this.data.graphs.findIndex(({ document }) => document === state);
      this.place = this._graphPlace = g >= 0 ? `graph:${g}` : this.placeOf(state);
      const [kind, m, p] = parsedPlace(this.place);
      this._mark(kind === "pass" ? this.runs[m].marks(p, "after") : new Map());
      this.changes.show(...this._passOf(this.place));
      this._head.replaceChildren(...Hlo.directoryHead(this, this.place));
      this.list.show(this.place, -1);
    }

    async _openStage(m, s) {
      this._head.replaceChildren(...Hlo.directoryHead(this, this.place));
      await this._showState(this.data.modules[m].stages[s].module, new Map());
    }

    async _openPass(m, p) {
      const run = this.runs[m], side = this.place.startsWith("before") ? "before" : "after";
      this._head.replaceChildren(...Hlo.directoryHead(this, this.place));
      const { place, viewer } = this, before = this._number(run.passes[p].before);
      const old = viewer.shownModule === before ? viewer.picture : null;
      await this._showState(run.passes[p][side], run.marks(p, side));
      if (this.place === place && side === "after" && this._moving === null) {
        this.ghosts.show(run.gone(p), before, old);
      }
    }

    async _openGraph(g) {
      const graph = this.data.graphs[g];
      this._head.replaceChildren(...Hlo.directoryHead(this, this.place));
      await this._showState(graph.document, new Map(), graph.nodes <= MOST_OPEN);
      if (this.viewer.overlay === null) {
        // Categories of HLO say nothing about these ops.
        this.page.legend.show(graph.clusters.length > 0 ? "cluster" : "opcode");
      }
    }

    async _openText(t) {
      const row = this.data.texts[t], { place } = this;
      const rows = Hlo.textRows(await Hlo.inflated(Hlo.bytesOfBase64(row.data)));
      if (this.place === place) {
        this._putSheet(new Hlo.LinesSheet({ label: this.text(row.title), rows,
          head: Hlo.directoryHead(this, place) }));
      }
    }

    _openLines(m, before, after, p) {
      const { modules } = this.viewer.outer;
      const one = modules[before].lines, other = modules[after].lines;
      const pass = p === undefined ? undefined : this.runs[m].passes[p];
      const edits = pass === undefined ? Hlo.lineEdits(one, other) : pass.edits;
      const rows = Hlo.changeRows(one, other, edits);
      this._putSheet(new Hlo.LinesSheet({ label: "Lines that differ", isDifference: true,
        rows: Hlo.tablesFolded(rows), head: Hlo.directoryHead(this, this.place) }));
    }

    _openMemory(m) {
      const { memory } = this.data.modules[m];
      this._putSheet(new Hlo.MemorySheet(memory, { viewer: this.viewer, strings: this.strings,
        head: Hlo.directoryHead(this, this.place),
        goTo: (name) => this.goTo(memory.module, name) }));
    }

    _openDecisions(m) {
      this._putSheet(Hlo.decisionsSheet(this, m));
    }

    _openFiles() {
      this._putSheet(Hlo.filesSheet(this, this.place === "hidden" ? 1 : 0));
    }

    _otherSide() {
      const [kind, m, p] = parsedPlace(this.place);
      if (kind === "pass" || kind === "before") {
        this.open(`${kind === "pass" ? "before" : "pass"}:${m}:${p}`);
      }
    }

    _toLines() {
      const [kind, m, p] = parsedPlace(this.place);
      if (kind === "pass" || kind === "before") {
        const { before, after } = this.runs[m].passes[p];
        this.open(`compare:${m}:${before}:${after}:${p}`);
      } else {
        this.closeSheet();
      }
    }

    /** Makes all pale but the nodes of a cluster; null: nothing. */
    light(cluster) {
      const { viewer } = this, own = new Set();
      for (let at = 0; cluster !== null && at < cluster.places.length; at += 2) {
        own.add(`${cluster.places[at]},${cluster.places[at + 1]}`);
      }
      viewer.pale("cluster", cluster === null ? null : (c, i) => !own.has(`${c},${i}`)
        && !(viewer.model.name(c, i) === this.text(cluster.name)));
    }
  }

  function start(page) {
    const { directory } = page.viewer.outer;
    if (!directory) {
      return;
    }
    const { values } = Hlo.parseHash(root.location.hash);
    const made = new Directory(page, directory);
    root.hlotool.directory = made;
    page.restore.others.push(({ values }) => made.open(values.show || made.first));
    if (values.show || values.module === undefined) {
      made.begin(values.show || made.first, values.at !== undefined || page.viewer.selected !== "");
    } else {
      made._otherModule();
    }
  }

  (Hlo.parts = Hlo.parts || []).push(start);
  Object.assign(Hlo, { parsedPlace });
})(globalThis);
