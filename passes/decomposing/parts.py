"""What the decompositions of ops share: where one happens, and how to put ops there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.types import element_of, plain, shape_of, tensor, tensor_type
from shardwright.passes.rewriter import insert_before


@dataclass(frozen=True)
class Site:
    """The op that is taken apart, and the functions of its module."""

    op: Operation
    functions: Mapping[str, FuncOp]

    def put(self, op: Operation) -> SSAValue:
        """Puts an op with one result in front of the one that is taken apart; its result."""
        return insert_before(self.op, op).results[0]

    def constant(self, value: Any, type_: Attribute) -> SSAValue:
        """A constant whose elements all equal `value`."""
        like = plain(type_)
        return self.put(stablehlo.make_constant(value, like.element_type, shape_of(like)))

    def spread(self, value: SSAValue, dims: Sequence[int], like: SSAValue) -> SSAValue:
        """The value with its dims at places `dims` of the shape of `like`."""
        result = tensor(shape_of(like), element_of(value))
        return self.put(stablehlo.BroadcastInDimOp(value, dims, result))

    def total(self, value: SSAValue, dims: Sequence[int]) -> SSAValue:
        """The sum over some dims."""
        zero = self.constant(0, tensor((), tensor_type(value).element_type))
        return self.put(stablehlo.ReduceOp([value], [zero], dims, stablehlo.AddOp))


Decomposition: TypeAlias = Callable[[Operation, Site], Sequence[SSAValue]]
"""Puts the ops that make up an op in front of it; the values that take the place of its results."""
