"""
Gradients: for each differentiable op how the gradient of its results becomes that of its operands.

A rule (vector-Jacobian product) gets the op, the gradient of each result (None where nothing depends on it) and a
`Site` to put ops into; it gives the gradient of each operand, or None for one that needs none. `expand-gradients` is
the only caller. Integers and truth values have no gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.ir import Operation, SSAValue

from shardwright.dialects.building import Builder
from shardwright.dialects.types import element_of, is_complex, is_float

Gradient: TypeAlias = "SSAValue | None"
Rule: TypeAlias = "Callable[[Any, Sequence[Gradient], Site], Sequence[Gradient]]"
RuleOfOne: TypeAlias = "Callable[[Any, SSAValue, Site], Sequence[Gradient]]"

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
dtensor.fetch dtensor.reduce_scatter dtensor.unreduce dtensor.unscatter dtensor.unvarying dtensor.window
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
"""Ops whose results do not depend on their operands in any way that a gradient sees: not on real ones, `sign`."""


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


def is_constant(op: Operation) -> bool:
    """Whether no gradient goes through an op, as through none that makes steps; complex numbers have directions."""
    return op.name in CONSTANT and not (op.name in VJPS and is_complex(element_of(op.results[0])))


def has_gradient(value: SSAValue) -> bool:
    """Whether the elements of a value can be differentiated: real and complex floats."""
    element = element_of(value)
    return is_float(element) or is_complex(element)


@dataclass(frozen=True)
class Site(Builder):
    """Builds the ops of gradients, and knows which values need one."""

    needed: Callable[[SSAValue], bool]
    """Whether a value depends on the sources, so that its gradient is asked for."""
    contribute: Callable[[SSAValue, SSAValue], None]
    """Adds to the gradient of a value that the op uses without having it as an operand (from inside its regions)."""


def vjp_of_one(*names: str, when: Condition | None = None) -> Callable[[RuleOfOne], RuleOfOne]:
    """Registers the rule of ops with one result: where the rule is asked at all, that result has a gradient."""

    def register(rule: RuleOfOne) -> RuleOfOne:
        def for_all(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
            (gradient,) = gradients
            assert gradient is not None
            return rule(op, gradient, site)

        vjp(*names, when=when)(for_all)
        return rule

    return register
