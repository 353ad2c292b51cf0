"""What code generation says of what it has no code for."""

from __future__ import annotations


class NotCompiled(Exception):  # noqa: N818 - the instruction is then evaluated
    """There is no code for an instruction; the message says why, in a few words."""
