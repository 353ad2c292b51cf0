"""The index of a directory of dumps: modules with their passes in order, graphs, other files.

Only names and sizes are looked at; `dump_reading` reads what files hold.
"""

from __future__ import annotations

import os
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from hlotool.errors import UsageError
from hlotool.frontends.dump_names import GRAPH, MODULE, PICTURE, DumpName, Kind, Step, dump_name

_FORMATS = (".txt", ".hlo", ".hlo.pb", ".hlo.pb.gz")
"""The formats that modules are read from, the first choice first."""
_FIRST, _STEPS, _BESIDE, _LAST = range(4)
_NO_FILE = DumpName(Kind("other"))


@dataclass(slots=True)
class DumpFile:
    """One file of the directory; `path` is relative to it, with slashes."""

    path: str
    size: int
    """In bytes."""
    name: DumpName
    why: str = ""
    """Why it is not shown; empty where it is."""

    @property
    def kind(self) -> str:
        """What kind of file it is, in words."""
        return self.name.kind.name


@dataclass(slots=True)
class Stage:
    """A module as it was at one moment of its compilation."""

    title: str
    """Such as `before_optimizations`, or what comes between two passes."""
    step: Step | None
    file: DumpFile
    """The one that is read; the same module may stand in others too."""
    place: int

    @property
    def is_between_passes(self) -> bool:
        """Whether it is known where in the row of passes the stage belongs."""
        return self.place != _BESIDE


@dataclass(slots=True)
class DumpedModule:
    """The files about one module."""

    folder: str
    number: int | None
    name: str
    files: list[DumpFile] = field(default_factory=list)
    stages: list[Stage] = field(default_factory=list)
    """First what passes began with, then between passes in order, last what they ended with."""

    @property
    def title(self) -> str:
        """How people may call it: its name and, where it has one, its number."""
        number = "" if self.number is None else f"module_{self.number:04}"
        return " ".join(filter(None, (number, self.name)))

    def of_kind(self, kind: str) -> list[DumpFile]:
        """Returns the files of a kind."""
        return [file for file in self.files if file.kind == kind]

    def part(self, file: DumpFile) -> str:
        """Returns what the name of a file says besides the name of the module."""
        return file.name.rest.removeprefix(self.name).lstrip(".-") or file.path


@dataclass(slots=True)
class DumpDirectory:
    """What is in a directory and the folders below it."""

    path: str
    files: list[DumpFile]
    """All of them, by path."""
    modules: list[DumpedModule]
    graphs: list[DumpFile]
    """Graphs of TensorFlow, of which the modules are parts."""
    others: list[DumpFile]
    """What is about no module."""
    remarks: list[tuple[DumpFile, str]] = field(default_factory=list)
    """What else is to be said of files that are shown."""

    @property
    def not_shown(self) -> list[DumpFile]:
        """The files that are not shown; each says why."""
        return [file for file in self.files if file.why]

    def titles(self) -> list[str]:
        """Returns what each module is called; of several with one title the folders tell which."""
        several = Counter(module.title for module in self.modules)
        return [
            f"{module.title} in {module.folder}" if several[module.title] > 1 else module.title
            for module in self.modules
        ]


def dump_directory(path: str) -> DumpDirectory:
    """Returns the index of a directory; raises `UsageError` where it cannot be read."""
    if not path or not Path(path).is_dir():
        raise UsageError(
            f"{path or 'an empty name'} is no directory",
            notes=("--xla_dump_to=DIRECTORY is what makes one, of hlo-opt, JAX and TensorFlow",),
        )
    files = sorted(_files(path), key=lambda file: file.path)
    modules = _modules(file for file in files if file.name.rest and file.name.kind.name != GRAPH)
    of_modules = {file.path for module in modules for file in module.files}
    graphs = [file for file in files if file.kind == GRAPH and file.path not in of_modules]
    known = of_modules | {file.path for file in graphs}
    others = [file for file in files if file.path not in known]
    return DumpDirectory(path, files, modules, graphs, others)


def _files(root: str) -> Iterator[DumpFile]:
    waiting = [""]
    while waiting:
        folder = waiting.pop()
        try:
            entries = list(os.scandir(Path(root, folder)))
        except OSError as error:
            if not folder:
                raise UsageError(f"cannot read {root}: {error.strerror}") from None
            yield DumpFile(f"{folder}/", 0, _NO_FILE, f"cannot be read: {error.strerror}")
            continue
        for entry in entries:
            # Names with a dot in front are files that are being written.
            if entry.name.startswith("."):
                continue
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_dir(follow_symlinks=False):
                waiting.append(path)
            else:
                yield _file(entry, path)


def _file(entry: os.DirEntry[str], path: str) -> DumpFile:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError as error:
        return DumpFile(path, 0, _NO_FILE, f"cannot be read: {error.strerror}")
    if stat.S_ISLNK(status.st_mode):
        # It may lead out of the directory.
        return DumpFile(path, 0, _NO_FILE, "a link")
    if not stat.S_ISREG(status.st_mode):
        return DumpFile(path, 0, _NO_FILE, "no regular file")
    name = dump_name(entry.name)
    return DumpFile(path, status.st_size, name, name.kind.why)


def _modules(files: Iterable[DumpFile]) -> list[DumpedModule]:
    """Returns the modules that files are about, by folder and number."""
    groups: dict[tuple[str, int | None, str], list[DumpFile]] = {}
    for file in files:
        alone = "" if file.name.number is not None else file.name.module
        if alone is not None:
            folder = str(PurePosixPath(file.path).parent)
            groups.setdefault((folder, file.name.number, alone), []).append(file)
    made = []
    for (folder, number, _), group in sorted(groups.items(), key=lambda item: _order(item[0])):
        for name, own in _by_name(group).items():
            module = DumpedModule(folder, number, name, own)
            _find_stages(module)
            made.append(module)
    return made


def _order(key: tuple[str, int | None, str]) -> tuple[str, int, str]:
    folder, number, name = key
    return folder, -1 if number is None else number, name


def _by_name(group: list[DumpFile]) -> dict[str, list[DumpFile]]:
    """Returns files with one number by the names of modules, of which two runs may have several."""
    names = sorted({file.name.module for file in group if file.name.module}, key=len, reverse=True)
    made: dict[str, list[DumpFile]] = {name: [] for name in names}
    for file in group:
        rest = file.name.rest
        fitting = (n for n in names if rest.startswith((f"{n}.", f"{n}-")) or rest == n)
        # Long names of files lack that of the module, and some files never have it.
        name = file.name.module or next(fitting, names[0] if len(names) == 1 else "")
        made.setdefault(name, []).append(file)
    return {name: made[name] for name in sorted(made)}


def _find_stages(module: DumpedModule) -> None:
    """Fills the stages of a module, and says of each file whose like is read that it is not."""
    by_stem: dict[str, dict[str, DumpFile]] = {}
    for file in module.files:
        if file.name.format:
            folder, _, name = file.path.rpartition("/")
            stem = f"{folder}/{name.removesuffix(file.name.format)}"
            by_stem.setdefault(stem, {})[file.name.format] = file
    for forms in by_stem.values():
        read = next((forms[one] for one in _FORMATS if one in forms), None)
        for file in forms.values():
            if read is None and file.kind == PICTURE:
                file.why = "a drawing of a module that is not here: dump with .txt too"
            elif read is not None and file is not read and file.kind == MODULE:
                file.why = f"the same module as the {read.name.format} file"
        if read is not None:
            module.stages.append(_stage(read))
    module.stages.sort(key=_stage_order)


def _stage(file: DumpFile) -> Stage:
    step, title = file.name.step, file.name.stage
    if step is None:
        place = _BESIDE
        if title.startswith("before_optimization"):
            place = _FIRST
        elif title.endswith(("after_optimization", "after_optimizations")):
            place = _LAST
        return Stage(title, None, file, place)
    title = f"{step.number:04} {step.pipeline}: {step.words}"
    return Stage(title, step, file, _STEPS)


def _stage_order(stage: Stage) -> tuple[int, int, str]:
    number = -1 if stage.step is None else stage.step.number
    return stage.place, number, stage.file.path
