"""The coefficients are those that their program prints."""

import subprocess
import sys
from pathlib import Path

import mpmath
import pytest

from hlotool.codegen.math import coefficients
from tests.codegen.math.fits import FITS, Fit, horner, nodes

ROOT = Path(__file__).parents[3]
BITS = {"INVERSE_CUBE_ROOT": -14, "LOG_BASE_TWO": -35, "POWER_OF_TWO": -34, "INVERSE_ROOT": -29}
"""How near those are that are made better afterwards, or need not be."""


@pytest.mark.parametrize("fit", FITS, ids=lambda fit: fit.name)
def test_polynomials_are_near_their_functions(fit: Fit) -> None:
    stored = getattr(coefficients, fit.name)
    assert stored.keys() == fit.count.keys()
    for lane, numbers in stored.items():
        assert len(numbers) == fit.count[lane]
        exact = [mpmath.mpf(number) for number in numbers]
        points = nodes(fit.begin[lane], fit.end[lane], 9)
        error = max(abs(fit.weight(p) * (horner(exact, p) - fit.function(p))) for p in points)
        assert error < mpmath.mpf(2) ** BITS.get(fit.name, -22 if lane == "float" else -51)


@pytest.mark.slow
def test_the_file_is_what_the_program_prints(tmp_path: Path) -> None:
    printed = subprocess.run(
        [sys.executable, "tests/codegen/math/fits.py"],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    path = tmp_path / "coefficients.py"
    path.write_text(printed.stdout, encoding="utf-8")
    subprocess.run([sys.executable, "-m", "ruff", "format", "--no-cache", path], check=True)
    assert path.read_text(encoding="utf-8") == Path(coefficients.__file__).read_text(
        encoding="utf-8"
    )
