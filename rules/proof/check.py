"""
The proof of the sharding table: each row by brute force against the op itself.

An op is run whole and under every placement that its rule offers: operands split, the local op run on each device, the
results put together again. Placements that would be right as well, but which the rule does not offer, are reported too.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import TypeAlias

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import element_dtype
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.proof.trial import Compile, Draw, Placement, Shape, Trial, agree, draw_small
from shardwright.rules.rule import ANY, Axes, Rule, Tensor, assemble

WRONG = "wrong"
"""The rule offers a placement whose result is not the op's."""

MISSED = "missed"
"""A placement gives the op's result, but the rule does not offer it."""

DRAWS = 4
"""How many draws of random numbers it takes to believe that a placement is right."""

FactorAxes: TypeAlias = dict[int, Axes]


@dataclass(frozen=True)
class Finding:
    """
    What is wrong with a rule, or what it misses, at one placement.

    `kind` is how the partial results of the operands combine, "" when they are finished.
    """

    severity: str
    op: str
    placement: Placement
    kind: str
    message: str

    def __str__(self) -> str:
        return f"{self.severity}: {self.op} {self.placement}: {self.message}"


def check_op(
    module: ModuleOp | str,
    mesh: Mesh,
    compile_module: Compile,
    *,
    draw: Draw = draw_small,
    limit: int | None = None,
) -> list[Finding]:
    """
    The placements on a mesh that the rule of the last op of a module's `@main` offers, but which are wrong.

    The op's operands are arguments, once each, or scalar constants.
    `compile_module` makes a function of arrays from a module, `draw` makes random elements. At most `limit` offered
    placements are tried, chosen at random but always the same ones.

    >>> check_op('''
    ...   func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    ...     %0 = stablehlo.negate %x : tensor<4xf32>
    ...     return %0 : tensor<4xf32>
    ...   }''', Mesh(x=2), lambda module: lambda arrays: [-arrays[0]])
    []
    """
    trial = Trial(_parsed(module), mesh, compile_module, draw)
    offered = list(offered_placements(trial, mesh))
    if limit is not None and len(offered) > limit:
        offered = Random(0).sample(offered, limit)
    with np.errstate(all="ignore"):
        return [finding for placement in offered if (finding := _try(trial, placement)) is not None]


def missed_placements(
    module: ModuleOp | str, size: int, compile_module: Compile, *, draw: Draw = draw_small
) -> list[Finding]:
    """
    The placements along one whole mesh axis of `size` that are right, by some draws, but not offered by the rule.

    The other arguments are those of `check_op`.
    """
    mesh = Mesh(x=size)
    trial = Trial(_parsed(module), mesh, compile_module, draw)
    if any(0 in shape for shape in (*trial.operand_shapes, *trial.result_shapes)):
        return []  # anything is right where there are no elements
    known = {_without_synonyms(trial, placement) for placement in offered_placements(trial, mesh)}
    with np.errstate(all="ignore"):
        right = [
            (kind, Placement(operands, results))
            for kind, operands in _operand_choices(trial, "x")
            for results in _right_results(trial, "x", kind, operands)
        ]
    return [
        Finding(MISSED, trial.op.name, placement, kind, "the rule does not offer it")
        for kind, placement in right
        if placement.uses_axes and _without_synonyms(trial, placement) not in known
    ]


def _parsed(module: ModuleOp | str) -> ModuleOp:
    return parse_module(module, "op.mlir") if isinstance(module, str) else module


def offered_placements(trial: Trial, mesh: Mesh) -> Iterator[Placement]:
    """All placements that the op's rule offers on a mesh, in which axes may also be cut in two, each once."""
    seen: set[Placement] = set()
    for pieces in itertools.product(*(_cuts(mesh, name) for name in mesh.axis_names)):
        axes = tuple(itertools.chain(*pieces))
        for by_factor in _assignments(trial.rule, axes):
            base = _placement(trial.rule, by_factor, mesh)
            if base is None:
                continue
            used = {axis for mine in by_factor.values() for axis in mine}
            unused = tuple(axis for axis in axes if axis not in used)
            for placement in (base, *_flows(trial, base, unused)):
                if placement not in seen:
                    seen.add(placement)
                    yield placement


def _cuts(mesh: Mesh, name: str) -> list[Axes]:
    """An axis as a whole, and cut after its smallest prime factor."""
    size = mesh.sizes[name]
    prime = next((number for number in range(2, size) if size % number == 0), None)
    whole: list[Axes] = [(Axis(name),)]
    return whole if prime is None else [*whole, (mesh.part(name, 1, prime), mesh.part(name, prime, size))]


def _assignments(rule: Rule, axes: Axes) -> Iterator[FactorAxes]:
    """Every way of giving each of some axes to a factor or to none, in every order."""
    factors = [None, *(factor for factor in range(len(rule.sizes)) if rule.splittable(factor))]
    for targets in itertools.product(factors, repeat=len(axes)):
        chosen: dict[int, list[Axis]] = {}
        for axis, factor in zip(axes, targets, strict=True):
            if factor is not None:
                chosen.setdefault(factor, []).append(axis)
        for orders in itertools.product(*(itertools.permutations(mine) for mine in chosen.values())):
            yield dict(zip(chosen, orders, strict=True))


def _placement(rule: Rule, by_factor: FactorAxes, mesh: Mesh) -> Placement | None:
    """The placement of an assignment; None when it is uneven, cannot be written, or would mix kinds."""
    if any(rule.sizes[factor] % mesh.group_size(axes) for factor, axes in by_factor.items()):
        return None
    way = rule.way(by_factor)
    if way is None:
        return None
    tensors = (*way[0], *way[1])
    dims = [assemble(by_factor, tensor, rule.sizes, mesh) for tensor in tensors]
    for tensor, found in zip(tensors, dims, strict=True):
        if sum(map(len, found)) != _split_count(tensor, by_factor):
            return None
    reduced = {factor: axes for factor, axes in by_factor.items() if rule.reduces(factor)}
    kinds = {rule.kinds[factor] for factor in reduced}
    if len(kinds) > 1:
        return None
    partial = tuple(axis for axes in reduced.values() for axis in axes)
    count = len(rule.operands)
    return Placement(
        tuple(LayoutSpec(mesh.name, found) for found in dims[:count]),
        tuple(LayoutSpec(mesh.name, found, partial=partial, kind="".join(kinds)) for found in dims[count:]),
    )


def _split_count(tensor: Tensor, by_factor: FactorAxes) -> int:
    """How many axes split a tensor under an assignment."""
    return sum(len(by_factor.get(factor, ())) for factors in tensor for factor in factors)


def _flows(trial: Trial, base: Placement, unused: Axes) -> Iterator[Placement]:
    """The placement with partial results flowing in over all unused axes, for each flow of the rule."""
    own = {spec.kind for spec in base.results if spec.partial}
    arguments = {place for place, argument in enumerate(trial.arguments) if argument is not None}
    groups = [(kind, group) for kind, group in trial.rule.flows if unused and arguments.issuperset(group)]
    for kind, group in groups:
        for each in _kinds(trial.op.operands[group[0]]) if kind == ANY else (kind,):
            if own <= {each}:
                yield Placement(
                    tuple(
                        spec.with_partial(unused, each) if place in group else spec
                        for place, spec in enumerate(base.operands)
                    ),
                    tuple(spec.with_partial(unused + spec.partial, each) for spec in base.results),
                )


def _kinds(value: SSAValue) -> tuple[str, ...]:
    """The kinds of partial results that a value's element type can have, none twice under two names."""
    kind = element_dtype(value.type).kind
    if kind == "b":
        return ("and", "or")
    if kind in "iu":
        return ("sum", "prod", "max", "min", "and", "or")
    return ("sum", "prod") if kind == "c" else ("sum", "prod", "max", "min")


def _try(trial: Trial, placement: Placement) -> Finding | None:
    kind = next((spec.kind for spec in placement.operands if spec.partial), "")
    try:
        outputs = trial.run_parts(placement, seed=0)
    except Exception as error:  # whatever fails under a placement that a row offers is the row's fault
        return Finding(WRONG, trial.op.name, placement, kind, f"{type(error).__name__}: {error}")
    assert outputs is not None
    _, whole = trial.run_whole(placement.operands, seed=0)
    for number, (spec, expected) in enumerate(zip(placement.results, whole, strict=True)):
        found = trial.assemble([device[number] for device in outputs], spec, expected.shape)
        if found is None:
            return Finding(
                WRONG, trial.op.name, placement, kind, f"result {number} has other shapes or its replicas differ"
            )
        if not agree(found, expected, trial.tolerance):
            return Finding(WRONG, trial.op.name, placement, kind, f"result {number} is wrong")
    return None


def _without_synonyms(trial: Trial, placement: Placement) -> Placement:
    """Booleans add as they or, and multiply as they and."""
    names = {"sum": "or", "max": "or", "prod": "and", "min": "and"}

    def renamed(spec: LayoutSpec, boolean: bool) -> LayoutSpec:
        return replace(spec, kind=names.get(spec.kind, spec.kind)) if boolean else spec

    op = trial.op
    booleans = [element_dtype(value.type).kind == "b" for value in (*op.operands, *op.results)]
    operands, results = booleans[: len(op.operands)], booleans[len(op.operands) :]
    return Placement(tuple(map(renamed, placement.operands, operands)), tuple(map(renamed, placement.results, results)))


def _operand_choices(trial: Trial, axis: str) -> Iterator[tuple[str, tuple[LayoutSpec, ...]]]:
    """For each kind of partial results, or none, all layouts of the operands along one axis."""
    kinds = sorted({kind for value in trial.op.operands for kind in _kinds(value)})
    for kind in ("", *kinds):
        for specs in itertools.product(*(_options(trial, axis, kind, place) for place in range(len(trial.arguments)))):
            if not kind or any(spec.partial for spec in specs):
                yield kind, specs


def _options(trial: Trial, axis: str, kind: str, place: int) -> list[LayoutSpec]:
    """The layouts of one operand along one axis; a constant's is always whole."""
    options = _splits(trial.mesh, axis, trial.operand_shapes[place])
    if trial.arguments[place] is None:
        return options[:1]
    partial = [options[0].with_partial((Axis(axis),), kind)] if kind in _kinds(trial.op.operands[place]) else []
    return options + partial


def _splits(mesh: Mesh, axis: str, shape: Shape) -> list[LayoutSpec]:
    """The replicated layout, then each dim split by the axis where that is even; empty dims stay."""
    size = mesh.sizes[axis]
    nothing: tuple[Axes, ...] = ((),) * len(shape)
    found = [LayoutSpec(mesh.name, nothing)]
    for dim, extent in enumerate(shape):
        if extent and extent % size == 0:
            found.append(LayoutSpec(mesh.name, (*nothing[:dim], (Axis(axis),), *nothing[dim + 1 :])))
    return found


def _right_results(
    trial: Trial, axis: str, kind: str, operands: tuple[LayoutSpec, ...]
) -> Iterator[tuple[LayoutSpec, ...]]:
    """The layouts of the results that are right for these of the operands, on some draws of random numbers."""
    for results in itertools.product(*(_splits(trial.mesh, axis, shape) for shape in trial.result_shapes)):
        placement = Placement(operands, results)
        choices = [_right(trial, placement, number, axis, kind) for number in range(len(results))]
        yield from itertools.product(*choices)


def _right(trial: Trial, placement: Placement, number: int, axis: str, kind: str) -> Sequence[LayoutSpec]:
    """The layouts of one result that are right: finished, or else partial in the kinds that may come out."""
    spec = placement.results[number]
    if _fits(trial, placement, number, spec):
        return [spec]
    if any(spec.dims):
        return []
    able = _kinds(trial.op.results[number])
    kinds = [each for each in ((kind,) if kind else able) if each in able]
    partial = [spec.with_partial((Axis(axis),), each) for each in kinds]
    return [option for option in partial if _fits(trial, placement, number, option)]


def _fits(trial: Trial, placement: Placement, number: int, spec: LayoutSpec) -> bool:
    """Whether a result has this layout, by some draws of random numbers."""
    for seed in range(DRAWS):
        try:
            outputs = trial.run_parts(placement, seed, verify=True)
        except Exception:  # a kernel that refuses the local shapes says what a verifier would
            return False
        if outputs is None:
            return False
        expected = trial.run_whole(placement.operands, seed)[1][number]
        found = trial.assemble([device[number] for device in outputs], spec, expected.shape)
        if found is None or not agree(found, expected, trial.tolerance):
            return False
    return True
