"""Whether the layouts of an op's operands and results are what its rule allows: the check of the aligned stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain, takewhile

from xdsl.ir import Operation

from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.text.xdsl_patches import operands_of
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.reductions import is_zero
from shardwright.rules.rule import ANY, Axes, Rule, Way, project
from shardwright.rules.table import ROWS


def unfit(ops: Sequence[Operation], meshes: Mapping[str, Mesh]) -> tuple[Operation, str] | None:
    """
    The first of some ops whose layouts do not fit its rule, with the rule and what is wrong; None when all fit.

    The ops differ in nothing but in what their operands are made of. One without a row, or without layouts, fits.
    """
    first = ops[0]
    row, operands = ROWS.get(first.name), operands_of(first)
    specs = [layout_of(value) for value in (*operands, *first.results)] if row is not None else []
    if row is None or not specs or specs[0] is None:
        return None
    known = [spec for spec in specs if spec is not None]
    if isinstance(first, stablehlo.ConstantOp) and is_zero(first.result):
        known = [spec.with_partial((), "") for spec in known]  # zeros are partial sums of zero
    rule, mesh = row.rule(first), meshes[known[0].mesh]
    sides = tuple(known[: len(operands)]), tuple(known[len(operands) :])
    if misfit(rule, *sides, mesh, frozenset()) is None:
        return None  # whatever the operands are made of
    for op in ops:
        zeros = frozenset(place for place, value in enumerate(op.operands) if is_zero(value))
        problem = misfit(rule, *sides, mesh, zeros)
        if problem is not None:
            return op, f"{rule}: {problem}"
    return None


@lru_cache(maxsize=1 << 14)
def misfit(
    rule: Rule, operands: tuple[LayoutSpec, ...], results: tuple[LayoutSpec, ...], mesh: Mesh, zeros: frozenset[int]
) -> str | None:
    """
    What is wrong with the layouts of an op, or None when they fit its rule exactly.

    `zeros` are the places of operands that are constants of zero, which are their own partial sums.
    """
    if not rule.fixed and not any(spec.partial or any(spec.dims) for spec in (*operands, *results)):
        return None  # whole everywhere fits every rule
    problems = (_misfit(rule, way, (operands, results), mesh, zeros) for way in rule.ways())
    found = list(takewhile(lambda problem: problem is not None, problems))
    return found[0] if len(found) > len(rule.others) else None


def _misfit(
    rule: Rule, way: Way, specs: tuple[Sequence[LayoutSpec], Sequence[LayoutSpec]], mesh: Mesh, zeros: frozenset[int]
) -> str | None:
    """What is wrong with the layouts of an op that is done in one of its rule's ways."""
    factors: dict[int, Axes] = {}
    for name, side, tensors in zip(("operand", "result"), specs, way, strict=True):
        for place, (spec, tensor) in enumerate(zip(side, tensors, strict=True)):
            found, exact = project(algebra.canonical(spec, mesh).dims, tensor, rule.sizes, mesh)
            if not exact:
                return f"the axes of {name} {place} ({spec.body()}) do not follow the factors of its dims"
            for factor in chain.from_iterable(tensor):
                axes = found.get(factor, ())
                if factors.setdefault(factor, axes) != axes:
                    return f"{name} {place} ({spec.body()}) splits a factor otherwise than the tensors before it"
    for factor, axes in rule.fixed:
        if factors.get(factor, ()) != algebra.canonical(LayoutSpec(mesh.name, (axes,)), mesh).dims[0]:
            return f"a factor must be split by {', '.join(map(str, axes))} exactly"
    whole = [factor for factor, axes in factors.items() if axes and not rule.splittable(factor)]
    if whole:
        return f"a factor is split that every device needs whole ({rule.kinds[whole[0]]})"
    return _partial_misfit(rule, *specs, mesh, factors, zeros)


def _partial_misfit(
    rule: Rule,
    operands: Sequence[LayoutSpec],
    results: Sequence[LayoutSpec],
    mesh: Mesh,
    factors: dict[int, Axes],
    zeros: frozenset[int],
) -> str | None:
    own = [(rule.kinds[factor], axes) for factor, axes in factors.items() if axes and rule.reduces(factor)]
    places = tuple(place for place, spec in enumerate(operands) if spec.partial)
    if rule.pairwise:
        same = all(a.partial == b.partial and a.kind == b.kind for a, b in zip(operands, results, strict=True))
        return None if same else "operands and results are not partial over the same axes"
    flowing = operands[places[0]] if places else None
    if flowing is not None and not _may_flow(rule, operands, places, flowing, zeros):
        return f"partial results ({flowing.kind}) may not pass through operands {list(places)}"
    return _result_misfit(own, flowing, results, mesh)


def _result_misfit(
    own: Sequence[tuple[str, Axes]], flowing: LayoutSpec | None, results: Sequence[LayoutSpec], mesh: Mesh
) -> str | None:
    """What is wrong with a result that is not partial over just what the op reduces and what flows in."""
    kinds = {kind for kind, _ in own} | ({flowing.kind} if flowing is not None else set[str]())
    axes = (flowing.partial if flowing is not None else ()) + tuple(axis for _, mine in own for axis in mine)
    for place, spec in enumerate(results):
        if not kinds and not spec.partial:
            continue
        expected = spec.with_partial(axes, next(iter(kinds), ""))
        if len(kinds) > 1 or algebra.canonical(expected, mesh) != algebra.canonical(spec, mesh):
            return f"result {place} must be {expected.body()}, not {spec.body()}"
    return None


def _may_flow(
    rule: Rule, operands: Sequence[LayoutSpec], places: tuple[int, ...], first: LayoutSpec, zeros: frozenset[int]
) -> bool:
    if any((operands[place].partial, operands[place].kind) != (first.partial, first.kind) for place in places):
        return False
    return any(
        kind in (ANY, first.kind)
        and set(places) <= set(group)
        and all(first.kind == "sum" and place in zeros for place in group if place not in places)
        for kind, group in rule.flows
    )
