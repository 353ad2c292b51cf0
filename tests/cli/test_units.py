"""Numbers with units as the terminal shows them."""

import pytest

from hlotool.cli.tables import GLUE, drawn
from hlotool.cli.units import byte_text, count_text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"), (1023, "1023 B"), (1024, "1 KiB"), (33024, "32.3 KiB"), (1237319, "1.18 MiB"),
        (200 * 1024 + 7, "200 KiB"), (3 * 1024**4, "3 TiB"),
    ],
)  # fmt: skip
def test_bytes(count: int, text: str) -> None:
    assert byte_text(count) == text


@pytest.mark.parametrize(
    ("count", "text"), [(82_000, "82 kflop"), (4, "4 flop"), (1_234_567_890, "1.23 Gflop")]
)
def test_counts(count: int, text: str) -> None:
    assert count_text(count, "flop") == text


def test_a_number_stays_with_its_unit() -> None:
    from rich.text import Text

    assert drawn(Text(f"aaaa 82{GLUE}kflop"), columns=10, colour=False) == "aaaa\n82 kflop\n"
