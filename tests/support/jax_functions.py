"""Functions of JAX's users, as many kinds as there are: each is exported over eight devices and must run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy as jsp
import jax.scipy.optimize
import numpy as np
from jax import lax

BOTH = ("data", "model")
ROWS = ("data", None)
COLUMNS = (None, "model")
GRID = ("data", "model")
Spec = tuple[Any, ...]


@dataclass(frozen=True)
class Case:
    """A function of arrays of these shapes (as in `f32[64,16]`), and the mesh axes that split each dim of each."""

    function: Callable[..., Any]
    arguments: tuple[str, ...]
    specs: tuple[Spec, ...]
    refused: str = ""
    """The code of the error that says why it is not run."""


def case(function: Callable[..., Any], *arguments: str, specs: tuple[Spec, ...] = (), refused: str = "") -> Case:
    """Without `specs`, the first dim of each argument is split by `data`, and the last of matrices by `model`."""
    given = arguments or ("f32[64,16]",)
    return Case(function, given, specs or tuple(map(_usual, given)), refused)


def _usual(argument: str) -> Spec:
    if argument.startswith("f32[3,3"):
        return ()  # the kernel of a convolution
    rank = argument.count(",") + (not argument.endswith("[]"))
    return ((), ("data",), GRID)[rank] if rank < 3 else ("data", *(None,) * (rank - 2), "model")


def _largest(x: Any) -> Any:
    return lax.reduce((x, jnp.arange(x.size).reshape(x.shape)), (-jnp.inf, 0), _larger, (1,))


def _larger(a: Any, b: Any) -> Any:
    better = (b[0] > a[0]) | ((b[0] == a[0]) & (b[1] < a[1]))
    return jnp.where(better, b[0], a[0]), jnp.where(better, b[1], a[1])


def _capped(a: Any, b: Any) -> Any:
    return jnp.minimum(a + b, 3.5)


@jax.custom_jvp
def _cube(x: Any) -> Any:
    return x**3


_cube.defjvp(lambda given, slopes: (_cube(given[0]), 3 * given[0] ** 2 * slopes[0]))


@jax.custom_vjp
def _clipped(x: Any) -> Any:
    return x * 2


_clipped.defvjp(lambda x: (x * 2, x), lambda x, slope: (jnp.clip(slope * x, -1, 1),))


def _switch(x: Any) -> Any:
    return lax.switch(jnp.int32(x.sum()) % 3, [jnp.sin, jnp.cos, lambda v: v * 2], x)


def _image(x: Any) -> Any:
    return jax.image.resize(x, (x.shape[0], 16, 16, x.shape[3]), "bilinear")


def _convolved(x: Any, kernel: Any, **options: Any) -> Any:
    return lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), **options)


def _pooled(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def _attention(q: Any, k: Any, v: Any) -> Any:
    return jax.nn.dot_product_attention(q, k, v, is_causal=True)


def _recurrent(x: Any) -> Any:
    def step(carry: Any, row: Any) -> Any:
        carry = jnp.tanh(carry * 0.5 + row)
        return carry, carry.sum()

    return lax.scan(step, jnp.zeros(x.shape[1]), x)


def _newton(x: Any) -> Any:
    def body(state: Any) -> Any:
        value, count = state
        return value - (value**3 - x) / (3 * value**2 + 1e-3), count + 1

    return lax.while_loop(lambda state: state[1] < 5, body, (jnp.abs(x) + 1, 0))


def _assigned(x: Any, i: Any) -> Any:
    i = i % x.shape[0]
    return x.at[i].add(1.0).at[i[:4]].set(2.0).at[:, 3].multiply(3.0).at[i, 1].max(0.5).at[0].min(0.1)


def _mapped(x: Any) -> Any:
    return lax.map(lambda row: jnp.sort(row) * 2, x)


def _pairs(x: Any) -> Any:
    return jax.vmap(lambda a: jax.vmap(lambda b: jnp.dot(a, b))(x))(x)


def _random(key: Any, x: Any) -> Any:
    keys = jax.random.split(jax.random.wrap_key_data(key), 8)
    shape = x.shape
    return (
        x + jax.random.normal(keys[0], shape),
        jax.random.uniform(keys[1], shape),
        jax.random.randint(keys[2], shape, 0, 9),
        jax.random.bernoulli(keys[3], 0.3, shape),
        jax.random.permutation(keys[4], shape[0]),
    )


def _random_others(key: Any, x: Any) -> Any:
    keys = jax.random.split(jax.random.wrap_key_data(key), 8)
    return (
        jax.random.categorical(keys[0], x),
        jax.random.gumbel(keys[1], x.shape),
        jax.random.exponential(keys[2], x.shape),
        jax.random.truncated_normal(keys[3], -1, 1, x.shape),
        jax.random.choice(keys[4], x.shape[0], (5,), replace=False),
        jax.random.dirichlet(keys[5], jnp.ones(3), (8,)),
    )


def _gammas(key: Any) -> Any:
    keys = jax.random.split(jax.random.wrap_key_data(key), 4)
    return (
        jax.random.gamma(keys[0], 2.0, (16,)),
        jax.random.poisson(keys[1], 3.0, (16,)),
        jax.random.beta(keys[2], 2.0, 3.0, (16,)),
        jax.random.laplace(keys[3], (16,)),
    )


def _definite(x: Any) -> Any:
    return x @ x.T / x.shape[1] + 2 * jnp.eye(x.shape[0])


def _symmetric_eigen(x: Any) -> Any:
    values, vectors = jnp.linalg.eigh(_definite(x))
    return values, (vectors * values) @ vectors.T


def _singular(x: Any) -> Any:
    left, values, right = jnp.linalg.svd(x, full_matrices=False)
    return values, (left * values) @ right


def _orthogonal(x: Any) -> Any:
    q, r = jnp.linalg.qr(x)
    return q @ r, q.T @ q


def _loss(x: Any) -> Any:
    return (jnp.sort(x, 1) * jnp.arange(x.shape[1])).sum() + jnp.median(x)


def _shard_mapped(x: Any) -> Any:
    mesh = jax.sharding.get_abstract_mesh()
    return jax.shard_map(
        lambda part: lax.psum(part * (1 + lax.axis_index("data")), "data"),
        mesh=mesh if mesh.axis_names else MESH,
        in_specs=jax.P("data", "model"),
        out_specs=jax.P(None, "model"),
    )(x)


def _gathered_in_map(x: Any) -> Any:
    def inside(part: Any) -> Any:
        whole = lax.all_gather(part, "model", axis=1, tiled=True)
        around = lax.ppermute(whole, "data", [(i, (i + 1) % 4) for i in range(4)])
        return lax.psum_scatter(around, "model", scatter_dimension=1, tiled=True) + lax.pmax(part, "data")

    return jax.shard_map(inside, mesh=MESH, in_specs=jax.P("data", "model"), out_specs=jax.P("data", "model"))(x)


def _exchanged(x: Any) -> Any:
    def inside(part: Any) -> Any:
        return lax.all_to_all(part, "data", 1, 0, tiled=True)

    return jax.shard_map(inside, mesh=MESH, in_specs=jax.P("data"), out_specs=jax.P(None, "data"))(x)


def _sorted_in_map(x: Any) -> Any:
    return jax.shard_map(lambda part: jnp.sort(part, 1), mesh=MESH, in_specs=jax.P("data"), out_specs=jax.P("data"))(x)


MESH = jax.sharding.Mesh(np.array(jax.devices()[:8]).reshape(4, 2), ("data", "model"))

CASES: dict[str, Case] = {
    # order
    "sort rows": case(lambda x: jnp.sort(x, 1)),
    "sort columns": case(lambda x: jnp.sort(x, 0)),
    "sort descending": case(lambda x: jnp.sort(x, 0, descending=True)),
    "sort all": case(lambda x: jnp.sort(x, None)),
    "sort complex": case(lambda x: jnp.sort(x + 1j * x[::-1], 1)),
    "argsort": case(lambda x: jnp.argsort(x, 1)),
    "lexsort": case(lambda x, y: jnp.lexsort((x, y)), "f32[64]", "i32[64]"),
    "median": case(lambda x: (jnp.median(x), jnp.median(x, 0), jnp.nanmedian(x, 1))),
    "quantile": case(lambda x: (jnp.quantile(x, 0.3), jnp.quantile(x, jnp.array([0.1, 0.9]), axis=1))),
    "percentile": case(lambda x: jnp.percentile(x, 75, axis=0)),
    "nanquantile": case(lambda x: jnp.nanquantile(jnp.where(x > 1, jnp.nan, x), 0.5, axis=1)),
    "top_k": case(lambda x: lax.top_k(x, 3)),
    "approx_max_k": case(lambda x: lax.approx_max_k(x, 3)),
    "partition": case(lambda x: jnp.partition(x, 4, axis=1)),
    "argpartition": case(lambda x: jnp.sort(jnp.argpartition(x, 4, axis=1)[:, :4], 1)),
    "unique": case(lambda i: jnp.unique(i, size=8, fill_value=-1), "i32[64]"),
    "unique with counts": case(lambda i: jnp.unique(i, size=8, return_counts=True, return_inverse=True), "i32[64]"),
    "searchsorted": case(lambda x, y: jnp.searchsorted(jnp.sort(x), y), "f32[64]", "f32[32]"),
    "searchsorted by sorting": case(lambda x, y: jnp.searchsorted(jnp.sort(x), y, method="sort"), "f32[64]", "f32[32]"),
    "digitize": case(lambda x: jnp.digitize(x, jnp.linspace(-2, 2, 9))),
    "histogram": case(lambda x: jnp.histogram(x, 8, (-2.0, 2.0))[0], "f32[64]"),
    "bincount": case(lambda i: jnp.bincount(i, length=9), "i32[64]"),
    "nonzero": case(lambda x: jnp.nonzero(x > 0, size=16, fill_value=0), "f32[64]"),
    "intersect1d": case(lambda i, j: jnp.intersect1d(i, j, size=9, fill_value=-1), "i32[64]", "i32[32]"),
    "isin": case(lambda i, j: jnp.isin(i, j), "i32[64]", "i32[32]"),
    "rankdata": case(lambda x: jsp.stats.rankdata(x), "f32[64]"),
    "mode": case(lambda i: jsp.stats.mode(i).mode, "i32[64]"),
    "argmax": case(lambda x: (jnp.argmax(x, 0), jnp.argmin(x, 1), jnp.nanargmax(x, 0))),
    "gradient of a sort": case(jax.grad(_loss)),
    "sort in a loop": case(lambda x: lax.fori_loop(0, 3, lambda i, v: jnp.sort(v + i, 1), x)),
    "sort in a branch": case(lambda x: lax.cond(x.sum() > 0, lambda v: jnp.sort(v, 1), lambda v: v, x)),
    # sums along a dim
    "cumsum": case(lambda x: (jnp.cumsum(x, 0), jnp.cumsum(x, 1))),
    "cumprod": case(lambda x: jnp.cumprod(x, 1)),
    "cummax": case(lambda x: (lax.cummax(x, 0), lax.cummin(x, 1, reverse=True))),
    "cumlogsumexp": case(lambda x: lax.cumlogsumexp(x, 1)),
    "associative_scan": case(lambda x: lax.associative_scan(jnp.add, x, axis=1)),
    "associative_scan of pairs": case(
        lambda x, y: lax.associative_scan(lambda a, b: (a[0] * b[0], a[1] * b[0] + b[1]), (x, y)),
        "f32[64,16]",
        "f32[64,16]",
    ),
    "reduce with a pair": case(_largest),
    "reduce by any function": case(lambda x: lax.reduce(jnp.abs(x), 0.0, _capped, (1,))),
    "reduce_precision": case(lambda x: lax.reduce_precision(x, 5, 10)),
    "reductions": case(lambda x: (x.sum(0), x.mean(1), x.var(), x.std(0), x.prod(1), x.max(), x.any(0), x.all(1))),
    "nan reductions": case(lambda x: (jnp.nansum(x, 0), jnp.nanmean(x, 1), jnp.nanstd(x, 0), jnp.nanmax(x))),
    "logsumexp": case(lambda x: (jsp.special.logsumexp(x, 1), jax.nn.logsumexp(x, 0, keepdims=True))),
    "ptp": case(lambda x: (jnp.ptp(x, 0), jnp.average(x, 1, weights=jnp.arange(16.0)))),
    "cov": case(lambda x: (jnp.cov(x.T), jnp.corrcoef(x.T))),
    "segment_sum": case(lambda x, i: jax.ops.segment_sum(x, i, 8), "f32[64,16]", "i32[64]"),
    "segment_max": case(lambda x, i: jax.ops.segment_max(x, i, 8), "f32[64,16]", "i32[64]"),
    "segment_prod": case(lambda x, i: jax.ops.segment_prod(x, i, 8), "f32[64,16]", "i32[64]"),
    # windows
    "convolution": case(_convolved, "f32[8,8,8,4]", "f32[3,3,4,6]"),
    "convolution by groups": case(partial(_convolved, feature_group_count=2), "f32[8,8,8,4]", "f32[3,3,2,6]"),
    "convolution dilated": case(partial(_convolved, rhs_dilation=(2, 2)), "f32[8,8,8,4]", "f32[3,3,4,6]"),
    "convolution, gradient": case(
        jax.grad(lambda x, k: (_convolved(x, k) ** 2).sum(), (0, 1)), "f32[8,8,8,4]", "f32[3,3,4,6]"
    ),
    "conv_transpose": case(
        lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")),
        "f32[8,8,8,4]",
        "f32[3,3,4,6]",
    ),
    "convolve": case(lambda x, k: jnp.convolve(x, k, "same"), "f32[64]", "f32[5]", specs=(("data",), ())),
    "convolve2d": case(lambda x, k: jsp.signal.convolve2d(x, k, "same"), "f32[64,16]", "f32[3,3]", specs=(GRID, ())),
    "reduce_window": case(_pooled, "f32[8,8,8,4]"),
    "reduce_window, gradient": case(jax.grad(lambda x: (_pooled(x) ** 2).sum()), "f32[8,8,8,4]"),
    "average pool": case(
        lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME"), "f32[8,8,8,4]"
    ),
    "reduce_window by any function": case(
        lambda x: lax.reduce_window(jnp.abs(x), 0.0, _capped, (1, 4), (1, 4), "VALID"),
    ),
    "image resize": case(_image, "f32[8,8,8,4]"),
    "map_coordinates": case(
        lambda x, y: jsp.ndimage.map_coordinates(x, [y * 3 + 20, y + 8], order=1), "f32[64,16]", "f32[32]"
    ),
    "patches": case(lambda x: lax.conv_general_dilated_patches(x, (2, 2), (2, 2), "VALID"), "f32[8,4,8,8]"),
    # shapes and indices
    "gather": case(lambda x, i: (x[i % 64], jnp.take(x, i % 16, axis=1)), "f32[64,16]", "i32[32]"),
    "take_along_axis": case(lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1)),
    "scatter": case(_assigned, "f32[64,16]", "i32[16]"),
    "scatter_apply": case(lambda x, i: x.at[i % 64].apply(jnp.sin), "f32[64,16]", "i32[16]"),
    "scatter divide and power": case(lambda x, i: x.at[i % 64].divide(2.0).at[:2].power(2.0), "f32[64,16]", "i32[16]"),
    "dynamic slices": case(
        lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i[0] % 60, 0), (4, 16)), (i[1] % 60, 0)),
        "f32[64,16]",
        "i32[8]",
    ),
    "roll and pad": case(lambda x: (jnp.roll(x, 3, 0), jnp.pad(x, ((1, 7), (0, 0))), jnp.flip(x, 1), jnp.rot90(x))),
    "pad by reflection": case(
        lambda x: (jnp.pad(x, ((4, 4), (0, 0)), "reflect"), jnp.pad(x, ((4, 4), (8, 8)), "edge"))
    ),
    "joins": case(lambda x: (jnp.stack([x, x * 2]), jnp.concatenate([x, -x], 1), jnp.tile(x, (2, 1)))),
    "splits": case(lambda x: jnp.split(x, 4, 1) + jnp.array_split(x, 2, 0)),
    "repeat": case(lambda x: (jnp.repeat(x, 2, 0), jnp.repeat(x, jnp.arange(16) % 3, 1, total_repeat_length=16))),
    "triangles": case(lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x[:16]), jnp.trace(x))),
    "one_hot": case(lambda i: jax.nn.one_hot(i, 8), "i32[64]"),
    "where and select": case(lambda x: (jnp.where(x > 0, x, 0), jnp.select([x < -1, x > 1], [x, -x], 0.5))),
    "piecewise": case(lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]), "f32[64]"),
    "meshgrid": case(lambda x: jnp.meshgrid(x, jnp.arange(4.0)), "f32[64]"),
    "interp": case(lambda x: jnp.interp(x, jnp.linspace(-3, 3, 17), jnp.arange(17.0) ** 2)),
    "polynomials": case(lambda x: (jnp.polyval(jnp.array([1.0, 2.0, 3.0]), x), jnp.vander(x[:, 0], 4))),
    "bits": case(lambda i: (i << 2, i >> 1, ~i, jnp.bitwise_count(i), lax.clz(i), i ^ 5), "i32[64]"),
    "bitcast": case(lambda x: lax.bitcast_convert_type(x, jnp.int32)),
    "packed bits": case(lambda i: jnp.unpackbits(jnp.packbits(i > 2)), "i32[64]"),
    # algebra
    "matmul and einsum": case(lambda x, y: (x @ y, jnp.einsum("ij,jk->k", x, y)), "f32[64,16]", "f32[16,32]"),
    "tensordot": case(lambda x, y: jnp.tensordot(x, y, ((0, 1), (0, 1))), "f32[64,16]", "f32[64,16]"),
    "outer and kron": case(lambda x, y: (jnp.outer(x, y), jnp.kron(x[:8], y[:8])), "f32[64]", "f32[32]"),
    "cross": case(lambda x, y: jnp.cross(x, y), "f32[64,3]", "f32[64,3]", specs=(ROWS, ROWS)),
    "cholesky": case(lambda x: jnp.linalg.cholesky(_definite(x)), "f32[16,16]"),
    "solve": case(lambda x: jnp.linalg.solve(_definite(x), x), "f32[16,16]"),
    "inverse and determinant": case(
        lambda x: (
            jnp.linalg.inv(_definite(x)),
            jnp.linalg.det(_definite(x) / 4),
            tuple(jnp.linalg.slogdet(_definite(x))),
        ),
        "f32[16,16]",
    ),
    "qr": case(_orthogonal, "f32[64,16]"),
    "eigh": case(_symmetric_eigen, "f32[16,16]"),
    "eigvals": case(lambda x: jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), "f32[16,16]"),
    "svd": case(_singular),
    "lstsq": case(lambda x, y: jnp.linalg.lstsq(x, y)[0], "f32[64,16]", "f32[64]"),
    "pinv and rank": case(lambda x: (jnp.linalg.pinv(x), jnp.linalg.matrix_rank(x), jnp.linalg.cond(x))),
    "matrix_power": case(lambda x: jnp.linalg.matrix_power(x / 8, 5), "f32[16,16]"),
    "norms": case(lambda x: (jnp.linalg.norm(x), jnp.linalg.norm(x, 2, 1), jnp.linalg.norm(x, jnp.inf, 0))),
    "triangular solve": case(lambda x: jsp.linalg.solve_triangular(_definite(x), x, lower=True), "f32[16,16]"),
    "lu": case(lambda x: jsp.linalg.lu(_definite(x)), "f32[16,16]"),
    "expm": case(lambda x: jsp.linalg.expm(x / 8), "f32[16,16]"),
    "schur": case(lambda x: jnp.sort(jnp.diag(jsp.linalg.schur(_definite(x))[0])), "f32[16,16]"),
    "sqrtm": case(lambda x: jsp.linalg.sqrtm(_definite(x)).real, "f32[16,16]"),
    "block_diag and toeplitz": case(lambda x: (jsp.linalg.block_diag(x, x), jsp.linalg.toeplitz(x[0])), "f32[16,16]"),
    "cg": case(lambda x: jsp.sparse.linalg.cg(lambda v: _definite(x) @ v, x[:, 0], maxiter=8)[0], "f32[16,16]"),
    "gmres": case(lambda x: jsp.sparse.linalg.gmres(lambda v: _definite(x) @ v, x[:, 0])[0], "f32[16,16]"),
    "bicgstab": case(lambda x: jsp.sparse.linalg.bicgstab(lambda v: _definite(x) @ v, x[:, 0])[0], "f32[16,16]"),
    "minimize": case(
        lambda x: jsp.optimize.minimize(lambda v: ((v - x) ** 2).sum(), x * 0, method="BFGS").x, "f32[16]"
    ),
    # transforms
    "fft": case(lambda x: (jnp.fft.fft(x).real, jnp.fft.rfft(x, axis=0).imag, jnp.fft.ifft(x).real)),
    "fft2 and fftn": case(lambda x: (jnp.fft.fft2(x).real, jnp.fft.irfft(jnp.fft.rfft(x)), jnp.fft.fftshift(x))),
    "dct": case(lambda x: jsp.fft.dct(x, axis=1)),
    "stft": case(lambda x: jnp.abs(jsp.signal.stft(x, nperseg=16)[2]), "f32[64]"),
    # random
    "random": case(_random, "u32[2]", "f32[64,16]", specs=((), GRID)),
    "random, others": case(_random_others, "u32[2]", "f32[64,16]", specs=((), GRID)),
    "random by rejection": case(_gammas, "u32[2]", specs=((),)),
    "random shuffle": case(
        lambda k, x: jax.random.permutation(jax.random.wrap_key_data(k), x, independent=True),
        "u32[2]",
        "f32[64,16]",
        specs=((), GRID),
    ),
    "random orthogonal": case(
        lambda k: (lambda q: q @ q.T)(jax.random.orthogonal(jax.random.wrap_key_data(k), 8)), "u32[2]", specs=((),)
    ),
    # nets
    "activations": case(
        lambda x: [f(x) for f in (jax.nn.relu, jax.nn.gelu, jax.nn.silu, jax.nn.elu, jax.nn.selu, jax.nn.softplus)]
    ),
    "activations, others": case(
        lambda x: [
            f(x) for f in (jax.nn.celu, jax.nn.mish, jax.nn.hard_swish, jax.nn.relu6, jax.nn.glu, jax.nn.squareplus)
        ]
    ),
    "softmax": case(lambda x: (jax.nn.softmax(x), jax.nn.log_softmax(x, 0), jax.nn.standardize(x))),
    "softmax, gradient": case(jax.grad(lambda x: (jax.nn.softmax(x) ** 2).sum())),
    "attention": case(_attention, "f32[8,16,4,8]", "f32[8,16,4,8]", "f32[8,16,4,8]"),
    "special functions": case(
        lambda x: [
            f(jnp.abs(x) + 0.1) for f in (jsp.special.gammaln, jsp.special.digamma, jsp.special.erf, jsp.special.i0)
        ]
    ),
    "special functions, others": case(
        lambda x: [
            jsp.special.betainc(1.5, 2.0, jax.nn.sigmoid(x)),
            jsp.special.gammainc(2.0, jnp.abs(x)),
            jsp.special.ndtri(jax.nn.sigmoid(x)),
            jsp.special.zeta(jnp.abs(x) + 1.5, 1.0),
            jsp.special.expit(x),
            jsp.special.bessel_jn(jnp.abs(x[0]), v=3),
        ]
    ),
    "distributions": case(
        lambda x: (jsp.stats.norm.cdf(x), jsp.stats.gamma.logpdf(jnp.abs(x), 2), jsp.stats.t.pdf(x, 3))
    ),
    # control
    "map": case(_mapped),
    "map in batches": case(lambda x: lax.map(jnp.sin, x, batch_size=16)),
    "while": case(_newton),
    "cond": case(lambda x: lax.cond(x.mean() > 0, jnp.sin, jnp.cos, x)),
    "switch": case(_switch),
    "scan": case(_recurrent),
    "scan backwards": case(lambda x: lax.scan(lambda c, r: (c + r, c * r), jnp.zeros(16), x, reverse=True, unroll=4)),
    "scan, gradient": case(jax.grad(lambda x: _recurrent(x)[0].sum())),
    "fori_loop": case(lambda x: lax.fori_loop(0, 4, lambda i, v: v.at[i].add(i), x)),
    "custom_jvp": case(lambda x: jax.grad(lambda v: _cube(v).sum())(x)),
    "custom_vjp": case(lambda x: jax.grad(lambda v: _clipped(v).sum())(x)),
    "checkpoint": case(jax.grad(lambda x: jax.checkpoint(lambda v: jnp.sin(jnp.sin(v)).sum())(x))),
    "linearize and jvp": case(lambda x: jax.jvp(jnp.tanh, (x,), (x * 2,))),
    "jacobians": case(lambda x: (jax.jacfwd(jnp.cumsum)(x), jax.hessian(lambda v: (v**3).sum())(x)), "f32[16]"),
    "vmap of vmap": case(_pairs),
    "custom_linear_solve": case(
        lambda x: jax.grad(lambda v: jnp.linalg.solve(_definite(v), v[0]).sum())(x), "f32[16,16]"
    ),
    "custom_root": case(
        lambda x: lax.custom_root(lambda v: v**3 - x, x, lambda f, v: v - 0.1 * f(v), lambda g, y: y / g(1.0)),
        "f32[]",
        specs=((),),
    ),
    "optimization_barrier": case(lambda x: lax.optimization_barrier((x + 1, x * 2))),
    "named_scope and jit": case(lambda x: jax.jit(jax.named_call(jnp.sin, name="inner"))(x) + 1),
    "shard_map": case(_shard_mapped),
    "shard_map with collectives": case(_gathered_in_map),
    "shard_map with all_to_all": case(_exchanged),
    "shard_map with a sort": case(_sorted_in_map),
    "constraint": case(
        lambda x: lax.with_sharding_constraint(x.T * 2, jax.sharding.NamedSharding(MESH, jax.P("model", "data")))
    ),
    # types
    "narrow floats": case(
        lambda x: [x.astype(kind).astype(jnp.float32) for kind in (jnp.bfloat16, jnp.float16, jnp.float8_e4m3fn)]
    ),
    "narrow sort": case(lambda x: jnp.sort(x.astype(jnp.bfloat16), 1).astype(jnp.float32)),
    "four bits": case(lambda i: (i.astype(jnp.int4) + 1).astype(jnp.int32), "i32[64]"),
    "complex": case(lambda x: (jnp.angle(x + 1j), jnp.abs(jnp.exp(1j * x)), jnp.conj(x * 1j).imag)),
    "numbers apart": case(
        lambda x: (jnp.frexp(x), jnp.modf(x), jnp.divmod(x, 0.7), jnp.nextafter(x, 9.0), jnp.round(x, 1))
    ),
    "booleans": case(lambda x: (jnp.isnan(x), jnp.isfinite(x), jnp.signbit(x), jnp.isclose(x, x + 1e-9), x.any())),
}
"""Every function by what it is."""
