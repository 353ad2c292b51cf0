"use strict";
/* Long lists: only the rows in sight are in the document. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const MARGIN = 10;

  /** A list of rows of one height in an element that scrolls. */
  class Rows {
    /**
     * `make(number)` returns an element for a row; `mark(element, number)` is called whenever what
     * it says about the row may have changed. `height` in px.
     */
    constructor(place, { height, label, make, mark = () => {} }) {
      Object.assign(this, { place, height, make, mark, count: 0 });
      /* How far it is scrolled, how high it is: to ask for them means to have all laid out. */
      Object.assign(this, { _top: 0, _high: 0, _offset: 0 });
      this.list = element("div", { class: "rows", tabindex: "0", role: "list",
        "aria-label": label });
      place.append(this.list);
      this._shown = new Map();
      place.addEventListener("scroll", () => this._look());
      this._observer = new ResizeObserver(() => this._look());
      this._observer.observe(place);
    }

    /** Shows so many rows, all anew; `width` is that of the widest in px, 0 for the place's. */
    set(count, width = 0) {
      this.count = count;
      this._shown.clear();
      this.list.replaceChildren();
      this.list.style.height = `${count * this.height}px`;
      this.list.style.width = width > 0 ? `${width}px` : "";
      if (this._top > 0 || this._high === 0) {
        this._look();
      } else {
        this._fill();
      }
    }

    /** Scrolls to the first row. */
    begin() {
      if (this._top > 0) {
        this.place.scrollTo(0, 0);
        this._top = 0;
      }
    }

    /** Marks the rows in sight again. */
    refresh() {
      for (const [number, row] of this._shown) {
        this.mark(row, number);
      }
    }

    /** Brings a row into sight, near the middle if it was not. */
    reveal(number) {
      const top = number * this.height, { _top: above, _high: high } = this;
      if (high === 0 || top < above || top + this.height > above + high - 14) {
        this.place.scrollTop = Math.max(0, top - this.place.clientHeight / 2);
        this._look();
      }
    }

    /** The number of the row that an element is in, or -1. */
    numberOf(target) {
      const row = target.closest("[data-row]");
      return row === null || !this.list.contains(row) ? -1 : Number(row.dataset.row);
    }

    /** Rows are shown no more. */
    close() {
      this._observer.disconnect();
    }

    _look() {
      this._top = this.place.scrollTop;
      this._high = this.place.clientHeight;
      this._offset = this.list.offsetTop;
      this._fill();
    }

    _fill() {
      const { height, count, _high: high } = this;
      const offset = Math.max(0, this._top - this._offset);
      const first = Math.max(0, Math.floor(offset / height) - MARGIN);
      const last = Math.min(count, Math.ceil((offset + high) / height) + MARGIN);
      for (const [number, row] of this._shown) {
        if (number < first || number >= last) {
          row.remove();
          this._shown.delete(number);
        }
      }
      for (let number = first; number < last; number++) {
        if (!this._shown.has(number)) {
          this._add(number);
        }
      }
    }

    _add(number) {
      const row = this.make(number);
      row.dataset.row = number;
      row.style.top = `${number * this.height}px`;
      row.style.height = `${this.height}px`;
      row.setAttribute("role", "listitem");
      row.setAttribute("aria-setsize", this.count);
      row.setAttribute("aria-posinset", number + 1);
      this._shown.set(number, row);
      this.mark(row, number);
      this.list.append(row);
    }
  }

  Hlo.Rows = Rows;
})(globalThis);
