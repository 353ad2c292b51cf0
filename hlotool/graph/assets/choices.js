"use strict";
/* Going through items around the ends, and choosing some of them. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** Returns the place `by` further of `count`, around the ends; `at` -1 is before the first. */
  function around(at, by, count) {
    const from = at < 0 && by < 0 ? 0 : at;
    return (from + by + count) % count;
  }

  /** Takes an item out of a set that has it, and puts it in else. */
  function toggle(set, item) {
    if (!set.delete(item)) {
      set.add(item);
    }
  }

  Object.assign(Hlo, { around, toggle });
})(globalThis);
