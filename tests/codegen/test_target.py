"""What processors have, as kernels see it."""

import pytest

from hlotool.codegen.target import Target


@pytest.mark.parametrize(
    ("triple", "features", "wanted"),
    [
        ("x86_64-unknown-linux-gnu", "+avx2,+f16c,+fma", {"half"}),
        ("x86_64-unknown-linux-gnu", "+avx2,-f16c", set()),
        ("aarch64-unknown-linux-gnu", "", {"half", "maximum"}),
        ("nvptx64-nvidia-cuda", "+ptx80", {"half", "maximum"}),
        ("riscv64-unknown-linux-gnu", "+v", set()),
    ],
)
def test_native_operations(triple: str, features: str, wanted: set[str]) -> None:
    assert Target(triple, "", features, 32).native == wanted


@pytest.mark.parametrize(("bits", "lanes"), [(32, 8), (64, 4), (4, 32), (512, 1)])
def test_lanes_fill_a_register(bits: int, lanes: int) -> None:
    assert Target("x86_64-unknown-linux-gnu", "", "", 32).lanes(bits) == lanes
