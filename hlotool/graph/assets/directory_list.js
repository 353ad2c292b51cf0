"use strict";
/* The list of a directory: modules with their passes, texts and memory, graphs, files. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;
  const HEIGHT = 23;
  /* Characters of the end of an entry that stay where there is no room for all. */
  const LEAST_TAIL = 14, LONGEST_TAIL = 26;

  /**
   * What the list shows, as {kind, text, note, place, level, module}: kind is "module", "heading",
   * "item" or "more"; `place` is where a click leads, "" for nowhere.
   */
  class DirectoryEntries {
    /** `data` is the entry `directory` of the page, `runs` the PassRun of each module. */
    constructor(data, strings, runs) {
      Object.assign(this, { data, strings, runs });
    }

    text(number) { return number < 0 ? "" : this.strings[number]; }

    /** All entries; `open` and `all`: sets of modules that are unfolded, that show all passes. */
    list({ query, open, all }) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean), { data } = this;
      const isSearch = words.length > 0;
      const found = data.modules.flatMap((module, m) => {
        const own = isSearch || open.has(m)
          ? this._ofModule(module, m, isSearch || all.has(m)) : [];
        const kept = filtered(own, words, module.title);
        const head = { kind: "module", text: module.title, module: m, level: 0, place: "",
          note: module.folder, isOpen: own.length > 0 };
        return isSearch && kept.length === 0 && !fits(module.title, words) ? [] : [head, ...kept];
      });
      return [...found, ...filtered(this._graphs(), words, ""),
        ...filtered(this._others(), words, ""), ...filtered(this._files(), words, "")];
    }

    _ofModule(module, m, isAll) {
      return [...this._passes(module, m, isAll), ...this._memory(module, m),
        ...this._texts(module.texts)];
    }

    _passes({ stages, passes }, m, isAll) {
      const byStage = new Map(passes.map(({ stage }, p) => [stage, p]));
      const last = stages.length - 1, found = [];
      let pipeline = "", quiet = 0;
      stages.forEach((stage, s) => {
        const p = byStage.get(s);
        if (p !== undefined && this.runs[m].isQuiet(p) && s !== last && !isAll) {
          quiet++;
          return;
        }
        const own = p === undefined ? "" : this.runs[m].pipeline(p);
        if (own !== pipeline && own !== "") {
          found.push({ kind: "heading", text: own, level: 1, place: "" });
        }
        pipeline = own;
        found.push(this._stage(stage, m, s, p));
      });
      if (quiet > 0) {
        found.push({ kind: "more", module: m, level: 1, place: "", note: "",
          text: quiet === 1 ? "1 that changed nothing" : `${quiet} that changed nothing` });
      }
      return found;
    }

    _stage(stage, m, s, p) {
      if (p === undefined || stage.module < 0) {
        const isRead = stage.module >= 0;
        return { kind: "item", level: 1, text: this.text(stage.title), found: "",
          note: isRead ? "" : "not read", place: isRead ? `stage:${m}:${s}` : "",
          title: isRead ? "" : this.text(this.data.files[stage.file].why) };
      }
      const run = this.runs[m];
      return { kind: "item", level: run.pipeline(p) === "" ? 1 : 2, text: run.name(p),
        found: run.pipeline(p),
        isQuiet: run.isQuiet(p) && s < this.data.modules[m].stages.length - 1,
        note: run.countText(p),
        place: `pass:${m}:${p}`, title: this.text(stage.title) };
    }

    _memory({ memory, decisions }, m) {
      const item = (text, note, place) => ({ kind: "item", level: 1, text, note, place });
      const found = memory === null ? []
        : [item("Memory over time", Hlo.byteText(memory.total), `memory:${m}`)];
      return decisions.length === 0 ? found
        : [...found, item("Fusion decisions", String(decisions.length), `decisions:${m}`)];
    }

    /* Texts by kind, in the order of the kinds' first texts. */
    _texts(numbers) {
      const kinds = new Map();
      for (const number of numbers) {
        const { kind } = this.data.texts[number];
        kinds.set(kind, [...(kinds.get(kind) || []), number]);
      }
      return [...kinds].flatMap(([kind, some]) => [
        { kind: "heading", text: this.text(kind), level: 1, place: "" },
        ...some.map((number) => ({ kind: "item", level: 2, place: `text:${number}`,
          text: this.text(this.data.texts[number].title),
          note: Hlo.byteText(this.data.texts[number].size) }))]);
    }

    _graphs() {
      const { graphs } = this.data;
      return graphs.length === 0 ? [] : [{ kind: "group", text: "TensorFlow graphs", level: 0,
        place: "" }, ...graphs.map((graph, g) => this._graph(graph, g))];
    }

    _graph({ files, function: name, nodes, clusters }, g) {
      const paths = files.map((file) => this.data.files[file].path);
      const count = clusters.length, what = count === 0 ? Hlo.counted(nodes, "node")
      : `${count} ${count === 1 ? "cluster" : "clusters"}`;
      const shown = name < 0 ? paths[0] : `${this.text(name)} in ${paths[0]}`;
      return { kind: "item", level: 1, place: `graph:${g}`,
        text: shown, note: paths.length > 1 ? `${what} ×${paths.length}` : what,
        title: paths.join("\n") };
    }

    _others() {
      const { others } = this.data;
      return others.length === 0 ? []
        : [{ kind: "group", text: "Other texts", level: 0, place: "" }, ...this._texts(others)];
    }

    _files() {
      const { files } = this.data, hidden = files.filter(({ why }) => why >= 0).length;
      const item = (text, count, place) => ({ kind: "item", level: 1, text, place,
        note: count.toLocaleString("en") });
      return [{ kind: "group", text: "Files", level: 0, place: "" },
        item("All files", files.length, "files"), item("Not shown, and why", hidden, "hidden")];
    }
  }

  function fits(text, words) {
    const lower = text.toLowerCase();
    return words.every((word) => lower.includes(word));
  }

  /* An item that is found by what is not to be seen of it says by what. */
  function explained(entry, seen, about, words) {
    const line = fits(seen, words) ? undefined : about.split("\n").find((one) =>
      words.some((word) => one.toLowerCase().includes(word)));
    return line === undefined ? entry : { ...entry, note: line };
  }

  /* Items that fit, with the heading above them. */
  function filtered(entries, words, around) {
    if (words.length === 0) {
      return entries;
    }
    const found = [];
    let headings = [];
    for (const entry of entries) {
      if (entry.kind !== "item") {
        headings = entry.kind === "group" ? [entry]
          : [...headings.filter(({ kind }) => kind === "group"), entry];
        continue;
      }
      // What is not below a heading follows on what is.
      headings = headings.filter(({ kind, level }) => kind === "group" || level < entry.level);
      const about = entry.found ?? entry.title ?? "";
      if (fits(`${around} ${entry.text} ${about}`, words)) {
        found.push(...headings, explained(entry, `${around} ${entry.text}`, about, words));
        headings = [];
      }
    }
    return found;
  }

  /** Returns how many characters at the end of two different texts are the same. */
  function commonEnd(one, other) {
    let length = 0;
    while (one !== other && length < Math.min(one.length, other.length)
      && one[one.length - 1 - length] === other[other.length - 1 - length]) {
      length++;
    }
    return length;
  }

  /** The list at the left; `open(place)` is called for what is chosen. */
  class DirectoryList {
    constructor(entries, { place, open }) {
      Object.assign(this, { entries, place, open, shown: [], here: "" });
      this._open = new Set(entries.data.modules.length > 0 ? [0] : []);
      this._all = new Set();
      this._cursor = 0;
      this._field = element("input", { type: "search", spellcheck: "false",
        placeholder: "Filter modules, passes, texts", "aria-label": "Filter the list",
        oninput: () => this._filter(), onkeydown: (event) => this._fieldKey(event) });
      this._scroll = element("div", { class: "entries" });
      place.append(this._field, this._scroll);
      this._rows = new Hlo.Rows(this._scroll, { height: HEIGHT, label: "What the directory holds",
        make: (number) => this._row(this.shown[number], this._tail(number)),
        mark: (row, number) => this._mark(row, number) });
      this._rows.list.addEventListener("click", (event) => this._click(event));
      this._rows.list.addEventListener("keydown", (event) => this._key(event));
      this.fill();
    }

    focus() {
      this._field.focus();
      this._field.select();
    }

    /** Lists what there is now. */
    fill() {
      this.shown = this.entries.list({ query: this._field.value, open: this._open,
        all: this._all });
      this._cursor = Math.max(0, Math.min(this.shown.length - 1, this._cursor));
      this._scroll.dataset.empty = this.shown.length === 0 ? "Nothing here is called so." : "";
      this._rows.set(this.shown.length);
    }

    /* The keyboard goes on at the first that is found; without a filter where one was. */
    _filter() {
      this.fill();
      const wanted = this._field.value.trim() === "" ? ({ place }) => place === this.here
        : ({ place }) => place !== "";
      this._cursor = Math.max(0, this.shown.findIndex(wanted));
      this._rows.reveal(this._cursor);
      this._rows.refresh();
    }

    /** Marks the entry of a place, unfolding its module. */
    show(place, module) {
      this.here = place;
      if (module >= 0 && !this._open.has(module)) {
        this._open.add(module);
        this.fill();
      }
      if (!this._has(place) && /^(pass|stage)/.test(place)) {
        this._all.add(module);
        this.fill();
      }
      const at = this.shown.findIndex((entry) => entry.place === place);
      if (at >= 0) {
        this._cursor = at;
        this._rows.reveal(at);
      }
      this._rows.refresh();
    }

    /** Opens the next (1) or last (-1) entry before the present one. */
    step(by) {
      const items = this.shown.filter(({ place }) => place !== "");
      const at = items.findIndex(({ place }) => place === this.here);
      const next = items[at < 0 ? 0 : at + by];
      if (next !== undefined) {
        this.open(next.place);
      }
    }

    _has(place) {
      return this.shown.some((entry) => entry.place === place);
    }

    /* So much of its end is kept of an entry that it is told from those beside it. */
    _tail(number) {
      const { text } = this.shown[number];
      const same = [number - 1, number + 1].map((n) => (this.shown[n] === undefined ? 0
        : commonEnd(text, this.shown[n].text)));
      return Math.min(LONGEST_TAIL, Math.max(LEAST_TAIL, ...same.map((length) => length + 4)));
    }

    _row({ kind, text, note, level, title, isQuiet, place, isOpen }, tail) {
      const row = element("div", { class: `entry ${kind}`,
        title: title ? `${text}\n${title}` : text, style: `padding-left: ${8 + 11 * level}px` },
      kind === "module" ? element("span", { class: "text" }, `${isOpen ? "▾" : "▸"} ${text}`)
        : element("span", { class: "text" }, kind === "item" ? Hlo.twoEnds(text, tail) : text),
      note ? element("span", { class: "dim" }, note) : null);
      row.classList.toggle("quiet-pass", Boolean(isQuiet) || (kind === "item" && place === ""));
      return row;
    }

    _mark(row, number) {
      const { place } = this.shown[number], isHere = place !== "" && place === this.here;
      row.classList.toggle("here", isHere);
      row.classList.toggle("cursor", number === this._cursor);
      row.id = `entry-${number}`;
      row.setAttribute("aria-current", String(isHere));
    }

    _choose(number) {
      const entry = this.shown[number];
      this._cursor = number;
      if (entry.kind === "module") {
        Hlo.toggle(this._open, entry.module);
        this.fill();
      } else if (entry.kind === "more") {
        this._all.add(entry.module);
        this.fill();
      } else if (entry.place !== "") {
        this.open(entry.place);
      }
      this._rows.refresh();
    }

    _click(event) {
      const number = this._rows.numberOf(event.target);
      if (number >= 0) {
        this._choose(number);
      }
    }

    _key(event) {
      const page = Math.max(1, Math.floor(this._scroll.clientHeight / HEIGHT) - 1);
      const by = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }[event.key];
      if (by !== undefined) {
        this._cursor = Math.max(0, Math.min(this.shown.length - 1, this._cursor + by));
        this._rows.reveal(this._cursor);
        this._rows.refresh();
        this._rows.list.setAttribute("aria-activedescendant", `entry-${this._cursor}`);
      } else if (event.key === "Enter" && this.shown.length > 0) {
        this._choose(this._cursor);
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }

    _fieldKey(event) {
      if (event.key === "ArrowDown") {
        this._rows.list.focus();
      } else if (event.key === "Enter") {
        const first = this.shown.findIndex(({ place }) => place !== "");
        if (first >= 0) {
          this._choose(first);
        }
      } else if (event.key === "Escape" && this._field.value !== "") {
        this._field.value = "";
        this._filter();
      } else {
        return;
      }
      event.preventDefault();
      event.stopPropagation();
    }
  }

  Object.assign(Hlo, { DirectoryEntries, DirectoryList });
})(globalThis);
