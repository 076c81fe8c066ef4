"""
What TensorFlow's operations mean, in NumPy: a small interpreter of GraphDef for tests of exported graphs.

Written from TensorFlow's documentation of its operations, apart from the exporter; a peers test runs the same graphs in
TensorFlow itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.tensors import numpy_dtype, tensor_array
from shardwright.serialization.protos import graph_pb2

Array = np.ndarray[Any, Any]
Attributes = Mapping[str, Any]

NUMPY = {
    "AddV2": np.add, "Sub": np.subtract, "Mul": np.multiply, "RealDiv": np.true_divide, "Maximum": np.maximum,
    "Minimum": np.minimum, "Pow": np.power, "Less": np.less, "LessEqual": np.less_equal, "Greater": np.greater,
    "GreaterEqual": np.greater_equal, "Equal": np.equal, "NotEqual": np.not_equal, "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or, "LogicalNot": np.logical_not, "BitwiseAnd": np.bitwise_and, "Abs": np.abs,
    "BitwiseOr": np.bitwise_or, "BitwiseXor": np.bitwise_xor, "Invert": np.invert, "LeftShift": np.left_shift,
    "RightShift": np.right_shift, "Neg": np.negative, "Sign": np.sign, "Square": np.square, "Exp": np.exp,
    "Expm1": np.expm1, "Log": np.log, "Log1p": np.log1p, "Sqrt": np.sqrt, "Tanh": np.tanh, "Sin": np.sin,
    "Cos": np.cos, "Tan": np.tan, "Ceil": np.ceil, "Floor": np.floor, "Rint": np.rint, "IsFinite": np.isfinite,
    "Atan2": np.arctan2, "Sinh": np.sinh, "Cosh": np.cosh, "Asinh": np.arcsinh, "Atan": np.arctan,
    "SelectV2": np.where, "Identity": lambda x: x, "Real": np.real, "Imag": np.imag, "ComplexAbs": np.abs,
    "Conj": np.conjugate, "TruncateMod": np.fmod, "Complex": lambda x, y: x + 1j * y,
    "Rsqrt": lambda x: 1 / np.sqrt(x), "Sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "PopulationCount": lambda x: np.bitwise_count(x.view(f"u{x.itemsize}")),
    "TruncateDiv": lambda x, y: (np.abs(x) // np.abs(y)) * np.sign(x) * np.sign(y),
    "Reshape": np.reshape, "Transpose": np.transpose, "BroadcastTo": lambda x, shape: np.broadcast_to(x, tuple(shape)),
    "ReverseV2": lambda x, dims: np.flip(x, tuple(dims)), "Slice": lambda x, at, size: x[boxes(at, at + size)],
    "StridedSlice": lambda x, start, stop, step: x[boxes(start, stop, step)], "Range": np.arange,
    "Erf": np.vectorize(math.erf, [float]), "Erfc": np.vectorize(math.erfc, [float]),
    "Lgamma": np.vectorize(math.lgamma, [float]), "Acosh": np.arccosh,
    "PadV2": lambda x, amounts, value: np.pad(x, amounts, constant_values=value),
}  # fmt: skip
"""Operations that need no attributes; the result has the type of the first operand, unless it is a truth value."""


def boxes(*bounds: Array) -> tuple[slice, ...]:
    return tuple(slice(*map(int, each)) for each in zip(*bounds, strict=True))


def evaluate(graph: graph_pb2.GraphDef, inputs: Mapping[str, Array], outputs: Sequence[str]) -> list[Array]:
    """The named tensors of a graph for values of its placeholders."""
    run = _Run({function.signature.name: function for function in graph.library.function})
    values: dict[str, list[Array]] = {name: [array] for name, array in inputs.items()}
    for node in graph.node:
        if node.op != "Placeholder":
            values[node.name] = run.node(node, [_found(values, name) for name in node.input])
    return [_found(values, name) for name in outputs]


def _found(values: Mapping[str, list[Array]], reference: str) -> Array:
    name, _, place = reference.partition(":")
    return values[name][int(place or 0)]


class _Run:
    def __init__(self, functions: Mapping[str, graph_pb2.FunctionDef]) -> None:
        self.functions = functions

    def node(self, node: graph_pb2.NodeDef, operands: list[Array]) -> list[Array]:
        attributes = {key: attribute(value) for key, value in node.attr.items()}
        if node.op.startswith("Stateless"):
            return self.control(node.op, operands, attributes)
        with np.errstate(all="ignore"):
            if node.op in NUMPY:
                made = np.asarray(NUMPY[node.op](*operands))
                kind = attributes.get("T", made.dtype)
                keep = made.dtype == bool or made.dtype.kind != np.dtype(kind).kind or node.op == "PopulationCount"
                return [made if keep else made.astype(kind)]
            return OPERATIONS[node.op](operands, attributes)

    def control(self, op: str, operands: list[Array], attributes: Attributes) -> list[Array]:
        if op == "StatelessWhile":
            while self.call(attributes["cond"], operands)[0]:
                operands = self.call(attributes["body"], operands)
            return operands
        chosen, *rest = operands
        if op == "StatelessIf":
            return self.call(attributes["then_branch" if chosen else "else_branch"], rest)
        branches = attributes["branches"]
        at = int(chosen)
        return self.call(branches[at if 0 <= at < len(branches) else -1], rest)

    def call(self, name: str, operands: Sequence[Array]) -> list[Array]:
        function = self.functions[name]
        values = {arg.name: [value] for arg, value in zip(function.signature.input_arg, operands, strict=True)}
        for node in function.node_def:
            values[node.name] = self.node(node, [self.inner(values, function, each) for each in node.input])
        return [self.inner(values, function, function.ret[out.name]) for out in function.signature.output_arg]

    @staticmethod
    def inner(values: Mapping[str, list[Array]], function: graph_pb2.FunctionDef, reference: str) -> Array:
        """`node:output:number` inside of a function; of several outputs, `TopKV2` alone has names."""
        name, *place = reference.split(":")
        return values[name][1 if place[:1] == ["indices"] else int(place[1]) if place else 0]


def attribute(value: graph_pb2.AttrValue) -> Any:
    """An attribute in Python."""
    kind = value.WhichOneof("value")
    if kind == "type":
        return numpy_dtype(value.type)
    if kind == "tensor":
        return tensor_array(value.tensor)
    if kind == "func":
        return value.func.name
    if kind == "list":
        return [*value.list.i, *(function.name for function in value.list.func)]
    return getattr(value, kind)


def bitcast(operands: list[Array], attributes: Attributes) -> list[Array]:
    x, target = np.ascontiguousarray(operands[0]).reshape(operands[0].shape), attributes["type"]
    if x.itemsize == target.itemsize:
        return [x.view(target)]
    return [x[..., None].view(target) if x.itemsize > target.itemsize else x.view(target)[..., 0]]


def reduction(function: Callable[..., Array]) -> Any:
    return lambda xs, attributes: [np.asarray(function(xs[0], axis=tuple(xs[1]))).astype(xs[0].dtype)]


def running(function: Any) -> Any:
    def run(operands: list[Array], attributes: Attributes) -> list[Array]:
        x, axis = operands[0], int(operands[1])
        turned = np.flip(x, axis) if attributes["reverse"] else x
        made = function.accumulate(turned, axis=axis, dtype=x.dtype)
        return [np.flip(made, axis) if attributes["reverse"] else made]

    return run


def scatter(function: Any) -> Any:
    def run(operands: list[Array], attributes: Attributes) -> list[Array]:
        table, rows, new = operands
        made = table.copy()
        assert rows.shape[1] == 1
        if function is None:
            for row, value in zip(rows[:, 0], new, strict=True):
                made[row] = value
        else:
            function.at(made, rows[:, 0], new)
        return [made]

    return run


def strided_update(operands: list[Array], attributes: Attributes) -> list[Array]:
    x, start, stop, step, value = operands
    made = x.copy()
    made[boxes(start, stop, step)] = value
    return [made]


def gather(operands: list[Array], attributes: Attributes) -> list[Array]:
    table, rows, axis = operands
    batch = attributes["batch_dims"]
    if batch:
        assert int(axis) == batch == rows.ndim - 1
        return [np.take_along_axis(table, rows.reshape(rows.shape + (1,) * (table.ndim - rows.ndim)), int(axis))]
    return [np.take(table, rows, int(axis), mode="raise")]


def top_k(operands: list[Array], attributes: Attributes) -> list[Array]:
    x, count = operands
    order = np.argsort(np.flip(x, -1), axis=-1, kind="stable")
    order = (x.shape[-1] - 1 - np.flip(order, -1))[..., : int(count)]
    return [np.take_along_axis(x, order, -1), order.astype(np.int32)]


def matmul(operands: list[Array], attributes: Attributes) -> list[Array]:
    x, y = operands
    turned = (
        attributes.get("transpose_a", attributes.get("adj_x")),
        attributes.get("transpose_b", attributes.get("adj_y")),
    )
    adjoint = np.conjugate if "adj_x" in attributes else np.asarray
    x, y = (adjoint(np.swapaxes(a, -1, -2)) if turn else a for a, turn in zip((x, y), turned, strict=True))
    return [np.matmul(x, y)]


def conv2d(operands: list[Array], attributes: Attributes) -> list[Array]:
    image, kernel = operands
    edges = np.reshape(attributes.get("explicit_paddings", [0] * 8), (4, 2))
    image = np.pad(image, edges)
    (_, down, right, _), (_, high, wide, _) = attributes["strides"], attributes["dilations"]
    rows = (image.shape[1] - (kernel.shape[0] - 1) * high - 1) // down + 1
    columns = (image.shape[2] - (kernel.shape[1] - 1) * wide - 1) // right + 1
    groups = image.shape[3] // kernel.shape[2]
    apart = np.split(kernel, groups, 3)
    made = np.zeros((image.shape[0], rows, columns, kernel.shape[3]), image.dtype)
    for a in range(kernel.shape[0]):
        for b in range(kernel.shape[1]):
            part = image[:, a * high :: down, b * wide :: right][:, :rows, :columns]
            made += np.concatenate([x @ k[a, b] for x, k in zip(np.split(part, groups, 3), apart, strict=True)], 3)
    return [made]


def triangular(operands: list[Array], attributes: Attributes) -> list[Array]:
    matrix, right = operands
    return [np.linalg.solve(np.tril(matrix) if attributes["lower"] else np.triu(matrix), right)]


def with_diagonal(operands: list[Array], attributes: Attributes) -> list[Array]:
    made = operands[0].copy()
    places = np.arange(made.shape[-1])
    made[..., places, places] = operands[1]
    return [made]


def fourier(name: str, dims: int) -> Any:
    def run(operands: list[Array], attributes: Attributes) -> list[Array]:
        made = getattr(np.fft, f"{name.lower()}n")(operands[0], *operands[1:], axes=range(-dims, 0))
        return [made.astype(attributes["Treal" if name == "IRFFT" else "Tcomplex"])]

    return run


OPERATIONS: dict[str, Callable[[list[Array], Attributes], list[Array]]] = {
    "Const": lambda xs, attributes: [attributes["value"]],
    "Cast": lambda xs, attributes: [xs[0].astype(attributes["DstT"])],
    "Bitcast": bitcast,
    "ConcatV2": lambda xs, attributes: [np.concatenate(xs[:-1], int(xs[-1]))],
    "Pack": lambda xs, attributes: [np.stack(xs, attributes["axis"])],
    "Einsum": lambda xs, attributes: [np.einsum(attributes["equation"].decode(), *xs)],
    "Sum": reduction(np.sum),
    "Prod": reduction(np.prod),
    "Max": reduction(np.max),
    "Min": reduction(np.min),
    "All": reduction(np.all),
    "Any": reduction(np.any),
    "Cumsum": running(np.add),
    "Cumprod": running(np.multiply),
    "TensorScatterUpdate": scatter(None),
    "TensorScatterAdd": scatter(np.add),
    "TensorScatterSub": scatter(np.subtract),
    "TensorScatterMax": scatter(np.fmax),
    "TensorScatterMin": scatter(np.fmin),
    "TensorStridedSliceUpdate": strided_update,
    "GatherV2": gather,
    "TopKV2": top_k,
    "ArgMax": lambda xs, attributes: [np.argmax(xs[0], int(xs[1])).astype(attributes["output_type"])],
    "MatMul": matmul,
    "BatchMatMulV2": matmul,
    "Conv2D": conv2d,
    "Cholesky": lambda xs, attributes: [np.linalg.cholesky(xs[0])],
    "MatrixTriangularSolve": triangular,
    "MatrixSetDiagV3": with_diagonal,
    **{
        f"{name}{f'{dims}D' if dims > 1 else ''}": fourier(name, dims)
        for name in ("FFT", "IFFT", "RFFT", "IRFFT")
        for dims in (1, 2, 3)
    },
}
"""Operations that need their attributes."""
