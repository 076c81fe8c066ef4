"""
The StableHLO dialect: same op names, attributes and syntax as upstream, so that text goes both ways unchanged.

Pointwise ops are rows in `pointwise`, which adds their names here, ops that move elements are in `structural`, ops that
combine them in `algebra`.
"""

from xdsl.ir import Dialect, Operation

from shardwright.dialects.stablehlo.algebra.contractions import (
    DotGeneralOp,
    OptimizationBarrierOp,
    ReduceOp,
    ReturnOp,
    combiner,
    scalar_arguments,
)
from shardwright.dialects.stablehlo.algebra.linear_algebra import (
    LINEAR_ALGEBRA_ATTRIBUTES,
    LINEAR_ALGEBRA_OPS,
    CholeskyOp,
    FftOp,
    FftType,
    Transpose,
    TriangularSolveOp,
)
from shardwright.dialects.stablehlo.calls.composed import (
    COMPOSED_OPS,
    BatchNormGradOp,
    BatchNormInferenceOp,
    BatchNormTrainingOp,
    CompositeOp,
    DotOp,
    EinsumOp,
    GetDimensionSizeOp,
    GetTupleElementOp,
    MapOp,
    SetDimensionSizeOp,
    TupleOp,
    UnaryEinsumOp,
)
from shardwright.dialects.stablehlo.calls.custom_calls import (
    CUSTOM_CALL_ATTRIBUTES,
    CUSTOM_CALL_OPS,
    TOKEN_OPS,
    CustomCallOp,
    TokenType,
)
from shardwright.dialects.stablehlo.collectives import COLLECTIVE_ATTRIBUTES, COLLECTIVE_OPS
from shardwright.dialects.stablehlo.control_flow import CaseOp, IfOp, WhileOp
from shardwright.dialects.stablehlo.elementwise import (
    BinaryOp,
    ElementwiseOp,
    TranscendentalOp,
    UnaryOp,
    natural_comparison,
)
from shardwright.dialects.stablehlo.indexing import (
    INDEXING_OPS,
    DynamicSliceOp,
    DynamicUpdateSliceOp,
    GatherOp,
    ScatterOp,
)
from shardwright.dialects.stablehlo.indexing.numbers import (
    INDEXING_ATTRIBUTES,
    GatherDimensions,
    GatherDimensionsAttr,
    ScatterDimensions,
    ScatterDimensionsAttr,
)
from shardwright.dialects.stablehlo.indexing.variants import (
    INDEX_VARIANT_OPS,
    DynamicGatherOp,
    RealDynamicSliceOp,
    TorchIndexSelectOp,
)
from shardwright.dialects.stablehlo.parts.attributes import (
    ATTRIBUTES,
    Accuracy,
    AccuracyMode,
    AccuracyModeAttr,
    ComparisonDirection,
    ComparisonDirectionAttr,
    ComparisonType,
    ComparisonTypeAttr,
    DotAlgorithm,
    DotAlgorithmAttr,
    DotDimensions,
    DotDimensionsAttr,
    Precision,
    PrecisionAttr,
    ResultAccuracyAttr,
)
from shardwright.dialects.stablehlo.parts.constants import (
    constant_value,
    is_splat,
    make_constant,
    make_dense,
    splat_value,
)
from shardwright.dialects.stablehlo.pointwise import *
from shardwright.dialects.stablehlo.random import (
    RANDOM_ATTRIBUTES,
    RANDOM_OPS,
    RngAlgorithm,
    RngBitGeneratorOp,
    RngOp,
)
from shardwright.dialects.stablehlo.sorting import SortOp
from shardwright.dialects.stablehlo.structural import (
    BroadcastInDimOp,
    ConcatenateOp,
    ConstantOp,
    IotaOp,
    PadOp,
    ReshapeOp,
    ReverseOp,
    SliceOp,
    TransposeOp,
)
from shardwright.dialects.stablehlo.windows import (
    WINDOW_ATTRIBUTES,
    WINDOW_OPS,
    ConvDimensions,
    ConvDimensionsAttr,
    ConvolutionOp,
    ReduceWindowOp,
    SelectAndScatterOp,
)
from shardwright.dialects.types import dtype_element, element_dtype

STRUCTURAL_OPS: tuple[type[Operation], ...] = (
    ConstantOp,
    IotaOp,
    BroadcastInDimOp,
    ReshapeOp,
    TransposeOp,
    SliceOp,
    ConcatenateOp,
    PadOp,
    ReverseOp,
)
CONTRACTION_OPS: tuple[type[Operation], ...] = (DotGeneralOp, ReduceOp)
SORTING_OPS: tuple[type[Operation], ...] = (SortOp,)
CONTROL_FLOW_OPS: tuple[type[Operation], ...] = (WhileOp, CaseOp, IfOp)
OPS: tuple[type[Operation], ...] = (
    *ELEMENTWISE_OPS,
    *STRUCTURAL_OPS,
    *CONTRACTION_OPS,
    *SORTING_OPS,
    *CONTROL_FLOW_OPS,
    *COLLECTIVE_OPS,
    *WINDOW_OPS,
    *INDEXING_OPS,
    *INDEX_VARIANT_OPS,
    *LINEAR_ALGEBRA_OPS,
    *RANDOM_OPS,
    *CUSTOM_CALL_OPS,
    *COMPOSED_OPS,
    *TOKEN_OPS,
    ReturnOp,
    OptimizationBarrierOp,
)
"""Every op of the dialect; a new family adds its module's tuple here."""

StableHLO = Dialect(
    "stablehlo",
    list(OPS),
    [
        *ATTRIBUTES,
        *COLLECTIVE_ATTRIBUTES,
        *WINDOW_ATTRIBUTES,
        *INDEXING_ATTRIBUTES,
        *LINEAR_ALGEBRA_ATTRIBUTES,
        *RANDOM_ATTRIBUTES,
        *CUSTOM_CALL_ATTRIBUTES,
    ],
)

__all__ = [
    "COMPOSED_OPS",
    "CONTRACTION_OPS",
    "CONTROL_FLOW_OPS",
    "CUSTOM_CALL_OPS",
    "INDEXING_OPS",
    "INDEX_VARIANT_OPS",
    "LINEAR_ALGEBRA_OPS",
    "OPS",
    "RANDOM_OPS",
    "SORTING_OPS",
    "STRUCTURAL_OPS",
    "TOKEN_OPS",
    "WINDOW_OPS",
    "Accuracy",
    "AccuracyMode",
    "AccuracyModeAttr",
    "BatchNormGradOp",
    "BatchNormInferenceOp",
    "BatchNormTrainingOp",
    "BinaryOp",
    "BroadcastInDimOp",
    "CaseOp",
    "CholeskyOp",
    "ComparisonDirection",
    "ComparisonDirectionAttr",
    "ComparisonType",
    "ComparisonTypeAttr",
    "CompositeOp",
    "ConcatenateOp",
    "ConstantOp",
    "ConvDimensions",
    "ConvDimensionsAttr",
    "ConvolutionOp",
    "CustomCallOp",
    "DotAlgorithm",
    "DotAlgorithmAttr",
    "DotDimensions",
    "DotDimensionsAttr",
    "DotGeneralOp",
    "DotOp",
    "DynamicGatherOp",
    "DynamicSliceOp",
    "DynamicUpdateSliceOp",
    "EinsumOp",
    "ElementwiseOp",
    "FftOp",
    "FftType",
    "GatherDimensions",
    "GatherDimensionsAttr",
    "GatherOp",
    "GetDimensionSizeOp",
    "GetTupleElementOp",
    "IfOp",
    "IotaOp",
    "MapOp",
    "OptimizationBarrierOp",
    "PadOp",
    "Precision",
    "PrecisionAttr",
    "RealDynamicSliceOp",
    "ReduceOp",
    "ReduceWindowOp",
    "ReshapeOp",
    "ResultAccuracyAttr",
    "ReturnOp",
    "ReverseOp",
    "RngAlgorithm",
    "RngBitGeneratorOp",
    "RngOp",
    "ScatterDimensions",
    "ScatterDimensionsAttr",
    "ScatterOp",
    "SelectAndScatterOp",
    "SetDimensionSizeOp",
    "SliceOp",
    "SortOp",
    "StableHLO",
    "TokenType",
    "TorchIndexSelectOp",
    "TranscendentalOp",
    "Transpose",
    "TransposeOp",
    "TriangularSolveOp",
    "TupleOp",
    "UnaryEinsumOp",
    "UnaryOp",
    "WhileOp",
    "combiner",
    "constant_value",
    "dtype_element",
    "element_dtype",
    "is_splat",
    "make_constant",
    "make_dense",
    "natural_comparison",
    "scalar_arguments",
    "splat_value",
]
