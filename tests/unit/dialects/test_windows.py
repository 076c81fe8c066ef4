"""Constructors of ops that move windows compute the shapes of the definitions, and refuse what does not fit."""

import numpy as np
import pytest
from window_reference import naive_convolution, naive_reduce
from xdsl.dialects import test
from xdsl.dialects.builtin import f32, i32

from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo import ConvDimensions
from shardwright.dialects.stablehlo.windows import conv_text
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.planning.sweep import Sweep

NUMBERS = ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (1,))


def value(shape, element_type=f32):
    return test.TestOp.create(result_types=[tensor(tuple(shape), element_type)]).results[0]


SWEEPS = [
    Sweep(3),
    Sweep(3, 2, 1, 1),
    Sweep(2, 3, -1, 2, base=2),
    Sweep(3, 1, 0, 0, dilation=2, reverse=True),
    Sweep(5, 2, -2, -2),
]


@pytest.mark.parametrize("sweep", SWEEPS)
def test_convolutions_have_the_shapes_of_their_definition(sweep: Sweep) -> None:
    op = stablehlo.ConvolutionOp(value((2, 9, 4)), value((sweep.size, 2, 6)), NUMBERS, [sweep], feature_groups=2)
    sides = [dims for dims, _ in NUMBERS.sides]
    expected = naive_convolution(np.zeros((2, 9, 4)), np.zeros((sweep.size, 2, 6)), sides, [sweep], (2, 1))
    assert shape_of(op.result) == expected.shape
    assert op.sweeps == (sweep,)
    assert op.groups == (2, 1)
    op.verify()


def test_a_convolution_may_sum_in_a_wider_type() -> None:
    op = stablehlo.ConvolutionOp(value((2, 9, 4)), value((3, 4, 6)), NUMBERS, [Sweep(3)], element_type=i32)
    assert element_of(op.result) == i32


@pytest.mark.parametrize("sweep", [sweep for sweep in SWEEPS if not sweep.reverse])
def test_windows_have_the_shapes_of_their_definition(sweep: Sweep) -> None:
    moves = [Sweep(1), sweep]
    op = stablehlo.ReduceWindowOp([value((4, 9))], [value(())], moves, stablehlo.AddOp)
    assert shape_of(op.outputs[0]) == naive_reduce(np.zeros((4, 9)), 0.0, lambda a, b: a + b, moves).shape
    assert list(op.sweeps) == moves
    op.verify()


@pytest.mark.parametrize(
    ("lhs", "rhs", "numbers", "message"),
    [
        ((2, 9, 4), (3, 3, 6), NUMBERS, "must match the kernel's 3 inputs"),
        ((2, 9, 4), (3, 4, 6), ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (2,)), "name a dim twice"),
        ((2, 9, 4), (3, 4, 6), ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 1, ()), "as many spatial dims"),
    ],
)
def test_what_does_not_fit_is_refused(lhs, rhs, numbers, message) -> None:
    with pytest.raises(ShardwrightValueError, match=message):
        stablehlo.ConvolutionOp(value(lhs), value(rhs), numbers, [Sweep(3)])


def test_dims_read_as_they_are_written() -> None:
    assert conv_text(NUMBERS) == "[b, 0, f]x[0, i, o]->[b, 0, f]"
    assert (
        conv_text(ConvDimensions(2, 0, (3, 1), 2, 0, (1, 3), 2, 1, (0, 3))) == "[f, 1, b, 0]x[o, 0, i, 1]->[0, f, b, 1]"
    )
