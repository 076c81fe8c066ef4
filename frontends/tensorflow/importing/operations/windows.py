"""TensorFlow's convolutions, pools and changes of size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.arrays import nn
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import row

CONVOLUTIONS = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TRANSPOSED = {2: nn.conv2d_transpose, 3: nn.conv3d_transpose}
LARGEST = {2: nn.max_pool2d, 3: nn.max_pool3d}
MEANS = {2: nn.avg_pool2d, 3: nn.avg_pool3d}


WIDEST = 16384
"""The most elements of a dim after a change of size: the places from which they come are constants of the program."""


class Window:
    """How a window moves: what the attributes say about the dims of space."""

    def __init__(self, call: Call, rank: int, window: Sequence[int] = (), steps: Sequence[int] = ()) -> None:
        self.call = call
        self.format = str(call["data_format"])
        first = self.format.startswith("NC")
        if sorted(self.format) != sorted("NDHWC" if rank == 3 else "NHWC") or "VECT" in self.format:
            raise call.fault(f"data format {self.format} is not supported", "SW0885")
        self._space = slice(2, rank + 2) if first else slice(1, rank + 1)
        self._others = (0, 1) if first else (0, rank + 1)
        self.rank = rank
        self.strides = self.of_space("strides", list(steps) or call["strides"])
        has_dilations = call.has("dilations")
        self.dilations = self.of_space("dilations", call["dilations"]) if has_dilations else [1] * rank
        self.size = self.of_space("ksize", list(window) or call["ksize"]) if window or call.has("ksize") else []
        self.padding = self._padding()

    def of_space(self, name: str, given: list[int]) -> list[int]:
        """The numbers for the dims of space; those of batch and features must be 1."""
        if len(given) != self.rank + 2 or any(given[dim] != 1 for dim in self._others):
            raise self.call.fault(f"{name} {given} are not supported: they are for batch and features, too", "SW0885")
        return given[self._space]

    def _padding(self) -> Any:
        if self.call["padding"] != "EXPLICIT":
            return self.call["padding"]
        edges = self.call["explicit_paddings"]
        if len(edges) != 2 * (self.rank + 2):
            raise self.call.fault(f"explicit paddings {edges} are not two for each dim", "SW0887")
        pairs = [(edges[2 * dim], edges[2 * dim + 1]) for dim in range(self.rank + 2)]
        if any(pairs[dim] != (0, 0) for dim in self._others):
            raise self.call.fault(f"explicit paddings {edges} pad batch or features", "SW0885")
        return pairs[self._space]

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that convolutions share."""
        return {
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.format,
            "dilations": self.dilations,
        }


def _convolution(call: Call, x: Any, filters: Any, rank: int) -> Any:
    window = Window(call, rank)
    features = x.shape[1 if window.format.startswith("NC") else -1]
    inputs = filters.shape[-2] if filters.ndim == rank + 2 else 0
    if not inputs or features % inputs:
        raise call.fault(f"filters of shape {list(filters.shape)} do not fit {features} features")
    return CONVOLUTIONS[rank](x, filters, groups=features // inputs, **window.options)


@row("Conv2D")
def _conv2d(call: Call, x: Any, filters: Any) -> Any:
    return _convolution(call, x, filters, 2)


@row("Conv3D")
def _conv3d(call: Call, x: Any, filters: Any) -> Any:
    return _convolution(call, x, filters, 3)


@row("DepthwiseConv2dNative")
def _depthwise(call: Call, x: Any, filters: Any) -> Any:
    return nn.depthwise_conv2d(x, filters, **Window(call, 2).options)


@row("Conv2DBackpropInput")
def _conv2d_transpose(call: Call, sizes: Value, filters: Any, x: Any) -> Any:
    return _transposed(call, sizes, filters, x, 2)


@row("Conv3DBackpropInputV2")
def _conv3d_transpose(call: Call, sizes: Value, filters: Any, x: Any) -> Any:
    return _transposed(call, sizes, filters, x, 3)


def _transposed(call: Call, sizes: Value, filters: Any, x: Any, rank: int) -> Any:
    window, shape = Window(call, rank), call.numbers(sizes, "shape of the result")
    space = range(2, rank + 2) if window.format.startswith("NC") else range(1, rank + 1)
    inner = shape if len(shape) == rank else [shape[dim] for dim in space] if len(shape) == rank + 2 else None
    if inner is None:
        raise call.fault(f"{shape} is no shape of a result")
    done = TRANSPOSED[rank](x, filters, inner, **window.options)
    if len(shape) == rank + 2 and list(done.shape[1:]) != shape[1:]:
        raise call.fault(f"the result has shape {list(done.shape)} where {shape} is due")
    return done


@row("MaxPool")
def _max_pool(call: Call, x: Any) -> Any:
    return _pooled(LARGEST, Window(call, 2), x)


@row("MaxPoolV2")
def _max_pool_v2(call: Call, x: Any, ksize: Value, strides: Value) -> Any:
    window = Window(call, 2, call.numbers(ksize, "window"), call.numbers(strides, "strides"))
    return _pooled(LARGEST, window, x)


@row("MaxPool3D")
def _max_pool3d(call: Call, x: Any) -> Any:
    return _pooled(LARGEST, Window(call, 3), x)


@row("AvgPool")
def _avg_pool(call: Call, x: Any) -> Any:
    return _pooled(MEANS, Window(call, 2), x)


@row("AvgPool3D")
def _avg_pool3d(call: Call, x: Any) -> Any:
    return _pooled(MEANS, Window(call, 3), x)


def _pooled(pools: dict[int, Any], window: Window, x: Any) -> Any:
    return pools[window.rank](x, window.size, window.strides, window.padding, data_format=window.format)


@row("ResizeNearestNeighbor")
def _resize_nearest(call: Call, x: Any, size: Value) -> Any:
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        scale = _scale(call, x.shape[dim], count)
        places = np.arange(count, dtype=np.float32)
        if call["half_pixel_centers"]:
            nearest = np.floor((places + np.float32(0.5)) * scale)
        else:
            nearest = np.floor(places * scale + np.float32(0.5 if call["align_corners"] else 0))
        chosen = np.clip(nearest, 0, x.shape[dim] - 1).astype(np.int32)
        x = arrays.take(x, chosen, axis=dim)
    return x


@row("ResizeBilinear")
def _resize_bilinear(call: Call, x: Any, size: Value) -> Any:
    """Along each dim, two neighbours by their distance."""
    x = arrays.astype(x, np.float32)
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        before, scale = x.shape[dim], _scale(call, x.shape[dim], count)
        places = np.arange(count, dtype=np.float32)
        half = np.float32(0.5 if call["half_pixel_centers"] else 0)
        places = np.maximum((places + half) * scale - half, 0)
        low = np.minimum(np.floor(places).astype(np.int64), before - 1)
        share = np.reshape((places - low).astype(np.float32), (count, *(1,) * (3 - dim)))
        first = arrays.take(x, low.astype(np.int32), axis=dim)
        second = arrays.take(x, np.minimum(low + 1, before - 1).astype(np.int32), axis=dim)
        x = arrays.add(first, arrays.multiply(arrays.subtract(second, first), share))
    return x


def _scale(call: Call, before: int, after: int) -> np.float32:
    """How many places before there are for each after, in 32 bits as TensorFlow has it."""
    if not 1 <= after <= WIDEST or before < 1:
        raise call.fault(f"{before} elements cannot become {after}, of at most {WIDEST}")
    corners = call["align_corners"] and after > 1
    return np.float32(before - 1) / np.float32(after - 1) if corners else np.float32(before) / np.float32(after)
