"""The entry function: instructions in the order of the schedule, each a call of its kernel."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.analysis.buffer_assignment import BufferAssignment
from hlotool.analysis.dataflow import Place, bindings, indices, shared_operand
from hlotool.analysis.effects import has_side_effect
from hlotool.codegen.kernels.body import body_of
from hlotool.codegen.kernels.kernel import Launch
from hlotool.codegen.llvm.value import Value, constant
from hlotool.codegen.llvm.writer import Argument, FunctionWriter
from hlotool.codegen.program.addresses import Addresses, array_places, slot
from hlotool.codegen.program.kernel_texts import KernelTexts, Parts, WrittenKernel
from hlotool.codegen.program.layouts import check_layouts, check_static
from hlotool.codegen.program.program import (
    ENTRY,
    POLL,
    POLL_ROUNDS,
    PROFILE_COUNTERS,
    HostCall,
    LaunchedKernel,
    Program,
    Slot,
)
from hlotool.codegen.program.recursion import deep_recursion
from hlotool.codegen.program.trampolines import Trampolines
from hlotool.codegen.target import Target
from hlotool.codegen.unsupported import NotCompiled
from hlotool.ir.computation import Computation
from hlotool.ir.element_type import PRED
from hlotool.ir.instruction import Instruction
from hlotool.ir.shape import ArrayShape
from hlotool.ops.control_flow import Conditional, While
from hlotool.ops.host import AfterAll, RecvDone

_PARALLEL_NANOSECONDS = 30_000
"""Work that takes less is done by the caller alone."""


def program(
    assignment: BufferAssignment,
    target: Target,
    *,
    profile: bool = False,
    parts: Parts | None = None,
) -> Program:
    """Returns the code of a module that is scheduled and has its buffers assigned.

    `parts` is given each part of it as soon as it is there.
    """
    with deep_recursion():
        return _Schedule(assignment, target, parts or Parts(), profile=profile).program()


class _Schedule:
    def __init__(
        self,
        assignment: BufferAssignment,
        target: Target,
        parts: Parts,
        *,
        profile: bool,
    ) -> None:
        self._assignment = assignment
        self._profile = profile
        names = ("context", "arguments", "results", "temporaries")
        self._function = FunctionWriter(
            ENTRY, [Argument("ptr", name) for name in names], "i32", linkage=""
        )
        self._addresses = Addresses(self._function, assignment)
        self._parts = parts
        self._kernels = KernelTexts(target, parts)
        self._trampolines = Trampolines()
        self._host_calls: list[HostCall] = []
        self._launches: list[LaunchedKernel] = []
        self._loops: list[Instruction] = []
        self._widest = 1
        self._table = Value("%table", "ptr")

    def program(self) -> Program:
        """Writes all of it."""
        check_layouts(self._assignment.dataflow.module)
        self._run(self._assignment.dataflow.module.entry)
        text = self._function.text("i32 0")
        head, _, body = text.partition("entry:\n")
        body = f"entry:\n  %table = alloca [{self._widest} x ptr], align 64\n{body}"
        if self._host_calls or "%leave" in body:
            body = body.rstrip().removesuffix("}") + "leave:\n  ret i32 1\n}\n"
        kernels, addresses = self._kernels, self._addresses
        entry = f"{self._trampolines.text}{head}{body}"
        declared = self._function.declarations
        add = self._parts.add if self._loops else self._parts.add_rare
        add("\n".join((*sorted(declared), *kernels.signatures, entry)))
        name = _quoted(self._assignment.dataflow.module.name)
        return Program(
            kernels.module(name, entry, declared),
            [_array(one) for one in addresses.arguments],
            [_array(one) for one in addresses.results],
            addresses.temporary_bytes,
            addresses.constants,
            self._host_calls,
            self._launches,
            list(kernels.libraries),
            addresses.shared,
            self._loops,
        )

    def _run(self, computation: Computation) -> None:
        for instruction in computation.instructions:
            if bindings(instruction):
                self._run_called(instruction)
            elif self._needs_code(instruction):
                self._run_one(instruction)

    def _needs_code(self, instruction: Instruction) -> bool:
        op = instruction.op
        if op.parameter_number is not None or isinstance(op, AfterAll):
            return False
        if not op.runs_code and not isinstance(op, RecvDone):
            return False
        made = [
            shape
            for index, shape in indices(instruction.shape)
            if not shape.is_tuple and shared_operand(instruction, index) is None
        ]
        is_made = any(not isinstance(s, ArrayShape) or s.element_count > 0 for s in made)
        return is_made or has_side_effect(instruction)

    def _run_called(self, instruction: Instruction) -> None:
        bound = bindings(instruction)
        if isinstance(instruction.op, While):
            condition, body = (binding.computation for binding in bound)
            self._loop(instruction, condition, body)
        elif isinstance(instruction.op, Conditional):
            self._conditional(instruction, [binding.computation for binding in bound])
        else:
            self._run(bound[0].computation)

    def _loop(self, loop: Instruction, condition: Computation, body: Computation) -> None:
        function = self._function
        question = POLL - len(self._loops)
        self._loops.append(loop)
        rounds = function.scratch("i64", 1, align=8)
        function.store(constant("i64", 0), rounds, align=8)

        def holds() -> Value:
            self._run(condition)
            return self._flag((condition.root, ()))

        def one_round() -> None:
            self._run(body)
            count = function.binary(
                "add", function.load_again(rounds, "i64", align=8), constant("i64", 1)
            )
            function.store(count, rounds, align=8)
            rest = function.binary("and", count, constant("i64", POLL_ROUNDS - 1))
            is_due = function.compare("eq", rest, constant("i64", 0))
            function.branch(is_due, lambda: self._call_host(question))

        function.repeat(holds, one_round)

    def _conditional(self, instruction: Instruction, branches: Sequence[Computation]) -> None:
        selector = instruction.operands[0]
        shape = selector.shape
        assert isinstance(shape, ArrayShape)
        function = self._function
        if shape.element_type is PRED:
            conditions = [self._flag((selector, ()))]
        else:
            chosen = function.load_again(self._addresses.of((selector, ())), "i32", align=4)
            conditions = [
                function.compare("eq", chosen, constant("i32", number))
                for number in range(len(branches) - 1)
            ]
        self._choose(conditions, branches)

    def _choose(self, conditions: Sequence[Value], branches: Sequence[Computation]) -> None:
        if not conditions:
            self._run(branches[-1])
            return
        self._function.branch(
            conditions[0],
            lambda: self._run(branches[0]),
            lambda: self._choose(conditions[1:], branches[1:]),
        )

    def _flag(self, place: Place) -> Value:
        held = self._function.load_again(self._addresses.of(place), "i8")
        return self._function.compare("ne", held, constant("i8", 0))

    def _run_one(self, instruction: Instruction) -> None:
        if not _has_elements(instruction):
            self._evaluate(instruction, "no elements, only an effect")
            return
        try:
            check_static(instruction)
            body = body_of(instruction)
            loaded = [(instruction.operands[number], index) for _, number, index in body.inputs]
            stored = [(instruction, index) for _, index in body.outputs]
            shared = frozenset(
                (number, other)
                for number, one in enumerate(loaded)
                for other, output in enumerate(stored)
                if self._addresses.spot(one) == self._addresses.spot(output)
            )
            kernel = self._kernels.kernel(body, shared)
        except NotCompiled as reason:
            self._evaluate(instruction, str(reason))
        else:
            self._launch(instruction, kernel, [*loaded, *stored])

    def _launch(
        self, instruction: Instruction, kernel: WrittenKernel, places: Sequence[Place]
    ) -> None:
        workspace = self._addresses.room(instruction, kernel.workspace_bytes)
        addresses = [Value("%context", "ptr"), *map(self._addresses.of, places), workspace]
        begin = self._ticks()
        for name, of_phase in kernel.phases:
            self._call(name, of_phase, addresses)
        launch = kernel.launch
        is_parallel = self._call(kernel.name, launch, addresses)
        self._note(begin)
        self._launches.append(
            LaunchedKernel(
                instruction,
                kernel.name,
                launch.count,
                launch.grain,
                is_parallel,
                launch.count * launch.nanoseconds,
            )
        )

    def _call(self, name: str, launch: Launch, addresses: Sequence[Value]) -> bool:
        """Writes the run of a function over all items; says whether threads share them."""
        function = self._function
        total = launch.count * launch.nanoseconds
        is_parallel = launch.count > launch.grain and total > _PARALLEL_NANOSECONDS
        if is_parallel:
            self._fill([Value(f"@{name}", "ptr"), *addresses])
            parallel = function.load(slot(function, Slot.PARALLEL), "ptr", align=8)
            pool = function.load(slot(function, Slot.POOL), "ptr", align=8)
            run = self._trampolines.of(len(addresses))
            counts = (constant("i64", launch.count), constant("i64", launch.grain))
            function.call_pointer(parallel, "void", pool, run, self._table, *counts)
        else:
            listed = ", ".join(address.text for address in addresses)
            function.effect(f"call void @{name}({listed}, i64 0, i64 {launch.count})")
        return is_parallel

    def _evaluate(self, instruction: Instruction, reason: str) -> None:
        places = array_places((*instruction.operands, instruction))
        self._host_calls.append(HostCall(instruction, reason))
        self._fill([self._addresses.of(place) for place in places])
        self._call_host(len(self._host_calls) - 1)

    def _fill(self, addresses: Sequence[Value]) -> None:
        self._widest = max(self._widest, len(addresses))
        for number, address in enumerate(addresses):
            entry = self._function.offset(self._table, constant("i64", number), "ptr")
            self._function.store(address, entry, align=8)

    def _call_host(self, number: int) -> None:
        function = self._function
        host = function.load(slot(function, Slot.HOST_CALL), "ptr", align=8)
        state = function.load(slot(function, Slot.HOST_STATE), "ptr", align=8)
        failed = function.call_pointer(host, "i32", state, constant("i64", number), self._table)
        assert failed is not None
        function.leave_if(function.compare("ne", failed, constant("i32", 0)))

    def _ticks(self) -> Value | None:
        if not self._profile:
            return None
        self._function.declarations.add("declare i64 @llvm.readcyclecounter()")
        return self._function.impure("call i64 @llvm.readcyclecounter()", "i64")

    def _note(self, begin: Value | None) -> None:
        if begin is None:
            return
        function = self._function
        now = self._ticks()
        assert now is not None
        counters = function.load(slot(function, Slot.PROFILE), "ptr", align=8)
        ticks = function.binary("sub", now, begin)
        first = PROFILE_COUNTERS * len(self._launches)
        changes: list[Callable[[Value], Value]] = [
            lambda before: function.binary("add", before, ticks),
            lambda before: function.binary("add", before, constant("i64", 1)),
            lambda before: function.intrinsic("umin", before, ticks),
        ]
        for number, change in enumerate(changes):
            place = function.offset(counters, constant("i64", first + number), "i64")
            function.store(change(function.load_again(place, "i64", align=8)), place, align=8)


def _quoted(name: str) -> str:
    """Returns a text as LLVM IR has it."""
    data = name.encode("utf-8", "surrogatepass")
    shown = (chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in data)
    return f'"{"".join(shown)}"'


def _has_elements(instruction: Instruction) -> bool:
    leaves = [shape for _, shape in instruction.shape.leaves()]
    return any(isinstance(one, ArrayShape) and one.element_count > 0 for one in leaves)


def _array(place: Place) -> ArrayShape:
    instruction, index = place
    shape = instruction.shape.subshape(index)
    assert isinstance(shape, ArrayShape)
    return shape
