import pytest

from hlotool.frontends.dump_names import Step, dump_name

LONG = "cluster_0__XlaCompiledKernel_true_.2"


@pytest.mark.parametrize(
    ("name", "module", "stage", "step"),
    [
        ("module_0000.jit_f.before_optimizations.txt", "jit_f", "before_optimizations", None),
        ("module_0012.f.cpu_after_optimizations.hlo.pb", "f", "cpu_after_optimizations", None),
        (
            "module_0001.f.sm_9.0_gpu_after_optimizations.txt",
            "f", "sm_9.0_gpu_after_optimizations", None,
        ),
        ("1763.module_0001.f.after_spmd_partitioner.txt", "f", "after_spmd_partitioner", None),
        (
            f"module_0000.{LONG}.0005.pipe.after_algsimp.before_dce.txt",
            LONG, "", Step(5, "pipe", "algsimp", "dce"),
        ),
        (
            # Passes may be called as files of another kind end.
            "module_0000.f.0005.pipe.after_x.before_fusion.txt",
            "f", "", Step(5, "pipe", "x", "fusion"),
        ),
        (
            "module_0000.f.0005.pipe.after_x.before_autotune.txt",
            "f", "", Step(5, "pipe", "x", "autotune"),
        ),
        (
            "module_0000.f.0037.copy-insertion.after_adding_copies.txt",
            "f", "", Step(37, "copy-insertion", "after_adding_copies", ""),
        ),
        (
            "module_0000.f.1234.0002.pipe.after_x.before_y.txt",
            "f.1234", "", Step(2, "pipe", "x", "y"),
        ),
        ("module_0000.0002.pipe.after_x.before_y.txt", "", "", Step(2, "pipe", "x", "y")),
        ("softmax.hlo", "softmax", "module", None),
    ],
)  # fmt: skip
def test_modules(name: str, module: str, stage: str, step: Step | None) -> None:
    found = dump_name(name)
    assert (found.kind.name, found.kind.why) == ("module", "")
    assert (found.module, found.stage, found.step) == (module, stage, step)
    assert found.format
    assert name.endswith(found.format)


@pytest.mark.parametrize(
    ("name", "kind", "is_shown"),
    [
        ("main.6.module_0000.jit_f._fusion.html", "fusion decisions", True),
        ("main.6.module_0000.jit_f._fusion.txt", "fusion decisions", True),
        ("main.6.module_0000.jit_f._fusion.pyz", "fusion decisions", False),
        ("module_0000.f.cpu_after_optimizations-buffer-assignment.txt", "buffer assignment", True),
        (
            "module_0000.f.cpu_after_optimizations-buffer-assignment-values.txt",
            "buffer values", True,
        ),
        ("module_0000.f.cpu_after_optimizations-live-range.txt", "live ranges", True),
        ("module_0000.f.cpu_after_optimizations-memory-usage-report.pb", "memory report", False),
        ("module_0000.f.add_fusion_kernel_module.ir-no-opt.ll", "LLVM IR", True),
        ("module_0000.f.add_kernel_module-post-lowering.mlir", "MLIR", True),
        ("module_0000.f.ptx", "PTX", True),
        ("module_0000.f.gemm_fusion.before_validation.ttir.txt", "Triton IR", True),
        ("module_0000.f.obj-file.add_kernel_module.o", "object code", False),
        ("module_0000.f.thunk_sequence_after_thunk_passes.txt", "thunks", True),
        ("module_0000.f.debug_options", "flags", True),
        ("module_0000.f.autotune_results.pbtxt", "autotuning", True),
        ("module_0000.f.gpu_target_config.pbtxt", "configuration", True),
        ("module_0000.metadata.textproto", "pass times", True),
        ("17.module_0000.f.execution_0001.hlo_snapshot.pb", "snapshot", False),
        ("module_0000.f.before_optimizations.dot", "drawing", False),
        ("module_0000.f.cpu_after_optimizations.top_level.html", "drawing", False),
        ("module_0000.f.before_optimizations.riegeli", "module", False),
        ("mark_for_compilation_3.pbtxt", "graph", True),
        ("notes.txt", "text", True),
        ("index.html", "page", False),
        ("values.npz", "other", False),
    ],
)  # fmt: skip
def test_kinds(name: str, kind: str, is_shown: bool) -> None:  # noqa: FBT001  # a parameter
    found = dump_name(name)
    assert found.kind.name == kind
    assert bool(found.kind.why) is not is_shown
