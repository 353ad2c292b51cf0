"use strict";
/* Who wants to know when something on the page has changed. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** Named signals; whoever listens is called in the order of asking. */
  class Signals {
    constructor() {
      this._listeners = new Map();
    }

    /** Calls `listener` whenever one of the names (apart by spaces) is given. */
    on(names, listener) {
      for (const name of names.split(" ")) {
        this._listeners.set(name, [...(this._listeners.get(name) || []), listener]);
      }
    }

    /** Tells all who listen. */
    give(name, detail) {
      for (const listener of this._listeners.get(name) || []) {
        listener(detail);
      }
    }
  }

  /** Returns a new element with attributes and children; texts become text nodes, never HTML. */
  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
      if (key === "class") {
        made.className = value;
      } else if (key.startsWith("on")) {
        made.addEventListener(key.slice(2), value);
      } else if (value === true) {
        made.setAttribute(key, "");
      } else if (value !== false && value !== null && value !== undefined) {
        made.setAttribute(key, value);
      }
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  }

  /** Returns the element of the shell with this id. */
  function shell(id) {
    return document.getElementById(id);
  }

  /** A text of which the end stays in sight when there is no room for all of it. */
  function twoEnds(text, tail = 14) {
    const shown = element("span", { class: "two-ends", title: text });
    if (text.length > 2 * tail) {
      shown.append(element("span", {}, text.slice(0, -tail)), element("span", {},
        text.slice(-tail)));
    } else {
      shown.append(element("span", {}, text));
    }
    return shown;
  }

  Object.assign(Hlo, { Signals, element, twoEnds, shell });
})(globalThis);
