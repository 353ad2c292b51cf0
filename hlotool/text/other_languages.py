"""Texts that are no HLO and are often taken for it: what they are, and what to give instead."""

from __future__ import annotations

import re

from hlotool.errors import ParseError

HOW_IN_JAX = (
    'JAX gives HLO with jax.jit(f).lower(x).compiler_ir("hlo")'
    ".as_hlo_text(print_large_constants=True)"
)
_MLIR = re.compile(
    r"(?:\s|//[^\n]*+)*+"
    r"(?:#[\w.]+\s*=|module(?:\s+@|\s+attributes\b|\s*\{)|func\.func\b|\"builtin\.module\")"
)
_FILE = re.compile(r"[^\n={}()]+\.(?:hlo|txt|pb|pbtxt|textproto|mlir)\Z")


def explained(error: ParseError) -> ParseError:
    """Returns the error of a text that cannot be read, or a better one."""
    location = error.location
    text = "" if location is None else location.source.text
    if _MLIR.match(text):
        message = "this is MLIR, such as StableHLO, and HLO text is wanted"
        return ParseError(message, location, (HOW_IN_JAX,))
    if _FILE.match(text):
        notes = (*error.notes, "this is a text, hlotool.load reads a file")
        return ParseError(error.message, location, notes)
    return error
