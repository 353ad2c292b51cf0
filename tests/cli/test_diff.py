import json
import re
from pathlib import Path
from typing import Any

import pytest

from hlotool.cli.driver import main
from hlotool.graph.html import unpacked
from tests.graph.page_documents import own_entries

OLD = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT r = f32[2] negate(x)\n}\n"
SAME = OLD.replace("x", "input").replace("r =", "result =")
NEW = OLD.replace("negate(x)", "abs(x)")


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    made = {}
    for name, text in (("old", OLD), ("same", SAME), ("new", NEW)):
        path = tmp_path / f"{name}.hlo"
        path.write_text(text)
        made[name] = str(path)
    return made


def test_same_graphs(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", files["old"], files["same"]]) == 0
    assert capsys.readouterr().out.endswith("are the same graph\n")


def test_differences_are_lines(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", files["old"], files["new"]]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0].endswith("differ: 1 removed, 1 added, 0 changed")
    assert shown[2:] == [
        "ENTRY computation e",
        "  - ROOT %r = f32[2]{0} negate(%x)",
        "  + ROOT %r = f32[2]{0} abs(%x)",
    ]


def test_json(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "--json", files["old"], files["new"]]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["equal"] is False
    (computation,) = found["computations"]
    assert computation["removed"][0]["line"] == 4
    assert main(["diff", "--json", files["old"], files["same"]]) == 0
    assert json.loads(capsys.readouterr().out)["equal"] is True


def test_quiet_prints_nothing(files: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "-q", files["old"], files["new"]]) == 1
    assert capsys.readouterr().out == ""


def test_a_page(files: dict[str, str], capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "out.html"
    assert main(["diff", "--html", "-o", str(out), files["old"], files["new"]]) == 1
    assert "1 removed, 1 added" in capsys.readouterr().out
    document = page_document(out.read_text())
    assert document["difference"]["titles"] == ["old.hlo", "new.hlo"]
    assert document["difference"]["counts"] == [1, 1, 0]
    assert own_entries(document, 0)["title"] == "m"
    assert main(["diff", "--html", "-q", "-o", str(out), files["old"], files["same"]]) == 0
    assert capsys.readouterr().out == ""
    assert page_document(out.read_text())["difference"]["equal"] == 1


def test_a_page_on_standard_output(
    files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", "--html", "-o", "-", files["old"], files["new"]]) == 1
    shown = capsys.readouterr().out
    assert shown.startswith("<!doctype html>")
    assert shown.rstrip().endswith("</html>")


def test_the_page_has_a_name_of_its_own(
    files: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["diff", "--html", "--json", files["old"], files["new"]]) == 1
    assert page_document((tmp_path / "diff.html").read_text())["difference"]


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["-o", "x.html"], "add --html"),
        (["--html", "--json", "-o", "-"], "name a file with -o"),
        (["--html", "-o", "nowhere/x.html"], "cannot write"),
    ],
)
def test_pages_that_cannot_be(
    flags: list[str], message: str, files: dict[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", *flags, files["old"], files["new"]]) == 2
    assert message in capsys.readouterr().err


def page_document(text: str) -> dict[str, Any]:
    found = re.search(r'id="data">\s*([A-Za-z0-9+/=]+)\s*<', text)
    assert found is not None
    return unpacked(found[1])


def test_two_files_are_wanted(files: dict[str, str]) -> None:
    assert main(["diff", files["old"]]) == 2
    assert main(["diff", files["old"], files["new"] + ".none"]) == 2
