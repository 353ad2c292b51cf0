"""The lexer: coarse terminals first, then the terminals that the parser can take.

In the form that printers write, an instruction is one regular expression, and a run of them is
one token: the parser's own steps then cost almost nothing. Whatever a coarse terminal does not
match goes through the grammar's fine rules, token by token. Runs of balanced brackets, whose
inside belongs to other rules, are found here too.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any, ClassVar

from lark.exceptions import UnexpectedCharacters
from lark.lexer import BasicLexer, Lexer, LexerState, Token

COARSE = ("INSTRUCTION", "COMPUTATION")
RUN_LENGTH = 256
"""How many instructions one token takes at most: matches are held until the parser reads it."""
DEPTH_LIMIT = 100
"""How deep the grammar's brackets may nest: shapes, operands, values."""
RUN_DEPTH_LIMIT = 2000
"""How deep brackets may nest whose inside is not read with them."""


_Scan = Callable[[str, int, int], Token | None]


class MatchToken(Token):
    """A coarse token; `matches` has the regular-expression match of each construct."""

    matches: list[re.Match[str]]


class ScanError(Exception):
    """Text that makes no token; `offset` is where, `message` why."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class CoarseFirstLexer(Lexer):
    """The lexer that lark drives; it looks at the parser's state to know what may come.

    lark hands a lexer class its terminals only, so what depends on the state is made when the
    state is first seen.
    """

    __future_interface__ = 2
    payload_opcodes: ClassVar[Collection[str]] = frozenset()
    """The opcodes whose parentheses hold no operands; set by the grammar's loader."""
    uses_coarse = True
    """Whether coarse terminals are tried; tests turn them off."""

    def __init__(self, conf: Any) -> None:
        self._conf = conf
        self._by_name = {terminal.name: terminal for terminal in conf.terminals}
        self._coarse = {
            name: re.compile(self._by_name[name].pattern.to_regexp()).match for name in COARSE
        }
        self._lexers: dict[frozenset[str], BasicLexer] = {}
        self._by_state: dict[Any, tuple[bool, bool, _Scan | None, BasicLexer]] = {}
        self.position = 0
        """How far the text is read, to say where something went wrong."""
        self.last_value: Token | None = None
        """The last attribute value whose end was found by its brackets."""

    def lex(self, lexer_state: LexerState, parser_state: Any) -> Iterator[Token]:
        """Yields tokens; coarse ones where the parser can take them and the text matches."""
        text, end = lexer_state.text.text, lexer_state.text.end
        position = lexer_state.text.start
        depth = 0
        while position < end:
            self.position = position
            state = parser_state.position
            entry = self._by_state.get(state) or self._enter(state, parser_state)
            takes_instruction, takes_computation, scan, fine = entry
            token = None
            if self.uses_coarse:
                if takes_instruction:
                    token, position = self._run(text, position, end)
                elif takes_computation and (
                    match := self._coarse["COMPUTATION"](text, position, end)
                ):
                    token, position = _coarse_token("COMPUTATION", [match]), match.end()
            if token is None:
                token = self._next(lexer_state.text, position, scan, fine, parser_state)
                if token is None:
                    return
                position = _end(token)
                depth += _NESTING.get(token.type, 0)
                if depth > DEPTH_LIMIT:
                    raise ScanError(
                        f"brackets nest deeper than {DEPTH_LIMIT}", token.start_pos or 0
                    )
            yield token
        self.position = position

    def _run(self, text: str, position: int, end: int) -> tuple[Token | None, int]:
        match_instruction = self._coarse["INSTRUCTION"]
        matches: list[re.Match[str]] = []
        while len(matches) < RUN_LENGTH and (match := match_instruction(text, position, end)):
            matches.append(match)
            position = match.end()
        return (_coarse_token("INSTRUCTION", matches) if matches else None), position

    def _next(
        self, slice_: Any, position: int, scan: _Scan | None, fine: BasicLexer, parser_state: Any
    ) -> Token | None:
        text, end = slice_.text, slice_.end
        while position < end:
            found = fine.match(slice_, position)
            if found is not None and found[1] in fine.ignore_types:
                position += len(found[0])
            elif scan is not None and (token := scan(text, position, end)) is not None:
                if token.type == "VALUE":
                    self.last_value = token
                return token
            elif found is None:
                raise UnexpectedCharacters(text, position, 1, 1, state=parser_state)
            else:
                return self._fine_token(found, position, fine)
        return None

    def _fine_token(self, found: tuple[str, str], position: int, fine: BasicLexer) -> Token:
        value, type_ = found
        if type_ == "OPCODE" and value in self.payload_opcodes:
            type_ = "PAYLOAD_OPCODE"
        token = Token(type_, value, position, end_pos=position + len(value))
        change = fine.callback.get(type_)
        return token if change is None else change(token)

    def _enter(self, state: Any, parser_state: Any) -> Any:
        """Returns and keeps what may come in a parser state that is met for the first time."""
        accepted = {name for name in parser_state.parse_conf.states[state] if name.isupper()}
        scan = next((_SCANS[name] for name in _SCANS if name in accepted), None)
        names = frozenset(accepted.difference(COARSE, _SCANS) & self._by_name.keys())
        if names not in self._lexers:
            conf = copy.copy(self._conf)
            conf.terminals = [self._by_name[name] for name in names.union(conf.ignore)]
            conf.skip_validation = True
            self._lexers[names] = BasicLexer(conf)
        entry = (
            "INSTRUCTION" in accepted,
            "COMPUTATION" in accepted,
            scan,
            self._lexers[names],
        )
        self._by_state[state] = entry
        return entry


def _coarse_token(type_: str, matches: list[re.Match[str]]) -> MatchToken:
    token = MatchToken(type_, "", matches[0].start(), end_pos=matches[-1].end())
    token.matches = matches
    return token


def _end(token: Token) -> int:
    assert token.end_pos is not None
    return token.end_pos


_NESTING = {"LPAR": 1, "RPAR": -1, "LBRACE": 1, "RBRACE": -1, "LSQB": 1, "RSQB": -1}
_STRING = r'"[^"\\]*+(?:\\.[^"\\]*+)*"'
_COMMENT = r"/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/|//[^\r\n]*+"
_PLAIN_ITEM = re.compile(
    rf"{_STRING}|'[^'\\]*+(?:\\.[^'\\]*+)*'"
    r"|-?+%?+[A-Za-z0-9_.?+*]++(?:->?+[A-Za-z0-9_.?+*]++)*(?:[@:][A-Za-z0-9_.@:]++)?",
    re.DOTALL,
)
_PIECE = re.compile(rf"[^\[\](){{}}\"'/]++|{_STRING}|'[^'\\\n]*+'|{_COMMENT}|.", re.DOTALL)
_DICTIONARY_PIECE = re.compile(rf"[^{{}}\"]++|{_STRING}|.", re.DOTALL)
_CLOSING = {"{": "}", "(": ")", "[": "]"}
_IOTA = re.compile(r"\s*+<=\s*+\[[0-9,\s]*+\](?:\s*+T\([0-9,\s]*+\))?")
_MESH_TAIL = re.compile(
    r"\s*+(?:,\s*+device_ids=\([^()]*+(?:\([^()]*+\)[^()]*+)*\)\s*+)?,?+\s*+(?=\{)"
)
_ARRAY_TAIL = re.compile(r"\s*+\[[0-9,<=?\s]*+\](?:\s*+\{\s*+[0-9:][^{}]*+\})?")
_LITERAL_START = re.compile(r"\s*+(?=[{(]|-?(?:[0-9.]|inf|nan)|true|false)")
_SCALAR = re.compile(r"-?[0-9A-Za-z_.+]++(?:\(0x[0-9a-fA-F]++\))?")


def balanced(text: str, position: int, end: int, piece: re.Pattern[str] = _PIECE) -> int:
    """Returns the end of the brackets that open at `position`.

    Strings and comments inside are skipped. Raises `ScanError` at a bracket that nothing closes
    or that closes the wrong one; takes linear time.
    """
    open_at: list[int] = []
    brackets = "{}" if piece is _DICTIONARY_PIECE else "{}()[]"
    while position < end:
        match = piece.match(text, position, end)
        assert match is not None, "the last alternative matches any character"
        found = match[0]
        if found == '"':
            raise ScanError("nothing ends this string", position)
        if len(found) == 1 and found in brackets:
            if found in _CLOSING:
                open_at.append(position)
                if len(open_at) > RUN_DEPTH_LIMIT:
                    raise ScanError(f"brackets nest deeper than {RUN_DEPTH_LIMIT}", position)
            elif found != _CLOSING[text[opening := open_at.pop()]]:
                raise _mismatch(text, opening, position)
            elif not open_at:
                return match.end()
        position = match.end()
    raise ScanError(f"nothing closes this {text[open_at[-1]]!r}", open_at[-1])


def _mismatch(text: str, opening: int, closing: int) -> ScanError:
    wanted, found = _CLOSING[text[opening]], text[closing]
    if "\n" not in text[opening:closing]:
        return ScanError(f"{wanted!r} expected, found {found!r}", closing)
    # On another line the bracket most likely closes something else.
    return ScanError(f"nothing closes this {text[opening]!r} before the next {found!r}", opening)


def scan_value(text: str, position: int, end: int) -> Token:
    """Returns the attribute value at `position` as one token, whatever is inside."""
    if text[position] in _CLOSING:
        stop = _value_end(text, position, end)
        if text[position] == "[" and (match := _IOTA.match(text, stop, end)):
            stop = match.end()
        elif text[position] == "(":
            stop = _with_literal(text, position, stop, end)
    else:
        match = _PLAIN_ITEM.match(text, position, end)
        if match is None:
            is_string = text[position] in "\"'"
            fault = "nothing ends this string" if is_string else "a value expected"
            raise ScanError(fault, position)
        stop = match.end()
        if match[0] == "mesh" and text[stop : stop + 1] == "[":
            stop = balanced(text, stop, end)
            if tail := _MESH_TAIL.match(text, stop, end):
                stop = balanced(text, tail.end(), end)
        elif tail := _ARRAY_TAIL.match(text, stop, end):
            stop = _with_literal(text, position, tail.end(), end)
    return Token("VALUE", text[position:stop], position, end_pos=stop)


def _value_end(text: str, position: int, end: int) -> int:
    # In a dictionary only braces and double quotes mean anything.
    before = _before_space(text, position)
    if text.endswith("backend_config=", 0, before):
        return balanced(text, position, end, _DICTIONARY_PIECE)
    if text[position] != "{" or not text.endswith("frontend_attributes=", 0, before):
        return balanced(text, position, end)
    inside = position + 1
    while inside < end:
        match = _PIECE.match(text, inside, end)
        assert match is not None, "the last alternative matches any character"
        if match[0] == "}":
            return match.end()
        if match[0] == '"':
            raise ScanError("nothing ends this string", inside)
        is_dictionary = match[0] == "{"
        inside = balanced(text, inside, end, _DICTIONARY_PIECE) if is_dictionary else match.end()
    raise ScanError("nothing closes this '{'", position)


def _with_literal(text: str, position: int, stop: int, end: int) -> int:
    # Only behind `literal=` does a value follow its shape; elsewhere it is the next instruction.
    if not text.endswith("literal=", 0, _before_space(text, position)):
        return stop
    match = _LITERAL_START.match(text, stop, end)
    if match is None:
        return stop
    if text[match.end()] in _CLOSING:
        return balanced(text, match.end(), end)
    scalar = _SCALAR.match(text, match.end(), end)
    return stop if scalar is None else scalar.end()


def _before_space(text: str, position: int) -> int:
    while position and text[position - 1] in " \t\r\n":
        position -= 1
    return position


def scan_payload(text: str, position: int, end: int) -> Token:
    """Returns the parentheses at `position`, with what they hold, as one token."""
    if text[position] != "(":
        raise ScanError("'(' expected", position)
    stop = balanced(text, position, end)
    return Token("PAYLOAD", text[position:stop], position, end_pos=stop)


def scan_dictionary(text: str, position: int, end: int) -> Token | None:
    """Returns the braces at `position` as one token, `None` where there are none.

    Only strings and braces mean anything inside.
    """
    if text[position] != "{":
        return None
    stop = balanced(text, position, end, _DICTIONARY_PIECE)
    return Token("DICTIONARY", text[position:stop], position, end_pos=stop)


_SCANS: dict[str, _Scan] = {
    "VALUE": scan_value,
    "PAYLOAD": scan_payload,
    "DICTIONARY": scan_dictionary,
}
