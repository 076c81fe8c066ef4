"""TensorFlow's convolutions and pools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from shardwright.frontends.arrays import nn
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.table import row

CONVOLUTIONS = {2: nn.conv2d, 3: nn.conv3d}
TRANSPOSED = {"Conv2DBackpropInput": nn.conv2d_transpose, "Conv3DBackpropInputV2": nn.conv3d_transpose}
POOLS = {
    "AvgPool": nn.avg_pool2d,
    "AvgPool3D": nn.avg_pool3d,
    "MaxPool": nn.max_pool2d,
    "MaxPool3D": nn.max_pool3d,
    "MaxPoolV2": nn.max_pool2d,
}


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


@row("Conv2D", "Conv3D")
def convolved(call: Call, x: Any, filters: Any) -> Any:
    window = Window(call)
    features = x.shape[window.features]
    inputs = filters.shape[-2] if filters.ndim == window.rank + 2 else 0
    if not inputs or features % inputs:
        raise call.fault(f"filters of shape {list(filters.shape)} do not fit {features} features")
    return CONVOLUTIONS[window.rank](x, filters, groups=features // inputs, **window.options)


@row("DepthwiseConv2dNative")
def depthwise(call: Call, x: Any, filters: Any) -> Any:
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
def pooled(call: Call, x: Any, *given: Value) -> Any:
    """The size of the window and its strides are attributes, or in newer versions inputs."""
    window = Window(
        call, *(call.numbers(value, what) for value, what in zip(given, ("window", "strides"), strict=False))
    )
    pool = POOLS[call.node.op.replace("Grad", "")]
    return pool(x, window.size, window.strides, window.padding, data_format=window.format)
