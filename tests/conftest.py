"""Options, and the modules that tests run over.

Tests marked `oracle` need the reference implementation and run with `--oracle`; those marked
`slow` or `fuzz` run with `--slow`, those marked `bench` with `--bench`. Those of `tests/browser`
run with `--browser`.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes is a matter of the machine, and of what else it has to do.
settings.register_profile("hlotool", deadline=None)
settings.load_profile("hlotool")

ROOT = Path(__file__).resolve().parent.parent
MODELS = ROOT / "testdata" / "models"

OPTION_OF_MARKER = {"oracle": "--oracle", "slow": "--slow", "fuzz": "--slow", "bench": "--bench"}

# Without the option the reference is not even imported, so it need not be installed.
collect_ignore: list[str] = []


def corpus_directory() -> Path:
    """The folder of real modules: HLOTOOL_CORPUS, the shared corpus, or testdata/models."""
    named = os.environ.get("HLOTOOL_CORPUS")
    if named:
        folder = Path(named).resolve()
        if not folder.is_dir():
            raise pytest.UsageError(f"HLOTOOL_CORPUS: {folder} is no folder")
        return folder
    shared = ROOT.parent / "shared" / "corpus"
    return shared if shared.is_dir() else MODELS


def modules_below(folder: Path) -> list[Path]:
    """The modules in text form below a folder: `.hlo` files and the `.txt` ones of dumps."""
    dumped = (
        path
        for path in folder.rglob("module_*.txt")
        if "before_" in path.name or path.name.endswith("after_optimizations.txt")
    )
    return sorted({*folder.rglob("*.hlo"), *dumped})


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("hlotool")
    group.addoption("--oracle", action="store_true", help="run tests against the reference")
    group.addoption("--slow", action="store_true", help="run tests that take long, and fuzzing")
    group.addoption("--bench", action="store_true", help="run the benchmarks")
    group.addoption("--browser", action="store_true", help="use the pages in Chromium")


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--oracle"):
        collect_ignore.append("oracle")
    if not config.getoption("--bench"):
        collect_ignore.append("bench")
    if not config.getoption("--browser"):
        collect_ignore.append("browser")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    closed = {name for name, option in OPTION_OF_MARKER.items() if not config.getoption(option)}
    left_out = [item for item in items if any(item.get_closest_marker(name) for name in closed)]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Gives each real module to a test that asks for `corpus_module` or `model_module`."""
    for name, folder in (("corpus_module", corpus_directory()), ("model_module", MODELS)):
        if name in metafunc.fixturenames:
            paths = modules_below(folder)
            ids = [path.relative_to(folder).as_posix() for path in paths]
            metafunc.parametrize(name, paths, ids=ids)


@pytest.fixture(scope="session", autouse=True)
def _cache_of_tests(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keeps compiled modules of tests apart from those of the user."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HLOTOOL_CACHE_DIR", str(folder))
        yield


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of real modules."""
    return corpus_directory()


@pytest.fixture(scope="session")
def models() -> Path:
    """The folder of the few real modules that come with the project."""
    return MODELS


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT
