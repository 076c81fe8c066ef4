"""
Random Python functions traced with the public API, and their gradients: against NumPy, differences, and eager JAX.

A function is a list of steps on square matrices, each written once for every peer: Shardwright, NumPy, and JAX.
"""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib import import_module
from random import Random
from typing import Any

import numpy as np

import shardwright as sw
from whole.build import Array, Value

STEP = 1e-6
"""Of central differences in float64: what is cut off and what is rounded off both stay below a millionth."""


class NumpyPeer:
    """NumPy, with loops and branches as Python has them."""

    xp: Any = np

    def scan(self, f: Callable[..., Any], init: Any, xs: Any, reverse: bool = False) -> tuple[Any, Any]:
        """One round for each row, backwards with `reverse`."""
        rows = list(range(len(xs)))
        made: list[Any] = [None] * len(rows)
        for place in reversed(rows) if reverse else rows:
            init, made[place] = f(init, xs[place])
        return init, np.stack(made)

    def cond(self, chosen: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
        """One of two functions of nothing."""
        return true() if chosen else false()

    def halved(self, x: Any) -> Any:
        """Halves until the largest element is below one."""
        while np.max(np.abs(x)) >= 1:
            x = x * 0.5
        return x

    def still(self, x: Any) -> Any:
        """The value without a gradient."""
        return x

    def again(self, f: Callable[..., Any], *xs: Any) -> Any:
        """A function that may be computed again for its gradient."""
        return f(*xs)

    def each(self, f: Callable[..., Any], axes: tuple[int | None, ...], *xs: Any) -> Any:
        """A function of rows, or of columns, for all of them; None for what they share."""
        count = next(x.shape[axis] for x, axis in zip(xs, axes, strict=True) if axis is not None)
        pick = lambda x, axis, at: x if axis is None else np.take(x, at, axis)  # noqa: E731
        return np.stack([f(*[pick(x, axis, at) for x, axis in zip(xs, axes, strict=True)]) for at in range(count)])

    def moved(self, x: Any, place: int) -> Any:
        """The value in another layout, where there are layouts."""
        return x

    def slope(self, x: Any, y: Any) -> Any:
        """The gradient of a sum of squares weighed by a value from elsewhere, which counts as a constant."""
        return 2 * x * y

    def placed(self, x: Any, key: Any, values: Any, how: str) -> Any:
        """The value with others set or added at some places."""
        result = x.copy()
        if how == "set":
            result[key] = values
        else:
            np.add.at(result, key, values)
        return result

    def widened(self, x: Any) -> Any:
        """Twice as many columns, each new one between two old ones."""
        places = np.clip((np.arange(2 * x.shape[1]) + 0.5) / 2 - 0.5, 0, x.shape[1] - 1)
        low = np.floor(places).astype(int)
        high = np.minimum(low + 1, x.shape[1] - 1)
        return x[:, low] + (x[:, high] - x[:, low]) * (places - low).astype(x.dtype)


class OurPeer(NumpyPeer):
    """Shardwright on a mesh; `layouts` are those that values are moved to."""

    xp: Any = sw

    def __init__(self, layouts: Sequence[sw.Layout] = ()) -> None:
        self.layouts = layouts

    def scan(self, f: Callable[..., Any], init: Any, xs: Any, reverse: bool = False) -> tuple[Any, Any]:
        return sw.scan(f, init, xs, reverse=reverse)

    def cond(self, chosen: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
        return sw.cond(chosen, true, false)

    def halved(self, x: Any) -> Any:
        return sw.while_loop(lambda y: sw.max(sw.abs(y)) >= 1, lambda y: y * 0.5, x)

    def still(self, x: Any) -> Any:
        return sw.stop_gradient(x)

    def again(self, f: Callable[..., Any], *xs: Any) -> Any:
        return sw.checkpoint(f)(*xs)

    def each(self, f: Callable[..., Any], axes: tuple[int | None, ...], *xs: Any) -> Any:
        return sw.vmap(f, axes)(*xs)

    def moved(self, x: Any, place: int) -> Any:
        return sw.relayout(x, self.layouts[place % len(self.layouts)]) if self.layouts else x

    def slope(self, x: Any, y: Any) -> Any:
        return sw.grad(lambda w: sw.sum(w * w * y))(x)

    def placed(self, x: Any, key: Any, values: Any, how: str) -> Any:
        return getattr(x.at[key], how)(values)

    def widened(self, x: Any) -> Any:
        return sw.nn.resize(x, (x.shape[0], 2 * x.shape[1]))


class JaxPeer(NumpyPeer):
    """JAX, op by op on one device."""

    def __init__(self) -> None:
        self.jax = jax()
        self.xp = self.jax.numpy

    def scan(self, f: Callable[..., Any], init: Any, xs: Any, reverse: bool = False) -> tuple[Any, Any]:
        return self.jax.lax.scan(f, init, xs, reverse=reverse)

    def cond(self, chosen: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
        return self.jax.lax.cond(chosen, true, false)

    def halved(self, x: Any) -> Any:
        return self.jax.lax.while_loop(lambda y: abs(y).max() >= 1, lambda y: y * 0.5, x)

    def still(self, x: Any) -> Any:
        return self.jax.lax.stop_gradient(x)

    def again(self, f: Callable[..., Any], *xs: Any) -> Any:
        return self.jax.checkpoint(f)(*xs)

    def each(self, f: Callable[..., Any], axes: tuple[int | None, ...], *xs: Any) -> Any:
        return self.jax.vmap(f, axes)(*xs)

    def slope(self, x: Any, y: Any) -> Any:
        return self.jax.grad(lambda w: (w * w * y).sum())(x)

    def placed(self, x: Any, key: Any, values: Any, how: str) -> Any:
        return getattr(x.at[key], how)(values)

    def widened(self, x: Any) -> Any:
        return self.jax.image.resize(x, (x.shape[0], 2 * x.shape[1]), "linear")


@cache
def jax() -> Any:
    """JAX in double precision; None where it is not installed."""
    if importlib.util.find_spec("jax") is None:
        return None
    module: Any = import_module("jax")
    module.config.update("jax_enable_x64", True)
    return module


def _mean(p: Any, x: Any, axis: int) -> Any:
    return p.xp.mean(x, axis=axis, keepdims=True)


def _normed(p: Any, x: Any, axis: int) -> Any:
    centred = x - _mean(p, x, axis)
    return centred / p.xp.sqrt(_mean(p, centred * centred, axis) + 0.1)


def _softmax(p: Any, x: Any, axis: int) -> Any:
    powers = p.xp.exp(x - p.still(p.xp.max(x, axis=axis, keepdims=True)))
    return powers / p.xp.sum(powers, axis=axis, keepdims=True)


def _attention(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    heads = lambda x: p.xp.permute_dims(p.xp.reshape(x, (n, 2, n // 2)), (1, 0, 2))  # noqa: E731
    scores = heads(a) @ p.xp.permute_dims(heads(b), (0, 2, 1)) / n
    return p.xp.reshape(p.xp.permute_dims(_softmax(p, scores, 2) @ heads(b), (1, 0, 2)), (n, n))


def _recurrent(p: Any, a: Any, b: Any, reverse: bool = False) -> Any:
    """A recurrent layer over the rows: the bias is the mean of the kernel's rows."""
    n, bias = a.shape[0], p.xp.mean(b, axis=0)

    def round_(state: Any, x: Any) -> Any:
        following = p.xp.tanh(state @ b / n + x + bias)
        return following, following

    return p.scan(round_, a[0] * 0, a, reverse)[1]


def _gated(p: Any, a: Any, b: Any) -> Any:
    """A gated layer whose kernels are joined, over a batch: the rows are read as steps of batches of two."""
    n = a.shape[0]
    kernel = p.xp.concat([b, p.xp.flip(b, axis=0)], axis=1)

    def round_(state: Any, x: Any) -> Any:
        total = (state + x) @ kernel / n
        gate, candidate = 1 / (1 + p.xp.exp(-total[:, :n])), p.xp.tanh(total[:, n:])
        following = gate * state + (1 - gate) * candidate
        return following, following

    rows = p.xp.reshape(a, (n // 2, 2, n))
    return p.xp.reshape(p.scan(round_, rows[0] * 0, rows)[1], (n, n))


def _gathered(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    return p.xp.take(a, np.array([(3 * i + 1) % n for i in range(n)], np.int32), axis=0) * b


def _embedded(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    rows = np.arange(n)[:, None] * 5 % n
    return p.xp.asarray((rows == np.arange(n)[None, :]).astype(a.dtype)) @ a + b


def _ramped(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    return a * p.xp.reshape(p.xp.arange(n * n, dtype=a.dtype), (n, n)) / (n * n) + b


def _corner(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    return (
        p.xp.concat([a[: n // 2, 1:], b[n // 2 :, :-1]], axis=0) @ p.xp.concat([b[1:, :], a[:1, :]], axis=0)[1:, :] / n
    )


def _taken_along(p: Any, a: Any, b: Any) -> Any:
    n = a.shape[0]
    places = np.arange(n)[:, None] * 3 + np.arange(n)[None, :] * 5
    return p.xp.take_along_axis(a, p.xp.asarray((places % n).astype(np.int32)), axis=1) + b


def _added(p: Any, a: Any, b: Any) -> Any:
    """Rows of one matrix added to rows of the other, to some of them twice."""
    n = a.shape[0]
    return p.placed(a, np.array([(3 * i + 1) % (n - 1) for i in range(n)], np.int32), b, "add")


def _dominant(p: Any, x: Any) -> Any:
    """A matrix with a large diagonal, far from a singular one."""
    n = x.shape[0]
    return p.xp.tanh(x) + 3.0 * n * p.xp.eye(n, dtype=x.dtype)


Two = Callable[[Any, Any, Any], Any]

SMOOTH: dict[str, Two] = {
    "add": lambda p, a, b: a + b,
    "scaled": lambda p, a, b: a * 0.5 - b,
    "product": lambda p, a, b: a * b / 2,
    "tanh": lambda p, a, b: p.xp.tanh(a),
    "sine": lambda p, a, b: p.xp.sin(a) + p.xp.cos(b),
    "bell": lambda p, a, b: p.xp.exp(-a * a),
    "logistic": lambda p, a, b: b / (1 + p.xp.exp(-a)),
    "logarithm": lambda p, a, b: p.xp.log1p(a * a),
    "quotient": lambda p, a, b: a / (1 + b * b),
    "power": lambda p, a, b: (a * a + 1) ** 0.5,
    "matmul": lambda p, a, b: a @ b / a.shape[0],
    "transposed": lambda p, a, b: a.T,
    "einsum": lambda p, a, b: p.xp.einsum("ij,kj->ik", a, b) / a.shape[0],
    "diagonals": lambda p, a, b: p.xp.einsum("ij,ij->i", a, b)[:, None] * a / a.shape[0],
    "outer": lambda p, a, b: p.xp.tensordot(p.xp.mean(a, axis=0), p.xp.mean(b, axis=1), axes=0),
    "softmax": lambda p, a, b: _softmax(p, a, 1),
    "softmax first": lambda p, a, b: _softmax(p, a, 0),
    "normed": lambda p, a, b: _normed(p, a, 1),
    "normed first": lambda p, a, b: _normed(p, a, 0),
    "attention": _attention,
    "centred": lambda p, a, b: a - _mean(p, a, 0),
    "variance": lambda p, a, b: a + p.xp.var(b, axis=1, keepdims=True),
    "heads": lambda p, a, b: p.xp.reshape(p.xp.permute_dims(p.xp.reshape(a, (a.shape[0], 2, -1)), (1, 0, 2)), a.shape),
    "folded": lambda p, a, b: p.xp.reshape(p.xp.reshape(a, (-1,))[::-1], b.shape) + b,
    "rolled": lambda p, a, b: p.xp.roll(a, 3, axis=1),
    "flipped": lambda p, a, b: p.xp.flip(a, axis=0) - b,
    "triangle": lambda p, a, b: p.xp.tril(a) + p.xp.triu(b),
    "joined": lambda p, a, b: p.xp.concat([a[: a.shape[0] // 2], b[a.shape[0] // 2 :]], axis=0),
    "corner": _corner,
    "striped": lambda p, a, b: p.xp.concat([a[:, ::2], b[:, 1::2]], axis=1),
    "stacked": lambda p, a, b: p.xp.sum(p.xp.stack([a, b, a], axis=1), axis=1),
    "tiled": lambda p, a, b: p.xp.tile(a[:1], (a.shape[0], 1)) * b,
    "repeated": lambda p, a, b: p.xp.repeat(a[:, : a.shape[1] // 2], 2, axis=1) + b,
    "padded": lambda p, a, b: p.xp.pad(a, 2, "reflect")[1:-3, 3:-1] + p.xp.pad(b, ((0, 2), (1, 0)))[2:, :-1],
    "split": lambda p, a, b: p.xp.concat([*p.xp.split(a, 2, axis=1)[::-1]], axis=1) * b,
    "placed": lambda p, a, b: p.placed(a, np.s_[1::2, :-1], b[1::2, 1:], "set") + b,
    "added": _added,
    "resized": lambda p, a, b: p.widened(a)[:, ::2] * p.widened(b)[:, 1::2],
    "running": lambda p, a, b: p.xp.cumsum(a, axis=0) / a.shape[0],
    "gathered": _gathered,
    "embedded": _embedded,
    "ramped": _ramped,
    "running product": lambda p, a, b: p.xp.cumprod(p.xp.sin(a), axis=1) + b,
    "running sum back": lambda p, a, b: p.xp.flip(p.xp.cumsum(p.xp.flip(a, axis=1), axis=1), axis=1) / a.shape[0] - b,
    "sums of powers": lambda p, a, b: p.xp.logaddexp(a, b),
    "deviation": lambda p, a, b: a * p.xp.std(b, axis=0, keepdims=True),
    "differences": lambda p, a, b: p.xp.concat([p.xp.diff(a, axis=0), b[:1]], axis=0),
    "vectors": lambda p, a, b: p.xp.vecdot(a, b, axis=0)[None, :] / a.shape[0] + b,
    "angle": lambda p, a, b: p.xp.atan2(a, b * b + 1),
    "taken along": _taken_along,
    "layers": lambda p, a, b: p.xp.sum(p.xp.expand_dims(a, axis=1) * p.xp.expand_dims(b, axis=0), axis=2) / a.size,
    "windows": lambda p, a, b: sum(p.xp.roll(a, k, axis=0) * b[k % a.shape[0], k % 2] for k in range(3)),
    "nested loops": lambda p, a, b: p.scan(
        lambda s, x: (p.scan(lambda t, y: (t * 0.5 + y, t), s, b)[0], s * x), a[0] * 0, a
    )[1],
    "chosen in a loop": lambda p, a, b: p.scan(
        lambda s, x: (p.cond(p.still(x)[0] > 0.1234567, lambda: s * 0.5 + x, lambda: s - x * b[0]), s), b[0], a
    )[1],
    "mean of a loop": lambda p, a, b: (
        p.scan(lambda s, x: (s + p.xp.mean(p.xp.tanh(x[:, None] * b), axis=0), p.xp.sum(x * s)), a[0] * 0, a)[0][
            None, :
        ]
        + a
    ),
    "scanned": lambda p, a, b: p.scan(lambda s, x: (s * 0.5 + x, s + x), b[0], a)[1],
    "scanned back": lambda p, a, b: p.scan(lambda s, x: (s * 0.5 - x, s * x), b[0], a, True)[1],
    "recurrent": lambda p, a, b: _recurrent(p, a, b),
    "recurrent back": lambda p, a, b: _recurrent(p, a, b, True),
    "stacked layers": lambda p, a, b: _gated(p, _recurrent(p, a, b), b),
    "gated": _gated,
    "accumulated": lambda p, a, b: p.scan(lambda s, x: (s + p.xp.mean(x * b), x), p.xp.sum(a[0]), a)[0] * a / a.size,
    "chosen": lambda p, a, b: p.cond(p.still(a)[0, 0] > 0.1234567, lambda: p.xp.sin(a) + b, lambda: a * b),
    "computed again": lambda p, a, b: p.again(lambda x, y: p.xp.tanh(x @ y / 8), a, b),
    "inner slope": lambda p, a, b: p.slope(a, p.xp.sin(a) * b),
    "slopes in a loop": lambda p, a, b: p.scan(lambda s, x: (s * 0.5 + x, p.slope(s, x * s) + b[0]), a[0], a)[1],
    "each row": lambda p, a, b: p.each(lambda x, w: p.xp.tanh(x @ w / w.shape[0]), (0, None), a, b),
    "each column": lambda p, a, b: p.each(lambda x, y: _softmax(p, x * y, 0), (1, 0), a, b),
    "each pair": lambda p, a, b: p.each(lambda x: p.each(lambda y: p.xp.mean(x * y), (0,), b), (0,), a),
    "each slope": lambda p, a, b: p.each(p.slope, (0, 1), a, p.xp.sin(b)),
    "each loop": lambda p, a, b: p.each(
        lambda x, y: p.scan(lambda s, v: (s * 0.5 + v, s * v), y[0], x)[1], (0, 0), a, b
    ),
    "each its own": lambda p, a, b: p.each(
        lambda x, y: p.cond(p.still(x)[0] > 0.1234567, lambda: p.xp.sin(y), lambda: x * y[::-1]), (0, 0), a, b
    ),
    "each again": lambda p, a, b: p.each(lambda x, w: p.again(lambda v: p.xp.tanh(w @ v / 8), x), (1, None), a, b),
    "moved": lambda p, a, b: p.moved(a, 0),
    "moved otherwise": lambda p, a, b: p.moved(a, 1) + p.moved(b, 2),
}
"""Steps with a derivative everywhere: central differences are their gradients."""

ROUGH: dict[str, Two] = {
    "solved": lambda p, a, b: p.xp.linalg.solve(_dominant(p, a), b),
    "inverse": lambda p, a, b: p.xp.linalg.inv(_dominant(p, a)) @ b,
    "determinant": lambda p, a, b: a * p.xp.linalg.det(_dominant(p, b) / a.shape[0]),
    "stopped": lambda p, a, b: a * p.still(b),
    "where": lambda p, a, b: p.xp.where(a > b, a, b),
    "largest": lambda p, a, b: a - p.xp.max(a, axis=1, keepdims=True),
    "least": lambda p, a, b: p.xp.minimum(a, b),
    "size": lambda p, a, b: p.xp.abs(a),
    "clipped": lambda p, a, b: p.xp.clip(a, -0.5, 0.5),
    "sorted": lambda p, a, b: p.xp.sort(a, axis=1),
    "sorted first": lambda p, a, b: p.xp.sort(b, axis=0) + a,
    "halved": lambda p, a, b: p.halved(a),
    "each halved": lambda p, a, b: p.each(p.halved, (0,), a * 3),
    "each sorted": lambda p, a, b: p.each(lambda x, y: p.xp.sort(x)[::-1] * y, (1, 1), a, b),
    "counted": lambda p, a, b: a + p.xp.sum(p.xp.astype(b > 0, b.dtype), axis=0),
}
"""Steps with kinks, and those without a gradient rule (factorisations): their values are compared, not their slopes."""

STEPS = SMOOTH | ROUGH
AGREE = 3e-7
"""How far two differences may lie apart: well below what results are compared by."""

Chosen = tuple[str, int, int]

MESHES = ((2,), (2, 2), (4,), (4, 2), (2, 4), (3,), (2, 3), (6,), (2, 2, 2), (8,), (1,), (12,), (2, 1))
SIZES = (4, 6, 8, 12, 2)


@dataclass(frozen=True, eq=False)
class Traced:
    """A program of steps on two matrices: a text, inputs and results like those of programs that are drawn as text."""

    seed: int
    mesh: dict[str, int]
    size: int
    steps: tuple[Chosen, ...]
    layouts: tuple[tuple[Any, ...], ...]
    graded: bool

    @property
    def inputs(self) -> list[Array]:
        """Two matrices, the same for each seed; with gradients, the directions of differences too."""
        random = np.random.default_rng(self.seed)
        made = [random.standard_normal((self.size, self.size)) for _ in range(4)]
        return made if self.graded else [array.astype(np.float32) for array in made[:2]]

    @cached_property
    def text(self) -> str:
        """The traced module."""
        mesh = sw.Mesh(**self.mesh)
        layouts = [sw.Layout(list(dims), mesh) for dims in self.layouts]
        peer = OurPeer(layouts[2:])
        split = [sw.relayout(array, layouts[at]) for at, array in enumerate(self.inputs[:2])]
        run: Callable[..., Any] = self._with_gradients if self.graded else self._values
        return sw.function(lambda *arrays: run(peer, *arrays)).trace(*split, *self.inputs[2:]).as_text()

    def values(self, peer: Any, a: Any, b: Any) -> list[Any]:
        """What each step gives."""
        made = [a, b]
        for name, left, right in self.steps:
            made.append(STEPS[name](peer, made[left % len(made)], made[right % len(made)]))
        return made[2:]

    def _values(self, peer: Any, a: Any, b: Any) -> tuple[Any, ...]:
        made = self.values(peer, a, b)
        return made[-1], peer.xp.sum(made[-1])

    def loss(self, peer: Any, a: Any, b: Any) -> Any:
        """A number that depends on every step."""
        made = self.values(peer, a, b)
        return sum(peer.xp.mean(peer.xp.sin(value)) * (place + 1) for place, value in enumerate(made))

    def _with_gradients(self, peer: OurPeer, a: Any, b: Any, along_a: Any, along_b: Any) -> tuple[Any, ...]:
        loss, (by_a, by_b) = sw.value_and_grad(lambda x, y: self.loss(peer, x, y), argnums=(0, 1))(a, b)
        return loss, by_a, by_b, sw.sum(by_a * along_a) + sw.sum(by_b * along_b)

    @cached_property
    def results(self) -> list[Value]:
        """What has to come out; gradients themselves are known only where JAX is, their slope always."""
        if not self.graded:
            wide = [array.astype(np.float64) for array in self.inputs]
            found = [np.asarray(array).astype(np.float32) for array in self._values(NumpyPeer(), *wide)]
            return [_rounded(place, array) for place, array in enumerate(found)]
        a, b, along_a, along_b = self.inputs
        slope = _slope(lambda step: self.loss(NumpyPeer(), a + step * along_a, b + step * along_b))
        grads = self._by_jax(a, b) if jax() is not None else [None, None]
        loss = np.asarray(self.loss(NumpyPeer(), a, b))
        return [_rounded(place, one) for place, one in enumerate([loss, *grads, slope])]

    def _by_jax(self, a: Array, b: Array) -> list[Array]:
        module, peer = jax(), JaxPeer()
        found = module.grad(lambda x, y: self.loss(peer, x, y), argnums=(0, 1))(module.numpy.asarray(a), b)
        return [np.asarray(one) for one in found]

    def smaller(self) -> list[Traced]:
        """The programs without one of the steps."""
        if len(self.steps) == 1:
            return []
        return [replace(self, steps=self.steps[:at] + self.steps[at + 1 :]) for at in range(len(self.steps))]


def _slope(function: Callable[[float], float]) -> Array | None:
    """A function's slope at zero by differences; None where it bends so much that half the step gives another one."""
    found, closer = ((function(step) - function(-step)) / (2 * step) for step in (STEP, STEP / 2))
    return np.asarray(closer) if abs(found - closer) < AGREE * max(1.0, abs(closer)) else None


def _rounded(place: int, array: Array | None) -> Value:
    """A result; without an array, one that is only compared with the run on one device."""
    known = np.zeros(()) if array is None else array
    return Value(
        f"%{place}", known, "f32" if known.dtype == np.float32 else "f64", exact=False, known=array is not None
    )


def random_traced(seed: int) -> Traced:
    """The traced program of a seed: values only, or gradients too."""
    random = Random(f"traced {seed}")
    mesh = dict(zip("xyz", random.choice(MESHES), strict=False))
    size, graded = random.choice(SIZES), random.random() < 0.6
    names = sorted(SMOOTH if graded else STEPS)
    count = random.randint(1, 6)
    steps = [(random.choice(names), random.randrange(6), random.randrange(6)) for _ in range(count)]
    # A step on the newest value makes chains.
    steps = [
        (name, place + 1 if random.random() < 0.6 else left, right) for place, (name, left, right) in enumerate(steps)
    ]
    layouts = tuple(_layout(random, mesh, size) for _ in range(5))
    return Traced(seed, mesh, size, tuple(steps), layouts, graded)


def _layout(random: Random, mesh: dict[str, int], size: int) -> tuple[Any, ...]:
    dims: list[list[str]] = [[], []]
    parts = [1, 1]
    for name in random.sample(sorted(mesh), len(mesh)):
        dim = random.randrange(2)
        if random.random() < 0.75 and size % (parts[dim] * mesh[name]) == 0:
            dims[dim].append(name)
            parts[dim] *= mesh[name]
    return tuple(tuple(names) if names else None for names in dims)
