"""TensorFlow's convolutions, pools and changes of size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.arrays import nn
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import row

CONVOLUTIONS = {"Conv2D": nn.conv2d, "Conv3D": nn.conv3d}
TRANSPOSED = {"Conv2DBackpropInput": nn.conv2d_transpose, "Conv3DBackpropInputV2": nn.conv3d_transpose}
POOLS = {
    "AvgPool": nn.avg_pool2d,
    "AvgPool3D": nn.avg_pool3d,
    "MaxPool": nn.max_pool2d,
    "MaxPool3D": nn.max_pool3d,
    "MaxPoolV2": nn.max_pool2d,
}

WIDEST = 16384
"""The most elements of a dim after a change of size: the places from which they come are constants of the program."""


class Window:
    """How a window moves: what the attributes say about the dims of space."""

    def __init__(self, call: Call, window: Sequence[int] = (), steps: Sequence[int] = ()) -> None:
        self.call = call
        self.rank = rank = 3 if "3D" in call.node.op else 2
        self.format = str(call["data_format"])
        if sorted(self.format) != sorted("NDHWC" if rank == 3 else "NHWC") or "VECT" in self.format:
            raise call.fault(f"data format {self.format} is not supported", "SW0885")
        self.features = 1 if self.format.startswith("NC") else rank + 1
        self.space = slice(2, rank + 2) if self.features == 1 else slice(1, rank + 1)
        self.strides = self.of_space("strides", list(steps) or call["strides"])
        has_dilations = call.has("dilations")
        self.dilations = self.of_space("dilations", call["dilations"]) if has_dilations else [1] * rank
        self.size = self.of_space("ksize", list(window) or call["ksize"]) if window or call.has("ksize") else []
        self.padding = self._padding()

    def of_space(self, name: str, given: list[int]) -> list[int]:
        """The numbers for the dims of space; those of batch and features must be 1."""
        if len(given) != self.rank + 2 or any(given[dim] != 1 for dim in (0, self.features)):
            raise self.call.fault(f"{name} {given} are not supported: they are for batch and features, too", "SW0885")
        return given[self.space]

    def _padding(self) -> Any:
        if self.call["padding"] != "EXPLICIT":
            return self.call["padding"]
        edges = self.call["explicit_paddings"]
        if len(edges) != 2 * (self.rank + 2):
            raise self.call.fault(f"explicit paddings {edges} are not two for each dim", "SW0887")
        pairs = [(edges[2 * dim], edges[2 * dim + 1]) for dim in range(self.rank + 2)]
        if any(pairs[dim] != (0, 0) for dim in (0, self.features)):
            raise self.call.fault(f"explicit paddings {edges} pad batch or features", "SW0885")
        return pairs[self.space]

    @property
    def options(self) -> dict[str, Any]:
        """The arguments that convolutions share."""
        return {
            "strides": self.strides,
            "padding": self.padding,
            "data_format": self.format,
            "dilations": self.dilations,
        }


@row(*CONVOLUTIONS)
def _convolution(call: Call, x: Any, filters: Any) -> Any:
    window = Window(call)
    features = x.shape[window.features]
    inputs = filters.shape[-2] if filters.ndim == window.rank + 2 else 0
    if not inputs or features % inputs:
        raise call.fault(f"filters of shape {list(filters.shape)} do not fit {features} features")
    return CONVOLUTIONS[call.node.op](x, filters, groups=features // inputs, **window.options)


@row("DepthwiseConv2dNative")
def _depthwise(call: Call, x: Any, filters: Any) -> Any:
    return nn.depthwise_conv2d(x, filters, **Window(call).options)


@row(*TRANSPOSED)
def _transposed(call: Call, sizes: Value, filters: Any, x: Any) -> Any:
    window, shape = Window(call), call.numbers(sizes, "shape of the result")
    if len(shape) not in (window.rank, window.rank + 2):
        raise call.fault(f"{shape} is no shape of a result")
    inner = shape if len(shape) == window.rank else shape[window.space]
    done = TRANSPOSED[call.node.op](x, filters, inner, **window.options)
    if len(shape) == window.rank + 2 and list(done.shape[1:]) != shape[1:]:
        raise call.fault(f"the result has shape {list(done.shape)} where {shape} is due")
    return done


@row(*POOLS)
def _pooled(call: Call, x: Any, *given: Value) -> Any:
    """The size of the window and its strides are attributes, or in newer versions inputs."""
    window = Window(
        call, *(call.numbers(value, what) for value, what in zip(given, ("window", "strides"), strict=False))
    )
    return POOLS[call.node.op](x, window.size, window.strides, window.padding, data_format=window.format)


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
