"""What the parser expected and what it found, in the words of the language."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from lark.exceptions import UnexpectedInput, UnexpectedToken
from lark.parsers.lalr_analysis import Shift

from hlotool.ir.attribute import near_names
from hlotool.text.forms_attribute import FormError

WORDS = {
    "NAME": "a name", "PERCENT_NAME": "a name", "NAME_COLON": "a name",
    "ATTRNAME": "an attribute (name=value)", "OPCODE": "an opcode",
    "PAYLOAD_OPCODE": "an opcode", "INSTRUCTION": "an instruction", "ROOT": "ROOT",
    "COMPUTATION": "a computation", "ENTRY": "ENTRY", "HLO_MODULE": "HloModule",
    "INT": "an integer", "NUMBER": "a number", "TRUE": "true", "FALSE": "false",
    "STRING": "a string", "SINGLE_STRING": "a string", "DICTIONARY": "a dictionary in braces",
    "VALUE": "a value", "PAYLOAD": "'('", "INTEGERS": "integers in braces (as {0,1})",
    "ARRAY": "a shape", "TYPE": "a shape", "BUFFER": "a shape", "LAYOUT_OPEN": "a layout",
    "LEVELS": "a part of a layout (as T(8,128))", "TILES": "a part of a layout (as T(8,128))",
    "LAYOUT_NUMBER": "a part of a layout (as T(8,128))",
    "LAYOUT_TYPE": "a part of a layout (as T(8,128))", "SPLITS": "a part of a layout (as T(8,128))",
    "PHYSICAL": "a part of a layout (as T(8,128))",
    "SIZES": "sizes (as 3x3)", "PADS": "paddings (as 0_1x2_2)",
    "LABELS": "dimension labels (as b01f_01io->b01f)", "SPARSITY": "sparsity (as L.1@2:4)",
    "SHARDING_WORD": "a word (as replicated or manual)",
    "SUBGROUP": "a word (replicated, maximal, manual, unreduced)",
    "SHARD_GROUP": "shard_as, shard_like",
    "DEVICE": "device=", "DEVICES": "devices=", "DEVICE_ID": "device_id=",
    "DEVICE_IDS": "device_ids=", "LAST_TILE_DIMS": "last_tile_dims=", "METADATA": "metadata=",
    "AXES_OF": "replicated=, unreduced=, manual=", "MAXIMAL_MESH": "maximal_mesh", "MESH": "mesh",
    "KIND_ATTR": "kind=", "ENTRY_ATTR": "entry=", "EXIT_ATTR": "exit=",
    "FILE_NAMES": "FileNames", "FUNCTION_NAMES": "FunctionNames",
    "FILE_LOCATIONS": "FileLocations", "STACK_FRAMES": "StackFrames",
    "TABLE_PARTS": "parts in braces (as {line=1})",
    "COMMA": "','", "LPAR": "'('", "RPAR": "')'", "LBRACE": "'{'", "RBRACE": "'}'",
    "LSQB": "'['", "RSQB": "']'", "EQUAL": "'='", "COLON": "':'", "STAR": "'*'", "OPEN": "'?'",
    "AT_MOST": "'<='", "ARROW": "'->'", "$END": "the end of the text",
}  # fmt: skip
"""What each terminal of the grammar is."""

_SHAPE = {"ARRAY", "TYPE", "BUFFER", "LPAR"}
_NAME = {"NAME", "PERCENT_NAME"}
GROUPS: tuple[tuple[set[str], str], ...] = (
    ({*_SHAPE, *_NAME, "OPCODE", "ROOT"}, "an instruction"),
    ({*_SHAPE, *_NAME, "OPCODE"}, "an operand"),
    ({*_SHAPE, "OPCODE"}, "a shape or an opcode"),
    (_SHAPE, "a shape"),
    ({"INTEGERS", "LBRACE"}, "integers in braces (as {0,1})"),
    ({"ROOT", *_NAME}, "an instruction"),
    ({"ENTRY", *_NAME}, "a computation"),
    ({"SHARDING_WORD", "DEVICE", "DEVICES"}, "a sharding (as replicated or devices=[2]0,1)"),
    ({"INT", "AT_MOST", "OPEN"}, "a size"),
)
"""Terminals that together begin one thing; the first that are all expected name it."""
_COVERED = {
    "an operand": {"PAYLOAD_OPCODE"},
    "a shape or an opcode": {"PAYLOAD_OPCODE"},
    "an instruction": {"INSTRUCTION", "PAYLOAD_OPCODE"},
    "a computation": {"COMPUTATION"},
    "a sharding (as replicated or devices=[2]0,1)": {
        "LAST_TILE_DIMS", "SHARD_GROUP", "METADATA", "MESH", "MAXIMAL_MESH", "LBRACE",
    },
}  # fmt: skip
CHOICES = {
    "SHARDING_WORD": ("replicated", "maximal", "manual", "unknown", "unreduced"),
    "SUBGROUP": ("replicated", "maximal", "manual", "unreduced"),
    "TRUE": ("true",), "FALSE": ("false",),
    "FUNCTION_NAMES": ("FunctionNames",), "FILE_LOCATIONS": ("FileLocations",),
    "STACK_FRAMES": ("StackFrames",), "HLO_MODULE": ("HloModule",),
}  # fmt: skip
"""The words that a terminal stands for, to find the one that was meant."""
MOST = 6
"""How many things a message lists."""
LONGEST = 40
"""How many characters of what was found a message shows."""

_WORD = re.compile(r"[\w.%]+(?:-[\w.]+)*|->|\.\.\.|.", re.DOTALL)
_CLOSING = {")": "RPAR", "}": "RBRACE", "]": "RSQB"}
_CALLED = re.compile(r"[a-z][a-z0-9_-]*+\s*+")


class UnexpectedError(FormError):
    """Text that the grammar does not take; `found` is what stands there, ready for a message."""

    def __init__(self, message: str, offset: int, found: str) -> None:
        super().__init__(message, offset)
        self.found = found


def unexpected(error: UnexpectedInput, text: str, last: int, end: int) -> FormError:
    """Returns the fault that lark found in the part of a text that goes to `end`.

    `last` is the end of the last token that the parser took.
    """
    expected = acceptable(error.state)
    closing = _CLOSING.get(text[end : end + 1])
    if closing is not None and "$END" in expected:
        expected = expected - {"$END"} | {closing}
    if isinstance(error, UnexpectedToken) and error.token.type == "$END":
        return _unexpected_end(expected, text, last, end)
    offset: Any = error.pos_in_stream
    if isinstance(error, UnexpectedToken):
        offset = _behind_space(text, error.token.start_pos or 0)
    if text.startswith("/*", offset):
        return FormError("nothing ends this comment", offset)
    if text[offset] in "\"'" and expected & {"STRING", "SINGLE_STRING"}:
        return FormError("nothing ends this string", offset)
    return _unexpected_word(expected, text, offset)


def _unexpected_word(expected: set[str], text: str, offset: int) -> FormError:
    word = found_word(text, offset)
    called = _CALLED.match(text, offset)
    if "OPCODE" in expected and "NAME" not in expected and called is not None:
        # A word that no parenthesis follows is no opcode to the lexer.
        found = shown(found_word(text, called.end()))
        return UnexpectedError(
            f"'(' expected behind {word[:LONGEST]}, found {found}", called.end(), found
        )
    near = near_names(word, [choice for name in sorted(expected) for choice in choices(name)])
    found = shown(word)
    return UnexpectedError(f"{describe(expected)} expected, found {found}{near}", offset, found)


def _unexpected_end(expected: set[str], text: str, last: int, end: int) -> FormError:
    if text[end : end + 1] in _CLOSING:
        offset, found = end, repr(text[end])
    else:
        offset, found = last, "the end of the text" if end == len(text) else "the end of the value"
    return UnexpectedError(f"{describe(expected)} expected, found {found}", offset, found)


def acceptable(state: Any) -> set[str]:
    """Returns the terminals that the parser can take in a state.

    The table alone lists more: those that lead to reductions after which nothing takes them.
    """
    listed = state.parse_conf.states[state.position]
    return {name for name in listed if _is_terminal(name) and _takes(state, name)}


def _is_terminal(name: str) -> bool:
    return name.isupper() or name == "$END"


def _takes(state: Any, terminal: str) -> bool:
    states = state.parse_conf.states
    stack = list(state.state_stack)
    while terminal in states[stack[-1]]:
        action, rule = states[stack[-1]][terminal]
        if action is Shift:
            return True
        if rule.expansion:
            del stack[-len(rule.expansion) :]
        stack.append(states[stack[-1]][rule.origin.name][1])
        if terminal == "$END" and stack[-1] == state.parse_conf.end_state:
            return True
    return False


def choices(terminal: str) -> tuple[str, ...]:
    """Returns the words that a terminal stands for, none where it stands for many."""
    return CHOICES.get(terminal, ())


def found_word(text: str, offset: int) -> str:
    """Returns the word, number or character that stands at `offset`; empty at the end."""
    match = _WORD.match(text, offset)
    return "" if match is None else match[0]


def shown(word: str) -> str:
    """Returns what was found as a message shows it: in quotes, cut where it is long."""
    if not word:
        return "the end of the text"
    return repr(word if len(word) <= LONGEST else f"{word[:LONGEST]}..")


def _behind_space(text: str, offset: int) -> int:
    # A coarse token begins with the space in front of it.
    while offset < len(text) and text[offset] in " \t\r\n":
        offset += 1
    return offset


def describe(terminals: Collection[str]) -> str:
    """Returns terminals in words: `',' or ')'`, the same ones in the same order each time."""
    left = set(terminals)
    words = []
    for group, word in GROUPS:
        if group <= left:
            left -= group | _COVERED.get(word, set())
            words.append(word)
    words += sorted({WORDS[name] for name in left}, key=lambda word: (word[0] == "'", word))
    if len(words) > MOST:
        words = [*words[:MOST], "…"]
    if len(words) < 2:
        return words[0] if words else "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"
