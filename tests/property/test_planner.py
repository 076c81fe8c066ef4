"""Random relayouts: the steps re-derive, move the right elements on simulated devices, and cost what they say."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from hypothesis import given, strategies as st
from sampling import examples

from shardwright.layout.axes import Axis
from shardwright.layout.boxes import box, linear_index
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra, cost
from shardwright.layout.planning.planner import Plan, Step, plan
from shardwright.layout.spec import LayoutSpec

Array = npt.NDArray[np.int64]
Place = tuple[int, ...]
Values = dict[Place, Array]

MESHES = (Mesh(x=2, y=2, z=2), Mesh(x=4, y=2), Mesh(x=3, y=2), Mesh(x=8), Mesh(x=6), Mesh(x=2, y=1, z=4))


@st.composite
def relayouts(draw: st.DrawFn) -> tuple[LayoutSpec, LayoutSpec, tuple[int, ...], Mesh]:
    """A mesh, a shape that everything divides, and two layouts, the second partial at most where the first is."""
    mesh = draw(st.sampled_from(MESHES))
    rank = draw(st.integers(1, 3))
    dims = st.integers(-2, rank - 1)  # -1 is replicated, -2 partial
    source = draw(_layouts(mesh, rank, dims, ()))
    target = draw(_layouts(mesh, rank, st.integers(-1, rank - 1), source.partial))
    return source, target, (mesh.size,) * rank, mesh


@st.composite
def _layouts(
    draw: st.DrawFn, mesh: Mesh, rank: int, dims: st.SearchStrategy[int], partial: tuple[Axis, ...]
) -> LayoutSpec:
    kept = tuple(axis for axis in partial if draw(st.booleans()))
    parts = [axis for name in mesh.axis_names for axis in draw(_parts(mesh, name))]
    taken: list[list[Axis]] = [[] for _ in range(rank + 2)]
    for axis in draw(st.permutations(parts)):
        if not any(_clash(axis, other, mesh) for other in kept):
            taken[draw(dims)].append(axis)
    partial = (*kept, *taken[-2])
    return LayoutSpec("mesh", tuple(map(tuple, taken[:rank])), frozenset(), partial, "sum" if partial else "")


@st.composite
def _parts(draw: st.DrawFn, mesh: Mesh, name: str) -> list[Axis]:
    size = mesh.sizes[name]
    cut = draw(st.sampled_from([cut for cut in range(1, max(size, 2)) if size % cut == 0]))
    return [mesh.part(name, a, b) for a, b in ((1, cut), (cut, size)) if a < b]


def _clash(a: Axis, b: Axis, mesh: Mesh) -> bool:
    """Whether two parts share digits, or cross."""
    if a.name != b.name:
        return False
    (a0, a1), (b0, b1) = mesh.span(a), mesh.span(b)
    return not ((a1 <= b0 and b0 % a1 == 0) or (b1 <= a0 and a0 % b1 == 0))


def _places(mesh: Mesh) -> Iterator[Place]:
    return itertools.product(*map(range, mesh.shape))


def _named(place: Place, mesh: Mesh) -> dict[str, int]:
    return dict(zip(mesh.axis_names, place, strict=True))


def _group(place: Place, axes: Sequence[Axis], mesh: Mesh) -> list[Place]:
    """The devices that differ from `place` only in `axes`, in their linear order."""
    alike = [other for other in _places(mesh) if _without(other, axes, mesh) == _without(place, axes, mesh)]
    return sorted(alike, key=lambda other: linear_index(axes, mesh, _named(other, mesh)))


def _without(place: Place, axes: Sequence[Axis], mesh: Mesh) -> Place:
    coordinates = _named(place, mesh)
    for axis in axes:
        stride = mesh.sizes[axis.name] // mesh.span(axis)[1]
        coordinates[axis.name] -= linear_index([axis], mesh, coordinates) * stride
    return tuple(coordinates.values())


def _partial_place(place: Place, spec: LayoutSpec, mesh: Mesh) -> tuple[int, ...]:
    return tuple(linear_index([axis], mesh, _named(place, mesh)) for axis in spec.partial)


def _take(whole: Array, bounds: Iterable[tuple[int, int]]) -> Array:
    return whole[tuple(slice(*limits) for limits in bounds)]


def _sliced(value: Array, place: Place, dim_axes: Sequence[Sequence[Axis]], mesh: Mesh) -> Array:
    for dim, axes in enumerate(dim_axes):
        value = np.split(value, mesh.group_size(axes), axis=dim)[linear_index(axes, mesh, _named(place, mesh))]
    return value


def _gathered(values: Values, place: Place, dim_axes: Sequence[Sequence[Axis]], mesh: Mesh) -> Array:
    """Concatenates dim by dim: first all devices gather the first dim, then the next."""
    current = values
    for dim, axes in enumerate(dim_axes):
        current = {
            other: np.concatenate([current[member] for member in _group(other, axes, mesh)], axis=dim)
            for other in current
        }
    return current[place]


def _moved(values: Values, step: Step, shape: tuple[int, ...], mesh: Mesh) -> Values:
    """Fills each target box from the boxes of devices that hold the same partial results."""
    result: Values = {}
    for place in values:
        whole = np.full(shape, -1, np.int64)
        mine = _partial_place(place, step.source, mesh)
        for other, value in values.items():
            if _partial_place(other, step.source, mesh) == mine:
                _take(whole, box(step.source, shape, mesh, _named(other, mesh)))[...] = value
        result[place] = _take(whole, box(step.result, shape, mesh, _named(place, mesh)))
    return result


def _run(values: Values, step: Step, shape: tuple[int, ...], mesh: Mesh) -> Values:
    match step.kind:
        case "all_slice":
            return {place: _sliced(value, place, step.dim_axes, mesh) for place, value in values.items()}
        case "all_gather":
            return {place: _gathered(values, place, step.dim_axes, mesh) for place in values}
        case "all_reduce":
            return {place: _summed(values, _group(place, step.axes, mesh)) for place in values}
        case "reduce_scatter":
            axes = [axis for dim in step.dim_axes for axis in dim]
            return {
                place: _sliced(_summed(values, _group(place, axes, mesh)), place, step.dim_axes, mesh)
                for place in values
            }
        case "all_to_all":
            return {place: _traded(values, place, step, mesh) for place in values}
        case _:
            return _moved(values, step, shape, mesh)


def _summed(values: Values, group: list[Place]) -> Array:
    return np.sum([values[place] for place in group], axis=0)


def _traded(values: Values, place: Place, step: Step, mesh: Mesh) -> Array:
    group = _group(place, step.axes, mesh)
    me = group.index(place)
    pieces = [np.split(values[other], len(group), axis=step.target_dim)[me] for other in group]
    return np.concatenate(pieces, axis=step.source_dim)


def _derived(step: Step, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
    match step.kind:
        case "all_reduce":
            return algebra.all_reduce(spec, step.axes, mesh)
        case "reduce_scatter":
            return algebra.reduce_scatter(spec, step.dim_axes, mesh)
        case "all_gather":
            return algebra.all_gather(spec, step.dim_axes, mesh)
        case "all_slice":
            return algebra.all_slice(spec, step.dim_axes, mesh)
        case "all_to_all":
            return algebra.all_to_all(spec, step.axes, step.source_dim, step.target_dim, mesh)
        case "collective_permute":
            algebra.check_permute(spec, step.result, mesh)
        case _:
            algebra.check_exchange(spec, step.result, mesh)
    return step.result


def _local(spec: LayoutSpec, mesh: Mesh, contribution: dict[tuple[int, ...], Array]) -> Values:
    """What each device holds: its box of the results that its place on the partial axes contributes."""
    return {
        place: _take(whole, box(spec, whole.shape, mesh, _named(place, mesh)))
        for place in _places(mesh)
        for whole in [contribution[_partial_place(place, spec, mesh)]]
    }


def _contributions(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> dict[tuple[int, ...], Array]:
    chance = np.random.default_rng(0)
    sizes = [range(mesh.axis_size(axis)) for axis in spec.partial]
    return {place: chance.integers(0, 1 << 40, shape) for place in itertools.product(*sizes)}


@examples(250)
@given(relayouts())
def test_steps_rederive_and_reach_the_target(case: tuple[LayoutSpec, LayoutSpec, tuple[int, ...], Mesh]) -> None:
    source, target, shape, mesh = case
    spec = source
    for step in plan(source, target, shape, mesh).steps:
        assert algebra.canonical(step.source, mesh) == algebra.canonical(spec, mesh)
        algebra.local_shape(step.result, shape, mesh)
        spec = _derived(step, spec, mesh)
        assert algebra.canonical(spec, mesh) == algebra.canonical(step.result, mesh)
        assert step.share == cost.sent_share(step.kind, step.source, step.result, mesh)
        spec = step.result
    assert spec == target


@examples(150)
@given(relayouts())
def test_simulated_devices_end_with_the_right_boxes(
    case: tuple[LayoutSpec, LayoutSpec, tuple[int, ...], Mesh],
) -> None:
    source, target, shape, mesh = case
    contributions = _contributions(source, shape, mesh)
    values = _local(source, mesh, contributions)
    for step in plan(source, target, shape, mesh).steps:
        values = _run(values, step, shape, mesh)
    expected = _local(source.with_dims(((),) * source.rank), mesh, contributions)
    for place, value in values.items():
        whole = _summed(expected, _reduced_group(place, source, target, mesh))
        np.testing.assert_array_equal(value, _take(whole, box(target, shape, mesh, _named(place, mesh))))


def _reduced_group(place: Place, source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> list[Place]:
    """The devices whose contributions `place` must have summed."""
    reduced = algebra.all_reduce(source, target.partial, mesh).partial
    return _group(place, reduced, mesh)


@examples(400)
@given(relayouts())
def test_costs_stay_between_the_information_bound_and_gathering_everything(
    case: tuple[LayoutSpec, LayoutSpec, tuple[int, ...], Mesh],
) -> None:
    source, target, shape, mesh = case
    found = plan(source, target, shape, mesh)
    parts = algebra.shards(source, mesh)
    group = mesh.group_size(source.partial) // mesh.group_size(target.partial)
    most = Fraction(2 * (group - 1), group * parts) + 1 - Fraction(1, parts)
    if group == 1:
        assert found.share == cost.missing_share(source, target.with_partial(source.partial, source.kind), mesh)
    # Of `group` contributions to an element, all but one must leave their device.
    assert Fraction(group - 1, mesh.size) <= found.share <= most


@examples(250)
@given(relayouts())
def test_no_state_is_larger_than_both_ends_and_neighbours_are_joined(
    case: tuple[LayoutSpec, LayoutSpec, tuple[int, ...], Mesh],
) -> None:
    source, target, shape, mesh = case
    found: Plan = plan(source, target, shape, mesh)
    kinds = [step.kind for step in found.steps]
    if not (source.partial and algebra.crossing_axes((source, target), mesh)):
        largest = max(math.prod(algebra.local_shape(spec, shape, mesh)) for spec in (source, target))
        assert all(math.prod(algebra.local_shape(step.result, shape, mesh)) <= largest for step in found.steps)
        joined = {"all_reduce", "reduce_scatter", "all_gather", "all_slice"}
        assert not any(a == b and a in joined for a, b in itertools.pairwise(kinds))
