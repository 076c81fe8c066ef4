"""TensorFlow's operations that change variables: rows of them, and steps of optimizers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import Call, Resource
from shardwright.frontends.tensorflow.importing.operations.indexing import scattered_nd
from shardwright.frontends.tensorflow.importing.table import row


def _subtracted(x: Any, places: Any, values: Any) -> Any:
    return arrays.scatter_add(x, places, arrays.negative(values))


SCATTERS: dict[str, Callable[..., Any]] = {
    "Add": arrays.scatter_add,
    "Max": arrays.scatter_max,
    "Min": arrays.scatter_min,
    "Sub": _subtracted,
    "Update": arrays.scatter_update,
}
"""What becomes of the rows that are named."""


@row(*(f"ResourceScatter{kind}" for kind in SCATTERS))
def _rows_changed(call: Call, resource: Resource, indices: Any, updates: Any) -> None:
    scatter = SCATTERS[call.node.op.removeprefix("ResourceScatter")]
    resource.variable.assign(scatter(resource.variable.traced(), indices, updates))


@row(*(f"ResourceScatterNd{kind}" for kind in SCATTERS))
def _parts_changed(call: Call, resource: Resource, indices: Any, updates: Any) -> None:
    scatter = SCATTERS[call.node.op.removeprefix("ResourceScatterNd")]
    resource.variable.assign(scattered_nd(scatter, resource.variable.traced(), indices, updates))


def _one(x: Any) -> Any:
    return np.ones((), x.dtype)


def _mixed(held: Any, new: Any, share: Any) -> Any:
    """What is held, and a new value instead of a part of it."""
    return arrays.add(arrays.multiply(held, share), arrays.multiply(new, arrays.subtract(_one(new), share)))


@row("ResourceApplyGradientDescent")
def _descent(call: Call, variable: Resource, rate: Any, slope: Any) -> None:
    variable.variable.assign_sub(arrays.multiply(rate, slope))


@row("ResourceApplyMomentum", "ResourceApplyKerasMomentum")
def _momentum(call: Call, variable: Resource, held: Resource, rate: Any, slope: Any, momentum: Any) -> None:
    """Keras has the rate in what it holds, and TensorFlow applies it afterwards."""
    keras = call.node.op == "ResourceApplyKerasMomentum"
    step = arrays.negative(arrays.multiply(rate, slope)) if keras else slope
    total = arrays.add(arrays.multiply(held.variable.traced(), momentum), step)
    held.variable.assign(total)
    if call["use_nesterov"]:
        total = arrays.add(arrays.multiply(total, momentum), step)
    variable.variable.assign_add(total if keras else arrays.negative(arrays.multiply(rate, total)))


@row("ResourceApplyAdagradV2")
def _adagrad(call: Call, variable: Resource, held: Resource, rate: Any, epsilon: Any, slope: Any) -> None:
    total = held.variable.traced()
    if call["update_slots"]:
        total = arrays.add(total, arrays.square(slope))
        held.variable.assign(total)
    step = arrays.divide(arrays.multiply(rate, slope), arrays.add(arrays.sqrt(total), epsilon))
    variable.variable.assign_sub(step)


@row("ResourceApplyRMSProp")
def _rms_prop(call: Call, variable: Resource, squares: Resource, held: Resource, *given: Any) -> None:
    rate, rho, momentum, epsilon, slope = given
    mean = _mixed(squares.variable.traced(), arrays.square(slope), rho)
    step = arrays.divide(arrays.multiply(rate, slope), arrays.sqrt(arrays.add(mean, epsilon)))
    total = arrays.add(arrays.multiply(held.variable.traced(), momentum), step)
    squares.variable.assign(mean)
    held.variable.assign(total)
    variable.variable.assign_sub(total)


@row("ResourceApplyAdam")
def _adam(call: Call, variable: Resource, first: Resource, second: Resource, *given: Any) -> None:
    power_1, power_2, rate, share_1, share_2, epsilon, slope = given
    mean = _mixed(first.variable.traced(), slope, share_1)
    square = _mixed(second.variable.traced(), arrays.square(slope), share_2)
    unbiased = arrays.divide(arrays.sqrt(arrays.subtract(_one(slope), power_2)), arrays.subtract(_one(slope), power_1))
    ahead = _mixed(mean, slope, share_1) if call["use_nesterov"] else mean
    step = arrays.divide(ahead, arrays.add(arrays.sqrt(square), epsilon))
    first.variable.assign(mean)
    second.variable.assign(square)
    variable.variable.assign_sub(arrays.multiply(arrays.multiply(rate, unbiased), step))
