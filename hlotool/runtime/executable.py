"""Compiled modules that can be called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.codegen.kernels.products.library import LIBRARY_VECTOR_BYTES
from hlotool.codegen.program.program import Program
from hlotool.codegen.target import Target
from hlotool.errors import EvaluationError, counted
from hlotool.ir.cost import byte_count
from hlotool.ir.frame import Array, Value
from hlotool.ir.module import Module
from hlotool.ir.shape import ArrayShape, Shape, TupleShape
from hlotool.ops.contraction import Dot
from hlotool.ops.control_flow import While
from hlotool.ops.tuple_values import put_together
from hlotool.runtime.arguments import Arguments
from hlotool.runtime.binding import Calling, Loaded
from hlotool.runtime.llvm import LoadedCode
from hlotool.runtime.running import HOST, Run, Stop, run_with

_RELEASE_NANOSECONDS = 20_000
"""Where the work takes longer, other threads of Python may run meanwhile."""
_BYTES_A_NANOSECOND = 4


class Executable:
    """A module as machine code. Calling it with the arguments runs it; threads may do so at once.

    Arguments are those of `hlotool.evaluate`: arrays that lie as numpy lays them out are taken
    where they lie, others are copied. Results are arrays of their own.
    """

    def __init__(
        self,
        module: Module,
        program: Program,
        code: LoadedCode,
        target: Target,
        *,
        threads: int = 1,
        donated: frozenset[int] = frozenset(),
        libraries: int = 0,
        timings: dict[str, float] | None = None,
    ) -> None:
        self.module = module
        """The module as it was compiled: optimized, scheduled, with copies."""
        self.program = program
        """The LLVM IR, and what stands beside it."""
        self.target = target
        """What the code was made for."""
        self.timings = timings or {}
        """How long each stage of compilation took, in seconds."""
        self._stop = Stop()
        self._shape = module.entry.root.shape
        shapes = [parameter.shape for parameter in module.entry.parameters]
        self._arguments = Arguments(module.name, shapes)
        self._has_host = bool(program.host_calls) or _has_loops(module)
        calling = Calling(
            self._arguments.arrays, HOST, isinstance(self._shape, ArrayShape),
            self._has_host or _is_long(program), donated, threads, libraries,
        )  # fmt: skip
        self._loaded = Loaded(program, code, target, calling)
        self._function: Callable[..., Any] = self._loaded.function()
        self._has_flat_result = _is_flat(self._shape)
        self._is_direct = not self._has_host and self._arguments.are_flat and self._has_flat_result

    def __call__(self, *arguments: Any, seed: int = 0, max_steps: int | None = None) -> Any:
        """Returns what the module yields for arguments: arrays, in tuples as it says.

        `seed` is that of `rng`. Loops end after `max_steps` rounds, looked at after every 16,384
        rounds of a loop; where that is `None`, they run until they are done, `stop` is called, or
        Ctrl-C is pressed. Raises `TypeError`
        and `ValueError` (which are also `EvaluationError`) for arguments that do not fit, and
        what `hlotool.evaluate` raises for what goes wrong during the run.
        """
        if self._is_direct:
            try:
                return self._function(*arguments)
            except MemoryError:
                raise self._no_memory() from None
        parts = arguments if self._arguments.are_flat else self._arguments.parts(*arguments)
        result = self._run(tuple(parts), seed, max_steps)
        return result if self._has_flat_result else self._nested(result)

    def run(self, arguments: Sequence[Array], seed: int = 0) -> list[Array]:
        """Returns the arrays of the result for those of the arguments, tuples taken apart."""
        result = self._run(tuple(arguments), seed, None)
        return list(result) if isinstance(result, tuple) else [result]

    def stop(self) -> None:
        """Ends the calls that are going on in other threads, at the next turn of a long loop."""
        self._stop.count += 1

    @property
    def input_shapes(self) -> list[Shape]:
        """The shapes of the parameters."""
        return [parameter.shape for parameter in self.module.entry.parameters]

    @property
    def output_shapes(self) -> list[Shape]:
        """The shapes of the results: those of the parts where the result is a tuple."""
        shape = self._shape
        return list(shape.elements) if isinstance(shape, TupleShape) else [shape]

    @property
    def temporary_bytes(self) -> int:
        """How much memory one call needs beside arguments and results."""
        return self.program.temporary_bytes

    @property
    def threads(self) -> int:
        """How many threads take part in the work at most, the caller among them."""
        return self._loaded.threads.value

    @property
    def profile(self) -> Array:
        """A row for each of `program.launches`: all its ticks, how often it ran, fewest ticks.

        They are counted where the module was compiled with `profile`, as `run-hlo --bench` does.
        """
        return self._loaded.counters

    def reset_profile(self) -> None:
        """Lets the counters of `profile` begin anew."""
        self._loaded.reset_counters()

    def explain(self) -> str:
        """Returns a text about what is compiled, and what the host evaluates and why."""
        program = self.program
        head = f"{self.module.name}: {self._launched()}"
        lines = [f"{head}; {self.temporary_bytes:,} bytes of temporaries"]
        if self.library_use:
            lines.append(self.library_use)
        if not program.host_calls:
            lines.append("everything is compiled")
        reasons = Counter((call.instruction.opcode, call.reason) for call in program.host_calls)
        for (opcode, reason), count in reasons.most_common():
            names = [
                call.instruction.name
                for call in program.host_calls
                if (call.instruction.opcode, call.reason) == (opcode, reason)
            ]
            more = f" and {count - 1} more" if count > 1 else ""
            lines.append(f"evaluated by the host: {opcode} {names[0]}{more}: {reason}")
        return "\n".join(lines)

    @property
    def library_use(self) -> str:
        """What runs products of matrices, as words; empty where the module has none."""
        products = sum(isinstance(one.op, Dot) for one in self.module.instructions())
        if not products:
            return ""
        if self.program.libraries:
            names = ", ".join(self.program.libraries)
            return f"products of matrices: OpenBLAS ({names}) runs large ones"
        own = "products of matrices: hlotool's own code"
        if self.target.vector_bytes > LIBRARY_VECTOR_BYTES:
            return f"{own} (OpenBLAS is for processors without AVX-512)"
        if self.target.libraries:
            return f"{own}, none is large enough for OpenBLAS"
        return f"{own}; OpenBLAS is not installed (pip install scipy-openblas64)"

    def _launched(self) -> str:
        launches = self.program.launches
        parallel = sum(launch.is_parallel for launch in launches)
        if not launches:
            return "no kernel is launched"
        threads = counted(self.threads, "thread")
        if len(launches) == 1:
            many = f", on up to {threads}" if parallel else ""
            return f"1 kernel is launched{many}"
        many = f", {parallel} of them on up to {threads}" if parallel else ""
        return f"{len(launches)} kernels are launched{many}"

    def __repr__(self) -> str:
        shapes = ", ".join(shape.plain_text for shape in self.input_shapes)
        return f"<executable {self.module.name}: ({shapes}) -> {self._shape.plain_text}>"

    def _run(self, parts: tuple[Any, ...], seed: int, max_steps: int | None) -> Any:
        try:
            if not self._has_host:
                return self._function(*parts)
            run = Run(self.program, self._stop, seed, max_steps)
            return run_with(run, self._function, parts)
        except MemoryError:
            raise self._no_memory() from None

    def _no_memory(self) -> EvaluationError:
        return EvaluationError(
            f"out of memory for {self.module.name}, which takes {self.temporary_bytes:,} bytes"
            f" beside arguments and {self._shape.plain_text}"
        )

    def _nested(self, result: Any) -> Value:
        arrays = iter(result if isinstance(result, tuple) else [result])
        return put_together(self._shape, arrays)


def _is_flat(shape: Shape) -> bool:
    elements = shape.elements if isinstance(shape, TupleShape) else (shape,)
    return all(isinstance(element, ArrayShape) for element in elements)


def _has_loops(module: Module) -> bool:
    return any(isinstance(one.op, While) for one in module.instructions())


def _is_long(program: Program) -> bool:
    work = sum(launch.nanoseconds for launch in program.launches)
    size = sum(byte_count(shape) for shape in (*program.arguments, *program.results))
    return max(work, size / _BYTES_A_NANOSECOND) > _RELEASE_NANOSECONDS
