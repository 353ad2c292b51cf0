"""A digest of what a module means: equal for modules that differ in names and order alone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from hlotool.ir.annotations import NO_ANNOTATIONS
from hlotool.ir.literal import Literal

if TYPE_CHECKING:
    from hlotool.ir.computation import Computation
    from hlotool.ir.instruction import Instruction
    from hlotool.ir.module import Module
    from hlotool.ir.op import Op
    from hlotool.ir.record import Record

_SIZE = 16
_EDITION = b"hlotool fingerprint 1"
"""Changes whenever the digest of any module would change."""
_REMARKS = frozenset(
    {
        "metadata", "origin", "origin_recovery_table", "statistics", "alias_passthrough_params",
        "allow_spmd_sharding_propagation_to_parameters",
        "allow_spmd_sharding_propagation_to_output",
    }
)  # fmt: skip
"""What tells where a module comes from, how it ran or what passes may do with it, and nothing
of what it computes; a proto has no place for some of it."""
_ONLY_METADATA = re.compile(
    r'[\s,]*metadata=\{(?:[^{}"]++|"(?:[^"\\]|\\.)*"|\{[^{}"]*+\})*\}\s*', re.DOTALL
)


def fingerprint(module: Module) -> str:
    """Returns 128 bits, as 32 hexadecimal digits, that stand for what a module computes.

    What counts: opcodes with all attributes and the bits of constants; shapes with layouts;
    operands and their order; called computations, by their own digests; control edges;
    parameter numbers and roots; sharding, frontend attributes, backend configurations and
    accuracy; dead code; execution threads; the header, with aliasing, replicas and
    `is_scheduled`. Whether two users share an instruction or have equal ones counts too.

    What does not count: names of modules, computations, instructions; the order in which
    they stand, in scheduled modules as well; metadata, origins, statistics, stack tables; how
    the text is written.

    It is stable across processes, machines and versions of Python.
    """
    header = module.header
    if header.entry_computation_layout is None:
        header = header.replace(entry_computation_layout=module.entry.program_shape)
    digests = _Digests()
    by_computation: dict[Computation, bytes] = {}
    for computation in module.computations:
        by_computation[computation] = digests.of_computation(computation, by_computation)
    return _digest(
        _EDITION,
        _digest(*_counted(header)),
        by_computation[module.entry],
        *sorted(by_computation.values()),
    ).hex()


class _Digests:
    """Digests of parts that many instructions share, made once each."""

    def __init__(self) -> None:
        # Ops are kept by identity: they live as long as the module, and hashing one reads all
        # of its attributes.
        self._ops: dict[int, bytes] = {}
        self._shapes: dict[str, bytes] = {}
        self._annotations: dict[Record, bytes] = {}

    def of_computation(
        self, computation: Computation, by_computation: dict[Computation, bytes]
    ) -> bytes:
        """Returns the digest of a computation whose called computations have theirs."""
        by_instruction: dict[Instruction, bytes] = {}
        for instruction in computation.instructions:
            by_instruction[instruction] = self._of_instruction(
                instruction, by_instruction, by_computation
            )
        root = by_instruction[computation.root]
        labels: Iterable[bytes] = by_instruction.values()
        if len(set(labels)) < len(by_instruction):
            labels = _told_apart(computation, by_instruction)
        return _digest(computation.execution_thread.encode(), root, *sorted(labels))

    def _of_instruction(
        self,
        instruction: Instruction,
        by_instruction: dict[Instruction, bytes],
        by_computation: dict[Computation, bytes],
    ) -> bytes:
        op, operands, calls = instruction.op, instruction.operands, instruction.calls
        predecessors = instruction.control_predecessors
        # The counts make joining unambiguous: every other part has the same length.
        parts = [
            b"%d %d %d;" % (len(operands), len(calls), len(predecessors)),
            self._ops.get(id(op)) or self._of_op(op),
            self._of_shape(instruction.shape.text),
            self._of_annotations(instruction),
            *[by_instruction[operand] for operand in operands],
            *[by_computation[computation] for computation in calls],
            *sorted(by_instruction[predecessor] for predecessor in predecessors),
        ]
        return blake2b(b"".join(parts), digest_size=_SIZE).digest()

    def _of_op(self, op: Op) -> bytes:
        made = _digest(op.opcode.encode(), *_counted(op))
        self._ops[id(op)] = made
        return made

    def _of_shape(self, text: str) -> bytes:
        made = self._shapes.get(text)
        if made is None:
            made = self._shapes[text] = _digest(text.encode())
        return made

    def _of_annotations(self, instruction: Instruction) -> bytes:
        text = instruction.annotation_text
        # Metadata is in every line of a dump, and parsing it would take longer than all else.
        if text is not None and (not text or _ONLY_METADATA.fullmatch(text)):
            return _NOTHING
        annotations = instruction.annotations
        if annotations is NO_ANNOTATIONS:
            return _NOTHING
        made = self._annotations.get(annotations)
        if made is None:
            made = self._annotations[annotations] = _digest(*_counted(annotations))
        return made


def _told_apart(computation: Computation, by_instruction: dict[Instruction, bytes]) -> list[bytes]:
    """Returns labels that say of each instruction what it is and also who uses it, and how.

    Equal instructions have equal digests; but `f(x), g(x)` and `f(x), g(y)` may be different
    programs even where x and y are equal, when they are random numbers, say.
    """
    uses: dict[Instruction, list[bytes]] = {one: [] for one in computation.instructions}
    uses[computation.root].append(b"root")
    labels = []
    for instruction in reversed(computation.instructions):
        label = _digest(by_instruction[instruction], *sorted(uses[instruction]))
        labels.append(label)
        for index, operand in enumerate(instruction.operands):
            uses[operand].append(label + index.to_bytes(4, "little"))
        for predecessor in instruction.control_predecessors:
            uses[predecessor].append(label)
    return labels


def _counted(record: Record) -> list[bytes]:
    """Returns names and values of the attributes that count and are not default."""
    parts: list[bytes] = []
    for field in record.fields:
        value = getattr(record, field.name)
        # What is read and never printed says nothing.
        if field.text_name in _REMARKS or field.read_only or value == field.default:
            continue
        parts += (field.text_name.encode(), _written(value, field.kind.write))
    return parts


def _written(value: Any, write: Any) -> bytes:
    if isinstance(value, Literal):
        return _of_literal(value)
    text: str = write(value)
    return text.encode("utf-8", "surrogateescape")


def _of_literal(literal: Literal) -> bytes:
    # The bits, not the text: they say more, and large arrays are slow to write.
    state = b"elided" if literal.elided else b"known"
    parts = [_of_literal(element) for element in literal.elements]
    return _digest(literal.shape.text.encode(), state, literal.data, *parts)


def _digest(*parts: bytes) -> bytes:
    made = blake2b(digest_size=_SIZE)
    for part in parts:
        made.update(len(part).to_bytes(8, "little"))
        made.update(part)
    return made.digest()


_NOTHING = _digest()
