"""The layout of the page under node, from the document to the picture: milliseconds.

Prints the first layout in a fresh process and the median of several. Asserted are wide margins:
a module four times as big takes no more than six times as long, and 18,000 instructions less
than three seconds.
"""

import json
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

import pytest

from hlotool.graph.page_data import page_data
from hlotool.text.parser import parse
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.bench,
    pytest.mark.skipif(shutil.which("node") is None, reason="there is no node"),
]

ROUNDS = 7
SCRIPT = ROOT / "tests" / "graph" / "run_layout.js"
ASSETS = ROOT / "hlotool" / "graph" / "assets"


def training_step(layers: int) -> str:
    """A flat training step: the backward pass takes the forward pass's values in reverse."""
    lines = ["HloModule step", "ENTRY main {", "  x.0 = f32[64,64] parameter(0)"]
    product = "lhs_contracting_dims={1}, rhs_contracting_dims={0}"

    def add(name: str, text: str) -> None:
        lines.append(f"  {name} = f32[64,64] {text}")

    for n in range(layers):
        add(f"w.{n}", f"parameter({n + 1})")
        add(f"h.{n}", f"dot(x.{n}, w.{n}), {product}")
        add(f"t.{n}", f"tanh(h.{n})")
        add(f"u.{n}", f"add(t.{n}, h.{n})")
        add(f"m.{n}", f"multiply(u.{n}, h.{n})")
        add(f"s.{n}", f"sine(m.{n})")
        add(f"x.{n + 1}", f"add(s.{n}, x.{n})")
    before = f"x.{layers}"
    for n in reversed(range(layers)):
        add(f"a.{n}", f"multiply({before}, u.{n})")
        add(f"b.{n}", f"multiply(a.{n}, t.{n})")
        add(f"c.{n}", f"negate(b.{n})")
        add(f"d.{n}", f"add(c.{n}, a.{n})")
        add(f"g.{n}", f"dot(x.{n}, d.{n}), {product}")
        add(f"l.{n}", f"abs(g.{n})")
        add(f"v.{n}", f"subtract(w.{n}, l.{n})")
        add(f"e.{n}", f"dot(d.{n}, w.{n}), {product}")
        before = f"e.{n}"
    results = ", ".join(f"v.{n}" for n in range(layers))
    shapes = ", ".join(["f32[64,64]"] * layers)
    return "\n".join([*lines, f"  ROOT end = ({shapes}) tuple({results})", "}", ""])


NAME = re.compile(r"%([A-Za-z_][\w.-]*)")
PARAMETER = re.compile(r"  %(\S+) = (\S+) parameter\((\d+)\)")


def in_a_row(text: str, count: int) -> str:
    """A module `count` times, each one's first argument made of the result of the one before."""
    text = re.sub(r", (is_scheduled|entry_computation_layout)=.*", "", text, count=1)
    head, _, rest = text.partition("\n")
    inner, _, entry = rest.partition("ENTRY ")
    lines = entry.strip().splitlines()[1:-1]
    parts, rows, before = [head], [], ("", "")
    for number in range(count):
        parts.append(NAME.sub(rf"%\1.copy{number}", inner))
        for line in lines:
            copied = NAME.sub(rf"%\1.copy{number}", line)
            found = PARAMETER.match(copied)
            if number and found:
                rows += fed(found, number, before)
                continue
            rows.append(copied.replace("ROOT ", ""))
        name, shape = rows[-1].split()[0], rows[-1].split()[2]
        before = (name, shape)
    last = rows.pop().replace("  %", "  ROOT %", 1)
    return "\n".join([*parts, "ENTRY %entry {", *rows, last, "}", ""])


def fed(parameter: re.Match[str], number: int, before: tuple[str, str]) -> list[str]:
    """What takes the place of a parameter from the second copy on."""
    name, shape, index = parameter.groups()
    if index != "0":
        return [f"  %{name} = {shape} iota(), iota_dimension=0"]
    result, result_shape = before
    unit = re.sub(r"\d+(?=[],])", "1", result_shape)
    bounds = ", ".join(["[0:1]"] * (unit.partition("{")[0].count(",") + 1))
    return [
        f"  %one.{number} = {unit} slice({result}), slice={{{bounds}}}",
        f"  %scalar.{number} = f32[] reshape(%one.{number})",
        f"  %{name} = {shape} broadcast(%scalar.{number}), dimensions={{}}",
    ]


def layout_times(folder: Path, text: str) -> tuple[int, list[float]]:
    """The instructions of a module, and milliseconds of layouts, the first one cold."""
    module = parse(text)
    file = folder / "module.json"
    file.write_text(json.dumps(page_data(module)))
    command = ["node", str(SCRIPT), str(ASSETS), "times", str(file), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=300)
    times: list[float] = json.loads(done.stdout)
    return sum(1 for _ in module.instructions()), times


def write(name: str, count: int, times: list[float]) -> None:
    sys.stdout.write(
        f"\n{name}: {count:,} instructions, {times[0]:.0f} ms cold, "
        f"{statistics.median(times):.0f} ms\n"
    )


def test_layout_grows_with_the_module(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    small = layout_times(tmp_path, training_step(313))
    big = layout_times(tmp_path, training_step(1250))
    with capsys.disabled():
        write("training step", *small)
        write("training step", *big)
    assert statistics.median(big[1]) < 6 * statistics.median(small[1])
    assert big[1][0] < 3000


@pytest.mark.parametrize("copies", [1, 8])
def test_layout_of_inception(
    corpus: Path, tmp_path: Path, copies: int, capsys: pytest.CaptureFixture[str]
) -> None:
    path = corpus / "tf" / "keras_inceptionv3.opt.hlo"
    if not path.is_file():
        pytest.skip("the corpus has no tf/keras_inceptionv3.opt.hlo")
    found = layout_times(tmp_path, in_a_row(path.read_text(), copies))
    with capsys.disabled():
        write(f"inception, {copies} in a row", *found)
    assert found[1][0] < 3000
