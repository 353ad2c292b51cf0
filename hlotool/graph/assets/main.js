"use strict";
/* Unpacks the data, builds the parts of the page and joins them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell, paths } = Hlo;
  const NOTICE = 4000;

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
      this.widths = new Hlo.WidthLegend(viewer, shell("widths"), shell("widths-legend"));
      this.curve = new Hlo.Curve(viewer, shell("curve"));
      this.outline = new Hlo.Outline(viewer, shell("outline"));
      this.focus = new Hlo.Focus(viewer, shell("focus"), (text) => this.notice(text));
      this.search.entered = (path) => this.focus.waiting !== "" && this.chosen(path);
      this.folds = new Hlo.Folds(viewer, shell("fold-toggle"), (text) => this.notice(text));
      this.cards = new Hlo.Cards(viewer, shell("overview"), (stage) => this.openStage(stage));
      this.gestures = new Hlo.Gestures(viewer, shell("marks"), shell("tip"), {
        chosen: (path) => this.chosen(path), rowChosen: (row) => this.rowChosen(row),
        opened: (path) => viewer.toggle(path), unfolded: (place) => Hlo.unfold(viewer, place),
        added: (path) => viewer.group.toggle(path) });
      this.address = new Hlo.Address(viewer, () => this._extra());
      this.restore = new Hlo.Restore(this);
      this.keys = [];
      Hlo.addKeys(this, Hlo.keyTable(viewer, this));
      Hlo.preparePrint(viewer, shell("print"));
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
        together: (some) => this.focus.together(some),
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
      } else if (this.focus.waiting !== "" || this.viewer.isPart) {
        this.focus.clear();
      } else if (this.viewer.selected !== "") {
        this.viewer.select("");
      } else if (this.viewer.group.size > 0) {
        this.viewer.group.clear();
      } else {
        this.search.text = "";
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

    /** Saves the graph as SVG, or what the window shows of it. */
    saveSvg(isWindow = false) {
      Hlo.saveSvg(this.viewer, (text, offer) => this.notice(text, offer), isWindow);
    }

    /** Says something for some seconds; `offer`: {label, run} of a button, or null. */
    notice(text, offer = null) {
      const place = shell("notice");
      clearTimeout(this._noticeTimer);
      place.replaceChildren(...(offer === null ? [text] : [element("span", {}, text),
        element("button", { type: "button", onclick: () => {
          place.hidden = true;
          offer.run();
        } }, offer.label)]));
      place.hidden = false;
      this._noticeTimer = setTimeout(() => { place.hidden = true; },
        offer === null ? NOTICE : 4 * NOTICE);
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
        view: this.cards.isOpen ? "overview" : "",
        lines: this.widths.isOn ? "bytes" : "", theme: theme === "system" ? "" : theme,
        fold: Hlo.foldsText(this.viewer.folded, this.viewer.root),
        cone: focus !== null && focus.kind === "cone" ? `${focus.direction},${focus.radius}` : "",
      };
    }

    /** Follows the sizes of the window and of what is in it. */
    watchSizes() {
      const observer = new ResizeObserver(() => this.measure());
      for (const id of ["view", "strip", "text"]) {
        observer.observe(shell(id));
      }
    }

    /** Takes the sizes of what is drawn from those of the window. */
    measure() {
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
    page.measure();
    await page.restore.begin(Hlo.parseHash(root.location.hash));
    page.watchSizes();
    page.address.follow((hash) => page.restore.goTo(hash));
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
