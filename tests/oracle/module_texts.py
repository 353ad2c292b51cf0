"""Small modules, by what hlotool and the reference make of them."""

from __future__ import annotations

ALIKE: dict[str, str] = {
    "inline": """HloModule m
ENTRY e {
  p = f32[4,3] parameter(0)
  z = f32[] constant(0)
  a = f32[4] reduce(p, z), dimensions={1}, to_apply={
    x = f32[] parameter(0)
    y = f32[] parameter(1)
    ROOT s = f32[] add(x, y)
  }
  ROOT b = f32[4] reduce(p, z), dimensions={1}, to_apply={
    x = f32[] parameter(0)
    y = f32[] parameter(1)
    ROOT s = f32[] maximum(x, y)
  }
}
""",
    "inline_nested": """HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  ROOT c = f32[4] call(p), to_apply={
    q = f32[4] parameter(0)
    ROOT n = f32[4] call(q), to_apply={ r = f32[4] parameter(0) ROOT t = f32[4] negate(r) }
  }
}
""",
    "inline_branches": """HloModule m
f { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }
ENTRY e {
  i = s32[] parameter(0)
  p = f32[2] parameter(1)
  ROOT c = f32[2] conditional(i, p, p, p), branch_computations={f, { x = f32[2] parameter(0) ROOT a = f32[2] abs(x) }, %f}
}
""",
    "inline_root_default": """ENTRY e {
  p = f32[2] parameter(0)
  ROOT c = f32[2] call(p), to_apply={ x = f32[2] parameter(0) a = f32[2] abs(x) }
}""",
    "names": """HloModule m
f { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }
g { a = f32[2] parameter(0) ROOT b = f32[2] abs(a) }
ENTRY e {
  a = f32[2] parameter(0)
  a.1 = f32[2] call(a), to_apply=f
  a.01 = f32[2] call(a), to_apply=g
  b = f32[2] add(a.1, a.01)
  b.0 = f32[2] add(b, b)
  x.3.4 = f32[2] add(b.0, b)
  x.3 = f32[2] add(x.3.4, b)
  x. = f32[2] add(x.3, b)
  x.-1 = f32[2] add(x., b)
  _1.99999999999999999999 = f32[2] add(x.-1, b)
  ROOT r = f32[2] add(_1.99999999999999999999, b)
}
""",
    "names2": """HloModule m
f.1 { a.2 = f32[2] parameter(0) ROOT a = f32[2] negate(a.2) }
f { a = f32[2] parameter(0) a.1 = f32[2] call(a), to_apply=f.1 ROOT a.3 = f32[2] abs(a.1) }
ENTRY f.0 {
  a.2 = f32[2] parameter(0)
  a = f32[2] call(a.2), to_apply=f
  ROOT a.0 = f32[2] add(a, a)
}
""",
    "order_dead": """HloModule m
ENTRY e {
  b = f32[2] parameter(1)
  a = f32[2] parameter(0)
  d = f32[2] negate(b)
  c = f32[2] abs(a)
  ROOT r = f32[2] add(a, c)
  s = f32[2] subtract(d, c)
}
""",
    "order_control": """HloModule m
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  x = f32[2] negate(a)
  y = f32[2] abs(b)
  z = f32[2] abs(a)
  w = f32[2] add(x, b), control-predecessors={y, z}
  ROOT r = f32[2] add(w, z), control-predecessors={y,x}
}
""",
    "order_sched": """HloModule m, is_scheduled=true
ENTRY e {
  a = f32[2] parameter(0)
  b = f32[2] parameter(1)
  x = f32[2] negate(a)
  y = f32[2] abs(b)
  z = f32[2] abs(a)
  w = f32[2] add(x, b), control-predecessors={y, z}
  ROOT r = f32[2] add(w, z), control-predecessors={y,x}
}
""",
    "order_dead_sched": """HloModule m, is_scheduled=true
ENTRY e {
  b = f32[2] parameter(1)
  a = f32[2] parameter(0)
  d = f32[2] negate(b)
  c = f32[2] abs(a)
  ROOT r = f32[2] add(a, c)
  s = f32[2] subtract(d, c)
}
""",
    "fusion_sched": """HloModule m, is_scheduled=true
f { b = f32[2] parameter(1) a = f32[2] parameter(0) n = f32[2] negate(b) ROOT s = f32[2] add(a, n) }
g { b = f32[2] parameter(1) a = f32[2] parameter(0) n = f32[2] negate(b) ROOT s = f32[2] add(a, n) }
ENTRY e {
  q = f32[2] parameter(1)
  p = f32[2] parameter(0)
  u = f32[2] fusion(p, q), kind=kLoop, calls=f
  ROOT v = f32[2] call(u, q), to_apply=g
}
""",
    "order_channels": """HloModule m
add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }
ENTRY e {
  p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  n = f32[2] negate(q)
  a = f32[2] all-reduce(p), channel_id=1, replica_groups={}, to_apply=add
  m = f32[2] negate(a)
  b = f32[2] all-reduce(n), channel_id=1, replica_groups={}, to_apply=add
  c = f32[2] all-reduce(q), channel_id=2, replica_groups={}, to_apply=add
  d = f32[2] all-reduce(q), channel_id=2, replica_groups={}, to_apply=add
  ROOT r = (f32[2], f32[2], f32[2], f32[2]) tuple(m, b, d, c)
}
""",
    "comp_order": """HloModule m
a { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
b { x = f32[] parameter(0) ROOT n = f32[] call(x), to_apply=a }
c { x = f32[] parameter(0) y = f32[] call(x), to_apply=b ROOT n = f32[] call(y), to_apply=a }
unused { x = f32[] parameter(0) ROOT n = f32[] call(x), to_apply=a }
ENTRY e { x = f32[] parameter(0) y = f32[] call(x), to_apply=a  z = f32[] call(y), to_apply=c ROOT n = f32[] call(z), to_apply=b }
after { x = f32[] parameter(0) ROOT n = f32[] abs(x) }
after2 { x = f32[] parameter(0) ROOT n = f32[] call(x), to_apply=after }
""",
    "comp_order_while": """HloModule m
cond { x = s32[] parameter(0) c = s32[] constant(3) ROOT n = pred[] compare(x, c), direction=LT }
body { x = s32[] parameter(0) ROOT n = s32[] negate(x) }
sel { x = f32[] parameter(0) y = f32[] parameter(1) ROOT n = pred[] compare(x, y), direction=GE }
scat { x = f32[] parameter(0) y = f32[] parameter(1) ROOT n = f32[] add(x, y) }
t { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
f { x = f32[] parameter(0) ROOT n = f32[] abs(x) }
ENTRY e {
  i = s32[] parameter(0)
  s = f32[4,4] parameter(1)
  u = f32[2,2] parameter(2)
  z = f32[] parameter(3)
  q = pred[] parameter(4)
  w = s32[] while(i), condition=cond, body=body
  sc = f32[4,4] select-and-scatter(s, u, z), window={size=2x2 stride=2x2}, select=sel, scatter=scat
  cc = f32[] conditional(q, z, z), true_computation=t, false_computation=f
  ROOT r = (s32[], f32[4,4], f32[]) tuple(w, sc, cc)
}
""",
    "no_entry": """HloModule m
a { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
b { x = f32[] parameter(0) ROOT n = f32[] abs(x) }
""",
    "headerless": """a { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
ENTRY b { x = f32[] parameter(0) ROOT n = f32[] call(x), to_apply=a }
""",
    "headerless_entry_only": "ENTRY b { ROOT x = f32[] parameter(0) }",
    "headerless_noentry": "b { ROOT x = f32[] parameter(0) }",
    "signature_layout": """HloModule m
ENTRY e (q: f32[7]) -> f32[2,2]{0,1} { x = f32[2,2] parameter(0) ROOT n = f32[2,2] negate(x) }""",
    "signature_noparam": """HloModule m
ENTRY e () -> f32[2] { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }""",
    "root_first": """HloModule m
ENTRY e { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) y = f32[2] abs(n) z = f32[2] sine(y) }""",
    "no_root": """HloModule m
ENTRY e { x = f32[2] parameter(0) n = f32[2] negate(x) y = f32[2] abs(n) }""",
    "comments3": """HloModule m
// a { b
/* ENTRY } */
ENTRY e { // open
  p = f32[2] parameter(0), metadata={op_name="/* no comment */ // nor this"} // c1
  ROOT n = f32[2] negate(p), /* here */ metadata={ /* in */ op_name="x" /* side */ }, backend_config={"a": /* kept */ 1} // c2
}
""",
    "comment_param_shape": """HloModule m
ENTRY e (p: f32[2] /*index=0*/, q: f32[2]) -> (f32[2], /*index=1*/ f32[2]) {
  p = f32[2] parameter(0)
  q = f32[2] parameter(1)
  ROOT t = (f32[2], /*index=1*/f32[2]) tuple(p, /*index=1*/q)
}""",
    "comment_eof": "HloModule m ENTRY e { ROOT x = f32[] parameter(0) } // end",
    "one_line": (
        "HloModule m ENTRY e { a = f32[2] parameter(0) b = f32[2] negate(a) "
        'ROOT c = f32[2] add(a, b), metadata={op_name="x"} }'
    ),
    "tabs": (
        ""
        'HloModule\tm\n\nENTRY\te\t{\n\ta\t=\tf32[2]\tparameter(0)\n\tROOT\tb\t=\tf32[2]\tnegate(a)\t,\tmetadata={\top_name="x"\t}\n}'
    ),
    "nested_operands": """HloModule m
ENTRY e {
  a = f32[] parameter(0)
  b = f32[] add(negate(a), f32[] constant(1))
  c = f32[2] broadcast(f32[] constant(3))
  d = f32[2] add(f32[2] negate(f32[2] c), f32[2] broadcast(f32[] negate(b)))
  ROOT t = (f32[], f32[2]) tuple(add(negate(b), negate(b)), d)
}
""",
    "operand_shape_layout": (
        "HloModule m ENTRY e { a = f32[4,2] parameter(0) ROOT b = f32[4,2] "
        "negate(f32[4,2]{0,1} a) }"
    ),
    "trailing_comma": "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] add(a, a,) }",
    "attr_eq_space": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions= {0} }"
    ),
    "param_order": (
        "HloModule m ENTRY e { c = f32[3] parameter(2) a = f32[1] parameter(0) "
        "ROOT b = f32[2] parameter(1) }"
    ),
    "pct_no_space_eq": "HloModule m ENTRY e { %a=f32[] parameter(0) ROOT %b=f32[] negate(a) }",
    "kwname_pct": "HloModule m ENTRY e { %true = f32[] parameter(0) ROOT b = f32[] negate(%true) }",
    "dunder_xla": (
        "HloModule m ENTRY e { __xla_a = f32[] parameter(0) ROOT b = f32[] negate(__xla_a) }"
    ),
    "opname": ("HloModule m ENTRY e { add = f32[] parameter(0) ROOT negate = f32[] negate(add) }"),
    "mixed_pct": "HloModule m ENTRY %e { %a = f32[] parameter(0) ROOT b = f32[] negate(a) }",
    "crlf": (
        "HloModule m\r\n\r\n%f (x: f32[2]) -> f32[2] {\r\n  %x = f32[2]{0} "
        'parameter(0)\r\n  ROOT %n = f32[2]{0} negate(%x), metadata={op_name="a" '
        "source_line=3}\r\n}\r\n\r\nENTRY %e (p: f32[2]) -> f32[2] {\r\n  %p = "
        "f32[2]{0} parameter(0), sharding={replicated} // c\r\n  ROOT %c = "
        "f32[2]{0} call(%p), to_apply=%f\r\n}\r\n\r\n"
    ),
    "cr": (
        "HloModule m\r\r%f (x: f32[2]) -> f32[2] {\r  %x = f32[2]{0} "
        'parameter(0)\r  ROOT %n = f32[2]{0} negate(%x), metadata={op_name="a" '
        "source_line=3}\r}\r\rENTRY %e (p: f32[2]) -> f32[2] {\r  %p = f32[2]{0} "
        "parameter(0), sharding={replicated}\r  ROOT %c = f32[2]{0} call(%p), "
        "to_apply=%f\r}\r\r"
    ),
    "cr_comment": "HloModule m // c\rENTRY e { ROOT p = f32[2] parameter(0) }",
    "crlf_string": (
        'HloModule m ENTRY e { ROOT p = f32[2] parameter(0), metadata={op_name="a\r\nb"} }'
    ),
    "newline_string": """HloModule m ENTRY e { ROOT p = f32[2] parameter(0), metadata={op_name="a
b"}, backend_config={"a":
  1} }""",
    "nested_tuples": (
        "HloModule m ENTRY e { ROOT t = ((), (f32[2], (s32[], token[])), "
        "((((pred[]))))) parameter(0) }"
    ),
    "control_twice": (
        "HloModule m ENTRY e { a = f32[] parameter(0) b = f32[] parameter(1) "
        "ROOT c = f32[] negate(a), control-predecessors={b,b,a} }"
    ),
    "control_root": (
        "HloModule m ENTRY e { a = f32[] parameter(0) b = f32[] sine(a) c = "
        "f32[] negate(a), control-predecessors={b} ROOT d = f32[] cosine(a) }"
    ),
    "lead_ws": ("\n\n  \t HloModule m ENTRY e { ROOT a = f32[] parameter(0) }"),
}
"""Both print it alike."""

REJECTED: dict[str, str] = {
    "two_entry": """HloModule m
ENTRY a { x = f32[] parameter(0) ROOT n = f32[] negate(x) }
ENTRY b { x = f32[] parameter(0) ROOT n = f32[] abs(x) }
""",
    "signature_wrong": """HloModule m
ENTRY e (q: f32[7]) -> f32[3] { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }""",
    "two_roots": """HloModule m
ENTRY e { ROOT x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }""",
    "empty_body": """HloModule m
ENTRY e { }""",
    "no_computation": "HloModule m",
    "empty": "",
    "comments": """/* one */ HloModule /* two */ m /* three */ , // four
  is_scheduled /* no */ =true
""",
    "comments2": """/* one */ HloModule /* two */ m /* three */ , // four
  is_scheduled= /* five */ true /* six */
/* seven */ ENTRY /* eight */ %e /* nine */ ( /* a */ x /* b */ : /* c */ f32 /* d */ [ /* e */ 2 /* f */ ] /* g */ ) /* h */ -> /* i */ f32[2] /* j */ { /* k */
 /* l */ x /* m */ = /* n */ f32[2] /* o */ { /* p */ 0 /* q */ } /* r */ parameter /* s */ ( /* t */ 0 /* u */ ) /* v */ , /* w */ sharding= /* x */ { /* y */ replicated /* z */ } // end
 // between
 ROOT /* 1 */ n = f32[2] negate( /* index=0 */ x /* 2 */ )
 /* last **/ } /***/
// the end""",
    "comment_unclosed": "HloModule m /* ENTRY e { ROOT x = f32[] parameter(0) }",
    "slash": "HloModule m ENTRY e { ROOT x = f32[] parameter(0) } / end",
    "nul": "HloModule m ENTRY e { ROOT x = f32[] parameter(0) } \x00",
    "formfeed": "HloModule m\x0c ENTRY e { ROOT x = f32[] parameter(0) }",
    "vtab": "HloModule m\x0b ENTRY e { ROOT x = f32[] parameter(0) }",
    "nbsp": "HloModule m\xa0 ENTRY e { ROOT x = f32[] parameter(0) }",
    "thread_bad": """HloModule m
ENTRY e { x = f32[2] parameter(0) }, foo="other"
""",
    "nested_attr": """HloModule m
ENTRY e {
  a = f32[4] parameter(0)
  ROOT b = f32[2] negate(slice(a), slice={[0:2]})
}
""",
    "operand_shape_wrong": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] negate(f32[3] a) }"
    ),
    "operand_unknown": "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] negate(c) }",
    "operand_later": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "negate(c) c = f32[4] negate(a) }"
    ),
    "space_sep": "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] add(a a) }",
    "attr_trailing_comma": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions={0}, }"
    ),
    "attr_no_comma": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a) dimensions={0} }"
    ),
    "attr_space_eq": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions ={0} }"
    ),
    "attr_list_comma": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions={0,} }"
    ),
    "attr_twice": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions={0}, dimensions={0} }"
    ),
    "attr_unknown": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] "
        "transpose(a), dimensions={0}, foo=3 }"
    ),
    "attr_missing": "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] transpose(a) }",
    "redefined": "HloModule m ENTRY e { a = f32[4] parameter(0) a = f32[4] negate(a) }",
    "comp_redefined": "HloModule m a { ROOT x = f32[] parameter(0) } a { ROOT x = f32[] parameter(0) }",
    "comp_later": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), "
        "to_apply=f } f { ROOT x = f32[] parameter(0) }"
    ),
    "comp_self": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT c = f32[] call(a), to_apply=e }"
    ),
    "param_gap": "HloModule m ENTRY e { a = f32[] parameter(0) ROOT c = f32[] parameter(2) }",
    "param_twice": "HloModule m ENTRY e { a = f32[] parameter(0) ROOT c = f32[] parameter(0) }",
    "typename": "HloModule m ENTRY e { f32 = f32[] parameter(0) ROOT b = f32[] negate(f32) }",
    "typename_pct": "HloModule m ENTRY e { %f32 = f32[] parameter(0) ROOT b = f32[] negate(%f32) }",
    "dunder": "HloModule m ENTRY e { __a = f32[] parameter(0) ROOT b = f32[] negate(__a) }",
    "control_unknown": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] "
        "negate(a), control-predecessors={c} }"
    ),
    "control_self": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] "
        "negate(a), control-predecessors={b} }"
    ),
    "control_empty": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] "
        "negate(a), control-predecessors={} }"
    ),
    "control_single": (
        "HloModule m ENTRY e { a = f32[] parameter(0) ROOT b = f32[] "
        "negate(a), control-predecessors=a }"
    ),
    "hash": "HloModule m ENTRY e { ROOT a = f32[] parameter(0) } # x",
    "after": "HloModule m ENTRY e { ROOT a = f32[] parameter(0) } x",
    "two_modules": (
        "HloModule m ENTRY e { ROOT a = f32[] parameter(0) } HloModule m ENTRY "
        "e { ROOT a = f32[] parameter(0) }"
    ),
    "unclosed": "HloModule m ENTRY e { ROOT a = f32[] parameter(0) ",
}
"""Neither reads it."""

READ_HERE: dict[str, tuple[str, str]] = {
    "headerless_sig": (
        """%a (x: f32[]) -> f32[] { %x = f32[] parameter(0) ROOT %n = f32[] negate(%x) }
ENTRY %b (x: f32[]) -> f32[] { %x = f32[] parameter(0) ROOT %n = f32[] call(%x), to_apply=%a }
""",
        "headerless computations with a signature",
    ),
    "signature_ignored": (
        """HloModule m
ENTRY e (q: f32[7], %z: s32[]) -> f32[2] { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }""",
        "signature parameters with `%` and colon",
    ),
    "signature_percent": (
        """HloModule m
ENTRY %e (%q: f32[7], r f32[2]) -> f32[2] { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }""",
        "signature parameters with `%` and colon",
    ),
    "no_space_eq": (
        "HloModule m ENTRY e { a=f32[] parameter(0) ROOT %b=f32[] negate(a) }",
        "names glued to `=`",
    ),
    "kwname": (
        "HloModule m ENTRY e { true = f32[] parameter(0) ROOT b = f32[] negate(true) }",
        "keywords as bare names",
    ),
}
"""Only hlotool reads it: text, and the row of docs/differences.md."""

READ_THERE: dict[str, tuple[str, str]] = {
    "double_comma": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] add(a,, a) }",
        "commas where nothing stands",
    ),
    "lead_comma": (
        "HloModule m ENTRY e { a = f32[4] parameter(0) ROOT b = f32[4] add(, a, a) }",
        "commas where nothing stands",
    ),
}
"""Only the reference reads it: text, and the row of docs/differences.md."""

OTHERWISE: dict[str, tuple[str, str]] = {
    "thread": (
        (
            "HloModule m\nf { x = f32[2] parameter(0) ROOT n = f32[2] negate(x) }, "
            'execution_thread="other"\ng { x = f32[2] parameter(0) ROOT n = f32[2] '
            'negate(x) }, execution_thread="main"\nh { x = f32[2] parameter(0) ROOT '
            'n = f32[2] negate(x) }, execution_thread=""\nENTRY e { x = f32[2] '
            "parameter(0) a = f32[2] call(x), to_apply=f b = f32[2] call(x), "
            "to_apply=g c = f32[2] call(x), to_apply=h ROOT n = f32[2] negate(x) "
            '}, execution_thread="q\\"r"\n'
        ),
        "quotes in thread names",
    ),
}
"""Both read it and print it differently: text, and the row of docs/differences.md."""
