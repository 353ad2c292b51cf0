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


def _load_pool() -> descriptor_pool.DescriptorPool:
    compiled = files("hlotool").joinpath("proto", "hlo.desc").read_bytes()
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(compiled).file:
        pool.AddSerializedFile(file.SerializeToString())
    return pool


_POOL = _load_pool()


def _message(name: str) -> type[Proto]:
    return message_factory.GetMessageClass(_POOL.FindMessageTypeByName(f"hlotool.{name}"))


def _enumeration(name: str) -> dict[str, int]:
    values = _POOL.FindEnumTypeByName(f"hlotool.{name}").values
    return {value.name: value.number for value in values}


HloProto = _message("HloProto")
HloModuleProto = _message("HloModuleProto")
HloSnapshot = _message("HloSnapshot")
HloInstructionProto = _message("HloInstructionProto")
ShapeProto = _message("ShapeProto")
LiteralProto = _message("LiteralProto")
OpSharding = _message("OpSharding")
OpMetadata = _message("OpMetadata")

PRIMITIVE_TYPES = _enumeration("PrimitiveType")
SHARDING_TYPES = _enumeration("OpSharding.Type")
SHARD_GROUP_TYPES = _enumeration("OpSharding.ShardGroupType")
ALIAS_KINDS = _enumeration("Kind")
