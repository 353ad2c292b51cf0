"use strict";
/* Regular expressions of a search, tried in a worker: some take longer than anyone waits. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* Milliseconds that an expression may take, and of a page without workers one slice. */
  const MOST = 1000, SLICE = 10;
  /* Without a worker longer texts are only looked at so far. What one text takes has no bound
     then: no script can stop an expression from outside. */
  const LONGEST = 400;
  const KEPT = 6;
  /* Milliseconds until the script of a worker is given up: it is read by then. */
  const KEPT_FOR = 10000;

  /* Runs in the worker: texts come once, then expressions. */
  function serve() {
    let texts = [];
    root.onmessage = ({ data }) => {
      if (data.texts !== undefined) {
        texts = data.texts;
        root.postMessage({ isReady: true });
        return;
      }
      const pattern = new RegExp(data.source, data.flags), found = [];
      texts.forEach((text, n) => {
        const at = text.search(pattern);
        if (at >= 0) {
          found.push(n, at);
        }
      });
      root.postMessage({ id: data.id, found });
    };
  }

  /** All texts that a search in a model looks at, each once. */
  function textsOf({ strings, ops, shapes }) {
    return [...new Set([...strings, ...ops.opcode, ...shapes.text, ...shapes.plain])];
  }

  class TooLong extends Error {}

  /** Which texts of a model expressions find, known when they have been asked for. */
  class Patterns {
    constructor() {
      Object.assign(this, { _strings: null, _texts: [], _known: new Map(), _worker: null,
        _asked: 0, _end: null });
      /** How many characters of each text were searched, where some are longer; 0: all. */
      this.searched = 0;
    }

    /** Whether it is known what all expressions of a query find; puts it into their terms. */
    isKnown({ terms }, model) {
      this._use(model);
      const some = terms.filter(({ pattern }) => pattern !== undefined);
      for (const term of some) {
        const places = this._known.get(String(term.pattern));
        if (places === undefined) {
          return false;
        }
        term.at = (text) => places.get(text) ?? -1;
        term.test = (text) => places.has(text);
      }
      return true;
    }

    /**
     * Finds what all expressions of a query find. Rejects with TooLong where one takes too long;
     * a later call ends the one before, which never comes to an end then.
     */
    async ask({ terms }, model) {
      this._use(model);
      const turn = ++this._asked;
      for (const { pattern } of terms.filter((term) => term.pattern !== undefined)) {
        if (!this._known.has(String(pattern))) {
          this._known.set(String(pattern), await this._find(pattern, turn));
          if (this._known.size > KEPT) {
            this._known.delete(this._known.keys().next().value);
          }
        }
      }
    }

    _use(model) {
      if (this._strings !== model.strings) {
        this._strings = model.strings;
        this._texts = textsOf(model);
        this._known.clear();
        this.searched = 0;
        this._stop();
      }
    }

    _stop() {
      this._worker?.terminate();
      this._worker = null;
    }

    async _find(pattern, turn) {
      if (this._isBusy) {
        this._stop();
      }
      this._isBusy = true;
      const isOld = () => turn !== this._asked, never = new Promise(() => {});
      let found;
      try {
        found = await this._inWorker(pattern);
      } catch (error) {
        if (isOld()) {
          return never;
        }
        this._stop();
        this._isBusy = false;
        if (error instanceof TooLong) {
          throw error;
        }
        found = await this._here(pattern, isOld);
      }
      if (isOld()) {
        return never;
      }
      this._isBusy = false;
      const places = new Map();
      for (let at = 0; at < found.length; at += 2) {
        places.set(this._texts[found[at]], found[at + 1]);
      }
      return places;
    }

    /* Positions as pairs (text, place); rejects with another error where there is no worker. */
    _inWorker(pattern) {
      return new Promise((resolve, reject) => {
        let timer = 0;
        const isNew = this._worker === null, id = this._asked;
        if (isNew) {
          this._worker = started();
        }
        const worker = this._worker;
        const begin = () => {
          worker.postMessage({ id, source: pattern.source, flags: pattern.flags });
          timer = setTimeout(() => reject(new TooLong("The expression takes too long.")), MOST);
        };
        worker.onerror = (event) => {
          event.preventDefault();
          reject(new Error("no worker"));
        };
        worker.onmessage = ({ data }) => {
          if (data.isReady) {
            begin();
          } else if (data.id === id) {
            clearTimeout(timer);
            resolve(data.found);
          }
        };
        if (isNew) {
          worker.postMessage({ texts: this._texts });
        } else {
          begin();
        }
      });
    }

    async _here(pattern, isOld) {
      const found = [], end = performance.now() + MOST;
      this.searched = this._texts.some(({ length }) => length > LONGEST) ? LONGEST : 0;
      let pause = performance.now() + SLICE;
      for (let n = 0; n < this._texts.length && !isOld(); n++) {
        const at = this._texts[n].slice(0, LONGEST).search(pattern);
        found.push(...(at < 0 ? [] : [n, at]));
        if (performance.now() > end) {
          throw new TooLong("The expression takes too long.");
        }
        if (performance.now() > pause) {
          await Hlo.pause();
          pause = performance.now() + SLICE;
        }
      }
      return found;
    }
  }

  function started() {
    const text = `const root = globalThis;\n(${serve})();`;
    const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    try {
      return new Worker(url);
    } finally {
      // The worker may still have to read it.
      setTimeout(() => URL.revokeObjectURL(url), KEPT_FOR);
    }
  }

  Object.assign(Hlo, { Patterns });
})(globalThis);
