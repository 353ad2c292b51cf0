"""Pictures that Graphviz draws of dot texts."""

from __future__ import annotations

import subprocess

import graphviz

from hlotool.errors import UnsupportedError, UsageError

FORMATS = ("svg", "png", "pdf")
_INSTALLING = (
    "it comes with Graphviz: apt install graphviz, brew install graphviz, or from graphviz.org",
    "--format=html and --format=dot need no other program",
)


def rendered(dot: str, picture_format: str) -> bytes:
    """Returns the picture of a dot text: svg, png or pdf.

    Raises `UsageError` where the program `dot` is missing, `UnsupportedError` where it fails.
    """
    try:
        made = graphviz.Source(dot).pipe(format=picture_format)
    except graphviz.ExecutableNotFound:
        raise UsageError(
            f"{picture_format} needs the program dot, which is missing", None, _INSTALLING
        ) from None
    except subprocess.CalledProcessError as error:
        said = bytes(error.stderr or b"").decode(errors="replace").strip().splitlines()
        raise UnsupportedError(
            f"the program dot has failed: {said[-1] if said else f'status {error.returncode}'}",
            notes=("--max-nodes, --top-level and --around make a graph smaller",),
        ) from None
    return bytes(made)
