import json
from pathlib import Path

import pytest

from hlotool.cli.driver import main

TEXT = """HloModule m
ENTRY e {
  x = f32[1000] parameter(0)
  y = f32[1000] add(x, x)
  ROOT z = f32[1000] tanh(y)
}
"""


@pytest.mark.parametrize("columns", [40, 140])
def test_figures_as_a_table(
    columns: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    path = tmp_path / f"{'long_' * 20}m.hlo"
    path.write_text(TEXT)
    assert main(["stats", str(path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["kernels", "2"] in lines
    assert ["bytes", "accessed", "20,000"] in lines
    assert ["fusion", "rate", "0.0%"] in lines
    assert ["tanh", "1"] in lines


def test_figures_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(TEXT)
    assert main(["stats", "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["module"] == "m"
    assert (found["flops"], found["transcendentals"]) == (1000, 1000)
    assert (found["bytes_read"], found["bytes_written"]) == (12_000, 8_000)
    assert found["opcodes"] == {"add": 1, "parameter": 1, "tanh": 1}


def test_a_wrong_file_keeps_no_other_from_its_turn(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.hlo").write_text("HloModule")
    (tmp_path / "good.hlo").write_text(TEXT)
    assert main(["stats", "--json", str(tmp_path / "bad.hlo"), str(tmp_path / "good.hlo")]) == 1
    assert json.loads(capsys.readouterr().out)["kernels"] == 2


def test_a_few_modules_stand_side_by_side(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{number}.hlo" for number in range(5)]
    for path in paths:
        path.write_text(TEXT.replace("add(x, x)", "negate(x)") if path is paths[1] else TEXT)
    assert main(["stats", str(paths[0]), str(paths[1])]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["kernels", "2", "2"] in lines
    assert ["negate", "0", "1"] in lines
    assert main(["stats", *map(str, paths)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines.count(["kernels", "2"]) == 5


def test_depth_and_largest_constants(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.hlo"
    path.write_text(
        "HloModule m\nENTRY e {\n  one = f32[] constant(1)\n  c = f32[2] constant({1, 2})\n"
        "  d = f32[2,3] constant({{1, 2, 3}, {4, 5, 6}})\n  x = f32[2] add(c, c)\n"
        "  y = f32[2] tanh(x)\n"
        "  ROOT t = (f32[2], f32[2,3], f32[]) tuple(y, d, one)\n}\n"
    )
    assert main(["stats", "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["deepest_chain"], found["constant_bytes"]) == (2, 36)
    assert found["largest_constants"] == [
        {"name": "d", "shape": "f32[2,3]{1,0}", "bytes": 24},
        {"name": "c", "shape": "f32[2]{0}", "bytes": 8},
    ]
    assert main(["stats", str(path)]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["deepest", "chain", "2"] in lines
    assert ["d", "24", "f32[2,3]{1,0}"] in lines


HEAVY = """HloModule m
ENTRY e {
  x = f32[8,8] parameter(0)
  d = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0},
    metadata={op_name="mlp" source_file="/src/model.py" source_line=12}
  ROOT y = f32[8,8] tanh(d)
}
"""


def test_the_heaviest_instructions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    path = tmp_path / "m.hlo"
    path.write_text(HEAVY)
    assert main(["stats", "--json", str(path)]) == 0
    found = json.loads(capsys.readouterr().out)
    # Two for each of 512 pairs, and 64 functions.
    assert (found["flops"], found["flops_and_transcendentals"]) == (1024, 1088)
    assert found["heaviest_by_flops_and_transcendentals"] == [
        {
            "name": "d", "title": "dot", "flops_and_transcendentals": 1024,
            "share": 0.9412,
            "shape": "f32[8,8]", "source": "model.py:12",
        },
        {
            "name": "y", "title": "tanh", "flops_and_transcendentals": 64,
            "share": 0.0588,
            "shape": "f32[8,8]", "source": "",
        },
    ]  # fmt: skip
    assert [
        (one["name"], one["bytes_accessed"]) for one in found["heaviest_by_bytes_accessed"]
    ] == [
        ("d", 768), ("y", 512),
    ]  # fmt: skip
    assert main(["stats", str(path)]) == 0
    out = capsys.readouterr().out
    lines = [line.split() for line in out.splitlines()]
    assert ["1.02", "kflop", "94.1%", "d", "dot", "f32[8,8]", "model.py:12"] in lines
    assert ["768", "B", "60.0%", "d", "dot", "f32[8,8]", "model.py:12"] in lines


def test_no_kernel_is_heaviest_where_there_is_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.hlo"
    path.write_text("HloModule m\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n")
    assert main(["stats", str(path)]) == 0
    assert "heaviest instructions" not in capsys.readouterr().out
