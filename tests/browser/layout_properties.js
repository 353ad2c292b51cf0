"use strict";
/* What must hold for the layouts of one module: every view of it is checked, and views are
   compared with each other. Runs in node and in the page. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const WIDTHS = { regular: new Array(95).fill(0.54), bold: new Array(95).fill(0.6), other: 0.6,
    wide: 1 };
  /* Opening everything may be exponential where computations call each other again and again. */
  const MOST_OPEN = 3000;

  /** Lays out views of one model without a worker. */
  class Bench {
    constructor(model) {
      this._modelOf = Hlo.modelsOf(model);
      this._engine = new Hlo.LayoutEngine(this._modelOf, WIDTHS);
      this._album = new Hlo.PictureAlbum(this._modelOf);
    }

    picture(view) {
      const steps = this._engine.run(view);
      let step = steps.next();
      while (!step.done) {
        step = steps.next();
      }
      // As from a worker: what cannot be sent, or is lost on the way, shows here.
      const { message } = Hlo.packReply(step.value);
      return this._album.add(view, Hlo.unpackReply(structuredClone(message)));
    }
  }

  function openAll(model, rootPath) {
    return Hlo.allClusters(model, rootPath).slice(0, MOST_OPEN);
  }

  function everySecond(size) {
    return Array.from({ length: Math.ceil(size / 2) }, (_, n) => 2 * n);
  }

  /** Returns the views of a model that are checked, by what they are called. */
  function viewsOf(model) {
    const entry = String(model.entry), { size } = model.computations[model.entry];
    const views = {
      closed: { root: entry },
      open: { root: entry, open: openAll(model, entry) },
      folded: { root: entry, folded: [[entry, 0, 1], [entry, 3, 3]] },
      "every second": { root: entry, only: everySecond(size) },
    };
    for (const { number, name } of model.computations) {
      views[`${name} alone`] = { root: String(number), open: openAll(model, String(number)) };
    }
    return views;
  }

  function compared(model) {
    const entry = String(model.entry), one = new Bench(model), other = new Bench(model);
    const views = viewsOf(model), { closed, open } = views, findings = [];
    const text = (bench, view) => Hlo.pictureText(bench.picture(view));
    const first = text(one, closed);
    if (text(other, open) !== text(one, open)) {
      findings.push("the same input gives two pictures");
    }
    if (text(one, closed) !== first || text(other, closed) !== first) {
      findings.push("opening and closing gives another picture");
    }
    const bench = new Bench(model), seen = bench.picture(closed);
    const again = bench.picture({ root: entry, hint: { key: 1, places: seen.places() } });
    if (Hlo.pictureText(again) !== first) {
      findings.push("a picture is not its own hint");
    }
    return findings;
  }

  /** Returns what does not hold for the layouts of a document, as text. */
  function layoutFindings(document) {
    const model = Hlo.Model.decode(document), bench = new Bench(model), findings = [];
    for (const [name, view] of Object.entries(viewsOf(model))) {
      const picture = bench.picture(view);
      findings.push(...Hlo.checkPicture(picture).map((text) => `${name}: ${text}`));
      Hlo.overview(picture);
    }
    return [...findings, ...compared(model)];
  }

  Hlo.layoutFindings = layoutFindings;
  Hlo.LayoutBench = Bench;
  Hlo.layoutTestWidths = WIDTHS;
})(globalThis);
