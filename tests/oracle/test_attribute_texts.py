"""Texts of attributes that the tests of values have: both print them alike."""

from __future__ import annotations

from difflib import unified_diff
from itertools import chain
from pathlib import Path
from random import Random

import pytest

from hlotool.ir.sharding import SUBGROUP_ORDER, tiled
from hlotool.ir.tile_assignment import Iota, TileAssignment
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.ir import test_header, test_mesh, test_metadata, test_sharding
from tests.oracle.reference import ask

pytestmark = pytest.mark.oracle

OURS_ALONE = {
    # Aborts the reference: it checks that a list of devices is no count.
    "sharding={mesh['a'=2,'b'=2], device_ids=(0,1,2,3), [{'a'}]}",
    # Read by the reference from its own text as `unreduced`, kept when it comes of two kinds.
    "sharding={devices=[1,2,1]<=[2] last_tile_dims={unreduced,replicated}}",
}
RANDOM_SHARDINGS = 300


def annotation_texts() -> list[str]:
    shardings = chain(
        test_sharding.UNCHANGED,
        (text for text, _ in test_sharding.NORMALISED),
        test_mesh.UNCHANGED,
        (text for text, _ in test_mesh.NORMALISED),
    )
    others = (*test_metadata.UNCHANGED, *(text for text, _ in test_metadata.NORMALISED))
    texts = [*(f"sharding={text}" for text in shardings), *others]
    return [text for text in texts if text not in OURS_ALONE]


def modules() -> list[str]:
    entry = "ENTRY e {{ p = f32[8] parameter(0), {} q = s32[2,3] parameter(1)"
    entry += " c = (f32[8], (f32[], f32[])) parameter(2) ROOT r = (f32[8], f32[8]) tuple(p, p) }}"
    annotated = [
        f"HloModule m\nENTRY e {{ ROOT p = f32[8] parameter(0), {text} }}"
        for text in annotation_texts()
    ]
    headers = [*test_header.UNCHANGED, *(text for text, _ in test_header.NORMALISED)]
    plain = entry.replace(", {}", "").format()
    return annotated + [f"HloModule m, {text}\n{plain}" for text in headers]


def random_sharding(random: Random) -> str:
    count = random.choice([4, 6, 8, 12, 16, 24])
    tiles = TileAssignment.of(_factors(random, count), _devices(random, count))
    kinds = random.choices(SUBGROUP_ORDER, k=random.randrange(len(tiles.dimensions)))
    if tiled(tiles, kinds).word == "unreduced":
        kinds = ["unreduced"] * len(kinds)  # See OURS_ALONE.
    return f"{{devices={tiles.text} last_tile_dims={{{','.join(kinds)}}}}}"


def _devices(random: Random, count: int) -> Iota | tuple[int, ...]:
    if random.randrange(3) == 0:
        return tuple(random.sample(range(count), count))
    sizes = _factors(random, count)
    return Iota.of(sizes, random.sample(range(len(sizes)), len(sizes)))


def _factors(random: Random, count: int) -> list[int]:
    sizes = [1] * random.randrange(3)
    while count > 1:
        sizes.append(random.choice([d for d in range(2, count + 1) if count % d == 0]))
        count //= sizes[-1]
    return random.sample(sizes, len(sizes))


def differences(texts: list[str], folder: Path) -> list[str]:
    """Returns what both make of each text that they print in different ways."""
    paths = [folder / f"{number}.hlo" for number in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text, encoding="utf-8")
    answers = ask(paths)
    found = []
    for path, text in zip(paths, texts, strict=True):
        answer = answers[path]
        theirs = answer.error if answer.prints is None else answer.prints["default"]
        ours = print_module(parse(text))
        if ours != theirs:
            found.append(
                f"{text}\n"
                + "\n".join(unified_diff(theirs.splitlines(), ours.splitlines(), lineterm=""))
            )
    return found


def test_both_print_the_texts_of_the_tests_alike(tmp_path: Path) -> None:
    found = differences(modules(), tmp_path)
    assert not found, "\n\n".join(found)


def test_both_have_the_same_normal_form_of_tiles(tmp_path: Path) -> None:
    random = Random(20)  # noqa: S311  # nothing here is secret
    lines = "\n".join(
        f"p{number} = f32[] parameter({number}), sharding={random_sharding(random)}"
        for number in range(RANDOM_SHARDINGS)
    )
    found = differences([f"HloModule m\nENTRY e {{\n{lines}\n}}"], tmp_path)
    assert not found, "\n\n".join(found)
