"""The pipelines of platforms keep what every real module yields, and come to an end."""

from pathlib import Path

import pytest

from hlotool.analysis.verifier import verify
from hlotool.ir.cloning import cloned_module
from hlotool.passes.pipelines import PLATFORMS, backend_pipeline, platform_pipeline
from hlotool.passes.running import Runner
from hlotool.text.parser import parse
from hlotool.text.printer import print_module
from tests.passes.checking import same_values, values_of
from tests.passes.test_every_pass import MODULES, Expected


@pytest.mark.parametrize("platform", PLATFORMS)
@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_pipeline_keeps_its_promises(path: Path, platform: str) -> None:
    module = parse(path.read_text(), path.name)
    expected = Expected(cloned_module(module))
    runner = Runner()
    for pipeline in (platform_pipeline(platform), backend_pipeline(platform)):
        runner.run(pipeline, module)
        assert [str(error) for error in verify(module)] == []
        text = print_module(module)
        again = Runner()
        changed = again.run(pipeline, module)
        assert [record.text for record in again.records if record.changed] == []
        assert not changed
        assert print_module(module) == text
    assert runner.warnings == []
    if expected.results is not None:
        actual = values_of(module, expected.arguments)
        assert same_values(expected.module, actual, expected.results, exact=False) == []
