"""The upper halves of products, in words of which XLA loses none on the way to its partitioner."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, ModuleOp, Signedness
from xdsl.ir import SSAValue

from shardwright.compiler.exporting.writer import Writer
from shardwright.dialects import stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.chlo.functions import MulhiOp
from shardwright.dialects.types import bit_width, element_of, shape_of
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import replace

_WIDEST = 64
_HALF = 32


def spell_out_products(module: ModuleOp, mesh: Mesh) -> None:
    """
    Turns each `chlo.mulhi` into multiplications and shifts, in place.

    XLA of jaxlib 0.10 reads it, but compiles no program for several devices that has it: it writes such a program as
    StableHLO once more to partition it, and has no word for it then.
    """
    writer = Writer(mesh)
    for op in ops_in(module):
        if isinstance(op, MulhiOp):
            writer.anchor = op
            replace(op, [_high_product(writer, *op.operands)])


def _high_product(writer: Writer, x: SSAValue, y: SSAValue) -> SSAValue:
    element = element_of(x)
    assert isinstance(element, IntegerType)
    bits, is_unsigned = bit_width(element), element.signedness.data == Signedness.UNSIGNED
    if bits < _WIDEST:
        double = IntegerType(2 * bits, element.signedness)
        wide = [writer.put(stablehlo.ConvertOp(value, double)) for value in (x, y)]
        product = writer.put(stablehlo.MultiplyOp(*wide))
        return writer.put(stablehlo.ConvertOp(_shifted(writer, product, bits), element))
    unsigned = IntegerType(bits, Signedness.UNSIGNED)
    a, b = writer.bits(x, unsigned), writer.bits(y, unsigned)
    high = _high_of_unsigned(writer, a, b)
    for value, other in () if is_unsigned else ((x, b), (y, a)):
        zero, none = writer.splat(0, value, shape_of(value)), writer.splat(0, other, shape_of(other))
        negative = writer.put(stablehlo.CompareOp(value, zero, "LT"))
        high = writer.put(stablehlo.SubtractOp(high, writer.put(stablehlo.SelectOp(negative, other, none))))
    return writer.bits(high, element)


def _shifted(writer: Writer, value: SSAValue, bits: int) -> SSAValue:
    return writer.put(stablehlo.ShiftRightLogicalOp(value, writer.splat(bits, value, shape_of(value))))


def _high_of_unsigned(writer: Writer, a: SSAValue, b: SSAValue) -> SSAValue:
    """The upper 64 bits of products of 64-bit integers, by halves."""
    mask = writer.splat(2**_HALF - 1, a, shape_of(a))

    def low(value: SSAValue) -> SSAValue:
        return writer.put(stablehlo.AndOp(value, mask))

    def high(value: SSAValue) -> SSAValue:
        return _shifted(writer, value, _HALF)

    def times(one: SSAValue, other: SSAValue) -> SSAValue:
        return writer.put(stablehlo.MultiplyOp(one, other))

    def plus(one: SSAValue, other: SSAValue) -> SSAValue:
        return writer.put(stablehlo.AddOp(one, other))

    crossed = plus(times(high(a), low(b)), high(times(low(a), low(b))))
    other = plus(times(low(a), high(b)), low(crossed))
    return plus(plus(times(high(a), high(b)), high(crossed)), high(other))
