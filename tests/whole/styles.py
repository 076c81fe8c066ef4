"""What random programs are drawn from: each style looks for other mistakes."""

from __future__ import annotations

from dataclasses import replace

from whole.build import Style

SMALL = Style()
"""Meshes up to 2x2x2."""

LARGE = Style(((8,), (12,), (16,), (4, 4), (3,), (2, 3), (6,), (4, 2, 2)), (1, 4, 8, 8, 12, 16, 16, 6, 24, 2, 5))
"""Larger meshes, axes that are no powers of two, and dims with several elements on each device."""


def _named(names: str) -> tuple[str, ...]:
    """Full names of StableHLO's ops, and of others."""
    return tuple(name if "." in name else f"stablehlo.{name}" for name in names.split())


LINEAR = Style(
    extents=(1, 2, 4, 4, 8, 8, 16),
    ops=_named(
        "dot_general reduce add subtract multiply maximum minimum and or xor reshape transpose broadcast_in_dim slice "
        "pad concatenate convert select reverse gather scatter dynamic_slice dynamic_update_slice convolution "
        "reduce_window while case if negate abs sign floor ceil not optimization_barrier round_nearest_even "
        "round_nearest_afz complex real imag compare func.call sdy.sharding_constraint"
    ),
)
"""Products and sums, and what partial sums may or may not pass."""

MOVING = Style(
    extents=(1, 2, 3, 4, 4, 8, 8, 16),
    ops=_named(
        "reshape transpose broadcast_in_dim slice pad concatenate select reverse clamp gather dynamic_slice "
        "dynamic_update_slice optimization_barrier case if iota func.call sdy.sharding_constraint sdy.reshard"
    ),
    specials=True,
)
"""Elements change places, infinities and NaNs among them: what is masked must not touch its neighbours."""

ODD = Style(
    ((1,), (3,), (5,), (7,), (9,), (11,), (13,), (15,), (16,), (1, 1), (3, 3), (3, 5), (2, 3), (2, 7), (12,), (14,),
     (10,), (2, 2, 3), (2, 2, 2, 2), (8, 2), (4, 1, 3), (6, 2)),
    (1, 2, 3, 4, 5, 6, 6, 7, 9, 10, 12, 12, 14, 15, 16),
    rich=True,
)  # fmt: skip
"""Meshes of one to sixteen devices, odd ones among them, and every layout that Shardy can say."""

TINY = Style(
    ((1,), (2,), (3,), (2, 2), (4,), (2, 3)),
    (0, 0, 1, 1, 2, 3, 4),
    ops=_named(
        "dot_general reduce add subtract multiply maximum minimum and or xor reshape transpose broadcast_in_dim slice "
        "pad concatenate convert select reverse dynamic_slice dynamic_update_slice while case if negate abs sign floor "
        "ceil not optimization_barrier round_nearest_even round_nearest_afz complex real imag compare clamp iota "
        "func.call sdy.sharding_constraint sdy.reshard tanh exponential cosine sine logistic sort gather scatter "
        "reduce_window convolution select_and_scatter is_finite constant chlo.top_k einsum fft "
        "cholesky triangular_solve bitcast_convert reduce_precision remainder divide chlo.square popcnt"
    ),
    empty=True,
    rich=True,
)
"""Dims without elements and of one element."""

MADE = Style(extents=(1, 2, 3, 4, 4, 6, 8, 8, 12), rich=True, made=0.8)
"""Values made from iotas and constants, which no device needs to be sent."""

LOOPS = Style(
    ((2,), (4,), (3,), (2, 2), (4, 2), (2, 4), (2, 2, 2), (2, 3), (8,)),
    (2, 4, 4, 6, 8, 8),
    laid_out=0.9,
    rich=True,
    made=0.15,
    opening="loops",
    steps=(0, 4),
    results=6,
)
"""Loops with several carries and collectives, sums that stay partial among them."""

RECURRENT = Style(
    ((2,), (4,), (2, 2), (4, 2), (2, 4), (2, 2, 2), (2, 3), (3,)),
    (2, 4, 4, 6, 8),
    laid_out=0.9,
    rich=True,
    opening="recurrences",
    steps=(0, 2),
    results=30,
)
"""Stacked recurrences and their gradients."""

LONG = Style(rich=True, made=0.2, steps=(14, 24), results=6)
"""Twice to thrice as many steps: what one op asks for meets what others do."""

UNEVEN = Style(
    ((2,), (3,), (4,), (5,), (8,), (2, 2), (3, 2), (2, 4), (2, 2, 2), (16,), (7,)),
    (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 13),
    laid_out=0.9,
    rich=True,
    uneven=0.7,
)
"""Dims that do not divide, split all the same."""

UNEVEN_MOVING = replace(UNEVEN, ops=MOVING.ops, specials=True)
"""Elements change places among padding, infinities and NaNs among them."""

UNEVEN_LOOPS = replace(UNEVEN, extents=(2, 3, 4, 5, 6, 7, 9), made=0.15, opening="loops", steps=(0, 4), results=6)
"""Loops that carry them."""

STYLES = {
    "small": SMALL, "large": LARGE, "linear": LINEAR, "moving": MOVING, "odd": ODD, "tiny": TINY, "made": MADE,
    "loops": LOOPS, "recurrent": RECURRENT, "long": LONG, "uneven": UNEVEN, "uneven-moving": UNEVEN_MOVING,
    "uneven-loops": UNEVEN_LOOPS,
}  # fmt: skip

SHARES = {
    "small": 8, "each": 8, "large": 8, "linear": 11, "moving": 11, "odd": 13, "tiny": 9, "made": 7, "loops": 6,
    "long": 3, "recurrent": 2, "traced": 4, "uneven": 5, "uneven-moving": 3, "uneven-loops": 2,
}  # fmt: skip
"""How many of a hundred programs each style has; programs of the last ones take longest."""
