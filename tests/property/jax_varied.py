"""Steps of random programs: what else JAX's libraries have, on arrays of any shape and type."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any, TypeAlias

import numpy as np
from property.jax_steps import MOST_ELEMENTS, Place, as_type, is_inexact, jax, jnp, lax, number, tame

Way: TypeAlias = Callable[[Random, Any], Any]


def flat(x: Any) -> Any:
    return jnp.reshape(x, (-1,))


def square(x: Any) -> Any:
    """A matrix of at most eight rows, positive definite where it is of numbers that are not whole."""
    rows = flat(x)[:64]
    n = int(rows.size**0.5)
    made = jnp.reshape(rows[: n * n], (n, n))
    return made @ jnp.conj(made.T) / 2 + jnp.eye(n, dtype=made.dtype) * 2


def dim_of(random: Random, x: Any) -> int:
    return random.randrange(x.ndim)


def whole_numbers(x: Any) -> Any:
    """From 0 to 4; of what is not whole no more than where each is in its row."""
    if is_inexact(x):
        return jnp.broadcast_to(jnp.arange(x.shape[-1], dtype=jnp.int32) % 5, x.shape)
    return jnp.abs(number(x)).astype(jnp.int32) % 5


def convolved(random: Random, x: Any) -> Any:
    mode = random.choice(["same", "full", "valid"])
    return jnp.convolve(flat(x), jnp.asarray([1, 2, 1], x.dtype), mode=mode) if x.size > 2 else x


def images_convolved(random: Random, x: Any) -> Any:
    n = x[:, :, None, None] if x.ndim == 2 else flat(x)[:, None, None, None]
    n = jnp.broadcast_to(n.reshape(1, n.shape[0], -1, 1), (1, n.shape[0], n.size // n.shape[0], 2))
    kernel = jnp.asarray(np.arange(3 * 2 * 4).reshape(3, 2, 1, 4) % 3, x.dtype)
    options = {
        "padding": random.choice(["SAME", "VALID", [(2, 1), (0, 3)]]),
        "window_strides": (random.choice([1, 2]), 1),
    }
    options["rhs_dilation"] = (1, random.choice([1, 2]))
    options["lhs_dilation"] = (random.choice([1, 2]) if isinstance(options["padding"], list) else 1, 1)
    if n.shape[1] < 5 or n.shape[2] < 5:
        return x
    return lax.conv_general_dilated(
        n, kernel, dimension_numbers=("NHWC", "HWIO", "NHWC"), feature_group_count=2, **options
    )


def transformed(random: Random, x: Any) -> Any:
    n = as_type(x, jnp.complex64 if jnp.iscomplexobj(x) else jnp.float32)
    kind = random.choice(["fft", "ifft"] if jnp.iscomplexobj(n) else ["fft", "rfft", "ifft", "irfft", "fft2"])
    if kind == "fft2":
        return jnp.abs(jnp.fft.fft2(n)) ** 2 / n.size if n.ndim > 1 else n
    return getattr(jnp.fft, kind)(n, axis=dim_of(random, n)) if n.shape[-1] > 1 else n


def windows(random: Random, x: Any) -> Any:
    size = [random.choice([1, 2, 3]) for _ in x.shape]
    step = [random.choice([1, 1, 2]) for _ in x.shape]
    wide = [random.choice([1, 1, 2]) if not is_inexact(x) else 1 for _ in x.shape]  # else it has no slope
    way = random.choice([lax.add, lax.max, lax.min] if not jnp.iscomplexobj(x) else [lax.add])
    start = 0 if way is lax.add else (-np.inf if way is lax.max else np.inf)
    if not is_inexact(x) and way is not lax.add:
        start = (jnp.iinfo(x.dtype).min, jnp.iinfo(x.dtype).max)[way is lax.min]
    start = np.asarray(start, x.dtype)
    return lax.reduce_window(x, start, way, size, step, random.choice(["SAME", "VALID"]), window_dilation=wide)


def largest(random: Random, x: Any) -> Any:
    count = random.randint(1, x.shape[-1])
    values, places = lax.top_k(x, count)
    return values if is_inexact(x) else values + places.astype(x.dtype)


def quantiles(random: Random, x: Any) -> Any:
    dim = random.choice([None, dim_of(random, x)])
    n = x if is_inexact(x) else x.astype(jnp.float32)
    return random.choice(
        [lambda: jnp.median(n, axis=dim), lambda: jnp.quantile(n, jnp.asarray([0.25, 0.6]), axis=dim)]
    )()


def counted(random: Random, x: Any) -> Any:
    n = whole_numbers(x)
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.bincount(flat(n), length=6),
        lambda: jnp.unique(n, size=5, fill_value=7),
        lambda: jnp.stack(jnp.nonzero(n, size=6, fill_value=-1)),
        lambda: jnp.searchsorted(jnp.arange(5), n, side=random.choice(["left", "right"])),
        lambda: jnp.digitize(n, jnp.asarray([1, 3])),
        lambda: jnp.histogram(n, bins=5, range=(0, 5))[0],
        lambda: jax.nn.one_hot(n, 5, axis=random.choice([-1, 0])) if n.size < 99 else n,
        lambda: jnp.isin(n, jnp.asarray([1, 4])),
        lambda: jnp.lexsort((flat(n) % 2, flat(n))),
        lambda: jnp.argwhere(n > 2, size=4, fill_value=0),
        lambda: jnp.unique_counts(n, size=5).counts,
        lambda: jnp.setdiff1d(jnp.arange(8), flat(n), size=8),
        lambda: jnp.count_nonzero(n, axis=dim_of(random, n)),
        lambda: jnp.ravel_multi_index((flat(n), flat(n)), (5, 5), mode="clip"),
        lambda: jnp.stack(jnp.unravel_index(flat(n), (2, 3))),
    ]
    return random.choice(kinds)()


def of_matrices(random: Random, x: Any) -> Any:
    n = x if x.ndim > 1 else jnp.stack([x, x])
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.tril(n, random.randint(-2, 2)),
        lambda: jnp.triu(n, random.randint(-2, 2)),
        lambda: jnp.diagonal(n, random.randint(-1, 1)),
        lambda: jnp.trace(n),
        lambda: jnp.kron(n, jnp.asarray([[1, 2]], n.dtype)) if n.ndim == 2 else n,
        lambda: jnp.diag(flat(n)[:9]),
        lambda: jnp.rot90(n, random.randint(0, 3)),
        lambda: jnp.vander(flat(n)[:6], 4),
        lambda: jnp.einsum("ab,ac,bd->ad", n, n[:, :2], n.T) if n.ndim == 2 else n,
        lambda: jnp.inner(n, n),
        lambda: jnp.tensordot(n, n, axes=((0,), (0,))) if n.size < 40 else n,
        lambda: jnp.cross(n[..., :3], n[..., :3][..., ::-1]) if n.shape[-1] > 2 else n,
        lambda: jnp.block([[n, n], [n, n]]) if n.ndim == 2 and n.size < 99 else n,
        lambda: lax.dot_general(n, n, (((n.ndim - 1,), (n.ndim - 1,)), ((0,), (0,))), preferred_element_type=wide(n)),
        lambda: jnp.outer(flat(n)[:12], flat(n)),
        lambda: jnp.linalg.matrix_power(n[..., :2, :2], 3) if min(n.shape[-2:]) > 1 else n,
    ]
    return random.choice(kinds)()


def wide(x: Any) -> Any:
    return jnp.float32 if x.dtype in (jnp.bfloat16, jnp.float16) else jnp.int32 if x.dtype == jnp.int8 else None


def factored(random: Random, x: Any) -> Any:
    n = square(as_type(x, jnp.complex64 if jnp.iscomplexobj(x) else jnp.float32))
    linalg, v = jnp.linalg, n[:, 0]
    kinds: list[Callable[[], Any]] = [
        lambda: linalg.cholesky(n),
        lambda: linalg.solve(n, v),
        lambda: linalg.inv(n),
        lambda: linalg.slogdet(n)[1],
        lambda: linalg.eigvalsh(n),
        lambda: linalg.svd(n, compute_uv=False),
        lambda: jnp.abs(linalg.qr(n)[1]),
        lambda: jax.scipy.linalg.solve_triangular(n, v, lower=random.random() < 0.5),
        lambda: linalg.norm(n, random.choice(["fro", "nuc", 2, 1])),
        lambda: linalg.pinv(n),
        lambda: jax.scipy.linalg.expm(n / 9),
        lambda: linalg.multi_dot([n, n, v]),
        lambda: linalg.lstsq(n, v)[0],
    ]
    return random.choice(kinds)()


def differences(random: Random, x: Any) -> Any:
    dim, n = dim_of(random, x), x
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.diff(n, axis=dim, n=random.randint(1, 2)) if n.shape[dim] > 2 else n,
        lambda: jnp.gradient(as_type(n, jnp.float32), axis=dim) if n.shape[dim] > 2 else n,
        lambda: jnp.trapezoid(as_type(n, jnp.float32), axis=dim),
        lambda: jnp.interp(as_type(n, jnp.float32), jnp.asarray([-1.0, 0, 2]), jnp.asarray([3.0, 1, 2])),
        lambda: jnp.polyval(jnp.asarray([1, 0, 2], n.dtype), n),
        lambda: jnp.cov(as_type(n, jnp.float32)[:4]) if n.ndim == 2 and n.shape[1] > 2 else n,
        lambda: jnp.clip(n, 0, 1) if not jnp.iscomplexobj(n) else n,
        lambda: jnp.average(as_type(n, jnp.float32), axis=dim, weights=jnp.arange(n.shape[dim]) + 1.0),
        lambda: jnp.var(n, axis=dim) if is_inexact(n) else jnp.std(as_type(n, jnp.float32) + 1, axis=dim) ** 2,
        lambda: jnp.ptp(n, axis=dim) if not jnp.iscomplexobj(n) else n,
        lambda: jax.nn.logsumexp(as_type(n, jnp.float32), axis=dim),
        lambda: jax.nn.standardize(as_type(n, jnp.float32), axis=dim, epsilon=0.1),
    ]
    return random.choice(kinds)()


def bits(random: Random, x: Any) -> Any:
    if x.dtype == jnp.float32:
        return lax.bitcast_convert_type(lax.bitcast_convert_type(x, random.choice([jnp.int32, jnp.uint8])), jnp.float32)
    n = whole_numbers(x) if is_inexact(x) else x
    kinds: list[Callable[[], Any]] = [
        lambda: lax.population_count(n),
        lambda: lax.clz(n),
        lambda: (n << 2) | (n >> 1),
        lambda: ~n & 6,
        lambda: jnp.packbits(
            n.astype(jnp.uint8) % 2, axis=dim_of(random, n), bitorder=random.choice(["big", "little"])
        ),
        lambda: jnp.unpackbits(n.astype(jnp.uint8), axis=dim_of(random, n)) if n.size < 64 else n,
        lambda: lax.bitcast_convert_type(
            n.astype(jnp.int32), random.choice([jnp.int8, jnp.uint16, jnp.float32])
        ).astype(jnp.bool_),
        lambda: lax.bitcast_convert_type(jnp.stack([n, n], -1).astype(jnp.int16), jnp.int32),
        lambda: jnp.gcd(n.astype(jnp.int32), 6) + jnp.lcm(n.astype(jnp.int32), 4),
        lambda: jnp.bitwise_xor.reduce(n, axis=dim_of(random, n)),
        lambda: lax.reduce(n, ~jnp.asarray(0, n.dtype), lax.bitwise_and, (dim_of(random, n),)),
        lambda: n // 2 + n % 3 + jnp.sign(n),
        lambda: jnp.power(n % 3, 3),
        lambda: jnp.floor_divide(n.astype(jnp.int32) - 2, 3) * jnp.remainder(n.astype(jnp.int32) - 2, -3),
    ]
    return random.choice(kinds)()


def rearranged(random: Random, x: Any) -> Any:
    dim, places = dim_of(random, x), np.array([random.randrange(x.shape[0]) for _ in range(4)])
    order = jnp.argsort(whole_numbers(x), axis=dim)
    kinds: list[Callable[[], Any]] = [
        lambda: jnp.tile(x, (2, *[1] * (x.ndim - 1))) if x.size < 200 else x,
        lambda: jnp.repeat(x, np.arange(x.shape[dim]) % 3, axis=dim) if x.size < 200 else x,
        lambda: jnp.take_along_axis(x, order, axis=dim),
        lambda: jnp.put_along_axis(
            x, order[tuple([slice(None)] * dim + [slice(0, 1)])], x.dtype.type(1), dim, inplace=False
        ),
        lambda: x[places, ..., places % x.shape[-1]] if x.ndim > 1 else x[places],
        lambda: x[::-2],
        lambda: x.at[places].max(jnp.ones_like(x[:4] if len(x) > 3 else x[:1])) if not jnp.iscomplexobj(x) else x,
        lambda: x.at[::2].multiply(2),
        lambda: x.at[places].add(1, mode="drop"),
        lambda: x.at[places + 2].get(mode="fill", fill_value=3),
        lambda: jnp.stack(jnp.array_split(x, 3, axis=dim)[:1]),
        lambda: jnp.roll(x, (1, -2), (0, dim)),
        lambda: jnp.delete(x, places[0], axis=0) if len(x) > 1 else x,
        lambda: jnp.insert(x, places[0], 1, axis=0),
        lambda: lax.sort((whole_numbers(x), x), dimension=dim, num_keys=1)[1],
        lambda: jnp.flip(x)[..., None],
        lambda: jnp.squeeze(jnp.expand_dims(x, (0, 2)), 0) if x.ndim > 1 else x,
        lambda: jnp.select([whole_numbers(x) > 3, whole_numbers(x) > 1], [x, x * 2], 1),
        lambda: jnp.partition(x, x.shape[dim] // 2, axis=dim).sum(dim) if not jnp.iscomplexobj(x) else x,
        lambda: jnp.apply_along_axis(lambda row: jnp.cumsum(row)[::-1], dim, x),
        lambda: jax.ops.segment_max(x, places[:1].repeat(len(x)), num_segments=len(x)) * 0 if is_inexact(x) else x,
        lambda: lax.cummax(x, axis=dim, reverse=True) if not jnp.iscomplexobj(x) else lax.cumprod(x, axis=dim),
        lambda: lax.scatter_mul(
            x,
            places[:, None],
            jnp.ones((4, *x.shape[1:]), x.dtype) * 2,
            lax.ScatterDimensionNumbers(tuple(range(1, x.ndim)), (0,), (0,)),
        ),
    ]
    return random.choice(kinds)()


def special(random: Random, x: Any) -> Any:
    n = as_type(tame(x), jnp.float32)
    functions = jax.scipy.special
    return random.choice(
        [
            lambda: functions.erf(n),
            lambda: functions.gammaln(n * n + 1),
            lambda: functions.expit(n),
            lambda: functions.erfinv(n / 2),
            lambda: functions.i0e(n),
            lambda: functions.digamma(n * n + 1),
            lambda: functions.ndtr(n),
            lambda: functions.betainc(2.0, 3.0, n * n / 2),
            lambda: functions.gammainc(2.0, n * n),
            lambda: functions.zeta(n * n + 2, 1.5),
            lambda: functions.polygamma(1, n * n + 1),
            lambda: jnp.sinc(n),
            lambda: jnp.arctan2(n, n * n + 1),
            lambda: jnp.hypot(n, n + 1),
            lambda: jnp.cbrt(n * n + 1) + jnp.log1p(n * n) + jnp.expm1(n),
            lambda: jnp.arcsinh(n) + jnp.arccosh(n * n + 2) + jnp.arctanh(n / 3),
            lambda: jnp.exp2(n) + jnp.logaddexp(n, 2 * n) + jnp.heaviside(n * 0, 0.5),
            lambda: jnp.nan_to_num(n / (n * 0 + 0.0), nan=2.0, posinf=1, neginf=1) * 0 + n,
            lambda: jnp.ldexp(n, 2) + jnp.sqrt(n * n + 1) + lax.rsqrt(n * n + 1),
            lambda: lax.reduce_precision(n, 8, 23),
            lambda: jax.nn.gelu(n) + jax.nn.silu(n) + jax.nn.elu(n),
        ]
    )()


def of_random_numbers(random: Random, x: Any) -> Any:
    key, n = jax.random.key(random.randrange(9)), as_type(tame(x), jnp.float32)
    shape = n.shape
    return random.choice(
        [
            lambda: jax.random.categorical(key, jnp.zeros_like(n)),
            lambda: jax.random.choice(key, 9, shape, replace=True),
            lambda: jax.random.choice(key, x),
            lambda: jax.random.permutation(key, x, axis=dim_of(random, x), independent=random.random() < 0.5),
            lambda: jax.random.gumbel(key, shape) * n,
            lambda: jax.random.gamma(key, n * n + 1),
            lambda: jax.random.truncated_normal(key, -1, 1, shape) + n,
            lambda: jax.random.rademacher(key, shape),
            lambda: jax.random.poisson(key, 2.0, shape),
            lambda: jax.random.dirichlet(key, jnp.ones(3), shape[:1]),
            lambda: jax.random.bits(key, shape) % 7,
            lambda: jax.random.bernoulli(key, 0.3, shape),
            lambda: jax.random.laplace(key, shape) + jax.random.logistic(key, shape),
            lambda: jax.random.multivariate_normal(key, jnp.zeros(3), jnp.eye(3), shape[:1]),
        ]
    )()


WAYS: tuple[Way, ...] = (
    convolved, images_convolved, transformed, windows, largest, quantiles, counted, counted, of_matrices, of_matrices,
    factored, differences, bits, bits, rearranged, rearranged, rearranged, special, of_random_numbers,
)  # fmt: skip
NO_COMPLEX = (windows, largest, quantiles, factored)
SLOPES: tuple[Way, ...] = (
    convolved, images_convolved, transformed, windows, of_matrices, factored, differences, rearranged, special,
)  # fmt: skip


def varied(at: Place, random: Random, path: str, x: Any) -> Any:
    """Anything else, once."""
    way = random.choice(WAYS)
    if not x.ndim or not x.size or (jnp.iscomplexobj(x) and way in NO_COMPLEX):
        return x
    made = tame(way(random, number(x)))
    return made if made.size <= 2 * MOST_ELEMENTS else x


def slope_of_varied(at: Place, random: Random, path: str, x: Any) -> Any:
    """The slope of anything else that has one."""
    way, seed = random.choice(SLOPES), random.random()
    if not x.ndim or not x.size or x.dtype not in (jnp.float32, jnp.bfloat16):
        return x

    def loss(x: Any) -> Any:
        made = as_type(way(Random(seed), x), jnp.float32)
        return jnp.sum(tame(made) * (jnp.arange(made.size).reshape(made.shape) % 3 + 1))

    return tame(jax.grad(loss)(x))
