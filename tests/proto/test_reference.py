"""The reference reads what we write, and prints what it prints of its own message."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from hlotool.proto.reader import read_module
from hlotool.proto.writer import write_module
from hlotool.text.printer import print_module
from tests.proto.examples import PROTOS, bare

# It may abort, so it runs in a process of its own.
_CHILD = """
import json, sys
from jaxlib import _hlo

for line in sys.stdin:
    try:
        data = bytes.fromhex(line)
        shown = _hlo.HloModule.from_serialized_hlo_module_proto(data).to_string()
    except Exception as error:
        shown = f"refused: {error}"
    print(json.dumps(shown), flush=True)
"""
NOT_READ = {"write_only"}
"""Messages that the reference writes and does not read."""

FRAMES = re.compile(r"FileNames\n.*?\n\n\n|, metadata=\{[^{}]*\}", re.DOTALL)


def ask(messages: list[bytes]) -> list[str]:
    """Returns what the reference prints of each module message."""
    lines = "".join(f"{message.hex()}\n" for message in messages)
    child = subprocess.run(
        [sys.executable, "-c", _CHILD], input=lines, capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in child.stdout.splitlines()]


def check(originals: list[bytes]) -> None:
    """Compares the reference's prints of messages with ours, and with its prints of ours."""
    modules = [read_module(data) for data in originals]
    theirs = ask(originals)
    ours = ask([bare(write_module(module)).SerializeToString() for module in modules])
    for module, wanted, found in zip(modules, theirs, ours, strict=True):
        assert wanted.startswith("HloModule"), wanted
        for shown in (found, print_module(module)):
            assert parts(shown) == parts(wanted)


def parts(text: str) -> list[str]:
    """Returns header and computations, without stack tables and metadata, sorted.

    In the order in which the reference has made instructions, which may be one that has users
    before operands, it numbers the stack frames anew and finds what is called.
    """
    return sorted(part.strip() for part in FRAMES.sub("", text).split("\n\n"))


@pytest.mark.oracle
def test_reference_reads_what_we_write() -> None:
    check([path.read_bytes() for path in PROTOS if path.stem not in NOT_READ])


@pytest.mark.oracle
def test_reference_reads_what_we_write_of_dumps(corpus: Path) -> None:
    dumps = [bare(path.read_bytes()) for path in sorted(corpus.rglob("*.hlo.pb"))]
    check([dump.SerializeToString() for dump in dumps])
