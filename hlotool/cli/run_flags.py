"""The flags of the reference's `run_hlo_module` in its own spelling, understood or refused."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hlotool.errors import UsageError

_RENAMED = {
    "input-format": "format",
    "isolate-instructions": "isolate",
}
"""Flags of the reference that have another name here."""

_SWITCHES = frozenset(
    {
        "print-literals", "random-init-input-literals", "use-large-float-range",
        "different-random-seeds", "edge-values", "isolate", "split-input-file", "lenient", "json",
        "quiet",
    }
)  # fmt: skip
"""Flags that are on or off, and may be given a value as in the reference."""

_AS_IS = "this version runs modules as they are, without passes: leave it out or set it to false"
_LIBRARY_ONLY = "the reference's own command has no such flag either, only its library"
_REFUSED = {
    "run-test-hlo-passes": _AS_IS,
    "run-reference-hlo-passes": _AS_IS,
    "force-use-cpu-thunk-runtime-for-test": "it chooses between two runtimes of XLA:CPU that"
    " jaxlib no longer has",
    "debug-options-file": "give the options one by one as --xla_NAME=VALUE",
    "force-fake-data": "inputs are generated unless --inputs gives them; " + _LIBRARY_ONLY,
    "flatten-control-flow": "nothing here needs a flat call graph; " + _LIBRARY_ONLY,
    "treat-gte-as-data-formatting": "inputs are followed through tuples always; " + _LIBRARY_ONLY,
    "use-buffer-assignment-from-proto": "the interpreter assigns no buffers; " + _LIBRARY_ONLY,
    "input-compilation-environments": "the interpreter compiles nothing; " + _LIBRARY_ONLY,
    "execution-seed": "--seed seeds inputs and random numbers; " + _LIBRARY_ONLY,
}
"""Flags of the reference that mean nothing here, by their names with dashes, with the reason."""

_ON_BY_DEFAULT = frozenset({"random-init-input-literals"})
_MEANT_WHEN_OFF = frozenset({"run-test-hlo-passes", "run-reference-hlo-passes"})
_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
_XLA_OPTION = re.compile(r"--(?:no)?xla_\w+(?:=.*)?", re.DOTALL)


def translated(words: Sequence[str]) -> list[str]:
    """Returns the words of a command line with the reference's spellings as ours.

    `--print_literals=true` becomes `--print-literals`; a flag that is switched off is left
    out, or becomes `--no-...` where it is on by default; `--xla_...` options become values of
    `--xla-option`. Raises `UsageError` for flags that mean nothing here.
    """
    made: list[str] = []
    for position, word in enumerate(words):
        if word == "--":
            return [*made, *words[position:]]
        made += _translated(word) if word.startswith("--") else [word]
    return made


def _translated(word: str) -> Iterator[str]:
    if _XLA_OPTION.fullmatch(word):
        yield f"--xla-option={word}"
        return
    spelled, equals, value = word[2:].partition("=")
    name = spelled.replace("_", "-")
    name = _RENAMED.get(name, name)
    if name in _REFUSED:
        if name in _MEANT_WHEN_OFF and _TRUTHS.get(value.lower(), True) is False:
            return
        raise UsageError(f"--{spelled} is not taken: {_REFUSED[name]}")
    if name in _SWITCHES and equals:
        is_on = _TRUTHS.get(value.lower())
        if is_on is None:
            raise UsageError(f"--{spelled} is on or off: true or false wanted, {value!r} given")
        if is_on:
            yield f"--{name}"
        elif name in _ON_BY_DEFAULT:
            yield f"--no-{name}"
    else:
        yield f"--{name}{equals}{value}"
