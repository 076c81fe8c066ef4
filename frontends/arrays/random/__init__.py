"""Random numbers that a seed defines: `shardwright.random`, with the names of `tf.random`."""

from shardwright.frontends.arrays.random._keys import (
    normal,
    set_seed,
    stateless_categorical,
    stateless_random_binomial,
    stateless_random_categorical,
    stateless_random_gamma,
    stateless_random_normal,
    stateless_random_poisson,
    stateless_random_shuffle,
    stateless_random_truncated_normal,
    stateless_random_uniform,
    stateless_random_uniform_full_int,
    stateless_shuffle,
    truncated_normal,
    uniform,
)

__all__ = [
    "normal",
    "set_seed",
    "stateless_categorical",
    "stateless_random_binomial",
    "stateless_random_categorical",
    "stateless_random_gamma",
    "stateless_random_normal",
    "stateless_random_poisson",
    "stateless_random_shuffle",
    "stateless_random_truncated_normal",
    "stateless_random_uniform",
    "stateless_random_uniform_full_int",
    "stateless_shuffle",
    "truncated_normal",
    "uniform",
]
