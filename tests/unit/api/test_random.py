"""Random numbers: their distributions against closed forms, and the same bits for every layout, mesh and engine."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import random
from shardwright.runtime.executable import compile_module

SEED = (20, 23)
COUNT = 20_000
SIZES = (16, 24)
MESHES = [sw.Mesh(x=4, y=2), sw.Mesh(a=2, b=2, c=2), sw.Mesh(one=1), sw.Mesh(z=8)]
LOGITS = np.log(np.linspace(1, 24, 16 * 24, dtype="float32").reshape(SIZES))
TABLE = np.arange(16 * 24).reshape(SIZES)

Make = Callable[[Any, Any], Any]
MAKES: dict[str, Make] = {
    "uniform": lambda seed, layout: random.stateless_random_uniform(SIZES, seed, layout=layout),
    "uniform_range": lambda seed, layout: random.stateless_random_uniform(SIZES, seed, -1, 2, "float64", None, layout),
    "uniform_int": lambda seed, layout: random.stateless_random_uniform(SIZES, seed, -5, 9, "int64", layout=layout),
    "full_int": lambda seed, layout: random.stateless_random_uniform_full_int(SIZES, seed, layout=layout),
    "normal": lambda seed, layout: random.stateless_random_normal(SIZES, seed, 1, 2, layout=layout),
    "half": lambda seed, layout: random.stateless_random_normal(SIZES, seed, dtype="bfloat16", layout=layout),
    "truncated": lambda seed, layout: random.stateless_random_truncated_normal(SIZES, seed, layout=layout),
    "gamma": lambda seed, layout: random.stateless_random_gamma(SIZES, seed, 0.7, 2.0, layout=layout),
    "poisson": lambda seed, layout: random.stateless_random_poisson(SIZES, seed, 12.0, layout=layout),
    "binomial": lambda seed, layout: random.stateless_random_binomial(SIZES, seed, 40, 0.4, layout=layout),
    "categorical": lambda seed, layout: random.stateless_categorical(LOGITS, 24, seed, layout=layout),
    "shuffle": lambda seed, layout: random.stateless_shuffle(TABLE, seed, layout=layout),
}
LOOPS = ("gamma", "poisson", "binomial")


def layouts(mesh: sw.Mesh) -> list[sw.Layout]:
    """Layouts of two dims: replicated, by each pair of axes, by all axes, and by parts of axes."""
    names = [None, *mesh.axis_names]
    pairs = [pair for pair in itertools.product(names, repeat=2) if pair[0] is None or pair[0] != pair[1]]
    found = [sw.Layout(list(pair), mesh) for pair in pairs]
    found.append(sw.Layout([None, mesh.axis_names], mesh))
    if mesh.shape[0] == 4:
        found.append(sw.Layout([f"{mesh.axis_names[0]}:(2)2", f"{mesh.axis_names[0]}:(1)2"], mesh))
    return found


ALL = [(name, layout) for name in MAKES for mesh in MESHES for layout in layouts(mesh)]
CASES = [
    # Some layouts for each function, others for each, and the rest where there is time.
    pytest.param(
        MAKES[name],
        layout,
        id=f"{name}-{layout.mesh!r}-{layout}",
        marks=[] if number % (16 if name in LOOPS else 8) == 0 else pytest.mark.slow,
    )
    for number, (name, layout) in enumerate(ALL)
]


def traced(make: Make, layout: sw.Layout | None) -> Any:
    """A function of the seed."""

    def made(seed: Any) -> Any:
        return make(seed, layout)

    return sw.function(made)


@cache
def plain(make: Make) -> np.ndarray[Any, Any]:
    """What one device makes."""
    return make(SEED, None)


@pytest.mark.every(7)
@pytest.mark.parametrize(("make", "layout"), CASES)
def test_same_bits_for_every_layout(make: Make, layout: sw.Layout) -> None:
    found = make(SEED, layout)
    assert found.layout == layout.for_rank(2)
    assert found.numpy().tobytes() == plain(make).tobytes()


@pytest.mark.every(4)
@pytest.mark.parametrize("name", MAKES)
def test_same_bits_in_both_engines_and_in_functions(name: str) -> None:
    make, layout, seed = MAKES[name], sw.Layout(["y", "x"], MESHES[0]), np.array(SEED)
    function = traced(make, layout)
    assert function(seed).numpy().tobytes() == plain(make).tobytes()
    module = function.trace(seed).propagate().partition().module
    (found,) = compile_module(module, fused=False).run([seed])
    assert found.tobytes() == plain(make).tobytes()


@pytest.mark.parametrize("name", [name for name in MAKES if name not in (*LOOPS, "categorical", "shuffle")])
def test_devices_make_their_own_part_and_send_nothing(name: str) -> None:
    function = traced(MAKES[name], sw.Layout(["y", "x"], MESHES[0]))
    assert function.trace(np.array(SEED)).propagate().partition().predicted_bytes == 0


@pytest.mark.every(3)
@pytest.mark.parametrize("make", MAKES.values(), ids=MAKES)
def test_seeds(make: Make) -> None:
    first = make(SEED, None)
    for dtype in ("int32", "uint64"):
        assert np.array_equal(make(np.array(SEED, dtype), None), first)
    for other in ((20, 24), (21, 23), (23, 20), (20, -23), (20 + (1 << 40), 23)):
        assert np.mean(make(other, None) == first) < 0.6
    assert np.array_equal(make(np.array([-1, -2], "int32"), None), make((-1, -2), None))


def test_another_seed_is_no_other_program() -> None:
    function = traced(MAKES["normal"], None)
    programs = {id(function.compiled(np.array(seed))) for seed in [(1, 2), (3, 4)]}
    assert len(programs) == 1


def test_bits_of_threefry() -> None:
    """The first bits that JAX gives for the key (1, 2): `jax.random.bits`, partitionable (jax 0.10.2)."""
    found = random.stateless_random_uniform_full_int((4,), (1, 2), "uint32")
    assert found.tolist() == [2932776407, 1811914268, 2110255537, 172616543]


def distance(samples: np.ndarray[Any, Any], share_below: Callable[[float], float]) -> float:
    """Kolmogorov's distance between samples and a distribution, times the root of their number."""
    ordered = np.sort(samples.ravel().astype("float64"))
    shares = np.array([share_below(value) for value in ordered.tolist()])
    steps = np.arange(len(ordered) + 1) / len(ordered)
    worst = max(np.abs(shares - steps[:-1]).max(), np.abs(shares - steps[1:]).max())
    return float(worst * math.sqrt(len(ordered)))


def gauss(value: float) -> float:
    """The share of the normal distribution below a value."""
    return 0.5 * (1 + math.erf(value / math.sqrt(2)))


CONTINUOUS: dict[str, tuple[Callable[[], Any], Callable[[float], float]]] = {
    "uniform": (lambda: random.stateless_random_uniform((COUNT,), SEED), lambda x: x),
    "uniform64": (
        lambda: random.stateless_random_uniform((COUNT,), SEED, -3, 5, "float64"),
        lambda x: (x + 3) / 8,
    ),
    "normal": (lambda: random.stateless_random_normal((COUNT,), SEED), gauss),
    "normal64": (
        lambda: random.stateless_random_normal((COUNT,), SEED, 10, 3, "float64"),
        lambda x: gauss((x - 10) / 3),
    ),
    "truncated": (
        lambda: random.stateless_random_truncated_normal((COUNT,), SEED),
        lambda x: (gauss(x) - gauss(-2)) / (gauss(2) - gauss(-2)),
    ),
    "exponential": (
        lambda: random.stateless_random_gamma((COUNT,), SEED, 1.0, 2.0),
        lambda x: 1 - math.exp(-2 * x),
    ),
    "erlang": (
        lambda: random.stateless_random_gamma((COUNT,), SEED, 3.0),
        lambda x: 1 - math.exp(-x) * (1 + x + x * x / 2),
    ),
    "chi_squared": (
        lambda: random.stateless_random_gamma((COUNT,), SEED, 0.5, 0.5),
        lambda x: math.erf(math.sqrt(x / 2)),
    ),
}


@pytest.mark.every(2)
@pytest.mark.parametrize(("draw", "share_below"), CONTINUOUS.values(), ids=CONTINUOUS)
def test_continuous_distributions(draw: Callable[[], Any], share_below: Callable[[float], float]) -> None:
    # A distance above 1.95 has a probability of one in a thousand.
    assert distance(draw(), share_below) < 1.95


def poisson_chance(mean: float) -> Callable[[int], float]:
    return lambda k: math.exp(k * math.log(mean) - mean - math.lgamma(k + 1))


def binomial_chance(n: int, p: float) -> Callable[[int], float]:
    return lambda k: math.comb(n, k) * p**k * (1 - p) ** (n - k) if k <= n else 0.0


DISCRETE: dict[str, tuple[Callable[[], Any], Callable[[int], float]]] = {
    **{
        f"poisson_{mean}": (
            lambda mean=mean: random.stateless_random_poisson((COUNT,), SEED, np.array(mean)),
            poisson_chance(mean),
        )
        for mean in (0.5, 3.0, 9.9, 10.0, 45.5, 600.0)
    },
    **{
        f"binomial_{n}_{p}": (
            lambda n=n, p=p: random.stateless_random_binomial((COUNT,), SEED, np.array(n), np.array(p)),
            binomial_chance(n, p),
        )
        for n, p in ((1, 0.5), (10, 0.3), (20, 0.9), (40, 0.5), (300, 0.8), (1000, 0.02))
    },
    "uniform_int": (
        lambda: random.stateless_random_uniform((COUNT,), SEED, 0, 13, "int32"),
        lambda k: 1 / 13 * (k < 13),
    ),
    "categorical": (
        lambda: random.stateless_categorical(np.log(np.array([[1, 2, 3, 4]], "float32")), COUNT, SEED),
        lambda k: (k + 1) / 10 * (k < 4),
    ),
}


@pytest.mark.parametrize(("draw", "chance"), DISCRETE.values(), ids=DISCRETE)
def test_counts(draw: Callable[[], Any], chance: Callable[[int], float]) -> None:
    """Pearson's statistic over the values that are expected five times or more, the others as one."""
    found = np.bincount(draw().ravel(), minlength=1200)
    assert found.sum() == COUNT
    expected = np.array([COUNT * chance(k) for k in range(len(found))])
    often = expected >= 5
    groups = [*zip(found[often], expected[often], strict=True), (found[~often].sum(), expected[~often].sum())]
    groups = [(seen, due) for seen, due in groups if due > 1]
    statistic = sum((seen - due) ** 2 / due for seen, due in groups)
    freedom = len(groups) - 1
    assert statistic < freedom + 4 * math.sqrt(2 * freedom)
    assert abs(expected.sum() - COUNT) < 1e-6 * COUNT


def test_edges() -> None:
    assert random.stateless_random_poisson((100,), SEED, 0.0).tolist() == [0] * 100
    assert random.stateless_random_binomial((100,), SEED, 7, 0.0).tolist() == [0] * 100
    assert random.stateless_random_binomial((100,), SEED, 7, 1.0).tolist() == [7] * 100
    assert random.stateless_random_binomial((100,), SEED, 0, 0.5).tolist() == [0] * 100
    assert random.stateless_random_uniform((0, 3), SEED).shape == (0, 3)
    assert random.stateless_random_normal((), SEED).shape == ()
    for dtype in ("float16", "bfloat16", "float32", "float64"):
        found = random.stateless_random_uniform((COUNT,), SEED, 1.0, 1.5, dtype)
        assert found.dtype == dtype
        assert np.all((found >= 1) & (found < 1.5))


def test_whole_range_of_integers() -> None:
    found = random.stateless_random_uniform((COUNT,), SEED, None, None, "int8")
    assert set(found.tolist()) == set(range(-128, 128))
    wide = random.stateless_random_uniform((COUNT,), SEED, -(1 << 63), (1 << 63) - 1, "int64")
    assert abs(np.mean(wide > 0) - 0.5) < 0.02


def test_parameters_broadcast() -> None:
    means = np.array([1.0, 20.0, 400.0])
    found = random.stateless_random_poisson((COUNT // 4, 3), SEED, means)
    assert np.allclose(found.mean(0), means, rtol=0.05)
    low = np.array([[0.0], [10.0]], "float32")
    drawn = random.stateless_random_uniform((2, 1000), SEED, low, low + 1)
    assert np.all((drawn >= low) & (drawn < low + 1))


def test_rows_are_shuffled_and_all_orders_come() -> None:
    found = random.stateless_shuffle(TABLE, SEED)
    assert found.tolist() != TABLE.tolist()
    assert sorted(found.tolist()) == TABLE.tolist()
    orders = [tuple(random.stateless_shuffle(np.arange(3), (5, seed)).tolist()) for seed in range(300)]
    assert {orders.count(order) > 25 for order in itertools.permutations(range(3))} == {True}


def test_classes_follow_their_rows() -> None:
    rows = np.log(np.array([[0.9, 0.1], [0.2, 0.8]]))
    shares = random.stateless_categorical(rows, COUNT, SEED).mean(1)
    assert np.allclose(shares, [0.1, 0.8], atol=0.02)


def test_dropout_keeps_the_mean_and_says_the_same_everywhere() -> None:
    x = np.ones((200, 240), "float32")
    found = sw.nn.dropout(x, 0.25, SEED)
    assert set(np.unique(found).tolist()) == {0.0, np.float32(1 / 0.75).item()}
    assert abs(np.mean(found == 0) - 0.25) < 0.01
    for layout in layouts(MESHES[0])[::3]:
        split = sw.nn.dropout(sw.relayout(x, layout), 0.25, SEED)
        assert split.numpy().tobytes() == found.tobytes()
    assert np.array_equal(sw.nn.dropout(x, 0.0, SEED), x)
    rows = sw.nn.dropout(x, 0.5, SEED, noise_shape=(200, 1))
    assert np.all((rows == 0).all(1) | (rows == 2).all(1))


def test_dropout_in_a_function_and_its_gradient() -> None:
    x = np.arange(1.0, 101.0)
    mask = sw.nn.dropout(np.ones(100), 0.5, SEED)

    def total(x: Any) -> Any:
        return sw.sum(sw.nn.dropout(x, 0.5, SEED))

    def rated(x: Any, rate: Any, seed: Any) -> Any:
        return sw.nn.dropout(x, rate, seed)

    assert np.array_equal(sw.grad(total)(x), mask)
    assert np.array_equal(sw.function(rated)(x, np.array(0.5), np.array(SEED)), x * mask)


def test_numbers_without_a_seed() -> None:
    random.set_seed(3)
    first, second = random.uniform((8,)), random.uniform((8,))
    assert not np.array_equal(first, second)
    random.set_seed(3)
    layout = sw.Layout(["z"], MESHES[3])
    assert np.array_equal(random.uniform((8,), layout=layout).numpy(), first)
    assert np.array_equal(random.normal((8,), seed=5), random.normal((8,), seed=5))
    assert np.abs(random.truncated_normal((1000,), 0.0, 0.5)).max() < 1
    variable = sw.Variable(random.uniform, shape=(8, 4), dtype=sw.float32, layout=layout)
    assert variable.layout == layout.for_rank(2)


@pytest.mark.parametrize(
    ("code", "call"),
    [
        ("SW0560", lambda: random.stateless_random_uniform((3,), 5)),
        ("SW0560", lambda: random.stateless_random_uniform((3,), (1, 2, 3))),
        ("SW0560", lambda: random.stateless_random_uniform((3,), (1.0, 2.0))),
        ("SW0560", lambda: random.stateless_random_uniform((3,), np.zeros(2, "float32"))),
        ("SW0560", lambda: random.stateless_random_uniform((3,), np.zeros(2, "int8"))),
        ("SW0560", lambda: random.set_seed("a")),  # pyright: ignore[reportArgumentType]
        ("SW0560", lambda: sw.function(lambda: random.uniform((3,)))()),
        ("SW0561", lambda: random.stateless_random_uniform((3,), SEED, dtype="int32")),
        ("SW0561", lambda: random.stateless_random_uniform((3,), SEED, 2, 2)),
        ("SW0561", lambda: random.stateless_random_poisson((3,), SEED, np.ones((2, 3)))),
        ("SW0561", lambda: sw.nn.dropout(np.ones(3), 1.0, SEED)),
        ("SW0561", lambda: sw.nn.dropout(np.ones(3), -0.5, SEED)),
        ("SW0504", lambda: random.stateless_random_poisson((3,), SEED, np.ones(2))),
        ("SW0510", lambda: random.stateless_categorical(np.ones(3), 2, SEED)),
        ("SW0510", lambda: random.stateless_shuffle(np.array(1), SEED)),
        ("SW0104", lambda: random.stateless_random_normal((3,), SEED, layout=sw.Layout(["z"], MESHES[3]))),
    ],
)
def test_mistakes(code: str, call: Callable[[], Any]) -> None:
    with pytest.raises(sw.ShardwrightError, match=code):
        call()
    with pytest.raises((TypeError, ValueError)):
        call()
