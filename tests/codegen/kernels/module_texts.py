"""Parts of the texts of modules."""

from collections.abc import Iterable, Sequence


def listed(numbers: Iterable[int]) -> str:
    """Returns numbers as shapes and attributes have them, without braces."""
    return ",".join(map(str, numbers))


def shape_text(kind: str, sizes: Sequence[int], order: Iterable[int] | None = None) -> str:
    """Returns a shape with a layout, the last dimension being the fastest unless told."""
    if not sizes:
        return f"{kind}[]"
    order = range(len(sizes))[::-1] if order is None else order
    return f"{kind}[{listed(sizes)}]{{{listed(order)}}}"


def reducer(op: str, kind: str, name: str = "reducer") -> str:
    """Returns a computation that is one op of two scalars."""
    return f"""{name} {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT r = {kind}[] {op}(a, b)
}}
"""
