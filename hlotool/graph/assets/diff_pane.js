"use strict";
/* The second graph of a page: canvases, pointer and keys for a viewer of its own. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell } = Hlo;
  /* Groups of keys that act on the graph that has the keyboard. */
  const OWN_KEYS = ["Moving", "Following", "Opening"];

  class Pane {
    /** Shows module `number` of the page beside the picture of `page`. */
    constructor(page, number) {
      const { outer } = page.viewer;
      const graph = element("canvas"), tip = element("div", { class: "tip", "aria-hidden": "true",
        hidden: true });
      this.marks = element("canvas", { tabindex: "0", role: "application",
        "aria-label": "Graph of the new module" });
      this.element = element("div", { id: "other-view" }, graph, this.marks, tip);
      shell("view").after(this.element);
      const bytes = Hlo.bytesOfBase64(shell("data").textContent);
      this.viewer = new Hlo.Viewer(outer, Hlo.startPageLayouter(bytes, outer));
      this.viewer.startWith(number);
      this.viewer.theme = page.viewer.theme;
      const far = new Hlo.FarPicture(this.viewer);
      far.whenReady = () => {};
      this.drawing = new Hlo.Drawing(this.viewer, graph, this.marks, far);
      this._actions = actionsOf(page, this.viewer);
      this.gestures = new Hlo.Gestures(this.viewer, this.marks, tip, {
        chosen: (path) => this.viewer.select(path),
        rowChosen: (row) => this._actions.rowChosen(row),
        opened: (path) => this.viewer.toggle(path) });
      this._keys = new Map(Hlo.keyTable(this.viewer, this._actions)
        .filter(({ group }) => OWN_KEYS.includes(group))
        .flatMap((entry) => entry.keys.map((key) => [key, entry])));
      page.viewer.signals.on("theme", () => this._themeChanged(page));
      page.viewer.signals.on("names", () => this.viewer.layout());
      page.viewer.signals.on("colours", () => this._overlayChanged(page));
    }

    /** Lays out and shows the beginning. */
    async start() {
      await this.viewer.layout();
      const observer = new ResizeObserver(() => this.measure());
      observer.observe(this.element);
      this.measure();
      this.viewer.start();
    }

    /** Does what a key means here; returns whether it means something. */
    press(event) {
      const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
      const entry = this._keys.get(`${event.altKey ? "Alt+" : ""}${shift}${event.key}`);
      if (entry !== undefined) {
        entry.run(event.key);
      }
      return entry !== undefined;
    }

    measure() {
      const { viewer } = this, box = viewer.selectedBox();
      const wasInSight = box !== null && viewer.camera.sees(box);
      this.drawing.resize(this.element.clientWidth, this.element.clientHeight);
      if (wasInSight && !viewer.camera.moving) {
        viewer.camera.nudge(box);
      }
    }

    _themeChanged(page) {
      this.viewer.theme = page.viewer.theme;
      if (this.viewer.overlay !== null) {
        this.viewer.overlay.setTheme(this.viewer.theme);
      }
      this.viewer.signals.give("theme");
      this.viewer.signals.give("colours");
    }

    /* The same data as colours on both sides. */
    _overlayChanged(page) {
      const name = page.viewer.overlay === null ? "" : page.viewer.overlay.name;
      const own = this.viewer.overlay === null ? "" : this.viewer.overlay.name;
      if (name !== own) {
        this.viewer.overlay = name === "" ? null
          : Hlo.makeOverlay(this.viewer.model, name, this.viewer.theme);
        this.viewer.signals.give("colours");
      }
      if (this.viewer.widths !== page.viewer.widths) {
        this.viewer.widths = page.viewer.widths;
        this.viewer.signals.give("colours");
      }
    }
  }

  /** What the page does with its own picture, done with that of another viewer. */
  function actionsOf(page, viewer) {
    const { toSelection, alone, outwards, rowChosen } = page;
    const folds = new Hlo.Folds(viewer, element("button"), (text) => page.notice(text));
    return { viewer, focus: { waiting: "" }, showOverview() {}, toSelection, alone, outwards,
      rowChosen, folds };
  }

  Hlo.Pane = Pane;
})(globalThis);
