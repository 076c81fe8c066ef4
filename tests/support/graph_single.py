"""Cases of single operations of TensorFlow, collected with their inputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Known:
    """An input that is a constant of the graph."""

    value: Any


@dataclass(frozen=True)
class Case:
    """One node: its operation, inputs and attributes, as `tf.raw_ops` takes them."""

    op: str
    arguments: dict[str, Any]


class Cases:
    """Collects cases with numbers from one generator."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.found: list[Case] = []

    def add(self, *ops: str, **arguments: Any) -> None:
        self.found += [Case(op, arguments) for op in ops]

    def f(self, *shape: int, dtype: Any = "float32", low: float | None = None, high: float = 2.0) -> np.ndarray:
        values = self.random.standard_normal(shape) if low is None else self.random.uniform(low, high, shape)
        return np.asarray(values).astype(dtype)

    def i(self, *shape: int, low: int = -5, high: int = 6, dtype: Any = "int32") -> np.ndarray:
        return np.asarray(self.random.integers(low, high, shape)).astype(dtype)

    def nonzero(self, *shape: int, dtype: Any = "int32") -> np.ndarray:
        return (self.i(*shape, low=1, high=5) * self.random.choice([-1, 1], shape)).astype(dtype)

    def b(self, *shape: int) -> np.ndarray:
        return self.random.integers(0, 2, shape).astype(bool)


def ints(*values: Any) -> Known:
    return Known(np.array(values[0] if len(values) == 1 else values, np.int32))


def longs(value: Any) -> Known:
    return Known(np.array(value, np.int64))


def words(*texts: str) -> np.ndarray:
    return np.array([text.encode() for text in texts], object)
