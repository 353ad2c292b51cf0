"""What the names of dumped files say: which module, which step between passes, what kind of file.

The forms are those of `--xla_dump_to`, ours and the reference's, and of TensorFlow's graphs.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MODULE = "module"
PICTURE = "drawing"
BUFFERS = "buffer assignment"
LIVE_RANGES = "live ranges"
DECISIONS = "fusion decisions"
TIMES = "pass times"
FLAGS = "flags"
GRAPH = "graph"
TEXT = "text"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of file; `why` says why files of it are not shown, and is empty where they are."""

    name: str
    why: str = ""


OWN_PAGE = "a page of its own"
_IN_PIECES = "a proto in pieces, which is not read: dump with .txt or .hlo.pb"
_KINDS = tuple(
    (re.compile(rf"(?:{pattern})\Z"), Kind(name, why))
    for pattern, name, why in (
        (r"(?:\.|^)_fusion\.(?:html|txt)", DECISIONS, ""),
        (r"\.passes\.html", "page", f"{OWN_PAGE}: open it in a browser"),
        (r"(?:\.|^)_fusion\.pyz", DECISIONS, "a program with a database inside, which is not run"),
        (r"-buffer-assignment-values\.txt", "buffer values", ""),
        (r"-buffer-assignment\.txt", BUFFERS, ""),
        (r"-live-range\.txt", LIVE_RANGES, ""),
        (r"-memory-usage-report\.txt", "memory report", ""),
        (r"-memory-usage-report\.pb(?:\.gz)?", "memory report", "a proto of what the .txt says"),
        (r"snapshot\.(?:pb|txt)", "snapshot", "values of a run: run-hlo FILE runs it again"),
        (r"\.ll", "LLVM IR", ""),
        (r"\.mlir", "MLIR", ""),
        (r"\.ttir\.txt", "Triton IR", ""),
        (r"\.ptx", "PTX", ""),
        (r"\.(?:s|asm)", "assembly", ""),
        (r"\.(?:o|obj|so)", "object code", "machine code: objdump -d FILE shows it"),
        (r"\.(?:spv|cubin|fatbin|hsaco)", "object code", "machine code of an accelerator"),
        (r"thunk_sequence\w*\.txt|\.thunk_metadata\w*(?:\.\w+)?", "thunks", ""),
        (r"debug_options(?:\.\w+)?", FLAGS, ""),
        (r"\bmetadata\.textproto", TIMES, ""),
        (r"autotune\w*(?:\.(?:txt|pbtxt|textproto|json|log))?", "autotuning", ""),
        (r"config\.(?:pbtxt|textproto)", "configuration", ""),
        (r"schedule\.(?:txt|pbtxt)", "schedule", ""),
        (r"(?:\.priority_fusion_dump|\.fdo_profile)(?:\.\w+)?", "profile", ""),
        (
            r"\.(?:top_level\.)?html|\.dot|\.url",
            PICTURE,
            "a drawing, of which the text is not here",
        ),
        (r"\.hlo(?:\.pb(?:\.gz)?)?", MODULE, ""),
        (r"\.riegeli", MODULE, _IN_PIECES),
        (r"\.(?:txt|log|json|jsonl|csv|tsv|md|yaml|pbtxt|textproto)", TEXT, ""),
        (r"\.pb(?:\.gz)?", "proto", "a proto of a kind that is not known"),
    )
)
_LONGEST_END = 60
_UNKNOWN = Kind("other", "a kind of file that is not known")
_MODULE = Kind(MODULE)
_GRAPH_TEXT = Kind(GRAPH)
_TEXT = Kind(TEXT)
_PAGE = Kind("page", f"{OWN_PAGE}: open it in a browser")
_PICTURE = Kind(PICTURE, "a drawing: this page draws the module")
_PIECES = Kind(MODULE, _IN_PIECES)
_WHOLE = {
    ".dot": _PICTURE, ".url": _PICTURE, ".html": _PICTURE, ".top_level.html": _PICTURE,
    ".riegeli": _PIECES,
}  # fmt: skip
"""The kinds of files about a whole module that do not hold it in a form that is read."""
_HEAD = re.compile(
    r"(?:(?P<prefix>.+?)\.)??(?:[0-9]{9,}\.)?module_(?P<number>[0-9]{4,18})\.(?P<rest>.+)",
    re.DOTALL,
)
_FORMAT = re.compile(r"\.(?:txt|hlo|hlo\.pb|hlo\.pb\.gz|riegeli|dot|url|html|top_level\.html)$")
_STAGE = re.compile(
    r"(?:(?P<name>.+)\.|^)(?P<stage>(?:(?:sm_[0-9]+\.[0-9a-z]+|gfx[0-9a-z]+)_)?"
    r"(?:(?:cpu|gpu)_after|after|before)_[\w-]+)$",
    re.DOTALL,
)
_STEP = re.compile(
    r"(?:(?P<name>.+)\.|^)(?P<step>[0-9]{4,9})\.(?P<pipeline>.+?)\.after_(?P<after>.+?)"
    r"\.before_(?P<before>.+)$",
    re.DOTALL,
)
_WITHIN = re.compile(
    r"(?:(?P<name>.+)\.|^)(?P<step>[0-9]{4,9})\.(?P<pass>(?!sm_|gfx)[^.]+)\.(?P<words>.+)$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Step:
    """A place between two passes of a pipeline, or within a pass: then `before` is empty."""

    number: int
    pipeline: str
    after: str
    before: str

    @property
    def words(self) -> str:
        """Where it is, for a person."""
        if not self.before:
            return self.after.replace("_", " ")
        return f"after {self.after}, before {self.before}"


@dataclass(frozen=True, slots=True)
class DumpName:
    """What the name of one file says."""

    kind: Kind
    number: int | None = None
    """The number of the module that the file is about."""
    rest: str = ""
    """What follows the number: name of the module, what of it, format."""
    module: str | None = None
    """The name of the module, `None` where the name alone does not tell where it ends."""
    stage: str = ""
    """Such as `before_optimizations`, of files that hold a module before or after all passes."""
    step: Step | None = None
    format: str = ""
    """The end of the name, such as `.txt`, of files that hold or draw a module."""


def dump_name(name: str) -> DumpName:
    """Returns what the name of a file, without its folder, says."""
    head = _HEAD.fullmatch(name)
    if head is None:
        return _unnumbered(name)
    number, rest = int(head["number"]), head["rest"]
    kind = _kind(rest)
    return _of_module(kind, number, rest) or DumpName(kind, number, rest)


def _kind(name: str) -> Kind:
    # Ends are short, and names may be as long as file systems allow.
    start = max(0, len(name) - _LONGEST_END)
    found = (kind for pattern, kind in _KINDS if pattern.search(name, start))
    return next(found, _UNKNOWN)


def _unnumbered(name: str) -> DumpName:
    kind = _kind(name)
    form = _FORMAT.search(name)
    if kind.name == TEXT and name.endswith(".pbtxt"):
        return DumpName(_GRAPH_TEXT, rest=name)
    if kind.name == PICTURE:
        return DumpName(_TEXT if name.endswith(".dot") else _PAGE, rest=name)
    if kind.name != MODULE or form is None:
        return DumpName(kind, rest=name)
    return DumpName(kind, None, name, name[: form.start()], "module", format=form[0])


def _of_module(kind: Kind, number: int, rest: str) -> DumpName | None:
    """Returns what is said of a module as a whole, `None` for texts about something else."""
    form = _FORMAT.search(rest)
    if form is None:
        return None
    stem = rest[: form.start()]
    whole = _WHOLE.get(form[0], _MODULE)
    # Passes may be called like reports: autotuner, fusion.
    found = _STEP.match(stem)
    if found is not None:
        place = Step(int(found["step"]), found["pipeline"], found["after"], found["before"])
        return DumpName(whole, number, rest, found["name"] or "", "", place, form[0])
    if kind.name not in {MODULE, PICTURE, TEXT}:
        return None
    found = _WITHIN.match(stem)
    if found is not None:
        place = Step(int(found["step"]), found["pass"], found["words"], "")
        return DumpName(whole, number, rest, found["name"] or "", "", place, form[0])
    found = _STAGE.match(stem)
    if found is not None:
        return DumpName(whole, number, rest, found["name"] or "", found["stage"], None, form[0])
    return None
