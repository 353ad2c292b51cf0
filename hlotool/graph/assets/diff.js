"use strict";
/* A page over two modules: both graphs side by side, linked, with a list of the differences. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell, paths } = Hlo;

  /* Pixels above the first boxes at the beginning. */
  const LEAST_TOP = 16;

  class Comparison {
    constructor(page) {
      const { viewer } = page;
      this.page = page;
      this._makeShell();
      this.pane = new Hlo.Pane(page, 0);
      this.viewers = [viewer, this.pane.viewer];
      this.difference = new Hlo.Difference(viewer.outer.difference,
        this.viewers.map(({ model }) => model));
      this.isLinked = true;
      this.isReady = false;
      this._leader = 0;
      this._pair = null;
      this.list = new Hlo.DifferenceList(this.difference, { place: shell("differences"),
        chosen: (item) => this._goTo(item) });
      this._caption();
      this._bindKeys();
      this.viewers.forEach((one, side) => this._listen(one, side));
      this._fade(viewer.outer.difference.equal === 0);
    }

    async start() {
      await this.pane.start();
      // Sizes are known when a frame has been laid out.
      requestAnimationFrame(() => setTimeout(() => {
        this.page.measure();
        this.pane.measure();
        this._begin();
        this._mark();
        this._count();
        this._selected(0);
        this.isReady = true;
      }));
    }

    /* Both at the beginning, equally large, what is first of the pairs in sight at one height. */
    _begin() {
      const [old, now] = this.viewers.map(({ camera }) => camera);
      this._isFollowing = true;
      if (Hlo.parseHash(root.location.hash).values.at === undefined) {
        this.viewers.forEach((viewer) => viewer.start());
        const k = Math.min(old.k, now.k), highest = Math.max(old.bounds.height, now.bounds.height);
        const top = Math.max(LEAST_TOP / k, (old.height / k - highest) / 2);
        for (const camera of [old, now]) {
          camera.set(camera.x + camera.width / 2 * (1 / camera.k - 1 / k), -top, k);
        }
      } else {
        now.set(old.x, old.y, old.k);
      }
      this._isFollowing = false;
      this._pair = this._firstPair();
      this._align();
    }

    /** The first box in sight that both sides have, with its partner; or null. */
    _firstPair() {
      const [{ picture, camera }, { picture: other }] = this.viewers;
      for (const path of picture.instructionPaths()) {
        const partner = camera.sees(picture.find(path)) ? this.difference.otherPath(0, path) : "";
        const box = partner === "" ? null : other.find(partner);
        if (box !== null && box.exact) {
          return [path, partner];
        }
      }
      return null;
    }

    /** Opens all on both sides, or closes it. */
    async _openAll() {
      const isOpen = !this._isAllOpen;
      this._isAnswer = true;
      for (const viewer of this.viewers) {
        viewer.remember();
        viewer.open = new Set(isOpen ? viewer.everything() : []);
        await viewer.layout({ anchor: viewer.selected || viewer.middle() });
      }
      this._isAnswer = false;
      this._align();
    }

    get _isAllOpen() {
      return this.viewers.every((one) => one.everything().length === 0 || one.isAllOpen);
    }

    /* What is said above each side, and the button that is about both. */
    _count() {
      this.viewers.forEach(({ model, picture }, side) => {
        this._counts[side].textContent = picture === null ? ""
          : ` ${Hlo.counted(model.instructions, "instruction")}, ` +
            Hlo.counted(picture.stats.nodes, "box", "boxes");
      });
      const button = shell("open-all");
      button.disabled = this.viewers.every((one) => one.everything().length === 0);
      button.textContent = !button.disabled && this._isAllOpen ? "Close all" : "Open all";
      button.title = "Open or close all fusions, loops and calls of both sides (x)";
    }

    _makeShell() {
      const { page } = this, sides = element("div", { class: "sides" });
      document.body.classList.add("comparing");
      shell("work").prepend(element("aside", { id: "differences", "aria-label": "Differences" }));
      shell("view").before(sides);
      sides.append(shell("view"));
      this._detail = element("div", { id: "difference", role: "status" });
      sides.after(this._detail);
      shell("modules").hidden = true;
      page.showOverview(false);
      page.showOutline(false);
    }

    _caption() {
      const button = (text, title, call) => element("button", { type: "button", title,
        "aria-pressed": "true", onclick: call }, text);
      this._link = button("Linked", "Both graphs move together", () => {
        this.isLinked = !this.isLinked;
        this._link.setAttribute("aria-pressed", String(this.isLinked));
        this._align();
      });
      this._fader = button("Fade equal", "Equal instructions are pale", () =>
        this._fade(this._fader.getAttribute("aria-pressed") !== "true"));
      shell("differences").querySelector(".steps").after(
        element("div", { class: "switches" }, this._link, this._fader));
      this._counts = ["", ""].map(() => element("span", { class: "dim" }));
      shell("view").before(...this._counts.map((counts, side) => element("div",
        { class: "caption" }, side === 0 ? "old " : "new ",
        element("b", {}, this.difference.titles[side]), counts)));
      shell("bar").addEventListener("click", (event) => {
        if (event.target.closest("#open-all")) {
          event.stopPropagation();
          this._openAll();
        }
      }, { capture: true });
    }

    _mark() {
      this.viewers.forEach((viewer, side) => {
        viewer.markOf = (path) => this.difference.mark(side,
          viewer.model.computationOf(paths.graph(path)), paths.instruction(path));
        viewer.lineMarks = this.difference.lines(side);
        viewer.signals.give("colours");
      });
      this.page.text.show(this.page.text.isOpen);
    }

    _fade(isOn) {
      this._fader.setAttribute("aria-pressed", String(isOn));
      this.viewers.forEach((viewer, side) => {
        viewer.pale("difference", isOn ? (c, i) => this.difference.isSame(side, c, i) : null);
      });
    }

    _listen(viewer, side) {
      if (side === 0) {
        shell("bar").addEventListener("pointerdown", () => { this._leader = 0; });
      }
      const place = [shell("view"), this.pane.element][side];
      for (const name of ["pointerdown", "wheel", "keydown"]) {
        place.addEventListener(name, () => { this._leader = side; }, { capture: true });
      }
      viewer.signals.on("selection", () => this._selected(side));
      viewer.signals.on("camera", () => this._moved(side));
      viewer.signals.on("picture", () => {
        this._align();
        this._mirror(side);
        this._count();
      });
      this._last = this._last || [];
      this._last[side] = null;
    }

    /** What is selected on one side is selected and shown on the other. */
    async _selected(side) {
      if (this._isAnswer) {
        return;
      }
      this._leader = side;
      const viewer = this.viewers[side], other = this.viewers[1 - side], { selected } = viewer;
      const path = selected === "" ? "" : this.difference.otherPath(side, selected);
      this._answer(() => other.select(path));
      this._describe(side, selected);
      this._pair = path === "" ? this._neighbours(side, selected) : [selected, path];
      if (path !== "") {
        const box = viewer.selectedBox();
        await other.reveal(path, box !== null && box.exact);
      }
      this._align();
    }

    _answer(call) {
      this._isAnswer = true;
      call();
      this._isAnswer = false;
    }

    /* For what one side alone has: an operand or user that has a partner, so that both sides show
       the same surroundings. */
    _neighbours(side, selected) {
      if (selected === "") {
        return null;
      }
      const { model } = this.viewers[side], graphPath = paths.graph(selected);
      const c = model.computationOf(graphPath), i = paths.instruction(selected);
      const near = [...model.operandsOf(c, i), ...model.usersOf(c, i)];
      const found = near.find((one) => this.difference.partner(side, c, one) !== null);
      const path = found === undefined ? "" : paths.join(graphPath, found);
      const other = path === "" ? "" : this.difference.otherPath(side, path);
      return other === "" ? null : [path, other];
    }

    /* One side has moved: the other follows, with the pair at the same place of the window. */
    _moved(side) {
      const { camera } = this.viewers[side], before = this._last[side];
      this._last[side] = { x: camera.x, y: camera.y, k: camera.k };
      if (side !== this._leader || !this.isLinked || this._isFollowing || before === null) {
        return;
      }
      if (!this._align() && this.viewers[1 - side].picture !== null) {
        const other = this.viewers[1 - side].camera;
        this._follow(() => other.set(other.x + camera.x - before.x, other.y + camera.y - before.y,
          other.k * camera.k / before.k));
      }
    }

    _follow(call) {
      this._isFollowing = true;
      this.viewers[1 - this._leader].camera.stop();
      call();
      this._isFollowing = false;
    }

    /** Puts the pair at the same place on both sides; returns whether there is one. */
    _align() {
      const one = this.viewers[this._leader], other = this.viewers[1 - this._leader];
      if (this._pair === null || !this.isLinked || one.picture === null
        || other.picture === null) {
        return false;
      }
      const box = one.picture.find(this._pair[0]), partner = other.picture.find(this._pair[1]);
      if (box === null || partner === null) {
        return false;
      }
      const { k } = one.camera, screen = one.camera.toScreen(box.x, box.y);
      this._follow(() => other.camera.set(partner.x - screen.x / k, partner.y - screen.y / k, k));
      return true;
    }

    /* What is opened or closed on the leading side is so on the other. */
    async _mirror(side) {
      const one = this.viewers[side], other = this.viewers[1 - side];
      if (side !== this._leader || !this.isLinked || other.picture === null || this._isAnswer) {
        return;
      }
      const wanted = [...one.open].map((path) => this.difference.otherPath(side, path))
        .filter((path) => path !== "");
      // What has no partner stays as it is.
      const alone = [...other.open].filter((path) =>
        this.difference.otherPath(1 - side, path) === "");
      const open = new Set([...wanted, ...alone]);
      if (open.size !== other.open.size || [...open].some((path) => !other.open.has(path))) {
        other.open = open;
        await other.layout();
      }
    }

    /** An entry of the list was chosen. */
    _goTo({ side, c, i }) {
      const viewer = this.viewers[side];
      this._leader = side;
      viewer.jump(Hlo.nearestPath(viewer.model, viewer.picture, viewer.selected,
        { computation: c, instruction: i }));
    }

    /** Both lines of what is selected, and in what they differ. */
    _describe(side, selected) {
      if (selected === "") {
        this._detail.replaceChildren(element("p", { class: "dim" },
          "A click on a box, or n for the next difference, shows both lines here."));
        return;
      }
      const c = this.viewers[side].model.computationOf(paths.graph(selected));
      const i = paths.instruction(selected), item = this.difference.about(side, c, i);
      this.list.show(side, c, i);
      const words = item.words.length > 0 ? item.words
        : [{ added: "only in the new module", removed: "only in the old module",
          changed: "differs in a constant or inside", "": "equal on both sides" }[item.mark]];
      const [old, now] = item.lines;
      this._detail.replaceChildren(element("p", { class: item.mark },
        element("b", {}, `${Hlo.signs[item.mark] || "="} `), words.join("; ")),
      ...(old === now ? [line("=", "same", old, null)]
        : [line(Hlo.signs.removed, "removed", old, now),
          line(Hlo.signs.added, "added", now, old)])
        .filter((one) => one !== null));
    }

    _bindKeys() {
      Hlo.addKeys(this.page, [{ keys: ["n", "N"], group: "Differences",
        text: "next difference, the one before (where nothing is searched for)" }]);
      document.addEventListener("keydown", (event) => this._key(event), { capture: true });
    }

    _key(event) {
      const isTyping = event.target.closest("input, select, dialog") !== null;
      if (event.ctrlKey || event.metaKey || isTyping) {
        return;
      }
      const by = { n: 1, N: -1 }[event.key];
      const isOther = this.pane.element.contains(event.target);
      if (by !== undefined && this.viewers[0].hits.length === 0) {
        this.list.step(by);
      } else if (event.key === "x") {
        this._openAll();
      } else if (isOther && (event.key === "e" || event.key === "E")) {
        Hlo.saveSvg(this.pane.viewer, (...said) => this.page.notice(...said), event.key === "E");
      } else if (event.key === "Escape" && this.viewers[1].selected !== ""
        && this.viewers[0].selected === "") {
        this.viewers[1].select("");
      } else if (event.key !== "m" && !(isOther && this.pane.press(event))) {
        return;
      }
      this._leader = isOther ? 1 : this._leader;
      event.preventDefault();
      event.stopPropagation();
    }
  }

  function line(sign, kind, text, other) {
    if (text === "") {
      return null;
    }
    const pieces = other === null || other === "" ? ["", text, ""]
      : Hlo.differingPart(text, other);
    return element("div", { class: `line ${kind}` }, element("span", { class: "sign" }, sign),
      element("code", {}, pieces[0], other ? element("b", {}, pieces[1]) : pieces[1], pieces[2]));
  }

  function start(page) {
    if (!page.viewer.outer.difference) {
      return;
    }
    const made = new Comparison(page);
    root.hlotool.comparison = made;
    made.start();
  }

  (Hlo.parts = Hlo.parts || []).push(start);
})(globalThis);
