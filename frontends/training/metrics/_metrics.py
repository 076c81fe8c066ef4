"""Metrics: modules that gather a figure over many steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DTypeLike
from shardwright.compiler.tracing.emit import dtype_of, shape_of
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.frontends.arrays.elementwise import functions
from shardwright.frontends.arrays.elementwise.functions import equal, logical_and, not_equal
from shardwright.frontends.arrays.reducing.reductions import argmax, sum as total
from shardwright.frontends.arrays.shapes import broadcast_to
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout


class Metric(Module):
    """
    A figure over all that was given to `update_state` since the beginning, or the last `reset_state`.

    Everything works inside of traced functions as well as outside. The state is in scalars of type `dtype`, which are
    replicated on whatever mesh they are used, or laid out by `layout`.
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike = "float32", layout: Layout | None = None) -> None:
        super().__init__(name)
        self.total = Variable(0.0, dtype=dtype, layout=layout, name=f"{self.name}/total", trainable=False)

    def __repr__(self) -> str:
        kind = type(self).__name__
        return kind if current_trace() is not None else f"{kind}({np.asarray(self.result()).item()})"

    def update_state(self, *values: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        """
        Takes in more values, each counted with its weight: a number for all, or a size or 1 for each dim of the values.

        Raises `ValueError` (SW0504) for weights of another shape.
        """
        raise NotImplementedError

    def update(self, *values: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        """The same as `update_state`."""
        self.update_state(*values, sample_weight=sample_weight)

    def result(self) -> Array:
        """The figure."""
        return self.total.value

    def reset_state(self) -> None:
        """Begins again."""
        for variable in self.variables:
            variable.assign(0)


class Sum(Metric):
    """
    The sum of all values.

    >>> import numpy, shardwright
    >>> metric = shardwright.metrics.Sum()
    >>> metric.update(numpy.array([1.0, 2.0]))
    >>> metric.update(3.0)
    >>> metric
    Sum(6.0)
    """

    def update_state(self, *values: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        value = _only(values, type(self).__name__)
        self.total.assign_add(total(_weighted(_typed(value, self.total), sample_weight)))


class Mean(Metric):
    """
    The mean of all values, by their weights; 0 while these add up to nothing.

    >>> import numpy, shardwright
    >>> metric = shardwright.metrics.Mean()
    >>> metric.update_state(numpy.array([1.0, 2.0]))
    >>> metric.update_state(6.0)
    >>> float(metric.result())
    3.0
    """

    def __init__(self, name: str | None = None, dtype: DTypeLike = "float32", layout: Layout | None = None) -> None:
        super().__init__(name, dtype, layout)
        self.count = Variable(0.0, dtype=dtype, layout=layout, name=f"{self.name}/count", trainable=False)

    def update_state(self, *values: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        value = _only(values, type(self).__name__)
        self._gather(_typed(value, self.total), sample_weight)

    def _gather(self, value: Any, weight: Any) -> None:
        ones = broadcast_to(_typed(1.0, self.total), shape_of(value))
        self.total.assign_add(total(_weighted(value, weight)))
        self.count.assign_add(total(_weighted(ones, weight)))

    def result(self) -> Array:
        count = self.count.value
        filled = not_equal(count, 0)
        return functions.where(filled, self.total, 0) / functions.where(filled, count, 1)


class Accuracy(Mean):
    """
    How often predictions are right: `update_state(y_true, y_pred)`.

    Predictions with one more dim than the labels are scores of classes: the highest one is the prediction.

    >>> import numpy, shardwright
    >>> metric = shardwright.metrics.Accuracy()
    >>> metric.update_state(numpy.array([1, 0]), numpy.array([[0.1, 0.9], [0.2, 0.8]], "float32"))
    >>> float(metric.result())
    0.5
    """

    def update_state(self, *values: ArrayLike, sample_weight: ArrayLike | None = None) -> None:
        if len(values) != 2:
            raise _amount(values, "Accuracy", "labels and predictions")
        y_true, y_pred = values
        if len(shape_of(y_pred)) == len(shape_of(y_true)) + 1:
            y_pred = argmax(y_pred, axis=-1)
        if shape_of(y_true) != shape_of(y_pred):
            raise value_error(
                "SW0504",
                f"accuracy: labels of shape {list(shape_of(y_true))} do not fit predictions of shape "
                f"{list(shape_of(y_pred))}",
                help="they have one shape, or the predictions one more dim, which holds the classes' scores",
            )
        # A label that the type of the predictions does not have is none of them.
        named = functions.astype(y_true, dtype_of(y_pred))
        right = logical_and(equal(named, y_pred), equal(functions.astype(named, dtype_of(y_true)), y_true))
        self._gather(functions.astype(right, self.total.dtype), sample_weight)


def _typed(value: Any, like: Variable) -> Any:
    return functions.astype(value, like.dtype)


def _weighted(value: Any, weight: Any) -> Any:
    if weight is None:
        return value
    sizes, shape = shape_of(weight), shape_of(value)
    fitting = len(sizes) in (0, len(shape)) and all(size in (1, due) for size, due in zip(sizes, shape, strict=False))
    if not fitting:
        raise value_error(
            "SW0504",
            f"weights of shape {list(sizes)} do not fit values of shape {list(shape)}",
            help="give a number, or weights with as many dims as the values, each of the same size or 1",
        )
    return value * functions.astype(weight, value.dtype)


def _only(values: tuple[Any, ...], name: str) -> Any:
    if len(values) != 1:
        raise _amount(values, name, "one array")
    return values[0]


def _amount(values: tuple[Any, ...], name: str, due: str) -> Exception:
    return type_error(
        "SW0504", f"{name}: update_state takes {due}, not {len(values)} arrays", help="give weights as sample_weight="
    )
