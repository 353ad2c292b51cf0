"""Computations that fold."""


def reducer(op: str, kind: str, name: str = "reducer") -> str:
    """Returns the text of a computation that is one op."""
    return f"""{name} {{
  a = {kind}[] parameter(0)
  b = {kind}[] parameter(1)
  ROOT r = {kind}[] {op}(a, b)
}}
"""
