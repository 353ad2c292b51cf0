"""The arguments that `run-hlo` runs a module on: out of a file, a snapshot, or made up."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hlotool.cli.inputs import read_bytes, shown_name
from hlotool.errors import HloError, UsageError
from hlotool.evaluation.files.argument_files import arguments_of_literals, read_argument_lists
from hlotool.evaluation.generation.arguments import Generated, edge_arguments, generated_arguments
from hlotool.evaluation.sharded import sharded_arguments
from hlotool.proto.snapshots import read_snapshot_arguments

if TYPE_CHECKING:
    from hlotool.cli.modules import Unread
    from hlotool.cli.platforms import Settings
    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module


class Inputs:
    """The arguments of a module, a list for each run that a file has; none where none are given."""

    def __init__(self, arguments: Namespace, module: Module, unread: Unread) -> None:
        self._arguments = arguments
        self._module = module
        self._given = self._read(unread)
        self.notes: Sequence[str] = ()
        """What generated arguments could not have, as of the last run."""

    @property
    def are_given(self) -> bool:
        """Whether a file or the module itself has arguments, so that none are made up."""
        return bool(self._given) or not self._module.entry.parameters

    def of_devices(self, settings: Settings, iteration: int) -> list[list[Value]]:
        """Returns the arguments of each device for one run; raises `HloError`."""
        values = self._of_run(settings.seed + iteration, iteration)
        return sharded_arguments(self._module, values, settings.partitions, settings.replicas)

    def _of_run(self, seed: int, iteration: int) -> Sequence[Value]:
        if self._given:
            return self._given[iteration % len(self._given)]
        made = made_arguments(self._module, seed, self._arguments)
        self.notes = made.notes
        return made.values

    def _read(self, unread: Unread) -> list[list[Value]]:
        path = self._arguments.inputs
        if path:
            partitions = self._arguments.num_partitions or self._module.header.num_partitions
            try:
                return read_argument_lists(
                    self._module, read_bytes(path), shown_name(path), wholes=partitions > 1
                )
            except HloError as error:
                # The module is not to blame.
                raise UsageError(error.message, error.location, error.notes) from None
        if unread.format == "pb" and isinstance(unread.content, bytes):
            return self._of_snapshot(unread.content)
        return []

    def _of_snapshot(self, data: bytes) -> list[list[Value]]:
        literals = read_snapshot_arguments(data)
        return [arguments_of_literals(self._module, literals)] if literals else []


def made_arguments(module: Module, seed: int, arguments: Namespace) -> Generated:
    """Returns arguments made up for a module, in the style that the options ask for."""
    if arguments.edge_values:
        return edge_arguments(module, seed)
    return generated_arguments(
        module,
        seed,
        large_range=arguments.use_large_float_range,
        zeros=not arguments.random_init_input_literals,
    )
