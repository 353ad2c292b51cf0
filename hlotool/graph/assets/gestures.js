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

  class Gestures {
    /** `chosen(path, event)` is called for a click, with "" beside all boxes. */
    constructor(viewer, surface, tip, { chosen, rowChosen, opened }) {
      Object.assign(this, { viewer, surface, tip, chosen, rowChosen, opened });
      this._pointers = new Map();
      this._moved = 0;
      this._tipTimer = 0;
      const listen = (name, call) => surface.addEventListener(name, call.bind(this),
        { passive: false });
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
      if (was && this._moved <= MOVED && event.type === "pointerup") {
        this._click(event);
      }
    }

    _click(event) {
      const { picture, camera } = this.viewer;
      if (picture === null) {
        return;
      }
      const at = camera.toPicture(event.offsetX, event.offsetY);
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
      }
    }

    _nodeAt(event) {
      const { picture, camera } = this.viewer;
      if (picture === null) {
        return null;
      }
      const at = camera.toPicture(event.offsetX, event.offsetY);
      return picture.nodeAt(at.x, at.y);
    }

    _hover(event) {
      const node = this._nodeAt(event), path = node === null ? "" : node.path || "";
      this.surface.classList.toggle("over", path !== "");
      const about = this._rowPath(event) || path;
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
      const at = camera.toPicture(event.offsetX, event.offsetY);
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
      const { tip, viewer } = this, { model, overlay } = viewer;
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
      tip.replaceChildren(...lines);
      tip.hidden = false;
      const { width, height } = viewer.camera;
      tip.style.left = `${Math.max(4, Math.min(x + 14, width - tip.offsetWidth - 6))}px`;
      const isLow = y + 18 + tip.offsetHeight > height;
      tip.style.top = `${isLow ? y - tip.offsetHeight - 10 : y + 18}px`;
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
