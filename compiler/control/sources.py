"""By what is differentiated: values anew, and numbers with as many digits as what they meet has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import WIDE, DType, brief, kind_of, scalar_kind
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import type_error
from shardwright.dialects.dtensor.gradients import PrimalOp
from shardwright.dialects.stablehlo import ConvertOp
from shardwright.dialects.types import dtype_element, element_dtype, element_of, tensor
from shardwright.passes.rewriter import retype


@dataclass(frozen=True)
class Source:
    """
    A value by which something is differentiated.

    Of a number `given`, which a function gets, has the default type and knows `primal`, which has all digits; `plain`
    and `wide` are the two as they came.
    """

    given: Tracer
    primal: Tracer
    plain: Tracer | None = None
    wide: Tracer | None = None

    @property
    def is_number(self) -> bool:
        """Whether it takes the type of what it meets."""
        return self.plain is not None

    def settled(self) -> Tracer:
        """
        The value to ask for the gradient by, once all is written that depends on it.

        A number of which nobody took more digits than the default type has is of that type from the start.
        """
        value = self.primal.value
        if self.plain is None or any(_takes_all(use.operation) for use in value.uses):
            return self.primal
        assert isinstance(value.owner, PrimalOp)
        value.owner.operands[0] = self.plain.value
        self.given.exact = self.wide
        return Tracer(emit.trace_now(), retype(value, tensor((), dtype_element(self.plain.dtype))))


def _takes_all(reader: Operation) -> bool:
    """Whether an op takes a number in the type that has all its digits."""
    if not isinstance(reader, ConvertOp):
        return True
    dtype = element_dtype(element_of(reader.results[0]))
    floats = {"float": 1, "complex": 2}.get(kind_of(dtype))
    return floats is not None and dtype.itemsize // floats == WIDE["float"].itemsize


def is_differentiable(dtype: DType) -> bool:
    """Whether values of this type have gradients: real and complex floats."""
    return kind_of(dtype) in ("float", "complex")


def source_of(leaf: Any, place: int) -> Source:
    """An argument as a source; TypeError (SW0520) for one that is no float."""
    value = emit.as_tracer(leaf, "a gradient")
    if not is_differentiable(value.dtype):
        raise type_error(
            "SW0520",
            f"argument {place} is {brief(value.dtype)}{list(value.shape)}, which has no gradient",
            help="differentiate with respect to floating-point arguments, which argnums names",
        )
    kind = scalar_kind(leaf)
    wide = value.exact if kind is None else emit.constant(leaf, WIDE[kind])
    if wide is None:
        primal = _primal(value)
        primal.scalar_kind = value.scalar_kind
        return Source(primal, primal)
    primal = _primal(wide)
    given = emit.convert(primal, value.dtype)
    given.scalar_kind, given.exact = value.scalar_kind, primal
    return Source(given, primal, value, wide)


def _primal(value: Tracer) -> Tracer:
    """The value anew: what was computed of it before, and what closures have of it, does not depend on this one."""
    trace = emit.trace_now()
    found = trace.emit(PrimalOp(value.value))
    found.value.name_hint = value.value.name_hint
    trace.settle_like([found.value], [value.value])
    return found
