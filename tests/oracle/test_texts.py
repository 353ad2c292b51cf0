"""Small texts: what both make of them, and the known differences, row by row of the page."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from hlotool.errors import ParseError
from hlotool.text.parser import parse
from hlotool.text.print_options import PRESETS
from hlotool.text.printer import print_module
from tests.conftest import ROOT
from tests.oracle.reference import Answer, ask

pytestmark = pytest.mark.oracle

ALIKE_ON_PURPOSE = {"`-0`"}
"""Rows about what both do and few expect."""
ABORTED = "the reference aborted"
FOLDER = Path(__file__).parent / "texts"
DIFFERENCES = ROOT / "docs" / "differences.md"
DOCUMENT = re.compile(r"^// ----- (?P<name>[^\n]*?)(?:: (?P<row>[^\n]*))?\n", re.MULTILINE)
PARAMETER = "HloModule m\nENTRY e {{ ROOT p = {} parameter(0) }}"
LINE_ENDS = "HloModule m{end}{end}ENTRY e {{ // p{end}  ROOT p = f32[2] parameter(0){end}}}{end}"
OTHER_SPACE = ["\0", "\f", "\v", "\u00a0"]

SHAPES = """
f32[2,3]{1,0}; f32[2,3] {0,1}; f32[2,3]{0,1:}; f32[2,3]{1,0:T(8,128)(2,1)}; f32[2,3]{1,0:T()}
f32[2,3]{1,0:T(*,128)}; f32[2,3]{1,0:L(1)}; f32[2,3]{1,0:L(2)}; f32[2,3]{1,0:#(u32)*(u64)}
f32[2,3]{1,0:E(4)S(3)}; f32[2,3]{1,0:E(0)S(0)M(0)}; f32[2,3]{1,0:SC(0:1,2)(1:3)}
f32[2,3]{1,0:S(1)SC(0:1)M(8)}; f32[2,3]{1,0:D(D,C)}; f32[2,3]{1,0:D(D+~,S)T(8)}
f32[2,3]{1,0:T(8,128)(2,1)L(4)#(u32)*(u64)E(4)S(3)SC(0:1,2)(1:3)M(8)}; f32[]; f32[]{:T(256)}
f32[0]; f32[2,0,3]; f32[<=3]; f32[<=3,2]{0,1}; f32[?]; f32[?,<=3]{0,1:T(2)}; f32[<= 3]; f32[007]
f32[ 2 , 3 ] { 1 , 0 : T ( 8 , 128 ) }; f32[2]/* c */{ /* c */ 0:T/* c */(2)}; token[]; opaque[]
pred[2]; s1[2]; s2[2]; s4[2]{0:E(4)}; u4[2]; s8[2]; u64[2]; f16[2]; bf16[2]; c64[2]; c128[2]
f8e5m2[2]; f8e4m3[2]; f8e4m3fn[2]; f8e4m3b11fnuz[2]; f8e3m4[2]; f8e5m2fnuz[2]; f8e4m3fnuz[2]
f8e8m0fnu[2]; f4e2m1fn[2]; f6e2m3fn[2]; f6e3m2fn[2]; (); (f32[2])
(f32[2]{0:T(2)}, (s32[], token[])); b(f32[2]); b (f32[2])
(s8[], s8[], s8[], s8[], /*index=4*/s8[], (s8[], s8[], s8[], s8[], s8[], s8[]))
b(f32[2,3]{0,1:S(1)}); (b(f32[2]), b(s32[]))
"""
WRONG_SHAPES = """
f32[2,3]{}; f32[2,3]{0}; f32[2,3]{:}; f32[2,3]{1,0:T(-2)}; f32[2,3]{1,0:*(u64)#(u32)}; f32[-1]
f32[2,3]{1,0:S(3)E(4)}; f32[2,3]{1,0:SC()}; f32[2,3]{1,0:P(f32[2])}; f32[2,3]{1,0:D(X,Y)}
f32[2,3]{1,0:T(8,128)T(2,1)}; f32[2,3]{1,0:X(1)}; f32[2,3]{1,0:T(8,128),S(1)}; f32[]{}; f32[]{0}
f32[<=?]; f32[?3]; f32[< =3]; f32[2,]; f32[,2]; f32[2 3]; f32[2][3]; f32; F32[2]; tuple[2]; token[2]
f32[99999999999999999999]; f32[2x3]; token; opaque[2]; s3[2]; f80[2]; f8e4m3fnn[2]; (f32[2],)
(f32[2] s32[]); b((f32[2])); b(token[]); b(b(f32[2])); b(); b(f32[2], f32[2]); B(f32[2])
"""


class Case(NamedTuple):
    """A text, its name, and the row of the page about differences that it stands for."""

    name: str
    text: str
    row: str = ""


def cases(name: str) -> Iterator[Case]:
    """Yields the texts of a file; a line in front of each has name and row."""
    content = (FOLDER / f"{name}.hlo").read_text(encoding="utf-8")
    starts = list(DOCUMENT.finditer(content))
    ends = [start.start() for start in starts[1:]] + [len(content)]
    for start, end in zip(starts, ends, strict=True):
        yield Case(start["name"], content[start.end() : end], start["row"] or "")


def shapes(listed: str) -> Iterator[Case]:
    for shape in re.split(r"[;\n]\s*", listed.strip()):
        yield Case(shape, PARAMETER.format(shape))


def alike() -> Iterator[Case]:
    yield from cases("alike")
    yield from shapes(SHAPES)
    for end in ("\r\n", "\r"):
        yield Case(f"line end {end!r}", LINE_ENDS.format(end=end))
    for path in sorted((ROOT / "testdata" / "syntax").glob("*.hlo")):
        if path.stem != "async_sugar":  # It shows the explicit form that only hlotool prints.
            yield Case(path.name, path.read_bytes().decode())


def rejected() -> Iterator[Case]:
    yield from cases("rejected")
    yield from shapes(WRONG_SHAPES)
    for space in OTHER_SPACE:
        yield Case(
            f"space {space!r}", f"HloModule m{space} ENTRY e {{ ROOT p = f32[] constant(1) }}"
        )


def answers(found: list[Case], folder: Path) -> Iterator[tuple[Case, Answer]]:
    paths = [folder / f"{number}.hlo" for number in range(len(found))]
    for path, case in zip(paths, found, strict=True):
        path.write_bytes(case.text.encode())
    asked = ask(paths)
    for path, case in zip(paths, found, strict=True):
        yield case, asked[path]


def own_prints(case: Case) -> dict[str, str] | None:
    try:
        module = parse(case.text, case.name)
        return {name: print_module(module, options) for name, options in PRESETS.items()}
    except ParseError:
        return None


def rows() -> set[str]:
    """Returns the first cells of the tables of the page that are about texts."""
    about_texts, _, _ = DIFFERENCES.read_text(encoding="utf-8").partition("\n## Values\n")
    lines = about_texts.splitlines()
    found = (line for line in lines if line.startswith("| ") and not line.startswith("| What"))
    return {line.removesuffix(" |").split(" | ")[0].removeprefix("| ") for line in found}


def test_both_print_these_alike(tmp_path: Path) -> None:
    for case, answer in answers(list(alike()), tmp_path):
        assert answer.prints is not None, f"{case.name}: {answer.error}"
        assert own_prints(case) == answer.prints, case.name


def test_neither_reads_these(tmp_path: Path) -> None:
    for case, answer in answers(list(rejected()), tmp_path):
        assert answer.prints is None, case.name
        assert own_prints(case) is None, case.name


@pytest.mark.parametrize(
    ("name", "is_read_here", "is_read_there"),
    [("read_here", True, False), ("read_there", False, True), ("printed_otherwise", True, True)],
)
def test_differences_are_those_of_the_page(
    name: str, tmp_path: Path, *, is_read_here: bool, is_read_there: bool
) -> None:
    found = list(cases(name))
    assert found
    for case, answer in answers(found, tmp_path):
        assert case.row in rows(), f"{case.name}: {DIFFERENCES.name} has no row {case.row}"
        ours = own_prints(case)
        assert (ours is not None, answer.prints is not None) == (is_read_here, is_read_there), (
            case.name
        )
        assert ours != answer.prints, f"{case.name}: no difference any more"


def test_every_row_of_the_page_has_a_text() -> None:
    shown = {case.row for name in ("read_here", "read_there", "printed_otherwise", "aborts")
             for case in cases(name)}  # fmt: skip
    assert rows() - shown == ALIKE_ON_PURPOSE


def test_the_reference_aborts_for_these(tmp_path: Path) -> None:
    for case, answer in answers(list(cases("aborts")), tmp_path):
        assert case.row in rows(), case.name
        assert answer.error == ABORTED, case.name
        assert own_prints(case) is None, case.name
