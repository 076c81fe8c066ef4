"""`close-regions`: what the function of a reduction, a sort or a scatter reads from outside becomes part of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.building import Builder, blocks_in, captured_by, ops_in
from shardwright.dialects.sdy import DimSharding, Sharding, ShardingPerValueAttr
from shardwright.dialects.sdy.ops import ConstantOp
from shardwright.dialects.text.locations import label, where
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.passes.rewriter import erase, insert_before, locate
from shardwright.passes.stages import FUNCTIONS_OF_SCALARS

_COPIED = frozenset({*stablehlo.ELEMENTWISE_OPS, *chlo.ELEMENTWISE, stablehlo.ConstantOp, ConstantOp})
"""What may be done once more inside of a function."""


@dataclass(frozen=True)
class CloseRegionsPass(ModulePass):
    """
    Functions of scalars get copies of the constants that they read from outside, and of what is made of these.

    Any other scalar goes in as one more operand that is the same everywhere. What cannot is refused (SW0433).

    Before:
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %1 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %2 = stablehlo.maximum %a, %0 : tensor<f32>
            %3 = stablehlo.compare LT, %2, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %3 : tensor<i1>
          }) : (tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }
    After:
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
          %1 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
          ^bb0(%a: tensor<f32>, %b: tensor<f32>):
            %2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
            %3 = stablehlo.maximum %a, %2 : tensor<f32>
            %4 = stablehlo.compare LT, %3, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
            stablehlo.return %4 : tensor<i1>
          }) : (tensor<4xf32>) -> tensor<4xf32>
          return %1 : tensor<4xf32>
        }
    """

    name = "close-regions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        constant: set[SSAValue] = set()
        refused: list[Diagnostic] = []
        for inner in ops_in(op):
            if type(inner) in _COPIED and constant.issuperset(inner.operands) and not shape_of(inner.results[0]):
                constant.update(inner.results)
            if isinstance(inner, FUNCTIONS_OF_SCALARS):
                refused += _close(inner, constant)
        if refused:
            raise ShardwrightError(refused)


def _close(op: Operation, constant: set[SSAValue]) -> Sequence[Diagnostic]:
    """Lets an op's regions read nothing from outside; what is to be said where they go on to."""
    outside = captured_by(blocks_in(op))
    passed = [value for value in outside if value not in constant]
    if refused := [_refusal(op, value) for value in passed if type(op) not in _TAKING or shape_of(value)]:
        return refused
    closed = _TAKING[type(op)](op, passed) if passed else op
    for block in blocks_in(closed):
        _copy_into(block, [value for value in captured_by([block]) if value in constant])
    return ()


def _refusal(op: Operation, value: SSAValue) -> Diagnostic:
    name = f"%{value.name_hint}" if value.name_hint else "a value"
    what = "is computed in the program" if not shape_of(value) else "has an element of its own for each place"
    return Diagnostic(
        "SW0433",
        f"the function of '{op.name}' reads {name} of type {value.type} from outside, which {what}",
        where(op),
        labels=label(value, "it is defined here"),
        help="let it read its own arguments, constants, and what is made of them; apply all else before or after it",
    )


def _copy_into(block: Block, values: Sequence[SSAValue]) -> None:
    """Makes constants anew at the start of a function, for all that is inside of it."""
    first = block.first_op
    assert first is not None
    copies: dict[SSAValue, SSAValue] = {}
    for op in _makers(values):
        copy = op.clone(copies)
        copy.attributes.pop(SHARDING, None)
        copy.location = op.location
        block.insert_op_before(copy, first)
    _read_instead(block, copies)


def _read_instead(block: Block, instead: Mapping[SSAValue, SSAValue]) -> None:
    for op in block.walk():
        for place, value in enumerate(op.operands):
            if value in instead:
                op.operands[place] = instead[value]


def _makers(values: Iterable[SSAValue]) -> list[Operation]:
    """The ops that make values, each after those whose results it takes."""
    found: dict[Operation, None] = {}
    waiting = [_owner(value) for value in values]
    while waiting:
        missing = [owner for value in waiting[-1].operands if (owner := _owner(value)) not in found]
        if missing:
            waiting += missing
        else:
            found[waiting.pop()] = None
    return list(found)


def _owner(value: SSAValue) -> Operation:
    owner = value.owner
    assert isinstance(owner, Operation)
    return owner


def _everywhere(op: Operation, values: Sequence[SSAValue], like: SSAValue) -> list[SSAValue]:
    build = Builder(partial(insert_before, op))
    return [build.broadcast(value, shape_of(like), ()) for value in values]


def _sorting(op: stablehlo.SortOp, values: Sequence[SSAValue]) -> Operation:
    """What is the same everywhere is in order however it is sorted."""
    block = op.comparator.block
    taken = [_argument(block, value, len(block.args)) for value in values for _ in "xy"]
    _read_instead(block, dict(zip(values, taken[::2], strict=True)))
    more = _everywhere(op, values, op.inputs[0])
    return _with_more(op, [*op.inputs, *more], [value.type for value in more])


def _reducing(op: stablehlo.ReduceOp | stablehlo.ReduceWindowOp, values: Sequence[SSAValue]) -> Operation:
    """Elements and initial value are the scalar, and so is what becomes of them."""
    _carry(op.body.block, values)
    more = _everywhere(op, values, op.inputs[0])
    shape = shape_of(op.results[0])
    operands = [*op.inputs, *more, *op.init_values, *values]
    return _with_more(op, operands, [tensor(shape, element_of(value)) for value in values])


def _scattering(op: stablehlo.ScatterOp, values: Sequence[SSAValue]) -> Operation:
    """Old elements and new ones are the scalar."""
    _carry(op.update_computation.block, values)
    old, new = (_everywhere(op, values, like) for like in (op.inputs[0], op.updates[0]))
    operands = [*op.inputs, *old, op.scatter_indices, *op.updates, *new]
    return _with_more(op, operands, [value.type for value in old])


def _mapping(op: stablehlo.MapOp, values: Sequence[SSAValue]) -> Operation:
    block = op.computation.block
    taken = [_argument(block, value, len(block.args)) for value in values]
    _read_instead(block, dict(zip(values, taken, strict=True)))
    return _with_more(op, [*op.inputs, *_everywhere(op, values, op.inputs[0])], [])


def _carry(block: Block, values: Sequence[SSAValue]) -> None:
    """A function of accumulated values and of elements carries scalars along, as they are."""
    count = len(block.args) // 2
    for value in values:
        _argument(block, value, len(block.args))
    kept = [_argument(block, value, count + place) for place, value in enumerate(values)]
    _read_instead(block, dict(zip(values, kept, strict=True)))
    last = block.last_op
    assert last is not None
    last.operands = [*last.operands, *kept]


def _argument(block: Block, value: SSAValue, place: int) -> BlockArgument:
    argument = block.insert_arg(tensor((), element_of(value)), place)
    argument.location = block.args[0].location
    return argument


def _with_more(op: Operation, operands: Sequence[SSAValue], more: Sequence[Attribute]) -> Operation:
    """The op, in its place, with these operands and results of more types."""
    types = [*op.result_types, *more]
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(0) for _ in range(len(op.regions))],
    )
    _shard_more(new, len(more))
    insert_before(op, locate(new, op))
    for old, result in zip(op.results, new.results, strict=False):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    erase(op)
    return new


def _shard_more(op: Operation, count: int) -> None:
    """What the op says of the shardings of its results leaves those of more results open."""
    said = op.attributes.get(SHARDING)
    if isinstance(said, ShardingPerValueAttr) and said.data:
        dims = (DimSharding(is_open=True),) * len(shape_of(op.results[-1]))
        more = Sharding(said.data[0].mesh, dims)
        op.attributes[SHARDING] = ShardingPerValueAttr((*said.data, *(more,) * count))


_TAKING: Mapping[type[Operation], Callable[..., Operation]] = {
    stablehlo.SortOp: _sorting,
    stablehlo.ReduceOp: _reducing,
    stablehlo.ReduceWindowOp: _reducing,
    stablehlo.ScatterOp: _scattering,
    stablehlo.MapOp: _mapping,
}
"""Gives an op one more operand for each of some scalars, and its function an argument for it."""
