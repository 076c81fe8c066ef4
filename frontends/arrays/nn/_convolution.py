"""
Convolutions, in one to three spatial dims.

Inputs are batch, space, features (`data_format` says otherwise), filters are space, inputs, outputs, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Sequence

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import check_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import stablehlo
from shardwright.dialects.stablehlo.windows import ConvDimensions
from shardwright.frontends.arrays.nn._parts import (
    SPACE,
    Format,
    Numbers,
    Padding,
    check_padding,
    misfit,
    numbers_for,
    spatial_dims,
    swept,
)
from shardwright.frontends.functions.dispatch import array_function, named
from shardwright.layout.planning.sweep import Sweep, spread_back

__all__ = [
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "depthwise_conv2d",
]

_FORWARD = """
    A convolution: `x` is (batch, {space}, inputs), `filters` ({space}, inputs / groups, outputs).

    `padding` is `"SAME"`, `"VALID"` or a pair of numbers for each spatial dim. Raises `ValueError` (SW0541) for shapes
    that do not fit.

    >>> import shardwright, numpy
    >>> x, filters = numpy.arange(4.0).reshape({x}), numpy.ones({filters})
    >>> shardwright.nn.conv{rank}d(x, filters, padding="VALID").ravel()
    array([1., 3., 5.])
    """

_BACK = """
    The gradient of `conv{rank}d` for its input, as a layer that widens: filters are ({space}, outputs, inputs).

    `output_shape` is the whole shape of the result, or its spatial dims; without it, as large as the stride says.
    Raises `ValueError` (SW0541) for shapes that do not fit.

    >>> import shardwright, numpy
    >>> shardwright.nn.conv{rank}d_transpose(numpy.ones({x}), numpy.ones({filters}), strides=2).size
    {size}
    """


def _forward(rank: int):
    """The public function for `rank` spatial dims."""
    name, ones = f"conv{rank}d", (1,) * (rank - 1)
    doc = _FORWARD.format(rank=rank, space=SPACE[rank], x=(1, *ones, 4, 1), filters=(*ones, 2, 1, 1))

    @named(name, doc)
    def convolution(
        x: ArrayLike,
        filters: ArrayLike,
        /,
        strides: Numbers = 1,
        padding: Padding = "SAME",
        *,
        data_format: Format = None,
        dilations: Numbers = 1,
        groups: int = 1,
    ) -> Array:
        return _convolved(rank, x, filters, strides, padding, data_format, dilations, groups, name)

    return convolution


def _back(rank: int):
    """The public function that goes back, for `rank` spatial dims."""
    name, ones = f"conv{rank}d_transpose", (1,) * (rank - 1)
    doc = _BACK.format(rank=rank, space=SPACE[rank], x=(1, *ones, 4, 3), filters=(*ones, 2, 5, 3), size=20 * 2**rank)

    @named(name, doc)
    def transposed(
        x: ArrayLike,
        filters: ArrayLike,
        /,
        output_shape: Sequence[int] | None = None,
        strides: Numbers = 1,
        padding: Padding = "SAME",
        *,
        data_format: Format = None,
        dilations: Numbers = 1,
    ) -> Array:
        value, kernel = _operands(x, filters, rank, name)
        features, space = spatial_dims(rank, value.ndim, data_format, name)
        if kernel.shape[-1] != value.shape[features]:
            raise misfit(
                name,
                f"filters for {kernel.shape[-1]} inputs do not fit {value.shape[features]} features",
                "filters are space, outputs, inputs",
            )
        steps, gaps = numbers_for(strides, rank, name, "strides"), numbers_for(dilations, rank, name, "dilations")
        inner = [value.shape[dim] for dim in space]
        edges = check_padding(padding, rank, name)
        if output_shape is not None:
            _check_shape(output_shape, rank, features, (value.shape[0], kernel.shape[rank]), name)
        sizes = _widened(output_shape, inner, kernel.shape[:rank], steps, gaps, edges, space)
        sweeps = swept(sizes, kernel.shape[:rank], steps, padding, gaps, name)
        if [sweep.result(size) for sweep, size in zip(sweeps, sizes, strict=True)] != inner:
            raise misfit(name, f"no convolution of {list(sizes)} elements has {inner} results with these strides")
        back = [spread_back(sweep, size) for sweep, size in zip(sweeps, sizes, strict=True)]
        numbers = ConvDimensions(0, features, space, rank + 1, rank, tuple(range(rank)), 0, features, space)
        return _emitted(value, kernel, numbers, back, 1)

    return transposed


conv1d, conv2d, conv3d = (_forward(rank) for rank in SPACE)
conv1d_transpose, conv2d_transpose, conv3d_transpose = (_back(rank) for rank in SPACE)


@array_function
def depthwise_conv2d(
    x: ArrayLike,
    filters: ArrayLike,
    /,
    strides: Numbers = 1,
    padding: Padding = "SAME",
    *,
    data_format: Format = None,
    dilations: Numbers = 1,
) -> Array:
    """
    A convolution of each feature alone, as `conv2d`: filters are (height, width, inputs, outputs for each input).

    >>> import shardwright, numpy
    >>> shardwright.nn.depthwise_conv2d(numpy.ones((2, 8, 8, 3)), numpy.ones((3, 3, 3, 4)), 2).shape
    (2, 4, 4, 12)
    """
    kernel = emit.as_tracer(filters, "depthwise_conv2d")
    if kernel.ndim != 4:
        raise misfit("depthwise_conv2d", f"filters have {kernel.ndim} dims, not 4")
    height, width, inputs, multiples = kernel.shape
    flat = emit.reshape(kernel, (height, width, 1, inputs * multiples))
    return _convolved(2, x, flat, strides, padding, data_format, dilations, inputs, "depthwise_conv2d")


def _convolved(
    rank: int,
    x: ArrayLike,
    filters: ArrayLike,
    strides: Numbers,
    padding: Padding,
    data_format: Format,
    dilations: Numbers,
    groups: int,
    what: str,
) -> Tracer:
    value, kernel = _operands(x, filters, rank, what)
    features, space = spatial_dims(rank, value.ndim, data_format, what)
    inputs, outputs = kernel.shape[-2:]
    if groups < 1 or inputs * groups != value.shape[features] or outputs % groups:
        raise misfit(
            what,
            f"{groups} groups of {inputs} inputs and {outputs} outputs do not fit {value.shape[features]} features",
            "filters are space, inputs of a group, outputs",
        )
    steps, gaps = numbers_for(strides, rank, what, "strides"), numbers_for(dilations, rank, what, "dilations")
    sizes = [value.shape[dim] for dim in space]
    sweeps = swept(sizes, kernel.shape[:rank], steps, padding, gaps, what)
    window = tuple(range(rank))
    numbers = ConvDimensions(0, features, space, rank, rank + 1, window, 0, features, space)
    return _emitted(value, kernel, numbers, sweeps, groups)


def _operands(x: ArrayLike, filters: ArrayLike, rank: int, what: str) -> list[Tracer]:
    dtype = emit.result_dtype(what, x, filters)
    check_kind(dtype, ("integer", "float", "complex"), what)
    value, kernel = (emit.typed(one, dtype, what) for one in (x, filters))
    if kernel.ndim != rank + 2:
        raise misfit(what, f"filters have {kernel.ndim} dims, not {rank + 2}")
    return [value, kernel]


def _emitted(value: Tracer, kernel: Tracer, numbers: ConvDimensions, sweeps: Sequence[Sweep], groups: int) -> Tracer:
    op = stablehlo.ConvolutionOp(value.value, kernel.value, numbers, sweeps, feature_groups=groups)
    return emit.trace_now().emit(op)


def _check_shape(shape: Sequence[int], rank: int, features: int, due: tuple[int, int], what: str) -> None:
    """SW0541 for a result of other dims, or of another batch and other outputs than are `due`."""
    if len(shape) not in (rank, rank + 2):
        raise misfit(what, f"output_shape {list(shape)} is not of {rank} spatial dims, or {rank + 2} in all")
    if len(shape) > rank and (shape[0], shape[features]) != due:
        raise misfit(what, f"output_shape {list(shape)} is not for a batch of {due[0]} and {due[1]} outputs")


def _widened(
    output_shape: Sequence[int] | None,
    inner: Sequence[int],
    windows: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Padding,
    space: Sequence[int],
) -> list[int]:
    """The spatial dims of the result."""
    if output_shape is not None:
        whole = len(output_shape) != len(inner)
        return [output_shape[dim] for dim in space] if whole else list(output_shape)
    found: list[int] = []
    for at, (size, window, stride, dilation) in enumerate(zip(inner, windows, strides, dilations, strict=True)):
        reach = (window - 1) * dilation + 1
        if isinstance(padding, str):
            found.append(size * stride + (0 if padding == "SAME" else max(reach - stride, 0)))
        else:
            found.append((size - 1) * stride + reach - sum(padding[at]))
    return found
