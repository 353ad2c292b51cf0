"use strict";
/* Overlays: data of the instructions as colours, with a legend that filters. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const STEPS = 48, BINS = 40;
  /* Values further apart than this are told apart by their magnitude only. */
  const WIDE = 200;
  const PREFIXES = ["", "k", "M", "G", "T", "P", "E"];
  const OF_BYTES = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

  /** Returns a number in few digits: 1.23 M, with the unit if there is one; 1.18 MiB of bytes. */
  function readable(value, unit = "") {
    const [step, prefixes] = unit === "B" ? [1024, OF_BYTES] : [1000, PREFIXES];
    const size = Math.abs(value);
    let power = 0;
    while (power < prefixes.length - 1 && size >= step ** (power + 1)) {
      power++;
    }
    const scaled = value / step ** power;
    const isShort = Number.isInteger(scaled) || Math.abs(scaled) >= 100;
    const digits = size !== 0 && size < 0.001 ? value.toExponential(1)
      : isShort ? String(Math.round(scaled)) : scaled.toPrecision(3);
    const suffix = `${prefixes[power]}${unit}`;
    return suffix === "" ? digits : `${digits} ${suffix}`;
  }

  /** What an overlay is called on the page: its name may be shorter than what it says. */
  function overlayLabel({ label, name }) {
    return label || name;
  }

  function colourAt(stops, share) {
    const at = Math.max(0, Math.min(1, share)) * (stops.length - 1);
    const low = Math.min(stops.length - 2, Math.floor(at));
    return Hlo.mixed(stops[low], stops[low + 1], at - low);
  }

  /** A scale from values to colours; what is common to numbers and words. */
  class Overlay {
    constructor(model, data, theme) {
      Object.assign(this, { model, data, name: data.name, unit: data.unit, kind: data.kind,
        label: overlayLabel(data) });
      this.range = null;
      this.setTheme(theme);
    }

    /** The value of an instruction, or null. */
    valueOf(c, i) {
      const values = this.data.values[c];
      const value = values === undefined ? null : values[i];
      return value === undefined ? null : value;
    }
  }

  class NumberOverlay extends Overlay {
    constructor(model, data, theme) {
      super(model, data, theme);
      const values = this._all();
      this.smallest = values.reduce((least, value) => Math.min(least, value), Infinity);
      this.largest = values.reduce((most, value) => Math.max(most, value), -Infinity);
      this.least = values.reduce((low, value) =>
        (value > 0 && value < low ? value : low), Infinity);
      this.isWide = this.kind === "sequential" && this.largest / this.least > WIDE;
      this.bins = this._bins(values);
      this.total = values.length;
    }

    setTheme(theme) {
      const stops = this.kind === "diverging"
        ? [theme.below, theme.paper, theme.above] : theme.sequence;
      this._colours = Array.from({ length: STEPS + 1 }, (_, n) => {
        const fill = colourAt(stops, n / STEPS);
        return { fill, text: Hlo.inkOn(fill) };
      });
      this._none = { fill: theme.paper, text: theme.quiet };
    }

    _all() {
      const found = [];
      for (const values of this.data.values) {
        for (const value of values || []) {
          if (value !== null) {
            found.push(value);
          }
        }
      }
      return found;
    }

    /** Where a value stands between the ends, 0 to 1. */
    share(value) {
      if (this.kind === "diverging") {
        const most = Math.max(Math.abs(this.smallest), Math.abs(this.largest)) || 1;
        return (value / most + 1) / 2;
      }
      if (this.isWide) {
        return value <= 0 ? 0
          : Math.log(value / this.least) / Math.log(this.largest / this.least);
      }
      const low = Math.min(0, this.smallest);
      return this.largest === low ? 1 : (value - low) / (this.largest - low);
    }

    /** The value at a share: the other way of `share`. */
    valueAt(share) {
      if (this.kind === "diverging") {
        const most = Math.max(Math.abs(this.smallest), Math.abs(this.largest)) || 1;
        return (2 * share - 1) * most;
      }
      if (this.isWide) {
        return this.least * (this.largest / this.least) ** share;
      }
      const low = Math.min(0, this.smallest);
      return low + share * (this.largest - low);
    }

    _bins(values) {
      const bins = new Array(BINS).fill(0);
      for (const value of values) {
        bins[Math.max(0, Math.min(BINS - 1, Math.floor(this.share(value) * BINS)))]++;
      }
      return bins;
    }

    /** {fill, text} of the box of an instruction. */
    fillOf(c, i) {
      const value = this.valueOf(c, i);
      return value === null ? this._none
        : this._colours[Math.max(0, Math.min(STEPS, Math.round(this.share(value) * STEPS)))];
    }

    fillAt(share) {
      return this._colours[Math.round(share * STEPS)].fill;
    }

    text(c, i) {
      const value = this.valueOf(c, i);
      return value === null ? "–" : readable(value, this.unit);
    }

    /** Whether an instruction is out of the range that the legend was dragged to. */
    isOut(c, i) {
      if (this.range === null) {
        return false;
      }
      const value = this.valueOf(c, i);
      const share = value === null ? -1 : this.share(value);
      return share < this.range[0] - 1e-9 || share > this.range[1] + 1e-9;
    }
  }

  class WordOverlay extends Overlay {
    constructor(model, data, theme) {
      super(model, data, theme);
      const counts = new Map();
      for (const values of data.values) {
        for (const value of values || []) {
          if (value !== null && value >= 0) {
            counts.set(value, (counts.get(value) || 0) + 1);
          }
        }
      }
      /** [string number, count], the most frequent first. */
      this.words = [...counts].sort((a, b) => b[1] - a[1]);
      this._order = new Map(this.words.map(([word], n) => [word, n]));
    }

    setTheme(theme) {
      this._colours = theme.kinds.map((line) => {
        const fill = Hlo.mixed(theme.paper, line, theme.dark ? 0.5 : 0.45);
        return { fill, text: Hlo.inkOn(fill) };
      });
      this._rest = { fill: theme.surface, text: theme.ink };
      this._none = { fill: theme.paper, text: theme.quiet };
    }

    fillOf(c, i) {
      const value = this.valueOf(c, i);
      return value === null || value < 0 ? this._none : this.fillOfWord(value);
    }

    fillOfWord(word) {
      return this._colours[this._order.get(word)] || this._rest;
    }

    text(c, i) {
      const value = this.valueOf(c, i);
      return value === null || value < 0 ? "–" : this.model.strings[value];
    }

    isOut(c, i) {
      return this.range !== null && !this.range.includes(this.valueOf(c, i));
    }
  }

  function makeOverlay(model, name, theme) {
    const data = model.overlay(name);
    if (data === null) {
      return null;
    }
    return data.kind === "categorical"
      ? new WordOverlay(model, data, theme) : new NumberOverlay(model, data, theme);
  }

  Object.assign(Hlo, { makeOverlay, overlayLabel, readable });
})(globalThis);
