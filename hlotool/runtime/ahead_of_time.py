"""Modules as object files and shared objects that run without Python."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import llvmlite.binding as llvm

from hlotool.codegen.program.program import Program
from hlotool.codegen.program.standalone import c_header, standalone
from hlotool.codegen.target import Target
from hlotool.errors import UnsupportedError, UsageError
from hlotool.ir.module import Module
from hlotool.runtime.constants import constant_bytes
from hlotool.runtime.llvm import host_target, object_code, optimize, parsed, passes_for
from hlotool.runtime.stages import Stages

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,200}\Z")
_TAKEN = {
    "alignas", "alignof", "and", "and_eq", "asm", "auto", "bitand", "bitor", "bool", "break",
    "case", "catch", "char", "char8_t", "char16_t", "char32_t", "class", "co_await",
    "co_return", "co_yield", "compl", "concept", "const", "const_cast", "consteval",
    "constexpr", "constinit", "continue", "decltype", "default", "delete", "do", "double",
    "dynamic_cast", "else", "enum", "explicit", "export", "extern", "false", "float", "for",
    "friend", "goto", "if", "inline", "int", "long", "main", "memcpy", "memmove", "memset",
    "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr", "operator", "or",
    "or_eq", "private", "protected", "public", "register", "reinterpret_cast", "requires",
    "restrict", "return", "short", "signed", "sizeof", "static", "static_assert", "static_cast",
    "struct", "switch", "template", "this", "thread_local", "throw", "true", "try", "typedef",
    "typeid", "typename", "typeof", "union", "unsigned", "using", "virtual", "void", "volatile",
    "wchar_t", "while", "xor", "xor_eq",
}  # fmt: skip
"""Names that C or C++ has for something else, and functions that the code itself may call."""
_UNNAMED = "hlotool.module"
"""The function before it gets its name, which something inside may have."""
_COMPILERS = ("cc", "gcc", "clang")
_ANOTHER_LINKER = "--linker names another one; -o FILE.o writes the object file itself"
_SAID = 10
"""How many lines of what a linker says are shown."""
_SHOWN = 5
"""How many instructions a message lists."""


@dataclass(frozen=True)
class Standalone:
    """A module compiled ahead of time."""

    name: str
    """Its function in C."""
    code: bytes
    """The object file."""
    header: str
    program: Program

    @property
    def described(self) -> dict[str, object]:
        """The function and its arrays, for programs to read."""
        return {
            "function": self.name,
            "arguments": [shape.text for shape in self.program.arguments],
            "results": [shape.text for shape in self.program.results],
            "scratch_bytes": self.program.temporary_bytes,
        }


def compiled_ahead(module: Module, target: Target, name: str) -> Standalone:
    """Returns a module that is prepared as an object file with one C function.

    Raises `UnsupportedError` where an instruction is not compiled, and `UsageError` for a name
    that is none in C.
    """
    if not _is_free(name):
        raise UsageError(f"{name!r} is no name of a C function", notes=("give one with --name",))
    target = replace(target, libraries=frozenset())
    program = Stages(module, target).program
    if program.host_calls:
        calls = program.host_calls
        count = f"{len(calls)} of its instructions are" if len(calls) > 1 else "an instruction is"
        shown = "; ".join(f"{one.instruction.name}: {one.reason}" for one in calls[:_SHOWN])
        more = f" and {len(calls) - _SHOWN} more" if len(calls) > _SHOWN else ""
        raise UnsupportedError(
            f"{module.name} cannot run without Python: {count} evaluated ({shown}{more})",
            calls[0].instruction.location,
        )
    constants = [constant_bytes(one) for one in program.constants]
    text = standalone(program, _UNNAMED, constants)
    unit = parsed(text, target)
    optimize(unit, target, passes_for(text))
    _give_name(unit, name)
    names = [
        ".".join((parameter.name, *map(str, index)))
        for parameter in module.entry.parameters
        for index, leaf in parameter.shape.leaves()
        if leaf.is_array
    ]
    parts = [
        f"part {'.'.join(map(str, index))}" if index else ""
        for index, leaf in module.entry.root.shape.leaves()
        if leaf.is_array
    ]
    header = c_header(program, name, names, parts)
    return Standalone(name, object_code(unit, target), header, program)


def _is_free(name: str) -> bool:
    return _NAME.match(name) is not None and name not in _TAKEN


def _give_name(unit: llvm.ModuleRef, name: str) -> None:
    for inside in (*unit.functions, *unit.global_variables):
        if inside.name == name:
            inside.name = f"{name}.inside"
    unit.get_function(_UNNAMED).name = name


def found_linker(target: Target, name: str) -> str:
    """Returns the path of a C compiler on this machine that links for a target.

    For a processor of another kind it is the one whose name begins as those of compilers for it
    do. `name` is what messages call the target. Raises `UsageError` where there is none.
    """
    prefix = "" if _is_like_host(target) else f"{target.architecture}-linux-gnu-"
    for program in _COMPILERS:
        found = shutil.which(f"{prefix}{program}")
        if found is not None:
            return found
    tried = ", ".join(f"{prefix}{program}" for program in _COMPILERS)
    raise UsageError(
        f"a shared object for {name} needs a linker for it, and none of {tried} is there",
        notes=(_ANOTHER_LINKER,),
    )


def _is_like_host(target: Target) -> bool:
    host = host_target()
    is_linux = ["linux" in one.triple for one in (target, host)]
    return target.architecture == host.architecture and is_linux[0] == is_linux[1]


def linked(code: bytes, linker: str) -> bytes:
    """Returns a shared object made of an object file by a C compiler.

    Raises `UsageError` where the program is missing or fails, with what it says.
    """
    found = shutil.which(linker)
    if found is None:
        raise UsageError(
            f"a shared object needs a C compiler to link it, and there is no {linker}",
            notes=(_ANOTHER_LINKER,),
        )
    with tempfile.TemporaryDirectory() as folder:
        source, made = Path(folder) / "module.o", Path(folder) / "module.so"
        source.write_bytes(code)
        command = [found, "-shared", "-o", str(made), str(source)]
        done = subprocess.run(  # noqa: S603
            command, capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode or not made.is_file():
            lines = done.stderr.replace(f"{folder}/", "").splitlines()
            said = list(dict.fromkeys(line for line in lines if line.strip()))
            raise UsageError(
                f"{linker} cannot link: {said[0] if said else 'it says nothing'}",
                notes=[*said[1:_SAID], _ANOTHER_LINKER],
            )
        return made.read_bytes()


def function_name(module: Module) -> str:
    """Returns a name for C that is made of the module's."""
    name = re.sub(r"[^A-Za-z0-9_]", "_", module.name)
    return name if _is_free(name) else f"module_{name}"[:200]
