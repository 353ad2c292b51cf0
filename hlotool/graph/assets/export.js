"use strict";
/* SVG of what is in sight: the same drawing, onto something that writes instead of painting. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const measuring = document.createElement("canvas").getContext("2d");
  const SVG = "http://www.w3.org/2000/svg";

  function rounded(value) {
    return String(Math.round(value * 100) / 100);
  }

  /** Acts as a canvas context as far as the drawing here needs one; makes SVG elements. */
  class SvgPainter {
    constructor(width, height) {
      this.svg = document.createElementNS(SVG, "svg");
      this.svg.setAttribute("xmlns", SVG);
      this.svg.setAttribute("width", rounded(width));
      this.svg.setAttribute("height", rounded(height));
      this.svg.setAttribute("viewBox", `0 0 ${rounded(width)} ${rounded(height)}`);
      this.fillStyle = this.strokeStyle = "#000000";
      this.lineWidth = 1;
      this.globalAlpha = 1;
      this.font = "10px sans-serif";
      this.textAlign = "left";
      this._dash = [];
      this._path = "";
      this.setTransform(1, 0, 0, 1, 0, 0);
    }

    setTransform(a, b, c, d, e, f) {
      this._group = null;
      this._scale = a;
      this._transform = `translate(${rounded(e)} ${rounded(f)}) scale(${a})`;
    }

    setLineDash(dash) {
      this._dash = dash;
    }

    beginPath() {
      this._path = "";
    }

    moveTo(x, y) {
      this._path += `M${rounded(x)} ${rounded(y)}`;
    }

    lineTo(x, y) {
      this._path += `L${rounded(x)} ${rounded(y)}`;
    }

    bezierCurveTo(...numbers) {
      this._path += `C${numbers.map(rounded).join(" ")}`;
    }

    roundRect(x, y, w, h, radius) {
      const r = Math.max(0, Math.min(radius, w / 2, h / 2));
      const arc = (dx, dy) => `a${rounded(r)} ${rounded(r)} 0 0 1 ${rounded(dx)} ${rounded(dy)}`;
      this._path += `M${rounded(x + r)} ${rounded(y)}h${rounded(w - 2 * r)}${arc(r, r)}` +
        `v${rounded(h - 2 * r)}${arc(-r, r)}h${rounded(2 * r - w)}${arc(-r, -r)}` +
        `v${rounded(2 * r - h)}${arc(r, -r)}z`;
    }

    fillRect(x, y, w, h) {
      this._add("rect", { x: rounded(x), y: rounded(y), width: rounded(w), height: rounded(h),
        ...this._paint("fill", this.fillStyle) });
    }

    fill() {
      this._addPath({ ...this._paint("fill", this.fillStyle) });
    }

    stroke() {
      const attributes = { fill: "none", "stroke-width": rounded(this.lineWidth),
        ...this._paint("stroke", this.strokeStyle) };
      if (this._dash.length > 0) {
        attributes["stroke-dasharray"] = this._dash.map(rounded).join(" ");
      }
      this._addPath(attributes);
    }

    measureText(text) {
      measuring.font = this.font;
      return measuring.measureText(text);
    }

    fillText(text, x, y) {
      const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font);
      const made = this._add("text", { x: rounded(x), y: rounded(y), "font-size": size,
        "font-family": family, ...this._paint("fill", this.fillStyle) });
      if (weight) {
        made.setAttribute("font-weight", weight);
      }
      if (this.textAlign !== "left") {
        made.setAttribute("text-anchor", this.textAlign === "right" ? "end" : "middle");
      }
      made.textContent = text;
    }

    _paint(name, colour) {
      return this.globalAlpha < 1
        ? { [name]: colour, [`${name}-opacity`]: rounded(this.globalAlpha) } : { [name]: colour };
    }

    _addPath(attributes) {
      if (this._path !== "") {
        this._add("path", { d: this._path, ...attributes });
      }
    }

    _add(name, attributes) {
      if (this._group === null) {
        this._group = document.createElementNS(SVG, "g");
        this._group.setAttribute("transform", this._transform);
        this.svg.append(this._group);
      }
      const made = document.createElementNS(SVG, name);
      for (const [key, value] of Object.entries(attributes)) {
        made.setAttribute(key, value);
      }
      this._group.append(made);
      return made;
    }
  }

  /** Returns an SVG element of what a viewer has in sight, marks of the selection included. */
  function svgOfSight(viewer, relations) {
    const { camera, picture, theme, model } = viewer;
    const painter = new SvgPainter(camera.width, camera.height);
    const title = document.createElementNS(SVG, "title");
    title.textContent = model.title;
    painter.svg.append(title);
    painter.fillStyle = theme.paper;
    painter.fillRect(0, 0, camera.width, camera.height);
    const frame = Hlo.makeFrame(painter, 1, camera, viewer);
    Hlo.drawPicture(frame, picture);
    Hlo.drawMarksOver(Hlo.makeFrame(painter, 1, camera, viewer), viewer, relations, false);
    return painter.svg;
  }

  function textOf(svg) {
    return new XMLSerializer().serializeToString(svg);
  }

  /** Offers a text as a file. */
  function save(text, name, kind) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text], { type: kind }));
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }

  /** Saves what is in sight as NAME.svg. */
  function saveSvg(viewer, relations) {
    const name = viewer.model.title.replace(/[^\w.-]+/g, "_") || "graph";
    save(textOf(svgOfSight(viewer, relations)), `${name}.svg`, "image/svg+xml");
  }

  /** Calls with the light colours in force, since paper is white. */
  function inLight(viewer, call) {
    const before = Hlo.chosenTheme();
    const take = (choice) => {
      Hlo.chooseTheme(choice);
      viewer.theme = Hlo.readTheme(viewer.model.categories);
      if (viewer.overlay !== null) {
        viewer.overlay.setTheme(viewer.theme);
      }
    };
    take("light");
    try {
      return call();
    } finally {
      take(before);
    }
  }

  /** What goes to paper is what is in sight. */
  function preparePrint(viewer, place, relations) {
    root.addEventListener("beforeprint", () => {
      if (viewer.picture !== null) {
        place.replaceChildren(inLight(viewer, () => svgOfSight(viewer, relations())));
      }
    });
    root.addEventListener("afterprint", () => place.replaceChildren());
  }

  Object.assign(Hlo, { svgOfSight, svgText: textOf, saveSvg, preparePrint });
})(globalThis);
