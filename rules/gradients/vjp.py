"""
Gradients: for each differentiable op how the gradient of its results becomes that of its operands.

A rule (vector-Jacobian product) gets the op, the gradient of each result (None where nothing depends on it) and a
`Site` to put ops into; it gives the gradient of each operand, or None for one that needs none. `expand-gradients` is
the only caller. Integers and truth values have no gradients.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_of, is_complex, is_float, plain, shape_of, tensor, tensor_type

Gradient: TypeAlias = "SSAValue | None"
Rule: TypeAlias = "Callable[[Any, Sequence[Gradient], Site], Sequence[Gradient]]"

Condition: TypeAlias = "Callable[[Any, Callable[[SSAValue], bool]], bool]"

VJPS: dict[str, Rule] = {}
"""The rules, by op name."""

_CONDITIONS: dict[str, Condition] = {}
"""For rules that not all instances of an op have: whether this one does, given which values need a gradient."""

REFUSED = frozenset(
    """
stablehlo.all_gather stablehlo.all_reduce stablehlo.all_to_all stablehlo.collective_broadcast
stablehlo.collective_permute stablehlo.reduce_scatter dtensor.to_manual dtensor.from_manual
dtensor.all_gather dtensor.all_reduce dtensor.all_slice dtensor.all_to_all dtensor.collective_permute dtensor.exchange
dtensor.fetch dtensor.reduce_scatter dtensor.unvarying dtensor.window
stablehlo.custom_call stablehlo.bitcast_convert stablehlo.rng chlo.bessel_i1e
""".split()
)
"""
Ops with floats as results that have no rule, so that `expand-gradients` refuses them by name.

Programs of each device, and collectives, come after gradients; foreign code, bits and noise have none.
"""

_STEPS = """
constant iota compare floor ceil round_nearest_afz round_nearest_even sign is_finite not and or xor shift_left
shift_right_arithmetic shift_right_logical popcnt count_leading_zeros partition_id replica_id rng_bit_generator
""".split()

CONSTANT = frozenset(
    [f"stablehlo.{name}" for name in _STEPS]
    + [f"chlo.{name}" for name in ("is_inf", "is_neg_inf", "is_pos_inf", "next_after")]
    + ["dtensor.stop_gradient", "dtensor.axis_index"]
)
"""Ops whose results do not depend on their operands in any way that a gradient sees."""


def vjp(*names: str, when: Condition | None = None) -> Callable[[Rule], Rule]:
    """
    Registers the rule of these ops; `when` says for which instances there is one, if not for all.

    >>> @vjp("my.twice")
    ... def twice(op, gradients, site):
    ...     return [site.scale(gradients[0], 2)]
    >>> VJPS.pop("my.twice").__name__
    'twice'
    """

    def register(rule: Rule) -> Rule:
        VJPS.update(dict.fromkeys(names, rule))
        if when is not None:
            _CONDITIONS.update(dict.fromkeys(names, when))
        return rule

    return register


def has_rule(op: Operation, needed: Callable[[SSAValue], bool]) -> bool:
    """Whether the gradients of an op's operands that are needed can be told."""
    if op.name not in VJPS:
        return False
    condition = _CONDITIONS.get(op.name)
    return condition is None or condition(op, needed)


def has_gradient(value: SSAValue) -> bool:
    """Whether the elements of a value can be differentiated: real and complex floats."""
    element = element_of(value)
    return is_float(element) or is_complex(element)


@dataclass(frozen=True)
class Site:
    """Where the ops of gradients go, and which values need one."""

    insert: Callable[[Operation], Operation]
    needed: Callable[[SSAValue], bool]
    """Whether a value depends on the sources, so that its gradient is asked for."""
    contribute: Callable[[SSAValue, SSAValue], None]
    """Adds to the gradient of a value that the op uses without having it as an operand (from inside its regions)."""

    def put(self, op: Operation) -> SSAValue:
        """Puts an op in place; its first result."""
        return self.insert(op).results[0]

    def constant(self, number: complex, like: SSAValue) -> SSAValue:
        """A value of the shape and type of `like`, all elements equal."""
        return self.put(stablehlo.make_constant(number, element_of(like), shape_of(like)))

    def scalar(self, number: complex, like: SSAValue) -> SSAValue:
        """A scalar of the element type of `like`."""
        return self.put(stablehlo.make_constant(number, element_of(like), ()))

    def multiply(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left * right`."""
        return self.put(stablehlo.MultiplyOp(left, right))

    def divide(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left / right`."""
        return self.put(stablehlo.DivideOp(left, right))

    def add(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left + right`."""
        return self.put(stablehlo.AddOp(left, right))

    def subtract(self, left: SSAValue, right: SSAValue) -> SSAValue:
        """`left - right`."""
        return self.put(stablehlo.SubtractOp(left, right))

    def negate(self, value: SSAValue) -> SSAValue:
        """`-value`."""
        return self.put(stablehlo.NegateOp(value))

    def scale(self, value: SSAValue, number: complex) -> SSAValue:
        """`value * number`."""
        return self.multiply(value, self.constant(number, value))

    def select(self, condition: SSAValue, on_true: SSAValue, on_false: SSAValue) -> SSAValue:
        """Elements of one value or the other; the condition may be a scalar."""
        return self.put(stablehlo.SelectOp(condition, on_true, on_false))

    def compare(self, left: SSAValue, direction: str, right: SSAValue) -> SSAValue:
        """Whether a relation holds, for each element."""
        return self.put(stablehlo.CompareOp(left, right, direction))

    def convert(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """The value in the element type of `like`."""
        same = element_of(value) == element_of(like)
        return value if same else self.put(stablehlo.ConvertOp(value, element_of(like)))

    def reshape(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in another shape."""
        same = shape_of(value) == tuple(shape)
        return value if same else self.put(stablehlo.ReshapeOp(value, tensor(tuple(shape), element_of(value))))

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Dim `i` of the result is dim `order[i]`."""
        same = tuple(order) == tuple(range(len(order)))
        return value if same else self.put(stablehlo.TransposeOp(value, tuple(order)))

    def broadcast(self, value: SSAValue, shape: Sequence[int], dims: Sequence[int]) -> SSAValue:
        """Dim `i` of the value becomes dim `dims[i]` of the shape."""
        target = tensor(tuple(shape), element_of(value))
        return self.put(stablehlo.BroadcastInDimOp(value, tuple(dims), target))

    def sum(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The sum over some dims, which disappear."""
        if not dims:
            return value
        zero = self.scalar(0, value)
        return self.put(stablehlo.ReduceOp([value], [zero], tuple(dims), stablehlo.AddOp))

    def power(self, value: SSAValue, exponent: SSAValue) -> SSAValue:
        """`value ** exponent`."""
        return self.put(stablehlo.PowerOp(value, exponent))

    def size(self, value: SSAValue, dims: Sequence[int]) -> int:
        """The number of elements along some dims."""
        shape = shape_of(value)
        return math.prod(shape[dim] for dim in dims)

    def zeros(self, like: SSAValue) -> SSAValue:
        """The gradient of a value on which nothing depends."""
        return self.put(stablehlo.make_constant(0, element_of(plain(tensor_type(like))), shape_of(like)))
