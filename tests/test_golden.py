"""Every golden file of testdata, and the runner itself."""

from pathlib import Path

import pytest

from tests.golden import ROOT, TESTDATA, GoldenError, golden_files, run_file, run_lines

WITHOUT_RUN_LINES = ("models", "bench")


@pytest.mark.parametrize("path", golden_files(), ids=lambda p: str(p.relative_to(TESTDATA)))
def test_golden(path: Path, tmp_path: Path) -> None:
    run_file(path, tmp_path)


def test_every_file_of_testdata_is_run() -> None:
    silent = [
        str(path.relative_to(ROOT))
        for path in sorted(TESTDATA.rglob("*.hlo"))
        if path.relative_to(TESTDATA).parts[0] not in WITHOUT_RUN_LINES and not run_lines(path)
    ]
    assert not silent, f"files without a RUN line: {silent}"


def written(folder: Path, text: str) -> Path:
    path = folder / "case.hlo"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: cat %s | filecheck %s\n// CHECK: found\nfound\n",
        "// RUN: cat %s | FileCheck %s --check-prefix=OTHER\n// OTHER: found\nfound\n",
        "// RUN: cat %s | not filecheck %s\n// CHECK: lo{{s}}t\nfound\n",
        "// RUN: cat %s > %t && diff %s %t\n",
        "// RUN: cat %s > %t \\\n// RUN:   && cat < %t | not filecheck %s\n// CHECK: x{{y}}\n",
        "// RUN: filecheck %s < %s\n// CHECK: {{^}}found\nfound\n",
        "// RUN: not hlotool nonsense 2>&1 | filecheck %s\n// CHECK: nonsense\n",
        "// RUN: not hlotool nonsense 2> %t && filecheck %s < %t\n// CHECK: nonsense\n",
    ],
    ids=["pipe", "prefix", "not", "and", "continued", "input", "errors-joined", "errors-kept"],
)
def test_runner_accepts(text: str, tmp_path: Path) -> None:
    run_file(written(tmp_path, text), tmp_path)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("// RUN: cat %s | filecheck %s\n// CHECK: lo{{s}}t\nfound\n", "+found"),
        ("// RUN: cat %s | not filecheck %s\n// CHECK: found\nfound\n", "status 1"),
        ("// RUN: cat %s > %t && diff %t %S/other\n", "-// RUN"),
        ("// RUN: not not not cat %s\n", "status 1"),
        ("// RUN: absent %s\n", "no program absent; known are FileCheck, cat,"),
        ("// RUN: cat %s | | cat\n", "a command is missing"),
        ("// RUN: not cat %s.missing\n", "FileNotFoundError"),
        ("// RUN: cat %s 3>&2\n", "redirection"),
        ("found\n", "no RUN line"),
    ],
    ids=["check", "not", "diff", "nots", "program", "empty", "raises", "redirect", "no-line"],
)
def test_runner_refuses(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "other").write_text("other\n", encoding="utf-8")
    path = written(tmp_path, text)
    with pytest.raises(GoldenError) as caught:
        run_file(path, tmp_path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)
