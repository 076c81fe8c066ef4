"""
Every expansion of the table, by brute force: however it splits an op, the parts make up what the op computes on whole
arrays, every op that it puts in place fits its own rule, and it sends just what it was priced at.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.pipelines import LOCALIZE, PLAN, run_pipeline
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import element_dtype, element_of, element_size, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.planner import cost_share
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.rewriter import insert_before
from shardwright.passes.stages import set_stage, verify_stage
from shardwright.rules import Rule, rule_for
from shardwright.rules.expansion import HandingOn, InRounds, Site, rounds_of
from shardwright.rules.proof.trial import agree, rounding
from shardwright.rules.rule import Axes, Tensor, assemble
from shardwright.runtime.executable import compile_module

from .ops import CASES, Case
from .ops_expanding import EXPANDING as LARGER
from .test_check import relaid
from .test_table import subject

MESHES = [Mesh(x=4), Mesh([("x", 2), ("y", 2)]), Mesh([("x", 2), ("y", 3)])]
ByFactor = dict[int, Axes]


def subject_of(module: ModuleOp) -> Operation:
    """The op that expands."""
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    (found,) = (op for op in function.body.block.ops if op.results and rule_for(op).expansion is not None)
    return found


def expands(case: Case) -> bool:
    """Whether the case's op may be split in a way that it cannot do alone."""
    expansion = rule_for(subject(case)).expansion
    return expansion is not None and bool(expansion.factors)


EXPANDING = [*filter(expands, CASES), *LARGER]


def splits(rule: Rule, mesh: Mesh) -> Iterator[ByFactor]:
    """All ways to give the mesh's axes to factors in which some factor expands."""
    movable = [None, *filter(rule.movable, range(len(rule.sizes)))]
    for chosen in itertools.product(movable, repeat=len(mesh.axis_names)):
        found: ByFactor = {}
        for name, factor in zip(mesh.axis_names, chosen, strict=True):
            if factor is not None:
                found[factor] = (*found.get(factor, ()), Axis(name))
        even = all(rule.sizes[factor] % mesh.group_size(axes) == 0 for factor, axes in found.items())
        way = rule.way(found)
        if way is None or not even or not any(map(rule.expands, found)):
            continue
        if all(written(found, each, rule, mesh) for side in way for each in side):
            yield found


def written(by_factor: ByFactor, tensor: Tensor, rule: Rule, mesh: Mesh) -> bool:
    """Whether dims that consist of several factors can say how these are split."""
    said = assemble(by_factor, tensor, rule.sizes, mesh)
    return sum(map(len, said)) == sum(len(by_factor.get(factor, ())) for dim in tensor for factor in dim)


def weight(value: SSAValue) -> int:
    """Bytes of a whole tensor."""
    return math.prod(shape_of(value)) * element_size(element_of(value))


@dataclass
class Split:
    """A program whose op is split, and what that may send."""

    module: ModuleOp
    mesh: Mesh
    by_factor: ByFactor

    def __post_init__(self) -> None:
        self.op = subject_of(self.module)
        self.rule = rule_for(self.op)
        way = self.rule.way(self.by_factor)
        assert way is not None
        self.operands, self.results = (
            tuple(assemble(self.by_factor, tensor, self.rule.sizes, self.mesh) for tensor in side) for side in way
        )
        self.relaid, self.moved = 0, 0.0

    @property
    def price(self) -> float | None:
        assert self.rule.expansion is not None
        return self.rule.expansion.price(self.parts, [weight(value) for value in (*self.op.operands, *self.op.results)])

    @property
    def parts(self) -> dict[int, int]:
        return {factor: self.mesh.group_size(axes) for factor, axes in self.by_factor.items()}

    def come_from(self, sources: Sequence[LayoutSpec]) -> None:
        """Operands come in these layouts; relayouts bring each where the op needs it; iotas and splats are anywhere."""
        for place, (source, dims) in enumerate(zip(sources, self.operands, strict=True)):
            value, wanted = self.op.operands[place], LayoutSpec("mesh", dims)
            relaid(value, wanted)
            if isinstance(value.owner, stablehlo.ConstantOp):
                source = wanted if stablehlo.is_splat(value.owner) else LayoutSpec("mesh", ((),) * len(dims))
            if isinstance(value.owner, stablehlo.IotaOp):
                source = wanted
            if source != wanted:
                relaid(value, source)
                self.relaid += 1
                self.moved += float(cost_share(source, wanted, shape_of(value), self.mesh)) * weight(value)
                self.op.operands[place] = insert_before(self.op, dtensor.RelayoutOp(value, wanted, "test")).results[0]

    def even(self, source: LayoutSpec, place: int) -> bool:
        """Whether an operand can be in a layout."""
        sizes = zip(shape_of(self.op.operands[place]), source.dims, strict=True)
        return all(size % self.mesh.group_size(axes) == 0 for size, axes in sizes)

    def expand(self) -> ModuleOp:
        """The program in the aligned stage."""
        function, op = self.module.body.block.first_op, self.op
        assert isinstance(function, FuncOp)
        for value, dims in zip(op.results, self.results, strict=True):
            relaid(value, LayoutSpec("mesh", dims))
        site = Site(self.mesh, self.operands, self.results, self.by_factor, "test", lambda new: insert_before(op, new))
        assert self.rule.expansion is not None
        for old, new in zip(op.results, self.rule.expansion.expand(op, site), strict=True):
            old.replace_all_uses_with(new)
        op.detach()
        op.erase()
        function.update_function_type()
        self.module.body.block.insert_op_before(dtensor.MeshOp("mesh", list(self.mesh.sizes.items())), function)
        set_stage(self.module, "aligned")
        verify_stage(self.module, "aligned")
        return self.module


class Tried:
    """A case, its arguments and what it gives for them, computed whole."""

    def __init__(self, case: Case) -> None:
        self.case = case
        module = self.parsed()
        op, generator = subject_of(module), np.random.default_rng(0)
        self.tolerance = rounding(op)
        function = module.body.block.first_op
        assert isinstance(function, FuncOp)
        arguments = function.body.block.args
        self.arrays = [case.draw(generator, shape_of(each), element_dtype(each.type)) for each in arguments]
        self.expected = compile_module(module, namespace="plain_numpy").run(self.arrays)

    def parsed(self) -> ModuleOp:
        return parse_module(self.case.text, "op.mlir")

    def sent(self, split: Split) -> float:
        """Runs a split program, compares, and gives what each device sent."""
        module = split.expand()
        windows = sum(isinstance(op, dtensor.WindowOp) for op in module.walk())
        run_pipeline(module, [*PLAN, *LOCALIZE])
        executable = compile_module(module, namespace="plain_numpy")
        for found, expected in zip(executable.run(self.arrays), self.expected, strict=True):
            assert agree(found, expected, self.tolerance), split.by_factor
        expansion, messages = split.rule.expansion, executable.ledger.messages
        if isinstance(expansion, InRounds) and not split.relaid:
            assert messages == expansion.messages(split.parts)
        if isinstance(expansion, HandingOn) and not split.relaid:  # all windows are what one device has for all others
            (count,) = (number for factor, number in split.parts.items() if factor in expansion.factors)
            assert rounds_of(expansion, split.parts) == messages - windows + windows * math.ceil(math.log2(count))
        return float(executable.ledger.sent_bytes)


def chosen(tried: Tried, mesh: Mesh, *, salt: str, most: int = 2) -> Iterator[tuple[Split, float]]:
    """Some of the splits that an expansion offers, the same ones each time, with their prices."""
    offered = list(splits(rule_for(subject_of(tried.parsed())), mesh))
    Random(salt).shuffle(offered)
    found = (Split(tried.parsed(), mesh, by_factor) for by_factor in offered)
    priced = ((split, price) for split in found if (price := split.price) is not None)
    return itertools.islice(priced, most)


@pytest.mark.every(5)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", EXPANDING, ids=lambda case: case.name)
def test_expansions(case: Case) -> None:
    tried = Tried(case)
    found = [each for mesh in MESHES for each in chosen(tried, mesh, salt="there")]
    assert found
    for split, price in found:
        split.come_from([LayoutSpec("mesh", dims) for dims in split.operands])
        sent = tried.sent(split)
        assert sent == pytest.approx(price) if not split.relaid else sent <= price + split.moved


def everywhere(spec: LayoutSpec) -> LayoutSpec:
    return LayoutSpec("mesh", ((),) * spec.rank)


def turned(spec: LayoutSpec) -> LayoutSpec:
    """With the axes of each dim on the next one."""
    return LayoutSpec("mesh", (*spec.dims[-1:], *spec.dims[:-1]))


def in_sums(spec: LayoutSpec) -> LayoutSpec:
    axes = tuple(axis for mine in spec.dims for axis in mine)
    return everywhere(spec).with_partial(axes, "sum") if axes else spec


@pytest.mark.every(8)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("case", EXPANDING, ids=lambda case: case.name)
def test_expansions_of_what_was_relaid(case: Case) -> None:
    """What is there already is used, and only what is."""
    tried = Tried(case)
    for elsewhere in (everywhere, turned, in_sums):
        for split, price in chosen(tried, MESHES[1], salt=elsewhere.__name__, most=1):
            sources = [elsewhere(LayoutSpec("mesh", dims)) for dims in split.operands]
            split.come_from(
                [there if split.even(there, place) else everywhere(there) for place, there in enumerate(sources)]
            )
            assert tried.sent(split) <= price + split.moved + 1e-6
