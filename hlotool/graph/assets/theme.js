"use strict";
/* The colours of the moment, read from the palette in the page's style. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const NAMED = ["paper", "surface", "border", "ink", "quiet", "edge", "control", "operand", "user",
    "selected", "hit", "added", "removed", "changed", "below", "above"];
  const CHOICES = ["system", "light", "dark"];

  function channels(colour) {
    return [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  }

  /** Returns the colour between two `#rrggbb`, at 0 the first, at 1 the other. */
  function mixed(one, other, share) {
    const from = channels(one), to = channels(other);
    const parts = from.map((part, n) => Math.round(part + (to[n] - part) * share));
    return `#${parts.map((part) => part.toString(16).padStart(2, "0")).join("")}`;
  }

  /** Returns the relative luminance of `#rrggbb`, 0 (black) to 1 (white). */
  function luminance(colour) {
    const [red, green, blue] = channels(colour).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }

  /** Returns the text colour that is easier to read on a fill. */
  function inkOn(fill) {
    return luminance(fill) > 0.2 ? "#101418" : "#ffffff";
  }

  function series(read, name) {
    const found = [];
    for (let n = 0; read(`${name}-${n}`) !== ""; n++) {
      found.push(read(`${name}-${n}`));
    }
    return found;
  }

  /** Returns all colours of the page as it is now: names, `category`, `sequence`, `kinds`. */
  function readTheme(categories) {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--${name}`).trim();
    const theme = { category: {}, sequence: series(read, "sequence"), kinds: series(read, "kind") };
    for (const name of NAMED) {
      theme[name] = read(name);
    }
    for (const name of categories) {
      theme.category[name] = {
        fill: read(`${name}-fill`), line: read(`${name}-line`), text: read(`${name}-text`),
      };
    }
    theme.dark = luminance(theme.paper) < 0.5;
    return theme;
  }

  function chooseTheme(choice) {
    document.documentElement.dataset.theme = CHOICES.includes(choice) ? choice : "system";
  }

  function chosenTheme() {
    return document.documentElement.dataset.theme;
  }

  /** Returns the choice that makes dark of light and light of dark. */
  function otherTheme(theme) {
    return theme.dark ? "light" : "dark";
  }

  /** Calls `changed` when the system turns light or dark. */
  function watchSystem(changed) {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", changed);
  }

  Object.assign(Hlo, {
    readTheme, chooseTheme, chosenTheme, otherTheme, watchSystem, mixed, inkOn,
  });
})(globalThis);
