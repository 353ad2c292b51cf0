"""Functions of LLVM IR, written instruction by instruction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.codegen.llvm.regions import Regions
from hlotool.codegen.llvm.value import Value, constant, constant_lanes, poison, vector_type

_CAN_FAULT = frozenset(("sdiv", "udiv", "srem", "urem"))
_TYPE_CODES = {"float": "f32", "double": "f64", "half": "f16", "ptr": "p0"}


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument of a function: type, name and attributes (`noalias readonly`)."""

    type: str
    name: str
    attributes: str = ""

    @property
    def value(self) -> Value:
        """The argument as a value."""
        return Value(f"%{self.name}", self.type)


class FunctionWriter(Regions):
    """Writes one function. Operands of fewer lanes than others are repeated in all lanes.

    `flags` stand on floating-point arithmetic: none by default, so that every operation is
    rounded as IEEE 754 says.
    """

    def __init__(
        self,
        name: str,
        arguments: Sequence[Argument],
        result: str = "void",
        *,
        attributes: str = "nounwind",
        linkage: str = "internal",
        flags: str = "",
        native: frozenset[str] = frozenset(),
    ) -> None:
        super().__init__()
        self.name = name
        self.arguments = tuple(arguments)
        self.result = result
        self.flags = flags
        self.native = native
        """What the target has instructions for, by the names that `Target.native` gives."""
        self.forms: dict[tuple[str, str], Value] = {}
        """Bits of narrow floats, by element type and name of the value; see `form`."""
        self.declarations: set[str] = set()
        self.globals: set[str] = set()
        """Whole lines that define constants which the function refers to."""
        self._attributes = attributes
        self._linkage = linkage

    def argument(self, number: int) -> Value:
        """Returns an argument as a value."""
        return self.arguments[number].value

    def form(self, element_type: str, value: Value) -> Value | None:
        """Returns the bits of a narrow float, as far as they are known."""
        found = self.forms.get((element_type, value.name))
        # What a loop has left is known behind it, and so are its bits.
        return None if found is None else self._kept(found)

    # Arithmetic

    def binary(self, opcode: str, left: Value, right: Value, flags: str | None = None) -> Value:
        """Writes an operation on two values of one type: `fadd`, `mul nsw`, `ashr`."""
        if left.lanes != right.lanes:
            left, right = self.together(left, right)
        if flags is None and opcode[0] == "f":
            flags = self.flags
        spelled = f"{opcode} {flags}" if flags else opcode
        text = f"{spelled} {left.text}, {right.name}"
        return self.pure(text, (left, right), left.type, left.lanes, pinned=opcode in _CAN_FAULT)

    def negative(self, value: Value) -> Value:
        """Writes the negation of floats: the sign bit is flipped, of NaN as well."""
        return self.pure(f"fneg {value.text}", (value,), value.type, value.lanes)

    def compare(self, predicate: str, left: Value, right: Value) -> Value:
        """Writes a comparison, `icmp` or `fcmp` as the type has it: `slt`, `oeq`; yields i1."""
        left, right = self.together(left, right)
        opcode = "fcmp" if left.type in ("float", "double", "half") else "icmp"
        text = f"{opcode} {predicate} {left.text}, {right.name}"
        return self.pure(text, (left, right), "i1", left.lanes)

    def select(self, condition: Value, yes: Value, no: Value) -> Value:
        """Writes a choice between two values, lane by lane where the condition has lanes."""
        yes, no = self.together(yes, no)
        if condition.lanes != yes.lanes:
            if condition.lanes == 1:
                condition = self.splat(condition, yes.lanes)
            else:
                yes, no = (self.splat(one, condition.lanes) for one in (yes, no))
        text = f"select {condition.text}, {yes.text}, {no.text}"
        return self.pure(text, (condition, yes, no), yes.type, yes.lanes)

    def cast(self, opcode: str, value: Value, lane: str) -> Value:
        """Writes a conversion to another lane type: `sext`, `sitofp`, `bitcast`."""
        if value.type == lane:
            return value
        text = f"{opcode} {value.text} to {vector_type(lane, value.lanes)}"
        return self.pure(text, (value,), lane, value.lanes)

    def intrinsic(self, name: str, *operands: Value, lane: str | None = None) -> Value:
        """Writes a call of an intrinsic that is named by its operand type: `fma`, `smax`, `fabs`.

        `lane` is the type of a lane of the result where it is another one; both are then in
        the name, as in `fptosi.sat`.
        """
        values = self.together(*operands)
        first = values[0]
        suffix = type_code(first.type, first.lanes)
        if lane is not None and lane != first.type:
            suffix = f"{type_code(lane, first.lanes)}.{suffix}"
        result = vector_type(lane or first.type, first.lanes)
        spelled = f"@llvm.{name}.{suffix}"
        types = ", ".join(value.full_type for value in values)
        self.declarations.add(f"declare {result} {spelled}({types})")
        text = f"call {result} {spelled}({', '.join(value.text for value in values)})"
        return self.pure(text, values, lane or first.type, first.lanes)

    def bit_count(self, name: str, value: Value, *, zero_is_poison: bool = False) -> Value:
        """Writes `ctlz` or `cttz`, which have a flag beside their operand."""
        result, spelled = value.full_type, f"@llvm.{name}.{type_code(value.type, value.lanes)}"
        self.declarations.add(f"declare {result} {spelled}({result}, i1)")
        flag = "true" if zero_is_poison else "false"
        text = f"call {result} {spelled}({value.text}, i1 {flag})"
        return self.pure(text, (value,), value.type, value.lanes)

    # Lanes

    def together(self, *values: Value) -> tuple[Value, ...]:
        """Returns the values with as many lanes as the widest one of them."""
        lanes = max([value.lanes for value in values])
        return tuple([self.splat(value, lanes) for value in values])

    def splat(self, value: Value, lanes: int) -> Value:
        """Returns a value of one lane in every lane; one that has the lanes as it is."""
        if value.lanes == lanes:
            return value
        assert value.lanes == 1, "only a single lane can be repeated"
        if value.name == "poison":
            return poison(value.type, lanes)
        if value.is_constant:
            return Value(f"splat ({value.type} {value.name})", value.type, lanes)
        first = self.insert(poison(value.type, lanes), value, 0)
        return self.shuffle(first, first, [0] * lanes)

    def insert(self, vector: Value, lane: Value, position: int) -> Value:
        """Writes a vector with another value in one lane."""
        text = f"insertelement {vector.text}, {lane.text}, i64 {position}"
        return self.pure(text, (vector, lane), vector.type, vector.lanes)

    def extract(self, vector: Value, position: int) -> Value:
        """Writes one lane of a vector; a value of one lane is its own."""
        if vector.lanes == 1:
            return vector
        text = f"extractelement {vector.text}, i64 {position}"
        return self.pure(text, (vector,), vector.type, 1)

    def shuffle(self, one: Value, other: Value, lanes: Sequence[int]) -> Value:
        """Writes a vector of chosen lanes: those of `other` count on from those of `one`."""
        if len(lanes) == 1 and one.lanes > 1:
            source, place = (one, lanes[0]) if lanes[0] < one.lanes else (other, lanes[0])
            return self.extract(source, place % one.lanes)
        mask = constant_lanes("i32", list(lanes))
        text = f"shufflevector {one.text}, {other.text}, {mask.text}"
        return self.pure(text, (one, other), one.type, len(lanes))

    def gathered(self, lanes: Sequence[Value]) -> Value:
        """Writes a vector of values of one lane each."""
        if len(lanes) == 1:
            return lanes[0]
        vector = poison(lanes[0].type, len(lanes))
        for position, lane in enumerate(lanes):
            vector = self.insert(vector, lane, position)
        return vector

    # Memory

    def offset(self, pointer: Value, index: Value, element: str = "i8") -> Value:
        """Writes the address of an element so many elements behind `pointer`."""
        if index.integer == 0:
            return pointer
        text = f"getelementptr inbounds {element}, {pointer.text}, {index.text}"
        return self.pure(text, (pointer, index), "ptr", index.lanes)

    def load(self, pointer: Value, lane: str, lanes: int = 1, *, align: int = 1) -> Value:
        """Writes a load of memory that is not written while the function runs.

        It may be moved out of loops; memory that is written needs `load_again`.
        """
        text = f"load {vector_type(lane, lanes)}, {pointer.text}, align {align}"
        return self.pure(text, (pointer,), lane, lanes, pinned=True)

    def load_again(self, pointer: Value, lane: str, lanes: int = 1, *, align: int = 1) -> Value:
        """Writes a load that stands where it is."""
        text = f"load {vector_type(lane, lanes)}, {pointer.text}, align {align}"
        return self.impure(text, lane, lanes)

    def store(self, value: Value, pointer: Value, *, align: int = 1) -> None:
        """Writes a store."""
        self.effect(f"store {value.text}, {pointer.text}, align {align}")

    def scratch(self, lane: str, count: int, *, align: int = 64) -> Value:
        """Returns the address of memory on the stack, for one run of the function."""
        value = Value(self.fresh(), "ptr", 1, 0)
        self._open[0].lines.insert(0, f"  {value.name} = alloca [{count} x {lane}], align {align}")
        return value

    def call(self, name: str, result: str, *operands: Value) -> Value | None:
        """Writes a call of a function of this name, and declares it; yields what it returns."""
        types = ", ".join(value.full_type for value in operands)
        self.declarations.add(f"declare {result} @{name}({types})")
        text = f"call {result} @{name}({', '.join(value.text for value in operands)})"
        return self._called(text, result)

    def call_pointer(self, function: Value, result: str, *operands: Value) -> Value | None:
        """Writes a call of the function that an address leads to."""
        text = f"call {result} {function.name}({', '.join(value.text for value in operands)})"
        return self._called(text, result)

    def _called(self, text: str, result: str) -> Value | None:
        if result == "void":
            self.effect(text)
            return None
        return self.impure(text, result)

    def integer(self, number: int, lane: str = "i64") -> Value:
        """Returns a constant integer."""
        return constant(lane, number)

    def text(self, result: str = "") -> str:
        """Returns the function; `result` is the text of what it returns, if anything."""
        listed = ", ".join(
            " ".join(filter(None, (one.type, one.attributes, f"%{one.name}")))
            for one in self.arguments
        )
        head = " ".join(filter(None, ("define", self._linkage, self.result)))
        lines = "\n".join(self.finished())
        end = f"  ret {result or 'void'}"
        return f"{head} @{self.name}({listed}) {self._attributes} {{\nentry:\n{lines}\n{end}\n}}\n"


def type_code(lane: str, lanes: int = 1) -> str:
    """Returns how names of intrinsics spell a type: `f32`, `v8i64`."""
    code = _TYPE_CODES.get(lane, lane)
    return code if lanes == 1 else f"v{lanes}{code}"
