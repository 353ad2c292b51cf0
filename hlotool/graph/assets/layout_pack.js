"use strict";
/* Replies of the layout on their way from the worker: thousands of small arrays travel as four
   big ones, which are handed over and not copied. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const KINDS = [Int32Array, Float32Array, Float64Array, Uint8Array];

  /** Collects arrays of one kind. */
  class Pool {
    constructor(kind) {
      this.kind = kind;
      this.arrays = [];
      this.length = 0;
    }

    add(array) {
      this.arrays.push(array);
      this.length += array.length;
    }

    joined() {
      const whole = new this.kind(this.length);
      let at = 0;
      for (const array of this.arrays) {
        whole.set(array, at);
        at += array.length;
      }
      return whole;
    }
  }

  /** Returns which fields of a record are arrays: [name, number of the kind], by name. */
  function arrayFields(record) {
    return Object.keys(record).sort().map((name) =>
      [name, KINDS.findIndex((kind) => record[name] instanceof kind)])
      .filter(([, kind]) => kind >= 0);
  }

  /** Returns {packed, transfer} of records that all have the same fields. */
  function pack(records) {
    const pools = KINDS.map((kind) => new Pool(kind));
    const fields = records.length > 0 ? arrayFields(records[0]) : [];
    const names = new Set(fields.map(([name]) => name));
    const lengths = new Int32Array(records.length * fields.length);
    const rest = [];
    records.forEach((record, n) => {
      fields.forEach(([name, kind], k) => {
        pools[kind].add(record[name]);
        lengths[n * fields.length + k] = record[name].length;
      });
      rest.push(Object.fromEntries(Object.entries(record).filter(([name]) => !names.has(name))));
    });
    const whole = pools.map((pool) => pool.joined());
    return { packed: { fields, lengths, whole, rest },
      transfer: [lengths.buffer, ...whole.map(({ buffer }) => buffer)] };
  }

  /** Returns the records that were packed; their arrays are views of the big ones. */
  function unpack({ fields, lengths, whole, rest }) {
    const at = KINDS.map(() => 0);
    return rest.map((record, n) => {
      fields.forEach(([name, kind], k) => {
        const length = lengths[n * fields.length + k];
        record[name] = whole[kind].subarray(at[kind], at[kind] + length);
        at[kind] += length;
      });
      return record;
    });
  }

  /** Returns a reply as a message and what to hand over with it. */
  function packReply(reply) {
    const graphs = pack(reply.freshGraphs), geometries = pack(reply.freshGeometries);
    return { transfer: [...graphs.transfer, ...geometries.transfer],
      message: { ...reply, freshGraphs: graphs.packed, freshGeometries: geometries.packed } };
  }

  function unpackReply(message) {
    return { ...message, freshGraphs: unpack(message.freshGraphs),
      freshGeometries: unpack(message.freshGeometries) };
  }

  Hlo.packReply = packReply;
  Hlo.unpackReply = unpackReply;
})(globalThis);
