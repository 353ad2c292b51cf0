"""Code that runs without Python: the entry of a module under a C name, with its constants."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.codegen.program.program import ENTRY, Program, Slot
from hlotool.ir.element_type import PRED
from hlotool.ir.shape import ArrayShape


def standalone(program: Program, name: str, constants: Sequence[bytes]) -> str:
    """Returns LLVM IR that defines `int NAME(const void **, void **, void *)` for a program.

    `constants` are the bytes of its constants as they lie in memory. Nothing in the program may
    need the host or a library: see `Program.host_calls` and `Program.libraries`.
    """
    assert not program.host_calls
    assert not program.libraries
    return "\n".join((_private(program.text), *_tables(constants), _SERIAL, _entry(name)))


def _private(text: str) -> str:
    # Several modules may be linked into one program.
    text = text.replace(f"define i32 @{ENTRY}(", f"define internal i32 @{ENTRY}(")
    return text.replace("\ndefine hidden ", "\ndefine internal ")


def _tables(constants: Sequence[bytes]) -> list[str]:
    lines = [
        f"@constant{number} = private unnamed_addr constant [{len(data)} x i8] {_data(data)},"
        " align 64"
        for number, data in enumerate(constants)
    ]
    listed = ", ".join(f"ptr @constant{number}" for number in range(len(constants)))
    value = f"[{listed}]" if constants else "zeroinitializer"
    lines.append(f"@constants = private constant [{len(constants)} x ptr] {value}")
    return lines


def _data(data: bytes) -> str:
    if not any(data):
        return "zeroinitializer"
    return 'c"' + "".join(f"\\{byte:02X}" for byte in data) + '"'


# All items one after the other: the caller has threads of its own, if any.
_SERIAL = """\
define internal void @serial(ptr %pool, ptr %function, ptr %table, i64 %count, i64 %grain) {
  call void %function(ptr %table, i64 0, i64 %count)
  ret void
}
define internal i32 @goes_on(ptr %state, i64 %number, ptr %addresses) {
  ret i32 0
}
"""


def _entry(name: str) -> str:
    held = {
        Slot.CONSTANTS: "@constants",
        Slot.HOST_CALL: "@goes_on",
        Slot.PARALLEL: "@serial",
    }
    lines = [
        f"define i32 @{name}(ptr %arguments, ptr %results, ptr %scratch) {{",
        f"  %context = alloca [{len(Slot)} x ptr], align 8",
    ]
    for slot in Slot:
        lines.append(f"  %slot{slot} = getelementptr inbounds ptr, ptr %context, i64 {slot}")
        lines.append(f"  store ptr {held.get(slot, 'null')}, ptr %slot{slot}, align 8")
    lines.append(
        f"  %failed = call i32 @{ENTRY}(ptr %context, ptr %arguments, ptr %results, ptr %scratch)"
    )
    return "\n".join([*lines, "  ret i32 %failed", "}", ""])


def c_header(
    program: Program, name: str, parameter_names: Sequence[str], result_names: Sequence[str]
) -> str:
    """Returns the C header of a standalone program, with what its arrays are.

    The names are those of the arrays, of the parts of a tuple with their numbers.
    """
    guard = f"{name.upper()}_H"
    lines = [
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "/*",
        f" * int {name}(const void *const *arguments, void *const *results, void *scratch);",
        " *",
        *(f" * {line}" for line in _CONTRACT),
        " *",
    ]
    for number, (shape, given) in enumerate(zip(program.arguments, parameter_names, strict=True)):
        lines.append(f" * arguments[{number}]  {_described(shape)}  {_comment(given)}")
    for number, (shape, given) in enumerate(zip(program.results, result_names, strict=True)):
        lines.append(f" * results[{number}]  {_described(shape)}  {given}".rstrip())
    lines += [
        f" * results[{result}] may be arguments[{argument}]: it is computed in its memory, which"
        f" must hold the argument's elements"
        for result, argument in program.shared
    ]
    lines += [" */", ""]
    sizes = {
        "ARGUMENTS": len(program.arguments),
        "RESULTS": len(program.results),
        "SCRATCH_BYTES": program.temporary_bytes,
    }
    for kind, shapes in (("ARGUMENT", program.arguments), ("RESULT", program.results)):
        for number, shape in enumerate(shapes):
            sizes[f"{kind}_{number}_BYTES"] = byte_size(shape)
    lines += [f"#define {name.upper()}_{what} {size}" for what, size in sizes.items()]
    lines += [
        "",
        "#ifdef __cplusplus",
        'extern "C" {',
        "#endif",
        f"int {name}(const void *const *arguments, void *const *results, void *scratch);",
        "#ifdef __cplusplus",
        "}",
        "#endif",
        "",
        f"#endif /* {guard} */",
        "",
    ]
    return "\n".join(lines)


_CONTRACT = (
    "Returns 0. arguments and results are tables of addresses of the arrays below; each is",
    "aligned for its elements. scratch is memory aligned to 64 bytes; it may be NULL where",
    "SCRATCH_BYTES is 0. During the call nothing else may use it or the results, which hold",
    "other values until they are computed. A result must not overlap an argument, another",
    "result or scratch, but where it is said below that it may be an argument. Arguments may",
    "overlap one another, and are not written to. Calls with other memory may run at the same",
    "time.",
)


def byte_size(shape: ArrayShape) -> int:
    """Returns the bytes of an array in memory."""
    return shape.element_count * shape.element_type.storage_bytes


def _described(shape: ArrayShape) -> str:
    order = "row-major" if shape.layout.is_default else f"layout {shape.layout.text}"
    return f"{shape.plain_text}, {order}, {byte_size(shape)} bytes of {_c_type(shape)}"


def _c_type(shape: ArrayShape) -> str:
    """Returns what an element is in C."""
    element = shape.element_type
    unsigned = f"uint{8 * element.storage_bytes}_t"
    if element.bits < 8:
        bits = "the lowest bit" if element.bits == 1 else f"the lowest {element.bits} bits"
        return f"{unsigned} ({element.name} in {bits}, the others mean nothing)"
    if element is PRED:
        return "unsigned char (0 or 1)"
    if element.is_complex:
        return f"{'float' if element.bits == 64 else 'double'} [2] (real and imaginary part)"
    if element.is_float:
        plain = {"f32": "float", "f64": "double"}.get(element.name)
        return plain or f"{unsigned} (the bits of {element.name})"
    return unsigned.removeprefix("u") if element.is_signed else unsigned


def _comment(text: str) -> str:
    return "".join(c if c.isalnum() or c in "._-" else "_" for c in text)
