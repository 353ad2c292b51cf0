"""Options in the spelling of the reference's commands, as ours."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from hlotool.errors import UsageError

XLA_FLAG = re.compile(r"--(no)?(xla_\w+)(?:=(.*))?", re.DOTALL)
"""A flag of the reference's own: whether `no` comes first, the name, and the value."""

_TRUTHS = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}


def truth(option: str, text: str) -> bool:
    """Returns the value of an option that is on or off; raises `UsageError` for another text."""
    found = _TRUTHS.get(text.lower())
    if found is None:
        raise UsageError(f"--{option} is on or off: true or false wanted, {text!r} given")
    return found


@dataclass(frozen=True)
class Spellings:
    """How a command of the reference spells options; names are ours, with dashes."""

    switches: frozenset[str]
    """Options that are on or off, and may be given a value as in the reference."""
    on_by_default: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Options that have another name here."""
    refused: Mapping[str, str] = field(default_factory=dict)
    """Options that mean nothing here, with the reason."""
    taken_when_off: frozenset[str] = frozenset()
    """Refused options that say what holds here anyway where they are switched off."""

    values: Mapping[str, str] = field(default_factory=dict)
    """What options that are given without a value mean."""

    def translated(self, words: Sequence[str]) -> list[str]:
        """Returns the words of a command line in our spelling.

        `--print_literals=true` becomes `--print-literals`; an option that is switched off is
        left out, or becomes `--no-...` where it is on by default; `--xla_...` flags become
        values of `--xla-option`. Raises `UsageError` for options that mean nothing here.
        """
        made: list[str] = []
        for position, word in enumerate(words):
            if word == "--":
                return [*made, *words[position:]]
            made += self._translated(word) if word.startswith("--") else [word]
        return made

    def _translated(self, word: str) -> Iterator[str]:
        if XLA_FLAG.fullmatch(word):
            yield f"--xla-option={word}"
            return
        spelled, equals, value = word[2:].partition("=")
        name = spelled.replace("_", "-")
        name = self.renamed.get(name, name)
        if name in self.refused:
            if name in self.taken_when_off and equals and not truth(spelled, value):
                return
            raise UsageError(f"--{spelled} is not taken: {self.refused[name]}")
        if name in self.values and not equals:
            yield f"--{name}={self.values[name]}"
        elif name not in self.switches or not equals:
            yield f"--{name}{equals}{value}"
        elif truth(spelled, value):
            yield f"--{name}"
        elif name in self.on_by_default:
            yield f"--no-{name}"
