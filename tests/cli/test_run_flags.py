import pytest

from hlotool.cli.opt_arguments import SPELLINGS as OPT_SPELLINGS
from hlotool.cli.run_flags import SPELLINGS
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
        ("--run_test_hlo_passes=false", ["--no-run-test-hlo-passes"]),
        ("--run_reference_hlo_passes=false", []),
        ("--xla_cpu_enable_fast_math=true", ["--xla-option=--xla_cpu_enable_fast_math=true"]),
        ("module_with_underscores.hlo", ["module_with_underscores.hlo"]),
        ("--inputs=in_put=1.npz", ["--inputs=in_put=1.npz"]),
    ],
)
def test_spellings_of_the_reference(word: str, wanted: list[str]) -> None:
    assert SPELLINGS.translated([word]) == wanted


def test_what_follows_two_dashes_is_a_file() -> None:
    assert SPELLINGS.translated(["--", "--print_literals"]) == ["--", "--print_literals"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("--run_reference_hlo_passes=true", "the reference is run as it is"),
        ("--debug_options_file=x", "one by one"),
        ("--force_fake_data", "--inputs"),
        ("--execution_seed=3", "--seed"),
        ("--print_literals=maybe", "true or false wanted"),
        ("--run_test_hlo_passes=maybe", "true or false wanted"),
    ],
)
def test_flags_that_mean_nothing_are_refused_with_the_reason(word: str, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        SPELLINGS.translated([word])


@pytest.mark.parametrize(
    ("word", "wanted"),
    [
        ("--list_passes", ["--list-passes"]),
        ("--list_passes=true", ["--list-passes"]),
        ("--emit_proto=false", []),
        ("--noxla_enable_dumping", ["--xla-option=--noxla_enable_dumping"]),
        ("--xla_dump_to=a=b", ["--xla-option=--xla_dump_to=a=b"]),
        ("--debug_options_file=x", ["--debug-options-file=x"]),
    ],
)
def test_hlo_opt_takes_the_spellings_too(word: str, wanted: list[str]) -> None:
    assert OPT_SPELLINGS.translated([word]) == wanted
