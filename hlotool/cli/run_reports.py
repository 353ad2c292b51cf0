"""What `run-hlo` says of a run: to a person, or as JSON."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hlotool.cli.mismatch_tables import show_mismatch
from hlotool.cli.outputs import print_text
from hlotool.cli.rendering import printable
from hlotool.cli.runs import Outcome, Status
from hlotool.cli.shown_values import leaves, live_text, statistics, value_lines
from hlotool.ir.shape import ArrayShape, Shape

if TYPE_CHECKING:
    from hlotool.ir.frame import Value
    from hlotool.ir.module import Module


def show_outcome(
    arguments: Namespace, module: Module, name: str, iteration: int, outcome: Outcome
) -> None:
    """Prints what came of a run; `name` is that of the module's file."""
    if arguments.json:
        fields = outcome_fields(arguments, module, name, iteration, outcome)
        print_text(json.dumps(fields) + "\n")
        return
    if arguments.print_literals:
        _print(_literals(module, outcome))
    subject = f"{printable(name)}: {printable(module.name)}"
    if arguments.iterations > 1:
        subject += f": iteration {iteration}"
    reference = printable(reference_name(arguments))
    if outcome.status is Status.DIFFER:
        sides = f"{arguments.platform} (actual) and {reference} (expected)"
        print_text(f"{subject}: {sides} differ\n")
        for device, comparison in enumerate(outcome.comparisons):
            if not comparison.agrees:
                print_text(_title(device, outcome))
                show_mismatch(comparison)
    elif not arguments.quiet:
        _print(_verdict(arguments, module, subject, reference, iteration, outcome))


def _print(texts: Iterable[str]) -> None:
    for text in texts:
        print_text(text)


def _verdict(
    arguments: Namespace,
    module: Module,
    subject: str,
    reference: str,
    iteration: int,
    outcome: Outcome,
) -> Iterator[str]:
    if outcome.status is Status.AGREE:
        yield f"{subject}: {arguments.platform} and {reference} agree{_counts(outcome)}\n"
        return
    made = "" if outcome.is_given else f" on inputs made up from seed {arguments.seed + iteration}"
    yield f"{subject}: ran on {arguments.platform}{made} in {outcome.seconds:.3g} s\n"
    if not arguments.print_literals:
        yield from _results(module, outcome, whole=False)


def outcome_fields(
    arguments: Namespace, module: Module, name: str, iteration: int, outcome: Outcome
) -> dict[str, object]:
    """Returns what JSON has of a run."""
    return {
        "file": name,
        "module": module.name,
        "iteration": iteration,
        "platform": arguments.platform,
        "reference": reference_name(arguments),
        "status": outcome.status.value,
        "seconds": outcome.seconds,
        "results": [
            [_leaf_fields(*leaf) for leaf in leaves(result, module.entry.root.shape)]
            for result in outcome.results
        ],
        "comparisons": [comparison.as_json() for comparison in outcome.comparisons],
    }


def reference_name(arguments: Namespace) -> str:
    """Returns what results are compared with: a file, or a platform."""
    named: str = arguments.expected or arguments.reference_module or arguments.reference_platform
    return named


def _leaf_fields(index: tuple[int, ...], shape: Shape, value: Value) -> dict[str, object]:
    numbers = statistics(value, shape) if isinstance(shape, ArrayShape) else {}
    return {"index": list(index), "shape": live_text(value, shape), **numbers}


def _counts(outcome: Outcome) -> str:
    elements = sum(comparison.elements for comparison in outcome.comparisons)
    left_out = sum(comparison.unspecified for comparison in outcome.comparisons)
    more = f", {left_out:,} that HLO leaves open are not counted" if left_out else ""
    return f" in {elements:,} element{'' if elements == 1 else 's'}{more}"


def _literals(module: Module, outcome: Outcome) -> Iterator[str]:
    for device, arguments in enumerate(outcome.arguments):
        yield _title(device, outcome)
        for number, parameter in enumerate(module.entry.parameters):
            title = f"  argument {number} {printable(parameter.name)}"
            for line in value_lines(title, arguments[number], parameter.shape, whole=True):
                yield line + "\n"
    yield from _results(module, outcome, whole=True)


def _results(module: Module, outcome: Outcome, *, whole: bool) -> Iterator[str]:
    shape = module.entry.root.shape
    for device, result in enumerate(outcome.results):
        yield _title(device, outcome)
        for line in value_lines("  result", result, shape, whole=whole):
            yield line + "\n"
    if whole:
        for device, reference in enumerate(outcome.references):
            yield _title(device, outcome)
            for line in value_lines("  reference", reference, shape, whole=True):
                yield line + "\n"


def _title(device: int, outcome: Outcome) -> str:
    # A module on one device does not speak of devices.
    return f"device {device}:\n" if len(outcome.results) > 1 else ""
