"use strict";
/* Searching instructions by name, opcode, shape, attributes and source. */
(function (root) {
  const Hlo = (root.Hlo = root.Hlo || {});
  const FIELDS = ["op", "name", "shape", "attr", "source", "scope"];
  const LONGEST_REASON = 48;

  /** Reads what a person typed: `op:dot shape:f32 relu` or `/regular.*expression/`. Returns
      {terms: [{field, test, at, pattern}]}, field "" for any; `at` is where in a text it is found,
      -1 for nowhere; `pattern` of an expression alone. Throws a SyntaxError for a wrong one. */
  function parseSearch(text) {
    const trimmed = text.trim();
    const whole = /^\/(.+)\/(i?)$/.exec(trimmed);
    if (whole !== null) {
      return { terms: [patternTerm("", new RegExp(whole[1], whole[2]))] };
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
      return patternTerm(field, new RegExp(pattern[1], pattern[2]));
    }
    const lower = wanted.toLowerCase();
    return termOf(field, (text) => text.toLowerCase().indexOf(lower));
  }

  function termOf(field, at) {
    return { field, at, test: (text) => at(text) >= 0 };
  }

  /* Whoever has `pattern` tried elsewhere puts what it found there into `at` and `test`. */
  function patternTerm(field, pattern) {
    return { ...termOf(field, (text) => text.search(pattern)), pattern };
  }

  /** Returns a function that says which texts of a list pass a test; each is tested at most once,
      and only when it is asked for: pages over many modules have texts of all of them. */
  function passing(texts, test) {
    const known = new Uint8Array(texts.length);
    return (number) => {
      if (known[number] === 0) {
        known[number] = test(texts[number]) ? 2 : 1;
      }
      return known[number] === 2;
    };
  }

  /** Returns a function of (computation, i) that says whether a term fits an instruction. */
  function fitter(model, { field, test }) {
    const strings = passing(model.strings, test);
    const opcodes = passing(model.ops.opcode, test);
    const shapes = passing(model.shapes.text, test);
    const text = (column) => (one, i) => one[column][i] >= 0 && strings(one[column][i]);
    const checks = {
      op: (one, i) => opcodes(one.op[i]),
      name: text("names"),
      shape: (one, i) => shapes(one.shape[i]),
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

  /** Returns [what, text] of all that a search looks at beside name, opcode, title and shape. */
  function hiddenTexts(model, c, i) {
    return [["attributes", model.attributesText(c, i)], ["value", model.valueText(c, i)],
      ["op_name", model.scopeText(c, i)], ["source", model.sourceText(c, i)],
      ["layout", model.shapeText(c, i)]];
  }

  const FIELD_OF = { attributes: "attr", value: "attr", op_name: "scope", source: "source",
    layout: "shape" };

  /**
   * Returns why an instruction fits a query, as far as that is not to be seen in its name, opcode,
   * title and shape: "op_name: …/mlp/exp", or "".
   */
  function reason({ terms }, c, i) {
    const seen = [this.name(c, i), this.opcode(c, i), this.titleText(c, i), this.shapePlain(c, i)];
    const reasons = [];
    for (const { field, at } of terms) {
      const isSeen = field !== "attr" && field !== "source" && field !== "scope"
        && seen.some((text) => at(text) >= 0);
      const why = isSeen ? undefined : hiddenTexts(this, c, i).find(([what, text]) =>
        (field === "" || FIELD_OF[what] === field) && at(text) >= 0);
      if (why !== undefined) {
        reasons.push(`${why[0]}: ${around(why[1], at(why[1]))}`);
      }
    }
    return [...new Set(reasons)].join(", ");
  }

  /* A long text around what was found in it. */
  function around(text, at) {
    const start = text.length <= LONGEST_REASON ? 0 : Math.max(0, at - LONGEST_REASON / 4);
    return `${start > 0 ? "…" : ""}${Hlo.labels.cut(text.slice(start), LONGEST_REASON)}`;
  }

  Object.assign(Hlo.Model.prototype, { search, reason });
  Hlo.parseSearch = parseSearch;
})(globalThis);
