"""Who may import whom, what a start loads, and the linters: their findings are failures here."""

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"google.protobuf", "lark", "llvmlite", "ml_dtypes", "numpy", "rich", "scipy"}


def run(root: Path, *command: str) -> None:
    """Runs a tool over the checkout; what it prints is the message of a failure."""
    ended = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, timeout=300
    )
    assert ended.returncode == 0, f"\n{ended.stdout}{ended.stderr}"


def test_imports_go_only_downwards(root: Path) -> None:
    run(root, str(Path(sys.executable).with_name("lint-imports")), "--no-cache")


def test_the_ways_up_are_few(root: Path) -> None:
    ways = [
        line.partition("Upward(")[2].rstrip(")")
        for path in sorted(root.glob("hlotool/**/*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if " = Upward(" in line
    ]
    assert ways == ['"hlotool.evaluation.api"', '"hlotool.graph.notebook"']


def test_ruff_finds_nothing(root: Path) -> None:
    run(root, sys.executable, "-m", "ruff", "check", "--no-cache", "--output-format=concise")


def test_ruff_would_format_nothing(root: Path) -> None:
    run(root, sys.executable, "-m", "ruff", "format", "--no-cache", "--check")


@pytest.mark.slow
def test_mypy_finds_nothing(root: Path) -> None:
    run(root, sys.executable, "-m", "mypy")


@pytest.mark.parametrize(
    "start",
    ["import hlotool", "from hlotool.cli.driver import main; assert main(['--version']) == 0"],
    ids=["package", "command"],
)
def test_start_loads_nothing_heavy(start: str, root: Path) -> None:
    code = f"import sys\n{start}\nprint('loaded', *sorted(sys.modules), sep='\\n')"
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    loaded = ended.stdout.partition("loaded\n")[2].split()
    assert "hlotool" in loaded
    assert HEAVY.isdisjoint(loaded), sorted(HEAVY & set(loaded))
