"use strict";
/* Where in the picture the window looks: the corner (x, y) at zoom k, all in doubles. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const SMALLEST = 0.0008, LARGEST = 4;
  /* Zoom at which all is easy to read, and what a jump goes to when it was much smaller. */
  const READING = 0.85, LEGIBLE = 0.5, READABLE = 0.8;
  /* What opens is not made smaller than this to have all of it in the window. */
  const OPENED = 0.55;
  /* Pixels that are left beside what the camera goes to. */
  const EDGE = 12;
  const MOVE = 190;
  /* Share of the window that stays filled with the picture however far one pans. */
  const KEPT = 0.25;

  const still = matchMedia("(prefers-reduced-motion: reduce)");

  class Camera {
    /** `changed` is called after each move. */
    constructor(changed) {
      Object.assign(this, { x: 0, y: 0, k: 1, width: 1, height: 1, changed });
      this.bounds = { width: 1, height: 1 };
      this._moving = 0;
      this._uncovering = null;
    }

    get reading() { return READING; }

    /** Zoom from which on a box can be read. */
    get legible() { return LEGIBLE; }

    /** Zoom from which on all of what was opened, or chosen, is put into the window. */
    get opened() { return OPENED; }

    /** Zoom from which on all of a picture is shown at once. */
    get readable() { return READABLE; }

    toScreen(x, y) {
      return { x: (x - this.x) * this.k, y: (y - this.y) * this.k };
    }

    toPicture(x, y) {
      return { x: x / this.k + this.x, y: y / this.k + this.y };
    }

    /** The part of the picture in sight. */
    get sight() {
      const { x, y, k, width, height } = this;
      return { x0: x, y0: y, x1: x + width / k, y1: y + height / k };
    }

    resize(width, height) {
      this.width = Math.max(1, width);
      this.height = Math.max(1, height);
      if (this.moving && this._uncovering !== null) {
        this.uncover(this._uncovering);
      }
      this.changed();
    }

    /** Looks at (x, y) in the corner; keeps some of the picture in sight. */
    set(x, y, k = this.k) {
      this.k = Math.min(LARGEST, Math.max(SMALLEST, k));
      this.x = within(x, this.width / this.k, this.bounds.width);
      this.y = within(y, this.height / this.k, this.bounds.height);
      this.changed();
    }

    /** Moves by pixels of the screen. */
    pan(dx, dy) {
      this.stop();
      this.set(this.x + dx / this.k, this.y + dy / this.k);
    }

    /** Zooms by a factor; the point of the screen stays where it is. */
    zoom(factor, screenX = this.width / 2, screenY = this.height / 2) {
      this.stop();
      const fixed = this.toPicture(screenX, screenY);
      const k = Math.min(LARGEST, Math.max(SMALLEST, this.k * factor));
      this.set(fixed.x - screenX / k, fixed.y - screenY / k, k);
    }

    /** Puts a point of the picture at a point of the screen, at once. */
    pin(x, y, screen) {
      this.stop();
      this.set(x - screen.x / this.k, y - screen.y / this.k);
    }

    /** Zoom at which a box fits with a margin. */
    fitting(width, height) {
      return Math.min((this.width - 24) / Math.max(1, width),
        (this.height - 24) / Math.max(1, height));
    }

    /** Shows all of a box in the middle, not larger than at zoom `largest`. */
    fit(box, largest = 1.1, quick = false) {
      const k = Math.max(SMALLEST, Math.min(largest, this.fitting(box.w, box.h)));
      this.centre(box.x + box.w / 2, box.y + box.h / 2, k, quick);
    }

    /** Looks at a point in the middle of the window. */
    centre(x, y, k = this.k, quick = false) {
      this.glide(x - this.width / 2 / k, y - this.height / 2 / k, k, quick);
    }

    /** Moves only if a box is not well in sight; nears it when it is too small to read. */
    show(box) {
      const k = this.k < LEGIBLE ? READING : this.k;
      const corner = this.toScreen(box.x, box.y);
      const right = Math.min(corner.x + box.w * k, corner.x + this.width * 0.6);
      const bottom = Math.min(corner.y + box.h * k, corner.y + this.height * 0.6);
      const inside = corner.x >= 12 && corner.y >= 12 && right <= this.width - 12 &&
        bottom <= this.height - 40;
      if (k !== this.k || !inside) {
        const high = Math.min(box.h, this.height / k * 0.8);
        const wide = Math.min(box.w, this.width / k * 0.8);
        const { x, y } = this.tidied(box.x + wide / 2 - this.width / 2 / k,
          box.y + high / 2 - this.height / 2 / k, k);
        this.glide(x, y, k);
      }
    }

    /** The corner nearest to (x, y) that shows no more ground beside the picture than it must. */
    tidied(x, y, k) {
      return { x: tidy(x, this.width / k, this.bounds.width, EDGE / k),
        y: tidy(y, this.height / k, this.bounds.height, EDGE / k) };
    }

    /**
     * Brings a box that has grown into the window, moving no further than it must. One that is
     * larger is seen from farther away, but not so far that it cannot be read; then its beginning
     * is in the window.
     */
    uncover(box) {
      const k = Math.min(this.k, Math.max(OPENED, this.fitting(box.w, box.h)));
      const at = this.toScreen(box.x, box.y);
      const corner = { x: box.x - placed(at.x, box.w * k, this.width) / k,
        y: box.y - placed(at.y, box.h * k, this.height) / k };
      // From farther away all moves anyway: then ground is not to take the room of boxes.
      const { x, y } = k === this.k ? corner : this.tidied(corner.x, corner.y, k);
      if (k !== this.k || x !== this.x || y !== this.y) {
        this.glide(x, y, k);
        this._uncovering = box;
      }
    }

    /** Whether some of a box is in the window. */
    sees(box) {
      const { x0, y0, x1, y1 } = this.sight;
      return box.x < x1 && box.x + box.w > x0 && box.y < y1 && box.y + box.h > y0;
    }

    /** Moves no further than needed to have the beginning of a box in the window, at once. */
    nudge(box) {
      const margin = 30 / this.k, seenWide = this.width / this.k, seenHigh = this.height / this.k;
      const w = Math.min(box.w, seenWide - 2 * margin), h = Math.min(box.h, seenHigh / 2);
      this.set(Math.min(box.x - margin, Math.max(this.x, box.x + w + margin - seenWide)),
        Math.min(box.y - margin, Math.max(this.y, box.y + h + margin - seenHigh)));
    }

    /** Goes to a corner and zoom in a short time; at once for far ways and reduced motion. */
    glide(x, y, k, quick = false) {
      this.stop();
      const far = Math.hypot(x - this.x, y - this.y) * Math.min(k, this.k) > 3 * this.height;
      if (quick || far || still.matches || k / this.k > 6 || this.k / k > 6) {
        this.set(x, y, k);
        return;
      }
      this._glide({ x: this.x, y: this.y, k: this.k }, { x, y, k });
    }

    _glide(from, to) {
      const start = performance.now();
      const step = (now) => {
        const share = Math.min(1, Math.max(0, (now - start) / MOVE));
        const eased = 1 - (1 - share) ** 3;
        const k = from.k * (to.k / from.k) ** eased;
        const mix = (a, b) => a + (b - a) * eased;
        // The middle moves evenly, not the corner: else a zoom would swing sideways.
        const middleX = mix(from.x + this.width / 2 / from.k, to.x + this.width / 2 / to.k);
        const middleY = mix(from.y + this.height / 2 / from.k, to.y + this.height / 2 / to.k);
        this._moving = share < 1 ? requestAnimationFrame(step) : 0;
        this.set(middleX - this.width / 2 / k, middleY - this.height / 2 / k, k);
      };
      this._moving = requestAnimationFrame(step);
    }

    /** True while a glide is under way. */
    get moving() { return this._moving !== 0; }

    stop() {
      cancelAnimationFrame(this._moving);
      this._moving = 0;
      this._uncovering = null;
    }
  }

  function tidy(corner, seen, whole, edge) {
    return seen >= whole + 2 * edge ? (whole - seen) / 2
      : Math.max(-edge, Math.min(whole + edge - seen, corner));
  }

  /** Where on the screen something of a size goes that should be near `at` and in the room. */
  function placed(at, size, room) {
    return Math.max(EDGE, Math.min(room - EDGE - size, at));
  }

  function within(corner, seen, whole) {
    const kept = Math.min(seen, whole) * KEPT;
    return Math.min(whole - kept, Math.max(kept - seen, corner));
  }

  Hlo.Camera = Camera;
})(globalThis);
