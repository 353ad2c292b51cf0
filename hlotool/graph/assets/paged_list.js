"use strict";
/* Lists of which a part is shown, and more of it as often as more is asked for. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const { element } = Hlo;

  /**
   * Puts items into a list, `size` at a time, and returns the list. `make(item, number)` returns
   * the row of one; `begin`: how many come at once at first; `added(first, last)` is called when
   * the rows [first, last) were asked for; `words(rest)` says what the button at the end brings,
   * and `look` is its class.
   */
  function pagedList(list, items, { size, make, begin = size, added = () => {}, look = "link more",
    words = (rest) => `the next ${Math.min(size, rest)}` }) {
    const add = (first, end) => {
      const last = Math.min(items.length, end);
      list.append(...items.slice(first, last).map((item, n) => make(item, first + n)));
      if (last < items.length) {
        const more = element("li", {}, element("button", { type: "button", class: look,
          onclick: () => {
            more.remove();
            add(last, last + size);
            added(last, Math.min(items.length, last + size));
          } }, words(items.length - last)));
        list.append(more);
      }
    };
    add(0, begin);
    return list;
  }

  Hlo.pagedList = pagedList;
})(globalThis);
