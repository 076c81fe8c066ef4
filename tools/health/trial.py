"""A program that is small enough to know its result: partitioned, run, and compared."""

from __future__ import annotations

import numpy as np

from shardwright.compiler.tracing.array import Array
from shardwright.diagnostics import ShardwrightError
from shardwright.frontends.arrays import matmul
from shardwright.frontends.functions import function, relayout
from shardwright.layout import Layout, Mesh
from shardwright.tools.health.findings import Finding


def trial() -> Finding:
    """Whether a small program is right; what it raises is what is wrong."""
    try:
        return _product()
    except ShardwrightError as error:
        return Finding("a program", "wrong", error.diagnostics[0].message, error.diagnostics[0].help)


def _product() -> Finding:
    """Whether a product whose contracted dim is split over four devices is right, and sends what it says."""
    rows, inner, columns = 8, 16, 4
    left = np.arange(rows * inner, dtype=np.float32).reshape(rows, inner)
    right = np.arange(inner * columns, dtype=np.float32).reshape(inner, columns)
    mesh = Mesh(x=4)
    sent = 2 * (4 - 1) * rows * columns * left.itemsize // 4
    """An all-reduce over four devices: each sends three quarters of the result, twice."""

    @function
    def product(a: Array, b: Array) -> Array:
        return relayout(matmul(a, b), Layout([None, None], mesh))

    a = relayout(left, Layout([None, "x"], mesh))
    b = relayout(right, Layout(["x", None], mesh))
    result = np.asarray(product(a, b))
    compiled = product.trace(a, b).propagate().partition().compile()
    compiled(a, b)
    if not np.array_equal(result, left @ right) or compiled.ledger.sent_bytes != sent:
        return Finding("a program", "wrong", "a small product came out wrong", "reinstall Shardwright")
    return Finding("a program", "ok", f"a product over four devices is right, and each sends {sent} bytes")
