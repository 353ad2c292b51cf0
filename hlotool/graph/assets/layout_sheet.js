"use strict";
/* A sheet: all that decides the picture of a stage, in numbers of its own. Boxes count from 0 in
   the order of ranks, then values that come in from above, then values that go out below. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** Returns the sheet of a stage; `clusters` maps instructions that are drawn open to what is
      in them: {w, h, pins, out}; `hint` maps names to places in a picture that is to be kept to,
      or is null. */
  function makeSheet(structure, stage, clusters, hint) {
    const { members, entries, exits } = stage;
    const top = entries.length > 0 ? 1 : 0, ranks = stage.last - stage.first + 1;
    const sheet = {
      layers: ranks + top + (exits.length > 0 ? 1 : 0),
      layer: Array.from(members, (q) => structure.ranks[q] - stage.first + top),
      widths: Array.from(members, (q) => structure.widths[q]),
      heights: Array.from(members, (q) => structure.heights[q]),
      flags: Uint8Array.from(members, (q) => structure.flags[q]),
      hasPortals: Array.from(members, (q) => structure.portalsOut[structure.instructions[q]] > 0),
      entryKinds: entries.map(({ kind }) => kind),
      exits: exits.length,
      clusters: new Map(),
      labels: [],
      edges: { from: [], to: [], kind: [], port: [], label: [] },
      rowEnds: new Int32Array(members.length + 1), rowKinds: [], rowPorts: [],
      wanted: hint === null ? null : wantedOrder(structure, members, hint),
    };
    members.forEach((q, local) => openCluster(structure, sheet, q, local, clusters));
    addEdges(structure, stage, sheet);
    return sheet;
  }

  /** Returns for each box its number from left to right in the hint, -1 for what is new. */
  function wantedOrder(structure, members, hint) {
    const { model, computation, instructions } = structure;
    const places = Array.from(members, (q) => {
      const x = hint.get(model.name(computation.number, instructions[q]));
      return x === undefined ? -Infinity : x;
    });
    const sorted = [...new Set(places)].filter(Number.isFinite).sort((a, b) => a - b);
    const numbers = new Map(sorted.map((x, n) => [x, n]));
    return places.map((x) => (numbers.has(x) ? numbers.get(x) : -1));
  }

  function openCluster(structure, sheet, q, local, clusters) {
    const cluster = clusters.get(structure.instructions[q]);
    if (cluster !== undefined) {
      sheet.widths[local] = cluster.w;
      sheet.heights[local] = cluster.h;
      sheet.flags[local] = (sheet.flags[local] & ~Hlo.flag.CLOSED) | Hlo.flag.OPEN;
      sheet.clusters.set(local, cluster);
    } else {
      for (let r = structure.rowEnds[q]; r < structure.rowEnds[q + 1]; r++) {
        sheet.rowKinds.push(structure.rowKinds[r]);
        sheet.rowPorts.push(structure.rowPorts[r]);
      }
    }
    sheet.rowEnds[local + 1] = sheet.rowKinds.length;
  }

  function addEdges(structure, stage, sheet) {
    const { members, exits } = stage;
    const { inStart, kept, edgeFrom, edgePort, edgeKind } = structure;
    members.forEach((q, local) => {
      for (let e = inStart[q]; e < inStart[q + 1]; e++) {
        if (kept[e] === 1) {
          const from = Hlo.stages.sourceIn(structure, stage, edgeFrom[e], edgeKind[e]);
          addEdge(sheet, from, local, edgeKind[e], edgePort[e], labelOf(structure, sheet, e));
        }
      }
    });
    const firstExit = members.length + stage.entries.length;
    exits.forEach(({ node, kind }, n) => {
      const from = Hlo.stages.sourceIn(structure, stage, node, kind);
      addEdge(sheet, from, firstExit + n, kind, -1, -1);
    });
  }

  function addEdge({ edges }, from, to, kind, port, label) {
    edges.from.push(from);
    edges.to.push(to);
    edges.kind.push(kind);
    edges.port.push(port);
    edges.label.push(label);
  }

  function labelOf(structure, sheet, e) {
    const { edgeVia, edgeFrom, instructions, model, computation } = structure;
    if (edgeVia[e] === instructions[edgeFrom[e]]) {
      return -1;
    }
    const { label } = Hlo.labels.elementOf(model, computation.number, edgeVia[e]);
    const known = sheet.labels.indexOf(label);
    return known >= 0 ? known : sheet.labels.push(label) - 1;
  }

  /** Returns the sheet of a fold: one box for stages that are not shown. */
  function foldSheet(entries, exits) {
    const top = entries.length > 0 ? 1 : 0;
    const below = 1 + entries.length;
    const sheet = {
      layers: 1 + top + (exits.length > 0 ? 1 : 0),
      layer: [top], widths: [160], heights: [Hlo.sizes.box], flags: [Hlo.flag.FOLD],
      hasPortals: [false], entryKinds: entries.map(({ kind }) => kind), exits: exits.length,
      clusters: new Map(), labels: [], edges: { from: [], to: [], kind: [], port: [], label: [] },
      rowEnds: new Int32Array(2), rowKinds: [], rowPorts: [], wanted: null,
    };
    entries.forEach(({ kind }, n) => addEdge(sheet, 1 + n, 0, kind, -1, -1));
    exits.forEach(({ kind }, n) => addEdge(sheet, 0, below + n, kind, -1, -1));
    return sheet;
  }

  Hlo.makeSheet = makeSheet;
  Hlo.foldSheet = foldSheet;
})(globalThis);
