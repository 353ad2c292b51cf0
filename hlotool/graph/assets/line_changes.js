"use strict";
/* Which lines of one text became which of another. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});

  /** How many entries two lists share at the beginning, and how many behind that at the end. */
  function sharedEnds(one, other) {
    const most = Math.min(one.length, other.length);
    let head = 0, tail = 0;
    while (head < most && one[head] === other[head]) {
      head++;
    }
    while (tail < most - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) {
      tail++;
    }
    return { head, tail };
  }

  /** Entries that stand once in both parts of the lists, as [number, number in the other]. */
  function sharedOnce(one, other, { start, end, first, last }) {
    const counts = new Map();
    const count = (lines, from, to, side) => {
      for (let n = from; n < to; n++) {
        const known = counts.get(lines[n]) || { times: [0, 0], at: [0, 0] };
        known.times[side]++;
        known.at[side] = n;
        counts.set(lines[n], known);
      }
    };
    count(one, start, end, 0);
    count(other, first, last, 1);
    return [...counts.values()].filter(({ times }) => times[0] === 1 && times[1] === 1)
      .map(({ at }) => at);
  }

  /** The longest part of a list of pairs, sorted by the first, that ascends in the second. */
  function ascending(pairs) {
    const ends = [], before = [];
    pairs.forEach(([, value], n) => {
      let low = 0, high = ends.length;
      while (low < high) {
        const middle = (low + high) >> 1;
        if (pairs[ends[middle]][1] < value) {
          low = middle + 1;
        } else {
          high = middle;
        }
      }
      before[n] = low > 0 ? ends[low - 1] : -1;
      ends[low] = n;
    });
    const found = [];
    for (let n = ends.length > 0 ? ends[ends.length - 1] : -1; n >= 0; n = before[n]) {
      found.push(pairs[n]);
    }
    return found.reverse();
  }

  /**
   * Returns what differs between two lists of lines: quadruples flat, as `edits` of the data:
   * lines [start, end) of the first became lines [first, last) of the second.
   */
  function lineEdits(one, other) {
    const found = [];
    const work = [{ start: 0, end: one.length, first: 0, last: other.length }];
    while (work.length > 0) {
      const part = work.pop();
      const { head, tail } = sharedEnds(one.slice(part.start, part.end),
        other.slice(part.first, part.last));
      const rest = { start: part.start + head, end: part.end - tail,
        first: part.first + head, last: part.last - tail };
      if (rest.start === rest.end && rest.first === rest.last) {
        continue;
      }
      const anchors = ascending(sharedOnce(one, other, rest));
      if (anchors.length === 0) {
        found.push(rest.start, rest.end, rest.first, rest.last);
        continue;
      }
      // The last part first, since the list of work is taken from its end.
      let { end, last } = rest;
      for (const [line, partner] of anchors.reverse()) {
        work.push({ start: line + 1, end, first: partner + 1, last });
        end = line;
        last = partner;
      }
      work.push({ start: rest.start, end, first: rest.first, last });
    }
    return found;
  }

  /**
   * Returns the rows of a difference: {kind, before, after, text, other}; kind is "same",
   * "removed" or "added"; before and after are line numbers or -1; `other` is the line it was
   * changed from or to, or null.
   */
  function changeRows(one, other, edits) {
    const rows = [];
    let before = 0, after = 0;
    const same = (end) => {
      while (before < end) {
        rows.push({ kind: "same", before, after, text: one[before], other: null });
        before++;
        after++;
      }
    };
    for (let at = 0; at < edits.length; at += 4) {
      const [start, end, first, last] = edits.slice(at, at + 4);
      same(start);
      const isPaired = end - start === last - first;
      for (; before < end; before++) {
        rows.push({ kind: "removed", before, after: -1, text: one[before],
          other: isPaired ? other[first + before - start] : null });
      }
      for (; after < last; after++) {
        rows.push({ kind: "added", before: -1, after, text: other[after],
          other: isPaired ? one[start + after - first] : null });
      }
    }
    same(one.length);
    return rows;
  }

  /** Cuts a line in three where another differs: what both begin and end with is outside. */
  function differingPart(text, other) {
    const { head, tail } = sharedEnds(text, other);
    return [text.slice(0, head), text.slice(head, text.length - tail),
      text.slice(text.length - tail)];
  }

  Object.assign(Hlo, { lineEdits, changeRows, differingPart });
})(globalThis);
