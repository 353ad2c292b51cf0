"""Values out of texts, and texts as they print again."""

from __future__ import annotations

from typing import Any

import pytest

from hlotool.errors import ParseError
from hlotool.ir.annotations import Annotations
from hlotool.ir.header import ModuleHeader
from hlotool.ir.instruction import Instruction
from hlotool.ir.record import AttributeKind
from hlotool.text.parser import parse
from hlotool.text.reader import reader


def read(kind: AttributeKind[Any], text: str) -> Any:
    """Returns the value of a text of this kind."""
    return kind.read(reader().read(kind.rule, text, 0, len(text)))


def parameter_with(text: str, shape: str = "f32[8]") -> Instruction:
    """Returns a parameter with annotations."""
    module = parse(f"HloModule m\nENTRY e {{ ROOT p = {shape} parameter(0), {text} }}")
    return module.entry.root


def annotated(text: str, shape: str = "f32[8]") -> Annotations:
    """Returns annotations out of their text."""
    return parameter_with(text, shape).annotations


def shown(text: str, shape: str = "f32[8]") -> str:
    """Returns how annotations print: `name=text` with commas between them."""
    written = annotated(text, shape).written()
    return ", ".join(f"{name}={value}" for name, value in written)


def header(text: str) -> ModuleHeader:
    """Returns the attributes of a module header; those that follow from the entry are left out."""
    module = parse(f"HloModule m, {text}\nENTRY e {{ ROOT p = f32[8] parameter(0) }}")
    if "entry_computation_layout" in text:
        return module.header
    return module.header.replace(entry_computation_layout=None)


def shown_header(text: str) -> str:
    """Returns how attributes of a module header print."""
    return ", ".join(f"{name}={value}" for name, value in header(text).written())


def fault(text: str, shape: str = "f32[8]") -> str:
    """Returns the message of the error that annotations give."""
    with pytest.raises(ParseError) as caught:
        annotated(text, shape)
    return caught.value.message


def header_fault(text: str) -> str:
    """Returns the message of the error that a header gives."""
    with pytest.raises(ParseError) as caught:
        header(text)
    return caught.value.message
