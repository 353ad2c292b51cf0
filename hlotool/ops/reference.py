"""The reference of opcodes, made from their classes: `python -m hlotool.ops.reference`."""

from __future__ import annotations

import inspect
import sys

import hlotool.ops  # noqa: F401  # enters the opcodes
from hlotool.ir.op import OPCODES, Op, Role
from hlotool.ir.record import Field

_HEAD = """\
# Opcodes

Made from the classes in `hlotool/ops/` by `make reference`; do not edit.

Each opcode has its operands, whether a text may leave its shape out, and its attributes in the
order in which they print. An attribute with a default may be left out, and is not printed when
it has that value unless it says so. Any instruction may also carry `sharding`,
`frontend_attributes`, `control-predecessors`, `statistics`, `origin`, `metadata` and
`backend_config`; `result_accuracy` where it is named.
"""


def opcode_reference() -> str:
    """Returns the reference of all opcodes as Markdown, by family and name."""
    families: dict[str, list[type[Op]]] = {}
    for op in OPCODES.values():
        families.setdefault(op.__module__.rpartition(".")[2], []).append(op)
    parts = [_HEAD]
    for family in sorted(families):
        parts.append(f"## {family.replace('_', ' ').capitalize()}\n")
        parts += [_section(op) for op in sorted(families[family], key=lambda op: op.opcode)]
    return "\n".join(parts)


def _section(op: type[Op]) -> str:
    lines = [f"### `{op.opcode}`", "", inspect.cleandoc(op.__doc__ or ""), ""]
    lines.append(f"- Operands: {_operands(op)}.")
    lines.append(f"- Shape: {'may be left out' if op.infers_shape else 'must be written'}.")
    if op.takes_result_accuracy:
        lines.append("- Takes `result_accuracy`.")
    printed = [field for field in op.fields if field.named]
    before = [field for field in printed if not field.after_calls]
    after = [field for field in printed if field.after_calls]
    lines += [_attribute(field) for field in before]
    lines += [_role(role) for role in op.roles]
    lines += [_attribute(field) for field in after]
    return "\n".join([*lines, ""])


def _operands(op: type[Op]) -> str:
    if op.payload is not None:
        return f"none; the parentheses hold {op.payload.words}"
    return op.arity_words()


def _attribute(field: Field) -> str:
    notes = ["required"] if field.is_required else [f"default `{_default(field)}`"]
    if field.always and not field.is_required:
        notes.append("always printed")
    if field.read_only:
        notes.append("read, never printed")
    if field.aliases:
        notes.append("also read as " + ", ".join(f"`{alias}`" for alias in field.aliases))
    return f"- `{field.text_name}=`: {field.kind.words}; {', '.join(notes)}."


def _default(field: Field) -> str:
    return "none" if field.default is None else field.kind.write(field.default)


def _role(role: Role) -> str:
    what = "a list of computations" if role.many else "a computation"
    notes = ["may be left out"] if role.optional else ["required"]
    if role.aliases:
        notes.append("also read as " + ", ".join(f"`{alias}`" for alias in role.aliases))
    return f"- `{role.name}=`: {what}; {', '.join(notes)}."


if __name__ == "__main__":
    sys.stdout.write(opcode_reference())
