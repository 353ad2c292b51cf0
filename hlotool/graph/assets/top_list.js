"use strict";
/* Which instructions have most of what an overlay says, or live while memory is at its peak. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell } = Hlo;
  const PART = 10;
  /* Calls of these hand on to what they call; what is in those counts by itself. */
  const INNER = ["fusion", "applied"];

  /** What there is to list: [{c, i, value}] with the largest first, and what shares are of. */
  function heaviest(model, data) {
    const found = [];
    for (const { number: c, kind, size } of model.computations) {
      const values = data.values[c];
      for (let i = 0; i < size && values !== undefined && !INNER.includes(kind); i++) {
        if (values[i] !== null && values[i] !== 0 && !isCounted(model, data, c, i)) {
          found.push({ c, i, value: values[i] });
        }
      }
    }
    const total = data.sum === "sum" && found.every(({ value }) => value > 0)
      ? found.reduce((sum, { value }) => sum + value, 0) : 0;
    return { found: found.sort((one, other) => Math.abs(other.value) - Math.abs(one.value)),
      total };
  }

  /* Whether the value of a loop, branch or call is that of what stands in the list anyway. */
  function isCounted(model, data, c, i) {
    return model.computations[c].callIndex.has(i) && model.callsOf(c, i).some(({ computation }) =>
      !INNER.includes(model.computations[computation].kind)
      && (data.values[computation] || []).some((value) => value !== null));
  }

  /** The values that live where memory is used most, as `heaviest`; the data have the largest. */
  function living({ values, bytes }) {
    const found = [];
    for (let n = 0; n < values.length; n += 3) {
      found.push({ c: values[n], i: values[n + 1], value: values[n + 2] });
    }
    return { found, total: bytes };
  }

  /** The list over the legend; it is there as long as it is asked for. */
  class TopList {
    constructor(page) {
      const { viewer } = page;
      Object.assign(this, { page, viewer, _shown: PART });
      this.place = element("aside", { id: "top", "aria-label": "Top", hidden: true });
      shell("view").append(this.place);
      this.place.addEventListener("keydown", (event) => this._key(event));
      viewer.signals.on("top", () => this.show(this.place.hidden));
      viewer.signals.on("legend", () => this._follow());
    }

    get isOpen() { return !this.place.hidden; }

    /** Opens the list, of operations or bytes where no overlay is on, or closes it. */
    show(isOpen) {
      const { viewer } = this;
      if (isOpen && (viewer.overlay === null || viewer.overlay.kind === "categorical")) {
        const name = ["flops", "bytes"].find((one) => viewer.model.overlay(one) !== null);
        if (name === undefined) {
          this.page.notice("There are no numbers to rank these instructions by.");
          return;
        }
        this.page.legend.show(name);
      }
      this._shown = PART;
      this.place.hidden = !isOpen;
      this._fill();
      if (isOpen) {
        this.place.querySelector("li button")?.focus({ preventScroll: true });
      } else {
        shell("marks").focus({ preventScroll: true });
      }
    }

    _follow() {
      const { overlay } = this.viewer;
      if (!this.isOpen) {
        return;
      }
      if (overlay === null || overlay.kind === "categorical") {
        this.place.hidden = true;
      } else if (overlay !== this._of) {
        this._fill();
      }
    }

    _fill() {
      const { viewer } = this, { overlay } = viewer;
      this._of = overlay;
      if (!this.isOpen) {
        this.place.replaceChildren();
        return;
      }
      const { title, note, found, total } = overlay.data.peak ? this._peak()
        : { title: `Most ${overlay.label}`, note: "", ...heaviest(viewer.model, overlay.data) };
      const close = element("button", { type: "button", "aria-label": "Close the list",
        title: "Close (T)", onclick: () => this.show(false) }, "×");
      const list = element("ol");
      this.place.replaceChildren(element("h2", {}, element("span", {}, title), close),
        note === "" ? "" : element("div", { class: "dim" }, note), list);
      Hlo.pagedList(list, found, { size: PART, begin: this._shown, look: "more",
        make: (one) => element("li", {}, this._row(one, total)),
        words: (rest) => (rest <= PART ? `the last ${rest}`
          : `the next ${PART} of ${rest.toLocaleString("en")} more`),
        added: (first, last) => {
          this._shown = last;
          list.children[first].firstChild.focus();
        } });
    }

    _peak() {
      const { model, overlay: { data: { peak } } } = this.viewer, { found, total } = living(peak);
      const sum = found.reduce((bytes, { value }) => bytes + value, 0);
      const rest = peak.count - found.length;
      return { found, total, title: "Living at the peak",
        note: `${Hlo.readable(total, "B")} at ${model.name(...peak.at)}, ` +
          `in ${Hlo.counted(peak.count, "value")}${rest <= 0 ? ""
            : `; the ${found.length} largest have ${Hlo.readable(sum, "B")}`}` };
    }

    _row({ c, i, value }, total) {
      const { viewer } = this, { model, overlay } = viewer, path = model.pathOf(c, i);
      const share = total > 0 ? `${(100 * value / total).toFixed(1)} %` : "";
      return element("button", { type: "button", "data-path": path,
        onclick: () => viewer.jump(path),
        onmouseenter: () => viewer.hover(path), onmouseleave: () => viewer.hover("") },
      element("span", { class: "value" }, Hlo.readable(value, overlay.unit)),
      element("span", { class: "share" }, share),
      element("span", { class: "what" }, element("b", {}, Hlo.boxTitle(model, c, i)),
        ` ${model.name(c, i)} `, element("span", { class: "dim" },
          Hlo.labels.cut(model.shapePlain(c, i), 60))));
    }

    /* Arrow keys go along the list, Enter presses the button. */
    _key(event) {
      const buttons = [...this.place.querySelectorAll("li button")];
      const at = buttons.indexOf(document.activeElement);
      const last = buttons.length - 1;
      const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: last }[event.key];
      if (event.key === "Escape") {
        this.show(false);
      } else if (to !== undefined) {
        buttons[Math.max(0, Math.min(last, to))]?.focus();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }
  }

  Hlo.parts = Hlo.parts || [];
  Hlo.parts.push((page) => {
    const top = page.top = new TopList(page);
    Hlo.addKeys(page, [{ keys: ["T"], group: "Finding", run: () => top.show(!top.isOpen),
      text: "what has most of the overlay, or lives at the peak" }]);
  });
  Hlo.living = living;
})(globalThis);
