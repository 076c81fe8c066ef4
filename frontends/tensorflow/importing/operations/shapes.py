"""TensorFlow's operations on shapes: what is constant, what moves elements, joins and repeats them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardwright.compiler.tracing import emit
from shardwright.dialects import stablehlo
from shardwright.dialects.types import dtype_element
from shardwright.frontends import arrays
from shardwright.frontends.arrays import linalg
from shardwright.frontends.tensorflow.importing.evaluate import FOLDED, Call, Value, rows
from shardwright.frontends.tensorflow.importing.table import row


@row("Const")
def _const(call: Call) -> Value:
    array = call.interpreter.state.constant(call.node)
    if array.dtype != call.dtype("dtype"):
        raise call.fault(f"its value is {array.dtype.name}, not {call.dtype('dtype').name}", "SW0887")
    variable = call.interpreter.state.wide.get((call.node.home, call.node.name))
    return array if variable is None else variable.traced()


@row("Placeholder", "PlaceholderV2")
def _placeholder(call: Call) -> Value:
    raise call.fault("the outputs need this input, and it is not among the inputs that were given", "SW0891")


@row("NoOp", "Assert", "Print", "PrintV2")
def _nothing(call: Call, *values: Value) -> Any:
    return values[0] if call.node.op == "Print" else ()


@row("BroadcastArgs", folds=True)
def _broadcast_args(call: Call, first: Value, second: Value) -> Value:
    shapes = [call.numbers(value, "shape") for value in (first, second)]
    return np.array(np.broadcast_shapes(*map(tuple, shapes)), call.dtype("T"))


def _worked_out(call: Call, x: Any, sizes: list[int]) -> tuple[int, ...]:
    known = math.prod(size for size in sizes if size != -1)
    if sizes.count(-1) > 1 or min(sizes, default=0) < -1:
        raise call.fault(f"{sizes} is no shape")
    if -1 in sizes and (known == 0 or x.size % known):
        raise call.fault(f"a value of shape {list(x.shape)} cannot be {sizes}")
    return tuple(x.size // known if size == -1 else size for size in sizes)


def _transposed(call: Call, x: Any, order: Value) -> Any:
    return call.xp.permute_dims(x, tuple(call.numbers(order, "order of dims")))


def _squeezed(call: Call, x: Any) -> Any:
    ones = tuple(dim for dim, size in enumerate(x.shape) if size == 1)
    return call.xp.squeeze(x, axis=tuple(call["squeeze_dims"]) or ones)


@row("Concat", "ConcatV2", folds=True)
def _concat(call: Call, *inputs: Any) -> Any:
    """The dim is the first input, and in newer versions the last one."""
    dim, values = (inputs[-1], inputs[:-1]) if call.node.op == "ConcatV2" else (inputs[0], inputs[1:])
    at = call.number(dim, "dim")
    if call.folding and sum(value.size for value in values) > FOLDED:
        return arrays.concat(values, axis=at)
    return call.xp.concat(values, axis=at)


@row("Pack", folds=True)
def _pack(call: Call, *values: Any) -> Any:
    small = call.folding and sum(value.size for value in values) <= FOLDED
    return (np if small else arrays).stack(values, axis=call["axis"])


@row("Unpack", folds=True)
def _unpack(call: Call, value: Any) -> tuple[Any, ...]:
    dim = call["axis"]
    if not -value.ndim <= dim < value.ndim or value.shape[dim] != call["num"]:
        raise call.fault(f"dim {dim} of a value of shape {list(value.shape)} has not {call['num']} elements")
    before: tuple[slice, ...] = (slice(None),) * (dim % value.ndim)
    return tuple(value[(*before, place)] for place in range(call["num"]))


@row("Split", folds=True)
def _split(call: Call, dim: Value, value: Any) -> tuple[Any, ...]:
    at, count = call.dim(value, call.number(dim, "dim")), call["num_split"]
    if value.shape[at] % count:
        raise call.fault(f"{value.shape[at]} elements do not split into {count} equal parts")
    return _parts(value, at, [value.shape[at] // count] * count)


@row("SplitV", folds=True)
def _split_v(call: Call, value: Any, sizes: Value, dim: Value) -> tuple[Any, ...]:
    at, parts = call.dim(value, call.number(dim, "dim")), call.numbers(sizes, "sizes")
    rest = value.shape[at] - sum(size for size in parts if size != -1)
    parts = [rest if size == -1 else size for size in parts]
    if sum(parts) != value.shape[at] or min(parts, default=0) < 0 or len(parts) != call["num_split"]:
        raise call.fault(f"{value.shape[at]} elements do not split into parts of {parts}")
    return _parts(value, at, parts)


def _parts(value: Any, dim: int, sizes: Sequence[int]) -> tuple[Any, ...]:
    before: tuple[slice, ...] = (slice(None),) * dim
    ends = np.cumsum(sizes).tolist()
    return tuple(value[(*before, slice(end - size, end))] for size, end in zip(sizes, ends, strict=True))


def _wide(call: Call, x: Any, shape: list[int]) -> Any:
    """A value repeated; a single known element is repeated without memory, and others while that is little."""
    if min(shape, default=0) < 0:
        raise call.fault(f"{shape} is no shape")
    if call.folding and (x.size == 1 or math.prod(shape) <= FOLDED):
        return np.broadcast_to(x, shape)
    return arrays.broadcast_to(x, shape)


@row("Tile", folds=True)
def _tile(call: Call, x: Any, multiples: Value) -> Any:
    counts = call.numbers(multiples, "repetitions")
    if len(counts) != x.ndim or min(counts, default=0) < 0:
        raise call.fault(f"repetitions {counts} do not fit a value of shape {list(x.shape)}")
    small = call.folding and math.prod(counts) * x.size <= FOLDED
    return np.tile(x, counts) if small else arrays.tile(x, counts)


@row("Range", folds=True)
def _range(call: Call, start: Value, limit: Value, delta: Value) -> Any:
    first, end, step = (
        call.known(value, name)[()] for value, name in ((start, "start"), (limit, "end"), (delta, "step"))
    )
    if step == 0:
        raise call.fault("its step is zero")
    count = max(0, math.ceil((end - first) / step)) if first.dtype.kind == "f" else len(range(first, end, step))
    if count <= FOLDED:
        return (first + np.arange(count) * step).astype(call.dtype("Tidx"))
    places = arrays.arange(count, dtype=call.dtype("Tidx"))
    return arrays.add(arrays.multiply(places, np.array(step)), np.array(first))


@row("LinSpace")
def _lin_space(call: Call, start: Any, stop: Any, num: Value) -> Any:
    count = call.number(num, "number of elements")
    places = arrays.arange(count, dtype=start.dtype)
    step = arrays.divide(arrays.subtract(stop, start), np.array(max(count - 1, 1)).astype(start.dtype))
    return arrays.add(start, arrays.multiply(places, step))


def _padded(call: Call, x: Any, paddings: Value, value: Any) -> Any:
    edges = _edges(call, x, paddings)
    operands = emit.as_tracer(x, "Pad"), emit.as_tracer(value, "Pad")
    low, high = ([edge[side] for edge in edges] for side in (0, 1))
    return emit.trace_now().emit(stablehlo.PadOp(operands[0].value, operands[1].value, low, high))


def _edges(call: Call, x: Any, paddings: Value) -> list[list[int]]:
    known = call.known(paddings, "paddings")
    if known.shape != (x.ndim, 2) or known.min(initial=0) < 0:
        raise call.fault(f"paddings {known.tolist()} do not fit a value of shape {list(x.shape)}")
    return [[int(item) for item in pair] for pair in known]


@row("MirrorPad")
def mirror_pad(call: Call, x: Any, paddings: Value) -> Any:
    edge = int(call["mode"] == "REFLECT")
    for dim, (low, high) in enumerate(_edges(call, x, paddings)):
        size = x.shape[dim]
        if max(low, high) > size - edge:
            raise call.fault(f"paddings {low} and {high} are more than dim {dim} of {size} elements has to mirror")
        before: tuple[slice, ...] = (slice(None),) * dim
        front = arrays.flip(x[(*before, slice(edge, edge + low))], axis=dim) if low else None
        back = arrays.flip(x[(*before, slice(size - edge - high, size - edge))], axis=dim) if high else None
        x = arrays.concat([part for part in (front, x, back) if part is not None], axis=dim)
    return x


@row("Roll")
def _roll(call: Call, x: Any, shift: Value, axis: Value) -> Any:
    for places, dim in zip(call.numbers(shift, "shift"), call.numbers(axis, "dims"), strict=True):
        x = arrays.roll(x, places, axis=dim)
    return x


@row("MatrixBandPart")
def _matrix_band_part(call: Call, x: Any, lower: Value, upper: Value) -> Any:
    below, above = call.number(lower, "number of diagonals"), call.number(upper, "number of diagonals")
    if below >= 0:
        x = arrays.triu(x, k=-below)
    return arrays.tril(x, k=above) if above >= 0 else x


def _on_diagonal(x: Any) -> Any:
    size = x.shape[-1]
    spread = arrays.broadcast_to(arrays.expand_dims(x, axis=-1), (*x.shape, size))
    return arrays.where(arrays.eye(size, dtype=bool), spread, np.zeros((), x.dtype))


@row("Bitcast")
def _bitcast(call: Call, x: Any) -> Any:
    target = call.dtype("type")
    if target.itemsize != x.dtype.itemsize:
        raise call.fault("elements of another size are not supported", "SW0885")
    value = emit.as_tracer(x, "Bitcast")
    return emit.trace_now().emit(stablehlo.BitcastConvertOp(value.value, dtype_element(target)))


@row("DepthToSpace", "SpaceToDepth")
def _blocks_moved(call: Call, x: Any) -> Any:
    """Blocks of pixels out of the features, or into them."""
    block, first = call["block_size"], call["data_format"] == "NCHW"
    if not first and call["data_format"] != "NHWC":
        raise call.fault(f"data format {call['data_format']} is not supported", "SW0885")
    x = arrays.permute_dims(x, (0, 2, 3, 1)) if first else x
    batch, height, width, features = x.shape
    if call.node.op == "DepthToSpace":
        features //= block**2
        split = (batch, height, width, block, block, features)
        whole = (batch, height * block, width * block, features)
    else:
        split = (batch, height // block, block, width // block, block, features)
        whole = (batch, height // block, width // block, features * block**2)
    moved = arrays.reshape(arrays.permute_dims(arrays.reshape(x, split), (0, 1, 3, 2, 4, 5)), whole)
    return arrays.permute_dims(moved, (0, 3, 1, 2)) if first else moved


def _pairs(call: Call, edges: Value, what: str) -> list[list[int]]:
    known = call.known(edges, what)
    if known.ndim != 2 or known.shape[1] != 2:
        raise call.fault(f"its {what} have shape {list(known.shape)}, not two for each dim")
    return known.tolist()


@row("SpaceToBatchND")
def _space_to_batch(call: Call, x: Any, block_shape: Value, paddings: Value) -> Any:
    blocks, edges = call.numbers(block_shape, "blocks"), _pairs(call, paddings, "paddings")
    rest = x.ndim - 1 - len(blocks)
    padded = _padded(call, x, np.array([[0, 0], *edges, *[[0, 0]] * rest]), np.zeros((), x.dtype))
    batch, *sizes = padded.shape
    space, features = sizes[: len(blocks)], sizes[len(blocks) :]
    parts = [part for size, block in zip(space, blocks, strict=True) for part in (size // block, block)]
    split = arrays.reshape(padded, (batch, *parts, *features))
    count = len(blocks)
    order = [*range(2, 2 * count + 1, 2), 0, *range(1, 2 * count, 2), *range(2 * count + 1, split.ndim)]
    outer = [size // block for size, block in zip(space, blocks, strict=True)]
    return arrays.reshape(arrays.permute_dims(split, order), (batch * math.prod(blocks), *outer, *features))


@row("BatchToSpaceND")
def _batch_to_space(call: Call, x: Any, block_shape: Value, crops: Value) -> Any:
    blocks, edges = call.numbers(block_shape, "blocks"), _pairs(call, crops, "crops")
    count, (batch, *sizes) = len(blocks), x.shape
    space, features = sizes[:count], sizes[count:]
    split = arrays.reshape(x, (*blocks, batch // math.prod(blocks), *space, *features))
    order = [count, *(at for dim in range(count) for at in (count + 1 + dim, dim)), *range(2 * count + 1, split.ndim)]
    whole = [size * block for size, block in zip(space, blocks, strict=True)]
    joined = arrays.reshape(arrays.permute_dims(split, order), (batch // math.prod(blocks), *whole, *features))
    kept = [slice(low, size - high) for size, (low, high) in zip(whole, edges, strict=True)]
    return joined[(slice(None), *kept)]


@row("ShapeN", folds=True)
def _shapes(call: Call, *values: Any) -> tuple[Value, ...]:
    return tuple(_as_size(call, value.shape) for value in values)


def _as_size(call: Call, size: int | Sequence[int]) -> Value:
    return np.array(size, call.dtype("out_type"))


rows(
    {
        "MatrixDiag": lambda call, x: _on_diagonal(x),
        "MatrixDiagPart": lambda call, x: linalg.diagonal(x),
        "Pad": lambda call, x, paddings: _padded(call, x, paddings, np.zeros((), x.dtype)),
        "PadV2": _padded,
        "Reverse": lambda call, x, flags: arrays.flip(
            x, axis=tuple(np.flatnonzero(call.known(flags, "dims").reshape(-1)).tolist())
        ),
        "ReverseV2": lambda call, x, dims: arrays.flip(x, axis=tuple(call.numbers(dims, "dims"))),
    }
)
rows(
    {
        "BroadcastTo": lambda call, x, shape: _wide(call, x, call.numbers(shape, "shape")),
        "ConjugateTranspose": lambda call, x, order: call.xp.conj(_transposed(call, x, order)),
        "ExpandDims": lambda call, x, dim: call.xp.expand_dims(x, axis=call.number(dim, "dim")),
        "Empty": lambda call, dims: _wide(call, np.zeros((), call.dtype("dtype")), call.numbers(dims, "shape")),
        "Fill": lambda call, dims, value: _wide(call, value, call.numbers(dims, "shape")),
        "InvertPermutation": lambda call, x: np.argsort(call.known(x, "order of dims")),
        "PlaceholderWithDefault": lambda call, x: x,
        "Reshape": lambda call, x, shape: call.xp.reshape(x, _worked_out(call, x, call.numbers(shape, "shape"))),
        "Rank": lambda call, x: np.array(x.ndim, np.int32),
        "Shape": lambda call, x: _as_size(call, x.shape),
        "Size": lambda call, x: _as_size(call, x.size),
        "Squeeze": _squeezed,
        "Transpose": _transposed,
    },
    folds=True,
)
