"""What the parser expected, in the words of the language."""

from __future__ import annotations

from collections.abc import Collection

WORDS = {
    "NAME": "a name", "PERCENT_NAME": "a name", "NAME_COLON": "a name", "ATTRNAME": "an attribute",
    "OPCODE": "an opcode", "PAYLOAD_OPCODE": "an opcode", "TYPE": "a shape", "BUFFER": "a shape",
    "INSTRUCTION": "an instruction", "COMPUTATION": "a computation", "ENTRY": "ENTRY",
    "ROOT": "an instruction", "HLO_MODULE": "HloModule", "INT": "an integer",
    "NUMBER": "a number", "STRING": "a string", "SINGLE_STRING": "a string", "VALUE": "a value",
    "PAYLOAD": "'('", "DICTIONARY": "a dictionary", "TRUE": "true", "FALSE": "false",
    "LAYOUT_OPEN": "a layout", "COMMA": "','", "LPAR": "'('", "RPAR": "')'", "LBRACE": "'{'",
    "RBRACE": "'}'", "LSQB": "'['", "RSQB": "']'", "EQUAL": "'='", "COLON": "':'", "STAR": "'*'",
    "QMARK": "'?'", "AT_MOST": "'<='", "SIZES": "sizes, as 3x3", "PADS": "paddings, as 0_1x2_2",
    "LABELS": "dimension labels, as b01f_01io->b01f", "$END": "the end of the text",
    "<END-OF-FILE>": "the end of the text", "TILES": "part of a layout",
    "LEVELS": "part of a layout", "LAYOUT_NUMBER": "part of a layout",
    "LAYOUT_TYPE": "part of a layout", "SPLITS": "part of a layout",
    "PHYSICAL": "part of a layout", "ARROW": "'->'",
}  # fmt: skip
MOST = 6
"""How many things a message lists."""


def describe(terminals: Collection[str]) -> str:
    """Returns terminals in words: `',' or ')'`, the same ones in the same order each time."""
    words = sorted({WORDS.get(name, name.lower().replace("_", " ")) for name in terminals})
    if len(words) > MOST:
        words = [*words[:MOST], "…"]
    if len(words) < 2:
        return words[0] if words else "nothing more"
    return f"{', '.join(words[:-1])} or {words[-1]}"
