"""The reference's `--xla_...` flags: from the command line, a file, and `XLA_FLAGS`."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence

from hlotool.cli.inputs import STDIN, decode, read_bytes
from hlotool.cli.spellings import XLA_FLAG, truth
from hlotool.errors import ParseError, UsageError
from hlotool.ir.attribute import near_names

VARIABLE = "XLA_FLAGS"

DEFAULTS: dict[str, bool | int | str] = {
    "xla_dump_to": "",
    "xla_enable_dumping": True,
    "xla_dump_hlo_module_re": "",
    "xla_dump_hlo_pass_re": "",
    "xla_dump_hlo_pipeline_re": "",
    "xla_dump_hlo_as_text": False,
    "xla_dump_hlo_as_long_text": True,
    "xla_dump_hlo_as_dot": False,
    "xla_dump_hlo_as_html": False,
    "xla_dump_hlo_as_proto": False,
    "xla_dump_compress_protos": False,
    "xla_dump_large_constants": False,
    "xla_dump_disable_metadata": False,
    "xla_dump_include_timestamp": False,
    "xla_dump_max_hlo_modules": -1,
    "xla_dump_module_metadata": False,
    "xla_dump_hlo_to_subfolder": False,
    "xla_dump_fusion_visualization": False,
    "xla_dump_buffer_assignment_analysis": True,
    "xla_disable_hlo_passes": "",
    "xla_enable_hlo_passes_only": "",
    "xla_disable_all_hlo_passes": False,
    "xla_run_hlo_passes_starting_from": "",
    "xla_fuel": "",
}
"""The flags that mean something here, with their defaults."""

_RENAMED = {"xla_dump_to_subfolder": "xla_dump_hlo_to_subfolder"}
_WITHOUT_EFFECT = frozenset(
    "xla_dump_" + name
    for name in (
        "compact_gte", "emitter_re", "enable_mlir_pretty_form", "full_hlo_config",
        "hlo_as_riegeli", "hlo_as_url", "hlo_snapshots", "hlo_unoptimized_snapshots", "ir",
        "latency_hiding_schedule",
    )
)  # fmt: skip
_OF_OTHER_PARTS = (
    "xla_gpu_", "xla_cpu_", "xla_llvm_", "xla_tpu_", "xla_backend_", "xla_hlo_",
    "xla_unsupported_", "xla_debug_", "xla_detect_", "xla_force_", "xla_embed_", "xla_test_",
    "xla_step_", "xla_allow_", "xla_eliminate_", "xla_multiheap_", "xla_partitioning_",
    "xla_pjrt_", "xla_reduce_", "xla_slow_", "xla_syntax_", "xla_use_", "xla_ignore_",
    "xla_keep_", "xla_latency_", "xla_cmd_",
)  # fmt: skip
"""How flags begin that no part of this program has a use for."""

_FIELD = re.compile(r"\s*(xla_\w+)\s*:\s*(.*?)\s*$")

_ESCAPED = re.compile(r"\\(.)")

Flags = dict[str, bool | int | str]


def xla_flags(
    words: Sequence[str], options_file: str | None, environment: str | None
) -> tuple[Flags, list[str]]:
    """Returns the value of every flag that means something, and what is to be said of others.

    The command line counts most, then `XLA_FLAGS`, then the file. Raises `UsageError` for
    flags on the command line that nobody knows, and for values of another type.
    """
    flags = dict(DEFAULTS)
    notes: list[str] = []
    if options_file is not None:
        pairs = _of_file(options_file)
        _take(flags, pairs, notes, options_file)
    if environment and environment.strip():
        _take(flags, _of_words(_environment_words(environment)), notes, VARIABLE)
    _take(flags, _of_words(words), notes, "")
    return flags, notes


def given(flags: Flags) -> Flags:
    """Returns the flags that do not have their default."""
    return {name: value for name, value in flags.items() if value != DEFAULTS[name]}


def debug_options(flags: Flags) -> str:
    """Returns the flags that do not have their default as the reference's dumps list them."""
    lines = []
    for name, value in given(flags).items():
        shown = str(value).lower() if not isinstance(value, str) else f'"{_escaped(value)}"'
        lines.append(f"{name}: {shown}\n")
    return "".join(lines)


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _environment_words(value: str) -> list[str]:
    # A value that does not begin like a flag names a file of flags.
    if not value.lstrip().startswith("--"):
        value = _text_of(value.strip())
    try:
        return shlex.split(value, comments=True)
    except ValueError as error:
        raise UsageError(f"{VARIABLE}: {str(error).lower()}") from None


def _text_of(path: str) -> str:
    if path == STDIN:
        raise UsageError("flags are not read from standard input: name a file")
    try:
        return decode(read_bytes(path), path)
    except ParseError as error:
        raise UsageError(f"{path}: {error.message}") from None


def _of_words(words: Iterable[str]) -> Iterator[tuple[str, str]]:
    for word in words:
        match = XLA_FLAG.fullmatch(word)
        if match is None:
            # Other programs may have flags of their own there.
            yield word, ""
            continue
        negated, name, value = match.groups()
        if negated and value is not None:
            raise UsageError(f"{word}: a flag that begins with no takes no value")
        if value is None and not isinstance(DEFAULTS.get(name, False), bool):
            raise UsageError(f"--{name} wants a value: --{name}=...")
        yield name, "false" if negated else "true" if value is None else value


def _of_file(path: str) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(_text_of(path).splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match = _FIELD.match(line)
        if match is None:
            raise UsageError(
                f'{path}:{number}: a line is a flag and its value, as in xla_dump_to: "dump"'
            )
        name, value = match.groups()
        yield name, _unquoted(value)


def _unquoted(value: str) -> str:
    if len(value) < 2 or value[0] not in "\"'" or value[-1] != value[0]:
        return value
    return _ESCAPED.sub(lambda match: "\n" if match[1] == "n" else match[1], value[1:-1])


def _take(flags: Flags, pairs: Iterable[tuple[str, str]], notes: list[str], source: str) -> None:
    """Enters values; `source` is empty for the command line, which must have no wrong flag."""
    for spelled, text in pairs:
        name = _RENAMED.get(spelled, spelled)
        if name in DEFAULTS:
            flags[name] = _value(name, text)
        elif name in _WITHOUT_EFFECT or name.startswith(_OF_OTHER_PARTS):
            notes.append(f"--{spelled} has no effect here")
        else:
            words = f"unknown flag --{spelled.lstrip('-')}{near_names(name, list(DEFAULTS))}"
            if not source:
                raise UsageError(words, notes=("docs/dumping.md lists the flags",))
            notes.append(f"{source}: {words}")


def _value(name: str, text: str) -> bool | int | str:
    default = DEFAULTS[name]
    if isinstance(default, bool):
        return truth(name, text)
    if isinstance(default, int):
        if re.fullmatch(r"-?[0-9]{1,18}", text) is None:
            raise UsageError(f"--{name} is a number, {text!r} given")
        return int(text)
    return text


def environment_flags() -> str | None:
    """Returns what the environment says about flags."""
    return os.environ.get(VARIABLE)
