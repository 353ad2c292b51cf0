"""Tokens, transfers to and from the host or another device, and asynchronous copies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Self

from hlotool.errors import EvaluationError, ShapeError, UnsupportedError
from hlotool.ir.appearance import Category
from hlotool.ir.attribute import BOOLEAN, INTEGER, SHAPE, TEXT
from hlotool.ir.element_type import U32
from hlotool.ir.frame import Frame, Place, Value
from hlotool.ir.lazy import numpy as np
from hlotool.ir.op import Op
from hlotool.ir.record import attr
from hlotool.ir.shape import TOKEN, ArrayShape, ProgramShape, Shape, TupleShape
from hlotool.ops.collective_groups import GroupMode, check_place
from hlotool.ops.shape_checks import check_same
from hlotool.ops.tuple_values import with_contexts

_CONTEXT = ArrayShape(U32)
_PAIRS = "_xla_send_recv_source_target_pairs"
_RENDEZVOUS = "_xla_host_transfer_rendezvous"
_PAIR = re.compile(r"\{(\d+),(\d+)\}")
_PAIR_LIST = re.compile(rf"\{{(?:{_PAIR.pattern},?)*\}}")


class AfterAll(Op, opcode="after-all"):
    """Yields a token that is there when all operands are; without operands, at once."""

    category = Category.CONTROL
    runs_code = False
    arity = None

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of a token."""
        return TOKEN

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns a token: all operands are there already."""
        return None


class AddDependency(Op, opcode="add-dependency"):
    """Yields its first operand, and only after the token that is its second one."""

    category = Category.CONTROL
    runs_code = False
    arity = 2

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the first operand's shape."""
        value, token = operands
        check_same(token, TOKEN, "add-dependency: operand 1")
        return value

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the first operand."""
        return operands[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the same part of the first operand."""
        return 0, index


class Infeed(Op, opcode="infeed"):
    """Takes data from the queue that the host fills; yields it with a token."""

    category = Category.EXTERNAL
    arity = 1
    infers_shape = False
    has_side_effect = True

    infeed_config: str = attr(TEXT, default="")

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless a token gives data and a token."""
        check_same(operands[0], TOKEN, "infeed: operand 0")
        _elements(declared, 2, "infeed: shape", "(data, token[])")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the next value of the queue, and a token."""
        return frame.device.infeed(), None


class Outfeed(Op, opcode="outfeed"):
    """Puts data into the queue that the host empties; yields a token.

    `outfeed_shape` is the shape in which the host sees the data.
    """

    category = Category.EXTERNAL
    arity = 2
    infers_shape = False
    has_side_effect = True

    outfeed_shape: Shape | None = attr(SHAPE, default=None)
    outfeed_config: str = attr(TEXT, default="")

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of a token."""
        data, token = operands
        check_same(token, TOKEN, "outfeed: operand 1")
        if self.outfeed_shape is not None:
            check_same(self.outfeed_shape, data, "outfeed: outfeed_shape")
        return TOKEN

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns a token after the value was put into the queue."""
        frame.device.outfeed(operands[0])
        return None

    def adapted(self, operands: Sequence[Shape], declared: Shape) -> Self:
        """Returns the op with the operand's shape where no outfeed shape was given."""
        if self.outfeed_shape is None and operands:
            return self.replace(outfeed_shape=operands[0])
        return self


class Transfer(Op):
    """Base of the halves of sends and receives.

    What is sent is received where `channel_id` is the same, or where frontend attributes name
    the host's side.
    """

    category = Category.EXTERNAL
    infers_shape = False
    has_side_effect = True

    channel_id: int | None = attr(INTEGER, default=None)
    is_host_transfer: bool = attr(BOOLEAN, default=False)

    def check_no_host(self, frame: Frame) -> None:
        """Raises `UnsupportedError` where the other side is the host."""
        if self.is_host_transfer:
            name = frame.instruction.annotations.frontend_attributes.get(_RENDEZVOUS)
            what = f"a transfer {name}" if name else "a transfer"
            raise UnsupportedError(f"{self.opcode}: {what} to or from the host cannot be evaluated")

    def pairs(self, frame: Frame) -> list[tuple[Place, Place]]:
        """Returns which device sends to which; where nothing says so, each to itself.

        Numbers are partitions of a replica where there is a positive channel id and more
        than one partition, otherwise replicas.
        """
        device = frame.device
        text = frame.instruction.annotations.frontend_attributes.get(_PAIRS)
        if text is None:
            own = device.replica, device.partition
            return [(own, own)]
        text = text.replace(" ", "")
        if not _PAIR_LIST.fullmatch(text):
            raise EvaluationError(f"{self.opcode}: {_PAIRS}={text} is no list of pairs")
        numbers = [(int(source), int(target)) for source, target in _PAIR.findall(text)]
        crosses = self.channel_id and device.partitions > 1
        mode = GroupMode.CROSS_PARTITION if crosses else GroupMode.CROSS_REPLICA
        return [
            (_place(source, mode, frame), _place(target, mode, frame)) for source, target in numbers
        ]


class Send(Transfer, opcode="send"):
    """Begins to send its first operand; yields it with a context and a token."""

    arity = 2

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `(data, u32[], token[])`."""
        data, token = operands
        check_same(token, TOKEN, "send: operand 1")
        return TupleShape((data, _CONTEXT, TOKEN))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the data, a context and a token; leaves the data for the targets."""
        self.check_no_host(frame)
        own = frame.device.replica, frame.device.partition
        for source, target in self.pairs(frame):
            if source == own:
                frame.device.send(self.channel_id, target, operands[0])
        return with_contexts((operands[0],), frame.shape)


class SendDone(Transfer, opcode="send-done"):
    """Waits until what its operand began to send is sent; yields a token."""

    runs_code = False
    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of a token."""
        _elements(operands[0], 3, "send-done: operand 0", "(data, u32[], token[])")
        return TOKEN

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns a token: sending waits for nobody."""
        self.check_no_host(frame)
        return None


class Recv(Transfer, opcode="recv"):
    """Begins to receive data; yields them with a context and a token."""

    arity = 1

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` unless a token gives data, a context and a token."""
        check_same(operands[0], TOKEN, "recv: operand 0")
        elements = _elements(declared, 3, "recv: shape", "(data, u32[], token[])")
        check_same(elements[1], _CONTEXT, "recv: element 1 of the shape")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns zeros in place of the data, which recv-done waits for, and a token.

        The context is the number of the device that sends, counted from 1, or 0 for none.
        """
        self.check_no_host(frame)
        own = frame.device.replica, frame.device.partition
        senders = [source for source, target in self.pairs(frame) if target == own]
        context = np.uint32(0)
        if senders:
            replica, partition = senders[0]
            context = np.uint32(replica * frame.device.partitions + partition + 1)
        data, _, token = with_contexts((), frame.shape)
        return data, context, token


class RecvDone(Transfer, opcode="recv-done"):
    """Waits until what its operand began to receive is there; yields it with a token."""

    runs_code = False
    arity = 1

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns `(data, token[])`."""
        wanted = "(data, u32[], token[])"
        data, _, token = _elements(operands[0], 3, "recv-done: operand 0", wanted)
        return TupleShape((data, token))

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns what the device that recv has found sends, zeros where there is none."""
        self.check_no_host(frame)
        zeros, context, token = operands[0]
        if not context:
            return zeros, token
        sender = divmod(int(context) - 1, frame.device.partitions)
        return frame.device.receive(frame, self.channel_id, sender), token


class CopyStart(Op, opcode="copy-start"):
    """Begins to copy its operand; yields destination, source and a context.

    `cross_program_prefetch_index` numbers copies that the program run before may begin.
    """

    category = Category.MOVEMENT
    arity = 1
    infers_shape = False

    cross_program_prefetch_index: int | None = attr(INTEGER, default=None)

    def check_shape(
        self, operands: Sequence[Shape], calls: Sequence[ProgramShape], declared: Shape
    ) -> None:
        """Raises `ShapeError` where destination or source is not of the operand's shape."""
        what = "copy-start: shape"
        if not isinstance(declared, TupleShape) or len(declared.elements) < 2:
            raise ShapeError(
                f"{what} is {declared.plain_text}, (destination, source, u32[]) is wanted"
            )
        check_same(declared.elements[0], operands[0], f"{what}: the destination")
        check_same(declared.elements[1], operands[0], f"{what}: the source")

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the operand as destination and as source: values are never written to."""
        (source,) = operands
        return with_contexts((source, source), frame.shape)

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns the operand for destination and source."""
        return (0, index[1:]) if index[:1] in {(0,), (1,)} else None


class CopyDone(Op, opcode="copy-done"):
    """Waits until a copy is made; yields its destination."""

    category = Category.MOVEMENT
    runs_code = False
    arity = 1
    infers_shape = False

    def infer_shape(self, operands: Sequence[Shape], calls: Sequence[ProgramShape]) -> Shape:
        """Returns the shape of the destination."""
        (started,) = operands
        if not isinstance(started, TupleShape) or len(started.elements) < 2:
            raise ShapeError(
                f"copy-done: operand 0 is {started.plain_text}, a copy-start is wanted"
            )
        return started.elements[0]

    def evaluate(self, operands: Sequence[Value], frame: Frame) -> Value:
        """Returns the destination."""
        (started,) = operands
        return started[0]

    def passes(self, index: tuple[int, ...], count: int) -> tuple[int, tuple[int, ...]] | None:
        """Returns where the destination is in the start."""
        return 0, (0, *index)


def _place(number: int, mode: GroupMode, frame: Frame) -> Place:
    (place,) = mode.places(number, frame.device)
    check_place(place, frame.device, frame.instruction.opcode)
    return place


def _elements(shape: Shape, count: int, what: str, wanted: str) -> Sequence[Shape]:
    elements = shape.elements if isinstance(shape, TupleShape) else ()
    # Every such tuple ends with a token.
    if len(elements) != count or not elements[-1].is_token:
        raise ShapeError(f"{what} is {shape.plain_text}, {wanted} is wanted")
    return elements
