"""`expand-gradients`: each request for gradients becomes the ops that compute them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in, free_values, ops_in, returned
from shardwright.dialects.dtensor.gradients import (
    CheckpointOp,
    GradientOp,
    PrimalOp,
    ResultOfOp,
    StopGradientOp,
    WithGradientOp,
)
from shardwright.dialects.text.locations import GRADIENT, fault, fuse, is_known, label
from shardwright.passes.importing.calls import functions
from shardwright.passes.rewriter import insert_before, move_body, replace
from shardwright.passes.stages import require_stage, stage_of
from shardwright.rules.gradients import table as _vjp_table
from shardwright.rules.gradients.vjp import VJPS, Site, has_gradient, has_rule, is_constant

assert _vjp_table is not None


@dataclass(frozen=True)
class ExpandGradientsPass(ModulePass):
    """
    Differentiates in reverse: from the targets' seeds back to the sources, op by op (`rules.vjp`).

    Requests are taken in the order of the program, so that gradients of gradients see the ops of the inner ones.
    Afterwards the ops that only say something about gradients are gone.

    Before:
        %0 = stablehlo.exponential %x : tensor<4xf32>
        %1 = "dtensor.gradient"(%0, %x, %x) <{operandSegmentSizes = array<i32: 1, 1, 1>}>
            : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        return %1 : tensor<4xf32>
    After:
        %0 = stablehlo.exponential %x : tensor<4xf32>
        %1 = stablehlo.multiply %x, %0 : tensor<4xf32>
        return %1 : tensor<4xf32>
    """

    name = "expand-gradients"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if stage_of(op) is not None:
            require_stage(op, self.name, "traced")
        while (request := next(_requests(op), None)) is not None:
            _Differentiation(request).run()
        for inner in ops_in(op):
            _forget(inner)
        for function in functions(op).values():
            function.update_function_type()  # a gradient may come in the layout of its source


def _requests(module: ModuleOp) -> Iterator[GradientOp]:
    return (op for op in ops_in(module) if isinstance(op, GradientOp))


def _forget(op: Operation) -> None:
    """Drops what only gradients care about."""
    if isinstance(op, StopGradientOp | PrimalOp):
        replace(op, [op.operand])
    elif isinstance(op, WithGradientOp | ResultOfOp):
        replace(op, list(op.outputs))
    elif isinstance(op, CheckpointOp):
        block = op.body.block
        for argument, value in zip(block.args, op.inputs, strict=True):
            argument.replace_all_uses_with(value)
        results = returned(block)
        move_body(block, op)
        replace(op, results)


@dataclass
class _Differentiation:
    """
    One request: which values depend on its sources, and the gradients found so far.

    It may stand inside of a loop or a branch; what it asks for may have been computed outside.
    """

    request: GradientOp
    active: set[SSAValue] = field(default_factory=set[SSAValue])
    found: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    origin: Operation | None = None

    def __post_init__(self) -> None:
        self._fixed = frozenset(self.request.fixed)

    def run(self) -> None:
        """Puts the gradients' ops in front of the request, and the gradients in its place."""
        request = self.request
        path = self._path()
        self._check(path)
        site = Site(self._insert, self.active.__contains__, self._contribute)
        for target, seed in zip(request.targets, request.seeds, strict=True):
            if target in self.active:
                self._contribute(target, seed)
        for op in reversed(path):
            self._visit(op, site)
        self.origin = None
        gradients = [self.found.get(source) for source in request.variables] + [None] * len(request.fixed)
        replace(
            request,
            [
                site.zeros(source) if gradient is None else gradient
                for source, gradient in zip(request.sources, gradients, strict=True)
            ],
        )

    def _path(self) -> list[Operation]:
        """The ops between sources and request that depend on a source and matter for a target."""
        self.active = {source for source in self.request.variables if has_gradient(source)}
        around = _around(self.request, set(map(_block_of, self.active)))
        forwards = [op for inner in reversed(around) for op in _before(inner) if self._depends(op)]
        needed = set(self.request.targets)
        path: list[Operation] = []
        for op in reversed(forwards):
            if any(result in needed for result in op.results):
                needed.update(_followed(op))
                path.append(op)
        self._check_rounds(around[1:], needed)
        return path[::-1]

    def _check_rounds(self, owners: list[Operation], needed: set[SSAValue]) -> None:
        """What a loop carries may depend on a source by earlier rounds, which the request does not see."""
        for owner in owners:
            carried = [
                value for value in needed if isinstance(value, BlockArgument) and value.owner.parent_op() is owner
            ]
            if set(carried) - set(self.request.fixed) and any(value in self.active for value in free_values(owner)):
                raise fault(
                    "SW0327",
                    "a gradient is asked for inside of a loop, by something from outside of which the loop's earlier "
                    "rounds are computed too",
                    self.request,
                    labels=label(owner, "the loop"),
                    help="differentiate a function of it inside of the loop, or the whole loop from outside",
                )

    def _depends(self, op: Operation) -> bool:
        if is_constant(op) or not any(value in self.active for value in free_values(op)):
            return False
        made = [result for result in op.results if has_gradient(result) and result not in self._fixed]
        self.active.update(made)
        return bool(made)

    def _check(self, path: list[Operation]) -> None:
        """One error names all ops that have no rule."""
        missing = {op.name: op for op in reversed(path) if not has_rule(op, self.active.__contains__)}
        if missing:
            raise ShardwrightError([_no_rule(op) for op in reversed(missing.values())])

    def _visit(self, op: Operation, site: Site) -> None:
        gradients = [None if result in self._fixed else self.found.get(result) for result in op.results]
        if all(gradient is None for gradient in gradients):
            return
        self.origin = op
        made = VJPS[op.name](op, gradients, site)
        for value, gradient in zip(op.operands, made, strict=True):
            if gradient is not None and value in self.active:
                self._contribute(value, gradient)

    def _contribute(self, value: SSAValue, gradient: SSAValue) -> None:
        known = self.found.get(value)
        self.found[value] = gradient if known is None else self._insert(stablehlo.AddOp(known, gradient)).results[0]

    def _insert(self, op: Operation) -> Operation:
        origins = [self.origin.location] if self.origin is not None else []
        place = fuse([*origins, self.request.location], GRADIENT)
        for inner in op.walk():
            inner.location = inner.location if is_known(inner.location) else place
            for block in blocks_in(inner):
                for argument in block.args:
                    argument.location = place
        return insert_before(self.request, op)


def _followed(op: Operation) -> Sequence[SSAValue]:
    """The values to which an op's gradients go: where somebody said what these are, not to how it was computed."""
    return op.inputs if isinstance(op, WithGradientOp | ResultOfOp) else free_values(op)


def _block_of(value: SSAValue) -> Block | None:
    """The block that defines a value."""
    return value.owner if isinstance(value.owner, Block) else value.owner.parent


def _around(op: Operation, homes: set[Block | None]) -> list[Operation]:
    """
    The op, and those that hold it, out to the last one that stands in a block of `homes`.

    Nothing further out is computed of what these blocks define; to go through it for each loop would be quadratic.
    """
    found, count = [op], 1
    while (outer := found[-1].parent_op()) is not None and not isinstance(outer, FuncOp):
        found.append(outer)
        count = len(found) if outer.parent in homes else count
    return found[:count]


def _before(op: Operation) -> Iterator[Operation]:
    """The ops of its block that come before an op."""
    assert op.parent is not None
    for other in op.parent.ops:
        if other is op:
            return
        yield other


def _no_rule(op: Operation) -> Diagnostic:
    (diagnostic,) = fault(
        "SW0326",
        f"'{op.name}' cannot be differentiated: it has no gradient rule",
        op,
        help="give its function a gradient with custom_gradient, leave it out with stop_gradient, "
        "or add a rule with shardwright.rules.gradients.vjp.vjp",
    ).diagnostics
    return diagnostic
