"use strict";
/* What keys do. The help is made from the same table, so each key in it is bound. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  const STEP = 90, SPEED = 1.25;
  const WAYS = { w: [0, -1], a: [-1, 0], s: [0, 1], d: [1, 0] };
  /* Where these scroll by themselves they stay with the browser. */
  const SCROLLING = ["ArrowUp", "ArrowDown", "PageUp", "PageDown", "Home", "End", "Enter", " "];
  const SCROLLED = "#overview, #panel, #outline, #passes, .diff";
  const SHOWN = { ArrowUp: "↑", ArrowDown: "↓", ArrowLeft: "←", ArrowRight: "→",
    Escape: "Esc", " ": "Space" };

  /** Selects the first operand or user of the selection, or one beside it. */
  function follow(viewer, direction) {
    const { selected, model, picture } = viewer;
    if (selected === "") {
      selectMiddle(viewer);
      return;
    }
    const found = direction === "up" ? Hlo.operandPaths(model, selected)
      : Hlo.userPaths(picture, selected);
    // What is drawn comes before what is a chip somewhere.
    const [path] = [...found.filter((one) => isDrawn(picture, one)), ...found];
    if (path !== undefined) {
      viewer.jump(path);
    }
  }

  function isDrawn(picture, path) {
    const box = picture.find(path);
    return box !== null && box.exact;
  }

  function selectMiddle(viewer) {
    const path = viewer.middle();
    if (path !== "") {
      viewer.select(path);
    }
  }

  /** Selects the box left or right of the selection in its layer. */
  function sibling(viewer, by) {
    const box = viewer.selectedBox();
    if (box === null) {
      selectMiddle(viewer);
      return;
    }
    const stage = box.graph.stages[box.stage], { layerNodes } = stage.geometry;
    let layer = 0;
    while (layerNodes[layer + 1] <= box.node) {
      layer++;
    }
    const next = box.node + by;
    if (next >= layerNodes[layer] && next < layerNodes[layer + 1] && !stage.folded) {
      viewer.jump(paths.join(box.graph.path, stage.instructions[next]));
    }
  }

  /** The path of the box that shows the selection: what can be opened, hidden and so on. */
  function boxPath(viewer) {
    const box = viewer.selectedBox();
    return box === null ? "" : box.path || "";
  }

  /* Where a path waits for its other end, the selection is it. */
  function openHere(viewer, { focus }) {
    const box = viewer.selectedBox();
    if (focus.waiting !== "" && viewer.selected !== "") {
      focus.finishPath(viewer.selected);
    } else if (box !== null && box.path === null) {
      Hlo.unfold(viewer, box);
    } else if (box !== null) {
      viewer.toggle(box.path);
    }
  }

  /* While the first screen covers the picture these are its own: what they do would not be seen. */
  function aroundCards(entry, page) {
    const isCovered = entry.group === "Moving" || entry.keys[0].startsWith("Arrow");
    return !isCovered ? entry : { ...entry, run: (key) => {
      if (page.cards && page.cards.isOpen) {
        page.cards.press(key);
      } else {
        entry.run(key);
      }
    } };
  }

  /** Returns the table of keys: {keys, group, text, run}; `page` is what main.js offers. */
  function keyTable(viewer, page) {
    const { camera } = viewer;
    const onSelected = (call) => () => viewer.selected !== "" && call(viewer.selected);
    const go = (keys, group, text, run) => ({ keys, group, text,
      run: (key) => viewer.picture !== null && run(key) });
    /* Before the first picture is there, these do nothing. */
    return [
      go(["w", "a", "s", "d"], "Moving", "up, left, down, right", (key) =>
        camera.pan(STEP * WAYS[key][0], STEP * WAYS[key][1])),
      go(["PageUp", "PageDown"], "Moving", "by a window", (key) =>
        camera.pan(0, (key === "PageUp" ? -0.85 : 0.85) * camera.height)),
      go(["Home"], "Moving", "to the top", () => viewer.start(false)),
      go(["+", "="], "Moving", "nearer", () => camera.zoom(SPEED)),
      go(["-"], "Moving", "farther", () => camera.zoom(1 / SPEED)),
      go(["0"], "Moving", "all in sight", () => viewer.fit()),
      go(["1"], "Moving", "size for reading", () =>
        camera.zoom(camera.reading / camera.k)),
      go(["f"], "Moving", "to the selection", () => page.toSelection()),
      go(["ArrowUp"], "Following", "first operand", () => follow(viewer, "up")),
      go(["ArrowDown"], "Following", "first user", () => follow(viewer, "down")),
      go(["ArrowLeft", "ArrowRight"], "Following", "box to the left, right", (key) =>
        sibling(viewer, key === "ArrowLeft" ? -1 : 1)),
      go(["Backspace", "Alt+ArrowLeft"], "Following", "back", () => viewer.back()),
      go(["Alt+ArrowRight"], "Following", "forward again", () => viewer.forward()),
      go(["Enter"], "Opening", "open or close in place", () => openHere(viewer, page)),
      go(["Shift+Enter"], "Opening", "open alone", () =>
        boxPath(viewer) && page.alone(boxPath(viewer))),
      go(["u"], "Opening", "out to the caller", () => page.outwards()),
      go(["x"], "Opening", "open or close all", () => {
        page.showOverview(false);
        viewer.openAll();
      }),
      go(["z"], "Opening", "fold or unfold what repeats", () => page.folds.switch()),
      go(["/"], "Finding", "search", () => page.search.focus()),
      go(["n"], "Finding", "next hit", () => page.search.step(1)),
      go(["N"], "Finding", "hit before", () => page.search.step(-1)),
      go(["c"], "Finding", "what the selection needs; again: feeds; both; all", onSelected(
        (path) => page.focus.nextCone(path))),
      go(["p"], "Finding", "paths to the next click, or to what Enter is pressed on", onSelected(
        (path) => page.focus.startPath(path))),
      go(["q"], "Finding", "choose the selection too, or no more", onSelected(
        (path) => viewer.group.toggle(boxPath(viewer) || path))),
      go(["h"], "Finding", "hide the selection", onSelected((path) => page.focus.hide(path))),
      go(["o"], "Showing", "overview of the stages", () => page.showOverview()),
      go(["t"], "Showing", "text of the module", () => page.showText()),
      go(["b"], "Showing", "outline", () => page.showOutline()),
      go(["v"], "Showing", "next overlay", () => page.legend.next()),
      go(["L"], "Showing", "wider lines for larger values", () => page.widths.show()),
      go(["l"], "Showing", "light or dark", () => page.switchTheme()),
      go(["m"], "Showing", "next module of the page", () => page.nextModule()),
      go([".", "y"], "Taking along", "copy the name of the selection", onSelected(
        (path) => page.copy(viewer.nameOf(path)))),
      go(["e"], "Taking along", "save the graph as SVG", () => page.saveSvg()),
      go(["E"], "Taking along", "save what the window shows of it", () => page.saveSvg(true)),
      { keys: ["?"], group: "Showing", text: "this help", run: () => page.showHelp() },
      go(["Escape"], "Showing", "close, select nothing, show all again", () => page.escape()),
    ].map((entry) => aroundCards(entry, page));
  }

  function nameOf(event) {
    const shift = event.shiftKey && event.key.length > 1 ? "Shift+" : "";
    return `${event.altKey ? "Alt+" : ""}${shift}${event.key}`;
  }

  function isBetweenCards({ key, target }) {
    return (key.startsWith("Arrow") || key === "Home") && target.closest("#overview") !== null;
  }

  function isTyping(target) {
    return target.closest("input, select, textarea, dialog") !== null;
  }

  /* An open dialog has the keyboard for itself; what opened the help closes it too. */
  function closeBy(event, dialog) {
    if (!event.defaultPrevented && (event.key === "Escape" || event.key === "?")) {
      event.preventDefault();
      dialog.close();
    }
  }

  /** Binds a table of keys; keys of focused buttons and fields stay theirs. */
  function bindKeys(table) {
    const byKey = new Map(table.flatMap((entry) => entry.keys.map((key) => [key, entry])));
    document.addEventListener("keydown", (event) => {
      const { target, key } = event, dialog = document.querySelector("dialog[open]");
      if (dialog !== null) {
        closeBy(event, dialog);
        return;
      }
      const isButton = target.closest("button, a, canvas[role=slider]") !== null
        && (key === "Enter" || key === " ");
      if (event.ctrlKey || event.metaKey || event.defaultPrevented || isButton
        || (isTyping(target) && key !== "Escape")
        || (SCROLLING.includes(key) && target.closest(SCROLLED) && !isBetweenCards(event))) {
        return;
      }
      const entry = byKey.get(nameOf(event));
      if (entry !== undefined) {
        event.preventDefault();
        entry.run(event.key);
      }
    });
    return byKey;
  }

  /** Returns how a key is written in the help. */
  function keyText(key) {
    return key.split("+").map((part) => SHOWN[part] || part).join("+") || key;
  }

  Object.assign(Hlo, { keyTable, bindKeys, keyText });
})(globalThis);
