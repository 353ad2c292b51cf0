"""Writing the devices of shardings as lists, or as the iotas that they are made of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from hlotool.ir.module import Module
from hlotool.ir.sharding import ArraySharding, NamedSharding, Sharding, TupleSharding
from hlotool.ir.tile_assignment import Devices, Iota
from hlotool.passes.collectives.device_groups import MOST_DEVICES
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class ShardingFormatPicker(Pass):
    """Writes the devices of shardings in one form: as iotas where there are such, or as lists."""

    name: ClassVar[str] = "sharding-format-picker"
    is_exact: ClassVar[bool] = True

    form: str = option("iota", "the form wanted", choices=("iota", "list"))

    def run(self, module: Module, journal: Journal) -> bool:
        """Changes the shardings of all instructions; they say the same as before."""
        changed = False
        for instruction in module.instructions():
            sharding = instruction.annotations.sharding
            if sharding is None:
                continue
            picked = self._picked(sharding)
            if picked == sharding or not journal.hit("form"):
                continue
            instruction.annotations = instruction.annotations.replace(sharding=picked)
            changed = True
        return changed

    def _picked(self, sharding: Sharding) -> Sharding:
        if isinstance(sharding, TupleSharding):
            return TupleSharding(tuple(self._of_array(one) for one in sharding.elements))
        return self._of_array(sharding)

    def _of_array(self, sharding: ArraySharding | NamedSharding) -> ArraySharding | NamedSharding:
        if isinstance(sharding, NamedSharding) or sharding.tiles is None:
            return sharding
        tiles = sharding.tiles
        devices = _listed(tiles.devices) if self.form == "list" else _counted(tiles.devices)
        return replace(sharding, tiles=replace(tiles, devices=devices))


def _listed(devices: Devices) -> Devices:
    is_short = isinstance(devices, Iota) and devices.count <= MOST_DEVICES
    return devices.numbers() if isinstance(devices, Iota) and is_short else devices


def _counted(devices: Devices) -> Devices:
    """Returns the iota that lists these devices; the list where there is none."""
    if isinstance(devices, Iota):
        return devices
    strides: list[tuple[int, int]] = []
    block, total = 1, len(devices)
    while block < total:
        stride = devices[block] - devices[0]
        size = 1
        while size * block < total and devices[size * block] == devices[0] + size * stride:
            size += 1
        # A dimension has as many steps as divide what is left.
        while size > 1 and (total // block) % size:
            size -= 1
        if size == 1 or stride < 1:
            return devices
        strides.append((stride, size))
        block *= size
    strides.reverse()
    order = sorted(range(len(strides)), key=lambda place: -strides[place][0])
    iota = Iota.of(
        [strides[place][1] for place in order], [order.index(p) for p in range(len(order))]
    )
    return iota if iota.numbers() == devices else devices
