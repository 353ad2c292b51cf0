"use strict";
/* What an address says is shown: when the page begins, and when its address changes later. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { shell, paths } = Hlo;
  const NARROW = 1150;

  function moduleOf({ module }, { outer }) {
    const number = module === undefined ? -1 : Number(module);
    return Number.isInteger(number) && number >= 0 && number < outer.modules.length ? number : -1;
  }

  /** Shows what addresses say; parts of the page add to `others` what they know of addresses. */
  class Restore {
    constructor(page) {
      Object.assign(this, { page, viewer: page.viewer });
      /** Called one after the other with {instruction, values} of an address that is new. */
      this.others = [];
    }

    /** Lays out and shows the beginning, or what the address says. */
    async begin(hash) {
      const { page, viewer } = this, { instruction, values } = hash;
      page.switchTheme(values.theme || "system");
      const module = moduleOf(values, viewer);
      if (module >= 0) {
        viewer.startWith(module);
      }
      this._takeView(values);
      const path = Hlo.pathOfText(viewer.model, instruction);
      await viewer.layout();
      if (values.open === undefined) {
        await this._openLonely();
      }
      shell("starting").hidden = true;
      page.showOutline(root.innerWidth >= NARROW && page.outline.isWorthwhile);
      page.measure();
      viewer.start();
      this._showFirst(path, values);
      await this._showRest(path, values);
      if ([values.pass, values.frame, values.show].every((value) => value === undefined)) {
        this.sayMissing(hash);
      }
    }

    /** Shows what another address says, as if the page had been opened with it. */
    async goTo(hash) {
      const { page, viewer } = this, { instruction, values } = hash;
      page.switchTheme(values.theme || "system");
      viewer.remember();
      viewer.reset(moduleOf(values, viewer));
      this._takeView(values);
      if (!(await viewer.layout({ hint: viewer.picture }))) {
        return;
      }
      if (values.open === undefined) {
        await this._openLonely();
      }
      viewer.signals.give("root");
      viewer.signals.give("focus");
      for (const other of this.others) {
        await other(hash);
      }
      if (viewer.isAway) {
        return;
      }
      const path = Hlo.pathOfText(viewer.model, instruction);
      this._showFirst(path, values);
      if (path === "") {
        viewer.select("");
        viewer.start();
      }
      await this._showRest(path, values);
      this.sayMissing(hash);
    }

    /** Says what an address names that is not here. */
    sayMissing({ instruction, values }) {
      const { viewer, page } = this, { model, outer } = viewer, missing = [];
      const say = (isMissing, text) => isMissing && missing.push(text);
      say(instruction !== "" && Hlo.pathOfText(model, instruction) === "",
        `no instruction ${instruction}`);
      say(values.module !== undefined && values.module !== String(moduleOf(values, viewer)),
        `no module ${values.module}`);
      say(values.root && model.pathFromText(values.root) === null, `no graph ${values.root}`);
      say(values.overlay && !model.overlay(values.overlay), `no overlay ${values.overlay}`);
      const count = outer.passes.length, { pass } = values;
      say(pass !== undefined && pass !== "start" && !(Number(pass) >= 0 && Number(pass) < count),
        `no pass ${pass}`);
      if (missing.length > 0) {
        page.notice(`There is ${missing.join(" and ")} here.`);
      }
    }

    /* The first screen of a big module are its stages, where the address says nothing else. */
    _showFirst(path, values) {
      const { page, viewer } = this;
      const isFirst = !values.at && path === "" && values.view !== "graph";
      page.showOverview(values.view === "overview" || (isFirst && Hlo.isBig(viewer.picture)
        && viewer.root === String(viewer.model.entry)));
    }

    /** A single closed box says nothing: what is in it does. */
    async _openLonely() {
      const { viewer } = this, [only, other] = viewer.picture.instructionPaths();
      if (only !== undefined && other === undefined && viewer.canOpen(only)) {
        viewer.open.add(only);
        await viewer.layout();
      }
    }

    /* Before the layout: root, what is folded, open clusters. */
    _takeView(values) {
      const { viewer } = this, { coming: model } = viewer;
      const top = values.root ? model.pathFromText(values.root) : null;
      if (top !== null) {
        viewer.root = paths.graph(top);
      }
      viewer.folded = Hlo.foldsFromText(values.fold || "", viewer.root);
      if (values.open === "*") {
        viewer.open = new Set(viewer.everything());
      } else if (values.open) {
        viewer.open = new Set(values.open.split(",").map((text) => model.pathFromText(text))
          .filter((path) => path !== null && paths.instruction(path) >= 0));
      }
    }

    /* After the layout: selection, place, overlay, search. */
    async _showRest(path, values) {
      const { viewer, page } = this;
      if (path !== "") {
        viewer.select(path);
        await viewer.reveal(path, values.at === undefined);
        this._showAll();
      }
      const [way, radius] = (values.cone || "").split(",");
      if (path !== "" && way !== "") {
        await page.focus.cone(path, way, Number(radius) || Infinity);
      }
      this._look(values);
      const { overlay } = viewer;
      if ((overlay === null ? "" : overlay.name) !== (values.overlay || "")) {
        page.legend.show(values.overlay || "");
      }
      if (page.widths.isOn !== (values.lines === "bytes")) {
        page.widths.show();
      }
      if (page.search.text !== (values.q || "")) {
        page.search.text = values.q || "";
      }
      if (page.text.isOpen !== Boolean(values.text)) {
        page.showText();
      }
    }

    /* What an old address looks at may be beside all boxes by now. */
    _look(values) {
      const { camera, picture } = this.viewer, at = (values.at || "").split(",").map(Number);
      if (at.length === 3 && at.every(Number.isFinite)) {
        camera.stop();
        camera.set(...at);
        if (Hlo.boxesIn(picture, camera.sight).next().done) {
          this.viewer.start();
        }
      }
    }

    /* What was opened for a link may have made the picture larger than what the window shows. */
    _showAll() {
      const { camera, picture } = this.viewer;
      if (camera.fitting(picture.width, picture.height) >= camera.readable) {
        this.viewer.start();
      }
    }
  }

  Hlo.Restore = Restore;
})(globalThis);
