"use strict";
/* Searching instructions by name, opcode, shape, attributes and source. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const FIELDS = ["op", "name", "shape", "attr", "source", "scope"];

  /** Reads what a person typed: `op:dot shape:f32 relu` or `/regular.*expression/`. Returns
      {terms: [{field, test}]}, field "" for any; throws a SyntaxError for a wrong expression. */
  function parseSearch(text) {
    const trimmed = text.trim();
    const whole = /^\/(.+)\/(i?)$/.exec(trimmed);
    if (whole !== null) {
      return { terms: [{ field: "", test: matcher(new RegExp(whole[1], whole[2])) }] };
    }
    const words = trimmed === "" ? [] : trimmed.split(/\s+/);
    return { terms: words.map(parseWord) };
  }

  function parseWord(word) {
    const colon = word.indexOf(":");
    const field = colon > 0 && FIELDS.includes(word.slice(0, colon)) ? word.slice(0, colon) : "";
    const wanted = field === "" ? word : word.slice(colon + 1);
    const pattern = /^\/(.+)\/(i?)$/.exec(wanted);
    if (pattern !== null) {
      return { field, test: matcher(new RegExp(pattern[1], pattern[2])) };
    }
    const lower = wanted.toLowerCase();
    return { field, test: (text) => text.toLowerCase().includes(lower) };
  }

  function matcher(pattern) {
    return (text) => pattern.test(text);
  }

  /** Returns which texts of a list pass a test, as flags; each text is tested once. */
  function passing(texts, test) {
    return Uint8Array.from(texts, (text) => (test(text) ? 1 : 0));
  }

  /** Returns a function of (computation, i) that says whether a term fits an instruction. */
  function fitter(model, { field, test }) {
    const strings = passing(model.strings, test);
    const opcodes = passing(model.ops.opcode, test);
    const shapes = passing(model.shapes.text, test);
    const text = (column) => (one, i) => one[column][i] >= 0 && strings[one[column][i]] === 1;
    const checks = {
      op: (one, i) => opcodes[one.op[i]] === 1,
      name: text("names"),
      shape: (one, i) => shapes[one.shape[i]] === 1,
      attr: (one, i) => text("attributes")(one, i) || text("value")(one, i),
      source: text("source"),
      scope: text("scope"),
      title: text("title"),
    };
    if (field !== "") {
      return checks[field];
    }
    const all = Object.values(checks);
    return (one, i) => all.some((check) => check(one, i));
  }

  /** Returns the instructions that fit all terms, [{computation, instruction}], callees first as
      in the text. `query` is a text as typed, or what parseSearch returned. */
  function search(query) {
    const { terms } = typeof query === "string" ? parseSearch(query) : query;
    const fits = terms.map((term) => fitter(this, term));
    const found = [];
    for (const one of terms.length > 0 ? this.computations : []) {
      for (let i = 0; i < one.size; i++) {
        if (fits.every((fit) => fit(one, i))) {
          found.push({ computation: one.number, instruction: i });
        }
      }
    }
    return found;
  }

  Object.assign(Hlo.Model.prototype, { search });
  Hlo.parseSearch = parseSearch;
})(globalThis);
