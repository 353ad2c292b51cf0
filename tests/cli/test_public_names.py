"""The names of the package: all there, and loaded only when they are asked for."""

import subprocess
import sys
from pathlib import Path

import pytest

import hlotool


def test_every_public_name_is_there() -> None:
    for name in hlotool.__all__:
        assert getattr(hlotool, name) is not None
    assert set(hlotool.__all__) <= set(dir(hlotool))


def test_unknown_names_are_no_attributes() -> None:
    with pytest.raises(AttributeError, match="module hlotool has no attribute nonsense"):
        hlotool.nonsense  # noqa: B018  # asking is the point


def test_importing_the_package_loads_little(root: Path) -> None:
    code = "import sys, hlotool; print(*{name.partition('.')[0] for name in sys.modules})"
    command = [sys.executable, "-c", code]
    shown = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True).stdout
    assert "hlotool" in shown.split()
    assert not {"lark", "numpy", "ml_dtypes", "google", "rich", "argparse"} & set(shown.split())


def test_public_functions_work_together() -> None:
    module = hlotool.parse("ENTRY e { a = f32[2] parameter(0) ROOT b = f32[2] negate(a) }")
    assert isinstance(module, hlotool.Module)
    assert hlotool.verify(module) == []
    again = hlotool.parse(hlotool.print_module(module))
    assert hlotool.fingerprint(again) == hlotool.fingerprint(module)


def test_a_pipeline_runs_in_place() -> None:
    text = "ENTRY e { a = f32[2] parameter(0) b = f32[2] negate(a) ROOT c = f32[2] negate(b) }"
    module = hlotool.parse(text)
    records = hlotool.run_pipeline(module, "algsimp,dce")
    assert [(record.name, record.changed) for record in records] == [
        ("algsimp", True),
        ("dce", False),
    ]
    assert module.entry.root.opcode == "parameter"
    assert not any(record.changed for record in hlotool.run_pipeline(module, "cpu"))
    with pytest.raises(hlotool.HloError, match="unknown pass"):
        hlotool.run_pipeline(module, "nonsense")
