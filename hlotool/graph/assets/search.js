"use strict";
/* Searching: the field at the top, the list of hits below it, the hits in the picture. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const MARKED = 3000, DELAY = 120;

  class Search {
    constructor(viewer, { form, field, count, before, after }) {
      Object.assign(this, { viewer, form, field, count, before, after });
      /** Finds what other states of the page have: (query) -> [{name, note, go}]; null: nothing. */
      this.elsewhere = null;
      /** Called with the path of a hit that Enter was pressed on; null: nothing else happens. */
      this.entered = null;
      this._patterns = new Hlo.Patterns();
      this._wrong = "";
      this._step = 0;
      this._list = element("ul", { id: "found", role: "listbox", "aria-label": "Hits",
        hidden: true });
      form.append(this._list);
      Object.assign(this, { _timer: 0, _query: { terms: [] }, _others: [], _other: -1,
        _ran: "", _ranWith: [null, null] });
      this._listen();
    }

    _listen() {
      const { field, form, viewer, before, after } = this;
      field.addEventListener("input", () => this._runSoon());
      field.addEventListener("focus", () => this._showList(this._hasList));
      form.addEventListener("focusout", (event) => {
        if (!form.contains(event.relatedTarget)) {
          this._showList(false);
        }
      });
      field.addEventListener("keydown", (event) => this._key(event));
      form.addEventListener("submit", (event) => event.preventDefault());
      before.addEventListener("click", () => this.step(-1));
      after.addEventListener("click", () => this.step(1));
      this._list.addEventListener("pointerdown", (event) => this._pick(event));
      viewer.signals.on("picture", () => this._follow());
      viewer.signals.on("module", () => this.run());
      viewer.signals.on("legend", () => this._isOld && this._runSoon());
    }

    get text() { return this.field.value; }

    set text(value) {
      this.field.value = value;
      this.run();
    }

    /* Whether what counts besides the text is another thing than it was. */
    get _isOld() {
      const { overlay, legendTest } = this.viewer;
      return overlay !== this._ranWith[0] || legendTest !== this._ranWith[1];
    }

    get _hasList() { return this.viewer.hits.length + this._others.length > 0; }

    focus() {
      this.field.focus();
      this.field.select();
    }

    _runSoon() {
      clearTimeout(this._timer);
      this._timer = setTimeout(() => this.run(), DELAY);
    }

    /** Searches for what is in the field, among what the legend leaves. */
    run() {
      clearTimeout(this._timer);
      const { viewer } = this, current = this._ran === this.text ? viewer.hits[viewer.hit] : "";
      this._ran = this.text;
      this._ranWith = [viewer.overlay, viewer.legendTest];
      this._query = this._tried(this._parsed());
      viewer.hits = this._found();
      viewer.hit = viewer.hits.indexOf(current);
      this._others = this.elsewhere === null || this._query.terms.length === 0 ? []
        : this.elsewhere(this._query);
      this._other = -1;
      this._describe();
      this._fillList();
      this._markSoon();
      this._showList(this._hasList && document.activeElement === this.field);
    }

    _parsed() {
      try {
        const query = Hlo.parseSearch(this.text);
        this._sayWrong("", "");
        return query;
      } catch (error) {
        this._sayWrong("not valid", error.message);
        return { terms: [] };
      }
    }

    _sayWrong(wrong, title) {
      this._wrong = wrong;
      this.field.classList.toggle("wrong", wrong !== "");
      this.field.title = title;
    }

    /* A query whose expressions are still being tried finds nothing yet. */
    _tried(query) {
      const { model } = this.viewer, text = this.text;
      this._isTrying = !this._patterns.isKnown(query, model);
      if (!this._isTrying) {
        return query;
      }
      this._patterns.ask(query, model).then(() => text === this.text && this._goOn(), (error) => {
        if (text === this.text) {
          this._isTrying = false;
          this._step = 0;
          this._sayWrong("takes too long", error.message);
          this._describe();
        }
      });
      return { terms: [] };
    }

    _goOn() {
      const step = this._step;
      this._step = 0;
      this.run();
      if (step !== 0) {
        this._enter(step);
        this._showList(false);
      }
    }

    /* Paths: the entry first, then the others in the order of the text; or by what an overlay
       says of them. With nothing in the field these are the boxes that the legend leaves. */
    _found() {
      const { viewer, _query: query } = this, { model, picture } = viewer;
      const left = viewer.legendTest, isLeft = ({ computation, instruction }) =>
        left === null || left(computation, instruction);
      if (query.terms.length > 0) {
        return this._ordered(model.search(query).filter(isLeft));
      }
      if (left === null || picture === null || this.field.classList.contains("wrong")) {
        return [];
      }
      const boxes = [...picture.instructionPaths()].map((path) => ({ path,
        computation: model.computationOf(paths.graph(path)), instruction: paths.instruction(path),
      }));
      return this._ranked(boxes.filter(isLeft)).map(({ path }) => path);
    }

    _ordered(found) {
      const { model } = this.viewer;
      const outer = found.filter(({ computation }) => computation === model.entry);
      const inner = found.filter(({ computation }) => computation !== model.entry);
      const known = new Map();
      return this._ranked([...outer, ...inner]).map(({ computation, instruction }) => {
        if (!known.has(computation)) {
          known.set(computation, paths.graph(model.pathOf(computation, instruction)));
        }
        return paths.join(known.get(computation), instruction);
      });
    }

    /* The largest value of the overlay first, if there is one. */
    _ranked(found) {
      const { overlay } = this.viewer;
      if (overlay === null || overlay.kind === "categorical") {
        return found;
      }
      const values = Float64Array.from(found, ({ computation, instruction }) =>
        overlay.valueOf(computation, instruction) ?? -Infinity);
      const order = Uint32Array.from(values.keys());
      order.sort((one, other) => (values[one] === values[other] ? one - other
        : values[other] - values[one]));
      return Array.from(order, (n) => found[n]);
    }

    /* What the legend leaves are boxes: others when something is opened. */
    _follow() {
      if (this._query.terms.length === 0 && this.viewer.legendTest !== null) {
        this._runSoon();
      } else {
        this._markSoon();
      }
    }

    _describe() {
      const { hits, hit } = this.viewer, others = this._others.length;
      const isEmpty = this._query.terms.length === 0 && hits.length === 0;
      const position = hit < 0 ? "" : `${hit + 1}/`;
      const elsewhere = others === 0 ? "" : `, ${others.toLocaleString("en")} elsewhere`;
      this.count.textContent = this._wrong !== "" ? this._wrong
        : this._isTrying ? "searching…"
        : isEmpty && this.text.trim() === "" ? ""
          : `${hits.length === 1 ? "1 hit" : `${position}${hits.length} hits`}${elsewhere}` +
            this._limit();
      // In a narrow window there is no room for all of it.
      this.count.title = this.count.textContent;
      this.before.disabled = this.after.disabled = hits.length === 0;
    }

    /* What an expression was not looked for in. */
    _limit() {
      const { searched } = this._patterns;
      const isPart = searched > 0 && this._query.terms.some(({ pattern }) => pattern !== undefined);
      return isPart ? ` in the first ${searched} characters` : "";
    }

    _fillList() {
      Hlo.fillHits(this._list, this.viewer, this._query, this._others);
    }

    _showList(isShown) {
      this._list.hidden = !isShown;
    }

    _pick(event) {
      const item = event.target.closest("li");
      if (item === null || (item.dataset.hit === undefined && item.dataset.other === undefined)) {
        return;
      }
      event.preventDefault();
      if (item.dataset.hit !== undefined) {
        this._go(Number(item.dataset.hit));
      } else {
        this._goElsewhere(Number(item.dataset.other));
      }
      this._showList(false);
    }

    _key(event) {
      if (event.key === "Enter") {
        event.preventDefault();
        if (this._ran !== this.text) {
          this.run();
        }
        this._enter(event.shiftKey ? -1 : 1);
        // It would cover what it leads to; an arrow key brings it back.
        this._showList(false);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        this._along(event.key === "ArrowDown" ? 1 : -1);
      } else if (event.key === "Escape") {
        // The hits stay, so that n and N can go through them.
        event.stopPropagation();
        event.preventDefault();
        this._showList(false);
        Hlo.shell("marks").focus({ preventScroll: true });
      }
    }

    _enter(by) {
      const { viewer } = this;
      if (this._isTrying) {
        this._step = by;
      } else if (this._other >= 0 || (this.viewer.hits.length === 0 && this._others.length > 0)) {
        this._goElsewhere(Math.max(0, this._other));
      } else {
        this.step(by);
        this.entered?.(viewer.hits[viewer.hit] ?? "");
      }
    }

    /* Hits are shown one by one; behind the last of them are those of other states, which take
       Enter: going there changes the whole picture. */
    _along(by) {
      const { hits, hit } = this.viewer, { _others: others, _other: other } = this;
      const next = other + by, isLast = by > 0 && hit === hits.length - 1 && others.length > 0;
      if (other < 0 && !isLast) {
        this.step(by);
      } else if (next >= 0 && next < others.length) {
        this._other = next;
        Hlo.markHit(this._list, "other", next);
      } else if (by < 0) {
        this._other = -1;
        Hlo.markHit(this._list, "hit", hit);
      }
    }

    _goElsewhere(number) {
      this._showList(false);
      this._others[number].go();
    }

    /** Goes to the next hit (1) or the one before (-1). */
    step(by) {
      const { hits, hit } = this.viewer;
      if (hits.length > 0) {
        this._go(Hlo.around(hit, by, hits.length));
      }
    }

    _go(number) {
      const { viewer } = this;
      viewer.hit = number;
      this._other = -1;
      this._describe();
      Hlo.markHit(this._list, "hit", number);
      viewer.jump(viewer.hits[number]);
    }

    /* Thousands of hits take some time to be found in the picture, so others come first. */
    _markSoon() {
      clearTimeout(this._marking);
      this.viewer.hitBoxes = [];
      this._marking = setTimeout(() => this._mark());
    }

    /* Boxes of the hits in the picture, each once; what the legend leaves is to be seen anyway. */
    _mark() {
      const { viewer } = this, { picture } = viewer, boxes = new Map();
      const isMarked = picture !== null && this._query.terms.length > 0;
      for (const path of isMarked ? viewer.hits.slice(0, MARKED) : []) {
        const box = picture.find(path);
        if (box !== null) {
          boxes.set(`${box.graph.path}|${box.stage}|${box.node}`, box);
        }
      }
      viewer.hitBoxes = [...boxes.values()];
      viewer.signals.give("hits");
    }
  }

  Hlo.Search = Search;
})(globalThis);
