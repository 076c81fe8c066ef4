"""
Causal attention with its heads split over one axis and its batch over the other: nothing travels until the end.

Run it as `python examples/attention.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import shardwright as sw

MESH = sw.Mesh.distributed({"batch": 2, "heads": 4})
WIDTH, HEADS, LENGTH = 64, 8, 16


@sw.function
def attention(x: Any, qkv: Any, out: Any) -> Any:
    """Attention over `x` (batch, position, width) with weights `qkv` (3, width, head, size) and `out`."""
    q, k, v = (sw.einsum("bpw,whd->bphd", x, qkv[part]) for part in range(3))
    scores = sw.einsum("bqhd,bkhd->bhqk", q, k) * (q.shape[-1] ** -0.5)
    causal = sw.tril(sw.ones((x.shape[1], x.shape[1]), dtype=sw.bool))
    weights = sw.nn.softmax(sw.where(causal, scores, -sw.inf))
    return sw.einsum("bhqk,bkhd,hdw->bqw", weights, v, out)


def main() -> float:
    """Print what is sent; returns the largest difference from the unsharded run."""
    random = np.random.default_rng(0)
    shapes = (4, LENGTH, WIDTH), (3, WIDTH, HEADS, WIDTH // HEADS), (HEADS, WIDTH // HEADS, WIDTH)
    x, qkv, out = (random.standard_normal(shape, np.float32) * np.float32(0.2) for shape in shapes)
    layouts = ["batch"], [None, None, "heads"], ["heads"]
    tensors = [sw.relayout(a, sw.Layout(axes, MESH)) for a, axes in zip((x, qkv, out), layouts, strict=True)]

    partitioned = attention.trace(*tensors).partition()
    for row in partitioned.predicted:
        print(f"{row.kind} over {', '.join(row.axes)}: {row.plain_bytes} bytes per device, for {row.tensors[0]}")
    result = attention(*tensors)
    difference = float(np.abs(sw.fetch(result) - attention(x, qkv, out)).max())
    laid = result.layout.describe(result.shape, "f32")
    print(f"{laid}, at most {difference:.2e} from the unsharded run")
    return difference


if __name__ == "__main__":
    main()
