"""One instance or more of each differentiable op, on small shapes, for the check of its gradient rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.builtin import f64

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.trace import Tracer
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.dtensor.roll import RollOp
from shardwright.dialects.stablehlo import FftType, Transpose
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, ScatterDimensions
from shardwright.dialects.stablehlo.sorting import descending
from shardwright.dialects.stablehlo.windows import ConvDimensions
from shardwright.dialects.types import dtype_element, element_of, tensor
from shardwright.layout.planning.sweep import Sweep
from shardwright.rules.gradients import table
from shardwright.rules.gradients.vjp import VJPS

assert table is not None

_random = np.random.default_rng(11)


@dataclass(frozen=True)
class Instance:
    """An op as a function of traced arguments that gives its results, and the arguments of floats."""

    name: str
    build: Callable[..., Any]
    arguments: tuple[np.ndarray[Any, Any], ...]

    @property
    def op(self) -> str:
        """The op's name."""
        return self.name.split()[0]


def floats(*shape: int) -> np.ndarray[Any, Any]:
    """Numbers around zero, far enough from each other for differences."""
    size = int(np.prod(shape))
    return ((_random.permutation(size) - size / 2 + 0.3) / size * 3).reshape(shape)


def between(low: float, high: float, *shape: int) -> np.ndarray[Any, Any]:
    """Numbers in an interval."""
    return _random.uniform(low, high, shape)


def pairs(*shape: int) -> np.ndarray[Any, Any]:
    """Complex numbers."""
    return floats(*shape) + 1j * floats(*shape)[..., ::-1]


def differences(function: Callable[..., Any], arguments: Sequence[np.ndarray[Any, Any]], place: int) -> Any:
    """Central differences; of a complex argument `df/dx - i df/dy`."""
    argument, step = arguments[place], 1e-6
    found = np.zeros_like(argument)
    for at in np.ndindex(argument.shape):
        for unit in (1, 1j) if argument.dtype.kind == "c" else (1,):
            sides: list[float] = []
            for sign in (1, -1):
                moved = argument.copy()
                moved[at] += sign * step * unit
                sides.append(float(function(*arguments[:place], moved, *arguments[place + 1 :])))
            found[at] += (sides[0] - sides[1]) / (2 * step) * np.conj(unit)
    return found


def put(op: Any) -> list[Tracer]:
    """Emits an op; its results."""
    trace = emit.trace_now()
    trace.emit(op)
    return [Tracer(trace, result) for result in op.results]


def plain(name: str, make: Callable[..., Any], *arguments: np.ndarray[Any, Any]) -> Instance:
    """An op that `make` makes of SSA values."""
    return Instance(name, lambda *tracers: put(make(*(tracer.value for tracer in tracers))), arguments)


def _pointwise() -> list[Instance]:
    ranges = {
        "log": (0.3, 2),
        "log_plus_one": (-0.5, 2),
        "sqrt": (0.3, 2),
        "rsqrt": (0.3, 2),
        "cbrt": (0.3, 2),
        "acos": (-0.9, 0.9),
        "asin": (-0.9, 0.9),
        "atanh": (-0.9, 0.9),
        "erf_inv": (-0.9, 0.9),
        "acosh": (1.2, 3),
        "lgamma": (0.5, 3),
        "digamma": (0.5, 3),
    }
    plain_classes = (stablehlo.NegateOp.__init__, chlo.ErfOp.__init__)
    ops = [op for op in (*stablehlo.UNARY_OPS, *chlo.UNARY_OPS) if op.name in VJPS and op.__init__ in plain_classes]
    return [
        plain(op.name, op, between(*ranges.get(op.name.partition(".")[2], (-1.3, 1.4)), 5))
        for op in ops
        if op.result_element(f64) == f64
    ]


def _binaries() -> list[Instance]:
    x, y = between(0.4, 2, 5), between(0.5, 2, 5)
    ops = {
        "add": stablehlo.AddOp,
        "subtract": stablehlo.SubtractOp,
        "multiply": stablehlo.MultiplyOp,
        "divide": stablehlo.DivideOp,
        "power": stablehlo.PowerOp,
        "remainder": stablehlo.RemainderOp,
        "atan2": stablehlo.Atan2Op,
        "maximum": stablehlo.MaximumOp,
        "minimum": stablehlo.MinimumOp,
    }
    order = np.full(5, 2.0)
    return [
        *[plain(f"stablehlo.{name}", op, x * 1.7, y) for name, op in ops.items()],
        Instance(
            "chlo.polygamma",
            lambda x: put(chlo.PolygammaOp(emit.constant(order, order.dtype).value, x.value)),
            (between(0.6, 3, 5),),
        ),
        Instance(
            "chlo.zeta",
            lambda q: put(chlo.ZetaOp(emit.constant(order + 1, order.dtype).value, q.value)),
            (between(0.6, 3, 5),),
        ),
        plain("stablehlo.clamp", stablehlo.ClampOp, between(-1, -0.5, 5), floats(5), between(0.5, 1, 5)),
        plain("stablehlo.clamp scalars", stablehlo.ClampOp, np.array(-0.5), floats(5), np.array(0.6)),
        Instance(
            "stablehlo.select",
            lambda x, y: put(
                stablehlo.SelectOp(
                    emit.constant(np.array([True, False, True, True, False]), np.dtype(bool)).value, x.value, y.value
                )
            ),
            (x, y),
        ),
        plain("stablehlo.complex", stablehlo.ComplexOp, x, y),
        plain("stablehlo.real", stablehlo.RealOp, pairs(5)),
        plain("stablehlo.imag", stablehlo.ImagOp, pairs(5)),
        plain("stablehlo.abs complex", stablehlo.AbsOp, pairs(5)),
        plain("stablehlo.multiply complex", stablehlo.MultiplyOp, pairs(5), pairs(5)),
        plain("chlo.conj", chlo.ConjOp, pairs(5)),
        plain("stablehlo.optimization_barrier", lambda x: stablehlo.OptimizationBarrierOp([x]), x),
    ]


def _shapes() -> list[Instance]:
    x = floats(3, 4)
    return [
        plain("stablehlo.reshape", lambda v: stablehlo.ReshapeOp(v, tensor((2, 6), element_of(v))), x),
        plain("stablehlo.transpose", lambda v: stablehlo.TransposeOp(v, (1, 0)), x),
        plain(
            "stablehlo.broadcast_in_dim",
            lambda v: stablehlo.BroadcastInDimOp(v, (2, 1), tensor((2, 4, 3), element_of(v))),
            floats(3, 1),
        ),
        plain("stablehlo.transpose around", lambda v: stablehlo.TransposeOp(v, (2, 0, 1)), floats(2, 3, 4)),
        plain(
            "stablehlo.broadcast_in_dim crossing",
            lambda v: stablehlo.BroadcastInDimOp(v, (3, 0, 1), tensor((2, 3, 2, 4), element_of(v))),
            floats(4, 2, 1),
        ),
        plain("stablehlo.reverse", lambda v: stablehlo.ReverseOp(v, (1,)), x),
        plain("stablehlo.slice", lambda v: stablehlo.SliceOp(v, (0, 1), (3, 4), (2, 2)), x),
        plain("stablehlo.pad", lambda v, p: stablehlo.PadOp(v, p, [1, -1], [2, 1], [1, 0]), x, np.array(0.7)),
        plain("stablehlo.pad between", lambda v, p: stablehlo.PadOp(v, p, [-1, 0], [0, -3], [2, 1]), x, np.array(0.7)),
        plain("stablehlo.concatenate", lambda v, w: stablehlo.ConcatenateOp([v, w], 1), x, floats(3, 2)),
        plain("dtensor.roll", lambda v: RollOp(v, 1, 3), x),
        plain(
            "stablehlo.dot_general",
            lambda v, w: stablehlo.DotGeneralOp(v, w, stablehlo.DotDimensions((0,), (2,), (1, 3), (0, 1))),
            floats(2, 3, 2, 4),
            floats(3, 4, 2, 2),
        ),
        plain(
            "stablehlo.dot_general crossing",
            lambda v, w: stablehlo.DotGeneralOp(v, w, stablehlo.DotDimensions((3, 0), (0, 2), (1, 4, 2), (4, 1, 3))),
            floats(2, 3, 2, 1, 2),
            floats(1, 2, 2, 2, 3),
        ),
        plain("stablehlo.convert", lambda v: stablehlo.ConvertOp(v, dtype_element(np.dtype("complex128"))), x),
        *[_reduction(kind, op, x) for kind, op in REDUCERS.items()],
        plain("stablehlo.reduce all", _sum_of_all, x),
        plain(
            "stablehlo.reduce multiply apart",
            lambda v: stablehlo.ReduceOp([v], [_start(v, "multiply")], (0, 2), stablehlo.MultiplyOp),
            np.where(np.arange(12).reshape(2, 3, 2) == 5, 0.0, floats(2, 3, 2)),
        ),
        plain(
            "stablehlo.reduce from an argument",
            lambda v, start: stablehlo.ReduceOp([v], [start], (1,), stablehlo.AddOp),
            x,
            np.array(0.3),
        ),
    ]


REDUCERS: dict[str, Any] = {
    "add": stablehlo.AddOp,
    "multiply": stablehlo.MultiplyOp,
    "maximum": stablehlo.MaximumOp,
    "minimum": stablehlo.MinimumOp,
}


def _start(value: Any, kind: str) -> Any:
    number = {"add": 0.0, "multiply": 1.0, "maximum": -np.inf, "minimum": np.inf}[kind]
    return put(stablehlo.make_constant(number, element_of(value), ()))[0].value


def _reduction(kind: str, op: Any, x: np.ndarray[Any, Any]) -> Instance:
    return plain(f"stablehlo.reduce {kind}", lambda v: stablehlo.ReduceOp([v], [_start(v, kind)], (1,), op), x)


def _sum_of_all(value: Any) -> Any:
    return stablehlo.ReduceOp([value], [_start(value, "add")], (0, 1), stablehlo.AddOp)


def _whole(values: Any) -> Any:
    return emit.constant(np.asarray(values, "int32"), np.dtype("int32")).value


def _indexing() -> list[Instance]:
    x, places = floats(5, 3), [[4], [1], [1], [7]]
    gather = GatherDimensions(offset_dims=(1,), collapsed_slice_dims=(0,), start_index_map=(0,), index_vector_dim=1)
    scatter = ScatterDimensions((1,), (0,), (), (), (0,), 1)
    window = ScatterDimensions((0, 1), (), (), (), (0, 1), 0)
    batched = GatherDimensions((), (1,), (0,), (0,), (1,), 2)

    def update(body: Any) -> Callable[..., Any]:
        return lambda v, u: stablehlo.ScatterOp([v], _whole(places), [u], scatter, body(v))

    def replacing(value: Any) -> Any:
        from shardwright.frontends.arrays.indexing.picking import replacement

        return replacement(Tracer(emit.trace_now(), value))

    def by(op: Any) -> Callable[[Any], Any]:
        return lambda value: op

    return [
        plain("stablehlo.gather", lambda v: stablehlo.GatherOp(v, _whole(places), gather, (1, 3)), x),
        plain("stablehlo.gather batched", lambda v: stablehlo.GatherOp(v, _whole([[2, 0]] * 5), batched, (1, 1)), x),
        plain("stablehlo.scatter add", update(by(stablehlo.AddOp)), x, floats(4, 3)),
        plain("stablehlo.scatter subtract", update(by(stablehlo.SubtractOp)), x, floats(4, 3)),
        plain("stablehlo.scatter replace", update(replacing), x, floats(4, 3)),
        plain("stablehlo.scatter maximum", update(by(stablehlo.MaximumOp)), x, floats(4, 3) * 1.1),
        plain("stablehlo.scatter minimum", update(by(stablehlo.MinimumOp)), x, floats(4, 3) * 1.1),
        plain(
            "stablehlo.scatter window",
            lambda v, u: stablehlo.ScatterOp([v], _whole([1, 1]), [u], window, stablehlo.AddOp),
            x,
            floats(2, 2),
        ),
        plain("stablehlo.dynamic_slice", lambda v: stablehlo.DynamicSliceOp(v, [_whole(4), _whole(1)], (2, 2)), x),
        plain(
            "stablehlo.dynamic_update_slice",
            lambda v, u: stablehlo.DynamicUpdateSliceOp(v, u, [_whole(4), _whole(1)]),
            x,
            floats(2, 2),
        ),
        plain("stablehlo.sort", lambda v: stablehlo.SortOp([v], 0), x),
        plain("stablehlo.sort pairs", _sort_pairs, x, floats(5, 3)),
        plain("chlo.top_k", lambda v: chlo.TopKOp(v, 2), x),
    ]


def _sort_pairs(keys: Any, others: Any) -> Any:
    from shardwright.dialects.types import tensor_type

    return stablehlo.SortOp([keys, others], 1, descending([tensor_type(keys), tensor_type(others)]))


def _windows() -> list[Instance]:
    x = floats(4, 7)
    moves = {
        "same": [Sweep(1), Sweep(3, low=1, high=1)],
        "strided": [Sweep(2, stride=2), Sweep(3, stride=2, low=2, high=1)],
        "dilated": [Sweep(2, dilation=2), Sweep(2, stride=3, low=1, base=2, dilation=2)],
        "running": [Sweep(1), Sweep(7, low=6)],
        "running back": [Sweep(4, high=3), Sweep(1)],
    }

    def window(kind: str, sweeps: Sequence[Sweep]) -> Callable[[Any], Any]:
        return lambda v: stablehlo.ReduceWindowOp([v], [_start(v, kind)], sweeps, REDUCERS[kind])

    chosen = [("add", name) for name in moves] + [
        (kind, name) for kind in ("maximum", "minimum") for name in ("same", "strided", "running")
    ]
    chosen += [("multiply", name) for name in ("running", "running back")]
    zeros = x.copy()
    zeros[1, 2] = zeros[1, 4] = zeros[2, 0] = 0.0
    pool = moves["strided"]
    return [
        *[plain(f"stablehlo.reduce_window {kind} {name}", window(kind, moves[name]), x) for kind, name in chosen],
        plain("stablehlo.reduce_window multiply zeros", window("multiply", moves["running"]), zeros),
        plain("stablehlo.select_and_scatter", lambda s: _select(s, x, pool), floats(2, 4)),
    ]


def _select(source: Any, operand: np.ndarray[Any, Any], sweeps: Sequence[Sweep]) -> Any:
    from shardwright.rules.gradients.windows import chooser

    value = emit.constant(operand, operand.dtype).value
    return stablehlo.SelectAndScatterOp(
        value, source, _start(value, "add"), sweeps, chooser("GE", value), stablehlo.AddOp
    )


def _convolutions() -> list[Instance]:
    row = ConvDimensions(0, 2, (1,), 1, 2, (0,), 0, 2, (1,))
    turned = ConvDimensions(1, 0, (2,), 1, 0, (2,), 1, 0, (2,))
    image = ConvDimensions(0, 1, (2, 3), 1, 0, (2, 3), 0, 3, (1, 2))

    def convolution(numbers: ConvDimensions, sweeps: Sequence[Sweep], groups: tuple[int, int] = (1, 1)) -> Any:
        return lambda v, w: stablehlo.ConvolutionOp(
            v, w, numbers, sweeps, feature_groups=groups[0], batch_groups=groups[1]
        )

    name = "stablehlo.convolution"
    return [
        plain(f"{name} same", convolution(row, [Sweep(3, low=1, high=1)]), floats(2, 5, 2), floats(3, 2, 3)),
        plain(
            f"{name} strided",
            convolution(row, [Sweep(3, stride=2, low=1, high=2, dilation=2)]),
            floats(2, 6, 2),
            floats(3, 2, 2),
        ),
        plain(
            f"{name} dilated and turned",
            convolution(row, [Sweep(2, stride=3, low=2, high=1, base=2, reverse=True)]),
            floats(1, 5, 2),
            floats(2, 2, 2),
        ),
        plain(f"{name} cut", convolution(row, [Sweep(2, low=-1, high=-2)]), floats(1, 7, 1), floats(2, 1, 2)),
        plain(f"{name} features", convolution(row, [Sweep(2)], (2, 1)), floats(2, 4, 4), floats(2, 2, 6)),
        plain(f"{name} batches", convolution(row, [Sweep(2)], (1, 2)), floats(4, 4, 3), floats(2, 3, 4)),
        plain(f"{name} features in front", convolution(turned, [Sweep(2)], (2, 1)), floats(4, 2, 4), floats(6, 2, 2)),
        plain(f"{name} batches in front", convolution(turned, [Sweep(2)], (1, 2)), floats(3, 4, 4), floats(4, 3, 2)),
        plain(
            f"{name} image",
            convolution(image, [Sweep(2, stride=2, low=1), Sweep(2, high=1)]),
            floats(2, 2, 4, 3),
            floats(3, 2, 2, 2),
        ),
    ]


def _linear_algebra() -> list[Instance]:
    square = floats(2, 3, 3)
    positive = np.einsum("bij,bkj->bik", square, square) + 2 * np.eye(3)
    matrix = square * 0.3 + 2 * np.eye(3)
    found = [
        plain(
            f"stablehlo.cholesky {lower} {matrix.dtype}",
            lambda v, lower=lower: stablehlo.CholeskyOp(v, lower=lower),
            matrix,
        )
        for matrix in (positive, positive + 0.3j * (square - square.swapaxes(1, 2)))
        for lower in (True, False)
    ]
    for left in (True, False):
        for lower in (True, False):
            for kind in (Transpose.NO_TRANSPOSE, Transpose.TRANSPOSE, Transpose.ADJOINT):
                options = {"left_side": left, "lower": lower, "transpose_a": kind, "unit_diagonal": lower != left}
                shape = (2, 3, 2) if left else (2, 2, 3)
                for flavour, a, b in (
                    ("real", matrix, floats(*shape)),
                    ("complex", matrix + 0.2j * square, pairs(*shape)),
                ):
                    found.append(
                        plain(
                            f"stablehlo.triangular_solve {left} {lower} {kind.value} {flavour}",
                            lambda a, b, options=options: stablehlo.TriangularSolveOp(a, b, **options),
                            a,
                            b,
                        )
                    )
    for kind, argument, length in (
        (FftType.FFT, pairs(2, 3, 4), (3, 4)),
        (FftType.IFFT, pairs(2, 5), (5,)),
        (FftType.RFFT, floats(2, 3, 4), (3, 4)),
        (FftType.RFFT, floats(2, 5), (5,)),
        (FftType.IRFFT, pairs(2, 3, 3), (3, 4)),
        (FftType.IRFFT, pairs(2, 3), (5,)),
    ):
        found.append(
            plain(
                f"stablehlo.fft {kind.value} {length}",
                lambda v, kind=kind, length=length: stablehlo.FftOp(v, kind, length),
                argument,
            )
        )
    return found


INSTANCES = [*_pointwise(), *_binaries(), *_shapes(), *_indexing(), *_windows(), *_convolutions(), *_linear_algebra()]
