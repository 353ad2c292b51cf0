"use strict";
/* The outline: stages of the graph that is shown, computations, scopes of the source. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const MOST = 300, MOST_SCOPES = 200, TAIL = 10;

  class Outline {
    constructor(viewer, place) {
      Object.assign(this, { viewer, place });
      this._stages = element("ul", { class: "stages" });
      this._computations = element("ul", { class: "computations" });
      this._scopes = element("select", { class: "scopes", "aria-label": "Scope of the source" });
      this._parts = { stages: element("h2", {}, "Stages"),
        computations: element("h2", {}, "Computations"), scopes: element("h2", {}, "Scopes") };
      place.append(this._parts.stages, this._stages, this._parts.computations,
        this._computations, this._parts.scopes, this._scopes);
      this._scopes.addEventListener("change", () => this._filter(this._scopes.value));
      viewer.signals.on("picture", () => this._later(() => this._fillStages()));
      viewer.signals.on("module", () => this._fillComputations());
      viewer.signals.on("root picture", () => this._markRoot());
      viewer.signals.on("camera", () => this._markStage());
      this._fillComputations();
    }

    /** Whether there is enough in it to be shown unasked. */
    get isWorthwhile() {
      const { picture, model } = this.viewer;
      const drawn = model.computations.filter(({ kind }) =>
        kind !== "fusion" && kind !== "applied");
      return (picture !== null && picture.root.stages.length > 2) || drawn.length > 2;
    }

    show(isOpen) {
      this.place.hidden = !isOpen;
      if (isOpen) {
        this._fillStages();
        this._markRoot();
      }
    }

    /* The cards take some work, so the picture comes first. */
    _later(call) {
      clearTimeout(this._timer);
      this._timer = setTimeout(call, 60);
    }

    _fillStages() {
      const { picture } = this.viewer;
      if (picture === null || this.place.hidden || this._of === picture) {
        return;
      }
      this._of = picture;
      const rows = picture.root.stages.length > 1 ? this.viewer.overview().rows : [];
      this._parts.stages.hidden = rows.length === 0;
      const cards = rows.flatMap(({ count, cards: some }) =>
        some.map((card, n) => ({ card, times: n === 0 && count > 1 ? `×${count}` : "" })));
      this._stages.replaceChildren(...cards.slice(0, MOST).map(({ card, times }) =>
        this._item(Hlo.cardTitle(card), times || String(card.nodes), () => this._goTo(card.stage),
          { "data-stage": card.stage })));
      this._markStage();
    }

    _item(text, note, onclick, attributes = {}, shown = (one) => one) {
      return element("li", {}, element("button", { type: "button", title: text, onclick,
        ...attributes }, element("span", {}, shown(text, TAIL)),
      element("span", { class: "dim" }, note)));
    }

    _goTo(number) {
      const { picture, camera, signals } = this.viewer;
      signals.give("stage", number);
      const stage = picture.root.stages[number];
      camera.show({ x: stage.x + stage.geometry.left, y: stage.y,
        w: stage.geometry.right - stage.geometry.left, h: stage.geometry.height });
    }

    _fillComputations() {
      const { computations } = this.viewer.model;
      const of = (wanted) => computations.filter(({ kind }) => wanted(kind));
      const drawn = of((kind) => kind !== "fusion" && kind !== "applied").reverse();
      const bySize = (a, b) => b.size - a.size;
      const fusions = of((kind) => kind === "fusion").sort(bySize);
      const applied = of((kind) => kind === "applied").sort(bySize);
      this._computations.replaceChildren(...this._items(drawn),
        ...this._folded("Fusions", fusions), ...this._folded("Applied by others", applied));
      this._fillScopes();
    }

    /** A list that is only made when it is opened. */
    _folded(title, some) {
      if (some.length === 0) {
        return [];
      }
      const list = element("ul");
      const made = element("details", { ontoggle: () => {
        if (made.open && list.childElementCount === 0) {
          list.append(...this._items(some));
          this._markRoot();
        }
      } }, element("summary", {}, `${title} (${some.length})`), list);
      return [element("li", {}, made)];
    }

    _items(some) {
      const { model } = this.viewer;
      const items = some.slice(0, MOST).map((one) => {
        const graphPath = paths.graph(model.pathOf(one.number, 0));
        const kind = ["entry", "fusion", "applied"].includes(one.kind) ? "" : one.kind;
        return this._item(this._nameOf(one), `${kind} ${one.size}`,
          () => this.viewer.openAlone(graphPath), { "data-graph": graphPath }, Hlo.twoEnds);
      });
      if (some.length > MOST) {
        items.push(element("li", { class: "dim" },
          ` and ${some.length - MOST} more: search finds them`));
      }
      return items;
    }

    /* Names of fused computations say little: what they do says more. */
    _nameOf({ number, name, kind }) {
      const { model } = this.viewer;
      const [caller] = kind === "fusion" ? model.callersOf(number) : [];
      return caller ? `${model.titleText(caller.computation, caller.instruction)}, ${name}` : name;
    }

    _fillScopes() {
      const { model } = this.viewer, counts = new Map();
      for (const { scope } of model.computations) {
        for (const number of scope) {
          const name = number < 0 ? "" : model.strings[number];
          const outer = name.slice(0, Math.max(0, name.lastIndexOf("/")));
          if (outer !== "") {
            counts.set(outer, (counts.get(outer) || 0) + 1);
          }
        }
      }
      const chosen = this._scopes.value;
      const scopes = [...counts].sort((a, b) => (a[0] < b[0] ? -1 : 1)).slice(0, MOST_SCOPES);
      this._parts.scopes.hidden = this._scopes.hidden = scopes.length < 2;
      this._scopes.replaceChildren(element("option", { value: "" }, "all scopes"),
        ...scopes.map(([name, count]) => element("option", { value: name }, `${name} (${count})`)));
      // The scope stays chosen where the module that is shown now has it too.
      this._scopes.value = scopes.some(([name]) => name === chosen) ? chosen : "";
      this._filter(this._scopes.value);
    }

    /** Makes pale what is in no scope that begins so. */
    _filter(scope) {
      const { viewer } = this, { model } = viewer;
      viewer.pale("scope", scope === "" ? null
        : (c, i) => !model.scopeText(c, i).startsWith(scope));
    }

    _markRoot() {
      for (const button of this._computations.querySelectorAll("button")) {
        button.setAttribute("aria-current", String(button.dataset.graph === this.viewer.root));
      }
    }

    _markStage() {
      const { picture, camera } = this.viewer;
      if (picture === null || this.place.hidden || picture.root.stages.length < 2) {
        return;
      }
      const now = picture.root.stageAt(camera.y + camera.height / camera.k / 3);
      if (now !== this._stage) {
        this._stage = now;
        let current = null;
        for (const button of this._stages.querySelectorAll("button")) {
          current = Number(button.dataset.stage) <= now ? button : current;
          button.setAttribute("aria-current", "false");
        }
        if (current !== null) {
          current.setAttribute("aria-current", "true");
        }
      }
    }
  }

  Hlo.Outline = Outline;
})(globalThis);
