"""Constructors compute NumPy's result shapes, and refuse operands that do not fit."""

import numpy as np
import pytest
from xdsl.dialects import test
from xdsl.dialects.builtin import IntegerType, bf16, f32, i1, i32
from xdsl.traits import MemoryEffect, Pure

from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects import chlo, make_context, stablehlo
from shardwright.dialects.stablehlo import DotDimensions
from shardwright.dialects.stablehlo.calls.custom_calls import HOST_OPS
from shardwright.dialects.types import element_of, is_complex, is_float, is_integer, shape_of, tensor


def value(shape=(4, 8), element_type=f32):
    return test.TestOp.create(result_types=[tensor(tuple(shape), element_type)]).results[0]


def test_the_family_is_whole():
    names = {op.name.removeprefix("stablehlo.") for op in stablehlo.OPS}
    assert names >= {
        "abs", "add", "and", "atan2", "bitcast_convert", "cbrt", "ceil", "clamp", "compare", "complex", "convert",
        "cosine", "count_leading_zeros", "divide", "exponential", "exponential_minus_one", "floor", "imag", "is_finite",
        "log", "log_plus_one", "logistic", "maximum", "minimum", "multiply", "negate", "not", "or", "popcnt", "power",
        "real", "reduce_precision", "remainder", "round_nearest_afz", "round_nearest_even", "rsqrt", "select",
        "shift_left", "shift_right_arithmetic", "shift_right_logical", "sign", "sine", "sqrt", "subtract", "tan",
        "tanh", "xor", "constant", "iota", "broadcast_in_dim", "reshape", "transpose", "slice", "concatenate", "pad",
        "reverse", "dot_general", "reduce", "return", "optimization_barrier",
    }  # fmt: skip
    assert len(stablehlo.ELEMENTWISE) == 47


@pytest.mark.parametrize("op", [*stablehlo.OPS, *chlo.ELEMENTWISE])
def test_class_names_and_purity(op):
    camel = "".join(part.capitalize() for part in op.name.split(".")[1].split("_"))
    assert op.__name__ == f"{camel}Op"
    # `rng` draws other numbers each time, others talk to the host: they are read, and refused by name.
    unsteady = op.name == "stablehlo.rng" or op in HOST_OPS
    assert op.has_trait(Pure) or op.has_trait(MemoryEffect, value_if_unregistered=False) or unsteady
    assert op.__doc__
    assert make_context().get_op(op.name) is op


@pytest.mark.parametrize("op", [op for op in stablehlo.UNARY_OPS if op.__init__ is stablehlo.NegateOp.__init__])
def test_unary_keeps_the_shape(op):
    element_type = f32
    if not any(check(f32) for kind, check in (("f", is_float),) if kind in op.KINDS):
        element_type = i32
    result = op(value(element_type=element_type)).result
    assert shape_of(result) == (4, 8)
    assert element_of(result) == (i1 if op is stablehlo.IsFiniteOp else element_type)


@pytest.mark.parametrize("op", [op for op in stablehlo.BINARY_OPS if op is not stablehlo.CompareOp])
def test_binary_keeps_the_shape(op):
    element_type = f32 if "f" in op.KINDS else i32
    result = op(value(element_type=element_type), value(element_type=element_type)).result
    assert shape_of(result) == (4, 8)
    assert is_complex(element_of(result)) == (op is stablehlo.ComplexOp)


@pytest.mark.parametrize("op", chlo.UNARY_OPS + chlo.BINARY_OPS)
def test_chlo_keeps_the_shape(op):
    element = f32 if "f" in op.KINDS else i32
    result = op(*[value(element_type=element) for _ in range(chlo.ELEMENTWISE[op])]).result
    assert shape_of(result) == (4, 8)
    assert element_of(result) == (i1 if op.name.startswith("chlo.is_") else element)


def test_compare():
    op = stablehlo.CompareOp(value(), value(), "GT")
    assert (op.direction, op.order, element_of(op.result)) == ("GT", "FLOAT", i1)
    assert stablehlo.CompareOp(value(element_type=i32), value(element_type=i32), "LT").order == "SIGNED"
    assert stablehlo.CompareOp(value(element_type=i1), value(element_type=i1), "EQ").order == "UNSIGNED"


def test_conversions():
    assert stablehlo.ConvertOp(value(), bf16).result.type == tensor((4, 8), bf16)
    assert stablehlo.BitcastConvertOp(value(), IntegerType(16)).result.type == tensor((4, 8, 2), IntegerType(16))
    assert stablehlo.BitcastConvertOp(value((4, 2), IntegerType(16)), f32).result.type == tensor((4,), f32)
    assert stablehlo.ReducePrecisionOp(value(), 5, 10).result.type == tensor((4, 8), f32)


def test_ternary():
    assert shape_of(stablehlo.SelectOp(value((), i1), value(), value()).result) == (4, 8)
    assert shape_of(stablehlo.ClampOp(value(()), value(), value()).result) == (4, 8)


def test_shapes_are_numpys():
    array = np.zeros((4, 8))
    operand = value()
    transpose = stablehlo.TransposeOp(operand, (1, 0))
    assert shape_of(transpose.result) == array.T.shape
    assert transpose.dims == (1, 0)
    slice_ = stablehlo.SliceOp(operand, (0, 1), (4, 8), (2, 3))
    assert shape_of(slice_.result) == array[0:4:2, 1:8:3].shape
    assert slice_.bounds == ((0, 1), (4, 8), (2, 3))
    concatenate = stablehlo.ConcatenateOp([operand, operand], 1)
    assert shape_of(concatenate.result) == np.concatenate([array, array], 1).shape
    assert concatenate.dim == 1
    pad = stablehlo.PadOp(operand, value(()), (1, 2), (3, 4))
    assert shape_of(pad.result) == np.pad(array, ((1, 3), (2, 4))).shape
    assert pad.amounts == ((1, 2), (3, 4), (0, 0))
    assert shape_of(stablehlo.PadOp(operand, value(()), (0, 0), (0, 0), (1, 0)).result) == (7, 8)
    assert shape_of(stablehlo.ReverseOp(operand, (0,)).result) == (4, 8)
    assert shape_of(stablehlo.ReshapeOp(operand, tensor((32,), f32)).result) == (32,)
    assert stablehlo.BroadcastInDimOp(value((8,)), (1,), tensor((4, 8), f32)).dims == (1,)
    assert stablehlo.IotaOp(1, tensor((4, 8), i32)).dim == 1


@pytest.mark.parametrize(
    ("equation", "lhs", "rhs", "dims"),
    [
        ("ij,jk->ik", (4, 8), (8, 3), DotDimensions((), (), (1,), (0,))),
        ("bij,bkj->bik", (2, 4, 8), (2, 3, 8), DotDimensions((0,), (0,), (2,), (2,))),
        ("ij,kl->ijkl", (4, 8), (2, 3), DotDimensions()),
        ("ij,ij->", (4, 8), (4, 8), DotDimensions((), (), (0, 1), (0, 1))),
        ("jbi,kbj->bik", (8, 2, 4), (3, 2, 8), DotDimensions((1,), (1,), (0,), (2,))),
    ],
)
def test_dot_general_has_einsums_shape(equation, lhs, rhs, dims):
    op = stablehlo.DotGeneralOp(value(lhs), value(rhs), dims)
    assert shape_of(op.result) == np.einsum(equation, np.zeros(lhs), np.zeros(rhs)).shape
    assert op.contracting_dims == (dims.lhs_contracting, dims.rhs_contracting)
    assert op.batching_dims == (dims.lhs_batching, dims.rhs_batching)


def test_reduce():
    op = stablehlo.ReduceOp([value()], [value(())], (1,), stablehlo.AddOp)
    op.verify()
    assert shape_of(op.outputs[0]) == np.zeros((4, 8)).sum(1).shape
    assert isinstance(op.applied, stablehlo.AddOp)
    assert (len(op.inputs), len(op.init_values), op.dims) == (1, 1, (1,))
    accumulated, elements = stablehlo.scalar_arguments(op)
    assert (len(accumulated), len(elements)) == (1, 1)


def test_barrier_and_return():
    values = [value(), value((3,), i32)]
    assert list(stablehlo.OptimizationBarrierOp(values).result_types) == [value.type for value in values]
    assert len(stablehlo.ReturnOp(*values).operands) == 2


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: stablehlo.AddOp(value(), value((4,))), "'stablehlo.add': operand shapes differ: 4x8, 4"),
        (lambda: stablehlo.SineOp(value(element_type=i32)), "'stablehlo.sine': elements must be floats"),
        (lambda: stablehlo.DotGeneralOp(value(), value(), DotDimensions((), (), (1,), (0,))), "sizes must match"),
        (lambda: stablehlo.ReshapeOp(value(), tensor((5,), f32)), "has 32 elements, but 5 has 5"),
        (lambda: stablehlo.BroadcastInDimOp(value((3,)), (1,), tensor((4, 8), f32)), "operand dim 0 has 3"),
        (lambda: stablehlo.ConcatenateOp([], 0), "at least one operand"),
        (lambda: chlo.ErfOp(value(element_type=i32)), "'chlo.erf': elements must be floats"),
    ],
)
def test_operands_that_do_not_fit(build, message):
    with pytest.raises(ShardwrightValueError, match=message) as caught:
        build()
    assert caught.value.diagnostics[0].code == "SW0301"


def test_kinds_do_not_overlap():
    assert not any(is_integer(kind) and is_float(kind) for kind in (f32, i32, i1, bf16))
