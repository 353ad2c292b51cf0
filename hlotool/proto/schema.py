"""The message classes of the schema, made from its compiled form when this is imported.

The classes come from a descriptor and not from generated code, so they work with every version
of the protobuf runtime; they live in a pool of their own and never meet another package's.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

Proto = Any
"""A message. Its class exists only at run time, so no checker can know its fields."""

LOWEST = -(1 << 63)
"""What stands for a size that is not known: the lowest int64."""

_Field = descriptor_pb2.FieldDescriptorProto
_BITS = {_Field.TYPE_FLOAT: _Field.TYPE_FIXED32, _Field.TYPE_DOUBLE: _Field.TYPE_FIXED64}
"""The types with the same bytes on the wire that give bits in the place of numbers."""


def load_pool(*, literals_as_bits: bool) -> descriptor_pool.DescriptorPool:
    """Returns the schema's messages.

    With `literals_as_bits` the floating-point fields of literals hold bit patterns: Python
    numbers would not keep the payload of every NaN.
    """
    compiled = files("hlotool").joinpath("proto", "hlo.desc").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(compiled).file:
        for message in file.message_type:
            if literals_as_bits and message.name == "LiteralProto":
                for field in message.field:
                    field.type = _BITS.get(field.type, field.type)
        pool.AddSerializedFile(file.SerializeToString())
    return pool


def message_class(pool: descriptor_pool.DescriptorPool, name: str) -> type[Proto]:
    """Returns the class of a message."""
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"hlotool.{name}"))


_POOL = load_pool(literals_as_bits=True)

HloProto = message_class(_POOL, "HloProto")
HloModuleProto = message_class(_POOL, "HloModuleProto")
HloSnapshot = message_class(_POOL, "HloSnapshot")
HloInstructionProto = message_class(_POOL, "HloInstructionProto")
RunHloModuleLiterals = message_class(_POOL, "RunHloModuleLiterals")
RunHloModuleIterationLiterals = message_class(_POOL, "RunHloModuleIterationLiterals")
LiteralProto = message_class(_POOL, "LiteralProto")
ShapeProto = message_class(_POOL, "ShapeProto")


def enumeration(name: str) -> dict[str, int]:
    """Returns the values of an enumeration by their names."""
    values = _POOL.FindEnumTypeByName(f"hlotool.{name}").values
    return {value.name: value.number for value in values}
