"""`pad-uneven`: dims that layouts split unevenly become ones that divide, with padding at their ends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.building import Builder, returned
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.types import shape_of, tensor_type
from shardwright.passes.canonical.canonicalize import CanonicalizePass
from shardwright.passes.canonical.cse import CsePass
from shardwright.passes.canonical.dce import DcePass
from shardwright.passes.padding.forms import pad_op
from shardwright.passes.padding.site import FILLING, Padding, Shape, resized_type, site_of
from shardwright.passes.padding.sizes import more_than_a_few, padded_shapes
from shardwright.passes.program import Program
from shardwright.passes.propagation.alignment import counted
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.propagate_layouts import PropagateLayoutsPass
from shardwright.passes.propagation.strategy import LEAST_SAVING, Strategist
from shardwright.passes.propagation.structure.ordering import structural_marks, structural_order
from shardwright.passes.rewriter import insert_before, retype
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, REGIONS_OF_TENSORS, uneven_values, values_in
from shardwright.rules.rule import Rule


@dataclass(frozen=True)
class PadUnevenPass(ModulePass):
    """
    Makes the dims of a program divide by the parts into which its user split them, and all that is bound to them.

    What is bound to them but divides only with padding, as a slice of all rows but one, is padded where less is sent
    then. So is a kernel of a gradient, which then is at one place after the other.

    Padding holds anything. Where an op would see it, it is masked, cut off or passed over. Arguments and results keep
    their global type in `dtensor.global_type`: who calls the program knows nothing of it. A program in which everything
    divides stays as it is.

    Before:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<3xf32, #x>) -> tensor<f32> {
          %0 = stablehlo.exponential %a : (tensor<3xf32, #x>) -> tensor<3xf32>
          %1 = stablehlo.constant dense<0.0> : tensor<f32>
          %2 = stablehlo.reduce(%0 init: %1) applies stablehlo.add across dimensions = [0]
              : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
          func.return %2 : tensor<f32>
        }
    After:
        #x = #dtensor.layout<@mesh, [{"x"}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #x> {dtensor.global_type = tensor<3xf32>}) -> tensor<f32> {
          %0 = stablehlo.exponential %a : (tensor<4xf32, #x>) -> tensor<4xf32>
          %1 = stablehlo.constant dense<0.0> : tensor<f32>
          %2 = stablehlo.iota dim = 0 : tensor<4xi32>
          %3 = stablehlo.constant dense<3> : tensor<4xi32>
          %4 = stablehlo.compare LT, %2, %3, SIGNED : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
          %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xi1>) -> tensor<4xi1>
          %6 = stablehlo.constant dense<0.0> : tensor<4xf32>
          %7 = stablehlo.select %5, %0, %6 : tensor<4xi1>, tensor<4xf32>
          %8 = stablehlo.reduce(%7 init: %1) applies stablehlo.add across dimensions = [0]
              : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
          func.return %8 : tensor<f32>
        }
    """

    name = "pad-uneven"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Runs the pass on a module."""
        others = list(other_programs(op))
        if next(uneven_values(op), None) is not None:
            pad_uneven(op)
            CsePass().apply(ctx, op)  # two ops may have moved one value alike
        least = _sent(op) if others else 0.0
        for other in others:
            for tidying in (CanonicalizePass, CsePass, DcePass):
                tidying().apply(ctx, other)
            if least > LEAST_SAVING and (sent := _sent(other)) < least - LEAST_SAVING:
                least = sent
                op.regions[0].detach_block(op.body.block)
                op.regions[0].add_block(other.regions[0].detach_block(other.body.block))


MOST_NODES = 256
"""The ops up to which layouts are looked for in several programs, padded in one way or another."""

MOST_PLACES = 32
"""The places of a kernel with padding in space up to which one program has a convolution for each."""


def other_programs(module: ModuleOp) -> Iterator[ModuleOp]:
    """The program padded also in dims that nobody split, or with kernels at one place after the other, or both."""
    if all_divide(module):
        return
    program = build_program(module)
    if len(program.nodes) > MOST_NODES:
        return
    shapes = program.shapes
    for made in (False, True):
        before, shapes = shapes, padded_shapes(program, made=made)
        for places in (0, MOST_PLACES) if shapes != before else ():
            other = module.clone()
            placed = pad_uneven(other, made=made, places=places).placed
            if placed or (made and not places):
                yield other


def all_divide(module: ModuleOp) -> bool:
    """Whether every dim divides whatever axes of the mesh split it, by the types alone; without a mesh as well."""
    types = {value.type for value in values_in(module)}
    extents = {extent for each in types if isinstance(each, TensorType) for extent in each.get_shape()}
    counts = {
        math.prod(chosen)
        for mesh in dtensor.meshes(module).values()
        for number in range(1, len(mesh.sizes) + 1)
        for chosen in itertools.combinations(mesh.sizes.values(), number)
    }
    return not any(size % count and more_than_a_few(size, count) for size in extents for count in counts)


def _sent(module: ModuleOp) -> float:
    """What each device will send, as its layouts will be chosen."""
    program = build_program(module)
    state = PropagateLayoutsPass().state(program)
    strategist = Strategist(program, program.message_bytes)
    order = structural_order(program, structural_marks(program))
    return counted(program, strategist, state.dims, order).sent


def pad_uneven(module: ModuleOp, *, made: bool = False, places: int = 0) -> Padding:
    """
    Pads the program of a module in which a layout splits a dim unevenly, in place.

    With what is `made`, dims are padded that nobody split but that do not divide as those do to which they are bound.
    Who calls the program sees nothing of that: arguments and results that would come in no uneven parts otherwise
    come whole, as large as they are. Kernels with padding in space at so many `places` get a convolution for each.
    """
    program = build_program(module)
    borders = _Borders.of(program) if made else _Borders((), ())
    padding = _pad_types(program, Padding(places=places), made=made)
    for inner, rule in _ops(program):
        if any(value in padding.valid for value in (*inner.operands, *inner.results)):
            pad_op(inner, site_of(inner, rule, padding))
    borders.keep(program, padding)
    block = program.function.body.block
    _record(program.function, "arg_attrs", block.args, padding)
    _record(program.function, "res_attrs", returned(block), padding)
    program.function.update_function_type()
    return padding


@dataclass(frozen=True)
class _Borders:
    """The places of the arguments and of the results of a program that come as large as they are."""

    arguments: Sequence[int]
    results: Sequence[int]

    @staticmethod
    def of(program: Program) -> _Borders:
        """Those that have no padding where nobody but the user's own splits asks for any."""
        block, padded = program.function.body.block, padded_shapes(program)

        def whole(values: Sequence[SSAValue]) -> list[int]:
            numbers = [program.numbers[value] for value in values]
            return [place for place, number in enumerate(numbers) if padded[number] == program.shapes[number]]

        return _Borders(whole(block.args), whole(returned(block)))

    def keep(self, program: Program, padding: Padding) -> None:
        """Pads behind the arguments and cuts in front of the results, which have no padding then."""
        block = program.function.body.block
        first, last = block.first_op, block.last_op
        assert first is not None
        assert last is not None
        given: dict[SSAValue, SSAValue] = {}
        for argument in [block.args[place] for place in self.arguments if block.args[place] in padding.valid]:
            wanted, valid = tensor_type(argument), padding.valid.pop(argument)
            retype(argument, resized_type(wanted, valid))
            made = _resized(first, argument, wanted.get_shape())
            argument.replace_uses_with_if(made, lambda use, pad=made.owner: use.operation is not pad)
            padding.valid[made], given[made] = valid, argument
        for place in self.results:
            result = last.operands[place]
            if result in padding.valid:
                whole, spec = given.get(result), dtensor.layout_of(result)
                cut = _resized(last, result, padding.valid[result]) if whole is None else whole
                if spec is not None and whole is None:
                    cut = insert_before(last, dtensor.ConstraintOp(cut, spec, f"result {place}")).results[0]
                last.operands[place] = cut


def _resized(place: Operation, value: SSAValue, shape: Shape) -> SSAValue:
    """In front of an op the value, padded or cut at its ends."""
    build = Builder(lambda new: insert_before(place, new))
    high = [new - old for new, old in zip(shape, shape_of(value), strict=True)]
    return build.pad(value, build.scalar(FILLING, value), [0] * len(high), high)


def _pad_types(program: Program, padding: Padding, *, made: bool) -> Padding:
    """Gives all values their padded types."""
    for aliases, old, new in zip(program.aliases, program.shapes, padded_shapes(program, made=made), strict=True):
        if old != new:
            for value in aliases:
                padding.valid[value] = old
                retype(value, resized_type(value.type, new))
    return padding


def _ops(program: Program) -> Iterator[tuple[Operation, Rule]]:
    """The ops that do something with their operands, in order, each with its rule."""
    seen: set[Operation] = set()
    for node in program.nodes:
        op = node.op
        if (
            op not in seen
            and not node.rule.pairwise
            and op.name not in REGIONS_OF_TENSORS
            and not isinstance(op, GroupOp)
        ):
            seen.add(op)
            yield op, node.rule


def _record(function: FuncOp, side: str, values: Sequence[SSAValue], padding: Padding) -> None:
    """Lets an entry function say the global types of arguments or results that have padding."""
    if not any(value in padding.valid for value in values):
        return
    known = function.properties.get(side)
    entries = [dict(entry.data) for entry in known.data] if isinstance(known, ArrayAttr) else [{} for _ in values]
    for entry, value in zip(entries, values, strict=True):
        if value in padding.valid:
            entry[GLOBAL_TYPE_ARGUMENT] = type(tensor_type(value))(
                tensor_type(value).element_type, padding.valid[value]
            )
    function.properties[side] = ArrayAttr([DictionaryAttr(entry) for entry in entries])
