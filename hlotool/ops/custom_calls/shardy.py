"""The shardings that Shardy writes into frontend attributes, read as shardings of ours.

Only what cuts an array counts: the axes of its dimensions that are manual in the call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from hlotool.ir.frame import Frame
from hlotool.ir.instruction import Instruction
from hlotool.ir.mesh import AxisReference, DimensionAxes, Mesh, MeshSharding
from hlotool.ir.sharding import NamedSharding
from hlotool.ops.custom_calls.registry import fault

_MESH = re.compile(
    r'(?P<name>\w+|"[^"]*")\s*=\s*#sdy\.mesh<\[(?P<axes>[^\]]*)\]'
    r"(?:,\s*device_ids\s*=\s*\[(?P<devices>[^\]]*)\])?>"
)
_SHARDING = re.compile(r'<@(?P<mesh>\w+|"[^"]*"),\s*\[(?P<dimensions>[^\]]*)\]')
_AXIS = re.compile(r'"(?P<name>[^"]*)"(?::\((?P<before>\d+)\)(?P<size>\d+))?')


def shardy_shardings(frame: Frame, attribute: str) -> list[NamedSharding]:
    """Returns the shardings in a frontend attribute of the call at hand, in order.

    Raises `EvaluationError` where it is missing, or names a mesh or an axis that the module
    does not have.
    """
    found = frame.instruction.annotations.frontend_attributes
    text = _plain(found.get(attribute, ""))
    manual = {axis["name"] for axis in _AXIS.finditer(_plain(found.get("xla.sdy.manual_axes", "")))}
    meshes = _meshes(frame.instruction)
    try:
        return [_sharding(each, meshes, manual) for each in _SHARDING.finditer(text)]
    except (KeyError, ValueError) as error:
        known = f"meshes: {', '.join(meshes) or 'none'}"
        raise fault(frame, f"{attribute}: {error.args[0]}", [known]) from None


def _sharding(found: re.Match[str], meshes: Mapping[str, Mesh], manual: set[str]) -> NamedSharding:
    name = found["mesh"].strip('"')
    if name not in meshes:
        raise KeyError(f"the module has no mesh {name}")
    dimensions = [
        DimensionAxes(tuple(axis for axis in _axes(inner) if axis.name in manual))
        for inner in re.findall(r"\{([^}]*)\}", found["dimensions"])
    ]
    # A sharding without dimensions would be a word.
    return NamedSharding(MeshSharding(meshes[name], tuple(dimensions)))


def _axes(text: str) -> Iterator[AxisReference]:
    for axis in _AXIS.finditer(text):
        if axis["before"] is None:
            yield AxisReference(axis["name"])
        else:
            yield AxisReference(axis["name"], int(axis["before"]), int(axis["size"]))


def _meshes(instruction: Instruction) -> dict[str, Mesh]:
    module = None if instruction.parent is None else instruction.parent.parent
    if module is None:
        return {}
    text = _plain(module.header.frontend_attributes.get("xla.sdy.meshes", ""))
    return {found["name"].strip('"'): _mesh(found) for found in _MESH.finditer(text)}


def _mesh(found: re.Match[str]) -> Mesh:
    axes = [(name, int(size)) for name, size in re.findall(r'"([^"]*)"\s*=\s*(\d+)', found["axes"])]
    devices = found["devices"]
    return Mesh.of(axes, None if devices is None else tuple(map(int, devices.split(","))))


def _plain(text: str) -> str:
    return text.replace('\\"', '"')
