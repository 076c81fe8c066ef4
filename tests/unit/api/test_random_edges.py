"""What parameters random numbers may have: what is none is refused, or makes NaN, and never plausible numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import random

SEED = (20, 23)
MESH = sw.Mesh(x=2)
NAN, INF = math.nan, math.inf


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("gamma: alpha is -0.5", lambda: random.stateless_random_gamma((3,), SEED, -0.5)),
        ("gamma: alpha is nan", lambda: random.stateless_random_gamma((3,), SEED, NAN)),
        ("gamma: beta is -1", lambda: random.stateless_random_gamma((2,), SEED, 1.0, np.array([1.0, -1.0]))),
        ("poisson: lam is nan", lambda: random.stateless_random_poisson((3,), SEED, NAN)),
        ("poisson: lam is -2", lambda: random.stateless_random_poisson((3,), SEED, np.float32(-2))),
        ("binomial: counts is -3", lambda: random.stateless_random_binomial((3,), SEED, -3, 0.5)),
        ("binomial: counts is 2.5", lambda: random.stateless_random_binomial((3,), SEED, 2.5, 0.5)),
        ("binomial: counts is inf", lambda: random.stateless_random_binomial((3,), SEED, INF, 0.5)),
        ("binomial: probs is 1.5", lambda: random.stateless_random_binomial((3,), SEED, 10, 1.5)),
        ("binomial: probs is nan", lambda: random.stateless_random_binomial((3,), SEED, 10, NAN)),
        ("maxval=inf is no number that float32", lambda: random.stateless_random_uniform((3,), SEED, 0, INF)),
        ("minval=-inf is no number", lambda: random.stateless_random_uniform((3,), SEED, -INF, 0)),
        ("maxval=70000 is no number", lambda: random.stateless_random_uniform((3,), SEED, 0, 70000, "float16")),
        ("minval=0.5 is no whole", lambda: random.stateless_random_uniform((3,), SEED, 0.5, 9, "int32")),
        ("nothing from 5 up to 2", lambda: random.stateless_random_uniform((3,), SEED, np.int32(5), 2, "int32")),
        ("a rate of 1.5 is none", lambda: sw.nn.dropout(np.ones(3, "float32"), np.float32(1.5), SEED)),
        ("a rate of nan is none", lambda: sw.nn.dropout(np.ones(3, "float32"), np.array(NAN), SEED)),
    ],
)
def test_what_is_no_parameter(text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=f"SW0561.*{text}"):
        call()


def test_complex_parameters() -> None:
    for call in (
        lambda: random.stateless_random_gamma((3,), SEED, 1j),
        lambda: random.stateless_random_normal((3,), SEED, np.complex64(1j)),
        lambda: random.stateless_random_truncated_normal((3,), SEED, 0, 1j),
        lambda: random.stateless_random_poisson((3,), SEED, np.ones(3, "complex64")),
    ):
        with pytest.raises(TypeError, match=r"SW0506.* is complex"):
            call()


def test_a_noise_shape_of_more_dims() -> None:
    with pytest.raises(ValueError, match=r"SW0504.*noise_shape of \[2, 6\] does not broadcast to \[6\]"):
        sw.nn.dropout(np.ones(6, "float32"), 0.5, SEED, noise_shape=(2, 6))


def _given(values: list[float]) -> sw.DTensor:
    return sw.relayout(np.array(values), sw.Layout(["x"], MESH, uneven=True))


def test_parameters_that_devices_have() -> None:
    """What no parameter is, is NaN; the others are what they are beside good ones."""
    lam = random.stateless_random_poisson((6,), SEED, _given([-1, NAN, 0, 3, 40, INF]), "float64").numpy()
    good = random.stateless_random_poisson((6,), SEED, np.array([1, 1, 0, 3, 40, 1.0]), "float64")
    np.testing.assert_array_equal(lam, [NAN, NAN, 0, good[3], good[4], INF])
    alpha = random.stateless_random_gamma((5,), SEED, _given([-0.5, NAN, 0.5, 3, INF]), dtype="float64").numpy()
    good = random.stateless_random_gamma((5,), SEED, np.array([1, 1, 0.5, 3, 1]), dtype="float64")
    np.testing.assert_array_equal(alpha, [NAN, NAN, good[2], good[3], INF])
    beta = random.stateless_random_gamma((2,), SEED, 1.0, _given([-1, NAN]))
    assert np.isnan(beta.numpy()).all()
    probs = random.stateless_random_binomial((4,), SEED, 100, _given([-0.1, 1.1, NAN, 0.5]), "float64").numpy()
    good = random.stateless_random_binomial((4,), SEED, 100, 0.5, "float64")
    np.testing.assert_array_equal(probs, [NAN, NAN, NAN, good[3]])
    counts = random.stateless_random_binomial((4,), SEED, _given([-1, NAN, 100.5, INF]), 0.5, "float64").numpy()
    good = random.stateless_random_binomial((4,), SEED, 100, 0.5, "float64")
    np.testing.assert_array_equal(counts, [NAN, NAN, good[2], NAN])


@pytest.mark.parametrize(("dtype", "bound"), [("float16", 6e4), ("float32", 3e38), ("float64", 1.7e308)])
def test_bounds_that_are_further_apart_than_a_float(dtype: str, bound: float) -> None:
    wide = np.asarray(random.stateless_random_uniform((2000,), SEED, -bound, bound, dtype), "float64") / bound
    narrow = np.asarray(random.stateless_random_uniform((2000,), SEED, -1, 1, dtype), "float64")
    np.testing.assert_allclose(wide, narrow, atol=2e-3)


def test_classes_of_short_floats_are_no_more_often_the_first_ones() -> None:
    """Of 4,096 equal classes the upper half is drawn half of the time: 5,000 draws deviate by 35."""
    logits = np.zeros((1, 4096), sw.bfloat16)
    drawn = random.stateless_categorical(logits, 5_000, SEED)
    wide = random.stateless_categorical(logits.astype("float32"), 5_000, SEED)
    np.testing.assert_array_equal(drawn, wide)
    assert abs(int((drawn >= 2048).sum()) - 2_500) < 4 * 35


def test_classes_that_the_type_has_not() -> None:
    with pytest.raises(ValueError, match=r"SW0506.*299 does not fit i8"):
        random.stateless_categorical(np.zeros((1, 300)), 3, SEED, "int8")
