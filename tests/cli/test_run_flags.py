import pytest

from hlotool.cli.run_flags import translated
from hlotool.errors import UsageError


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("--print_literals", ["--print-literals"]),
        ("--print_literals=true", ["--print-literals"]),
        ("--print_literals=false", []),
        ("--random_init_input_literals=false", ["--no-random-init-input-literals"]),
        ("--reference_platform=", ["--reference-platform="]),
        ("--input_format=txt", ["--format=txt"]),
        ("--isolate_instructions", ["--isolate"]),
        ("--abs_error_bound=1e-3", ["--abs-error-bound=1e-3"]),
        ("--run_test_hlo_passes=false", []),
        ("--xla_cpu_enable_fast_math=true", ["--xla-option=--xla_cpu_enable_fast_math=true"]),
        ("module_with_underscores.hlo", ["module_with_underscores.hlo"]),
        ("--inputs=in_put=1.npz", ["--inputs=in_put=1.npz"]),
    ],
)
def test_spellings_of_the_reference(word: str, wanted: list[str]) -> None:
    assert translated([word]) == wanted


def test_what_follows_two_dashes_is_a_file() -> None:
    assert translated(["--", "--print_literals"]) == ["--", "--print_literals"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("--run_test_hlo_passes", "runs modules as they are"),
        ("--run_reference_hlo_passes=true", "runs modules as they are"),
        ("--debug_options_file=x", "one by one"),
        ("--force_fake_data", "--inputs"),
        ("--execution_seed=3", "--seed"),
        ("--print_literals=maybe", "true or false wanted"),
    ],
)
def test_flags_that_mean_nothing_are_refused_with_the_reason(word: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        translated([word])
