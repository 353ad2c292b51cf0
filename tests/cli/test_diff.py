import json
from pathlib import Path

import pytest

from hlotool.cli.driver import main

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


def test_two_files_are_wanted(files: dict[str, str]) -> None:
    assert main(["diff", files["old"]]) == 2
    assert main(["diff", files["old"], files["new"] + ".none"]) == 2
