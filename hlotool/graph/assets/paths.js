"use strict";
/* Which call of a computation is meant: paths through calls, as numbers and as names. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  const paths = {
    /** Returns the graph path of an instruction path. */
    graph(path) {
      const at = path.indexOf("#");
      return at < 0 ? path : path.slice(0, at);
    },
    /** Returns the number of the instruction of an instruction path, -1 for a graph path. */
    instruction(path) {
      const at = path.indexOf("#");
      return at < 0 ? -1 : Number(path.slice(at + 1));
    },
    /** Returns the path of instruction i in a graph. */
    join(graphPath, i) {
      return `${graphPath}#${i}`;
    },
    /** Returns the path of the graph that call number `call` of instruction i opens. */
    enter(graphPath, i, call) {
      return `${graphPath}/${i}.${call}`;
    },
    /** Returns the path of the instruction that calls a graph, null for one that none calls. */
    parent(graphPath) {
      const at = graphPath.lastIndexOf("/");
      if (at < 0) {
        return null;
      }
      const [instruction] = graphPath.slice(at + 1).split(".");
      return `${graphPath.slice(0, at)}#${instruction}`;
    },
    /** Returns the number of the call that a graph path ends in, -1 at its start. */
    call(graphPath) {
      const at = graphPath.lastIndexOf("/");
      return at < 0 ? -1 : Number(graphPath.slice(at + 1).split(".")[1]);
    },
  };

  /** Returns the computation that a graph path leads to; throws an Error where it leads nowhere. */
  function computationOf(graphPath) {
    const [start, ...steps] = graphPath.split("/");
    let c = Number(start);
    for (const step of steps) {
      const [instruction, call] = step.split(".").map(Number);
      const called = this.computations[c] && this.callsOf(c, instruction)[call];
      if (called === undefined) {
        throw new Error(`no call ${step} in path ${graphPath}`);
      }
      c = called.computation;
    }
    if (this.computations[c] === undefined) {
      throw new Error(`no computation in path ${graphPath}`);
    }
    return c;
  }

  /** Returns a path of instruction i of computation c from the entry, by the first callers. */
  function pathOf(c, i) {
    const steps = [], seen = new Set();
    let current = c;
    while (current !== this.entry && !seen.has(current)) {
      seen.add(current);
      const [caller] = this.callersOf(current);
      if (caller === undefined) {
        break;
      }
      steps.unshift(`${caller.instruction}.${caller.call}`);
      current = caller.computation;
    }
    return current === this.entry
      ? `${[current, ...steps].join("/")}#${i}`
      : `${c}#${i}`;
  }

  /** Returns a path as names: computation, callers with the role of the call, instruction. */
  function pathText(path) {
    const graphPath = paths.graph(path), instruction = paths.instruction(path);
    const [start, ...steps] = graphPath.split("/");
    let c = Number(start);
    const names = [this.computations[c].name];
    for (const step of steps) {
      const [i, call] = step.split(".").map(Number);
      const called = this.callsOf(c, i)[call];
      names.push(this.name(c, i), called.role);
      c = called.computation;
    }
    if (instruction >= 0) {
      names.push(this.name(c, instruction));
    }
    return names.join("/");
  }

  function instructionNamed(model, c, name) {
    const place = model.find(name).find((one) => one.computation === c);
    return place === undefined ? -1 : place.instruction;
  }

  /** Returns the path that `pathText` wrote as this text, or null if there is none any more. */
  function pathFromText(text) {
    const [start, ...names] = text.split("/");
    let c = this.computations.findIndex((computation) => computation.name === start);
    if (c < 0) {
      return null;
    }
    let path = String(c);
    for (let n = 0; n < names.length; n += 2) {
      const i = instructionNamed(this, c, names[n]);
      if (i < 0) {
        return null;
      }
      if (n + 1 === names.length) {
        return paths.join(path, i);
      }
      const calls = this.callsOf(c, i);
      const call = calls.findIndex((one) => one.role === names[n + 1]);
      if (call < 0) {
        return null;
      }
      path = paths.enter(path, i, call);
      c = calls[call].computation;
    }
    return path;
  }

  /** Returns the path of the instruction of a name that is first called from the entry, or "". */
  function pathOfName(model, name) {
    const [place] = name === "" ? [] : model.find(name);
    return place === undefined ? "" : model.pathOf(place.computation, place.instruction);
  }

  /**
   * Returns the path in another model of what a path of this one means: the same calls by their
   * names where they are there, else the first call of the instruction's name; "" for none.
   */
  function pathIn(other, path) {
    const same = path === "" ? null : other.pathFromText(this.pathText(path));
    if (path === "" || same !== null) {
      return same || "";
    }
    return pathOfName(other, this.name(this.computationOf(paths.graph(path)),
      paths.instruction(path)));
  }

  Object.assign(Hlo.Model.prototype, { computationOf, pathOf, pathText, pathFromText, pathIn });
  Object.assign(Hlo, { paths, pathOfName });
})(globalThis);
