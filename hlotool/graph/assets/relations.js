"use strict";
/* What belongs to a selection: boxes and lines of its operands and of its users. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths, labels, line } = Hlo;

  /** Returns the operand of the caller that a parameter of a called graph stands for, or "". */
  function callersOperand(model, path) {
    const caller = paths.parent(paths.graph(path));
    if (caller === null) {
      return "";
    }
    const c = model.computationOf(paths.graph(path)), i = paths.instruction(path);
    if (model.role(c, i) !== "parameter") {
      return "";
    }
    const operand = labels.argumentOf(model, { instruction: paths.instruction(caller),
      computation: model.computationOf(paths.graph(caller)), call: paths.call(paths.graph(path)) },
    c, i);
    return operand < 0 ? "" : paths.join(paths.graph(caller), operand);
  }

  /** Returns the paths of the operands of an instruction, of an inner parameter the caller's. */
  function operandPaths(model, path) {
    const graphPath = paths.graph(path), c = model.computationOf(graphPath);
    const outer = callersOperand(model, path);
    const own = Array.from(model.operandsOf(c, paths.instruction(path)),
      (i) => paths.join(graphPath, i));
    return outer === "" ? own : [outer, ...own];
  }

  /** Returns the paths of the users; parts of a tuple that are no boxes stand for their users. */
  function userPaths(picture, path) {
    const { model } = picture, graphPath = paths.graph(path), c = model.computationOf(graphPath);
    const found = [], work = [...model.usersOf(c, paths.instruction(path))];
    const seen = new Set(work), graph = picture.graphs.get(graphPath);
    for (const i of work) {
      const isBox = graph === undefined || graph.nodeOf[i] >= 0;
      if (model.role(c, i) === "element" && !isBox) {
        for (const next of model.usersOf(c, i)) {
          if (!seen.has(next)) {
            seen.add(next);
            work.push(next);
          }
        }
      } else {
        found.push(paths.join(graphPath, i));
      }
    }
    return found;
  }

  /**
   * Returns {box, operands, users} of what is selected, or null if nothing shows it; operands and
   * users are {boxes, strokes, portals}: boxes as of `picture.find`, strokes as
   * {geometry, layer, line, x, y} or {joint: [x0, y0, x1, y1]} in the picture, portals as pairs
   * of boxes whose line is not drawn else.
   */
  function relationsOf(picture, path) {
    const box = picture.find(path);
    if (box === null) {
      return null;
    }
    const operands = { boxes: boxesOf(picture, operandPaths(picture.model, path), box) };
    const users = { boxes: boxesOf(picture, userPaths(picture, path), box) };
    operands.strokes = box.path === null ? [] : strokesInto(picture, box);
    users.strokes = box.path === null ? [] : strokesFrom(picture, box);
    const portals = portalsOf(picture, box);
    operands.portals = portals.into;
    users.portals = portals.outOf;
    return { box, operands, users };
  }

  function boxesOf(picture, found, self) {
    const boxes = new Map();
    for (const path of found) {
      const box = picture.find(path);
      if (box !== null && box.path !== self.path) {
        boxes.set(`${box.x},${box.y}`, box);
      }
    }
    return [...boxes.values()];
  }

  function eachLine(geometry, visit) {
    for (let r = 0; r + 1 < geometry.layerLines.length; r++) {
      for (let n = geometry.layerLines[r]; n < geometry.layerLines[r + 1]; n++) {
        visit(r, n);
      }
    }
  }

  /* From the box that a line ends in, its trunk is followed up; a trunk is one line a layer. */
  function strokesInto(picture, box, isWanted = () => true) {
    const { graph } = box, stage = graph.stages[box.stage], { geometry } = stage;
    const last = new Map();
    const endsHere = (n) => geometry.lineTarget[n] === box.node
      && isWanted(stage.instructions[geometry.lineSource[n]]);
    eachLine(geometry, (r, n) => {
      if (endsHere(n)) {
        last.set(2 * geometry.lineSource[n] + geometry.lineKind[n], r);
      }
    });
    const strokes = [], place = placeOf(picture, graph, stage);
    eachLine(geometry, (r, n) => {
      const bottom = last.get(2 * geometry.lineSource[n] + geometry.lineKind[n]);
      if (endsHere(n) || (geometry.lineTarget[n] === -1 && bottom !== undefined && r < bottom)) {
        strokes.push({ geometry, layer: r, line: n, ...place });
      }
    });
    const from = new Set([...last.keys()].map((key) => stage.instructions[key >> 1]));
    addJoints(picture, graph, strokes, (i, n) => from.has(i) && n < box.stage);
    addTrunksAbove(picture, box, from, strokes);
    return strokes;
  }

  /**
   * Returns {from, to, strokes} of what leads from one instruction to another: the boxes that show
   * them, of which `from` may be null, and the lines between both, if they are drawn. Null if
   * nothing shows the second one.
   */
  function edgeBetween(picture, one, other) {
    const to = other === "" ? null : picture.find(other);
    const from = one === "" || to === null ? null : picture.find(one);
    if (to === null) {
      return null;
    }
    if (from === null || from.path === to.path) {
      return { from: null, to, strokes: [] };
    }
    const isDrawn = from.graph === to.graph && from.path !== null && to.path !== null;
    return { from, to, strokes: isDrawn ? strokesInto(picture, to,
      (i) => i === paths.instruction(from.path)) : [] };
  }

  /* A value that passes stages whole has trunks in them too. */
  function addTrunksAbove(picture, box, from, strokes) {
    const { graph } = box;
    for (const i of from) {
      for (let n = Math.max(0, graph.stageOf[i]); n < box.stage && graph.stageOf[i] >= 0; n++) {
        const stage = graph.stages[n], { geometry } = stage;
        const place = placeOf(picture, graph, stage);
        eachLine(geometry, (r, k) => {
          if (stage.instructions[geometry.lineSource[k]] === i && geometry.lineTarget[k] < 0) {
            strokes.push({ geometry, layer: r, line: k, ...place });
          }
        });
      }
    }
  }

  function strokesFrom(picture, box) {
    const { graph } = box, i = paths.instruction(box.path), strokes = [];
    let last = box.stage;
    graph.jointSource.forEach((source, n) => {
      if (source === i) {
        last = Math.max(last, graph.stageAt(graph.joints[4 * n + 3] + 1));
      }
    });
    for (let number = box.stage; number <= last; number++) {
      const stage = graph.stages[number], { geometry } = stage;
      const place = placeOf(picture, graph, stage);
      eachLine(geometry, (r, n) => {
        if (stage.instructions[geometry.lineSource[n]] === i
          && geometry.lineKind[n] === line.DATA) {
          strokes.push({ geometry, layer: r, line: n, ...place });
        }
      });
    }
    addJoints(picture, graph, strokes, (source) => source === i);
    return strokes;
  }

  function placeOf(picture, graph, stage) {
    const origin = picture.origin(graph.path);
    return { x: origin.x + stage.x, y: origin.y + stage.y };
  }

  function addJoints(picture, graph, strokes, isWanted) {
    const origin = picture.origin(graph.path);
    graph.jointSource.forEach((source, n) => {
      const [x0, y0, x1, y1] = graph.joints.subarray(4 * n, 4 * n + 4);
      if (isWanted(source, graph.stageAt(y0))) {
        strokes.push({ joint: [origin.x + x0, origin.y + y0, origin.x + x1, origin.y + y1] });
      }
    });
  }

  function portalsOf(picture, box) {
    const into = [], outOf = [], { graph } = box;
    const i = box.path === null ? -1 : paths.instruction(box.path);
    for (let at = 0; at < graph.portals.length; at += 3) {
      const source = graph.bases[graph.portals[at]], user = graph.portals[at + 1];
      if (source === i || user === i) {
        const from = picture.find(paths.join(graph.path, source));
        const to = picture.find(paths.join(graph.path, user));
        if (from !== null && to !== null) {
          (user === i ? into : outOf).push([from, to]);
        }
      }
    }
    return { into, outOf };
  }

  Object.assign(Hlo, { relationsOf, edgeBetween, operandPaths, userPaths, callersOperand });
})(globalThis);
