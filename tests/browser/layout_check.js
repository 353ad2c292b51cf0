"use strict";
/* What holds for every picture of a layout, whatever the module. Runs in node and in the page. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const NEAR = 0.02;

  /** Collects broken invariants; few of each, since one bug breaks many. */
  class Findings {
    constructor() {
      this.texts = [];
      this._counts = new Map();
    }

    add(what, where) {
      const count = (this._counts.get(what) || 0) + 1;
      this._counts.set(what, count);
      if (count <= 3) {
        this.texts.push(`${what}: ${where}`);
      }
    }
  }

  /** Returns the broken invariants of a picture as text; [] where all hold. */
  function checkPicture(picture) {
    const findings = new Findings();
    for (const graph of picture.graphs.values()) {
      checkGraph(picture, graph, findings);
    }
    checkHits(picture, findings);
    return findings.texts;
  }

  function checkGraph(picture, graph, findings) {
    graph.stages.forEach((stage, number) => {
      const where = `${graph.path} stage ${number}`;
      checkNumbers(stage.geometry, where, findings);
      checkLayers(stage, where, findings);
      checkLines(stage, where, findings);
      checkInside(graph, stage, where, findings);
    });
    checkJoints(graph, findings);
    checkChildren(graph, findings);
    checkOperands(picture, graph, findings);
    checkBoxesOnce(picture, graph, findings);
  }

  function checkNumbers(geometry, where, findings) {
    for (const column of ["x", "y", "w", "h", "lines", "layerTop", "layerBottom"]) {
      if (!geometry[column].every(Number.isFinite)) {
        findings.add(`a number in ${column} is not finite`, where);
      }
    }
  }

  function checkLayers({ geometry }, where, findings) {
    const { x, y, w, h, layerNodes, layerTop, layerBottom } = geometry;
    for (let r = 0; r < layerTop.length; r++) {
      for (let n = layerNodes[r]; n < layerNodes[r + 1]; n++) {
        if (n > layerNodes[r] && x[n - 1] + w[n - 1] > x[n] + NEAR) {
          findings.add("two boxes of a layer overlap", `${where} box ${n}`);
        }
        if (y[n] < layerTop[r] - NEAR || y[n] + h[n] > layerBottom[r] + NEAR) {
          findings.add("a box is higher than its layer", `${where} box ${n}`);
        }
      }
      if (r > 0 && layerTop[r] <= layerBottom[r - 1]) {
        findings.add("layers overlap", `${where} layer ${r}`);
      }
    }
  }

  function checkLines({ geometry }, where, findings) {
    const { lines, lineTarget, x, y, w, layerLines, layerBottom } = geometry;
    for (let r = 0; r + 1 < layerLines.length; r++) {
      for (let n = layerLines[r]; n < layerLines[r + 1]; n++) {
        const [, startY, endX, endY, throughY] = lines.subarray(n * 5, n * 5 + 5);
        if (endY <= layerBottom[r] - NEAR || endY <= startY || throughY < endY) {
          findings.add("a line does not go down", `${where} line ${n}`);
        }
        const target = lineTarget[n];
        if (target >= 0 && (Math.abs(endY - y[target]) > NEAR || endX < x[target] - NEAR
          || endX > x[target] + w[target] + NEAR)) {
          findings.add("a line does not meet the box it goes to", `${where} line ${n}`);
        }
      }
    }
  }

  function checkInside(graph, stage, where, findings) {
    const { x, y, w, h, size } = stage.geometry;
    for (let n = 0; n < size; n++) {
      const left = stage.x + x[n], top = stage.y + y[n];
      if (left < -NEAR || left + w[n] > graph.width + NEAR || top < -NEAR
        || top + h[n] > graph.height + NEAR) {
        findings.add("a box is outside its graph", `${where} box ${n}`);
      }
    }
  }

  function checkJoints(graph, findings) {
    for (let n = 0; n < graph.joints.length; n += 4) {
      const [startX, startY, endX, endY] = graph.joints.subarray(n, n + 4);
      if (![startX, startY, endX, endY].every(Number.isFinite) || endY < startY - NEAR) {
        findings.add("a line between stages does not go down", `${graph.path} joint ${n / 4}`);
      }
    }
    graph.stages.forEach((stage, number) => {
      const above = graph.stages[number - 1];
      if (above !== undefined && stage.y < above.y + above.geometry.height - NEAR) {
        findings.add("stages overlap", `${graph.path} stage ${number}`);
      }
    });
  }

  function checkChildren(graph, findings) {
    for (const [instruction, children] of graph.children) {
      const { geometry } = graph.stages[graph.stageOf[instruction]];
      const node = graph.nodeOf[instruction];
      const width = geometry.w[node], height = geometry.h[node];
      children.forEach((child, n) => {
        const before = children[n - 1];
        if (child.x < -NEAR || child.x + child.graph.width > width + NEAR || child.y < 0
          || child.y + child.graph.height > height + NEAR) {
          findings.add("a graph is outside its cluster", child.graph.path);
        }
        if (before !== undefined && before.x + before.graph.width > child.x + NEAR) {
          findings.add("two graphs of a cluster overlap", child.graph.path);
        }
      });
    }
  }

  /** Returns the set of what arrives: "instruction port" of each line to a box. */
  function arrivals(graph) {
    const arrived = new Map();
    for (const { geometry, instructions } of graph.stages) {
      geometry.lineTarget.forEach((target, n) => {
        if (target >= 0 && geometry.lineKind[n] === Hlo.line.DATA) {
          const key = `${instructions[target]} ${geometry.linePort[n]}`;
          const source = instructions[geometry.lineSource[n]];
          arrived.set(key, arrived.has(key) ? "twice" : source);
        }
      });
    }
    return arrived;
  }

  /** Returns what rows show: "instruction source" of each, and "instruction more". */
  function shownRows(graph) {
    const shown = new Set();
    for (const { geometry, instructions, rowSources } of graph.stages) {
      for (let node = 0; node < geometry.size; node++) {
        for (let r = geometry.rowEnds[node]; r < geometry.rowEnds[node + 1]; r++) {
          const kind = geometry.rowKinds[r];
          const counts = kind === Hlo.row.MORE || kind === Hlo.row.INVARIANT;
          shown.add(`${instructions[node]} ${counts ? "more" : rowSources[r]}`);
        }
      }
    }
    return shown;
  }

  /** Every operand of every instruction is exactly one of edge, chip, portal, label. */
  function checkOperands(picture, graph, findings) {
    const { operands, ends, size } = picture.model.computations[graph.computation];
    const seen = { arrived: arrivals(graph), rows: shownRows(graph), portals: new Set() };
    for (let at = 0; at < graph.portals.length; at += 3) {
      seen.portals.add(graph.portals.subarray(at, at + 3).join(" "));
    }
    const isFolded = graph.stages.some(({ folded }) => folded);
    for (let i = 0; i < size && !isFolded; i++) {
      for (let k = ends[i]; k < ends[i + 1]; k++) {
        const wrong = wrongOperand(picture, graph, seen, i, k - ends[i], operands[k],
          graph.operandStates[k]);
        if (wrong !== "") {
          findings.add(wrong, `${graph.path}#${i} operand ${k - ends[i]}`);
        }
      }
    }
  }

  function wrongOperand(picture, graph, seen, i, port, source, state) {
    const { EDGE, CHIP, PORTAL, LABEL } = Hlo.operand;
    const isBox = graph.nodeOf[i] >= 0;
    const arrived = seen.arrived.get(`${i} ${port}`);
    const isPortal = seen.portals.has(`${source} ${i} ${port}`);
    if (state === EDGE) {
      return arrived === graph.bases[source] && !isPortal ? "" : "an edge has not just one line";
    }
    if (arrived !== undefined) {
      return "a line arrives for what is no edge";
    }
    if (state === PORTAL || state === CHIP) {
      const isOpen = graph.children.has(i);
      const inRow = isOpen || seen.rows.has(`${i} ${source}`) || seen.rows.has(`${i} more`);
      const wanted = state === PORTAL;
      return isPortal === wanted && (!isBox || inRow) ? "" : "a portal or chip has no row";
    }
    if (state === LABEL) {
      return isBox || isPortal ? "a label is drawn as a box" : "";
    }
    return picture.view.only ? "" : "an operand is not shown";
  }

  /** Every instruction has at most one box, and the columns by instruction agree. */
  function checkBoxesOnce(picture, graph, findings) {
    const seen = new Set();
    graph.stages.forEach(({ geometry, instructions, folded }, number) => {
      for (let node = 0; node < geometry.size && !folded; node++) {
        const i = instructions[node];
        if (seen.has(i)) {
          findings.add("an instruction has two boxes", `${graph.path}#${i}`);
        }
        seen.add(i);
        if (graph.stageOf[i] !== number || graph.nodeOf[i] !== node) {
          findings.add("a box is not found by its instruction", `${graph.path}#${i}`);
        }
      }
    });
  }

  /** A box is found at its own corner, and by its path. */
  function checkHits(picture, findings) {
    let left = 400;
    for (const path of picture.instructionPaths()) {
      const place = picture.find(path);
      const hit = picture.nodeAt(place.x + 2, place.y + Math.min(place.h, 4) / 2);
      if (!place.exact || place.path !== path || hit === null || hit.path !== path) {
        findings.add("a box is not found where it stands", path);
      }
      if (--left === 0) {
        return;
      }
    }
  }

  /** Returns a text that two pictures share only if they are the same to the last bit. */
  function pictureText(picture) {
    const parts = [];
    for (const graph of picture.graphs.values()) {
      parts.push(graph.path, graph.width, graph.height, graph.joints.join());
      for (const stage of graph.stages) {
        const { geometry } = stage;
        parts.push(stage.x, stage.y, stage.instructions.join(), stage.rowSources.join());
        for (const column of ["x", "y", "w", "h", "flags", "lines", "lineSource", "lineTarget",
          "linePort", "lineKind", "lineLabel", "rowKinds", "rowPorts"]) {
          parts.push(geometry[column].join());
        }
      }
    }
    return parts.join("\n");
  }

  /** Returns the instruction paths of all clusters that can be opened, from a root down. */
  function allClusters(model, rootPath) {
    const open = [], pending = [rootPath];
    while (pending.length > 0) {
      const path = pending.pop(), c = model.computationOf(path);
      for (const i of model.computations[c].callIndex.keys()) {
        const inside = [];
        model.callsOf(c, i).forEach((call, k) => {
          if (call.inside) {
            inside.push(Hlo.paths.enter(path, i, k));
          }
        });
        if (inside.length > 0) {
          open.push(Hlo.paths.join(path, i));
          pending.push(...inside);
        }
      }
    }
    return open;
  }

  Hlo.checkPicture = checkPicture;
  Hlo.pictureText = pictureText;
  Hlo.allClusters = allClusters;
})(globalThis);
