"""Dumped decisions of fusion passes: the frames of the reference's pages, and our own lines."""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.errors import ParseError
from hlotool.graph.html import unpacked

_FRAMES = re.compile(r"\bframes\s*=\s*(?=\[)")
_OWN_PAGE = re.compile(
    r"<script type=\"application/octet-stream;base64\" id=\"data\">([A-Za-z0-9+/=]*)</script>"
)
_NAMES = re.compile(r"\|([^|]+)\|")
_PASS = re.compile(r"\binside (\w+)")
_REASON = re.compile(r"\b(?:as|due to:) (.+)$", re.DOTALL)
_LINE = re.compile(r"(?P<pass>[^:\s]+): (?P<names>.*): (?P<verdict>fused|not fused), (?P<why>.*)")


@dataclass(frozen=True, slots=True)
class FusionDecision:
    """Whether a producer was fused into a consumer, and why, as far as the dump says."""

    pass_name: str
    producer: str
    consumer: str
    """As it was called when that was decided."""
    is_fused: bool
    reason: str


def fusion_decisions(text: str, name: str = "<string>") -> list[FusionDecision]:
    """Returns the decisions in a `_fusion.html`, ours or not, or `_fusion.txt`, in their order.

    Raises `ParseError` for a page without frames.
    """
    if not text.lstrip().startswith("<"):
        return list(_of_lines(text))
    own = _OWN_PAGE.search(text)
    if own is not None:
        return list(_of_own_page(own[1], name))
    labels = _labels(text)
    if labels is None:
        raise ParseError(f"{name} is no page of fusion decisions: it has no list of frames")
    return list(_of_labels(labels))


def _labels(text: str) -> list[str] | None:
    """Returns what the frames of a page are called, `None` where it has no list of them."""
    match = _FRAMES.search(text)
    if match is None:
        return None
    try:
        frames, _ = json.JSONDecoder().raw_decode(text, match.end())
        return [str(frame[1]) for frame in frames]
    except (ValueError, LookupError, TypeError, RecursionError):
        return None


def _of_labels(labels: list[str]) -> Iterator[FusionDecision]:
    """Yields a decision for each label; what is about to be done and then done counts once."""
    announced: dict[str, str] = {}
    pass_name = ""
    for label in labels:
        names = _NAMES.findall(label)
        if len(names) < 2:
            continue
        producer, consumer = names[:2]
        found = _PASS.search(label)
        pass_name = found[1] if found is not None else pass_name
        if label.startswith("About to"):
            announced[producer] = consumer
            continue
        is_fused = not label.startswith("Not ")
        why = _REASON.search(label) if not is_fused else None
        if is_fused:
            # The label afterwards has the name of the fusion that came of it.
            consumer = announced.pop(producer, consumer)
        yield FusionDecision(pass_name, producer, consumer, is_fused, why[1] if why else "")


def _of_own_page(data: str, name: str) -> Iterator[FusionDecision]:
    try:
        document = unpacked(data)
        strings, passes = document["strings"], document["passes"]
        for one in document["decisions"]:
            number = one["pass"]
            yield FusionDecision(
                _string(strings, passes[number]["name"]) if number >= 0 else "",
                _string(strings, one["producer"]),
                _string(strings, one["consumer"]),
                one["kind"] == "fused",
                _string(strings, one["reason"]),
            )
    except (ValueError, LookupError, TypeError, RecursionError, zlib.error) as error:
        raise ParseError(f"{name} is a page whose data cannot be read: {error}") from None


def _string(strings: list[str], number: int) -> str:
    """Returns a string by its number, none for a negative one; raises `TypeError` for others."""
    found = strings[number] if number >= 0 else ""
    if not isinstance(found, str):
        raise TypeError("what should be a string is none")
    return found


def _of_lines(text: str) -> Iterator[FusionDecision]:
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        producer, _, consumer = match["names"].partition(" into ")
        is_fused = match["verdict"] == "fused"
        yield FusionDecision(match["pass"], producer, consumer, is_fused, match["why"])
