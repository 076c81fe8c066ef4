"""Gradients of the weights of convolutions without padding, by a kernel of as many rows as the image but for a few."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from harness import Array, partitioned, predicted_bytes

from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects import stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.layout.planning.sweep import Sweep
from shardwright.passes.padding import pad_uneven
from shardwright.passes.padding.pad_uneven import other_programs
from shardwright.runtime.executable import compile_module

BATCH, INPUTS, OUTPUTS = 2, 3, 4


def program(images: int, kernel: int, sweep: Sweep, devices: int = 8) -> str:
    """The gradient of weights by rows of images and by the first rows of what is as large as these, or larger."""
    places, whole = sweep.result(images), max(images, kernel)
    rows = '{sdy.sharding = #sdy.sharding<@mesh, [{}, {"x"}, {}]>}'
    return f"""
      sdy.mesh @mesh = <["x"={devices}]>
      func.func public @main(
        %a: tensor<{BATCH}x{images}x{INPUTS}xf32> {rows}, %b: tensor<{BATCH}x{whole}x{OUTPUTS}xf32> {rows}
      ) -> tensor<{places}x{INPUTS}x{OUTPUTS}xf32> {{
        %0 = stablehlo.slice %b [0:{BATCH}, 0:{kernel}, 0:{OUTPUTS}]
          : (tensor<{BATCH}x{whole}x{OUTPUTS}xf32>) -> tensor<{BATCH}x{kernel}x{OUTPUTS}xf32>
        %1 = stablehlo.convolution(%a, %0) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {{
          stride = [{sweep.stride}], pad = [[{sweep.low}, {sweep.high}]], rhs_dilate = [{sweep.dilation}]
        }} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<{BATCH}x{images}x{INPUTS}xf32>, tensor<{BATCH}x{kernel}x{OUTPUTS}xf32>)
          -> tensor<{places}x{INPUTS}x{OUTPUTS}xf32>
        return %1 : tensor<{places}x{INPUTS}x{OUTPUTS}xf32>
      }}"""


def gradient(images: Array, kernel: Array, sweep: Sweep) -> Array:
    """Products of the kernel and of what it stands over, summed at each place."""
    around = np.pad(images, ((0, 0), (sweep.low, sweep.high), (0, 0)))
    starts = range(0, sweep.result(images.shape[1]) * sweep.stride, sweep.stride)
    under = [around[:, start : start + sweep.reach : sweep.dilation] for start in starts]
    with np.errstate(invalid="ignore"):
        return np.stack([(each[..., None] * kernel[:, :, None]).sum((0, 1)) for each in under])


def numbers(rows: int, count: int, seed: int) -> Array:
    return np.random.default_rng(seed).integers(-4, 5, (BATCH, rows, count)).astype(np.float32)


PLAIN = Sweep(30)


@pytest.mark.every(3)
@pytest.mark.parametrize("value", [1.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize(("side", "row"), [("image", 0), ("image", 29), ("image", 30), ("image", 31), ("kernel", 29)])
def test_rows_move_by_as_many_as_there_are_places_but_one(side: str, row: int, value: float) -> None:
    """Two rows of three features of two images, and the sum; zeros of padding meet nothing infinite."""
    image, kernel = numbers(32, INPUTS, 0), numbers(32, OUTPUTS, 1)
    kernel[:, 30:] = np.nan
    (image if side == "image" else kernel)[1, row, 2] = value
    planned, local = partitioned(program(32, 30, PLAIN), round_trip=True)
    executable = compile_module(local)
    (found,) = executable.run([image, kernel])
    np.testing.assert_array_equal(found, gradient(image, kernel[:, :30], PLAIN))
    assert np.isfinite(found[0]).all() == (np.isfinite(value) or (side, row) in {("image", 30), ("image", 31)})
    sent = executable.ledger.sent_bytes
    assert sent == predicted_bytes(planned, executable.ledger.runs)
    assert sent == 7 / 8 * 2 * BATCH * INPUTS * 4 + 2 * 7 / 8 * 3 * INPUTS * OUTPUTS * 4


CASES = [
    (32, PLAIN, 8),
    (33, Sweep(31), 8),  # the image needs more rows than the kernel, also with padding
    (32, Sweep(30, low=1), 8),  # in front of the first row, then behind it
    (17, Sweep(7, dilation=2), 4),
    (17, Sweep(7, stride=2), 4),
    (17, Sweep(13, low=2, high=2), 4),
    (3, Sweep(3, low=2, high=1, dilation=2), 2),  # the kernel reaches further than the image
    (9, Sweep(10, low=1, high=1), 4),
    (13, Sweep(7, stride=3, low=1), 4),
]


@pytest.mark.parametrize(("rows", "sweep", "devices"), CASES)
def test_each_place_has_what_it_needs(rows: int, sweep: Sweep, devices: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where less would be sent otherwise."""
    sent = itertools.count(0, -1000.0)
    monkeypatch.setattr(pad_uneven, "_sent", lambda _: 1e6 + next(sent))
    image, kernel = numbers(rows, INPUTS, 0), numbers(max(rows, sweep.size), OUTPUTS, 1)
    image[0, -1, 0], image[1, 0, 1] = np.inf, np.nan
    planned, local = partitioned(program(rows, sweep.size, sweep, devices))
    convolutions = [op for op in planned.walk() if isinstance(op, stablehlo.ConvolutionOp)]
    assert len(convolutions) == sweep.result(rows) > 1
    (found,) = compile_module(local).run([image, kernel])
    np.testing.assert_array_equal(found, gradient(image, kernel[:, : sweep.size], sweep))


@pytest.mark.parametrize(
    ("rows", "kernel", "count"),
    [
        (32, 24, 0),  # all of it divides
        (32, 30, 2),  # with all padding of what nobody split, at one place after the other or not
        (104, 70, 1),  # at too many places
        (32, 3, 1),  # not the kernel has padding but the result
    ],
)
def test_kernels_of_gradients_are_padded_in_two_ways(rows: int, kernel: int, count: int) -> None:
    module = parse_module(program(rows, kernel, Sweep(kernel)), "gradient.mlir")
    run_pipeline(module, ["import"])
    assert len(list(other_programs(module))) == count
