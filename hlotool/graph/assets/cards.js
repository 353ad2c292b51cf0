"use strict";
/* The first screen of a big module: a card for each stage, repeats once. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { counted, element } = Hlo;
  const WIDE = 120, HIGH = 100, LARGEST = 0.3, MOST_ROWS = 400, LONGEST_NAME = 40;

  /* Where these go while the first screen has the keyboard: to another card. */
  const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1, Home: -Infinity };

  /** Returns what a stage is mostly about: "mixed3: 3 convolution, dot". */
  function cardTitle(card) {
    const heads = card.heads.map(({ title, count }) => (count > 1 ? `${count} ${title}` : title));
    const scope = card.scope || card.last;
    return scope ? `${scope}: ${heads.join(", ")}` : heads.join(", ");
  }

  function explained({ scope, last }) {
    return scope !== "" ? `All op_names in it begin with ${scope}`
      : last !== "" ? `Its last value is of ${last}` : "";
  }

  /* The nearest card in a row above (-1) or below (1). */
  function inNextRow(cards, at, step) {
    if (at < 0) {
      return cards[step > 0 ? 0 : cards.length - 1];
    }
    const here = cards[at].getBoundingClientRect();
    const far = (card) => {
      const { left, top } = card.getBoundingClientRect(), away = step * (top - here.top);
      return away < here.height / 2 ? Infinity : away * cards.length + Math.abs(left - here.left);
    };
    return cards.reduce((best, card) => (far(card) < far(best) ? card : best), cards[at]);
  }

  class Cards {
    /** `opened(stage)` is called when a card is chosen. */
    constructor(viewer, place, opened) {
      Object.assign(this, { viewer, place, opened });
      this._watch = new IntersectionObserver((entries) => this._seen(entries), { root: place,
        rootMargin: "200px" });
      viewer.signals.on("picture colours theme", () => this.isOpen && this._fill());
    }

    get isOpen() { return !this.place.hidden; }

    /** Does what a key for moving and following means here: goes from card to card. */
    press(key) {
      const cards = [...this.place.querySelectorAll(".card")];
      const at = cards.indexOf(document.activeElement), step = STEPS[key];
      const next = key === "ArrowUp" || key === "ArrowDown" ? inNextRow(cards, at, step)
        : cards[Math.max(0, Math.min(cards.length - 1, at + step))];
      if (next !== undefined) {
        next.focus();
      }
    }

    /** Whether there is more than one stage to tell apart. */
    get isPossible() {
      const { picture } = this.viewer;
      return picture !== null && picture.root.stages.length > 1;
    }

    show(isOpen) {
      this.place.hidden = !isOpen;
      if (isOpen) {
        this._fill();
        this.place.focus({ preventScroll: true });
      } else {
        this._watch.disconnect();
        this.place.replaceChildren();
      }
    }

    _fill() {
      const { viewer } = this, { model, picture } = viewer;
      const found = viewer.overview();
      this._watch.disconnect();
      const total = this._total(found);
      const { size, name } = model.computations[picture.root.computation];
      const rest = model.instructions - size;
      const intro = element("p", {}, element("b", {},
        counted(found.stages, "stage")), `, ${found.different} of them different: ` +
        `${counted(found.nodes, "box", "boxes")} for the ${counted(size, model.noun)} of ` +
        `${Hlo.labels.cut(name, LONGEST_NAME)}${rest > 0 ? `; ${rest.toLocaleString("en")} more ` +
        "are in computations that these call" : ""}. `,
      element("span", { class: "dim" }, "A click opens a stage; the bars are shares of " +
        `${total.name === "" ? "boxes" : Hlo.overlayLabel(model.overlay(total.name))}.`));
      const rows = element("div", { class: "cards" }, ...found.rows.slice(0, MOST_ROWS)
        .map((row) => this._row(row, total)));
      this.place.replaceChildren(intro, rows);
    }

    /* The overlay that is shown, else work, else memory: what the bars are about. */
    _total(found) {
      const { overlay, model } = this.viewer;
      const names = [overlay && overlay.data.sum === "sum" ? overlay.name : "", "flops", "bytes"];
      const name = names.find((one) => one && model.overlay(one)) || "";
      let sum = 0;
      for (const { cards } of found.rows) {
        for (const card of cards) {
          sum += name === "" ? card.nodes : card.sums[name] || 0;
        }
      }
      return { name, sum };
    }

    _row({ count, cards }, total) {
      const made = cards.map((card) => this._card(card, count, total));
      return count === 1 ? made[0] : element("div", { class: "row many" }, ...made,
        element("span", { class: "times", title: `This ${count} times, one after the other` },
          `×${count}`));
    }

    _card(card, count, total) {
      const value = total.name === "" ? card.nodes * count : card.sums[total.name] || 0;
      const share = total.sum > 0 ? value / total.sum : 0;
      const unit = total.name === "" ? "" : this.viewer.model.overlay(total.name).unit;
      const bar = element("i");
      bar.style.width = `${(100 * share).toFixed(1)}%`;
      const canvas = element("canvas", { "data-stage": card.stage, "aria-hidden": "true" });
      const inside = card.instructions > card.nodes
        ? `, ${counted(card.instructions, this.viewer.model.noun)}` : "";
      const percent = share > 0 && share < 0.01 ? "<1" : String(Math.round(100 * share));
      const note = total.name === "" ? "" : `${Hlo.readable(value, unit)} (${percent} %)`;
      const made = element("button", { type: "button", class: "card", "data-stage": card.stage,
        onclick: () => this.opened(card.stage) }, canvas, element("span", {},
        element("b", { title: explained(card) }, cardTitle(card)),
        element("small", {}, `${counted(card.nodes, "box", "boxes")}${inside}`),
        card.output ? element("small", {}, `→ ${Hlo.labels.cut(card.output, 40)}`) : null,
        card.portals > 0 ? element("small", {},
          card.portals === 1 ? "1 long edge passes" : `${card.portals} long edges pass`) : null,
        note ? element("small", {}, note) : null,
        element("div", { class: "share", title: note }, bar)));
      this._size(canvas, card.geometry);
      this._watch.observe(canvas);
      return made;
    }

    /* Sizes are set at once, pictures are drawn when the card comes into sight. */
    _size(canvas, geometry) {
      const ratio = root.devicePixelRatio || 1, wide = geometry.right - geometry.left;
      const scale = Math.min(WIDE / wide, HIGH / geometry.height, LARGEST);
      canvas.width = Math.max(1, Math.ceil(wide * scale * ratio));
      canvas.height = Math.max(1, Math.ceil(geometry.height * scale * ratio));
      canvas.style.width = `${canvas.width / ratio}px`;
      canvas.style.height = `${canvas.height / ratio}px`;
    }

    _seen(entries) {
      for (const { isIntersecting, target } of entries) {
        if (isIntersecting) {
          this._watch.unobserve(target);
          this._draw(target);
        }
      }
    }

    _draw(canvas) {
      const { viewer } = this, { root: graph } = viewer.picture;
      const stage = graph.stages[Number(canvas.dataset.stage)];
      if (stage === undefined) {
        return;
      }
      const { geometry } = stage, k = canvas.width / (geometry.right - geometry.left);
      const x = stage.x + geometry.left, { y } = stage;
      const view = { x, y, k, sight: { x0: x, y0: y - 1, x1: stage.x + geometry.right,
        y1: y + geometry.height } };
      const frame = Hlo.makeFrame(canvas.getContext("2d"), 1, view, viewer);
      frame.hasText = false;
      frame.isTiny = true;
      frame.hasLines = true;
      Hlo.drawStage(frame, graph, stage, stage.x, stage.y);
    }
  }

  Object.assign(Hlo, { Cards, cardTitle });
})(globalThis);
