"""What a tape sees of NumPy's operators, methods and functions of tensors without a layout: by finite differences."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.diagnostics import ShardwrightError

X = np.random.default_rng(0).uniform(0.3, 1.2, (3, 4))
A = np.random.default_rng(1).normal(size=(4, 2))
STEP = 1e-6
MESH = sw.Mesh(x=2)


def doubled_in_place(x: Any) -> Any:
    total = x * 1
    total += x
    total *= x
    return total


def captured(x: Any) -> Any:
    return sw.function(lambda y: y * x)(X)


SEEN: dict[str, Callable[[Any], Any]] = {
    "operators": lambda x: (x * 2 - x / (1 + x) + 2**x - x % 0.4) * -x,
    "powers": lambda x: x**2 + x**0.5 + x**-1 + x**3,
    "arrays on the left": lambda x: X * x + A[:, :1].T @ x.T[:, :1],
    "matmul": lambda x: x @ A,
    "comparisons": lambda x: np.where(x > 0.7, x * x, x),
    "assignments": doubled_in_place,
    "elements": lambda x: x[1:, 2] ** 2 + x[0, 1:3] + x[..., 0][:2],
    "rows": lambda x: reduce(lambda total, row: total * row, x),
    "a new dim": lambda x: x[None] * x[[0, 0, 2]],
    "ufuncs": lambda x: np.exp(np.maximum(x, 0.7)) + np.arctan2(x, X) + np.square(np.abs(-x)),
    "concatenate": lambda x: np.concatenate([x, x * x]) + np.vstack([x, X]),
    "einsum": lambda x: np.einsum("ij,kj->ik", x, x) + np.tensordot(x, x.T, axes=1),
    "norm": lambda x: np.linalg.norm(x),
    "pad": lambda x: np.pad(np.roll(np.flip(x, 0), 1, axis=1), ((1, 1), (0, 0))) ** 2,
    "all": lambda x: x.sum() + x.mean() ** 2 + x.prod() + x.std() + x.var(ddof=1),
    "along a dim": lambda x: x.sum(axis=0, keepdims=True) * x.max(axis=1, keepdims=True) - x.min(axis=0),
    "shapes": lambda x: (x.reshape(2, 6) * x.reshape((2, -1)) + x.ravel().reshape([2, 6])).flatten() * x.ravel(),
    "transposed": lambda x: x.T @ x + x.mT @ X + x.transpose(1, 0) @ X + x.transpose() @ x.swapaxes(0, 1).transpose(),
    "running": lambda x: x.cumsum() * x.cumprod(axis=1).ravel(),
    "clip": lambda x: x.clip(0.5, 0.9) * x,
    "picked": lambda x: x.take([0, 2], axis=1) * x.repeat([1, 2, 0], axis=0)[:, :2] + x[:, 1:2].squeeze(1)[:, None],
    "squares": lambda x: x.dot(A).dot(A.T)[:, :3].trace() + x[:, :3].diagonal() ** 2,
    "types": lambda x: x.astype("float64") * x.copy() * x.conj().real,
    "a method of our own": lambda x: x.at[0].set(1.0) * x,
    "constants": lambda x: x * np.argsort(x).astype("float64") * int(np.argmax(x)) * np.isfinite(x).astype("float64"),
    "another layout": lambda x: sw.relayout(x, sw.Layout(["x"], MESH, uneven=True)) ** 2,
    "a captured tensor": captured,
    "a body": lambda x: sw.scan(lambda carry, row: (carry * x, row), np.ones((3, 4)), np.arange(2.0))[0],
    "a gradient": lambda x: sw.grad(lambda y: sw.sum(y * y * x))(X),
}


def differences(function: Callable[[Any], Any]) -> np.ndarray[Any, Any]:
    found = np.zeros_like(X)
    for place in np.ndindex(X.shape):
        step = np.zeros_like(X)
        step[place] = STEP
        up, down = (np.sum(np.asarray(function(sw.asarray(X + sign * step)))) for sign in (1, -1))
        found[place] = (up - down) / (2 * STEP)
    return found


@pytest.mark.parametrize("name", SEEN)
def test_a_tape_sees(name: str) -> None:
    function = SEEN[name]
    variable = sw.Variable(X)
    with sw.GradientTape(persistent=True) as tape:
        made = sw.sum(function(variable * 1.0))
        read = sw.sum(function(variable.value))
    expected = differences(function)
    assert np.allclose(tape.gradient(made, variable), expected, atol=1e-5)
    assert np.allclose(tape.gradient(read, variable), expected, atol=1e-5)


UNSEEN: dict[str, tuple[Callable[[Any], Any], str]] = {
    "a function": (np.median, "numpy.median"),
    "a method of a ufunc": (np.add.reduce, "numpy.add.reduce"),
    "a ufunc": (lambda x: np.frexp(x)[0], "numpy.frexp"),
    "an array that is written to": (lambda x: np.add(x, x, out=np.zeros((3, 4))), "numpy.add"),
    "a method": (lambda x: x.round(2), "numpy.round"),
    "a choice": (lambda x: x[0].compress([True, False, True, True]), "numpy.compress"),
    "an iterator": (lambda x: list(x.flat), "numpy.ndarray.flat"),
    "bytes": (lambda x: x.byteswap(), "numpy.ndarray.byteswap"),
    "a cast": (lambda x: x.astype("float32", casting="unsafe"), "numpy.ndarray.astype"),
}


@pytest.mark.parametrize("name", UNSEEN)
def test_what_a_tape_cannot_see_is_refused(name: str) -> None:
    function, called = UNSEEN[name]
    with sw.GradientTape(), pytest.raises(TypeError, match="SW0520") as error:
        function(sw.Variable(X) * 1.0)
    assert isinstance(error.value, ShardwrightError)
    (found,) = error.value.diagnostics
    assert found.message == f"a tape cannot follow what {called} makes of a tensor"
    assert found.help == "use functions of shardwright, or give it numpy.asarray(x), which counts as a constant"


LISTS: dict[str, Callable[[Any, Any], Any]] = {
    "asarray": lambda x, y: sw.asarray([x, x * y, y]),
    "asarray of a list of lists": lambda x, y: sw.asarray([[x[0], y[0]], [x[1], x[0] * y[1]]]),
    "asarray of sums and numbers": lambda x, y: sw.asarray([sw.sum(x), 2.0, sw.sum(x * y)]),
    "asarray in a traced function": lambda x, y: sw.function(lambda x, y: sw.asarray([x, x * y]))(x, y),
    "relayout": lambda x, y: sw.relayout([x, x * y], sw.Layout(["x"], MESH)),
    "stack": lambda x, y: np.stack([x, x * y]),
}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("split", [True, False])
def test_lists_of_tensors_are_followed(name: str, split: bool) -> None:
    """They are stacked: the gradient of a weighted sum is that of the same with NumPy's arrays, by differences."""

    def total(x: Any, y: Any) -> Any:
        found = LISTS[name](x, y)
        return sw.sum(found * np.arange(1.0, found.size + 1).reshape(found.shape))

    arrays = np.array([0.5, 1.5]), np.array([2.0, 3.0])
    x, y = (sw.Variable(array, layout=sw.Layout(["x"], MESH) if split else None) for array in arrays)
    with sw.GradientTape() as tape:
        value = total(x, y)
    found = tape.gradient(value, [x, y])
    for place, gradient in enumerate(found):
        due = np.zeros(2)
        for at in range(2):
            sides = [[array.copy() for array in arrays] for _ in range(2)]
            for side, sign in zip(sides, (1, -1), strict=True):
                side[place][at] += sign * STEP
            high, low = (float(total(*map(sw.Variable, side))) for side in sides)
            due[at] = (high - low) / (2 * STEP)
        np.testing.assert_allclose(np.asarray(gradient), due, rtol=1e-6)


def test_lists_keep_the_layouts_of_their_tensors() -> None:
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], MESH))
    assert sw.asarray([x, x]).layout == sw.Layout([None, "x"], MESH)
    assert np.array_equal(sw.asarray([x, [1.0] * 4]), [[0, 1, 2, 3], [1, 1, 1, 1]])


@pytest.mark.parametrize("target", [lambda x: np.sum([x, x]), lambda x: np.max([x, x], axis=0), lambda x: float(x[0])])
def test_targets_that_no_tape_has_seen_made(target: Callable[[Any], Any]) -> None:
    x = sw.relayout(np.arange(4.0), sw.Layout(["x"], MESH))
    with sw.GradientTape() as tape:
        tape.watch(x)
        made = target(x * 2)
    with pytest.raises(TypeError, match="SW0520") as error:
        tape.gradient(made, x)
    assert str(error.value).partition("SW0520]: ")[2] == (
        f"a tape has not seen how the target was made, a {type(made).__name__}\n"
        "  note: NumPy's functions of a list of tensors, numpy.asarray and float give what tapes do not follow\n"
        "  help: compute it with functions of shardwright: of a list of tensors stack them first"
    )


def test_components_while_a_tape_records() -> None:
    """They are NumPy's arrays, so that whatever becomes of them would have no gradient."""
    layout = sw.Layout(["x"], MESH)
    x, count = sw.relayout(np.arange(4.0), layout), sw.relayout(np.arange(4), layout)
    with sw.GradientTape() as tape:
        tape.watch(x)
        for what, call in (("unpack", lambda: sw.unpack(x)), ("pack", lambda: sw.pack([x[:2], x[2:]], layout))):
            with pytest.raises(TypeError, match=f"SW0520.*a tape cannot follow what {what} does"):
                call()
        assert [part.tolist() for part in sw.unpack(count)] == [[0, 1], [2, 3]]
        with tape.stop_recording():
            parts = sw.unpack(x)
        constant = sw.pack(parts, layout)
        loss = sw.sum(x * constant)
    assert np.array_equal(tape.gradient(loss, x), np.arange(4.0))
    assert np.array_equal(sw.pack(sw.unpack(x), layout), np.arange(4.0))


def test_what_has_no_gradient_may_be_numpys() -> None:
    count = np.zeros((), "int64")
    with sw.GradientTape():
        x = sw.Variable(X) * 1.0
        assert np.array_equal(np.argpartition(x, 1), np.argpartition(X, 1))
        assert len(np.nonzero(x > 0.7)[0]) == np.count_nonzero(X > 0.7)
        assert np.logical_or.reduce(x > 0.7, axis=None)
        count += (x > 0.7).sum()
        assert str(x) == str(X)
        assert (x.item(0), float(x[0, 0]), x.tolist()) == (X[0, 0], X[0, 0], X.tolist())
    assert count == np.count_nonzero(X > 0.7)


def test_numpy_does_all_of_it_when_no_tape_records() -> None:
    with sw.GradientTape() as tape:
        x = sw.Variable(X) * 1.0
        with tape.stop_recording():
            assert np.array_equal(x[x > 0.7], X[X > 0.7])
    assert np.array_equal(np.median(x), np.median(X))
    assert np.array_equal(np.add(x, x, out=np.zeros((3, 4))), X + X)
    assert np.array_equal([row.sum() for row in x], X.sum(axis=1))
    assert np.array_equal(x[0].compress([True, False, True, True]), X[0][[0, 2, 3]])
    assert np.array_equal(list(x.flat), X.ravel())
    assert (x.T.shape, x.real.tolist(), x.imag.any()) == ((4, 3), X.tolist(), False)
    total = x * 2  # a tensor that belongs to whoever got it
    total += 1
    total[0] = 0
    assert np.array_equal(total[1:], X[1:] * 2 + 1)


def test_only_what_leads_to_the_target_counts() -> None:
    first, second = sw.Variable(X), sw.Variable(X)
    with sw.GradientTape(persistent=True) as tape:
        loss = sw.sum(first * 2)
        sw.sum(second * first)
    assert tape.gradient(loss, second) is None
    assert np.array_equal(tape.gradient(loss, [first, second])[0], np.full((3, 4), 2.0))


def test_a_program_that_captured_a_tensor_is_saved_with_it(tmp_path: Any) -> None:
    with sw.GradientTape():
        x = sw.Variable(X) * 2.0
    sw.save(sw.function(lambda y: y * x), tmp_path / "f", signatures=(X,))
    assert np.array_equal(sw.load(tmp_path / "f")(X), X * X * 2)


def test_large_tensors_are_distributed_when_no_tape_records() -> None:
    """64 KiB and more are only copied to all devices where somebody asks for it."""
    variable = sw.Variable(np.ones((200, 100)))
    rows = sw.Layout(["x"], MESH)
    for found in (sw.relayout(variable.value, rows), sw.asarray(variable.value, layout=rows)):
        assert found.layout == rows.for_rank(2)
    variable.set_layout(rows)
    assert variable.layout == rows.for_rank(2)
