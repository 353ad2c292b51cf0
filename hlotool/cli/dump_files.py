"""The folder that dumps go to: files that are whole, and never in the place of others."""

from __future__ import annotations

import gzip
import os
import re
import socket
import time
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import count

from hlotool.cli.inputs import reason
from hlotool.cli.modules import written
from hlotool.cli.outputs import FatalUsageError, encode, print_bytes
from hlotool.cli.xla_flags import Flags
from hlotool.errors import UsageError
from hlotool.ir.module import Module
from hlotool.ir.op import LargeConstants
from hlotool.passes.dumping import LONGEST_NAME, DumpFolder, ModuleWriter, sanitized
from hlotool.text.print_options import PRESETS, PrintOptions

_OUTPUTS_VARIABLE = "TEST_UNDECLARED_OUTPUTS_DIR"
_OUTPUTS_NAMES = ("sponge", "test_undeclared_outputs_dir")
_NUMBERED = re.compile(r"(?:^|\.)module_([0-9]{4,18})\.")
_CLAIMED = ".claimed"
_BINARY = (".pb", ".gz")


def dump_folder(flags: Flags, module: Module) -> DumpFolder:
    """Returns where the dumps of a module go, with a writer for each format that is asked for.

    Without a folder they go to standard output between lines that name them. Raises `UsageError`
    where a folder cannot be made or used.
    """
    path = str(flags["xla_dump_to"])
    if path.lower() in _OUTPUTS_NAMES:
        path = os.environ.get(_OUTPUTS_VARIABLE, "")
        if not path:
            raise UsageError(f"--xla_dump_to: the variable {_OUTPUTS_VARIABLE} is not set")
    writers = _writers(flags)
    if path in {"", "-"}:
        return DumpFolder(_print_framed, count().__next__, lambda _: None, writers)
    if flags["xla_dump_hlo_to_subfolder"]:
        own = f"{sanitized(socket.gethostname())}_{os.getpid()}"
        path = os.path.join(path, sanitized(module.name)[:LONGEST_NAME], own)
    try:
        os.makedirs(path, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make the folder {path}: {reason(error)}") from None
    return DumpFolder(
        partial(_write_into, path), partial(_claim, path), partial(_release, path), writers
    )


def _writers(flags: Flags) -> dict[str, ModuleWriter]:
    options = _print_options(flags)
    made: dict[str, ModuleWriter] = {}
    if flags["xla_dump_hlo_as_proto"]:
        if flags["xla_dump_compress_protos"]:
            # No time and no name inside: equal modules give equal files.
            made[".hlo.pb.gz"] = lambda m, _: gzip.compress(written(m, "pb"), mtime=0)
        else:
            made[".hlo.pb"] = lambda m, _: written(m, "pb")
    if flags["xla_dump_hlo_as_dot"]:
        from hlotool.graph.dot import module_dot

        made[".dot"] = lambda m, title: encode(module_dot(m, title))
    if flags["xla_dump_hlo_as_html"]:
        from hlotool.graph.html import module_page

        made[".html"] = lambda m, title: encode(module_page(m, title=title))
    if flags["xla_dump_hlo_as_text"] or not made:
        made[".txt"] = lambda m, _: written(m, "hlo", options)
    return made


def _print_options(flags: Flags) -> PrintOptions:
    options = PRESETS["default" if flags["xla_dump_hlo_as_long_text"] else "short-parsable"]
    is_whole = bool(flags["xla_dump_large_constants"])
    return replace(
        options,
        large_constants=LargeConstants.PRINTED if is_whole else LargeConstants.ELIDED,
        metadata=options.metadata and not flags["xla_dump_disable_metadata"],
    )


def _print_framed(name: str, data: bytes) -> None:
    if name.endswith(_BINARY):
        raise FatalUsageError(f"{name} is binary: name a folder for it with --xla_dump_to")
    text = encode(f"*** Begin {name} ***\n") + data
    print_bytes(text + (b"" if data.endswith(b"\n") else b"\n") + encode(f"*** End {name} ***\n"))


def _write_into(folder: str, name: str, data: bytes) -> None:
    aside = os.path.join(folder, f".{os.getpid()}.{time.time_ns():x}.tmp")
    shown = os.path.join(folder, name)
    try:
        try:
            with open(aside, "xb") as file:
                file.write(data)
            _place(aside, shown)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(aside)
    except OSError as error:
        # Every other file of the dump would meet the same.
        raise FatalUsageError(f"cannot write {shown}: {reason(error)}") from None


def _place(aside: str, target: str) -> None:
    """Gives a file its name unless another has it, which raises `FileExistsError`."""
    try:
        os.link(aside, target)
    except FileExistsError:
        raise
    except OSError:
        # Some file systems have no links: between looking and naming there is a gap then.
        if os.path.exists(target):
            raise FileExistsError(target) from None
        os.replace(aside, target)


def _claim(folder: str) -> int:
    """Returns a number that no file of the folder has, and that no other process gets."""
    number = _first_free(folder)
    while True:
        try:
            with open(_claim_path(folder, number), "xb"):
                pass
        except FileExistsError:
            number += 1
            continue
        except OSError as error:
            raise FatalUsageError(f"cannot write into {folder}: {reason(error)}") from None
        free = _first_free(folder)
        if free <= number:
            return number
        # Another process had it, wrote its files and let it go since the folder was looked at.
        _release(folder, number)
        number = free


def _release(folder: str, number: int) -> None:
    with suppress(OSError):
        os.unlink(_claim_path(folder, number))


def _claim_path(folder: str, number: int) -> str:
    return os.path.join(folder, f".module_{number:04}{_CLAIMED}")


def _first_free(folder: str) -> int:
    """Returns the number behind the highest that a file of the folder has, claims aside."""
    try:
        names = os.listdir(folder)
    except OSError as error:
        raise FatalUsageError(f"cannot read {folder}: {reason(error)}") from None
    files = [name for name in names if not name.endswith(_CLAIMED)]
    numbers = [int(match[1]) for name in files if (match := _NUMBERED.search(name))]
    return max(numbers, default=-1) + 1
