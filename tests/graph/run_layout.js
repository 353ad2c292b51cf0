"use strict";
/* Checks layouts under node: run_layout.js ASSETS documents FILE... | random FIRST LAST |
   mutants FILE | describe FILE VIEW... | times FILE ROUNDS |
   asking FILE | states FILE | passes FILE | edits FILE. Writes JSON. A VIEW is JSON whose root and open clusters are names, as
   `Model.pathText` has them. */
const fs = require("node:fs");
const path = require("node:path");
const vm = require("node:vm");

const [assets, what, ...rest] = process.argv.slice(2);
const browser = path.join(__dirname, "..", "browser");

function load(file) {
  vm.runInThisContext(fs.readFileSync(file, "utf8"), { filename: file });
}

const { pure } = JSON.parse(fs.readFileSync(path.join(assets, "scripts.json")));
for (const name of [...pure, "layouter.js", "line_changes.js"]) {
  load(path.join(assets, name));
}
for (const name of ["layout_check.js", "layout_properties.js", "random_modules.js"]) {
  load(path.join(browser, name));
}

const { Hlo } = globalThis;

function findingsOf(document) {
  try {
    return Hlo.layoutFindings(document);
  } catch (error) {
    return [error.stack];
  }
}

function documents(files) {
  const found = {};
  for (const file of files) {
    const findings = findingsOf(JSON.parse(fs.readFileSync(file)));
    if (findings.length > 0) {
      found[path.basename(file)] = findings;
    }
  }
  return found;
}

function random([first, last]) {
  const found = {};
  for (let seed = Number(first); seed < Number(last); seed++) {
    const findings = findingsOf(Hlo.randomDocument(seed));
    if (findings.length > 0) {
      found[`seed ${seed}`] = findings;
    }
  }
  return found;
}

/* Ways to break a picture; the checker must see each of them. */
const MUTANTS = {
  "boxes over each other": ({ geometry }) => {
    const r = widestLayer(geometry);
    geometry.x[geometry.layerNodes[r] + 1] = geometry.x[geometry.layerNodes[r]] + 1;
  },
  "a box outside": ({ geometry }) => {
    geometry.x[0] -= 100000;
  },
  "no number": ({ geometry }) => {
    geometry.w[0] = NaN;
  },
  "a line upwards": ({ geometry }) => {
    geometry.lines[3] = -50;
  },
  "a line beside its box": ({ geometry }) => {
    const n = geometry.lineTarget.findIndex((target) => target >= 0);
    geometry.lines[n * 5 + 2] += 10000;
  },
  "a line gone": ({ geometry }) => {
    geometry.lineTarget[geometry.lineTarget.findIndex((target) => target >= 0)] = -1;
  },
  "a line from elsewhere": ({ geometry }) => {
    const n = geometry.lineTarget.findIndex((target) => target >= 0);
    geometry.lineSource[n] = geometry.lineTarget[n];
  },
  "a row gone": (stage) => {
    stage.rowSources = stage.rowSources.map(() => -1);
    stage.geometry.rowKinds = stage.geometry.rowKinds.map(() => Hlo.row.CHIP);
  },
  "a portal gone": (_, graph) => {
    graph.portals = graph.portals.subarray(3);
  },
  "an edge called a label": (_, graph) => {
    graph.operandStates[graph.operandStates.indexOf(Hlo.operand.EDGE)] = Hlo.operand.LABEL;
  },
  "a box twice": ({ instructions }) => {
    instructions[0] = instructions[1];
  },
  "stages over each other": (_, graph) => {
    graph.stages[1].y = graph.stages[0].y;
  },
  "a cluster too small": (_, graph) => {
    const [[child]] = graph.children.values();
    child.graph.width += 100000;
  },
};

function widestLayer({ layerNodes }) {
  let widest = 0;
  for (let r = 0; r + 1 < layerNodes.length; r++) {
    if (layerNodes[r + 1] - layerNodes[r] > layerNodes[widest + 1] - layerNodes[widest]) {
      widest = r;
    }
  }
  return widest;
}

function mutants([file]) {
  const model = Hlo.Model.decode(JSON.parse(fs.readFileSync(file)));
  const rootPath = String(model.entry), open = Hlo.allClusters(model, rootPath);
  const seen = {};
  for (const [name, mutate] of Object.entries(MUTANTS)) {
    const view = { root: rootPath, open: name.includes("cluster") ? open : [] };
    const picture = new Hlo.LayoutBench(model).picture(view);
    mutate(picture.root.stages[0], picture.root);
    seen[name] = Hlo.checkPicture(picture);
  }
  return seen;
}

/* What a picture shows, by names: for tests that look at one thing. */
function describeGraph(picture, graph) {
  const { model } = picture, c = graph.computation, boxes = {}, lines = [];
  const name = (i) => (i < 0 ? "fold" : model.name(c, i));
  for (const stage of graph.stages) {
    const { geometry, instructions } = stage;
    for (let node = 0; node < geometry.size; node++) {
      boxes[name(instructions[node])] = describeBox(picture, graph, stage, node);
    }
    geometry.lineTarget.forEach((target, n) => {
      if (target >= 0) {
        const label = geometry.lineLabel[n];
        lines.push([name(instructions[geometry.lineSource[n]]), name(instructions[target]),
          geometry.linePort[n], geometry.lineKind[n] === Hlo.line.CONTROL ? "control" : "data",
          label < 0 ? "" : geometry.labels[label]]);
      }
    });
  }
  const portals = Array.from({ length: graph.portals.length / 3 }, (_, n) =>
    [name(graph.portals[3 * n]), name(graph.portals[3 * n + 1]), graph.portals[3 * n + 2]]);
  return { path: model.pathText(graph.path), boxes, lines, portals, id: graph.id,
    width: graph.width, height: graph.height,
    stages: graph.stages.map(({ number, last, kind, folded, geometry, instructions }) =>
      ({ number, last, kind, folded, geometry: geometry.id, boxes: geometry.size,
        entries: [...instructions.subarray(geometry.size)].map(name) })) };
}

function describeBox(picture, graph, stage, node) {
  const { geometry, instructions, rowSources } = stage, i = instructions[node], rows = [];
  for (let r = geometry.rowEnds[node]; r < geometry.rowEnds[node + 1]; r++) {
    rows.push(Hlo.labels.row(picture.model, graph, geometry.rowKinds[r], rowSources[r],
      geometry.rowPorts[r], i));
  }
  const flags = Object.keys(Hlo.flag).filter((flag) => Hlo.hasFlag(geometry, node, flag));
  return { x: stage.x + geometry.x[node], y: stage.y + geometry.y[node], w: geometry.w[node],
    h: geometry.h[node], rows, flags, stage: stage.number,
    title: i < 0 ? "" : Hlo.labels.title(picture.model, graph.computation, i, graph) };
}

function describe([file, ...views]) {
  const model = Hlo.Model.decode(JSON.parse(fs.readFileSync(file)));
  const bench = new Hlo.LayoutBench(model);
  return views.map((text) => {
    const view = JSON.parse(text);
    const picture = bench.picture({ ...view,
      root: view.root === undefined ? String(model.entry) : model.pathFromText(view.root),
      open: (view.open || []).map((path) => model.pathFromText(path)),
      only: view.only
        ? view.only.map((one) => model.find(one)[0].instruction) : null });
    const found = (view.find || []).map((path) => {
      const place = picture.find(model.pathFromText(path));
      return place && { path: place.path && model.pathText(place.path), exact: place.exact };
    });
    return { graphs: [...picture.graphs.values()].map((graph) => describeGraph(picture, graph)),
      findings: Hlo.checkPicture(picture), overview: Hlo.overview(picture), found,
      searched: (view.search || []).map((query) => model.search(query)
        .map(({ computation, instruction }) => model.name(computation, instruction))) };
  });
}

/* Milliseconds of layouts from nothing, the first one cold. */
function times([file, rounds]) {
  const model = Hlo.Model.decode(JSON.parse(fs.readFileSync(file))), found = [];
  for (let round = 0; round < Number(rounds); round++) {
    const start = performance.now();
    new Hlo.LayoutBench(model).picture({ root: String(model.entry) });
    found.push(performance.now() - start);
  }
  return found;
}

/* How each of some jobs ended. */
async function endings(jobs) {
  const done = await Promise.allSettled(jobs.map(({ promise }) => promise));
  return done.map(({ status, reason }) => (status === "fulfilled" ? "done"
    : `${reason.name}: ${reason.message}`));
}

/* A worker in the same thread: messages are copied, as between threads. */
function fakeWorker() {
  const worker = { postMessage: (data) => queueMicrotask(() =>
    scope.onmessage({ data: structuredClone(data) })), terminate: () => {} };
  const scope = { postMessage: (data) => queueMicrotask(() =>
    worker.onmessage({ data: structuredClone(data) })) };
  Hlo.serveLayouts(scope);
  return worker;
}

async function askAll(layouter, entry) {
  const view = { root: entry };
  const superseded = [layouter.layout(view), layouter.layout(view)];
  const first = await endings(superseded);
  const cancelled = layouter.layout({ root: entry, folded: [[entry, 0, 0]] });
  cancelled.cancel();
  const wrong = layouter.layout({ root: "99" });
  const [second, third] = [await endings([cancelled]), await endings([wrong])];
  const picture = await layouter.layout(view).promise;
  return { kind: layouter.kind, endings: [...first, ...second, ...third],
    findings: Hlo.checkPicture(picture), text: Hlo.pictureText(picture) };
}

/* Layouts asked for as the page does it: here, from a worker, from one that breaks, and from one
   that unpacks the document itself. */
async function asking([file]) {
  const document = JSON.parse(fs.readFileSync(file)), model = Hlo.Model.decode(document);
  const widths = Hlo.layoutTestWidths, entry = String(model.entry);
  const bytes = require("node:zlib").deflateSync(fs.readFileSync(file));
  const start = (options) => Hlo.startLayouter({ model, widths, ...options });
  const found = { page: await askAll(start({ document }), entry) };
  globalThis.URL.createObjectURL = () => "blob:script";
  globalThis.Worker = function Worker() {
    return fakeWorker();
  };
  found.worker = await askAll(start({ document, scripts: [""] }), entry);
  const later = Promise.resolve(model);
  found.bytes = await askAll(start({ bytes, scripts: [""], model: later }), entry);
  const garbled = start({ bytes: bytes.subarray(9), scripts: [""] });
  found.garbled = await endings([garbled.layout({ root: entry })]);
  globalThis.Worker = function Worker() {
    const fail = () => worker.onerror && worker.onerror({ preventDefault: () => {} });
    const worker = { postMessage: () => queueMicrotask(fail), terminate: () => {} };
    return worker;
  };
  found.broken = await askAll(start({ document, scripts: [""] }), entry);
  return found;
}

/* Of all modules of a page what is put together of what they share, the one shown first last. */
function states([file]) {
  const outer = Hlo.Model.decode(JSON.parse(fs.readFileSync(file)));
  return [...outer.modules, outer].map((model) => ({ title: model.title, text: model.text,
    instructions: model.computations.flatMap(({ number, size }) =>
      Array.from({ length: size }, (_, i) => [model.name(number, i), model.opcode(number, i),
        model.titleText(number, i), model.shapeText(number, i), model.scopeText(number, i),
        model.attributesText(number, i), model.line(number, i),
        ...model.overlays.map(({ kind, values }) => (kind === "categorical"
          ? model.strings[values[number][i]] ?? "" : values[number][i]))])) }));
}

/* What the passes of a page changed. */
function passes([file]) {
  load(path.join(assets, "timeline_run.js"));
  const { strings, passes: given, decisions } = JSON.parse(fs.readFileSync(file));
  const run = new Hlo.PassRun(strings, given, decisions);
  return run.passes.map(({ edits }, p) => ({ edits, ...run.lists(p) }));
}

/* What differs between the texts of pairs of a file, each a list of lines. */
function edits([file]) {
  return JSON.parse(fs.readFileSync(file)).map(([one, other]) => Hlo.lineEdits(one, other));
}

const commands = { states, passes, edits, documents, random, mutants, describe, times, asking };
Promise.resolve(commands[what](rest)).then((found) => {
  process.stdout.write(JSON.stringify(found));
});
