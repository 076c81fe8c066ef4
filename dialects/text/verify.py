"""Verification: each op's own rules, and that every value is defined before its uses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.traits import IsolatedFromAbove, IsTerminator, NoTerminator
from xdsl.utils.exceptions import VerifyException

from shardwright.diagnostics import Diagnostic, Label, ShardwrightError
from shardwright.dialects.text.locations import fault, label, where
from shardwright.dialects.text.wording import worded
from shardwright.dialects.text.xdsl_patches import has_trait, operands_of, type_of, verify_op


def verify_module(module: ModuleOp) -> list[Alike]:
    """
    Verifies every op and the order of definitions and uses; returns the ops, alike ones together.

    Raises `ShardwrightError` with one diagnostic (SW0302 to SW0304) for each op at fault: its name and its place,
    without printing the module.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> [len(alike.ops) for alike in verify_module(parse_module("func.func @main(%x: tensor<4xf32>) { return }"))]
    [1, 1, 1]
    """
    walk = _Walk(module)
    faults = [*_symbol_faults(module)] or [*walk.unclosed, *_op_faults(walk), *walk.undefined]
    if faults:
        raise ShardwrightError(faults)
    return walk.found


def verify_dominance(module: ModuleOp) -> None:
    """
    Checks that every operand is a value of this module, defined before its use and visible there.

    Raises `ShardwrightError` with one diagnostic (SW0303) for each op at fault.
    """
    if faults := _Walk(module).undefined:
        raise ShardwrightError(faults)


def alike(module: ModuleOp) -> list[Alike]:
    """The ops of a module, alike ones together, in the order in which the first of each stands in it."""
    return _Walk(module).found


def _symbol_faults(module: ModuleOp) -> Iterator[Diagnostic]:
    """Each op at the top of the module that takes a name which another has."""
    first: dict[str, Operation] = {}
    for op in module.body.block.ops:
        name = op.properties.get("sym_name")
        if isinstance(name, StringAttr) and first.setdefault(name.data, op) is not op:
            message = f"'{op.name}' op defines @{name.data} again"
            earlier = label(first[name.data], "first defined here")
            yield from fault(
                "SW0304", message, op, help="give each function and mesh its own name", labels=earlier
            ).diagnostics


@dataclass(slots=True)
class Alike:
    """
    Ops that no verifier can tell apart: of one class, with the same types and properties, and no regions.

    Programs repeat themselves: half of the ops of a training step, and more of deeper ones, are alike. What has
    regions, or ends a block, is like nothing else. `whole` says whether the values are whole tensors, not scalars.
    """

    ops: list[Operation]
    whole: bool


WHOLE_INSIDE = frozenset({"builtin.module", "func.func", "stablehlo.while", "stablehlo.case", "stablehlo.if"})
"""Ops whose regions compute on whole tensors. Other regions (a reduction's body) compute on scalars."""


class _Walk:
    """One walk over a module: its ops, what is used before it is defined, and which blocks nothing ends."""

    def __init__(self, module: ModuleOp) -> None:
        self.module = module
        self.found: list[Alike] = []
        self.undefined: list[Diagnostic] = []
        self.unclosed: list[Diagnostic] = []
        self._known: dict[object, Alike] = {}
        self._add(module, (), whole=True)
        for region in module.regions:
            self._region(region, set(), module, whole=True)

    def _region(self, region: Region, visible: set[int], owner: Operation, *, whole: bool) -> None:
        """Values of a region are visible in it and below; what it defines is forgotten at its end."""
        kind = owner.__class__
        outer: set[int] = set() if has_trait(kind, IsolatedFromAbove) else visible
        blocks = tuple(region.blocks)
        mine: list[int] = []
        if len(blocks) > 1:
            # Blocks may come in any order: only uses within one block are ordered.
            mine += [id(value) for block in blocks for value in _values(block)]
            outer.update(mine)
        for block in blocks:
            if not has_trait(kind, NoTerminator):
                self.unclosed += _unclosed(block, owner)
            mine += self._block(block, outer, whole=whole and owner.name in WHOLE_INSIDE)
        outer.difference_update(mine)

    def _block(self, block: Block, visible: set[int], *, whole: bool) -> list[int]:
        """Walks over the ops of a block; what they and the block itself define."""
        mine = [*map(id, block.args)]
        visible.update(mine)
        op = block.first_op
        while op is not None:
            operands = operands_of(op)
            if not visible.issuperset(map(id, operands)):
                self.undefined += [
                    _undefined(op, n, value) for n, value in enumerate(operands) if id(value) not in visible
                ]
            self._add(op, operands, whole=whole)
            for region in op.regions:
                self._region(region, visible, op, whole=whole)
            made = [*map(id, op.results)]
            visible.update(made)
            mine += made
            op = op.next_op
        return mine

    def _add(self, op: Operation, operands: tuple[SSAValue, ...], *, whole: bool) -> None:
        """Puts an op to those that it is like. All that is asked for by its identity lives as long as the op."""
        if not op.regions and not has_trait(op.__class__, IsTerminator):
            types, properties = map(type_of, (*operands, *op.results)), op.properties
            key = (op.__class__, whole, len(operands), *map(id, types), *map(id, properties.values()), *properties)
            known = self._known.get(key)
            if known is not None:
                known.ops.append(op)
                return
            self._known[key] = found = Alike([op], whole)
        else:
            found = Alike([op], whole)
        self.found.append(found)


def _op_faults(walk: _Walk) -> list[Diagnostic]:
    """What is wrong with ops: the first of each kind is asked, and each op where one is wrong."""
    firsts = [found.ops[0] for found in walk.found]
    if any(_faults_of(firsts, excused=bool(walk.unclosed))):
        return [*_faults_of(walk.module.walk(), excused=bool(walk.unclosed))]
    return []


def _faults_of(ops: Iterable[Operation], *, excused: bool) -> Iterator[Diagnostic]:
    for op in ops:
        try:
            verify_op(op)
        except VerifyException as error:
            excused = True
            message = verify_message(error)
            labels = _operand_labels(op) if _OF_OPERANDS.search(message) else ()
            found = fault("SW0302", f"'{op.name}' op {message}", op, help=_op_help(error), labels=labels)
            yield from found.diagnostics
        except (AssertionError, AttributeError, LookupError):
            # A verifier may stumble over another op's fault, which is already reported.
            if not excused:
                raise


_OF_OPERANDS = re.compile(r"\b(operands?|shapes?|types?)\b")
"""Messages that are about operands, whose definitions are shown then."""

MOST_OPERANDS = 4


def _operand_labels(op: Operation) -> tuple[Label, ...]:
    """What each operand of an op is, where it is defined."""
    operands = dict.fromkeys(op.operands)
    if len(operands) > MOST_OPERANDS:
        return ()
    return tuple(found for value in operands for found in label(value, f"this is {value.type}"))


_UNSPECIFIC = "correct the op, or the pass that made it"
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
    (" must be ", "write what the message asks for, or correct the operands that it follows from"),
)


def _op_help(error: BaseException) -> str:
    message = verify_message(error)
    return next((help for part, help in _OP_HELPS if part in message), _UNSPECIFIC)


def verify_message(error: BaseException) -> str:
    """What a verifier said, without the wrappers that xDSL puts around it."""
    while error.__cause__ is not None:
        error = error.__cause__
    text = str(error).strip().split("\n", 1)[0]
    return worded(text.removeprefix("Operation does not verify: "))


def _unclosed(block: Block, owner: Operation) -> Iterator[Diagnostic]:
    """The fault of a block that ends in no terminator; `Operation.verify` takes one without ops for closed."""
    last = block.last_op
    if last is None:
        yield from _no_end(owner, "has a block without a terminator")
    elif not has_trait(last.__class__, IsTerminator):
        yield from _no_end(last, "ends its block, but is no terminator")


def _no_end(op: Operation, message: str) -> tuple[Diagnostic, ...]:
    return fault("SW0302", f"'{op.name}' op {message}", op, help=_UNSPECIFIC).diagnostics


def _values(block: Block) -> Iterator[SSAValue]:
    yield from block.args
    for op in block.ops:
        yield from op.results


def _undefined(op: Operation, index: int, operand: SSAValue) -> Diagnostic:
    known = isinstance(operand, BlockArgument) or isinstance(operand.owner, Operation)
    labels = label(operand, "it is defined here") if known else ()
    message = f"'{op.name}' op uses as operand {index} a value that is not defined before it"
    help_text = "define each value above its uses, in reach of them"
    return Diagnostic("SW0303", message, where(op), help=help_text, labels=labels)
