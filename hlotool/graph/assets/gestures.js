"use strict";
/* Mouse, wheel, fingers and pen over the picture; what floats beside the pointer. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { paths } = Hlo;
  const MOVED = 4, TIP_DELAY = 350, ZOOM_SPEED = 0.0018;
  /* How far the mark of far users reaches from the lower right corner of a box. */
  const MARK_HIGH = 14, MARK_WIDE = 26;
  /* Pixels a line of the wheel stands for where the browser counts in lines. */
  const WHEEL_LINE = 40;
  const FOLD = "Stages equal to those above. A double click unfolds them.";

  class Gestures {
    /**
     * `chosen(path, event)` is called for a click, with "" beside all boxes; `added(path)` for one
     * with Shift; `unfolded(place)` for a double click on a fold. The last two may be left out.
     */
    constructor(viewer, surface, tip, { chosen, rowChosen, opened, unfolded = null,
      added = null }) {
      Object.assign(this, { viewer, surface, tip, chosen, rowChosen, opened, unfolded, added });
      this._corner = null;
      this._pointers = new Map();
      this._moved = 0;
      this._tipTimer = 0;
      const listen = (name, call) => surface.addEventListener(name, call.bind(this),
        { passive: false });
      viewer.signals.on("module", () => this._leave());
      listen("pointerdown", this._down);
      listen("pointermove", this._move);
      listen("pointerup", this._up);
      listen("pointercancel", this._up);
      listen("pointerleave", this._leave);
      listen("wheel", this._wheel);
      listen("dblclick", this._double);
    }

    _down(event) {
      if (event.button > 1) {
        return;
      }
      this.surface.focus({ preventScroll: true });
      this.surface.setPointerCapture(event.pointerId);
      this._pointers.set(event.pointerId, { x: event.offsetX, y: event.offsetY });
      this._moved = this._pointers.size > 1 ? Infinity : 0;
      const isArea = event.shiftKey && this.added !== null && this.viewer.picture !== null;
      this._corner = isArea ? this._at(event) : null;
      this.hideTip();
    }

    _move(event) {
      const before = this._pointers.get(event.pointerId);
      if (before === undefined) {
        this._hover(event);
        return;
      }
      const now = { x: event.offsetX, y: event.offsetY };
      const { camera } = this.viewer;
      if (this._pointers.size === 2) {
        this._pinch(event.pointerId, now);
      } else if (this._corner !== null) {
        this._moved += Math.hypot(now.x - before.x, now.y - before.y);
        this.viewer.group.drag(areaBetween(this._corner, this._at(event)));
      } else {
        this._moved += Math.hypot(now.x - before.x, now.y - before.y);
        if (this._moved > MOVED) {
          this.surface.classList.add("moving");
          camera.pan(before.x - now.x, before.y - now.y);
        }
      }
      if (this._moved > MOVED) {
        this._pointers.set(event.pointerId, now);
      }
    }

    /* Two fingers: the middle between them moves, their distance zooms. */
    _pinch(id, now) {
      const before = this._pointers.get(id);
      const [other] = [...this._pointers].filter(([key]) => key !== id).map(([, at]) => at);
      const { camera } = this.viewer;
      const reach = (at) => Math.max(10, Math.hypot(at.x - other.x, at.y - other.y));
      camera.pan((before.x - now.x) / 2, (before.y - now.y) / 2);
      camera.zoom(reach(now) / reach(before), (now.x + other.x) / 2, (now.y + other.y) / 2);
    }

    _up(event) {
      const was = this._pointers.delete(event.pointerId);
      this.surface.classList.remove("moving");
      const corner = this._corner;
      this._corner = null;
      if (corner !== null) {
        this._endArea(corner, event);
      } else if (was && this._moved <= MOVED && event.type === "pointerup") {
        this._click(event);
      }
    }

    /* Shift with a drag chooses what is in the area, with a click one box more or less. */
    _endArea(corner, event) {
      const { group } = this.viewer;
      if (event.type !== "pointerup") {
        group.drag(null);
      } else if (this._moved > MOVED) {
        group.choose(areaBetween(corner, this._at(event)));
      } else {
        group.drag(null);
        const node = this._nodeAt(event);
        this.added(node === null || node.path === null ? "" : node.path);
      }
    }

    /** Where a pointer is in the picture. */
    _at({ offsetX, offsetY }) {
      return this.viewer.camera.toPicture(offsetX, offsetY);
    }

    _click(event) {
      const { picture, camera } = this.viewer;
      if (picture === null) {
        return;
      }
      const at = this._at(event);
      const row = camera.k > 0.38 ? picture.rowAt(at.x, at.y) : null;
      const node = row || picture.nodeAt(at.x, at.y) || portalsAt(picture, at);
      if (row !== null && this.rowChosen(row, event)) {
        return;
      }
      this.chosen(node === null || node.path === null ? "" : node.path, event);
    }

    _double(event) {
      const node = this._nodeAt(event);
      if (node !== null && node.path !== null) {
        this.opened(node.path);
      } else if (isFold(node) && this.unfolded !== null) {
        this.unfolded(node);
      }
    }

    _nodeAt(event) {
      const { picture } = this.viewer, at = this._at(event);
      return picture === null ? null : picture.nodeAt(at.x, at.y);
    }

    _hover(event) {
      const node = this._nodeAt(event), path = node === null ? "" : node.path || "";
      this.surface.classList.toggle("over", path !== "" || isFold(node));
      const about = this._rowPath(event) || path || (isFold(node) ? FOLD : "");
      if (about !== this._about) {
        this._about = about;
        this.hideTip();
        if (about !== "") {
          const place = { x: event.offsetX, y: event.offsetY };
          this._tipTimer = setTimeout(() => this._showTip(about, place), TIP_DELAY);
        }
      }
      this.viewer.hover(path);
    }

    /** The instruction that the row under the pointer is about, or "". */
    _rowPath(event) {
      const { picture, camera } = this.viewer;
      if (picture === null || camera.k <= 0.38) {
        return "";
      }
      const at = this._at(event);
      const found = picture.rowAt(at.x, at.y);
      const isCount = found !== null
        && (found.kind === Hlo.row.MORE || found.kind === Hlo.row.INVARIANT);
      return found === null || isCount ? "" : paths.join(found.graph.path, found.source);
    }

    _leave() {
      this.hideTip();
      this._about = "";
      this.viewer.hover("");
    }

    hideTip() {
      clearTimeout(this._tipTimer);
      this.tip.hidden = true;
    }

    _showTip(path, { x, y }) {
      const { tip, viewer } = this;
      tip.replaceChildren(...(path === FOLD ? [FOLD] : this._tipLines(path)));
      tip.hidden = false;
      const { width, height } = viewer.camera;
      tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 6))}px`;
      const isLow = y + 18 + tip.offsetHeight > height;
      tip.style.top = `${isLow ? y - tip.offsetHeight - 10 : y + 18}px`;
    }

    /** What the tip says of an instruction. */
    _tipLines(path) {
      const { model, overlay } = this.viewer;
      const c = model.computationOf(paths.graph(path)), i = paths.instruction(path);
      const lines = [Hlo.element("b", {}, model.name(c, i)),
        Hlo.element("div", {}, `${model.opcode(c, i)} ${model.shapeText(c, i)}`)];
      const scope = model.scopeText(c, i);
      if (scope !== "") {
        lines.push(Hlo.element("div", { class: "dim" }, scope));
      }
      if (overlay !== null) {
        lines.push(Hlo.element("div", {}, `${overlay.name}: ${overlay.text(c, i)}`));
      }
      return lines;
    }

    _wheel(event) {
      event.preventDefault();
      this.hideTip();
      const unit = event.deltaMode === 1 ? WHEEL_LINE : 1, { camera } = this.viewer;
      if (event.ctrlKey || event.metaKey) {
        // A pinch on a touchpad arrives as small steps, a wheel as large ones.
        const steps = Math.max(-120, Math.min(120, event.deltaY * unit));
        const speed = Math.abs(steps) < 20 ? 5 * ZOOM_SPEED : ZOOM_SPEED;
        camera.zoom(Math.exp(-steps * speed), event.offsetX, event.offsetY);
      } else if (event.shiftKey && event.deltaX === 0) {
        camera.pan(event.deltaY * unit, 0);
      } else {
        camera.pan(event.deltaX * unit, event.deltaY * unit);
      }
    }
  }

  function isFold(node) {
    return node !== null && node.graph.stages[node.stage].folded;
  }

  function areaBetween(one, other) {
    return { x0: Math.min(one.x, other.x), y0: Math.min(one.y, other.y),
      x1: Math.max(one.x, other.x), y1: Math.max(one.y, other.y) };
  }

  /** The box whose mark of far users, ▾3 below its right corner, is at a point; or null. */
  function portalsAt(picture, { x, y }) {
    const box = picture.nodeAt(x, y - MARK_HIGH);
    if (box === null || box.path === null || x < box.x + box.w - MARK_WIDE) {
      return null;
    }
    return box.graph.portalsOut[paths.instruction(box.path)] > 0 ? box : null;
  }

  Hlo.Gestures = Gestures;
})(globalThis);
