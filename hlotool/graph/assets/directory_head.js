"use strict";
/* The line above what a directory shows: what it is, and the ways from there. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;

  function dim(text) {
    return text === "" ? null : element("span", { class: "dim" }, text);
  }

  function button(text, title, onclick, isPressed) {
    return element("button", { type: "button", title, onclick,
      "aria-pressed": isPressed === undefined ? null : String(isPressed) }, text);
  }

  /** Elements about a pass: counts, time, and its three views. */
  function passHead(directory, m, p, kind) {
    const run = directory.runs[m], { before, after, alone, instructions } = run.passes[p];
    const view = (text, place, key) => button(text, `${text} (${key})`, () =>
      directory.open(place), directory.place === place);
    const stage = directory.data.modules[m].stages[run.passes[p].stage];
    // Some of what a dump has are states, which no pass is named for.
    const isState = stage !== undefined && run.name(p) === directory.text(stage.title);
    const about = [run.pipeline(p), isState ? `state behind ${Hlo.counted(p, "pass", "passes")}`
      : `pass ${p + 1} of ${run.length}`,
      alone ? "" : "with passes before it", run.timeText(p),
      kind === "compare" ? "" : Hlo.counted(instructions, "instruction")];
    const isSame = before === after;
    return [element("strong", {}, run.name(p)), dim(about.filter(Boolean).join(" · ")),
      element("span", { class: "counts" }, isSame ? (isState ? "" : "changed nothing")
        : run.countText(p)
        || "only names, order or remarks are new"),
      ...(isSame ? [] : [element("span", { class: "views", role: "group" },
        view("Before", `before:${m}:${p}`, "r"), view("After", `pass:${m}:${p}`, "r"),
        view("Lines", `compare:${m}:${before}:${after}:${p}`, "D"))])];
  }

  /** States of a module, each once: [[number, title]]. */
  function states({ data, strings }, m) {
    const found = new Map();
    for (const { module, title } of data.modules[m].stages) {
      if (module >= 0 && !found.has(module)) {
        found.set(module, strings[title]);
      }
    }
    return [...found];
  }

  /** A choice among the states of a module. */
  function choice(directory, m, chosen, label, changed) {
    return element("select", { "aria-label": label,
      onchange: (event) => changed(Number(event.target.value)) },
    ...states(directory, m).map(([number, title]) => element("option", { value: number,
      selected: number === chosen }, title)));
  }

  function compareHead(directory, m, before, after, p) {
    const open = (one, other) => directory.open(`compare:${m}:${one}:${other}`);
    const choices = element("span", { class: "choices" },
      choice(directory, m, before, "From", (one) => open(one, after)), "→",
      choice(directory, m, after, "To", (other) => open(before, other)));
    return p === undefined ? [element("strong", {}, "Lines"), choices]
      : [...passHead(directory, m, p, "compare"), choices];
  }

  /** A link to the last graph that has the cluster which a module was made of, or null. */
  function clusterLink(directory, m) {
    const { data } = directory;
    const g = data.graphs.findLastIndex(({ clusters }) =>
      clusters.some(({ module }) => module === m));
    if (g < 0) {
      return null;
    }
    const { name } = data.graphs[g].clusters.find(({ module }) => module === m);
    return element("button", { type: "button", class: "link",
      title: data.files[data.graphs[g].files[0]].path,
      onclick: () => directory.open(`graph:${g}`) }, `from ${directory.text(name)}`);
  }

  function stageHead(directory, m, s) {
    const { stages, title } = directory.data.modules[m], stage = stages[s];
    const others = states(directory, m), last = others[others.length - 1];
    return [element("strong", {}, directory.text(stage.title)),
      element("span", { class: "dim title", title }, title), clusterLink(directory, m),
      ...(others.length < 2 || last[0] === stage.module ? [] : [button("Lines",
        "Lines that differ from the last state", () =>
          directory.open(`compare:${m}:${stage.module}:${last[0]}`))])];
  }

  function clusterChip(directory, cluster) {
    const { name, module, places } = cluster, { data } = directory;
    const chip = button(`${directory.text(name)} · ${Hlo.counted(places.length / 2, "node")}`,
      "Show these nodes alone", () => {
        const isOn = chip.getAttribute("aria-pressed") !== "true";
        for (const other of chip.parentElement.parentElement.querySelectorAll("[aria-pressed]")) {
          other.setAttribute("aria-pressed", "false");
        }
        chip.setAttribute("aria-pressed", String(isOn));
        directory.light(isOn ? cluster : null);
      }, false);
    const link = module < 0 ? dim("→ no module here") : element("button", { type: "button",
      class: "link", title: data.modules[module].title,
      onclick: () => directory.open(`stage:${module}:0`) }, `→ ${shortTitle(data, module)}`);
    return element("span", { class: "cluster" }, chip, link);
  }

  /* Names of modules of clusters are long and say little behind their beginning. */
  function shortTitle(data, module) {
    return data.modules[module].title.replace(/__Xla.*/, "…");
  }

  function graphHead(directory, g) {
    const { files, function: name, nodes, lost, loops, clusters } = directory.data.graphs[g];
    const left = [lost > 0 ? `${lost} inputs name no node` : "",
      loops > 0 ? `${loops} edges lead back and are not drawn` : ""];
    const more = files.length > 1 ? `and ${files.length - 1} equal` : "";
    const title = directory.files[files[0]].path;
    return [element("strong", { title: files.map((file) => directory.files[file].path).join("\n") },
      name < 0 ? title : `${directory.text(name)} in ${title}`),
    dim([more, Hlo.counted(nodes, "node"), ...left].filter(Boolean).join(" · ")),
    ...clusters.map((cluster) => clusterChip(directory, cluster))];
  }

  function textHead(directory, t) {
    const { title, kind, size, cut, file } = directory.data.texts[t];
    return [element("strong", { title: directory.files[file].path }, directory.text(title)),
      dim(`${directory.text(kind)} · ${Hlo.byteText(size)}`),
      cut ? element("span", { class: "warning" }, "⚠ only its beginning is in this page") : null];
  }

  function memoryHead(directory, m) {
    return [element("strong", {}, "Memory over time"), dim(directory.data.modules[m].title)];
  }

  /** Returns the elements of the line for a place. */
  function directoryHead(directory, place) {
    const [kind, ...numbers] = Hlo.parsedPlace(place);
    const make = { pass: (m, p) => passHead(directory, m, p, kind),
      before: (m, p) => passHead(directory, m, p, kind), stage: (m, s) =>
        stageHead(directory, m, s), compare: (...all) => compareHead(directory, ...all),
      graph: (g) => graphHead(directory, g), text: (t) => textHead(directory, t),
      memory: (m) => memoryHead(directory, m) }[kind];
    const elements = make === undefined ? [] : make(...numbers);
    if (directory.hasGraphs && !["pass", "before", "stage", "graph"].includes(kind)) {
      elements.unshift(button("←", "Back to the graph (Esc)", () => directory.closeSheet()));
    }
    return elements.filter((one) => one !== null);
  }

  Object.assign(Hlo, { directoryHead });
})(globalThis);
