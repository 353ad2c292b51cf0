"use strict";
/* The state of the page in the part of its address behind the #, so that a view can be linked. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  const DELAY = 350, MOST_OPEN = 60;
  /* Where another of these is shown, the browser's way back leads to the one before. */
  const PLACE = ["module", "root", "show", "pass", "frame"];

  /** Returns {instruction, values} of a hash: `#name&key=value…`, both parts optional. */
  function parseHash(hash) {
    const values = {};
    let instruction = "";
    hash.replace(/^#/, "").split("&").forEach((piece, n) => {
      const at = piece.indexOf("=");
      if (n === 0 && at < 0) {
        instruction = decoded(piece);
      } else if (at > 0) {
        values[piece.slice(0, at)] = decoded(piece.slice(at + 1));
      }
    });
    return { instruction, values };
  }

  function decoded(text) {
    try {
      return decodeURIComponent(text);
    } catch (error) {
      return text;
    }
  }

  /* Characters of names that need no escape behind a #. */
  function encoded(text) {
    return encodeURIComponent(text).replace(/%(2F|2C|3A|5B|5D)/g, (code) =>
      decodeURIComponent(code));
  }

  /** Returns the shortest text that leads to a path again: a name where that is enough. */
  function textOfPath(model, path) {
    const name = model.name(model.computationOf(paths.graph(path)), paths.instruction(path));
    const places = model.find(name);
    const isPlain = places.length === 1
      && model.pathOf(places[0].computation, places[0].instruction) === path;
    return isPlain ? name : model.pathText(path);
  }

  /** Returns the path that a text means, or "". */
  function pathOfText(model, text) {
    const [place] = text === "" ? [] : model.find(text.replace(/^%/, ""));
    if (place !== undefined) {
      return model.pathOf(place.computation, place.instruction);
    }
    return text === "" ? "" : model.pathFromText(text) || "";
  }

  class Address {
    /** `extra()` gives further keys and values, `""` for those that need not be said. */
    constructor(viewer, extra) {
      Object.assign(this, { viewer, extra, _timer: 0, _written: root.location.hash,
        _place: null, _isGoing: false });
    }

    /** Writes the state soon after each change. */
    follow(changed) {
      this.viewer.signals.on("camera selection picture colours hits panels", () => this._soon());
      root.addEventListener("hashchange", () => {
        if (root.location.hash !== this._written) {
          this._go(changed);
        }
      });
    }

    _soon() {
      clearTimeout(this._timer);
      this._timer = setTimeout(() => this.write(), DELAY);
    }

    /* Another address was typed, or come back to: nothing is written until it is shown. */
    async _go(changed) {
      const hash = this._written = root.location.hash;
      this._isGoing = true;
      try {
        await changed(parseHash(hash));
      } finally {
        if (hash === this._written) {
          this._isGoing = false;
          this._place = null;
          this._soon();
        }
      }
    }

    write() {
      const { viewer } = this;
      const isOnItsWay = viewer.module !== viewer.shownModule;
      if (viewer.picture === null || viewer.camera.moving || isOnItsWay || this._isGoing) {
        return;
      }
      const parts = [viewer.selected === "" ? ""
        : encoded(textOfPath(viewer.model, viewer.selected))];
      const values = { ...this._values(), ...this.extra() };
      for (const [key, value] of Object.entries(values)) {
        if (value !== "") {
          parts.push(`${key}=${encoded(String(value))}`);
        }
      }
      this._written = `#${parts.join("&")}`;
      const place = PLACE.map((key) => values[key] ?? "").join("&");
      // What the page does before anyone has touched it leads nowhere to come back to, and the
      // way back of a notebook is not that of a page in it.
      const isNew = this._place !== null && place !== this._place && root.parent === root
        && root.navigator.userActivation?.hasBeenActive !== false;
      this._place = place;
      try {
        root.history[isNew ? "pushState" : "replaceState"](null, "", this._written);
      } catch (error) {
        // A page in a sandbox has no address of its own; it works without.
      }
    }

    _values() {
      const { camera, model, open, overlay, root: top, module } = this.viewer;
      const isEntry = top === String(model.entry);
      return {
        module: module < 0 ? "" : module,
        root: isEntry ? "" : model.pathText(top),
        open: this._openText(open, model),
        at: `${Math.round(camera.x)},${Math.round(camera.y)},${camera.k.toPrecision(3)}`,
        overlay: overlay === null ? "" : overlay.name,
      };
    }

    _openText(open, model) {
      if (open.size === 0) {
        return "";
      }
      return open.size > MOST_OPEN ? "*" : [...open].map((path) => model.pathText(path)).join(",");
    }
  }

  Object.assign(Hlo, { Address, parseHash, pathOfText });
})(globalThis);
