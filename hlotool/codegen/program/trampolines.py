"""Functions that the threads of a pool call: they take what a kernel is given from a table."""

from __future__ import annotations

from hlotool.codegen.llvm.value import Value


class Trampolines:
    """Writes one function for each number of addresses; the first entry is the kernel's own."""

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def of(self, count: int) -> Value:
        """Returns the function that calls a kernel with so many addresses and a range."""
        name = f"run{count}"
        if count not in self._texts:
            self._texts[count] = _text(name, count)
        return Value(f"@{name}", "ptr")

    @property
    def text(self) -> str:
        """All functions that were asked for."""
        return "".join(self._texts.values())


def _text(name: str, count: int) -> str:
    lines = [f"define internal void @{name}(ptr %table, i64 %begin, i64 %end) nounwind {{"]
    lines.append("  %kernel = load ptr, ptr %table, align 8")
    for number in range(count):
        lines.append(f"  %p{number} = getelementptr inbounds ptr, ptr %table, i64 {number + 1}")
        lines.append(f"  %a{number} = load ptr, ptr %p{number}, align 8")
    listed = ", ".join(f"ptr %a{number}" for number in range(count))
    lines.append(f"  call void %kernel({listed}, i64 %begin, i64 %end)")
    return "\n".join([*lines, "  ret void", "}", ""])
