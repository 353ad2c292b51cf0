"use strict";
/* Layouts in slices, so that newer questions are heard; and the worker that answers them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  /* How long the layout works before it looks for news, in ms. */
  const SLICE = { page: 12, worker: 25 };

  /** What a cancelled job rejects with. */
  class Cancelled extends Error {
    constructor() {
      super("the layout was cancelled");
      this.name = "Cancelled";
    }
  }

  /** Returns the text of deflated bytes. */
  function inflated(bytes) {
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }

  /** Returns the document of deflated bytes of JSON. */
  async function unpackDocument(bytes) {
    return JSON.parse(await inflated(bytes));
  }

  /* A turn of the event loop; timers would wait 4 ms each. */
  function pause() {
    return new Promise((resolve) => {
      const channel = new MessageChannel();
      channel.port1.onmessage = () => {
        channel.port1.close();
        resolve();
      };
      channel.port2.postMessage(null);
    });
  }

  /** Runs a generator in slices; throws Cancelled as soon as `isCancelled()` is true. */
  async function runInSlices(steps, slice, isCancelled) {
    let work = 0;
    for (;;) {
      const start = performance.now();
      let step;
      do {
        step = steps.next();
      } while (!step.done && performance.now() - start < slice);
      work += performance.now() - start;
      if (step.done) {
        return { ...step.value, stats: { milliseconds: work } };
      }
      await pause();
      if (isCancelled()) {
        throw new Cancelled();
      }
    }
  }

  function modelsOf(model) {
    return (number) => (number < 0 ? model : model.modules[number]);
  }

  /** The worker's side of a Layouter: one engine, one layout at a time, only the newest. */
  class LayoutServer {
    constructor(scope) {
      this._scope = scope;
      this._newest = -1;
      this._engine = null;
      this._turn = Promise.resolve();
    }

    /** Takes a message of the page. */
    receive(message) {
      if (message.kind === "start") {
        this._engine = this._start(message);
        // Who asks for a layout hears of a failure.
        this._engine.catch(() => {});
      } else if (message.kind === "layout") {
        this._newest = message.id;
        this._turn = this._turn.then(() => this._answer(message));
      } else if (message.id === this._newest) {
        this._newest = -1;
      }
    }

    async _start({ bytes, document, widths }) {
      const model = Hlo.Model.decode(document || await unpackDocument(bytes));
      return new Hlo.LayoutEngine(modelsOf(model), widths);
    }

    async _answer({ id, view }) {
      const isCancelled = () => id !== this._newest;
      try {
        const engine = await this._engine;
        if (isCancelled()) {
          throw new Cancelled();
        }
        const reply = await runInSlices(engine.run(view), SLICE.worker, isCancelled);
        const { message, transfer } = Hlo.packReply(reply);
        this._scope.postMessage({ id, reply: message }, transfer);
      } catch (error) {
        this._scope.postMessage({ id, failure: error.message,
          isCancelled: error instanceof Cancelled });
      }
    }
  }

  /** Answers the messages of a Layouter; `scope` is the global object of the worker. */
  function serveLayouts(scope) {
    const server = new LayoutServer(scope);
    scope.onmessage = ({ data }) => server.receive(data);
  }

  Hlo.Cancelled = Cancelled;
  Hlo.inflated = inflated;
  Hlo.unpackDocument = unpackDocument;
  Hlo.pause = pause;
  Hlo.runInSlices = runInSlices;
  Hlo.serveLayouts = serveLayouts;
  Hlo.modelsOf = modelsOf;
  Hlo.layoutSlice = SLICE;
})(globalThis);
