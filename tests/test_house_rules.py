"""The house rules that no other tool checks: sizes, names, imports, and what a text may say."""

import ast
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FILE_LINES = 500
FUNCTION_LINES = 60
COLUMNS = 100
FORBIDDEN_NAMES = {"util", "utils", "helper", "helpers", "common", "misc", "manager", "core"}

LAZY_IMPORTS = {
    "numpy": "0.1 to 0.25 s, and most commands never touch a value",
    "ml_dtypes": "brings numpy with it",
    "scipy": "brings numpy with it",
    "lark": "0.1 s, not needed when the table comes from the cache",
    "google": "0.1 s, not needed where all is text",
    "rich": "not needed where nobody looks at the output",
    "jax": "an extra that may be missing",
    "jaxlib": "an extra that may be missing",
    "filecheck": "a tool of the tests",
}
"""The packages that a function may import, each with the reason."""

LAZY_FOLDERS = {
    "hlotool/cli/": "a command's module is imported when the command is called",
    "hlotool/__init__.py": "importing the package must not read the grammars",
}
"""Where functions may import modules of our own, each with the reason."""

VALUES = {"numpy", "ml_dtypes", "scipy"}
"""Packages of values; a function may also import a module of our own that is built on them."""

NOT_OURS = ("LICENSE", "testdata/models/")
"""Text that stands as others wrote it."""
SKIPPED_FOLDERS = {"build", "dist", "__pycache__"}
BINARY = {".npz", ".pb", ".desc", ".gz", ".png"}

# Written so that this file does not match itself.
PLACES = re.compile(
    r"(?<![\w.%}$*)-])/(?:work|tmp|root|opt/pypi|opt/wheels)\b"
    r"|pypi[.]org|python[h]osted|\bindex[-_][u]rl|--find[-]links"
)
OPEN_ENDS = re.compile(r"\b(?:TO[D]O|FIX[M]E|XX[X]|HA[C]K)\b")
BARE_SUPPRESSION = re.compile(r"#\s*(?:type:\s*ignore(?!\[)|noqa(?!:\s*[A-Z]+[0-9]))")

Rule = Callable[[Path, str], Iterator[tuple[int, str]]]


@cache
def files() -> tuple[Path, ...]:
    """Returns the project's files: what git knows or would add, or all where there is no git."""
    if shutil.which("git") and (ROOT / ".git").exists():
        command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        paths = [ROOT / name for name in listed.stdout.split("\0") if name]
    else:
        paths = [path for path in ROOT.rglob("*") if not is_skipped(path)]
    return tuple(sorted(path for path in paths if path.is_file()))


def is_skipped(path: Path) -> bool:
    folders = path.relative_to(ROOT).parts[:-1]
    return any(name.startswith(".") and name != ".ci" for name in folders) or bool(
        SKIPPED_FOLDERS & set(folders)
    )


def named(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def python_files(folder: str = "") -> list[Path]:
    return [path for path in files() if path.suffix == ".py" and named(path).startswith(folder)]


def text_files() -> list[Path]:
    return [
        path
        for path in files()
        if path.suffix not in BINARY and not named(path).startswith(NOT_OURS)
    ]


@cache
def content(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(content(path), named(path))


def breaches(rule: Rule, paths: list[Path]) -> list[str]:
    return [
        f"{named(path)}:{line}: {what}"
        for path in paths
        for line, what in rule(path, content(path))
    ]


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def long_files(_: Path, text: str) -> Iterator[tuple[int, str]]:
    count = len(text.splitlines())
    if count > FILE_LINES:
        yield count, f"{count} lines, at most {FILE_LINES} are wanted"


def long_functions(path: Path, _: str) -> Iterator[tuple[int, str]]:
    for function in functions(path):
        assert function.end_lineno is not None
        count = function.end_lineno - function.lineno + 1
        if count > FUNCTION_LINES:
            yield function.lineno, f"{function.name} has {count} lines, not {FUNCTION_LINES}"


def wide_lines(_: Path, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > COLUMNS:
            yield number, f"{len(line)} columns, at most {COLUMNS} are wanted"


def missing_docstrings(path: Path, _: str) -> Iterator[tuple[int, str]]:
    if ast.get_docstring(tree(path)) is None:
        yield 1, "the module has no docstring"
    bare_methods = any(fnmatch(named(path), pattern) for pattern in bare_method_files())
    yield from undocumented(tree(path), bare_methods=bare_methods)


def undocumented(
    parent: ast.Module | ast.ClassDef, *, bare_methods: bool
) -> Iterator[tuple[int, str]]:
    for node in parent.body:
        if not isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if node.name.startswith("_") or is_explained_elsewhere(node):
            continue
        if ast.get_docstring(node) is None:
            yield node.lineno, f"{node.name} has no docstring"
        if isinstance(node, ast.ClassDef) and not bare_methods:
            yield from undocumented(node, bare_methods=False)


def is_explained_elsewhere(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Tells whether another definition of the same name has the docstring."""
    names = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    return bool(names & {"override", "overload", "setter", "deleter"})


@cache
def bare_method_files() -> list[str]:
    """Returns the patterns of files whose methods need no docstring; pyproject says why."""
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    ignores: dict[str, list[str]] = pyproject["tool"]["ruff"]["lint"]["per-file-ignores"]
    return [pattern for pattern, codes in ignores.items() if "D102" in codes]


def accessor_names(path: Path, _: str) -> Iterator[tuple[int, str]]:
    for function in functions(path):
        if function.name.startswith(("get_", "_get_")):
            yield function.lineno, f"{function.name}: name what it returns, without get_"


def hidden_imports(path: Path, _: str) -> Iterator[tuple[int, str]]:
    own_allowed = named(path).startswith(tuple(LAZY_FOLDERS))
    for function in functions(path):
        for node in imports(function):
            for package in imported_packages(node):
                own = package == "hlotool" and (own_allowed or brings_values(node))
                if package not in LAZY_IMPORTS and not own:
                    yield node.lineno, f"import of {package} inside {function.name}"


def brings_values(node: ast.Import | ast.ImportFrom) -> bool:
    """Tells whether an import of a module of our own loads numpy at once."""
    module = getattr(node, "module", None) or ""
    path = ROOT.joinpath(*module.split(".")).with_suffix(".py")
    return module.startswith("hlotool.") and path.is_file() and bool(early_imports(path) & VALUES)


def early_imports(path: Path) -> set[str]:
    """Returns the packages that are loaded together with a module of ours."""
    body = [node for node in tree(path).body if isinstance(node, ast.Import | ast.ImportFrom)]
    return {package for node in body for package in imported_packages(node)}


def imports(parent: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    for node in ast.walk(parent):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node


def imported_packages(node: ast.Import | ast.ImportFrom) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name.partition(".")[0] for alias in names]
        case ast.ImportFrom(module=str(module)):
            return [module.partition(".")[0]]
    return ["."]


def early_values(path: Path, _: str) -> Iterator[tuple[int, str]]:
    for package in sorted(early_imports(path) & VALUES):
        yield 1, f"{package} is loaded with the module: {LAZY_IMPORTS[package]}"


def bare_suppressions(_: Path, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if BARE_SUPPRESSION.search(line):
            yield number, "a suppression without its code"


def open_ends(_: Path, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := OPEN_ENDS.search(line):
            yield number, f"{found[0]}: finish it, or say elsewhere that it is missing"


def places(_: Path, text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.splitlines(), 1):
        if found := PLACES.search(line):
            yield number, f"{found[0]} is a place that only some machine has"


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        (long_files, python_files),
        (long_functions, python_files),
        (wide_lines, python_files),
        (missing_docstrings, lambda: python_files("hlotool/")),
        (accessor_names, python_files),
        (hidden_imports, python_files),
        (early_values, lambda: python_files("hlotool/ir/") + python_files("hlotool/ops/")),
        (bare_suppressions, python_files),
        (open_ends, text_files),
        (places, text_files),
    ],
    ids=lambda value: value.__name__.strip("<>"),
)
def test_rule(rule: Rule, paths: Callable[[], list[Path]]) -> None:
    assert paths(), "the rule looks at no file"
    found = breaches(rule, paths())
    assert not found, "\n" + "\n".join(found)


def test_no_file_name_says_nothing() -> None:
    found = [
        named(path)
        for path in files()
        if FORBIDDEN_NAMES & {Path(part).stem for part in path.relative_to(ROOT).parts}
    ]
    assert not found, f"names that exclude nothing: {found}"


@pytest.mark.parametrize(
    ("rule", "text", "line"),
    [
        (long_files, "x = 1\n" * (FILE_LINES + 1), FILE_LINES + 1),
        (long_functions, "def f():\n" + " x = 1\n" * FUNCTION_LINES, 1),
        (wide_lines, "\n" + "#" * (COLUMNS + 1), 2),
        (missing_docstrings, '"""Doc."""\nclass A:\n  """Doc."""\n  def f(self): pass', 4),
        (accessor_names, "\ndef get_shape(): pass", 2),
        (hidden_imports, "def f():\n from hlotool.ir import shape", 2),
        (early_values, "import numpy as np", 1),
        (bare_suppressions, "x = 1  # type: " + "ignore", 1),
        (bare_suppressions, "x = 1  # no" + "qa", 1),
        (open_ends, "# TO" + "DO later", 1),
        (places, "see /" + "work/x", 1),
        (places, "open('/" + "tmp/x')", 1),
    ],
)
def test_rule_finds(
    rule: Rule, text: str, line: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bare_method_files()
    monkeypatch.setitem(globals(), "ROOT", tmp_path)
    path = tmp_path / "file.py"
    path.write_text(text, encoding="utf-8")
    assert [number for number, _ in rule(path, text)] == [line]
