"""How elements narrower than a byte lie in memory."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from hlotool.ir.element_type import ElementType, Kind
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, BufferShape, Shape, TupleShape
from hlotool.ops.custom_call import CustomCall
from hlotool.ops.shape_changing import Bitcast
from hlotool.ops.source import Constant
from hlotool.passes.pass_base import Pass
from hlotool.rewriting.journal import Journal

_BYTE = 8
