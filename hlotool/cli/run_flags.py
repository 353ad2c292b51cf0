"""The flags of the reference's `run_hlo_module` in its own spelling, understood or refused."""

from __future__ import annotations

from hlotool.cli.spellings import Spellings

_AS_IS = "the reference is run as it is, without passes: leave it out or set it to false"
_LIBRARY_ONLY = "the reference's own command has no such flag either, only its library"
_REFUSED = {
    "run-reference-hlo-passes": _AS_IS,
    "force-use-cpu-thunk-runtime-for-test": "it chooses between two runtimes of XLA:CPU that"
    " jaxlib no longer has",
    "debug-options-file": "give the options one by one as --xla_NAME=VALUE",
    "force-fake-data": "inputs are generated unless --inputs gives them; " + _LIBRARY_ONLY,
    "flatten-control-flow": "nothing here needs a flat call graph; " + _LIBRARY_ONLY,
    "treat-gte-as-data-formatting": "inputs are followed through tuples always; " + _LIBRARY_ONLY,
    "use-buffer-assignment-from-proto": "buffers are assigned anew; " + _LIBRARY_ONLY,
    "input-compilation-environments": "they are XLA's alone; " + _LIBRARY_ONLY,
    "execution-seed": "--seed seeds inputs and random numbers; " + _LIBRARY_ONLY,
}
"""Flags of the reference that mean nothing here, by their names with dashes, with the reason."""

SPELLINGS = Spellings(
    switches=frozenset(
        {
            "print-literals", "random-init-input-literals", "use-large-float-range",
            "different-random-seeds", "edge-values", "isolate", "split-input-file", "lenient",
            "json", "quiet", "run-test-hlo-passes", "explain-compile", "compile-cache",
        }
    ),
    on_by_default=frozenset(
        {"random-init-input-literals", "run-test-hlo-passes", "compile-cache"}
    ),
    renamed={"input-format": "format", "isolate-instructions": "isolate"},
    refused=_REFUSED,
    taken_when_off=frozenset({"run-reference-hlo-passes"}),
)  # fmt: skip
