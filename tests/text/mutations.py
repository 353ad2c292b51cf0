"""Makes wrong modules out of right ones, the same ones for the same seed."""

import re
from collections.abc import Callable, Sequence
from random import Random

Mutation = Callable[[str, Random], str]

PIECE = re.compile(r"[\w.]+(?:-[\w.]+)*|\s+|.", re.DOTALL)
NUMBER = re.compile(r"-?\d+")
SHAPE = re.compile(r"\w+\[[\d,]*\](?:\{[\d,]*\})?")
NAME = re.compile(r"(?<=[ %(])[a-z][\w.-]*\.\d+\b")
OPCODE = re.compile(r"(?<= )[a-z][a-z-]+(?=\()")
VALUE = re.compile(r"(?<==)(?:\{[^{}]*\}|\w+)")
ATTRIBUTE = re.compile(r", [a-z_-]+=")
LONGEST = 12_000
"""Longer texts are cut to a part of this size first, or most of the time goes to parsing."""

SCRAPS = (
    "{", "}", "(", ")", "[", "]", ",", "=", ":", "->", "%", "ROOT", "ENTRY", "HloModule", '"', "'",
    "/*", "*/", "//", "\\", "...", "{...}", "inf", "-nan(0x1)", "1e999", "<=", "?", "*", "-", "x",
    "f32[]", "f32[2,3]{1,0}", "(f32[], s32[2])", "token[]", "b(f32[2])", "f32[2]{0:T(8,128)S(1)}",
    ', metadata={op_name="a"}', ", sharding={replicated}", ", sharding={devices=[2]<=[2]}",
    ", control-predecessors={a}", ", to_apply={ ROOT x = f32[] parameter(0) }",
    ', frontend_attributes={a="b"}', ', backend_config={"a": {}}', "add(f32[] x, f32[] x)",
    "\n", "\r", "\t", "\u2028", "\x0b", "\x00", "\ud800", "é", "漢", "\U0001f600", "\x7f",
)  # fmt: skip
NUMBERS = (
    "0", "-1", "1", "2147483648", "-9223372036854775808", "9223372036854775807",
    "18446744073709551615", "18446744073709551616", "9" * 50, "1" + "0" * 5000, "007", "1_0",
)  # fmt: skip
FLIPS = str.maketrans('{}()[],="', "}{)(][=,'")


def place(text: str, random: Random) -> int:
    """Returns an offset in a text."""
    return random.randrange(len(text) + 1)


def span(text: str, random: Random, longest: int) -> tuple[int, int]:
    """Returns a start and an end in a text."""
    start = place(text, random)
    return start, min(len(text), start + random.randint(1, longest))


def piece(text: str, random: Random) -> tuple[int, int]:
    """Returns where some word, space or character of a text stands."""
    found = PIECE.match(text, place(text, random))
    return (0, 0) if found is None else found.span()


def delete_piece(text: str, random: Random) -> str:
    """Takes a word or character out."""
    start, end = piece(text, random)
    return text[:start] + text[end:]


def double_piece(text: str, random: Random) -> str:
    """Writes a word or character twice."""
    start, end = piece(text, random)
    return text[:end] + text[start:]


def swap_pieces(text: str, random: Random) -> str:
    """Puts two words or characters in each other's place."""
    (a, b), (c, d) = sorted((piece(text, random), piece(text, random)))
    if b > c:
        return text
    return text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]


def copy_piece(text: str, random: Random) -> str:
    """Puts a word of the text over another one."""
    (a, b), (c, d) = piece(text, random), piece(text, random)
    return text[:a] + text[c:d] + text[b:]


def insert_scrap(text: str, random: Random) -> str:
    """Puts a piece of the language, or of none, somewhere."""
    at = place(text, random)
    return text[:at] + random.choice(SCRAPS) + text[at:]


def replace_scrap(text: str, random: Random) -> str:
    """Puts a piece of the language, or of none, in the place of a word."""
    start, end = piece(text, random)
    return text[:start] + random.choice(SCRAPS) + text[end:]


def change_character(text: str, random: Random) -> str:
    """Makes one character another."""
    at = place(text, random)
    return text[:at] + chr(random.choice((random.randrange(128), random.randrange(0x3000)))) + (
        text[at + 1 :]
    )  # fmt: skip


def delete_span(text: str, random: Random) -> str:
    """Takes some characters out."""
    start, end = span(text, random, 200)
    return text[:start] + text[end:]


def flip_bracket(text: str, random: Random) -> str:
    """Makes a bracket or mark another one."""
    start, end = span(text, random, 20)
    return text[:start] + text[start:end].translate(FLIPS) + text[end:]


def change_number(text: str, random: Random) -> str:
    """Makes a number another, often a large one."""
    found = NUMBER.search(text, place(text, random))
    if found is None:
        return text
    return text[: found.start()] + random.choice(NUMBERS) + text[found.end() :]


def delete_attribute(text: str, random: Random) -> str:
    """Takes the name of an attribute out, or all from it to the end of the line."""
    found = ATTRIBUTE.search(text, place(text, random))
    if found is None:
        return text
    end = found.end() if random.random() < 0.3 else text.find("\n", found.end())
    return text[: found.start()] + text[max(end, found.end()) :]


def move_attribute(text: str, random: Random) -> str:
    """Gives an instruction the attributes of another one."""
    one, other = (ATTRIBUTE.search(text, place(text, random)) for _ in "ab")
    if one is None or other is None:
        return text
    end = text.find("\n", one.start())
    return text[: other.start()] + text[one.start() : max(end, one.end())] + text[other.start() :]


def exchange(text: str, random: Random, pattern: re.Pattern[str]) -> str:
    """Puts one match of a pattern in the place of another."""
    one, other = (pattern.search(text, place(text, random)) for _ in "ab")
    if one is None or other is None:
        return text
    return text[: one.start()] + other[0] + text[one.end() :]


def exchange_shape(text: str, random: Random) -> str:
    """Gives something the shape of something else."""
    return exchange(text, random, SHAPE)


def exchange_name(text: str, random: Random) -> str:
    """Uses or defines one name in the place of another."""
    return exchange(text, random, NAME)


def exchange_opcode(text: str, random: Random) -> str:
    """Gives an instruction the opcode of another one."""
    return exchange(text, random, OPCODE)


def exchange_number(text: str, random: Random) -> str:
    """Makes a number another one of the text."""
    return exchange(text, random, NUMBER)


def exchange_value(text: str, random: Random) -> str:
    """Gives an attribute the value of another one."""
    return exchange(text, random, VALUE)


def truncate(text: str, random: Random) -> str:
    """Ends a text early."""
    return text[: place(text, random)]


def shuffle_lines(text: str, random: Random) -> str:
    """Deletes, doubles or moves a line."""
    lines = text.split("\n")
    line = lines.pop(random.randrange(len(lines)))
    for _ in range(random.randrange(3)):
        lines.insert(random.randrange(len(lines) + 1), line)
    return "\n".join(lines)


MUTATIONS: tuple[Mutation, ...] = (
    delete_piece, double_piece, swap_pieces, copy_piece, insert_scrap, replace_scrap,
    change_character, delete_span, flip_bracket, change_number, delete_attribute, move_attribute,
    truncate, shuffle_lines, exchange_shape, exchange_name, exchange_opcode, exchange_number,
    exchange_value, exchange_shape, exchange_opcode, exchange_number, exchange_value,
)  # fmt: skip


def splice(text: str, other: str, random: Random) -> str:
    """Puts some lines of another module into a text."""
    lines, foreign = text.split("\n"), other.split("\n")
    start = random.randrange(len(foreign))
    at = random.randrange(len(lines) + 1)
    return "\n".join([*lines[:at], *foreign[start : start + random.randint(1, 5)], *lines[at:]])


def some_computations(text: str, random: Random) -> str:
    """Returns the whole computations in a part of a long text."""
    start = text.find("\n\n", random.choice((0, place(text, random))))
    start = max(start, 0)
    return text[start : text.rfind("\n}", start, start + LONGEST) + 2]


def mutated(texts: Sequence[str], seed: int) -> str:
    """Returns one of the texts with one to four changes."""
    random = Random(seed)  # noqa: S311  # not for secrets
    text = random.choice(texts)
    if len(text) > LONGEST:
        text = some_computations(text, random)
    if random.random() < 0.1:
        text = splice(text, random.choice(texts), random)
    for _ in range(random.choice((1, 1, 1, 1, 2, 3))):
        text = random.choice(MUTATIONS)(text, random)
    return text
