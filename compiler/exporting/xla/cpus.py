"""What XLA's CPU backend does slowly, or fails to do, in words that it does well with."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.compiler.exporting.writer import COMBINERS, Writer
from shardwright.dialects import stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor.kinds import highest
from shardwright.dialects.stablehlo.algebra.bodies import Extreme, extreme_kind
from shardwright.dialects.stablehlo.calls.custom_calls import in_rows
from shardwright.dialects.stablehlo.collectives import AllToAllOp
from shardwright.dialects.types import element_dtype, element_of, is_float, shape_of, tensor
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import replace


def word_for_cpus(module: ModuleOp, mesh: Mesh) -> None:
    """Rewrites the ops of a program for one device that XLA has to be told in other words on CPUs, in place."""
    _pick_in_two_steps(module, mesh)
    _hold_transforms(module, mesh)
    _hold_what_is_dealt_out(module, mesh)


def _hold_what_is_dealt_out(module: ModuleOp, mesh: Mesh) -> None:
    """
    Puts a barrier behind what is joined of several values, or padded, if an `all_to_all` takes it into parts again.

    XLA sends the parts one by one on CPUs, makes of each the value that it was, or a constant, and refuses a message
    of values that lie in memory in different ways: what a gather gives may lie in another than by rows.
    """
    writer = Writer(mesh)
    for op in ops_in(module):
        if isinstance(op, AllToAllOp) and any(_is_joined(value, op.dims[0]) for value in op.operands):
            writer.anchor = op
            op.operands = [writer.put(stablehlo.OptimizationBarrierOp([value])) for value in op.operands]


def _is_joined(value: SSAValue, dim: int | None) -> bool:
    """Whether parts of a value along a dim, or along any where none is given, may be those that it was made of."""
    op = value.owner
    if isinstance(op, stablehlo.ReshapeOp | stablehlo.TransposeOp):
        return _is_joined(op.operands[0], None)
    if isinstance(op, stablehlo.ConcatenateOp):
        return dim is None or op.dim == dim
    return isinstance(op, stablehlo.PadOp | stablehlo.DynamicUpdateSliceOp)


def _hold_transforms(module: ModuleOp, mesh: Mesh) -> None:
    """
    Says of what each Fourier transform gives that it lies in memory by rows.

    Collectives want other dims outermost, and XLA hands that on to what they take. Its transforms on CPUs can only go
    through rows, and fail as the program runs.
    """
    writer = Writer(mesh)
    for op in ops_in(module):
        if isinstance(op, stablehlo.FftOp):
            following = op.next_op
            assert following is not None
            writer.anchor = following
            found = op.results[0]
            held = writer.put(in_rows(found))
            found.replace_uses_with_if(held, lambda use, held=held: use.operation is not held.owner)


def _pick_in_two_steps(module: ModuleOp, mesh: Mesh) -> None:
    """
    Turns each reduction of values and places into one of the values, and one of the places that have what it found.

    XLA's CPU backend goes through a reduction with several results element by element; one that has one result it
    computes with vectors, which takes a fifth of the time. Of several NaN the one at the lowest place is meant here,
    and zeros of either sign are equal: which of them a reduction keeps is open.
    """
    writer = Writer(mesh)
    for op in ops_in(module):
        if op.name != stablehlo.ReduceOp.name or not isinstance(op, stablehlo.ReduceOp):
            continue
        if len(op.inputs) == 2 and _starts_with_a_number(op):
            kind = extreme_kind(op.body.block)
            if kind is not None:
                writer.anchor = op
                replace(op, _two_steps(writer, op, kind))


def _starts_with_a_number(op: stablehlo.ReduceOp) -> bool:
    """Whether the value from which it starts is a constant, and no NaN."""
    start = op.init_values[0].owner
    return isinstance(start, stablehlo.ConstantOp) and bool((value := stablehlo.constant_value(start)) == value)


def _two_steps(writer: Writer, op: stablehlo.ReduceOp, kind: Extreme) -> list[SSAValue]:
    values, places = op.inputs
    start, first = op.init_values
    extreme = writer.put(stablehlo.ReduceOp([values], [start], op.dims, COMBINERS[kind]))
    kept = [dim for dim in range(len(shape_of(values))) if dim not in op.dims]
    hit = _equal(writer, values, _filling(writer, extreme, values, kept))
    if is_float(element_of(values)):  # any NaN is what was found then
        unequal = writer.put(stablehlo.CompareOp(values, values, "NE"))
        hit = writer.put(stablehlo.OrOp(hit, unequal))
    nowhere = highest(element_dtype(element_of(places)))
    whole = writer.splat(nowhere, places, shape_of(places))
    among = writer.put(stablehlo.SelectOp(hit, places, whole))
    end = writer.splat(nowhere, places, ())
    lowest = writer.put(stablehlo.ReduceOp([among], [end], op.dims, stablehlo.MinimumOp))
    started = _equal(writer, extreme, _filling(writer, start, extreme, ()))
    either = writer.put(stablehlo.MinimumOp(lowest, _filling(writer, first, lowest, ())))
    return [extreme, writer.put(stablehlo.SelectOp(started, either, lowest))]


def _equal(writer: Writer, one: SSAValue, other: SSAValue) -> SSAValue:
    return writer.put(stablehlo.CompareOp(one, other, "EQ"))


def _filling(writer: Writer, value: SSAValue, like: SSAValue, dims: Sequence[int]) -> SSAValue:
    """The value as large as another one, its own dims at these places."""
    if shape_of(value) == shape_of(like):
        return value
    wanted = tensor(shape_of(like), element_of(value))
    return writer.put(stablehlo.BroadcastInDimOp(value, tuple(dims), wanted))
