"use strict";
/* The whole picture at the side, x and y scaled apart: where the window is, hits, selection. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  class Strip {
    constructor(viewer, canvas, far) {
      Object.assign(this, { viewer, canvas, far });
      this._ctx = canvas.getContext("2d");
      this._asked = 0;
      viewer.signals.on("camera picture selection hits colours", () => this.ask());
      far.whenReady = () => this.ask();
      canvas.addEventListener("pointerdown", (event) => {
        canvas.setPointerCapture(event.pointerId);
        this._go(event);
      });
      canvas.addEventListener("pointermove", (event) => {
        if (event.buttons & 1) {
          this._go(event);
        }
      });
      canvas.addEventListener("wheel", (event) => {
        event.preventDefault();
        viewer.camera.pan(0, event.deltaY * 4);
      }, { passive: false });
    }

    resize() {
      const ratio = root.devicePixelRatio || 1;
      this.canvas.width = Math.max(1, Math.round(this.canvas.clientWidth * ratio));
      this.canvas.height = Math.max(1, Math.round(this.canvas.clientHeight * ratio));
      this.ask();
    }

    ask() {
      if (this._asked === 0) {
        this._asked = requestAnimationFrame(() => this._draw());
      }
    }

    _scale() {
      const { picture } = this.viewer, { width, height } = this.canvas;
      // A picture that fits is not pulled larger than it would be in the window.
      const sy = Math.min(height / picture.height, 0.5 * width / Math.min(picture.width, 900));
      return { sx: width / picture.width, sy };
    }

    _draw() {
      this._asked = 0;
      const { viewer, far, canvas } = this, { picture, theme, camera } = viewer, ctx = this._ctx;
      ctx.clearRect(0, 0, canvas.width, canvas.height);
      if (picture === null) {
        return;
      }
      const { sx, sy } = this._scale();
      if (far.bitmap !== null) {
        ctx.drawImage(far.bitmap, 0, 0, canvas.width, picture.height * sy);
      }
      ctx.fillStyle = theme.hit;
      for (const box of viewer.hitBoxes || []) {
        ctx.fillRect(0, box.y * sy, canvas.width, Math.max(2, box.h * sy));
      }
      const box = viewer.selectedBox();
      if (box !== null) {
        markBox(ctx, theme.selected, box, sx, sy);
      }
      const { x0, y0, x1, y1 } = camera.sight;
      ctx.strokeStyle = theme.operand;
      ctx.lineWidth = 2;
      const left = Math.max(1, x0 * sx), right = Math.min(canvas.width - 1, x1 * sx);
      ctx.strokeRect(left, Math.max(1, y0 * sy), Math.max(3, right - left),
        Math.max(3, Math.min(canvas.height - 1, y1 * sy) - Math.max(1, y0 * sy)));
    }

    _go(event) {
      const { picture, camera } = this.viewer, ratio = root.devicePixelRatio || 1;
      if (picture === null) {
        return;
      }
      const { sx, sy } = this._scale();
      camera.centre(event.offsetX * ratio / sx, event.offsetY * ratio / sy, camera.k, true);
    }
  }

  /* A large box is only framed, so that what is in it stays to be seen. */
  function markBox(ctx, colour, box, sx, sy) {
    const high = Math.max(4, box.h * sy + 2);
    ctx.fillStyle = ctx.strokeStyle = colour;
    ctx.lineWidth = 2;
    if (high > 20) {
      ctx.strokeRect(box.x * sx + 1, box.y * sy, box.w * sx - 2, high);
    } else {
      ctx.fillRect(box.x * sx - 2, box.y * sy - 1, box.w * sx + 4, high);
    }
  }

  Hlo.Strip = Strip;
})(globalThis);
