import inspect
import os
import sys
from pathlib import Path

import pytest

from hlotool.errors import UsageError
from hlotool.frontends.dump_directory import dump_directory


def made(folder: Path, *names: str) -> str:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
    return str(folder)


def reasons(folder: str) -> dict[str, str]:
    return {file.path: file.why for file in dump_directory(folder).not_shown}


def test_stages_are_in_the_order_of_passes(tmp_path: Path) -> None:
    folder = made(
        tmp_path,
        "module_0000.f.cpu_after_optimizations.txt",
        "module_0000.f.0010.p.after_dce.before_pipeline-end.txt",
        "module_0000.f.0002.p.after_cse.before_dce.txt",
        "module_0000.f.after_spmd_partitioner.txt",
        "module_0000.f.before_optimizations.txt",
    )
    (module,) = dump_directory(folder).modules
    assert (module.title, module.number) == ("module_0000 f", 0)
    assert [stage.title for stage in module.stages] == [
        "before_optimizations",
        "0002 p: after cse, before dce",
        "0010 p: after dce, before pipeline-end",
        "after_spmd_partitioner",
        "cpu_after_optimizations",
    ]
    beside = [stage.title for stage in module.stages if not stage.is_between_passes]
    assert beside == ["after_spmd_partitioner"]


def test_a_proto_is_read_where_there_is_no_text(tmp_path: Path) -> None:
    folder = made(
        tmp_path,
        "module_0000.f.before_optimizations.txt",
        "module_0000.f.before_optimizations.hlo.pb",
        "module_0000.f.cpu_after_optimizations.hlo.pb",
    )
    (module,) = dump_directory(folder).modules
    assert [stage.file.name.format for stage in module.stages] == [".txt", ".hlo.pb"]
    assert reasons(folder) == {
        "module_0000.f.before_optimizations.hlo.pb": "the same module as the .txt file"
    }


def test_a_drawing_says_whether_its_module_is_here(tmp_path: Path) -> None:
    folder = made(
        tmp_path,
        "module_0000.f.before_optimizations.txt",
        "module_0000.f.before_optimizations.dot",
        "module_0000.f.cpu_after_optimizations.html",
    )
    assert reasons(folder) == {
        "module_0000.f.before_optimizations.dot": "a drawing: this page draws the module",
        "module_0000.f.cpu_after_optimizations.html": (
            "a drawing of a module that is not here: dump with .txt too"
        ),
    }


def test_files_belong_to_the_module_of_their_name_number_and_folder(tmp_path: Path) -> None:
    folder = made(
        tmp_path,
        "module_0000.f.before_optimizations.txt",
        "module_0000.f.1.before_optimizations.txt",
        "module_0000.f.1.add_kernel.ir-no-opt.ll",
        "module_0000.f.debug_options",
        "module_0001.g.before_optimizations.txt",
        # The name of the module is left out where names would be too long.
        "module_0001.0000.p.after_a.before_b.txt",
        "module_0001.metadata.textproto",
        "sub/module_0001.g.before_optimizations.txt",
        "notes.txt",
        "graph.pbtxt",
    )
    found = dump_directory(folder)
    owned = {
        (module.folder, module.title): [module.part(file) for file in module.files]
        for module in found.modules
    }
    assert owned == {
        (".", "module_0000 f"): ["before_optimizations.txt", "debug_options"],
        (".", "module_0000 f.1"): ["add_kernel.ir-no-opt.ll", "before_optimizations.txt"],
        (".", "module_0001 g"): [
            "0000.p.after_a.before_b.txt", "before_optimizations.txt", "metadata.textproto",
        ],
        ("sub", "module_0001 g"): ["before_optimizations.txt"],
    }  # fmt: skip
    assert [file.path for file in found.others] == ["notes.txt"]
    assert [file.path for file in found.graphs] == ["graph.pbtxt"]


def test_every_entry_is_a_file_or_says_what_it_is(tmp_path: Path) -> None:
    folder = made(tmp_path, "a.txt", ".module_0000.claimed")
    os.mkfifo(tmp_path / "pipe")
    # A link may lead to what is no part of the dump.
    (tmp_path / "gone.ll").symlink_to("nowhere")
    (tmp_path / "other.ll").symlink_to("/etc/hostname")
    found = ["a.txt", "gone.ll", "other.ll", "pipe"]
    assert [file.path for file in dump_directory(folder).files] == found
    assert reasons(folder) == {
        "gone.ll": "a link", "other.ll": "a link", "pipe": "no regular file",
    }  # fmt: skip


def test_folders_may_be_deep(tmp_path: Path) -> None:
    folder = tmp_path
    for _ in range(400):
        folder /= "f"
    folder.mkdir(parents=True)
    (folder / "a.txt").touch()
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack()) + 100)
    try:
        found = dump_directory(str(tmp_path)).files
    finally:
        sys.setrecursionlimit(limit)
    assert [file.path for file in found] == ["f/" * 400 + "a.txt"]


def test_no_directory(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no directory"):
        dump_directory(str(tmp_path / "nowhere"))


def test_an_empty_directory(tmp_path: Path) -> None:
    found = dump_directory(str(tmp_path))
    assert (found.files, found.modules, found.graphs) == ([], [], [])
