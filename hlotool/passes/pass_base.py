"""The base of passes, and the options that they have."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
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

    def __post_init__(self) -> None:
        """Raises `UsageError` for options that mean nothing."""
        for known in options_of(type(self)):
            try:
                known.check(getattr(self, known.field_name))
            except ValueError as error:
                raise UsageError(f"{self.name}: option {known.name}: {error}") from None

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
    choices: tuple[str, ...] = ()
    """The words that may be given, where not any may."""
    least: int = 0
    """The smallest number that may be given."""

    @property
    def name(self) -> str:
        """The name in pipelines: `max-rounds` for the field `max_rounds`, `from` for `from_`."""
        return self.field_name.removesuffix("_").replace("_", "-")

    @property
    def explained(self) -> str:
        """What the option means, with the words that it takes."""
        return f"{self.words}: {' or '.join(self.choices)}" if self.choices else self.words

    def written(self, value: object) -> str:
        """Returns a value as pipelines spell it."""
        return str(value).lower() if isinstance(value, bool) else str(value)

    def read(self, text: str) -> OptionValue:
        """Returns the value of a text; raises `ValueError` for one of another type."""
        if isinstance(self.default, bool):
            if text.lower() not in {"true", "false"}:
                raise ValueError(f"true or false expected, {text} given")
            return text.lower() == "true"
        if isinstance(self.default, int):
            if _NUMBER.fullmatch(text) is None:
                raise ValueError(f"a number of {self.least} or more expected, {text[:40]} given")
            return int(text)
        return text if isinstance(self.default, str) else float(text)

    def check(self, value: OptionValue) -> None:
        """Raises `ValueError` for a value of the right type that means nothing."""
        if self.choices and value not in self.choices:
            raise ValueError(f"{' or '.join(self.choices)} expected, {str(value)[:40]} given")
        if isinstance(value, int) and value < self.least:
            raise ValueError(f"a number of {self.least} or more expected, {value} given")


def option(
    default: OptionValue, words: str, *, choices: tuple[str, ...] = (), least: int = 0
) -> Any:
    """Declares an option of a pass with its default and what it means."""
    metadata = {"words": words, "choices": choices, "least": least}
    return field(default=default, metadata=metadata)


def options_of(pass_class: type[Pass]) -> Iterator[Option]:
    """Yields the options of a pass in the order of their declaration; other fields are none."""
    for one in fields(pass_class):
        if one.metadata:
            default: Any = one.default
            yield Option(one.name, default, **one.metadata)


def made(pass_class: type[Pass], given: dict[str, str]) -> Pass:
    """Returns a pass with options as texts by their names; raises `UsageError`."""
    known = {one.name: one for one in options_of(pass_class)}
    values: dict[str, Any] = {}
    for name, text in given.items():
        if name not in known:
            hint = near_names(name, list(known)) or f"; it has: {', '.join(known) or 'none'}"
            raise UsageError(f"{pass_class.name} has no option {name}{hint}")
        try:
            values[known[name].field_name] = known[name].read(text)
        except ValueError as error:
            raise UsageError(f"{pass_class.name}: option {name}: {error}") from None
    return pass_class(**values)
