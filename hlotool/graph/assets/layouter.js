"use strict";
/* The page's side of the layout: asks the worker, or works itself where there is none. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** Lays out views in a worker. */
  class WorkerBackend {
    constructor(worker, start, onBroken) {
      this.kind = "worker";
      this._worker = worker;
      this._waiting = new Map();
      worker.onmessage = ({ data }) => this._receive(data);
      worker.onerror = (event) => {
        event.preventDefault();
        worker.onerror = null;
        const waiting = [...this._waiting.values()];
        this._waiting.clear();
        onBroken(waiting);
      };
      worker.postMessage({ kind: "start", ...start });
    }

    /** Calls `resolve` with the reply, or `reject` with an Error. */
    ask(question) {
      this._waiting.set(question.id, question);
      this._worker.postMessage({ kind: "layout", id: question.id, view: question.view });
    }

    cancel(id) {
      this._worker.postMessage({ kind: "cancel", id });
    }

    stop() {
      this._worker.terminate();
    }

    _receive({ id, reply, failure, isCancelled }) {
      const question = this._waiting.get(id);
      this._waiting.delete(id);
      if (question === undefined) {
        return;
      }
      if (reply === undefined) {
        question.reject(isCancelled ? new Hlo.Cancelled() : new Error(failure));
      } else {
        question.resolve(Hlo.unpackReply(reply));
      }
    }
  }

  /** Lays out views on the page, in slices. */
  class PageBackend {
    constructor(model, widths) {
      this.kind = "page";
      this._engine = Promise.resolve(model).then((known) =>
        new Hlo.LayoutEngine(Hlo.modelsOf(known), widths));
      // Who asks for a layout hears of a failure.
      this._engine.catch(() => {});
      this._newest = -1;
      this._turn = Promise.resolve();
    }

    ask(question) {
      this._newest = question.id;
      this._turn = this._turn.then(() => this._answer(question));
    }

    cancel(id) {
      if (this._newest === id) {
        this._newest = -1;
      }
    }

    stop() {
      this._newest = -1;
    }

    async _answer({ id, view, resolve, reject }) {
      const isCancelled = () => id !== this._newest;
      try {
        const engine = await this._engine;
        if (isCancelled()) {
          throw new Hlo.Cancelled();
        }
        resolve(await Hlo.runInSlices(engine.run(view), Hlo.layoutSlice.page, isCancelled));
      } catch (error) {
        reject(error);
      }
    }
  }

  /** Gives pictures of views; see README.md. */
  class Layouter {
    constructor({ document, bytes, model, scripts, widths }) {
      this._model = model;
      this._widths = widths;
      this._album = this._newAlbum();
      this._ids = 0;
      this._hints = new WeakMap();
      const worker = scripts === undefined ? null : makeWorker(scripts);
      const start = bytes === undefined ? { document, widths } : { bytes, widths };
      this._backend = worker === null ? new PageBackend(model, widths)
        : new WorkerBackend(worker, start, (waiting) => this._workHere(waiting));
    }

    get kind() {
      return this._backend.kind;
    }

    /** Returns {promise, cancel} of the Picture of a view. */
    layout(wanted) {
      const id = this._ids++, view = { ...wanted, named: Hlo.wantsNames === true };
      const promise = new Promise((resolve, reject) => {
        const hint = view.hint ? this._hintOf(view.hint) : null;
        this._backend.ask({ id, view: { ...view, hint }, resolve, reject });
      }).then((reply) => this._pictureOf(view, reply));
      return { promise, cancel: () => this._backend.cancel(id) };
    }

    /* Taking a big reply apart, making the picture and showing it are three tasks of the page, so
       that it hears of news in between; all replies pass here in their order. */
    async _pictureOf(view, reply) {
      const album = await this._album;
      await Hlo.pause();
      const picture = album.add(view, reply);
      await Hlo.pause();
      return picture;
    }

    stop() {
      this._backend.stop();
    }

    _newAlbum() {
      const album = Promise.resolve(this._model).then((model) =>
        new Hlo.PictureAlbum(Hlo.modelsOf(model)));
      album.catch(() => {});
      return album;
    }

    _hintOf(picture) {
      if (!this._hints.has(picture)) {
        this._hints.set(picture, { key: this._ids++, places: picture.places() });
      }
      return this._hints.get(picture);
    }

    /* A worker that does not start or breaks leaves its questions to the page. */
    _workHere(waiting) {
      this._backend.stop();
      this._album = this._newAlbum();
      this._backend = new PageBackend(this._model, this._widths);
      for (const question of waiting) {
        this._backend.ask(question);
      }
    }
  }

  /** Returns a worker that runs these scripts, or null where workers are not to be had. */
  function makeWorker(scripts) {
    const text = [...scripts, "Hlo.serveLayouts(globalThis);"].join("\n");
    try {
      const url = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
      return new Worker(url);
    } catch {
      return null;
    }
  }

  Hlo.startLayouter = (options) => new Layouter(options);
})(globalThis);
