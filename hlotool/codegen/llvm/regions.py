"""Loops and branches of a function that is being written, and where each instruction goes.

What is pure is written once, in the outermost loop in which all its operands are known: so
nothing that a loop does not change is computed in it, and LLVM has no such work to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from hlotool.codegen.llvm.value import Value


@dataclass
class Region:
    """The lines of a loop's body, a branch, or the whole function."""

    label: str
    """The basic block that lines are added to now."""
    is_guard: bool
    """Whether it may be left out: what can fault must not be moved out of it."""
    lines: list[str] = field(default_factory=list)
    known: dict[str, Value] = field(default_factory=dict)
    """Pure instructions that stand here, by their text."""
    written: dict[str, tuple[Value, ...]] = field(default_factory=dict)
    """What was written here with `once`, by its key."""


class Loop:
    """A loop while it is written: its counter, and values that each round hands to the next."""

    def __init__(self, index: Value, carried: tuple[Value, ...]) -> None:
        self.index = index
        """The counter, `i64`."""
        self.carried = carried
        """What the round before has left, in the first round what the loop began with."""
        self.next: tuple[Value, ...] | None = None
        """What this round leaves: to be set in the body of a loop that carries values."""
        self.results: tuple[Value, ...] = ()
        """What the last round has left, known when the loop is closed."""


class Regions:
    """The nest of regions that are open; the last one is being written."""

    def __init__(self) -> None:
        self._open = [Region("entry", is_guard=True)]
        self._count = 0

    @property
    def level(self) -> int:
        """The level of what is written now."""
        return len(self._open) - 1

    def fresh(self) -> str:
        """Returns a name that the function does not have yet."""
        self._count += 1
        return f"%v{self._count}"

    def effect(self, line: str) -> None:
        """Writes an instruction that must stand where it is: a store, a call."""
        self._open[-1].lines.append(f"  {line}")

    def pure(
        self, text: str, operands: Sequence[Value], lane: str, lanes: int, *, pinned: bool = False
    ) -> Value:
        """Writes an instruction that yields a value and changes nothing; the same one only once.

        `pinned` keeps one that can fault, as a load, inside the branch that guards it.
        """
        level = self._guard_level() if pinned else 0
        for operand in operands:
            level = max(level, operand.level)
        region = self._open[level]
        found = region.known.get(text)
        if found is None:
            found = Value(self.fresh(), lane, lanes, level)
            region.lines.append(f"  {found.name} = {text}")
            region.known[text] = found
        return found

    def impure(self, text: str, lane: str, lanes: int = 1) -> Value:
        """Writes an instruction that yields a value and must stand where it is."""
        value = Value(self.fresh(), lane, lanes, self.level)
        self.effect(f"{value.name} = {text}")
        return value

    def once(self, key: str, write: Callable[[], Sequence[Value]]) -> tuple[Value, ...]:
        """Returns what `write` yields: it is only called where its key is not known yet.

        So branches, which are no single instruction, are not written twice either.
        """
        for region in self._open:
            if key in region.written:
                return region.written[key]
        found = self._open[-1].written[key] = tuple(write())
        return found

    def forget(self) -> None:
        """Makes loads read again what memory holds, after it has been written to."""
        for region in self._open:
            for text in [text for text in region.known if text.startswith("load")]:
                del region.known[text]

    @contextmanager
    def before(self, level: int) -> Iterator[None]:
        """Holds while code is written that stands before all that is open inside of a level."""
        kept = self._open[level + 1 :]
        del self._open[level + 1 :]
        yield
        assert len(self._open) == level + 1, "a loop is open"
        self._open += kept

    @contextmanager
    def loop(
        self, begin: Value, end: Value, step: Value | int = 1, carried: Sequence[Value] = ()
    ) -> Iterator[Loop]:
        """Writes a loop `for (index = begin; index < end; index += step)` of at least one round.

        `carried` are the values that the first round begins with; the body sets `next`.
        """
        number = self._number()
        outer = self._open[-1]
        inner = Region(f"loop{number}", is_guard=False)
        self._open.append(inner)
        level = self.level
        counter = Value(f"%i{number}", "i64", 1, level)
        values = tuple(Value(self.fresh(), v.type, v.lanes, level) for v in carried)
        loop = Loop(counter, values)
        yield loop
        self._open.pop()
        left = loop.next or ()
        assert len(left) == len(values), "a loop must say what it hands to its next round"
        stride = step if isinstance(step, Value) else Value(str(step), "i64")
        # What was written `before` the loop meanwhile may have ended the block it began in.
        before = outer.label
        lines = outer.lines
        lines += [f"  br label %loop{number}", f"loop{number}:"]
        lines.append(
            f"  {counter.name} = phi i64 [ {begin.name}, %{before} ],"
            f" [ {counter.name}.next, %{inner.label} ]"
        )
        for value, first, last in zip(values, carried, left, strict=True):
            lines.append(
                f"  {value.name} = phi {value.full_type} [ {first.name}, %{before} ],"
                f" [ {last.name}, %{inner.label} ]"
            )
        lines += inner.lines
        lines += [
            f"  {counter.name}.next = add nuw nsw i64 {counter.name}, {stride.name}",
            f"  {counter.name}.more = icmp slt i64 {counter.name}.next, {end.name}",
            f"  br i1 {counter.name}.more, label %loop{number}, label %after{number}",
            f"after{number}:",
        ]
        outer.label = f"after{number}"
        loop.results = tuple(self._kept(last) for last in left)

    def branch(
        self,
        condition: Value,
        then: Callable[[], Sequence[Value] | None],
        otherwise: Callable[[], Sequence[Value] | None] = tuple,
    ) -> tuple[Value, ...]:
        """Writes `if` and `else`, and returns what the branch that is taken yields, if anything."""
        number = self._number()
        outer = self._open[-1]
        sides = []
        for name, write in ((f"then{number}", then), (f"else{number}", otherwise)):
            region = Region(name, is_guard=True)
            self._open.append(region)
            values = tuple(write() or ())
            self._open.pop()
            sides.append((region, values))
        (yes, ours), (no, theirs) = sides
        lines = outer.lines
        lines += [f"  br i1 {condition.name}, label %then{number}, label %else{number}"]
        for name, (region, _) in (("then", sides[0]), ("else", sides[1])):
            lines += [f"{name}{number}:", *region.lines, f"  br label %join{number}"]
        lines.append(f"join{number}:")
        outer.label = f"join{number}"
        found = []
        for one, other in zip(ours, theirs, strict=True):
            value = Value(self.fresh(), one.type, one.lanes, self.level)
            lines.append(
                f"  {value.name} = phi {value.full_type} [ {one.name}, %{yes.label} ],"
                f" [ {other.name}, %{no.label} ]"
            )
            found.append(value)
        return tuple(found)

    def repeat(self, condition: Callable[[], Value], body: Callable[[], None]) -> None:
        """Writes a loop that runs as long as a condition holds, which is computed each time."""
        number = self._number()
        outer = self._open[-1]
        test = Region(f"test{number}", is_guard=True)
        self._open.append(test)
        holds = condition()
        round_ = Region(f"round{number}", is_guard=True)
        self._open.append(round_)
        body()
        self._open[-2:] = []
        outer.lines += [f"  br label %test{number}", f"test{number}:", *test.lines]
        outer.lines.append(f"  br i1 {holds.name}, label %round{number}, label %behind{number}")
        outer.lines += [f"round{number}:", *round_.lines, f"  br label %test{number}"]
        outer.lines.append(f"behind{number}:")
        outer.label = f"behind{number}"

    def leave_if(self, condition: Value) -> None:
        """Writes that the function ends here, at its block `leave`, where a condition holds."""
        number = self._number()
        region = self._open[-1]
        region.lines.append(f"  br i1 {condition.name}, label %leave, label %stay{number}")
        region.lines.append(f"stay{number}:")
        region.label = f"stay{number}"

    def finished(self) -> list[str]:
        """Returns the lines of the function, when all regions are closed."""
        assert len(self._open) == 1, "a loop is open"
        return self._open[0].lines

    def _kept(self, last: Value) -> Value:
        # A loop has a last round, so that what it has computed is known behind it.
        if last.level <= self.level:
            return last
        return Value(last.name, last.type, last.lanes, self.level)

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _guard_level(self) -> int:
        level = len(self._open) - 1
        while not self._open[level].is_guard:
            level -= 1
        return level
