"""Every pass by its name."""

from __future__ import annotations

from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
from hlotool.passes.algsimp.broadcast_canonicalizer import BroadcastCanonicalizer
from hlotool.passes.algsimp.reshape_mover import ReshapeMover
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.passes.algsimp.slice_sinker import SliceSinker
from hlotool.passes.cleaning.add_original_value import AddOriginalValue
from hlotool.passes.cleaning.computation_deduplicator import ComputationDeduplicator
from hlotool.passes.cleaning.constant_folding import ConstantFolding
from hlotool.passes.cleaning.cse import CommonSubexpressionElimination
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.cleaning.hlo_constant_splitter import HloConstantSplitter
from hlotool.passes.cleaning.hlo_verifier import HloVerifier
from hlotool.passes.cleaning.instruction_hoister import InstructionHoister
from hlotool.passes.cleaning.literal_canonicalizer import LiteralCanonicalizer
from hlotool.passes.cleaning.root_instruction_sinker import RootInstructionSinker
from hlotool.passes.cleaning.sanitize_constant_names import SanitizeConstantNames
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
from hlotool.passes.cleaning.zero_sized_hlo_elimination import ZeroSizedHloElimination
from hlotool.passes.collectives.all_gather_bcast_reorder import AllGatherBroadcastReorder
from hlotool.passes.collectives.all_gather_combiner import AllGatherCombiner
from hlotool.passes.collectives.all_gather_cse import AllGatherCse
from hlotool.passes.collectives.all_gather_dynamic_slice_simplifier import (
    AllGatherDynamicSliceSimplifier,
)
from hlotool.passes.collectives.all_reduce_combiner import AllReduceCombiner
from hlotool.passes.collectives.all_reduce_contiguous import AllReduceContiguous
from hlotool.passes.collectives.all_reduce_folder import AllReduceFolder
from hlotool.passes.collectives.all_reduce_simplifier import AllReduceSimplifier
from hlotool.passes.collectives.all_reduce_splitter import AllReduceSplitter
from hlotool.passes.collectives.all_to_all_decomposer import AllToAllDecomposer
from hlotool.passes.collectives.ar_crs_combiner import ArCrsCombiner
from hlotool.passes.collectives.async_collective_creator import AsyncCollectiveCreator
from hlotool.passes.collectives.collective_quantizer import CollectiveQuantizer
from hlotool.passes.collectives.collective_transformation_reorderer import (
    CollectiveTransformationReorderer,
)
from hlotool.passes.collectives.collectives_schedule_linearizer import CollectivesScheduleLinearizer
from hlotool.passes.collectives.convert_async_collectives_to_sync import (
    ConvertAsyncCollectivesToSync,
)
from hlotool.passes.collectives.host_memory_transfer_asyncifier import HostMemoryTransferAsyncifier
from hlotool.passes.collectives.memory_placement import ConvertMemoryPlacement
from hlotool.passes.collectives.reduce_scatter_creator import ReduceScatterCreator
from hlotool.passes.collectives.reduce_scatter_reassociate import ReduceScatterReassociate
from hlotool.passes.collectives.reorder_convert_reduce_add import ReorderConvertReduceAdd
from hlotool.passes.collectives.sharding_format_picker import ShardingFormatPicker
from hlotool.passes.collectives.sharding_remover import ShardingRemover
from hlotool.passes.collectives.while_loop_all_reduce_code_motion import (
    WhileLoopAllReduceCodeMotion,
)
from hlotool.passes.composed.despecializer import Despecializer
from hlotool.passes.contracting.batch_dot_simplification import BatchDotSimplification
from hlotool.passes.contracting.convolution_4d_expander import Convolution4DExpander
from hlotool.passes.contracting.convolution_canonicalization import ConvolutionCanonicalization
from hlotool.passes.contracting.convolution_group_converter import ConvolutionGroupConverter
from hlotool.passes.contracting.dot_algorithm_rewriter import DotAlgorithmRewriter
from hlotool.passes.contracting.dot_decomposer import DotDecomposer
from hlotool.passes.contracting.dot_dimension_merger import DotDimensionMerger
from hlotool.passes.contracting.dot_dimension_sorter import DotDimensionSorter
from hlotool.passes.contracting.dot_merger import DotMerger
from hlotool.passes.contracting.dot_normalizer import DotNormalizer
from hlotool.passes.contracting.dot_strength_reduction import DotStrengthReduction
from hlotool.passes.contracting.gather_simplifier import GatherSimplifier
from hlotool.passes.contracting.gemv_rewriter import GemvRewriter
from hlotool.passes.contracting.operand_converter import OperandConverter
from hlotool.passes.contracting.recognize_reduce_window import RecognizeReduceWindow
from hlotool.passes.contracting.reduce_decomposer import ReduceDecomposer
from hlotool.passes.contracting.reduce_window_rewriter import ReduceWindowRewriter
from hlotool.passes.contracting.reduce_window_to_reduce_and_broadcast import (
    ReduceWindowToReduceAndBroadcast,
)
from hlotool.passes.contracting.reduction_degenerate_dim_remover import (
    ReductionDegenerateDimRemover,
)
from hlotool.passes.contracting.reduction_dimension_grouper import ReductionDimensionGrouper
from hlotool.passes.contracting.reduction_layout_normalizer import ReductionLayoutNormalizer
from hlotool.passes.contracting.reduction_splitter import ReductionSplitter
from hlotool.passes.contracting.reorder_reduce_transpose import ReorderReduceTranspose
from hlotool.passes.contracting.reshape_decomposer import ReshapeDecomposer
from hlotool.passes.contracting.scatter_simplifier import ScatterSimplifier
from hlotool.passes.contracting.scatter_slice_simplifier import ScatterSliceSimplifier
from hlotool.passes.contracting.simplify_sorts import SimplifySorts
from hlotool.passes.contracting.transpose_folding import TransposeFolding
from hlotool.passes.contracting.tree_reduction_rewriter import TreeReductionRewriter
from hlotool.passes.contracting.unstable_reduction_detector import UnstableReductionDetector
from hlotool.passes.control.call_inliner import CallInliner
from hlotool.passes.control.conditional_canonicalizer import ConditionalCanonicalizer
from hlotool.passes.control.conditional_to_select import ConditionalToSelect
from hlotool.passes.control.control_flow_flattening import ControlFlowFlattening
from hlotool.passes.control.cse_barrier_expander import CseBarrierExpander
from hlotool.passes.control.dynamic_index_splitter import DynamicIndexSplitter
from hlotool.passes.control.flatten_call_graph import FlattenCallGraph
from hlotool.passes.control.infeed_token_propagation import InfeedTokenPropagation
from hlotool.passes.control.map_inline import MapInline
from hlotool.passes.control.simplify_conditional import SimplifyConditional
from hlotool.passes.control.simplify_while_loops import SimplifyWhileLoops
from hlotool.passes.control.while_loop_constant_sinking import WhileLoopConstantSinking
from hlotool.passes.control.while_loop_invariant_code_motion import WhileLoopInvariantCodeMotion
from hlotool.passes.control.while_loop_trip_count_annotator import WhileLoopTripCountAnnotator
from hlotool.passes.control.while_loop_unroller import WhileLoopUnroller
from hlotool.passes.expanders.assumed_gather_indices import AssumeGatherIndicesInBoundRewriteToCopy
from hlotool.passes.expanders.batch_norm import BatchNormExpander
from hlotool.passes.expanders.batched_gather_scatter import BatchedGatherScatterNormalizer
from hlotool.passes.expanders.bitcast_dtypes import BitcastDtypesExpander
from hlotool.passes.expanders.cholesky import CholeskyExpander
from hlotool.passes.expanders.comparison import ComparisonExpander
from hlotool.passes.expanders.convolution_pred import ConvolutionPredExpander
from hlotool.passes.expanders.eigh import EighExpander
from hlotool.passes.expanders.gather import GatherExpander
from hlotool.passes.expanders.logistic import LogisticExpander
from hlotool.passes.expanders.qr import QrExpander
from hlotool.passes.expanders.real_imag import RealImagExpander
from hlotool.passes.expanders.rng import RngExpander
from hlotool.passes.expanders.rng_bit_generator import RngBitGeneratorExpander
from hlotool.passes.expanders.scatter import GpuScatterExpander, ScatterExpander
from hlotool.passes.expanders.scatter_determinism import ScatterDeterminismExpander
from hlotool.passes.expanders.select_and_scatter import SelectAndScatterExpander
from hlotool.passes.expanders.stable_sort import StableSortExpander
from hlotool.passes.expanders.stochastic_convert import StochasticConvertDecomposer
from hlotool.passes.expanders.sub_byte import SubByteSizeRemoval, SubByteSizeSetter
from hlotool.passes.expanders.topk import TopkDecomposer
from hlotool.passes.expanders.topk_splitter import TopKSplitter
from hlotool.passes.expanders.triangular_solve import TriangularSolveExpander
from hlotool.passes.expanders.variadic_splitter import VariadicOpSplitter
from hlotool.passes.fusion.constant_sinking import FusionConstantSinking
from hlotool.passes.fusion.defuser import Defuser
from hlotool.passes.fusion.fusion import InstructionFusion
from hlotool.passes.fusion.fusion_wrapper import FusionWrapper
from hlotool.passes.fusion.horizontal_loop_fusion import HorizontalLoopFusion
from hlotool.passes.fusion.multi_output import CpuMultiOutputFusion, MultiOutputFusion
from hlotool.passes.fusion.priority_fusion import PriorityFusion
from hlotool.passes.memory.control_dep_remover import ControlDepRemover
from hlotool.passes.memory.copy_insertion import CopyInsertion
from hlotool.passes.memory.cpu_parallel_task_assigner import CpuParallelTaskAssigner
from hlotool.passes.memory.hlo_descheduler import HloDescheduler
from hlotool.passes.memory.hlo_memory_scheduler import HloMemoryScheduler
from hlotool.passes.memory.hlo_trivial_scheduler import HloTrivialScheduler
from hlotool.passes.memory.latency_hiding_scheduler import LatencyHidingScheduler
from hlotool.passes.memory.layout_assignment import LayoutAssignment
from hlotool.passes.memory.layout_normalization import LayoutNormalization
from hlotool.passes.memory.memory_space_propagation import MemorySpacePropagation
from hlotool.passes.memory.optimize_input_output_buffer_alias import OptimizeInputOutputBufferAlias
from hlotool.passes.memory.rematerialization import Rematerialization
from hlotool.passes.memory.schedule_aware_collective_cse import ScheduleAwareCollectiveCse
from hlotool.passes.pass_base import Pass
from hlotool.passes.types.bf16_mixed_precision_removal import Bf16MixedPrecisionRemoval
from hlotool.passes.types.bfloat16_fold import BFloat16Fold
from hlotool.passes.types.bfloat16_propagation import BFloat16Propagation
from hlotool.passes.types.change_op_data_type import ChangeOpDataType
from hlotool.passes.types.convert_mover import ConvertMover
from hlotool.passes.types.convert_operand_folding import ConvertOperandFolding
from hlotool.passes.types.dynamic_dimension_simplifier import DynamicDimensionSimplifier
from hlotool.passes.types.dynamic_padder import DynamicPadder
from hlotool.passes.types.element_type_converter import ElementTypeConverter
from hlotool.passes.types.float_normalization import FloatNormalizationBf16
from hlotool.passes.types.operand_upcaster import OperandUpcaster
from hlotool.passes.types.result_caster import ResultCaster
from hlotool.passes.types.simplify_fp_conversions import SimplifyFpConversions

PASSES: tuple[type[Pass], ...] = (
    # identities
    AlgebraicSimplifier,
    ReshapeMover,
    SliceSinker,
    BroadcastCanonicalizer,
    ZeroSizedHloElimination,
    HloConstantSplitter,
    # moving and dropping
    DeadCodeElimination,
    TupleSimplifier,
    AddOriginalValue,
    ComputationDeduplicator,
    ConstantFolding,
    CommonSubexpressionElimination,
    HloVerifier,
    InstructionHoister,
    LiteralCanonicalizer,
    RootInstructionSinker,
    SanitizeConstantNames,
    # element types
    DynamicPadder,
    DynamicDimensionSimplifier,
    SimplifyFpConversions,
    ConvertMover,
    ConvertOperandFolding,
    OperandUpcaster,
    ResultCaster,
    ElementTypeConverter,
    ChangeOpDataType,
    FloatNormalizationBf16,
    Bf16MixedPrecisionRemoval,
    BFloat16Fold,
    BFloat16Propagation,
    # writing ops out in simpler ones
    LogisticExpander,
    ComparisonExpander,
    StableSortExpander,
    TopkDecomposer,
    TopKSplitter,
    BatchNormExpander,
    GatherExpander,
    ScatterExpander,
    GpuScatterExpander,
    ScatterDeterminismExpander,
    BatchedGatherScatterNormalizer,
    AssumeGatherIndicesInBoundRewriteToCopy,
    SelectAndScatterExpander,
    TriangularSolveExpander,
    CholeskyExpander,
    QrExpander,
    EighExpander,
    RngExpander,
    RngBitGeneratorExpander,
    BitcastDtypesExpander,
    StochasticConvertDecomposer,
    ConvolutionPredExpander,
    RealImagExpander,
    VariadicOpSplitter,
    SubByteSizeSetter,
    SubByteSizeRemoval,
    # dots, convolutions, reductions, windows by index, sorts
    DotDecomposer,
    BatchDotSimplification,
    DotDimensionMerger,
    DotDimensionSorter,
    DotNormalizer,
    OperandConverter,
    GemvRewriter,
    DotStrengthReduction,
    DotMerger,
    DotAlgorithmRewriter,
    TransposeFolding,
    ConvolutionCanonicalization,
    ConvolutionGroupConverter,
    Convolution4DExpander,
    TreeReductionRewriter,
    ReductionSplitter,
    ReductionDegenerateDimRemover,
    ReductionDimensionGrouper,
    ReductionLayoutNormalizer,
    ReduceDecomposer,
    ReorderReduceTranspose,
    ReduceWindowRewriter,
    ReduceWindowToReduceAndBroadcast,
    RecognizeReduceWindow,
    UnstableReductionDetector,
    ReshapeDecomposer,
    GatherSimplifier,
    ScatterSimplifier,
    ScatterSliceSimplifier,
    SimplifySorts,
    # where values lie and when
    HloDescheduler,
    HloTrivialScheduler,
    ControlDepRemover,
    HloMemoryScheduler,
    CopyInsertion,
    LayoutAssignment,
    LatencyHidingScheduler,
    Rematerialization,
    OptimizeInputOutputBufferAlias,
    MemorySpacePropagation,
    LayoutNormalization,
    CpuParallelTaskAssigner,
    ScheduleAwareCollectiveCse,
    # control flow
    ControlFlowFlattening,
    InfeedTokenPropagation,
    CallInliner,
    ConditionalCanonicalizer,
    ConditionalToSelect,
    CseBarrierExpander,
    DynamicIndexSplitter,
    FlattenCallGraph,
    MapInline,
    SimplifyConditional,
    SimplifyWhileLoops,
    WhileLoopConstantSinking,
    WhileLoopInvariantCodeMotion,
    WhileLoopTripCountAnnotator,
    WhileLoopUnroller,
    # collectives
    ShardingFormatPicker,
    ShardingRemover,
    ConvertMemoryPlacement,
    HostMemoryTransferAsyncifier,
    AllReduceCombiner,
    AllGatherCombiner,
    AllReduceFolder,
    AllReduceSimplifier,
    AllReduceContiguous,
    AsyncCollectiveCreator,
    ConvertAsyncCollectivesToSync,
    AllToAllDecomposer,
    AllGatherBroadcastReorder,
    AllGatherCse,
    AllGatherDynamicSliceSimplifier,
    AllReduceSplitter,
    ReduceScatterCreator,
    ReduceScatterReassociate,
    WhileLoopAllReduceCodeMotion,
    CollectivesScheduleLinearizer,
    CollectiveTransformationReorderer,
    ReorderConvertReduceAdd,
    CollectiveQuantizer,
    ArCrsCombiner,
    # fusion
    InstructionFusion,
    PriorityFusion,
    MultiOutputFusion,
    CpuMultiOutputFusion,
    HorizontalLoopFusion,
    FusionWrapper,
    FusionConstantSinking,
    Defuser,
    Despecializer,
)
"""The passes, those that belong together beside each other."""

BY_NAME: dict[str, type[Pass]] = {one.name: one for one in PASSES}


def pass_named(name: str) -> type[Pass]:
    """Returns the class of a pass; raises `UsageError` with the near names for an unknown one."""
    found = BY_NAME.get(name)
    if found is None:
        near = near_names(name, list(BY_NAME))
        raise UsageError(
            f"unknown pass {name}{near}",
            notes=(
                "--list-passes lists all; --platform=cpu and --platform=gpu run whole pipelines",
            ),
        )
    return found
