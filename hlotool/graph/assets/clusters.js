"use strict";
/* What can be opened below a graph. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  const MOST_CLUSTERS = 20000;

  /** Paths of all instructions at and below a graph that show a graph inside when opened. */
  function clustersBelow(model, top) {
    // The way to a deep one is long: what it leads to is kept, not found again from the top.
    const found = [], work = [{ graphPath: top, c: model.computationOf(top) }];
    while (work.length > 0 && found.length < MOST_CLUSTERS) {
      const { graphPath, c } = work.pop();
      for (const i of model.computations[c].callIndex.keys()) {
        const calls = model.callsOf(c, i);
        if (calls.some(({ inside }) => inside)) {
          found.push(paths.join(graphPath, i));
        }
        calls.forEach(({ inside, computation }, number) => {
          if (inside) {
            work.push({ graphPath: paths.enter(graphPath, i, number), c: computation });
          }
        });
      }
    }
    return found;
  }

  Hlo.clustersBelow = clustersBelow;
})(globalThis);
