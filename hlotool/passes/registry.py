"""Every pass by its name."""

from __future__ import annotations

from hlotool.errors import UsageError
from hlotool.ir.attribute import near_names
from hlotool.passes.algsimp.simplifier import AlgebraicSimplifier
from hlotool.passes.cleaning.dce import DeadCodeElimination
from hlotool.passes.cleaning.tuple_simplifier import TupleSimplifier
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
from hlotool.passes.expanders.select_and_scatter import SelectAndScatterExpander
from hlotool.passes.expanders.stable_sort import StableSortExpander
from hlotool.passes.expanders.stochastic_convert import StochasticConvertDecomposer
from hlotool.passes.expanders.sub_byte import SubByteSizeRemoval, SubByteSizeSetter
from hlotool.passes.expanders.topk import TopkDecomposer
from hlotool.passes.expanders.topk_splitter import TopKSplitter
from hlotool.passes.expanders.triangular_solve import TriangularSolveExpander
from hlotool.passes.expanders.variadic_splitter import VariadicOpSplitter
from hlotool.passes.pass_base import Pass
from hlotool.passes.types.bf16_mixed_precision_removal import Bf16MixedPrecisionRemoval
from hlotool.passes.types.bfloat16_fold import BFloat16Fold
from hlotool.passes.types.bfloat16_propagation import BFloat16Propagation
from hlotool.passes.types.change_op_data_type import ChangeOpDataType
from hlotool.passes.types.convert_mover import ConvertMover
from hlotool.passes.types.convert_operand_folding import ConvertOperandFolding
from hlotool.passes.types.element_type_converter import ElementTypeConverter
from hlotool.passes.types.float_normalization import FloatNormalizationBf16
from hlotool.passes.types.operand_upcaster import OperandUpcaster
from hlotool.passes.types.result_caster import ResultCaster
from hlotool.passes.types.simplify_fp_conversions import SimplifyFpConversions

PASSES: tuple[type[Pass], ...] = (
    # identities
    AlgebraicSimplifier,
    # moving and dropping
    DeadCodeElimination,
    TupleSimplifier,
    # element types
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
)
"""The passes, those that belong together beside each other."""

BY_NAME: dict[str, type[Pass]] = {one.name: one for one in PASSES}


def pass_named(name: str) -> type[Pass]:
    """Returns the class of a pass; raises `UsageError` with the near names for an unknown one."""
    found = BY_NAME.get(name)
    if found is None:
        near = near_names(name, list(BY_NAME))
        raise UsageError(f"unknown pass {name}{near}", notes=("--list-passes lists all",))
    return found
