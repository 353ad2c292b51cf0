"use strict";
/* The switch that puts the names of instructions into their boxes. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element, shell } = Hlo;

  class Names {
    constructor(page) {
      Object.assign(this, { page, viewer: page.viewer });
      this._button = element("button", { type: "button", id: "names-toggle",
        "aria-pressed": "false", title: "Names in boxes (M)", onclick: () => this.show() },
      "Names");
      shell("zoom").append(this._button);
      const { extra } = page.address;
      page.address.extra = () => ({ ...extra(), names: this.isOn ? 1 : "" });
    }

    get isOn() { return Hlo.wantsNames === true; }

    /** Lays out again with names in boxes, or without. */
    async show(isOn = !this.isOn) {
      const { viewer } = this;
      if (viewer.isAway) {
        return;
      }
      Hlo.wantsNames = isOn;
      this._button.setAttribute("aria-pressed", String(isOn));
      viewer.signals.give("names");
      await viewer.layout({ anchor: viewer.selected || viewer.middle() });
      viewer.signals.give("panels");
    }
  }

  Hlo.parts = Hlo.parts || [];
  Hlo.parts.push((page) => {
    const names = page.names = new Names(page);
    Hlo.addKeys(page, [{ keys: ["M"], group: "Showing", run: () => names.show(),
      text: "names in boxes" }]);
    const restore = async ({ values }) => {
      if (names.isOn !== Boolean(values.names)) {
        await names.show();
      }
    };
    page.restore.others.push(restore);
    restore(Hlo.parseHash(root.location.hash));
  });
})(globalThis);
