"""Reading of constant values from text: exactly, token by token, with the place of each fault.

Large arrays go through `literal_bulk` first, which reads the same values many times faster and
leaves everything unusual, faults included, to this file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NoReturn

from hlotool.ir.element_type import ElementType
from hlotool.ir.literal import Literal
from hlotool.ir.shape import UNBOUNDED, ArrayShape, Shape, TupleShape
from hlotool.text.literal_element import Convert, converter, shortened

_BULK_ELEMENTS = 1 << 14
_DEEPEST_TUPLE = 100

_BLANK = r"[ \t\r\n]++|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|//[^\r\n]*+"
_SKIP = re.compile(rf"(?:{_BLANK})*")
_SKIP_COMMAS = re.compile(rf"(?:{_BLANK}|,)*")
_TOKEN = re.compile(
    rf"(?:{_BLANK}|,)*("
    r"-?(?:[0-9]++(?:\.[0-9]*+)?|(?<=-)\.[0-9]++)(?:[eE][+-]?[0-9]++)?(?![A-Za-z0-9_.])"
    r"|-?nan\(0x[0-9a-fA-F]++\)|(?:-?(?:inf|nan)|true|false)(?![A-Za-z0-9_.(-])"
    r"|[{}(]|\.\.\.)"
)
_MARKS = ("{", "}", "(", "...")
_WORD = re.compile(r"[A-Za-z0-9_.%+-]+|.", re.DOTALL)
_BRACES = re.compile(r"[{}]")
_ELIDED = re.compile(rf"\{{(?:{_BLANK}|,)*\.\.\.(?:{_BLANK}|,)*\}}")
_ARRAY_SHAPE = re.compile(rf"[a-z][a-z0-9]*+(?:{_BLANK})*\[(?P<sizes>[^\[\]]*+)\]")
_LAYOUT = re.compile(rf"(?:{_BLANK})*\{{[^{{}}]*+\}}")


class LiteralError(ValueError):
    """A text that is no literal of its shape; `offset` is the place of the fault in the text."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


def read_literal(text: str, start: int, end: int, shape: Shape) -> Literal:
    """Returns the value of `shape` that stands between `start` and `end`.

    Bounded dynamic dimensions become static. Raises `LiteralError` with the offset in `text`
    of what does not fit.
    """
    reader = _Reader(text, start, end)
    made = reader.literal(_static(shape, start), 0)
    reader.finish()
    return made


def read_typed_literal(
    text: str, start: int, end: int, read_shape: Callable[[str], Shape]
) -> Literal:
    """Returns the value between `start` and `end` that has its shape with it.

    An array is `s32[2]{0} {1, 2}`, a tuple `( s32[] 5, f32[] 2 )`. `read_shape` reads the text
    of one array shape; its `ValueError` becomes a `LiteralError` at that shape.
    """
    reader = _Reader(text, start, end)
    made = reader.typed_literal(read_shape, 0)
    reader.finish()
    return made


def read_typed_literals(text: str, read_shape: Callable[[str], Shape]) -> list[Literal]:
    """Returns the values of a text of nothing but literals with their shapes, any number."""
    reader = _Reader(text, 0, len(text))
    found = []
    while not reader.is_finished():
        # Inside a tuple, as it were: more may follow.
        found.append(reader.typed_literal(read_shape, 1))
    return found


def _static(shape: Shape, offset: int) -> Shape:
    if isinstance(shape, TupleShape):
        return TupleShape([_static(element, offset) for element in shape.elements])
    if not isinstance(shape, ArrayShape):
        raise LiteralError(f"an array or a tuple expected, {shape} has no literals", offset)
    if UNBOUNDED in shape.dimensions:
        raise LiteralError(f"a literal needs known dimensions, {shape} has others", offset)
    return ArrayShape(shape.element_type, shape.dimensions, shape.layout)


class _Nesting:
    """The open braces of an array and the number of elements in each of them."""

    def __init__(self, dimensions: Sequence[int]) -> None:
        self.dimensions = dimensions
        self.counts = [0] * len(dimensions)
        self.depth = 0

    def open(self) -> None:
        if self.depth == len(self.dimensions):
            raise ValueError(f"a value expected{self._place()}, '{{' found")
        self._count()
        self.counts[self.depth] = 0
        self.depth += 1

    def value(self) -> None:
        if self.depth != len(self.dimensions):
            raise ValueError(f"'{{' expected{self._place()}, a value found")
        self._count()

    def close(self) -> None:
        if not self.depth:
            raise ValueError("a literal expected, '}' found")
        self.depth -= 1
        size, count = self.dimensions[self.depth], self.counts[self.depth]
        if count != size:
            raise ValueError(f"{size} elements expected in dimension {self.depth}, {count} found")

    def elide(self) -> None:
        if self.depth != 1 or self.counts[0]:
            raise ValueError("'...' must stand alone inside the outermost braces")

    def _count(self) -> None:
        if not self.depth:
            return
        level = self.depth - 1
        self.counts[level] += 1
        size = self.dimensions[level]
        if self.counts[level] > size:
            raise ValueError(f"{size} elements expected in dimension {level}, more found")

    def _place(self) -> str:
        rank = len(self.dimensions)
        return f" inside {self.depth} of {rank} braces" if rank else ""


class _Reader:
    """A place in a text, up to which literals have been read."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text = text
        self.position = start
        self.end = end

    def finish(self) -> None:
        """Requires that nothing is left."""
        if not self.is_finished():
            self._fail("the end of the literal")

    def is_finished(self) -> bool:
        """Whether nothing is left."""
        self._skip()
        return self.position == self.end

    def literal(self, shape: Shape, depth: int) -> Literal:
        """Reads a value of a shape without dynamic dimensions; `depth` counts open tuples."""
        self._skip()
        if isinstance(shape, ArrayShape):
            return self._array(shape, is_last=not depth)
        elided = _ELIDED.match(self.text, self.position, self.end)
        if elided is not None:
            self.position = elided.end()
            return Literal.elision(shape)
        self._open_tuple(depth)
        wanted = shape.elements if isinstance(shape, TupleShape) else ()
        elements = []
        for element in wanted:
            elements.append(self.literal(element, depth + 1))
            self._skip_commas()
        self._expect(")")
        return Literal.of_elements(elements)

    def typed_literal(self, read_shape: Callable[[str], Shape], depth: int) -> Literal:
        """Reads a shape and its value, or a tuple of these."""
        self._skip()
        if not self._at("("):
            return self.literal(self._shape(read_shape), depth)
        self._open_tuple(depth)
        self._skip()
        elements: list[Literal] = []
        while not self._at(")"):
            elements.append(self.typed_literal(read_shape, depth + 1))
            self._skip_commas()
        self._expect(")")
        return Literal.of_elements(elements)

    def _shape(self, read_shape: Callable[[str], Shape]) -> Shape:
        start = self.position
        found = _ARRAY_SHAPE.match(self.text, start, self.end)
        if found is None:
            self._fail("a shape or '('")
        self.position = found.end()
        layout = _LAYOUT.match(self.text, found.end(), self.end)
        if layout is not None:
            self.position = layout.end()
            self._skip()
            # Braces after dimensions are the value where no others follow.
            is_value = found["sizes"].strip() != "" and not self._at("{")
            self.position = found.end() if is_value else layout.end()
        try:
            shape = read_shape(self.text[start : self.position])
        except ValueError as fault:
            raise LiteralError(str(fault), start) from fault
        return _static(shape, start)

    def _array(self, shape: ArrayShape, *, is_last: bool) -> Literal:
        data = self._bulk(shape, is_last=is_last)
        if data is None:
            data = self._elements(shape)
        return Literal.elision(shape) if data is None else Literal(shape, data)

    def _bulk(self, shape: ArrayShape, *, is_last: bool) -> bytes | None:
        text, start = self.text, self.position
        if not _BULK_ELEMENTS <= shape.element_count <= self.end - start or not self._at("{"):
            return None
        end = self.end if is_last else self._closing_brace()
        while text[end - 1] in " \t\r\n":
            end -= 1
        if text[end - 1] != "}":
            return None
        # Only a text of this size is worth the time that numpy takes to start.
        from hlotool.text.literal_bulk import read_bulk

        data = read_bulk(text, start, end, shape)
        if data is not None:
            self.position = end
        return data

    def _closing_brace(self) -> int:
        depth = 0
        for brace in _BRACES.finditer(self.text, self.position, self.end):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                return brace.end()
        return self.end

    def _elements(self, shape: ArrayShape) -> bytes | None:
        """Reads an array value by value; `None` where the text elides it."""
        nesting = _Nesting(shape.dimensions)
        convert = converter(shape.element_type.component)
        parts: list[bytes] = []
        if self._at(","):
            self._fail("a literal")
        while True:
            offset, lexeme = self._token()
            try:
                if lexeme == "...":
                    nesting.elide()
                    return self._elided(shape)
                self._take(lexeme, nesting, shape.element_type, convert, parts)
            except LiteralError:
                raise
            except ValueError as fault:
                raise LiteralError(str(fault), offset) from fault
            if not nesting.depth:
                return b"".join(parts)

    def _take(
        self,
        lexeme: str,
        nesting: _Nesting,
        element_type: ElementType,
        convert: Convert,
        parts: list[bytes],
    ) -> None:
        if lexeme == "{":
            nesting.open()
        elif lexeme == "}":
            nesting.close()
        elif lexeme == "(":
            if not element_type.is_complex:
                raise ValueError(f"a value of {element_type} expected, '(' found")
            nesting.value()
            self._complex(convert, parts)
        else:
            nesting.value()
            if element_type.is_complex:
                raise ValueError(f"(real part, imaginary part) expected, {shortened(lexeme)} found")
            parts.append(convert(lexeme))

    def _complex(self, convert: Convert, parts: list[bytes]) -> None:
        for mark in ",)":
            self._skip()
            if self._at(","):
                self._fail("a number")
            offset, lexeme = self._token()
            if lexeme in _MARKS:
                self.position = offset
                self._fail("a number")
            try:
                parts.append(convert(lexeme))
            except ValueError as fault:
                raise LiteralError(str(fault), offset) from fault
            self._expect(mark)

    def _elided(self, shape: ArrayShape) -> bytes | None:
        self._skip_commas()
        self._expect("}")
        # Nothing is left out of an array without elements.
        return None if shape.element_count else b""

    def _open_tuple(self, depth: int) -> None:
        if depth == _DEEPEST_TUPLE:
            raise LiteralError(f"tuples nested deeper than {_DEEPEST_TUPLE}", self.position)
        self._expect("(")

    def _token(self) -> tuple[int, str]:
        found = _TOKEN.match(self.text, self.position, self.end)
        if found is None:
            self._skip_commas()
            self._fail("a value")
        self.position = found.end()
        return found.start(1), found[1]

    def _at(self, character: str) -> bool:
        return self.position < self.end and self.text[self.position] == character

    def _expect(self, character: str) -> None:
        self._skip()
        if not self._at(character):
            self._fail(f"'{character}'")
        self.position += 1

    def _skip(self) -> None:
        self._pass(_SKIP)

    def _skip_commas(self) -> None:
        self._pass(_SKIP_COMMAS)

    def _pass(self, pattern: re.Pattern[str]) -> None:
        found = pattern.match(self.text, self.position, self.end)
        if found is not None:
            self.position = found.end()

    def _fail(self, wanted: str) -> NoReturn:
        found = _WORD.match(self.text, self.position, self.end)
        shown = "the end" if found is None else repr(shortened(found[0]))
        raise LiteralError(f"{wanted} expected, {shown} found", self.position)
