"""Optimizers: modules that move variables along their gradients."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Real
from typing import Any

import numpy as np

from shardwright.compiler.tracing.array import Array, ArrayLike
from shardwright.compiler.tracing.dtypes import DEFAULT_FLOAT, DType, brief, check_kind, kind_of
from shardwright.compiler.tracing.emit import dtype_of, shape_of
from shardwright.compiler.tracing.interface import is_traced
from shardwright.compiler.tracing.settings import setting
from shardwright.compiler.tracing.trace import Tracer, outside
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.frontends.arrays.creation import zeros_like
from shardwright.frontends.arrays.elementwise import functions
from shardwright.frontends.arrays.elementwise.special import conj, real
from shardwright.frontends.arrays.reducing.reductions import sum as total
from shardwright.frontends.functions.relayouts import relayout
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout, Mesh

Schedule = Callable[[Array], Array | float]
"""A learning rate as a function of the number of steps made, a scalar of type float32."""


class Optimizer(Module):
    """
    What all optimizers share: the learning rate, the count of steps, and one state for each variable.

    `learning_rate` is a number or a function of the step, which counts from 0. A number may be set to another one at
    any time; compiled functions go on with that. `weight_decay` shrinks variables by this times the learning rate.
    `global_clipnorm` scales all gradients of a step so that their common norm is at most this. Variables of 16-bit
    floats are moved in float32, which is the type of their state.

    Raises `TypeError` (SW0532) for settings that are no numbers, `ValueError` (SW0532) for a norm that is not positive.
    """

    def __init__(
        self,
        learning_rate: float | Schedule,
        weight_decay: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(name)
        self.weight_decay = None if weight_decay is None else _number(weight_decay, "weight_decay")
        self.global_clipnorm = None if global_clipnorm is None else _norm(global_clipnorm, "global_clipnorm")
        self.iterations = Variable(0, name="iterations", trainable=False)
        self._schedule = learning_rate if callable(learning_rate) else None
        self._rate = None if callable(learning_rate) else _scalar(_number(learning_rate, "learning_rate"))
        self._slots: dict[str, list[Variable]] = {}
        self._places: dict[Variable, int] = {}

    @property
    def learning_rate(self) -> Array | float:
        """The learning rate: a variable, or what the schedule gives for the present step."""
        if self._rate is not None:
            return self._rate
        assert self._schedule is not None
        return _scheduled(self._schedule(functions.astype(self.iterations, "float32")))

    @property
    def slots(self) -> dict[str, dict[Variable, Variable]]:
        """The states by their names, and by the variables that they belong to; none before the first step."""
        return {name: dict(zip(self._places, slots, strict=True)) for name, slots in self._slots.items()}

    @learning_rate.setter
    def learning_rate(self, rate: float) -> None:
        if self._rate is None:
            raise type_error("SW0532", "the learning rate follows a schedule", help="make the optimizer with a number")
        self._rate.assign(_number(rate, "learning_rate"))

    def build(self, variables: Sequence[Variable]) -> None:
        """
        Makes the states of these variables, each in the layout of its variable.

        Otherwise they are made by the first step, which a traced function may contain. Raises `TypeError` (SW0532) for
        variables of whole numbers, which no fraction of a gradient moves.
        """
        for variable in setting("build", "variables", Sequence[Any])(variables):
            if not isinstance(variable, Variable):
                raise type_error("SW0532", f"build takes Variables, not {variable!r}", help="give a list of them")
            if kind_of(variable.dtype) not in ("float", "complex"):
                raise type_error(
                    "SW0532",
                    f"optimizers move floats and complex numbers, but {variable.name} is {brief(variable.dtype)}",
                    help="make it with trainable=False, or of another type",
                )
            if variable not in self._places:
                self._places[variable] = len(self._places)
                with outside():
                    for name in self._slot_names:
                        zeros = zeros_like(variable.value, dtype=_working(variable.dtype))
                        named = f"{variable.name}/{name}"
                        slot = Variable(zeros, layout=variable.layout, name=named, trainable=False)
                        self._slots.setdefault(name, []).append(slot)

    def apply_gradients(self, grads_and_vars: Iterable[tuple[ArrayLike | None, Variable]]) -> None:
        """
        One step: every variable moves along its gradient (RFC: `optimizer.apply_gradients(zip(grads, vars))`).

        Variables whose gradient is `None` stay. Raises `ValueError` (SW0532) when all of them are, `TypeError` for
        pairs that are not of gradients and variables, and `ValueError` (SW0504) for a gradient of another shape.
        """
        pairs = [_pair(item) for item in setting("apply_gradients", "grads_and_vars", Sequence[Any])(grads_and_vars)]
        moved = [(gradient, variable) for gradient, variable in pairs if gradient is not None]
        if not moved:
            raise value_error(
                "SW0532",
                f"none of {len(pairs)} variables has a gradient",
                help="the loss must depend on the variables, and be computed while the tape records",
            )
        self.build([variable for _, variable in moved])
        gradients = [gradient for gradient, _ in moved]
        if self.global_clipnorm is not None:
            gradients, _ = clip_by_global_norm(gradients, self.global_clipnorm)
        rate, step = self.learning_rate, self.iterations.value
        several = len({variable.layout and variable.layout.mesh for _, variable in moved}) > 1
        for gradient, (_, variable) in zip(gradients, moved, strict=True):
            mesh = variable.layout.mesh if several and variable.layout is not None else None
            working = _working(variable.dtype)
            scale = functions.astype(_on_mesh(rate, mesh), working)
            slots = {name: slots[self._places[variable]] for name, slots in self._slots.items()}
            start = _as(variable.value, working)
            start = start * (1 - self.weight_decay * scale) if self.weight_decay else start
            change = self._change(_as(gradient, working), scale, _on_mesh(step, mesh), slots, working)
            variable.assign(_as(start + change, variable.dtype), relayout=True)
        self.iterations.assign_add(1)

    @property
    def _slot_names(self) -> tuple[str, ...]:
        """The states that each variable has."""
        return ()

    def _change(self, gradient: Any, rate: Any, step: Any, slots: dict[str, Variable], dtype: DType) -> Any:
        """What is added to a variable, whose state this updates."""
        raise NotImplementedError


def _scheduled(rate: Any) -> Any:
    """What a schedule gives, if it is a real number; SW0532 for anything else, as for rates that are numbers."""
    wrong = not (isinstance(rate, Real) or is_traced(rate))
    if wrong or shape_of(rate) or kind_of(dtype_of(rate, "a schedule")) not in ("float", "integer"):
        shown = f"a {type(rate).__name__}" if wrong else f"{brief(dtype_of(rate))} {list(shape_of(rate))}"
        raise type_error(
            "SW0532",
            f"the learning rate's schedule gives {shown}",
            help="return a real number, or an array without dims",
        )
    return rate


def _on_mesh(scalar: Any, mesh: Mesh | None) -> Any:
    """A scalar on the mesh of a variable; where there is one mesh, it is brought there anyway."""
    return scalar if mesh is None else relayout(scalar, Layout([], mesh))


class SGD(Optimizer):
    """
    Gradient descent, with momentum if that is not zero: `v = momentum * v - rate * g; w += v` (as Keras has it).

    With `nesterov`, `w += momentum * v - rate * g`.

    >>> import shardwright
    >>> w = shardwright.Variable([1.0, 2.0])
    >>> optimizer = shardwright.optimizers.SGD(learning_rate=0.5)
    >>> optimizer.apply_gradients([(shardwright.ones(2), w)])
    >>> w.numpy()
    array([0.5, 1.5], dtype=float32)
    """

    def __init__(
        self,
        learning_rate: float | Schedule = 0.01,
        momentum: float = 0.0,
        nesterov: bool = False,
        weight_decay: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, weight_decay, global_clipnorm, name)
        self.momentum = _number(momentum, "momentum")
        self.nesterov = nesterov

    @property
    def _slot_names(self) -> tuple[str, ...]:
        return ("momentum",) if self.momentum else ()

    def _change(self, gradient: Any, rate: Any, step: Any, slots: dict[str, Variable], dtype: DType) -> Any:
        move = -rate * gradient
        if not self.momentum:
            return move
        velocity = slots["momentum"].assign(self.momentum * slots["momentum"] + move, relayout=True)
        return self.momentum * velocity + move if self.nesterov else velocity


class Adam(Optimizer):
    """
    Adam: gradients scaled by running means of themselves and of their squares (as Keras has it).

    `m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2; w -= rate sqrt(1 - b2^t) / (1 - b1^t) m / (sqrt(v) + epsilon)`.
    """

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        weight_decay: float | None = None,
        global_clipnorm: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, weight_decay, global_clipnorm, name)
        self.beta_1 = _number(beta_1, "beta_1")
        self.beta_2 = _number(beta_2, "beta_2")
        self.epsilon = _number(epsilon, "epsilon")

    @property
    def _slot_names(self) -> tuple[str, ...]:
        return ("m", "v")

    def _change(self, gradient: Any, rate: Any, step: Any, slots: dict[str, Variable], dtype: DType) -> Any:
        time = functions.astype(step + 1, dtype)
        correction = functions.sqrt(1 - functions.pow(self.beta_2, time)) / (1 - functions.pow(self.beta_1, time))
        mean = slots["m"].assign(self.beta_1 * slots["m"] + (1 - self.beta_1) * gradient, relayout=True)
        power = (1 - self.beta_2) * _as(_power(gradient), dtype)
        square = slots["v"].assign(self.beta_2 * slots["v"] + power, relayout=True)
        return -rate * correction * mean / (functions.sqrt(square) + self.epsilon)


class AdamW(Adam):
    """Adam with decoupled weight decay: each step first shrinks a variable by `rate * weight_decay`."""

    def __init__(
        self,
        learning_rate: float | Schedule = 0.001,
        weight_decay: float = 0.004,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-7,
        global_clipnorm: float | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, beta_1, beta_2, epsilon, weight_decay, global_clipnorm, name)


def global_norm(tensors: Sequence[Array | np.ndarray[Any, Any] | None]) -> Array:
    """
    The square root of the sum of the squares of all elements of some arrays (of complex ones, of their magnitudes);
    `None`s are left out.

    >>> import numpy, shardwright
    >>> float(shardwright.optimizers.global_norm([numpy.array([3.0]), numpy.array([[4.0]])]))
    5.0
    """
    given = setting("global_norm", "tensors", Sequence[Any])(tensors)
    squares = [_square(tensor) for tensor in given if tensor is not None]
    if not squares:
        raise value_error("SW0532", "there are no arrays whose norm could be taken", help="give at least one")
    norm, mesh = squares[0], _mesh_of(squares[0])
    for square in squares[1:]:
        norm = norm + (square if _mesh_of(square) == mesh else _on_mesh(square, mesh))
    return functions.sqrt(norm)


def _square(tensor: Any) -> Any:
    """The sum of the squares of an array's elements: of floats of 16 bits they would be too large."""
    dtype = dtype_of(tensor, "global_norm")
    check_kind(dtype, ("float", "complex"), "global_norm")
    return total(_power(_as(tensor, _working(dtype))))


def _power(value: Any) -> Any:
    """The squares of the elements, or of their magnitudes."""
    if kind_of(dtype_of(value)) == "complex":
        return real(value * conj(value))
    return functions.square(value)


def _mesh_of(value: Any) -> Mesh | None:
    """The mesh on which a value is, as far as that is known already."""
    if isinstance(value, Tracer):
        return value.trace.homes.get(value.value)
    return value.layout.mesh if getattr(value, "layout", None) is not None else None


def clip_by_global_norm(
    tensors: Sequence[Array | np.ndarray[Any, Any] | None], clip_norm: float
) -> tuple[list[Any], Array]:
    """
    The arrays scaled by one factor so that their common norm is at most `clip_norm`, and the norm before that.

    Raises `ValueError` (SW0532) for a `clip_norm` that is not positive; infinity lets everything pass.

    >>> import numpy, shardwright
    >>> clipped, norm = shardwright.optimizers.clip_by_global_norm([numpy.array([3.0]), numpy.array([4.0])], 1.0)
    >>> [round(float(part[0]), 3) for part in clipped], float(norm)
    ([0.6, 0.8], 5.0)
    """
    limit = clip_norm if isinstance(clip_norm, Array) else _norm(clip_norm, "clip_norm")
    norm = global_norm(tensors)
    scale = 1 / functions.maximum(norm / limit, 1)
    home = _mesh_of(scale)

    def scaled(tensor: Any) -> Any:
        own = _mesh_of(tensor)
        near, dtype = scale if own == home else _on_mesh(scale, own), dtype_of(tensor)
        wide = _working(dtype)
        return _as(_as(tensor, wide) * functions.astype(near, wide), dtype)

    return [None if tensor is None else scaled(tensor) for tensor in tensors], norm


def _number(value: Any, what: str) -> float:
    """A setting that may be a number of NumPy, or an array without dims."""
    plain = value.item() if isinstance(value, np.generic | np.ndarray) and not value.shape else value
    if not isinstance(plain, Real):
        learned = ", or a function of the step" if what == "learning_rate" else ""
        raise type_error("SW0532", f"{what} is a {type(value).__name__}", help=f"give a number{learned}")
    try:
        return float(plain)
    except OverflowError:
        raise value_error("SW0532", f"{what} is larger than all floats", help="give a smaller number") from None


def _norm(value: Any, what: str) -> float:
    norm = _number(value, what)
    if not norm > 0:
        raise value_error("SW0532", f"{what} is {norm}, which no norm is at most", help="give a positive number")
    return norm


def _scalar(value: float) -> Variable:
    return Variable(value, name="learning_rate", trainable=False)


def _working(dtype: DType) -> DType:
    """The type in which variables are moved, and that of their states: floats of 16 bits need more."""
    return DEFAULT_FLOAT if dtype.itemsize < DEFAULT_FLOAT.itemsize else dtype


def _as(value: Any, dtype: DType) -> Any:
    return value if dtype_of(value) == dtype else functions.astype(value, dtype)


def _pair(item: Any) -> tuple[Any, Variable]:
    gradient, variable = item if isinstance(item, tuple | list) and len(item) == 2 else (None, None)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    if not isinstance(variable, Variable):
        raise type_error(
            "SW0532",
            f"apply_gradients takes pairs of a gradient and a Variable, not {item!r}",
            help="zip them: optimizer.apply_gradients(zip(gradients, variables))",
        )
    if gradient is not None and dtype_of(gradient, "apply_gradients") and shape_of(gradient) != variable.shape:
        raise value_error(
            "SW0504",
            f"apply_gradients: a gradient of shape {list(shape_of(gradient))} does not fit {variable.name} of shape "
            f"{list(variable.shape)}",
            help="the gradient of a variable has its shape",
        )
    return gradient, variable
