"""Formatting: comments and everything else that a file must not lose."""

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool import fingerprint, load, parse
from hlotool.cli import fmt
from hlotool.cli.comments import find_comments
from hlotool.cli.driver import main
from hlotool.errors import HloError

Formatter = Callable[..., str]


@pytest.fixture
def formatted(tmp_path: Path) -> Formatter:
    """Formats a text in a file and returns what it is then; it must be stable."""

    def format_text(text: str, *options: str) -> str:
        path = tmp_path / "m.hlo"
        path.write_bytes(text.encode())
        assert main(["fmt", *options, str(path)]) == 0
        made = path.read_bytes()
        assert main(["fmt", *options, str(path)]) == 0
        assert path.read_bytes() == made, "formatting twice is formatting once"
        return made.decode()

    return format_text


PLAIN = """\
HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}

%f (a: f32[2]) -> f32[2] {
  %a = f32[2]{0} parameter(0)
  ROOT %n = f32[2]{0} negate(%a)
}

ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  %x = f32[2]{0} exponential(%p)
  ROOT %c = f32[2]{0} call(%x), to_apply=%f
}
"""

COMMENTED = """\
// RUN: hlo-opt %s | filecheck %s
// CHECK: HloModule

// about the module
HloModule m, entry_computation_layout={(f32[2]{0})->f32[2]{0}}  // the header

// about f, which

// has two groups
%f (a: f32[2]) -> f32[2] {  // opens f
  // about a
  /* in two
     lines */
  %a = f32[2]{0} parameter(0)  // behind a
  ROOT %n = f32[2]{0} negate(%a)
  // before the end of f
}  // behind f

ENTRY %e (p: f32[2]) -> f32[2] {
  %p = f32[2]{0} parameter(0)
  // about x
  %x = f32[2]{0} exponential(%p)  /* behind x */
  ROOT %c = f32[2]{0} call(%x), to_apply=%f  // behind c
}

// the end
// of it all
"""


def test_formatted_text_stays(formatted: Formatter) -> None:
    assert formatted(PLAIN) == PLAIN
    assert formatted(COMMENTED) == COMMENTED


def test_loose_text_becomes_plain(formatted: Formatter) -> None:
    loose = """HloModule   m
    f { a = f32[2]    parameter(0)
        n = f32[2] negate(a) }
    ENTRY e { p=f32[2] parameter(0) ROOT c = f32[2] call(x), to_apply=f
      x = f32[2] exponential(p) }""".replace("p=", "p = ")
    ordered = loose.replace("ROOT c = f32[2] call(x), to_apply=f\n", "").replace(
        "exponential(p)", "exponential(p) ROOT c = f32[2] call(x), to_apply=f"
    )
    assert formatted(ordered) == PLAIN


def test_comments_in_the_midst_of_things_are_kept(formatted: Formatter) -> None:
    text = """HloModule m /* why m */, entry_computation_layout={(f32[2]{0})->f32[2]{0}}
ENTRY e {
  p = f32[2] /* two */ parameter(0)
  q = f32[2] add(p, // the first
     // between
     p) // the second
  ROOT r = (f32[2], f32[2], f32[2], f32[2], f32[2], /*index=5*/f32[2])
    tuple(q, q, q, q, q, /*index=5*/q)
  /* last */ }  /* one */ /* two */
"""
    made = formatted(text)
    for comment in ("/* why m */", "/* two */", "// the first", "// between", "// the second",
                    "/* last */", "/* one */"):  # fmt: skip
        assert made.count(comment) == text.count(comment)
    assert made.count("/*index=5*/") == 3, "the marks are the printer's own"
    assert "  // the first\n  // between\n  %q = f32[2]{0} add(%p, %p)  // the second\n" in made


def test_comments_move_with_their_instructions(formatted: Formatter) -> None:
    made = formatted("""HloModule m
ENTRY e {
  a = f32[] parameter(0)
  // about b
  b = f32[] parameter(1) // behind b
  // about n
  n = f32[] negate(a)
  ROOT s = f32[] subtract(b, n)
}
""")
    assert "  // about b\n  %b = f32[] parameter(1)  // behind b\n" in made
    assert "  // about n\n  %n = f32[] negate(%a)\n" in made
    assert made.index("%b = ") < made.index("%n = ")


@pytest.mark.parametrize(
    "text",
    [
        'ENTRY e { ROOT a = f32[] parameter(0), metadata={op_name="// no /* comment */"} }',
        'ENTRY e { ROOT a = f32[] parameter(0), metadata={op_name="\\"// no"} }',
        "ENTRY e { ROOT a = f32[] parameter(0), backend_config={u: //x\n} }",
        'ENTRY e { ROOT a = f32[] parameter(0), backend_config={"a":{"b":"}"} /* in */} }',
        'ENTRY e { ROOT a = f32[] parameter(0), frontend_attributes={b="}",a={x /* in */ {}}} }',
    ],
)
def test_what_only_looks_like_a_comment(text: str) -> None:
    assert list(find_comments(text)) == []
    parse(text)


def test_comments_are_found_with_their_places() -> None:
    text = "a // b\r\n\r\n/* c\n */ d '//' \"//\" // e"
    found = [(text[c.start : c.end], c.text, c.blank_after) for c in find_comments(text)]
    assert found == [
        ("// b", "// b", True),
        ("/* c\n */", "/* c\n */", False),
        ("// e",) * 2 + (False,),
    ]


def test_large_constants_and_metadata_are_kept(formatted: Formatter) -> None:
    numbers = ", ".join(map(str, range(20)))
    text = f'ENTRY e {{ ROOT c = s32[20] constant({{{numbers}}}), metadata={{op_name="x"}} }}'
    made = formatted(text)
    assert f"constant({{{numbers}}})" in made
    assert 'metadata={op_name="x"}' in made
    assert fingerprint(parse(made)) == fingerprint(parse(text))


def test_refuses_to_change_what_a_module_means(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "ENTRY e { a = f32[] parameter(0) ROOT n = f32[] negate(a), control-predecessors={a} }"
    path = tmp_path / "m.hlo"
    path.write_text(text, encoding="utf-8")
    # This style prints no control edges.
    assert main(["fmt", "--print-as=short-parsable", str(path)]) == 1
    assert "would change what the module means" in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == text


def test_ends_of_lines_stay(formatted: Formatter) -> None:
    made = formatted(COMMENTED.replace("\n", "\r\n"))
    assert made == COMMENTED.replace("\n", "\r\n")


def test_split_files_keep_their_separators(formatted: Formatter) -> None:
    text = f"// header\n// -----\n{COMMENTED}// -----\n\n{PLAIN}"
    made = formatted(text, "--split-input-file")
    assert made == f"// header\n\n// -----\n\n{COMMENTED}\n// -----\n\n{PLAIN}"


def test_only_what_changes_is_written_and_modes_stay(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.hlo", tmp_path / "bad.hlo"
    good.write_text(PLAIN, encoding="utf-8")
    bad.write_text(PLAIN.replace("  ", "\t"), encoding="utf-8")
    bad.chmod(0o750)
    os.utime(good, (1, 1))
    assert main(["fmt", str(tmp_path)]) == 0
    assert capsys.readouterr().err == f"formatted {bad}\n"
    assert bad.read_text(encoding="utf-8") == PLAIN
    assert bad.stat().st_mode & 0o777 == 0o750
    assert good.stat().st_mtime == 1


def test_check_lists_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good, bad = tmp_path / "good.hlo", tmp_path / "bad.hlo"
    good.write_text(PLAIN, encoding="utf-8")
    bad.write_text(PLAIN + "\n\n", encoding="utf-8")
    assert main(["fmt", "--check", str(good)]) == 0
    assert main(["fmt", "--check", str(tmp_path)]) == 1
    assert capsys.readouterr().out == f"{bad}\n"
    assert bad.read_text(encoding="utf-8") == PLAIN + "\n\n"


def test_diff_shows_and_changes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(PLAIN.replace("  %a", " %a"), encoding="utf-8")
    assert main(["fmt", "--diff", str(path)]) == 1
    shown = capsys.readouterr().out
    assert f"--- {path}\n+++ {path} (formatted)\n" in shown
    assert "\n- %a = f32[2]{0} parameter(0)\n+  %a = f32[2]{0} parameter(0)\n" in shown
    assert path.read_text(encoding="utf-8") != PLAIN


def test_standard_input_goes_to_standard_output(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(PLAIN.replace("  ", "\t")))
    assert main(["fmt", "-"]) == 0
    assert capsys.readouterr().out == PLAIN


def test_wrong_file_stays_and_others_are_formatted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, loose = tmp_path / "a.hlo", tmp_path / "b.hlo"
    wrong.write_text("HloModule m\nENTRY e {\n  nonsense\n}\n", encoding="utf-8")
    loose.write_text(PLAIN + "\n", encoding="utf-8")
    assert main(["fmt", str(wrong), str(loose)]) == 1
    assert f"{wrong}:" in capsys.readouterr().err
    assert "nonsense" in wrong.read_text(encoding="utf-8")
    assert loose.read_text(encoding="utf-8") == PLAIN


def test_real_modules_keep_what_they_mean(model_module: Path, formatted: Formatter) -> None:
    text = model_module.read_text(encoding="utf-8")
    remarked = (
        "// first\n" + text.replace("\n  ROOT", "  // behind\n  // before\n  ROOT") + "// last"
    )
    made = formatted(remarked)
    for comment in ("// first", "// behind", "// before", "// last"):
        assert made.count(comment) == remarked.count(comment)
    assert fingerprint(parse(made)) == fingerprint(load(model_module))


def test_failure_of_the_check_leaves_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(PLAIN + "\n", encoding="utf-8")

    def wrong(_: object, __: object) -> str:
        raise HloError("a printer that fails")

    monkeypatch.setattr(fmt, "print_module", wrong)
    assert main(["fmt", str(path)]) == 1
    assert capsys.readouterr().err == f"{path}: error: a printer that fails\n"
    assert path.read_text(encoding="utf-8") == PLAIN + "\n"
