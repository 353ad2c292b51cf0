"use strict";
/* The line at the top, and the small controls over the picture. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { counted, element, shell, paths } = Hlo;
  const ZOOM = 1.3, LEAST_TEXT = 80;

  function bindBar(page) {
    const { viewer } = page, { camera, signals } = viewer;
    const onClick = (id, call) => shell(id).addEventListener("click", call);
    onClick("skip", () => {
      page.showText(true);
      shell("lines").focus();
    });
    onClick("outline-toggle", () => page.showOutline());
    onClick("text-toggle", () => page.showText());
    onClick("overview-toggle", () => page.showOverview());
    onClick("open-all", () => {
      page.showOverview(false);
      viewer.openAll();
    });
    onClick("theme", () => page.switchTheme());
    onClick("help-toggle", () => page.showHelp());
    const zooms = { out: () => camera.zoom(1 / ZOOM), in: () => camera.zoom(ZOOM),
      fit: () => viewer.fit() };
    for (const button of shell("zoom").querySelectorAll("button")) {
      button.addEventListener("click", zooms[button.dataset.zoom]);
    }
    shell("modules").addEventListener("change", () =>
      viewer.showModule(Number(shell("modules").value)));
    signals.on("camera", () => {
      const percent = 100 * camera.k;
      shell("zoom").querySelector("output").textContent =
        `${percent < 10 ? percent.toPrecision(2) : Math.round(percent)} %`;
    });
    signals.on("root module picture", () => showWhere(page));
    offerModules(viewer);
    bindSplit(page);
  }

  function offerModules({ outer }) {
    const choice = shell("modules"), count = outer.modules.length;
    choice.hidden = count === 0;
    choice.replaceChildren(element("option", { value: -1 }, outer.title),
      ...Array.from({ length: count }, (_, n) => element("option", { value: n },
        `${n + 1}: ${outer.moduleTitle(n) || outer.title}`)));
  }

  /** Says which graph is shown, with the way to it. */
  function showWhere({ viewer }) {
    const { model, root: top, picture } = viewer, steps = [];
    for (let at = top; at !== null; ) {
      steps.unshift(at);
      const caller = paths.parent(at);
      at = caller === null ? null : paths.graph(caller);
    }
    const isEntry = top === String(model.entry);
    shell("crumbs").replaceChildren(...(isEntry ? [] : steps.flatMap((graphPath, n) => [
      n > 0 ? " › " : "", crumb(viewer, graphPath, graphPath === top)])));
    if (isEntry === false && steps.length === 1) {
      shell("crumbs").prepend(crumb(viewer, String(model.entry), false), " · ");
    }
    shell("overview-toggle").hidden = picture === null || picture.root.stages.length < 3;
    shell("modules").value = String(viewer.module);
    shell("open-all").disabled = viewer.everything().length === 0;
    shell("open-all").textContent = viewer.isAllOpen ? "Close all" : "Open all";
  }

  function crumb(viewer, graphPath, isHere) {
    const { model } = viewer, { name } = model.computations[model.computationOf(graphPath)];
    return isHere ? element("b", {}, name) : element("button", { type: "button", class: "link",
      onclick: () => viewer.openAlone(graphPath) }, name);
  }

  /** Writes the name and the counts of the module. */
  function nameModule({ viewer }) {
    const { model, picture } = viewer;
    shell("title").textContent = shell("title").title = model.title;
    const computations = model.computations.length, counts = shell("counts");
    counts.textContent = `${counted(model.instructions, model.noun)}, ` +
      counted(picture.stats.nodes, "box", "boxes");
    counts.title = `${counts.textContent} in ${counted(computations, "computation")}`;
    document.title = `${model.title} – graph`;
  }

  /** The border above the text can be dragged, or moved by arrow keys. */
  function bindSplit(page) {
    const split = shell("text-split"), text = shell("text");
    const setHeight = (height) => {
      const most = shell("stage").clientHeight - 160;
      text.style.flexBasis = `${Math.max(LEAST_TEXT, Math.min(most, height))}px`;
    };
    split.addEventListener("pointerdown", (event) => split.setPointerCapture(event.pointerId));
    split.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) {
        setHeight(shell("stage").getBoundingClientRect().bottom - event.clientY);
      }
    });
    split.addEventListener("keydown", (event) => {
      const step = { ArrowUp: 24, ArrowDown: -24 }[event.key];
      if (step !== undefined) {
        event.preventDefault();
        event.stopPropagation();
        setHeight(text.clientHeight + step);
      }
    });
    page.viewer.signals.on("picture", () => nameModule(page));
  }

  Hlo.bindBar = bindBar;
})(globalThis);
