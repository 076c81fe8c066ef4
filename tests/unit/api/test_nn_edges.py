"""Layers at the edges of what they take: 16-bit floats that would overflow, windows and shapes of nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import shardwright as sw
from shardwright import nn

MESH = sw.Mesh(x=2, y=3)
LARGE = (np.arange(24).reshape(2, 12) * 1000 - 8000).astype("float16")


def _normed(x: Any, eps: float) -> Any:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps)


NORMS: list[tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = [
    ("layer_norm", nn.layer_norm, lambda x: _normed(x, 1e-5)),
    ("group_norm", lambda x: nn.group_norm(x, 1), lambda x: _normed(x, 1e-5)),
    ("batch_norm", lambda x: nn.batch_norm(x, axis=0), lambda x: _normed(x, 1e-3)),
    ("known", lambda x: nn.batch_norm(x, np.full(12, 70000.0), np.full(12, 1e8)), lambda x: (x - 7e4) / 1e4),
    ("rms_norm", nn.rms_norm, lambda x: x / np.sqrt((x * x).mean(-1, keepdims=True))),
    ("l2_normalize", nn.l2_normalize, lambda x: x / np.sqrt((x * x).sum(-1, keepdims=True))),
    ("mean", lambda x: sw.mean(x + 20000, axis=1), lambda x: (x + 20000).mean(1)),
    ("moments", lambda x: nn.moments(x + 20000, 1)[0], lambda x: (x + 20000).mean(1)),
    ("var", lambda x: sw.var(x / 100, axis=1), lambda x: (x / 100).var(1)),
    ("std", lambda x: sw.std(x, axis=1), lambda x: x.std(1)),
    ("avg_pool", lambda x: nn.avg_pool1d((x + 20000)[..., None], 6), lambda x: (x + 20000).reshape(2, 2, 6, 1).mean(2)),
    ("global", lambda x: nn.global_avg_pool((x + 20000)[..., None]), lambda x: (x + 20000).mean(1)[:, None]),
]


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize(("function", "wanted"), [case[1:] for case in NORMS], ids=[case[0] for case in NORMS])
def test_means_and_norms_of_short_floats_do_not_overflow(
    function: Callable[[Any], Any], wanted: Callable[[Any], Any], dtype: str
) -> None:
    given = LARGE.astype(dtype)
    expected = wanted(given.astype("float64"))
    coarse = 4 * float(ml_dtypes.finfo(dtype).eps)
    split = sw.relayout(given, sw.Layout(["x", "y"], MESH))
    for x in (given, split):
        found = np.asarray(function(x))
        assert found.dtype == given.dtype
        np.testing.assert_allclose(found.astype("float64"), expected, rtol=coarse, atol=coarse)


def test_more_classes_than_a_short_float_counts() -> None:
    logits = np.zeros((1, 70_000), "float16")
    wanted = np.log(70_000.0)
    assert float(nn.logsumexp(logits)) == pytest.approx(wanted, rel=1e-3)
    assert float(nn.softmax_cross_entropy(logits, np.array([7]))[0]) == pytest.approx(wanted, rel=1e-3)
    assert float(nn.log_softmax(logits)[0, 7]) == pytest.approx(-wanted, rel=1e-3)


def test_the_mean_of_a_window_of_padding_alone_is_none() -> None:
    found = nn.avg_pool2d(np.ones((1, 2, 2, 1), "float32"), 1, padding=[(2, 0), (3, 0)])
    whole = np.full((1, 4, 5, 1), np.nan)
    whole[:, 2:, 3:] = 1
    np.testing.assert_array_equal(found, whole)


def test_attention_of_no_depth_weighs_all_values_alike() -> None:
    values = np.arange(12.0).reshape(1, 3, 1, 4)
    found = nn.scaled_dot_product_attention(np.ones((1, 2, 1, 0)), np.ones((1, 3, 1, 0)), values)
    np.testing.assert_allclose(found, np.broadcast_to(values.mean(1, keepdims=True), (1, 2, 1, 4)))


@pytest.mark.parametrize(
    ("text", "call"),
    [
        (r"windows of \[0, 3\] have no elements", lambda: nn.conv2d(np.ones((1, 5, 5, 2)), np.ones((0, 3, 2, 4)))),
        (
            r"output_shape \[7, 10, 5\] is not for a batch of 1 and 5 outputs",
            lambda: nn.conv1d_transpose(np.ones((1, 5, 3)), np.ones((2, 5, 3)), (7, 10, 5), 2),
        ),
        (
            r"output_shape \[1, 9, 10\] is not for a batch of 1 and 5 outputs",
            lambda: nn.conv1d_transpose(np.ones((1, 3, 5)), np.ones((2, 5, 3)), (1, 9, 10), 2, data_format="NCW"),
        ),
    ],
)
def test_shapes_that_do_not_fit(text: str, call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=f"SW0541.*{text}"):
        call()


def test_a_norm_that_shrinks_short_floats_much() -> None:
    """A factor of 5e-7 has one digit in float16."""
    parts = [np.full(4, 30000, "float16"), np.full(1000, 60000, "float16")]
    clipped, norm = sw.optimizers.clip_by_global_norm(parts, 1.0)
    assert float(norm) == pytest.approx(np.sqrt(4 * 3e4**2 + 1000 * 6e4**2))
    for part, given in zip(clipped, parts, strict=True):
        assert np.asarray(part).dtype == np.float16
        np.testing.assert_allclose(np.asarray(part, "float64"), given.astype("float64") / float(norm), rtol=1e-3)
