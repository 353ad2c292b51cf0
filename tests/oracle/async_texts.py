"""Async chains, by what hlotool and the reference make of them."""

from __future__ import annotations

ALIKE: dict[str, str] = {
    "plain": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) u = ((f32[4]), f32[4], u32[]) negate-update(s) ROOT d "
        "= f32[4] negate-done(u) }"
    ),
    "explicit": (
        "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
        "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(a), "
        "calls=w u = ((f32[4]), f32[4], u32[]) async-update(s) ROOT d = f32[4] "
        "async-done(u) }"
    ),
    "explicit_calls": (
        "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
        "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(a), "
        "calls=w u = ((f32[4]), f32[4], u32[]) async-update(s), calls=w ROOT d "
        "= f32[4] async-done(u), calls=w }"
    ),
    "big": (
        "w { x = f32[4] parameter(0) y = f32[4] abs(x) ROOT n = f32[4] "
        "negate(y) } ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], "
        "u32[]) async-start(a), calls=w u = ((f32[4]), f32[4], u32[]) "
        "async-update(s) ROOT d = f32[4] async-done(u) }"
    ),
    "async_thread": (
        "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) }, "
        'execution_thread="t" ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), '
        'f32[4], u32[]) async-start(a), async_execution_thread="t", calls=w u '
        "= ((f32[4]), f32[4], u32[]) async-update(s), "
        'async_execution_thread="t", calls=w ROOT d = f32[4] async-done(u), '
        'async_execution_thread="t", calls=w }'
    ),
    "thread2": (
        "w { x = f32[4] parameter(0) y = f32[4] abs(x) ROOT n = f32[4] "
        "negate(y) } ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], "
        'u32[]) async-start(a), async_execution_thread="t", calls=w u = '
        "((f32[4]), f32[4], u32[]) async-update(s) ROOT d = f32[4] "
        "async-done(u) }"
    ),
    "thread3": (
        "w { x = f32[4] parameter(0) y = f32[4] abs(x) ROOT n = f32[4] "
        'negate(y) }, execution_thread="z" ENTRY e { a = f32[4] parameter(0) s '
        "= ((f32[4]), f32[4], u32[]) async-start(a), "
        'async_execution_thread="t", calls=w ROOT d = f32[4] async-done(s) }'
    ),
    "iota": (
        "w { ROOT x = f32[4] iota(), iota_dimension=0 } ENTRY e { s = ((), "
        "f32[4], u32[]) async-start(), calls=w ROOT d = f32[4] async-done(s) }"
    ),
    "iota_sugar": (
        "ENTRY e { s = ((), f32[4], u32[]) iota-start(), iota_dimension=0 ROOT "
        "d = f32[4] iota-done(s) }"
    ),
    "attrs": (
        "ENTRY e { a = f32[4,2] parameter(0) s = ((f32[4,2]), f32[2,4], u32[]) "
        'transpose-start(a), dimensions={1,0}, metadata={op_name="q"}, '
        'sharding={replicated}, frontend_attributes={a="b"}, '
        'backend_config="c" ROOT d = f32[2,4] transpose-done(s), '
        'metadata={op_name="r"} }'
    ),
    "alias": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a), output_to_operand_aliasing={{}: (0, {})} ROOT d = "
        "f32[4] negate-done(s) }"
    ),
    "calls_inside": (
        "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] "
        "add(x, y) } ENTRY e { a = f32[4] parameter(0) z = f32[] parameter(1) "
        "s = ((f32[4], f32[]), f32[], u32[]) reduce-start(a, z), "
        "dimensions={0}, to_apply=add ROOT d = f32[] reduce-done(s) }"
    ),
    "rs": (
        "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] "
        "add(x, y) } ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[2], "
        "u32[]) reduce-scatter-start(a), channel_id=1, replica_groups={{0,1}}, "
        "use_global_device_ids=true, dimensions={0}, to_apply=add ROOT d = "
        "f32[2] reduce-scatter-done(s) }"
    ),
    "rs_explicit": (
        "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] "
        "add(x, y) } w { a = f32[4] parameter(0) ROOT q = f32[2] "
        "reduce-scatter(a), channel_id=1, replica_groups={{0,1}}, "
        "use_global_device_ids=true, dimensions={0}, to_apply=add } ENTRY e { "
        "a = f32[4] parameter(0) s = ((f32[4]), f32[2], u32[]) async-start(a), "
        "calls=w ROOT d = f32[2] async-done(s) }"
    ),
    "cc": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[2], u32[]) "
        'custom-call-start(a), custom_call_target="x", '
        'api_version=API_VERSION_TYPED_FFI, backend_config={"a":1} ROOT d = '
        "f32[2] custom-call-done(s) }"
    ),
    "call": (
        "f { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
        "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) call-start(a), "
        "to_apply=f ROOT d = f32[4] call-done(s) }"
    ),
    "fusion": (
        "f { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
        "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) fusion-start(a), "
        "kind=kLoop, calls=f ROOT d = f32[4] fusion-done(s) }"
    ),
    "slice": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[2], u32[]) "
        "slice-start(a), slice={[0:2]} ROOT d = f32[2] slice-done(s) }"
    ),
    "copy": (
        "ENTRY e { a = f32[4] parameter(0) s = (f32[4], f32[4], u32[]) "
        "copy-start(a) ROOT d = f32[4] copy-done(s) }"
    ),
    "start_two": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4]) "
        "negate-start(a) ROOT d = f32[4] negate-done(s) }"
    ),
    "done_shape": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) ROOT d = f32[5] negate-done(s) }"
    ),
    "two_sugar": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) t = ((f32[4]), f32[4], u32[]) negate-start(a) d = "
        "f32[4] negate-done(s) f = f32[4] negate-done(t) ROOT r = f32[4] "
        "add(d, f) }"
    ),
    "two_dones": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) d = f32[4] negate-done(s) f = f32[4] negate-done(s) "
        "ROOT r = f32[4] add(d, f) }"
    ),
    "two_params": (
        "ENTRY e { a = f32[4] parameter(0) b = f32[4] parameter(1) s = "
        "((f32[4],f32[4]), f32[4], u32[]) add-start(a, b) ROOT d = f32[4] "
        "add-done(s) }"
    ),
    "same_param": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4],f32[4]), f32[4], "
        "u32[]) add-start(a, a) ROOT d = f32[4] add-done(s) }"
    ),
    "operand_shape_bad": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[5]), f32[4], u32[]) "
        "negate-start(a) ROOT d = f32[4] negate-done(s) }"
    ),
    "sched": (
        "HloModule m, is_scheduled=true ENTRY e { a = f32[4] parameter(0) b = "
        "f32[4] abs(a) s = ((f32[4]), f32[4], u32[]) negate-start(a) c = "
        "f32[4] abs(b) d = f32[4] negate-done(s) ROOT r = f32[4] add(c, d) }"
    ),
    "thread_sugar": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        'negate-start(a), async_execution_thread="x" u = ((f32[4]), f32[4], '
        'u32[]) negate-update(s), async_execution_thread="x" ROOT d = f32[4] '
        'negate-done(u), async_execution_thread="x" }'
    ),
    "sugar_names": (
        "async_wrapped { async_param = f32[4] parameter(0) ROOT async_op = "
        "f32[4] abs(async_param) } ENTRY e { a = f32[4] parameter(0) c = "
        "f32[4] call(a), to_apply=async_wrapped s = ((f32[4]), f32[4], u32[]) "
        "negate-start(c) ROOT d = f32[4] negate-done(s) }"
    ),
    "inline_calls": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "async-start(a), calls={ x = f32[4] parameter(0) y = f32[4] abs(x) "
        "ROOT n = f32[4] negate(y) } ROOT d = f32[4] async-done(s) }"
    ),
    "control": (
        "ENTRY e { a = f32[4] parameter(0) b = f32[4] abs(a) s = ((f32[4]), "
        "f32[4], u32[]) negate-start(a), control-predecessors={b} ROOT d = "
        "f32[4] negate-done(s) }"
    ),
    "accuracy": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "tanh-start(a), result_accuracy={mode=highest} ROOT d = f32[4] "
        "tanh-done(s) }"
    ),
    "ag": (
        "ENTRY e { a = f32[4] parameter(0) s = (f32[4], f32[8]) "
        "all-gather-start(a), channel_id=1, replica_groups={{0,1}}, "
        "dimensions={0} ROOT d = f32[8] all-gather-done(s) }"
    ),
    "cond": (
        "t { x = f32[] parameter(0) ROOT n = f32[] negate(x) } f { x = f32[] "
        "parameter(0) ROOT n = f32[] abs(x) } ENTRY e { p = pred[] "
        "parameter(0) a = f32[] parameter(1) s = ((pred[], f32[], f32[]), "
        "f32[], u32[]) conditional-start(p, a, a), true_computation=t, "
        "false_computation=f ROOT d = f32[] conditional-done(s) }"
    ),
    "while": (
        "c { x = s32[] parameter(0) k = s32[] constant(3) ROOT n = pred[] "
        "compare(x, k), direction=LT } b { x = s32[] parameter(0) ROOT n = "
        "s32[] negate(x) } ENTRY e { a = s32[] parameter(0) s = ((s32[]), "
        "s32[], u32[]) while-start(a), condition=c, body=b ROOT d = s32[] "
        "while-done(s) }"
    ),
    "acc2": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "tanh-start(a), sharding={replicated}, result_accuracy={mode=highest}, "
        'metadata={op_name="x"} ROOT d = f32[4] tanh-done(s) }'
    ),
}
"""Both print it alike."""

REJECTED: dict[str, str] = {
    "copy_update": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "copy-update(a) ROOT d = f32[4] copy-done(s) }"
    ),
    "done_other": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) ROOT d = f32[4] abs-done(s) }"
    ),
    "done_nostart": "ENTRY e { a = f32[4] parameter(0) ROOT d = f32[4] negate-done(a) }",
    "start_shape2": "ENTRY e { a = f32[4] parameter(0) ROOT s = f32[4] negate-start(a) }",
    "start_one": "ENTRY e { a = f32[4] parameter(0) ROOT s = ((f32[4])) negate-start(a) }",
    "done_noshape": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) ROOT d = negate-done(s) }"
    ),
    "update_noshape": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a) u = negate-update(s) ROOT d = negate-done(u) }"
    ),
    "unknown": (
        "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
        "foo-start(a) ROOT d = f32[4] foo-done(s) }"
    ),
    "param_start": (
        "ENTRY e { s = ((), f32[4], u32[]) parameter-start(0) ROOT d = f32[4] parameter-done(s) }"
    ),
    "const_start": (
        "ENTRY e { s = ((), f32[], u32[]) constant-start(3) ROOT d = f32[] constant-done(s) }"
    ),
    "async_start_start": (
        "ENTRY e { a = f32[4] parameter(0) ROOT s = ((f32[4]), f32[4], u32[]) "
        "async-start-start(a) }"
    ),
    "bad_attr": (
        "ENTRY e { a = f32[4] parameter(0) ROOT s = ((f32[4]), f32[4], u32[]) "
        "negate-start(a), dimensions={0} }"
    ),
    "missing_attr": (
        "ENTRY e { a = f32[4,2] parameter(0) ROOT s = ((f32[4,2]), f32[4,2], "
        "u32[]) transpose-start(a) }"
    ),
}
"""Neither reads it."""

READ_HERE: dict[str, tuple[str, str]] = {
    "thread_mismatch": (
        (
            "w { x = f32[4] parameter(0) y = f32[4] abs(x) ROOT n = f32[4] "
            "negate(y) } ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], "
            'u32[]) async-start(a), async_execution_thread="t", calls=w ROOT d = '
            'f32[4] async-done(s), async_execution_thread="z" }'
        ),
        "steps of async chains that do not fit",
    ),
    "calls_mismatch": (
        (
            "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } v { x = "
            "f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = f32[4] "
            "parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(a), calls=w "
            "ROOT d = f32[4] async-done(s), calls=v }"
        ),
        "steps of async chains that do not fit",
    ),
    "async_done_nostart": (
        ("ENTRY e { a = ((f32[4]), f32[4], u32[]) parameter(0) ROOT d = f32[4] async-done(a) }"),
        "steps of async chains that do not fit",
    ),
    "start_shape": (
        (
            "ENTRY e { a = f32[4] parameter(0) s = (f32[4], f32[4], u32[]) "
            "negate-start(a) ROOT d = f32[4] negate-done(s) }"
        ),
        "steps of async chains that do not fit",
    ),
    "update_shape": (
        (
            "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
            "negate-start(a) u = ((f32[4]), f32[4]) negate-update(s) ROOT d = "
            "f32[4] negate-done(u) }"
        ),
        "steps of async chains that do not fit",
    ),
    "two_chains": (
        (
            "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
            "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(a), "
            "calls=w t = ((f32[4]), f32[4], u32[]) async-start(a), calls=w d = "
            "f32[4] async-done(s) f = f32[4] async-done(t) ROOT r = f32[4] add(d, "
            "f) }"
        ),
        "steps of async chains that do not fit",
    ),
}
"""Only hlotool reads it: text, and the row of docs/differences.md."""

READ_THERE: dict[str, tuple[str, str]] = {}
"""Only the reference reads it: text, and the row of docs/differences.md."""

OTHERWISE: dict[str, tuple[str, str]] = {
    "swapped": (
        (
            "w { x = f32[4] parameter(0) y = f32[4] parameter(1) ROOT n = f32[4] "
            "subtract(y, x) } ENTRY e { a = f32[4] parameter(0) b = f32[4] "
            "parameter(1) s = ((f32[4],f32[4]), f32[4], u32[]) async-start(a, b), "
            "calls=w ROOT d = f32[4] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "dropped": (
        (
            "w { x = f32[4] parameter(0) y = f32[4] parameter(1) ROOT n = f32[4] "
            "negate(y) } ENTRY e { a = f32[4] parameter(0) b = f32[4] parameter(1) "
            "s = ((f32[4],f32[4]), f32[4], u32[]) async-start(a, b), calls=w ROOT "
            "d = f32[4] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "doubled": (
        (
            "w { x = f32[4] parameter(0) ROOT n = f32[4] add(x, x) } ENTRY e { a = "
            "f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) async-start(a), "
            "calls=w ROOT d = f32[4] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "param_root": (
        (
            "w { ROOT x = f32[4] parameter(0) } ENTRY e { a = f32[4] parameter(0) "
            "s = ((f32[4]), f32[4], u32[]) async-start(a), calls=w ROOT d = f32[4] "
            "async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "const_root": (
        (
            "w { ROOT x = f32[] constant(3) } ENTRY e { s = ((), f32[], u32[]) "
            "async-start(), calls=w ROOT d = f32[] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "attrs_explicit": (
        (
            "w { x = f32[4,2] parameter(0) ROOT n = f32[2,4] transpose(x), "
            'dimensions={1,0}, metadata={op_name="in"}, sharding={manual}, '
            'frontend_attributes={i="n"}, backend_config="in" } ENTRY e { a = '
            "f32[4,2] parameter(0) s = ((f32[4,2]), f32[2,4], u32[]) "
            'async-start(a), calls=w, metadata={op_name="q"}, backend_config="c" '
            "ROOT d = f32[2,4] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "attrs_explicit2": (
        (
            "w { x = f32[4,2] parameter(0) ROOT n = f32[2,4] transpose(x), "
            'dimensions={1,0}, sharding={manual}, frontend_attributes={i="n"} } '
            "ENTRY e { a = f32[4,2] parameter(0) s = ((f32[4,2]), f32[2,4], u32[]) "
            "async-start(a), calls=w, sharding={replicated}, "
            'frontend_attributes={o="u"} ROOT d = f32[2,4] async-done(s) }'
        ),
        "async sugar of other bodies",
    ),
    "send_wrapped": (
        (
            "w { a = f32[4] parameter(0) t = token[] parameter(1) ROOT s = "
            "(f32[4], u32[], token[]) send(a, t), channel_id=1 } ENTRY e { a = "
            "f32[4] parameter(0) t = token[] after-all() s = ((f32[4], token[]), "
            "(f32[4], u32[], token[]), u32[]) async-start(a, t), calls=w ROOT d = "
            "(f32[4], u32[], token[]) async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "ar_wrapped": (
        (
            "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] "
            "add(x, y) } w { a = f32[4] parameter(0) ROOT s = f32[4] "
            "all-reduce(a), channel_id=1, replica_groups={}, to_apply=add } ENTRY "
            "e { a = f32[4] parameter(0)  s = ((f32[4]), f32[4], u32[]) "
            "async-start(a), calls=w ROOT d = f32[4] async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "async_async": (
        (
            "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } v { x = "
            "f32[4] parameter(0) ROOT s = ((f32[4]), f32[4], u32[]) "
            "async-start(x), calls=w } ENTRY e { a = f32[4] parameter(0) s = "
            "((f32[4]), ((f32[4]), f32[4], u32[]), u32[]) async-start(a), calls=v "
            "ROOT d = ((f32[4]), f32[4], u32[]) async-done(s) }"
        ),
        "async sugar of other bodies",
    ),
    "statistics": (
        (
            "ENTRY e { a = f32[4] parameter(0) s = ((f32[4]), f32[4], u32[]) "
            "negate-start(a), statistics={visualizing_index=0,a=1}, "
            'origin={({"x"})} ROOT d = f32[4] negate-done(s) }'
        ),
        "statistics of async starts",
    ),
    "shared": (
        (
            "w { x = f32[4] parameter(0) ROOT n = f32[4] negate(x) } ENTRY e { a = "
            "f32[4] parameter(0) c = f32[4] call(a), to_apply=w s = ((f32[4]), "
            "f32[4], u32[]) async-start(c), calls=w ROOT d = f32[4] async-done(s) }"
        ),
        "a computation that an async start shares with another caller",
    ),
}
"""Both read it and print it differently: text, and the row of docs/differences.md."""
