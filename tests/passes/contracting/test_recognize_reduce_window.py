import pytest
from hypothesis import given
from hypothesis import strategies as st

from hlotool.passes.contracting.recognize_reduce_window import RecognizeReduceWindow
from tests.passes.checking import opcodes, passed
from tests.passes.contracting.products import few


def sums(starts: list[int], *, stride: int = 1, length: int = 3, op: str = "add") -> str:
    size = max(starts) + stride * length
    ends = [first + stride * (length - 1) + 1 for first in starts]
    lines = [
        f"  c{n} = s32[2,{length}] slice(x), slice={{[0:2:1], [{first}:{end}:{stride}]}}"
        for n, (first, end) in enumerate(zip(starts, ends, strict=True))
    ]
    lines.append(f"  t1 = s32[2,{length}] {op}(c0, c1)")
    lines += [f"  t{n} = s32[2,{length}] {op}(c{n}, t{n - 1})" for n in range(2, len(starts))]
    lines[-1] = lines[-1].replace("  t", "  ROOT t")
    body = "\n".join(lines)
    return f"HloModule m\nENTRY e {{\n  x = s32[2,{size}] parameter(0)\n{body}\n}}\n"


@few
@given(
    starts=st.permutations(range(4)),
    step=st.integers(1, 3),
    first=st.integers(0, 2),
    stride=st.integers(1, 3),
    length=st.integers(1, 4),
    op=st.sampled_from(["add", "multiply", "maximum", "minimum"]),
)
def test_even_steps_are_a_window(
    starts: list[int], step: int, first: int, stride: int, length: int, op: str
) -> None:
    text = sums([first + step * n for n in starts], stride=stride, length=length, op=op)
    module = passed(text, RecognizeReduceWindow(), exact=True)
    assert opcodes(module)[-2:] == ["constant", "reduce-window"]


@pytest.mark.parametrize(
    "text",
    [
        sums([0, 1]),
        sums([0, 1, 3]),
        sums([0, 1, 1]),
        sums([0, 0, 0]),
        sums([0, 1, 2]).replace("slice(x), slice={[0:2:1], [1:", "slice(y), slice={[0:2:1], [1:")
        .replace("\nENTRY e {", "\nENTRY e {\n  y = s32[2,5] parameter(1)"),
        sums([0, 1, 2]).replace("ROOT t2", "t2").replace(
            "\n}\n", "\n  ROOT r = (s32[2,3], s32[2,3]) tuple(t1, t2)\n}\n"
        ),
    ],
    ids=["two", "uneven", "twice", "same", "two-arrays", "part-used"],
)  # fmt: skip
def test_these_stay(text: str) -> None:
    assert "reduce-window" not in opcodes(passed(text, RecognizeReduceWindow()))


def test_two_slices_are_enough_where_the_option_says_so() -> None:
    module = passed(sums([0, 1]), RecognizeReduceWindow(least_slices=2))
    assert "reduce-window" in opcodes(module)
