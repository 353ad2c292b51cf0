"use strict";
/* Unpacks the data, builds the parts of the page and joins them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { shell, paths } = Hlo;
  const NOTICE = 4000, NARROW = 1000;

  /** Returns the bytes of the data in the page. */
  function bytesOf(text) {
    if (Uint8Array.fromBase64) {
      return Uint8Array.fromBase64(text);
    }
    const binary = atob(text.trim()), bytes = new Uint8Array(binary.length);
    for (let n = 0; n < binary.length; n++) {
      bytes[n] = binary.charCodeAt(n);
    }
    return bytes;
  }

  /** Returns widths of characters as shares of the font size, as the layout wants them. */
  function measureWidths() {
    const ctx = document.createElement("canvas").getContext("2d");
    const [, family] = Hlo.boxFonts.text.match(/px (.*)/);
    const table = (weight) => {
      ctx.font = `${weight} 100px ${family}`;
      return Array.from({ length: 95 }, (_, n) =>
        ctx.measureText(String.fromCharCode(n + 32)).width / 100);
    };
    const bold = table(600), regular = table(400);
    const others = [..."…·▴←é×μ"].map((one) => ctx.measureText(one).width / 100);
    return { regular, bold, other: Math.max(...others), wide: 1.05 };
  }

  function startLayouter(bytes, model) {
    const scripts = [...document.querySelectorAll("script[data-pure]")]
      .map((script) => script.textContent);
    return Hlo.startLayouter({ bytes, model, scripts, widths: measureWidths() });
  }

  /** The page: the parts, and what keys and buttons do with them. */
  class Page {
    constructor(viewer) {
      const { signals } = viewer;
      this.viewer = viewer;
      viewer.theme = Hlo.readTheme(viewer.model.categories);
      this.far = new Hlo.FarPicture(viewer);
      this.drawing = new Hlo.Drawing(viewer, shell("graph"), shell("marks"), this.far);
      this.strip = new Hlo.Strip(viewer, shell("strip"), this.far);
      this.text = new Hlo.TextView(viewer, shell("text"));
      this.panel = new Hlo.Panel(viewer, shell("panel"), shell("live"), this._actions());
      this.search = new Hlo.Search(viewer, { form: shell("search"), field: shell("query"),
        count: shell("hits"), before: shell("hit-before"), after: shell("hit-after") });
      this.legend = new Hlo.Legend(viewer, shell("legend"), shell("overlay"));
      this.curve = new Hlo.Curve(viewer, shell("curve"));
      this.outline = new Hlo.Outline(viewer, shell("outline"));
      this.focus = new Hlo.Focus(viewer, shell("focus"), (text) => this.notice(text));
      this.cards = new Hlo.Cards(viewer, shell("overview"), (stage) => this.openStage(stage));
      this.gestures = new Hlo.Gestures(viewer, shell("marks"), shell("tip"), {
        chosen: (path) => this.chosen(path), rowChosen: (row) => this.rowChosen(row),
        opened: (path) => viewer.toggle(path) });
      this.address = new Hlo.Address(viewer, () => this._extra());
      this.keys = Hlo.keyTable(viewer, this);
      Hlo.bindKeys(this.keys);
      Hlo.fillHelp(shell("help"), this.keys, viewer.outer.tool);
      Hlo.preparePrint(viewer, shell("print"), () => this.drawing.relations);
      Hlo.watchSystem(() => this._themeChanged());
      Hlo.bindBar(this);
      signals.on("stage", () => this.showOverview(false));
      signals.on("selection", () => viewer.selected !== "" && this.showOverview(false));
      signals.on("busy", (isBusy) => this._busy(isBusy));
    }

    _actions() {
      return {
        alone: (path) => this.alone(path), cone: (path, way) => this.focus.cone(path, way),
        near: (path) => this.focus.cone(path, "both", 2),
        path: (path) => this.focus.startPath(path), hide: (path) => this.focus.hide(path),
        text: () => this.showText(true), copy: (name) => this.copy(name),
        overlay: (name) => this.legend.show(name),
      };
    }

    /** A box was clicked, or the ground. */
    chosen(path) {
      if (this.focus.waiting !== "" && path !== "") {
        this.focus.finishPath(path);
      } else {
        this.viewer.select(path);
      }
    }

    /** A row was clicked: of a portal one goes to its source; else the source is selected. */
    rowChosen({ graph, kind, source }) {
      if (kind === Hlo.row.MORE || kind === Hlo.row.INVARIANT || this.focus.waiting !== "") {
        return false;
      }
      const path = paths.join(graph.path, source);
      if (kind === Hlo.row.CHIP || kind === Hlo.row.STATE) {
        this.viewer.select(path);
      } else {
        this.viewer.jump(path);
      }
      return true;
    }

    /** Shows what an instruction calls alone. */
    alone(path) {
      const { viewer } = this, c = viewer.model.computationOf(paths.graph(path));
      const call = viewer.model.callsOf(c, paths.instruction(path))
        .findIndex(({ inside, role }) => inside && role !== "condition");
      if (call >= 0) {
        this.showOverview(false);
        viewer.openAlone(paths.enter(paths.graph(path), paths.instruction(path), call));
      }
    }

    /** From a graph shown alone to that of its caller. */
    async outwards() {
      const caller = paths.parent(this.viewer.root);
      if (caller !== null) {
        await this.viewer.openAlone(paths.graph(caller));
        await this.viewer.jump(caller);
      }
    }

    toSelection() {
      const box = this.viewer.selectedBox();
      if (box !== null) {
        const k = Math.max(this.viewer.camera.k, this.viewer.camera.reading);
        this.viewer.camera.centre(box.x + box.w / 2, box.y + Math.min(box.h, 300) / 2, k);
      }
    }

    openStage(number) {
      this.showOverview(false);
      const { picture, camera } = this.viewer, stage = picture.root.stages[number];
      const { geometry } = stage;
      const box = { x: stage.x + geometry.left, y: stage.y, w: geometry.right - geometry.left,
        h: geometry.height };
      const k = Math.min(1, Math.max(0.5, camera.fitting(box.w, box.h)));
      const high = Math.min(box.h, (camera.height - 30) / k);
      camera.centre(box.x + box.w / 2, box.y + high / 2 - 6, k, true);
      shell("marks").focus({ preventScroll: true });
    }

    showOverview(isOpen = !this.cards.isOpen) {
      if (!isOpen && !this.cards.isOpen) {
        return;
      }
      if (isOpen && !this.cards.isPossible) {
        this.notice("This graph is one stage: there is nothing to give an overview of.");
        return;
      }
      this.cards.show(isOpen);
      shell("overview-toggle").setAttribute("aria-pressed", String(isOpen));
      this.viewer.signals.give("panels");
    }

    showText(isOpen = !this.text.isOpen) {
      shell("text-split").hidden = !isOpen;
      this.text.show(isOpen);
      shell("text-toggle").setAttribute("aria-pressed", String(isOpen));
      this.viewer.signals.give("panels");
    }

    showOutline(isOpen = shell("outline").hidden) {
      this.outline.show(isOpen);
      shell("outline-toggle").setAttribute("aria-pressed", String(isOpen));
      this.viewer.signals.give("panels");
    }

    showHelp() {
      const dialog = shell("help");
      if (dialog.open) {
        dialog.close();
      } else {
        dialog.showModal();
      }
    }

    switchTheme(choice = Hlo.otherTheme(this.viewer.theme)) {
      Hlo.chooseTheme(choice);
      this._themeChanged();
    }

    _themeChanged() {
      this.viewer.theme = Hlo.readTheme(this.viewer.model.categories);
      this.viewer.signals.give("theme");
    }

    nextModule() {
      const count = shell("modules").options.length;
      if (count > 1) {
        this.viewer.showModule((this.viewer.module + 2) % count - 1);
      }
    }

    escape() {
      if (this.cards.isOpen) {
        this.showOverview(false);
      } else if (this.focus.waiting !== "") {
        this.focus.clear();
      } else if (this.viewer.selected !== "") {
        this.viewer.select("");
      } else if (this.search.text !== "") {
        this.search.text = "";
      } else {
        this.focus.clear();
      }
    }

    async copy(text) {
      try {
        await navigator.clipboard.writeText(text);
        this.notice(`Copied ${text}`);
      } catch (error) {
        this.notice(`The name is ${text}; this browser does not let the page copy it.`);
      }
    }

    saveSvg() {
      Hlo.saveSvg(this.viewer, this.drawing.relations);
    }

    /** Says something for some seconds. */
    notice(text) {
      clearTimeout(this._noticeTimer);
      shell("notice").textContent = text;
      shell("notice").hidden = false;
      this._noticeTimer = setTimeout(() => { shell("notice").hidden = true; }, NOTICE);
    }

    _busy(isBusy) {
      shell("marks").setAttribute("aria-busy", String(isBusy));
      shell("starting").hidden = !isBusy;
      shell("starting").textContent = "Laying out the graph…";
    }

    _extra() {
      const { focus } = this.viewer, theme = Hlo.chosenTheme();
      return {
        q: this.search.text.trim(), text: this.text.isOpen ? 1 : "",
        view: this.cards.isOpen ? "overview" : "", theme: theme === "system" ? "" : theme,
        cone: focus !== null && focus.kind === "cone" ? `${focus.direction},${focus.radius}` : "",
      };
    }

    /** Lays out and shows the beginning, or what the address says. */
    async start({ instruction, values }) {
      const { viewer } = this, { model } = viewer;
      if (values.theme) {
        this.switchTheme(values.theme);
      }
      this._restoreView(values);
      const path = Hlo.pathOfText(viewer.model, instruction);
      await viewer.layout();
      if (values.open === undefined) {
        await this._openLonely();
      }
      shell("starting").hidden = true;
      this.showOutline(root.innerWidth >= NARROW && this.outline.isWorthwhile);
      this._measure();
      viewer.start();
      const isFirst = !values.at && path === "" && values.view !== "graph";
      if (values.view === "overview" || (isFirst && viewer.root === String(model.entry)
        && Hlo.isBig(viewer.picture))) {
        this.showOverview(true);
      }
      await this._restoreRest(path, values);
    }

    /** A single closed box says nothing: what is in it does. */
    async _openLonely() {
      const { viewer } = this, [only, other] = viewer.picture.instructionPaths();
      if (only !== undefined && other === undefined && viewer.canOpen(only)) {
        viewer.open.add(only);
        await viewer.layout();
      }
    }

    /** Before the layout: module, root, open clusters. */
    _restoreView(values) {
      const { viewer } = this;
      const module = values.module === undefined ? -1 : Number(values.module);
      if (Number.isInteger(module) && module >= 0 && module < viewer.outer.modules.length) {
        viewer.startWith(module);
      }
      const top = values.root ? viewer.model.pathFromText(values.root) : null;
      if (top !== null) {
        viewer.root = paths.graph(top);
      }
      if (values.open === "*") {
        viewer.open = new Set(viewer.everything());
      } else if (values.open) {
        viewer.open = new Set(values.open.split(",").map((text) => viewer.model.pathFromText(text))
          .filter((path) => path !== null && paths.instruction(path) >= 0));
      }
    }

    /** After the layout: selection, place, overlay, search. */
    async _restoreRest(path, values) {
      const { viewer } = this;
      if (path !== "") {
        viewer.select(path);
        await viewer.reveal(path, values.at === undefined);
      }
      const [way, radius] = (values.cone || "").split(",");
      if (path !== "" && way !== "") {
        await this.focus.cone(path, way, Number(radius) || Infinity);
      }
      const at = (values.at || "").split(",").map(Number);
      if (at.length === 3 && at.every(Number.isFinite)) {
        viewer.camera.set(...at);
      }
      if (values.overlay) {
        this.legend.show(values.overlay);
      }
      if (values.q) {
        this.search.text = values.q;
      }
      if (values.text) {
        this.showText(true);
      }
    }

    /** The address was changed by hand. */
    async goTo({ instruction, values }) {
      const path = Hlo.pathOfText(this.viewer.model, instruction);
      if (path !== "") {
        this.showOverview(false);
        await this.viewer.jump(path);
      }
      await this._restoreRest("", values);
    }

    /** Follows the sizes of the window and of what is in it. */
    watchSizes() {
      const observer = new ResizeObserver(() => this._measure());
      for (const id of ["view", "strip", "text"]) {
        observer.observe(shell(id));
      }
    }

    _measure() {
      const { clientWidth, clientHeight } = shell("view"), { camera } = this.viewer;
      if (clientWidth === 0) {
        // On its way to paper the window has no size.
        return;
      }
      const box = this.viewer.selectedBox();
      const wasInSight = box !== null && camera.sees(box);
      this.drawing.resize(clientWidth, clientHeight);
      this.strip.resize();
      this.curve.resize();
      this.text.resize();
      if (wasInSight && !camera.moving) {
        camera.nudge(box);
      }
    }
  }

  Object.assign(Hlo, { bytesOfBase64: bytesOf, startPageLayouter: startLayouter });

  async function main() {
    const bytes = bytesOf(shell("data").textContent);
    // The worker unpacks its own copy at the same time.
    const decoded = Hlo.unpackDocument(bytes).then((data) => Hlo.Model.decode(data));
    const layouter = startLayouter(bytes, decoded);
    const viewer = new Hlo.Viewer(await decoded, layouter);
    const page = new Page(viewer);
    Hlo.offerHook(page);
    page._measure();
    await page.start(Hlo.parseHash(root.location.hash));
    page.watchSizes();
    page.address.follow((hash) => page.goTo(hash));
    for (const part of Hlo.parts || []) {
      part(page);
    }
    page.drawing.whenDrawn(() => Hlo.hookReady());
  }

  main().catch((error) => {
    shell("starting").hidden = false;
    shell("starting").textContent = `This page cannot show its data: ${error.message}`;
    console.error(error);
  });
})(globalThis);
