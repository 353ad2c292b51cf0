"""Results in the memory of inputs that nobody wants back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from hlotool.ir.header import Alias, BufferDonor, TupleIndex
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape
from hlotool.passes.pass_base import Pass, option
from hlotool.rewriting.journal import Journal


@dataclass(frozen=True)
class OptimizeInputOutputBufferAlias(Pass):
    """Lets results lie in the memory of donated inputs that have the same shape."""

    name: ClassVar[str] = "optimize_input_output_buffer_alias"
    is_exact: ClassVar[bool] = True

    donors_only: bool = option(default=True, words="takes only inputs that buffer_donor lists")

    def run(self, module: Module, journal: Journal) -> bool:
        """Adds aliases to the header; a donor that is aliased is a donor no more."""
        header = module.header
        free = self._free_inputs(module)
        aliases = list(header.input_output_alias)
        taken = {alias.output_index for alias in aliases}
        for index, shape in module.entry.root.shape.leaves():
            inputs = free.get(shape) if isinstance(shape, ArrayShape) else None
            if inputs and index not in taken and journal.hit("result aliased"):
                aliases.append(Alias(index, *inputs.pop(0)))
        if len(aliases) == len(header.input_output_alias):
            return False
        used = {(alias.parameter, alias.parameter_index) for alias in aliases}
        donors = [d for d in header.buffer_donor if (d.parameter, d.parameter_index) not in used]
        module.header = header.replace(
            input_output_alias=tuple(sorted(aliases, key=lambda alias: alias.output_index)),
            buffer_donor=tuple(donors),
        )
        return True

    def _free_inputs(self, module: Module) -> dict[Shape, list[tuple[int, TupleIndex]]]:
        """Returns the inputs that a result may take the memory of, by their shapes."""
        used = {(a.parameter, a.parameter_index) for a in module.header.input_output_alias}
        donors = set(module.header.buffer_donor)
        found: dict[Shape, list[tuple[int, TupleIndex]]] = {}
        for number, index, shape in _inputs(module):
            is_offered = not self.donors_only or BufferDonor(number, index) in donors
            if is_offered and (number, index) not in used:
                found.setdefault(shape, []).append((number, index))
        return found


def _inputs(module: Module) -> Iterator[tuple[int, TupleIndex, Shape]]:
    for number, parameter in enumerate(module.entry.parameters):
        for index, shape in parameter.shape.leaves():
            yield number, index, shape
