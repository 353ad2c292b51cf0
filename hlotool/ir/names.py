"""Which names there may be, and unique ones, by the rules that the reference has for them."""

from __future__ import annotations

import re

from hlotool.ir.element_type import ELEMENT_TYPES

TYPE_WORDS = frozenset([*ELEMENT_TYPES, "token", "opaque"])
"""The words that begin a shape and so cannot be names."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_SUFFIX = re.compile(r"(.+)\.(0*[0-9]{1,19})", re.DOTALL)
_LARGEST = (1 << 63) - 1
"""What is larger is no number, but a part of the root."""


def check_name(name: str) -> None:
    """Raises `ValueError` for a name that a text cannot have, or that the reference changes."""
    if _NAME.fullmatch(name) is None:
        raise ValueError(f'illegal name "{name}"')
    if name in TYPE_WORDS:
        raise ValueError(f"{name} is an element type and cannot be a name")
    if name.startswith("__") and not name.startswith("__xla_"):
        raise ValueError(f"illegal name {name}: names do not begin with __")


class NameUniquer:
    """Gives names that were not given before.

    A name is a root and a number: `x.3` has root `x`, and `x` alone counts as number 0. A taken
    number is replaced by the smallest free one.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._cursors: dict[str, int] = {}

    def unique(self, name: str) -> str:
        """Returns `name`, or where it is taken the same root with another number."""
        taken = self._taken
        # Only `.0` and numbers with leading zeros have a second spelling.
        if name not in taken and ".0" not in name:
            taken.add(name)
            return name
        return self._renumbered(name)

    def _renumbered(self, name: str) -> str:
        root, suffix = _split(name)
        number = suffix or 0
        key = self._key(root, number)
        if key in self._taken:
            number = self._cursors.get(root, 0)
            while (key := self._key(root, number)) in self._taken:
                number += 1
            self._cursors[root] = number + 1
        self._taken.add(key)
        return root if number == 0 and suffix is None else f"{root}.{number}"

    def _key(self, root: str, number: int) -> str:
        # The root `x.2` alone would be the key of number 2 of the root `x`.
        is_plain = number == 0 and _split(root)[1] is None
        return root if is_plain else f"{root}.{number}"


def _split(name: str) -> tuple[str, int | None]:
    match = _SUFFIX.fullmatch(name)
    number = None if match is None else int(match[2].lstrip("0") or "0")
    if match is None or number is None or number > _LARGEST:
        return name, None
    return match[1], number
