"use strict";
/* Searching: the field at the top, the list of hits below it, the hits in the picture. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const LISTED = 200, MARKED = 3000, DELAY = 120;

  class Search {
    constructor(viewer, { form, field, count, before, after }) {
      Object.assign(this, { viewer, form, field, count, before, after });
      this._list = element("ul", { id: "found", role: "listbox", "aria-label": "Hits",
        hidden: true });
      form.append(this._list);
      this._timer = 0;
      field.addEventListener("input", () => {
        clearTimeout(this._timer);
        this._timer = setTimeout(() => this.run(), DELAY);
      });
      field.addEventListener("focus", () => this._showList(viewer.hits.length > 0));
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
      viewer.signals.on("picture", () => this._mark());
      viewer.signals.on("module", () => this.run());
    }

    get text() { return this.field.value; }

    set text(value) {
      this.field.value = value;
      this.run();
    }

    focus() {
      this.field.focus();
      this.field.select();
    }

    /** Searches for what is in the field. */
    run() {
      clearTimeout(this._timer);
      const { viewer } = this, { model } = viewer;
      this._ran = this.text;
      let found = [];
      try {
        found = model.search(this.field.value);
        this.field.classList.remove("wrong");
        this.field.title = "";
      } catch (error) {
        this.field.classList.add("wrong");
        this.field.title = error.message;
      }
      viewer.hits = this._ordered(found);
      viewer.hit = -1;
      this._describe();
      this._fillList();
      this._mark();
      this._showList(viewer.hits.length > 0 && document.activeElement === this.field);
    }

    /* The entry first, then the others in the order of the text. */
    _ordered(found) {
      const { model } = this.viewer;
      const outer = found.filter(({ computation }) => computation === model.entry);
      const inner = found.filter(({ computation }) => computation !== model.entry);
      const known = new Map();
      return [...outer, ...inner].map(({ computation, instruction }) => {
        if (!known.has(computation)) {
          known.set(computation, paths.graph(model.pathOf(computation, instruction)));
        }
        return paths.join(known.get(computation), instruction);
      });
    }

    _describe() {
      const { hits, hit } = this.viewer, isEmpty = this.field.value.trim() === "";
      const position = hit < 0 ? "" : `${hit + 1}/`;
      this.count.textContent = this.field.classList.contains("wrong") ? "not valid"
        : isEmpty ? "" : hits.length === 1 ? "1 hit" : `${position}${hits.length} hits`;
      this.before.disabled = this.after.disabled = hits.length === 0;
    }

    _fillList() {
      const { model, hits } = this.viewer;
      this._list.replaceChildren(...hits.slice(0, LISTED).map((path, n) => {
        const c = model.computationOf(paths.graph(path)), i = paths.instruction(path);
        return element("li", { role: "option", "data-hit": n, id: `hit-${n}` },
          element("b", {}, model.name(c, i)), ` ${model.opcode(c, i)} ${model.shapePlain(c, i)} `,
          c === model.entry ? null
            : element("span", { class: "dim" }, `in ${model.computations[c].name}`));
      }));
      if (hits.length > LISTED) {
        this._list.append(element("li", { class: "dim" }, `and ${hits.length - LISTED} more`));
      }
    }

    _showList(isShown) {
      this._list.hidden = !isShown;
    }

    _pick(event) {
      const item = event.target.closest("li");
      if (item !== null && item.dataset.hit !== undefined) {
        event.preventDefault();
        this._go(Number(item.dataset.hit));
        this._showList(false);
      }
    }

    _key(event) {
      if (event.key === "Enter") {
        event.preventDefault();
        if (this._ran !== this.text) {
          this.run();
        }
        this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
        event.preventDefault();
        this.step(event.key === "ArrowDown" ? 1 : -1);
      } else if (event.key === "Escape") {
        // The hits stay, so that n and N can go through them.
        event.stopPropagation();
        event.preventDefault();
        this._showList(false);
        Hlo.shell("marks").focus({ preventScroll: true });
      }
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
      this._describe();
      for (const item of this._list.children) {
        item.setAttribute("aria-selected", String(Number(item.dataset.hit) === number));
      }
      const current = this._list.children[number];
      if (current && !this._list.hidden) {
        current.scrollIntoView({ block: "nearest" });
      }
      viewer.jump(viewer.hits[number]);
    }

    /* Boxes of the hits in the picture, each once. */
    _mark() {
      const { viewer } = this, { picture } = viewer, boxes = new Map();
      for (const path of picture === null ? [] : viewer.hits.slice(0, MARKED)) {
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
