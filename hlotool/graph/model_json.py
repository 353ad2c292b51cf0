"""A module as JSON for programs: computations with their nodes, and what a picture says of each."""

from __future__ import annotations

from typing import Any

from hlotool.graph.memory import Memory
from hlotool.graph.model import ModuleGraph, called_by, is_folded, part_number
from hlotool.graph.selection import Choice, Selection, selected
from hlotool.graph.stack_frames import stack_frames
from hlotool.ir.computation import Computation
from hlotool.ir.cost import byte_count
from hlotool.ir.instruction import Instruction
from hlotool.ir.module import Module


def module_json(module: Module, choice: Choice) -> dict[str, Any]:
    """Returns what is chosen of a module, by default all computations, with their nodes.

    Lines count from 1 in the text of `hlotool opt`. Costs of an instruction are those of one
    run, with all that it calls. `live_bytes` and `buffer` are `None` where nothing is known.
    `statistics` are what a profile has left, such as times, by their names; `frames` are the
    places in the program that made the instruction, the innermost first.
    """
    graph = ModuleGraph(module)
    memory = Memory(graph)
    parts = [selected(graph, choice)] if choice.is_part else _all(graph)
    return {
        "module": module.name,
        "entry": module.entry.name,
        "computations": [_computation(graph, memory, part) for part in parts],
    }


def _all(graph: ModuleGraph) -> list[Selection]:
    return [Selection(one, graph.instructions(one)) for one in graph.computations]


def _computation(graph: ModuleGraph, memory: Memory, part: Selection) -> dict[str, Any]:
    computation: Computation = part.computation
    return {
        "name": computation.name,
        "kind": graph.kind(computation),
        "root": computation.root.name,
        "left_out": part.left_out,
        "nodes": [_node(graph, memory, one) for one in part.instructions],
    }


def _node(graph: ModuleGraph, memory: Memory, instruction: Instruction) -> dict[str, Any]:
    op = instruction.op
    cost = graph.cost(instruction)
    annotations = instruction.annotations
    metadata, sharding = annotations.metadata, annotations.sharding
    return {
        "name": instruction.name,
        "opcode": op.opcode,
        "title": graph.title(instruction),
        "category": graph.category(instruction).value,
        "shape": instruction.shape.text,
        "bytes": byte_count(instruction.shape),
        "index": part_number(instruction),
        "value": op.short_value or None,
        "attributes": dict([*op.written(), *op.written(after_calls=True)]),
        "operands": [operand.name for operand in instruction.operands],
        "control_predecessors": [one.name for one in instruction.control_predecessors],
        "calls": [
            {"part": called.part, "kind": called.kind, "computation": called.computation.name}
            for called in called_by(instruction)
        ],
        "folded": is_folded(instruction),
        "flops": cost.flops,
        "transcendentals": cost.transcendentals,
        "bytes_read": cost.bytes_read,
        "bytes_written": cost.bytes_written,
        "live_bytes": memory.live_bytes.get(instruction),
        "buffer": memory.buffers.get(instruction),
        "statistics": dict(annotations.statistics.values),
        "sharding": None if sharding is None else sharding.without_metadata().text,
        "op_name": metadata.op_name or None,
        "source_file": metadata.source_file or None,
        "source_line": metadata.source_line or None,
        "frames": [
            {"place": place, "function": function}
            for place, function in stack_frames(graph.module, metadata.stack_frame_id)
        ],
        "line": graph.text.line.get(instruction, 0) + 1,
    }
