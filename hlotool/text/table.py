"""The parser's table, made beforehand and shipped beside the grammar.

Making it takes lark a tenth of a second, which is most of what a short command takes; reading
it takes a tenth of that. The stored table is plain JSON: nothing in it is executed. It is used
only while it belongs to the grammar, the start rules and the lark release that are there.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import lark
from lark import Lark
from lark.grammar import Rule
from lark.lexer import TerminalDef

from hlotool.text.grammar import grammar_folder, grammar_text, portable, start_rules
from hlotool.text.lexer import CoarseFirstLexer

TABLE_FILE = "hlo.table.json"


def make_lark(transformer: Any) -> Lark:
    """Returns the parser of modules, from the stored table where that is current."""
    stored = read_table()
    if stored is None:
        return _build(transformer)
    data = stored["data"]
    data["options"]["lexer"] = CoarseFirstLexer
    data["parser"]["lexer_conf"]["lexer_type"] = CoarseFirstLexer
    # `Lark.load` takes the same dictionary only as a pickle, which would be executed.
    made: Lark = Lark._load_from_dict(data, stored["memo"], transformer=transformer)  # noqa: SLF001
    return made


def _build(transformer: Any) -> Lark:
    return Lark(
        portable(grammar_text()),
        parser="lalr",
        lexer=CoarseFirstLexer,
        start=start_rules(),
        transformer=transformer,
    )


def signature() -> str:
    """Returns what a stored table must carry to be current."""
    basis = "\0".join([lark.__version__, *start_rules(), grammar_text()])
    return sha256(basis.encode()).hexdigest()


def read_table() -> dict[str, Any] | None:
    """Returns the stored table, or `None` where there is none that is current."""
    path = grammar_folder() / TABLE_FILE
    if not path.is_file():
        return None
    text = portable(path.read_text(encoding="utf-8"))
    stored = json.loads(text, object_hook=_with_numbers)
    is_current = isinstance(stored, dict) and stored.get("signature") == signature()
    return stored if is_current else None


def write_table() -> Path:
    """Makes the table of the grammar and stores it beside the grammar; returns its file.

    A table that is current stays as it is: made again it would be another one, equally good.
    """
    path = Path(str(grammar_folder() / TABLE_FILE))
    if read_table() is not None:
        return path
    data, memo = _build(None).memo_serialize([TerminalDef, Rule])
    stored = {"signature": signature(), "data": data, "memo": memo}
    # The lexer is a class, not data: null in the file, put back by `make_lark`.
    text = json.dumps(stored, separators=(",", ":"), default=lambda _: None)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _with_numbers(found: dict[str, Any]) -> dict[Any, Any]:
    # JSON has strings for keys where lark has numbers: states, tokens, memo entries.
    if found and all(key.isdigit() for key in found):
        return {int(key): value for key, value in found.items()}
    return found


if __name__ == "__main__":
    import hlotool.ops  # noqa: F401  # the start rules come from the opcodes

    print(write_table())  # noqa: T201  # a developer's command
