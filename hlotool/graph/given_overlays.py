"""Overlays that a person brings: JSON of numbers or words by the names of instructions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import isfinite
from typing import Any, NoReturn

from hlotool.errors import Location, Source, UsageError
from hlotool.graph.overlays import Datum
from hlotool.ir.module import Module

_FORM = 'a file holds {"instruction": 1.5, ...}, or overlays by name: {"time": {...}, ...}'


def read_overlays(text: str, file: str, name: str) -> dict[str, dict[str, Datum]]:
    """Returns the overlays of a JSON text by their names.

    One that has no name of its own gets `name`. Instructions may be spelled with `%`. Raises
    `UsageError` for what is no such JSON; `file` is what messages call it.
    """
    found = _parsed(text, file)
    if not isinstance(found, dict) or not found:
        raise UsageError(f"{file} holds no overlay", notes=(_FORM,))
    if not all(isinstance(value, dict) for value in found.values()):
        return {name: _data(found, file)}
    for one, data in found.items():
        if not one or not data:
            raise UsageError(f"{file}: overlay {json.dumps(one)} is empty", notes=(_FORM,))
    return {one: _data(data, file) for one, data in found.items()}


def unknown_names(given: Mapping[str, Mapping[str, Datum]], module: Module) -> list[str]:
    """Returns the names in overlays that no instruction of a module has."""
    known = {instruction.name for instruction in module.instructions()}
    return sorted({name for data in given.values() for name in data} - known)


def _parsed(text: str, file: str) -> object:
    try:
        return json.loads(text, parse_constant=_refuse, object_pairs_hook=_unrepeated)
    except json.JSONDecodeError as error:
        location = Location(Source(text, file), error.pos)
        raise UsageError(f"no JSON: {error.msg.lower()}", location, (_FORM,)) from None
    except RecursionError:
        raise UsageError(f"{file}: values nested too deep", notes=(_FORM,)) from None
    except _UnwantedError as error:
        raise UsageError(f"{file}: {error}", notes=(_FORM,)) from None
    except ValueError:
        raise UsageError(f"{file}: a number with thousands of digits", notes=(_FORM,)) from None


class _UnwantedError(Exception):
    """JSON that says what an overlay has no use for."""


def _refuse(word: str) -> NoReturn:
    raise _UnwantedError(f"{word} is no number to show")


def _unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for name, value in pairs:
        if name in made:
            raise _UnwantedError(f"{json.dumps(name)} is there twice")
        made[name] = value
    return made


def _is_number(value: object) -> bool:
    try:
        return isinstance(value, int | float) and isfinite(value)
    except OverflowError:
        return False


def _data(found: Mapping[str, Any], file: str) -> dict[str, Datum]:
    made: dict[str, Datum] = {}
    for name, value in found.items():
        if not _is_number(value) and not isinstance(value, str) and value is not None:
            shown = json.dumps(value)[:40]
            raise UsageError(f"{file}: {name} has {shown}, no number and no word", notes=(_FORM,))
        made[name.removeprefix("%")] = int(value) if isinstance(value, bool) else value
    return made
