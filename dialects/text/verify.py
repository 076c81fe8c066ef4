"""Verification: each op's own rules, and that every value is defined before its uses."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator
from xdsl.utils.exceptions import VerifyException

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.text.locations import fault, where
from shardwright.dialects.text.xdsl_patches import verify_op


def verify_module(module: ModuleOp) -> None:
    """
    Verifies every op and the order of definitions and uses.

    Raises `ShardwrightError` with one diagnostic (SW0302 to SW0304) for each op at fault: its name and its place,
    without printing the module.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> verify_module(parse_module("func.func @main(%x: tensor<4xf32>) { return }"))
    """
    faults = [*_symbol_faults(module)] or [*_op_faults(module), *_dominance_faults(module)]
    if faults:
        raise ShardwrightError(faults)


def verify_dominance(module: ModuleOp) -> None:
    """
    Checks that every operand is a value of this module, defined before its use and visible there.

    Raises `ShardwrightError` with one diagnostic (SW0303) for each op at fault.
    """
    faults = list(_dominance_faults(module))
    if faults:
        raise ShardwrightError(faults)


def _symbol_faults(module: ModuleOp) -> Iterator[Diagnostic]:
    """Each op at the top of the module that takes a name which another has."""
    first: dict[str, Operation] = {}
    for op in module.body.block.ops:
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr) and first.setdefault(name.data, op) is not op:
            message = f"'{op.name}' op defines @{name.data} again"
            notes = (f"it is defined at {where(first[name.data])}",)
            yield Diagnostic("SW0304", message, where(op), notes, help="give each function and mesh its own name")


def instance(op: Operation) -> tuple[object, ...] | None:
    """
    What a verifier sees of an op, as a key while the op lives; None for one that is more than its types and properties.

    Programs repeat themselves: half of the ops of a training step, and more of deeper ones, are alike.
    """
    if op.regions or op.has_trait(IsTerminator):
        return None
    types = (id(value.type) for value in (*op.operands, *op.results))
    return (op.__class__, len(op.operands), *types, *map(id, op.properties.values()), *op.properties)


def _op_faults(module: ModuleOp) -> Iterator[Diagnostic]:
    found = False
    right: set[object] = set()
    for op in module.walk():
        key = instance(op)
        if key in right:
            continue
        try:
            verify_op(op)
            if key is not None:
                right.add(key)
        except VerifyException as error:
            found = True
            yield from fault("SW0302", f"'{op.name}' op {verify_message(error)}", op, help=_op_help(error)).diagnostics
        except (AssertionError, AttributeError, LookupError):
            # A verifier may stumble over another op's fault, which is already reported.
            if not found:
                raise


_OP_HELPS = (
    ("has an axis of size below 1", "give each axis a size of at least 1"),
    ("names an axis twice", "give each axis its own name"),
    ("is no function of this module", "define the function in this file, or correct its name"),
    ("types do not fit @", "give the call the types of the function"),
    ("is out of range for rank", "dims count from 0"),
    ("name a dim twice", "name each dim once"),
    ("must pair up", "name as many dims on the left as on the right, of equal sizes"),
    ("operand shapes differ", "make the shapes equal: stablehlo.broadcast_in_dim repeats the smaller operand"),
    ("element types differ", "make the element types equal: stablehlo.convert converts one of them"),
    ("its own arguments only", "move constants into the body, and apply everything else before or after the reduction"),
    (" must be ", "write what the message asks for, or correct the operands that it follows from"),
)


def _op_help(error: BaseException) -> str:
    message = verify_message(error)
    return next((help for part, help in _OP_HELPS if part in message), "correct the op, or the pass that made it")


def verify_message(error: BaseException) -> str:
    """What a verifier said, without the wrappers that xDSL puts around it."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(error).strip().split("\n", 1)[0]
    return text.removeprefix("Operation does not verify: ")


def _dominance_faults(module: ModuleOp) -> Iterator[Diagnostic]:
    defined: set[SSAValue] = set()
    for region in module.regions:
        yield from _region_faults(region, defined, module)


def _region_faults(region: Region, visible: set[SSAValue], owner: Operation) -> Iterator[Diagnostic]:
    """Values of a region are visible in it and below; what it defines is forgotten at its end."""
    outer: set[SSAValue] = set() if owner.has_trait(IsolatedFromAbove) else visible
    blocks = list(region.blocks)
    mine: list[SSAValue] = []
    if len(blocks) > 1:
        # Blocks may come in any order: only uses within one block are ordered.
        mine = [value for block in blocks for value in _values(block)]
        outer.update(mine)
    for block in blocks:
        yield from _block_faults(block, outer, mine)
    outer.difference_update(mine)


def _values(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def _block_faults(block: Block, visible: set[SSAValue], mine: list[SSAValue]) -> Iterator[Diagnostic]:
    visible.update(block.args)
    mine.extend(block.args)
    for op in block.ops:
        for index, operand in enumerate(op.operands):
            if operand not in visible:
                yield _undefined(op, index, operand)
        for region in op.regions:
            yield from _region_faults(region, visible, op)
        visible.update(op.results)
        mine.extend(op.results)


def _undefined(op: Operation, index: int, operand: SSAValue) -> Diagnostic:
    notes: tuple[str, ...] = ()
    if isinstance(operand, BlockArgument) or isinstance(operand.owner, Operation):
        place = where(operand)
        notes = (f"it is defined at {place}",) if place is not None else ()
    message = f"'{op.name}' op uses as operand {index} a value that is not defined before it"
    return Diagnostic("SW0303", message, where(op), notes, help="define each value above its uses, in reach of them")
