"""The base of passes, and the options that they have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from hlotool.errors import UsageError
from hlotool.ir.module import Module
from hlotool.rewriting.journal import Journal

_NUMBER = re.compile(r"[0-9]{1,18}")

OptionValue = bool | int | float | str


@dataclass(frozen=True)
class Pass(ABC):
    """A change of a module that keeps what it yields; the fields are its options.

    The first line of a class's docstring is its description in lists.
    """

    name: ClassVar[str]
    """The reference's spelling, letter for letter; passes of our own use hyphens."""
    is_exact: ClassVar[bool] = False
    """Whether results stay the same bit for bit, because operations only move or disappear."""

    @abstractmethod
    def run(self, module: Module, journal: Journal) -> bool:
        """Changes a module and returns whether it did.

        A second run on what the first one left changes nothing. The module is in order again
        afterwards: `Module.settle`.
        """

    @property
    def text(self) -> str:
        """The pass as pipelines spell it, with the options that are not default."""
        given = [
            f"{option.name}={option.written(value)}"
            for option in options_of(type(self))
            if (value := getattr(self, option.field_name)) != option.default
        ]
        return f"{self.name}{{{','.join(given)}}}" if given else self.name


@dataclass(frozen=True)
class Option:
    """An option of a pass: a truth value, a number, or a word."""

    field_name: str
    default: OptionValue
    words: str

    @property
    def name(self) -> str:
        """The name in pipelines: `max-rounds` for the field `max_rounds`, `from` for `from_`."""
        return self.field_name.removesuffix("_").replace("_", "-")

    def written(self, value: object) -> str:
        """Returns a value as pipelines spell it."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def read(self, text: str) -> OptionValue:
        """Returns the value of a text; raises `ValueError` for one of another type."""
        if isinstance(self.default, bool):
            if text.lower() not in {"true", "false"}:
                raise ValueError(f"true or false expected, {text} given")
            return text.lower() == "true"
        if isinstance(self.default, str):
            return text
        if isinstance(self.default, int):
            if _NUMBER.fullmatch(text) is None:
                raise ValueError(f"a number of 0 or more expected, {text[:40]} given")
            return int(text)
        return float(text)


def option(default: OptionValue, words: str) -> Any:
    """Declares an option of a pass with its default and what it means."""
    return field(default=default, metadata={"words": words})


def options_of(pass_class: type[Pass]) -> Iterator[Option]:
    """Yields the options of a pass in the order of their declaration."""
    for one in fields(pass_class):
        default: Any = one.default
        yield Option(one.name, default, one.metadata["words"])


def made(pass_class: type[Pass], given: dict[str, str]) -> Pass:
    """Returns a pass with options as texts by their names; raises `UsageError`."""
    known = {one.name: one for one in options_of(pass_class)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            listed = ", ".join(known) or "none"
            raise UsageError(f"{pass_class.name} has no option {name}; it has: {listed}")
        try:
            values[known[name].field_name] = known[name].read(text)
        except ValueError as error:
            raise UsageError(f"{pass_class.name}: option {name}: {error}") from None
    return pass_class(**values)
