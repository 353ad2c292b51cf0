"""Pipelines: what passes run in which order, and the texts that say it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer
from lark.exceptions import UnexpectedInput, VisitError

from hlotool.errors import HloError, Location, Source, UsageError
from hlotool.passes.pass_base import Pass, made
from hlotool.passes.registry import pass_named
from hlotool.text.grammar import PIPELINE_GRAMMAR, grammar_folder

MOST_ITERATIONS = 25
"""How often a fixed point is tried, as in the reference."""
DEEPEST = 50
"""How deep pipelines and fixed points may be nested."""
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
"""What needs no quotes as the name of a pipeline."""
_LIMIT = re.compile(r"[1-9][0-9]{0,3}")


@dataclass(frozen=True)
class Fix:
    """Items that run again and again until none of them changes the module."""

    items: tuple[Item, ...]
    limit: int = MOST_ITERATIONS

    @property
    def text(self) -> str:
        """The fixed point as pipelines spell it."""
        options = "" if self.limit == MOST_ITERATIONS else f"{{limit={self.limit}}}"
        return f"fix{options}({_joined(self.items)})"


@dataclass(frozen=True)
class Pipeline:
    """Items with a name, which flags and dumps know them by."""

    name: str
    items: tuple[Item, ...]

    @property
    def text(self) -> str:
        """The pipeline as the language spells it."""
        is_plain = self.name != "fix" and _PLAIN.fullmatch(self.name) is not None
        label = self.name if is_plain else f'"{self.name}"'
        return f"{label}({_joined(self.items)})"


Item = Pass | Fix | Pipeline


def _joined(items: tuple[Item, ...]) -> str:
    return ",".join(item.text for item in items)


def parse_pipeline(text: str, name: str, source: str = "--passes") -> Pipeline:
    """Returns the pipeline of a text, under a name; raises a located `UsageError`.

    A text is a list of passes, `name{option=value}`, of fixed points, `fix(...)`, and of
    pipelines with a name, `name(...)`, between commas. `#` begins a comment.
    """
    place = Source(text, source)
    _check_depth(text, place)
    try:
        tree = _grammar().parse(text)
        items = _Items(place).transform(tree)
    except UnexpectedInput as error:
        is_short = getattr(getattr(error, "token", None), "type", "") == "$END"
        offset = len(text) if is_short else getattr(error, "pos_in_stream", 0)
        is_open = is_short and text.count("(") > text.count(")")
        words = ") is missing" if is_open else "a pass, fix(...) or name(...) is wanted here"
        raise UsageError(
            words,
            Location(place, offset),
            ("a pipeline is a list as in algsimp{max-rounds=4},fix(cse,dce)",),
        ) from None
    except VisitError as error:
        if isinstance(error.orig_exc, HloError):
            raise error.orig_exc from None
        raise
    return Pipeline(name, items)


def _check_depth(text: str, place: Source) -> None:
    """Raises `UsageError` for what would be too deep for those that walk through it."""
    depth = 0
    for parenthesis in re.finditer("[()]", text):
        depth += 1 if parenthesis[0] == "(" else -1
        if depth > DEEPEST:
            raise UsageError(
                f"pipelines are nested more than {DEEPEST} deep",
                Location(place, parenthesis.start()),
            )


@cache
def _grammar() -> Lark:
    text = (grammar_folder() / PIPELINE_GRAMMAR).read_text(encoding="utf-8")
    return Lark(text, parser="lalr", maybe_placeholders=False)


class _Items(Transformer[Token, Any]):
    """Makes items of the grammar's tree; errors say where in the text they are."""

    def __init__(self, place: Source) -> None:
        super().__init__()
        self._place = place

    def start(self, children: list[Any]) -> tuple[Item, ...]:
        (items,) = children
        return items if isinstance(items, tuple) else (items,)

    def items(self, children: list[Any]) -> tuple[Item, ...]:
        return tuple(children)

    def option(self, children: list[Any]) -> tuple[str, str]:
        name, *value = children
        return str(name), value[0] if value else "true"

    def value(self, children: list[Token]) -> str:
        return _unquoted(children[0])

    def label(self, children: list[Token]) -> str:
        return _unquoted(children[0])

    def options(self, children: list[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
        return tuple(children)

    def fix(self, children: list[Any]) -> Fix:
        word, *options, items = children
        given = self._given(word, options)
        limit = given.pop("limit", str(MOST_ITERATIONS))
        if given or _LIMIT.fullmatch(limit) is None:
            raise self._error("fix has one option: limit, a number of 1 to 9999", word)
        return Fix(_several(items), int(limit))

    def pipeline(self, children: list[Any]) -> Pipeline:
        label, items = children
        return Pipeline(label, _several(items))

    def __default__(self, data: Any, children: list[Any], meta: Any) -> Any:
        # The rule is called `pass`, which no method can be.
        token, *options = children
        given = self._given(token, options)
        try:
            return made(pass_named(str(token)), given)
        except UsageError as error:
            raise self._error(error.message, token, error.notes) from None

    def _given(self, token: Token, options: list[tuple[tuple[str, str], ...]]) -> dict[str, str]:
        pairs = options[0] if options else ()
        given = dict(pairs)
        if len(given) < len(pairs):
            raise self._error(f"{token}: an option is given twice", token)
        return given

    def _error(self, message: str, token: Token, notes: Sequence[str] = ()) -> UsageError:
        return UsageError(message, Location(self._place, token.start_pos or 0), tuple(notes))


def _several(items: Any) -> tuple[Item, ...]:
    return items if isinstance(items, tuple) else (items,)


def _unquoted(token: Token) -> str:
    return str(token).removeprefix('"').removesuffix('"')


@dataclass(frozen=True)
class Selection:
    """Which passes and pipelines are left out of a run, by the reference's flags."""

    disabled: frozenset[str] = frozenset()
    only: frozenset[str] = frozenset()
    """Where it is not empty, all others are left out."""
    starting_from: str = ""
    """What stands before this one is left out."""
    is_all_disabled: bool = False

    def applied(self, pipeline: Pipeline) -> Pipeline:
        """Returns the pipeline without what is left out."""
        if self.is_all_disabled:
            return Pipeline(pipeline.name, ())
        kept = _filtered(pipeline, self._keeps)
        if self.starting_from:
            kept = _from(kept, self.starting_from)
        return kept

    def unknown(self, pipeline: Pipeline) -> list[str]:
        """Returns the names that neither a pass nor a pipeline of the run has."""
        known = set(names(pipeline))
        asked = self.disabled | self.only
        if self.starting_from:
            asked |= {self.starting_from}
        return sorted(asked - known)

    def _keeps(self, name: str, around: tuple[str, ...]) -> bool:
        if self.disabled & {name, *around}:
            return False
        return not self.only or bool(self.only & {name, *around})


def names(item: Item) -> Iterator[str]:
    """Yields the names of passes and pipelines in the order in which they run."""
    if not isinstance(item, Fix):
        yield item.name
    if not isinstance(item, Pass):
        for inner in item.items:
            yield from names(inner)


_Keeps = Callable[[str, tuple[str, ...]], bool]


def _filtered(pipeline: Pipeline, keeps: _Keeps, around: tuple[str, ...] = ()) -> Pipeline:
    within = (*around, pipeline.name)
    return replace(pipeline, items=_kept(pipeline.items, keeps, within))


def _kept(items: tuple[Item, ...], keeps: _Keeps, around: tuple[str, ...]) -> tuple[Item, ...]:
    found: list[Item] = []
    for item in items:
        if isinstance(item, Pass):
            if keeps(item.name, around):
                found.append(item)
        elif isinstance(item, Fix):
            inner = _kept(item.items, keeps, around)
            if inner:
                found.append(replace(item, items=inner))
        else:
            found.append(_filtered(item, keeps, around))
    return tuple(found)


def _from(pipeline: Pipeline, name: str) -> Pipeline:
    items, _ = _rest(pipeline.items, name)
    return pipeline if pipeline.name == name else replace(pipeline, items=items)


def _rest(items: tuple[Item, ...], name: str) -> tuple[tuple[Item, ...], bool]:
    """Returns the items from the first of a name on, and whether there was one."""
    for position, item in enumerate(items):
        behind = items[position + 1 :]
        if not isinstance(item, Fix) and item.name == name:
            return items[position:], True
        if not isinstance(item, Pass):
            inner, is_found = _rest(item.items, name)
            if is_found:
                return (replace(item, items=inner), *behind), True
    return (), False
