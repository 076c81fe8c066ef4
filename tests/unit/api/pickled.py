"""Functions that are pickled by their names."""

from __future__ import annotations

from typing import Any

import shardwright as sw


@sw.function
def doubled(x: Any) -> Any:
    """Twice `x`."""
    return x * 2


def halved(x: Any, times: int = 1) -> Any:
    """Half of `x`."""
    return x / (2 * times)


HALVED = sw.function(halved, static=["times"])


class Scaler:
    """Scales by a number of its own."""

    def __init__(self, factor: float) -> None:
        self.factor = factor

    @sw.function
    def scaled(self, x: Any) -> Any:
        """`x` times the factor."""
        return x * self.factor
