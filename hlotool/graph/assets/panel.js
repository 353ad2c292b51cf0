"use strict";
/* The side panel: all that is known of the selected instruction, with ways to go on. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, paths } = Hlo;
  const MOST_ROWS = 60, LONGEST_NOTE = 60;
  /* Breaking a tuple of thousands of parts into lines would take the page longer than the rest. */
  const LONGEST_SAID = 200, LONGEST_SHAPE = 600, LONGEST_LINE = 3000;
  /* Of the frames of the source; the others come when they are asked for. */
  const FIRST_FRAMES = 3;

  class Panel {
    /** `actions`: {name: call(path)} of what buttons do; see main.js. */
    constructor(viewer, place, live, actions) {
      Object.assign(this, { viewer, place, live, actions });
      this._asked = 0;
      viewer.signals.on("selection picture module group", () => this.ask());
    }

    ask() {
      if (this._asked === 0) {
        // A task of its own: the next frame draws the picture and lays all out as it is.
        this._asked = setTimeout(() => this._show());
      }
    }

    _show() {
      this._asked = 0;
      const { selected, group } = this.viewer;
      this.place.hidden = selected === "" && group.size === 0;
      this.place.replaceChildren(...[
        ...(group.size === 0 ? [] : Hlo.groupParts(this.viewer, this.actions.together)),
        ...(selected === "" ? [] : this._selectionParts(selected)),
      ].filter((part) => part !== null));
      if (selected === "") {
        this._say(group.size === 0 ? "" : this.place.querySelector("h2").firstChild.textContent);
      }
    }

    /** All about the selection. */
    _selectionParts(selected) {
      const { model } = this.viewer;
      const c = model.computationOf(paths.graph(selected)), i = paths.instruction(selected);
      const about = { path: selected, c, i, model };
      this._sayWhat(about);
      return [
        this._head(about), this._where(about), this._buttons(about), this._text(about),
        this._frames(about), this._operands(about), this._users(about), this._calls(about),
        this._control(about), this._facts(about), this._overlays(about), this._passes(about),
        this._decisions(about),
      ].flat();
    }

    _say(text) {
      if (this.live.textContent !== text) {
        this.live.textContent = text;
      }
    }

    _sayWhat({ c, i, model }) {
      const operands = model.operandsOf(c, i).length, users = model.usersOf(c, i).length;
      this._say(`${model.opcode(c, i)} ${model.name(c, i)}, ` +
        `${Hlo.labels.cut(model.shapePlain(c, i), LONGEST_SAID)}, ` +
        `${Hlo.counted(operands, "operand")}, ${Hlo.counted(users, "user")}`);
    }

    _head({ c, i, model }) {
      const close = element("button", { type: "button", "aria-label": "Close the panel",
        title: "Close (Esc)", onclick: () => this.viewer.select("") }, "×");
      const name = element("h2", {}, element("span", {}, model.name(c, i)), close);
      return [name, element("div", { class: "shape" }, `${model.opcode(c, i)}  ` +
        Hlo.labels.cut(model.shapeText(c, i), LONGEST_SHAPE)),
      element("div", { class: "dim" }, `value of ${Hlo.readable(model.bytes(c, i), "B")}` +
        `${model.computations[c].root === i ? " · result of the computation" : ""}`)];
    }

    /** Where it is: the calls around it, and the box that shows it if that is another. */
    _where({ path }) {
      const { viewer } = this, box = viewer.selectedBox();
      const caller = paths.parent(paths.graph(path));
      const parts = [];
      if (caller !== null) {
        parts.push("in ", this._link(caller));
      }
      if (box === null || !box.exact) {
        parts.push(box !== null && box.path !== null && box.path !== caller
          ? element("span", {}, parts.length ? ", shown at " : "shown at ", this._link(box.path))
          : "");
        if (caller !== null && box !== null && box.path === caller) {
          parts.push(" ", element("button", { type: "button", class: "link",
            onclick: () => viewer.reveal(path) }, "show inside"));
        }
      }
      return parts.length === 0 ? null : element("div", {}, ...parts);
    }

    /** A button that jumps to an instruction. */
    _link(path, text = this.viewer.nameOf(path)) {
      return element("button", { type: "button", class: "link",
        onclick: () => this.viewer.jump(path),
        onmouseenter: () => this.viewer.hover(path),
        onmouseleave: () => this.viewer.hover("") }, text);
    }

    _buttons({ path, c, i, model }) {
      const { actions, viewer } = this;
      const button = (text, title, onclick) => element("button",
        { type: "button", title, onclick }, text);
      const canOpen = viewer.canOpen(path);
      const isOpen = viewer.open.has(path);
      return element("div", { class: "actions" },
        canOpen ? button(isOpen ? "Close" : "Open", "Open or close in place (Enter)",
          () => viewer.toggle(path)) : null,
        canOpen ? button("Open alone", "Show what it calls alone (Shift+Enter)",
          () => actions.alone(path)) : null,
        button("Needs", "All that it is made from (c)", () => actions.cone(path, "up")),
        button("Feeds", "All that is made from it (c c)", () => actions.cone(path, "down")),
        button("Near", "Two steps around it", () => actions.near(path)),
        button("Path to …", "Then click where to (p)", () => actions.path(path)),
        button("Hide", "Leave it out (h)", () => actions.hide(path)),
        button("Text", "Its line in the text (t)", () => actions.text(path)),
        button("Copy name", "Copy the name (.)", () => actions.copy(model.name(c, i))));
    }

    _text({ c, i, model }) {
      const line = model.line(c, i), text = (model.lines[line] || "").trim();
      const shown = element("pre", { tabindex: "0" }, Hlo.labels.cut(text, LONGEST_LINE));
      const more = element("button", { type: "button", class: "link", onclick: () => {
        shown.textContent = text;
        more.remove();
      } }, `all ${Hlo.counted(text.length, "character")}`);
      return [element("h3", {}, `Line ${line + 1}`), shown,
        text.length > LONGEST_LINE ? more : null];
    }

    /** A list of instructions with a title, `noteOf(path, n)` after each; long ones in parts. */
    _list(title, kind, found, noteOf = () => "") {
      if (found.length === 0) {
        return null;
      }
      const count = found.length > 1 ? ` (${found.length})` : "";
      return [element("h3", {}, `${title}${count}`),
        Hlo.pagedList(element("ol", { class: kind }), found, { size: MOST_ROWS,
          make: (path, n) => this._row(path, n, noteOf(path, n)) })];
    }

    _row(path, n, more) {
      const { text, note } = this._item(path);
      return element("li", {}, element("span", { class: "number" }, String(n)),
        this._link(path, text), element("span", { class: "dim" }, `${note}${more}`));
    }

    _item(path) {
      const { model } = this.viewer, c = model.computationOf(paths.graph(path));
      const i = paths.instruction(path), role = model.role(c, i);
      const value = role === "constant" ? model.valueText(c, i) : "";
      const name = role === "parameter" ? Hlo.labels.inputName(model, c, i) : model.name(c, i);
      const note = Hlo.labels.cut(`${model.shapePlain(c, i)} ${value}`, LONGEST_NOTE);
      return { text: name, note };
    }

    _operands({ path, c, i, model }) {
      const outer = Hlo.callersOperand(model, path) === "" ? 0 : 1;
      const inPlace = new Set(model.aliasesOf(c, i));
      return this._list("Operands", "operands", Hlo.operandPaths(model, path), (one, n) =>
        (inPlace.has(n - outer) ? " ⟲ in place" : ""));
    }

    _users({ path, c, i, model }) {
      return this._list("Users", "users", Array.from(model.usersOf(c, i),
        (user) => paths.join(paths.graph(path), user)));
    }

    _calls({ path, c, i, model }) {
      const calls = model.callsOf(c, i).map((call, n) => {
        const inner = model.computations[call.computation];
        const into = call.inside ? paths.enter(paths.graph(path), i, n)
          : String(call.computation);
        return element("li", {}, element("span", { class: "dim" }, call.role),
          element("button", { type: "button", class: "link", title: "Show it alone",
            onclick: () => this.viewer.openAlone(into) }, inner.name),
          element("span", { class: "dim" }, `(${inner.size})`));
      });
      return calls.length === 0 ? null : [element("h3", {}, "Calls"), element("ul", {}, ...calls)];
    }

    _control({ path, c, i, model }) {
      const pathOf = (one) => paths.join(paths.graph(path), one);
      return [this._list("Runs after", "before", model.controlBefore(c, i).map(pathOf)),
        this._list("Runs before", "after", model.controlAfter(c, i).map(pathOf))].flat();
    }

    _facts({ c, i, model }) {
      const source = model.sourceText(c, i), [frame = ""] = model.framesOf(c, i);
      const facts = [["value", model.valueText(c, i)], ["attributes", model.attributesText(c, i)],
        ["op_name", model.scopeText(c, i)], ["source", frame.includes(source) ? "" : source],
        ["sharding", model.shardingText(c, i)]].filter(([, text]) => text !== "");
      return facts.length === 0 ? null : [element("h3", {}, "Details"), element("dl", {},
        ...facts.flatMap(([key, text]) => [element("dt", {}, key),
          element("dd", {}, element("code", {}, text))]))];
    }

    _overlays({ c, i, model }) {
      const rows = [];
      for (const data of model.overlays) {
        const value = data.values[c] ? data.values[c][i] : null;
        if (value === null || value === undefined || (data.kind === "categorical" && value < 0)) {
          continue;
        }
        const text = data.kind === "categorical" ? model.strings[value]
          : Hlo.readable(value, data.unit);
        rows.push(element("dt", {}, Hlo.overlayLabel(data)), element("dd", {}, element("button", {
          type: "button", class: "link", title: "Show as colours",
          onclick: () => this.actions.overlay(data.name) }, text)));
      }
      return rows.length === 0 ? null : [element("h3", {}, "Data"), element("dl", {}, ...rows)];
    }

    _frames({ c, i, model }) {
      const frames = model.framesOf(c, i), list = element("ol", { class: "frames" });
      const add = (first, last) => list.append(...frames.slice(first, last).map((text, n) =>
        element("li", {}, element("span", { class: "number" }, String(first + n)),
          element("code", { class: "what" }, text))));
      add(0, FIRST_FRAMES);
      if (frames.length > FIRST_FRAMES) {
        const more = element("li", {}, element("button", { type: "button", class: "link",
          onclick: () => {
            more.remove();
            add(FIRST_FRAMES, frames.length);
          } }, `called from ${frames.length - FIRST_FRAMES} more`));
        list.append(more);
      }
      return frames.length === 0 ? null : [element("h3", {}, "Stack frames"), list];
    }

    /** Which passes of the page made an instruction of this name, changed or removed it. */
    _passes({ c, i, model }) {
      const { history, pass: show } = this.actions;
      const found = history === undefined ? [] : history(model.name(c, i));
      return found.length === 0 ? null : [element("h3", {}, "History"),
        element("ul", { class: "history" }, ...found.slice(0, MOST_ROWS).map(
          ({ pass, kind, name, words }) => element("li", {},
            element("b", { class: kind }, Hlo.signs[kind]),
            element("button", { type: "button", class: "link", onclick: () => show(pass, kind),
              title: `Show pass ${pass + 1}, which ${kind} it` }, name),
            element("span", { class: "dim" }, `pass ${pass + 1}`, words && `: ${words}`))))];
    }

    /** What fusion passes decided about an instruction of this name, in all states of the page. */
    _decisions({ c, i, model }) {
      const { outer } = this.viewer, name = model.name(c, i), text = (n) => outer.strings[n] || "";
      const title = (n) => element("span", { class: "dim" }, Hlo.described(model, text(n)));
      const about = [];
      outer.decisions.forEach((one, n) => {
        if (text(one.producer) === name || text(one.consumer) === name) {
          about.push([n, one]);
        }
      });
      return about.length === 0 ? null : [element("h3", {}, "Fusion decisions"), element("ul", {},
        ...about.slice(0, MOST_ROWS).map(([n, { kind, producer, consumer, reason }]) =>
          element("li", {}, element("button", { type: "button", class: "link decision",
            title: "Show the decision", onclick: () => this.actions.decision(n) }, kind),
          element("span", { class: "what" }, `${text(producer)} `, title(producer), " → ",
            `${text(consumer)} `, title(consumer), ` ${text(reason)}`))))];
    }
  }

  Hlo.Panel = Panel;
})(globalThis);
