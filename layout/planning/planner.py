"""
The relayout planner: a shortest path over layouts, weighed by the bytes that each device sends.

A layout is a state, a collective is an edge. Only parts of axes ("atoms") that differ between source and target move,
no state is larger per device than both ends, and ties are decided by fewer messages, then by named collectives before
`exchange`, then by fewer steps.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from itertools import chain, pairwise

from shardwright.layout.axes import Axis, cut, merge_adjacent, remaining
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.planning.algebra import atom_digits, canonical, crossing_axes, local_shape, spelled, without
from shardwright.layout.planning.cost import messages, missing_share
from shardwright.layout.planning.moves import (
    NOTHING,
    REDUCTIONS,
    Move,
    Problem,
    State,
    all_reduce_share,
    common_prefixes,
    exchanges,
    message_moves,
    slices,
)
from shardwright.layout.spec import LayoutSpec


@dataclass(frozen=True, slots=True)
class Step:
    """
    One collective of a plan: what it turns into what, its arguments, and what it sends.

    `axes` are the arguments of `all_reduce`, `all_to_all` and `unreduce`, `dim_axes` those of `reduce_scatter`,
    `all_gather`, `all_slice` and `unscatter`. `share` is the bytes that a device sends as a fraction of the global
    tensor's bytes.
    """

    kind: str
    source: LayoutSpec
    result: LayoutSpec
    share: Fraction
    axes: tuple[Axis, ...] = ()
    dim_axes: tuple[tuple[Axis, ...], ...] = ()
    source_dim: int = -1
    target_dim: int = -1


@dataclass(frozen=True, slots=True)
class Plan:
    """The collectives that turn one layout into another, in order, and the sum of their shares."""

    steps: tuple[Step, ...]
    share: Fraction

    @property
    def messages(self) -> int:
        """The messages that a device counts."""
        return sum(messages(step.kind) for step in self.steps)


@lru_cache(maxsize=1 << 16)
def plan(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> Plan:
    """
    The cheapest sequence of collectives from `source` to `target` for a tensor of `shape`.

    Equal layouts need no steps; layouts that differ in spelling only need one empty `all_slice`. Otherwise the last
    step's result is `target` as given (closed). Where `target` is partial and `source` is not, one of the devices keeps
    the value and the others have nothing to add (`unreduce`), or each has its part (`unscatter`), which sends nothing.

    Raises `ValueError` when a layout does not fit the shape.

    >>> row, column = LayoutSpec("mesh", ((Axis("x"),), ())), LayoutSpec("mesh", ((), (Axis("x"),)))
    >>> [(step.kind, step.axes) for step in plan(row, column, (8, 8), Mesh(x=4)).steps]
    [('all_to_all', (Axis(name='x', pre=1, size=0),))]
    """
    source, target = source.close(), target.close()
    if source == target:
        return Plan((), NOTHING)
    for spec in (source, target):
        local_shape(spec, shape, mesh)
    start, end = canonical(source, mesh), canonical(target, mesh)
    if start == end:
        return Plan((Step("all_slice", source, target, NOTHING, dim_axes=((),) * target.rank),), NOTHING)
    if start.mesh != end.mesh:
        raise ValueError(f"the layouts are on different meshes: @{start.mesh} and @{end.mesh}")
    lacking = _lacking(start, end, mesh)
    steps = _unreduced(start, end, lacking, shape, mesh) if lacking else _planned(start, end, shape, mesh)
    steps[0] = replace(steps[0], source=source)
    steps[-1] = replace(steps[-1], result=target)
    return Plan(tuple(steps), sum((step.share for step in steps), NOTHING))


@lru_cache(maxsize=1 << 18)
def cost_share(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> float:
    """
    `plan(...).share` as a float, for inner loops.

    >>> cost_share(LayoutSpec("mesh", ((Axis("x"),),)), LayoutSpec("mesh", ((),)), (8,), Mesh(x=4))
    0.75
    """
    # Of a dim it matters by what parts it divides, not how many elements there are: shapes of one kind have one plan.
    alike = tuple(math.gcd(size, mesh.size) for size in shape)
    return _share(*_renamed(source, target, alike, mesh), mesh)


@lru_cache(maxsize=1 << 16)
def cost_messages(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> int:
    """
    `plan(...).messages`, for inner loops.

    >>> cost_messages(LayoutSpec("mesh", ((Axis("x"),),)), LayoutSpec("mesh", ((),)), (8,), Mesh(x=4))
    1
    """
    alike = tuple(math.gcd(size, mesh.size) for size in shape)
    one, other, sizes = _renamed(source, target, alike, mesh)
    return plan(one, other, sizes, mesh).messages


@lru_cache(maxsize=1 << 16)
def _share(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> float:
    return float(plan(source, target, shape, mesh).share)


def _renamed(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh
) -> tuple[LayoutSpec, LayoutSpec, tuple[int, ...]]:
    """
    The same change with its dims in another order, and axes of one size named as they come: what is sent is the same.

    >>> x, y = Axis("x"), Axis("y")
    >>> row, column = LayoutSpec("mesh", ((x,), ())), LayoutSpec("mesh", ((), (y,)))
    >>> _renamed(column, row, (4, 2), Mesh(x=4, y=4)) == _renamed(row, column, (2, 4), Mesh(x=4, y=4))
    True
    """
    dims = sorted(range(source.rank), key=lambda dim: _likeness(source, target, shape, mesh, dim))
    sides = [spec.with_dims(tuple(spec.dims[dim] for dim in dims)) for spec in (source, target)]
    free: dict[int, list[str]] = {}
    for name, size in mesh.sizes.items():
        free.setdefault(size, []).append(name)
    met = dict.fromkeys(axis.name for spec in sides for axis in spec.axes())
    names = {name: free[mesh.sizes[name]].pop(0) for name in met}
    one, other = (_with_names(spec, names, mesh) for spec in sides)
    return one, other, tuple(shape[dim] for dim in dims)


def _likeness(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, dim: int
) -> tuple[list[tuple[int, int, int]], ...]:
    """What a dim is, by whatever names its axes go."""
    axes = ([(mesh.sizes[one.name], one.pre, one.size) for one in spec.dims[dim]] for spec in (source, target))
    return *axes, [(shape[dim], 0, 0)]


def _with_names(spec: LayoutSpec, names: Mapping[str, str], mesh: Mesh) -> LayoutSpec:
    dims, partial = (
        [tuple(axis._replace(name=names[axis.name]) for axis in axes) for axes in given]
        for given in (spec.dims, (spec.partial,))
    )
    summed = sorted(partial[0], key=lambda axis: (mesh.axis_names.index(axis.name), axis.pre))
    return LayoutSpec(spec.mesh, tuple(dims), frozenset(), tuple(summed), spec.kind)


def _lacking(source: LayoutSpec, target: LayoutSpec, mesh: Mesh) -> tuple[Axis, ...]:
    """The axes over which a value is to become partial; all of the target's where its parts combine otherwise."""
    if not source.partial or not target.partial or source.kind != target.kind:
        return target.partial
    sides = [spec.with_dims(((),) * spec.rank) for spec in (source, target)]
    if crossing_axes(sides, mesh):
        return target.partial
    atoms = atom_digits(sides, mesh)
    had = spelled(source.partial, atoms, mesh)
    parts = (mesh.part(*atoms[atom]) for atom in spelled(target.partial, atoms, mesh) if atom not in had)
    return merge_adjacent(parts, mesh.sizes)


def _unreduced(
    source: LayoutSpec, target: LayoutSpec, lacking: Sequence[Axis], shape: tuple[int, ...], mesh: Mesh
) -> list[Step]:
    """
    To the target without the axes over which the value is to become partial, then to the target.

    Of these axes those that split a dim at the source may stay at its minor end until the last, where that sends less.
    """
    finished = algebra.all_reduce(target, lacking, mesh)
    ways = [_with_rest(source, finished, target, (), shape, mesh)]
    split = _split_by(source, target, lacking, mesh)
    dims = tuple((*dim, *more) for dim, more in zip(finished.dims, split, strict=True))
    if any(split) and not any(size % mesh.group_size(dim) for size, dim in zip(shape, dims, strict=True)):
        ways.append(_with_rest(source, canonical(finished.with_dims(dims), mesh), target, split, shape, mesh))
    return min(ways, key=_price)


def _with_rest(
    source: LayoutSpec,
    middle: LayoutSpec,
    target: LayoutSpec,
    split: Sequence[tuple[Axis, ...]],
    shape: tuple[int, ...],
    mesh: Mesh,
) -> list[Step]:
    """The steps to `middle`, and from there those that send nothing."""
    steps = list(plan(source, middle, shape, mesh).steps)
    if any(split):
        placed = algebra.unscatter(middle, split, target.kind, mesh)
        steps.append(Step("unscatter", middle, placed, NOTHING, dim_axes=tuple(split)))
        middle = placed
    rest = remaining(target.partial, middle.partial, mesh.sizes)
    return steps if not rest else [*steps, Step("unreduce", middle, target, NOTHING, rest)]


def _split_by(source: LayoutSpec, target: LayoutSpec, lacking: Sequence[Axis], mesh: Mesh) -> list[tuple[Axis, ...]]:
    """For each dim of the source those of these axes that split it; of axes whose parts cross, none."""
    if crossing_axes((source, target), mesh):
        return [() for _ in source.dims]
    pieces = cut([*lacking, *(axis for dim in source.dims for axis in dim)], mesh.sizes)
    wanted = {piece for axis in lacking for piece in pieces[axis]}
    found = [[piece for axis in dim for piece in pieces[axis] if piece in wanted] for dim in source.dims]
    return [merge_adjacent(axes, mesh.sizes) for axes in found]


def _planned(source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh) -> list[Step]:
    """The steps between two different layouts in canonical spelling."""
    crossing = crossing_axes((source, target), mesh)
    if crossing:
        return _across_parts(source, target, shape, mesh, crossing)
    problem = Problem(source, target, shape, mesh, atom_digits((source, target), mesh))
    path = _direct(problem) or _shortest(problem) or _through_common_prefixes(problem)
    return [_step(problem, move) for move in _merged(path)]


def _merged(path: list[Move]) -> list[Move]:
    """Two scatters in a row are one: of other parts along other dims, it sends the same in one message."""
    found: list[Move] = []
    for move in path:
        if found and found[-1].kind == move.kind == "reduce_scatter":
            before = found.pop()
            atoms = tuple(one + other for one, other in zip(before.atoms, move.atoms, strict=True))
            move = Move(move.kind, before.source, move.result, before.share + move.share, atoms)
        found.append(move)
    return found


def _across_parts(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, crossing: frozenset[str]
) -> list[Step]:
    """
    Between layouts whose parts cross (2 x 3 against 3 x 2 of an axis of size 6): an exchange, once sums are finished.

    Such parts have no common refinement, so that no named collective moves anything smaller than the whole axis.
    """
    due = remaining(source.partial, target.partial, mesh.sizes)
    middles = _finished(source, due, shape, mesh)
    ways = [[*plan(source, middle, shape, mesh).steps, *plan(middle, target, shape, mesh).steps] for middle in middles]
    share = None if due else missing_share(source, target, mesh)
    if share is not None:
        ways.append([Step("exchange", source, target, share)])
    ways.append(_around(source, target, shape, mesh, crossing))
    return min(ways, key=_price)


def _price(steps: Sequence[Step]) -> tuple[Fraction, int, bool]:
    share = sum((step.share for step in steps), NOTHING)
    return share, sum(messages(step.kind) for step in steps), any(step.kind == "exchange" for step in steps)


def _finished(source: LayoutSpec, due: Sequence[Axis], shape: tuple[int, ...], mesh: Mesh) -> Iterator[LayoutSpec]:
    """What partial sums that are due may become before the rest moves: finished by all, or in parts along a dim."""
    if not due:
        return
    whole = algebra.all_reduce(source, due, mesh)
    yield whole
    for dim, axes in enumerate(whole.dims):
        if shape[dim] % mesh.group_size((*axes, *due)) == 0:
            dims = (*whole.dims[:dim], (*axes, *due), *whole.dims[dim + 1 :])
            yield canonical(whole.with_dims(dims), mesh)


def _around(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, crossing: frozenset[str]
) -> list[Step]:
    """Gathers and reduces along the axes whose parts cross, then goes on without them."""
    middle = without(source, crossing)
    partial = (*middle.partial, *(axis for axis in target.partial if axis.name in crossing))
    middle = canonical(middle.with_partial(partial, source.kind), mesh)
    return [*plan(source, middle, shape, mesh).steps, *plan(middle, target, shape, mesh).steps]


def _direct(problem: Problem) -> list[Move] | None:
    """One named collective that nothing can beat, found without a graph."""
    moves = chain(slices(problem, problem.start), message_moves(problem, problem.start))
    found = next((move for move in moves if move.result == problem.goal), None)
    if found is None:
        return None
    if found.kind in REDUCTIONS:
        # Nothing but the reduced axes differs, so there is nothing that could make the reduction cheaper.
        return [found]
    held = problem.held(problem.start.dims, problem.goal.dims)
    least = None if held is None else Fraction(1, problem.shards(problem.goal.dims)) - held
    return [found] if found.share == least else None


def _shortest(problem: Problem) -> list[Move] | None:
    """The lightest path from start to goal, or `None` when no path keeps the memory bound."""
    import networkx as nx

    edges = _explored(problem)
    # Weights are exact whole numbers: bytes first, then messages, exchanges and steps.
    scale = math.lcm(*(move.share.denominator for move in edges.values()))
    graph: nx.DiGraph[State] = nx.DiGraph()
    graph.add_node(problem.start)
    for (source, result), move in edges.items():
        graph.add_edge(source, result, weight=_weight(move, scale))
    try:
        states = nx.dijkstra_path(graph, problem.start, problem.goal)
    except nx.NetworkXNoPath:
        return None
    return [edges[pair] for pair in pairwise(states)]


def _weight(move: Move, scale: int) -> int:
    order = messages(move.kind) << 20 | int(move.kind == "exchange") << 10 | 1
    return move.share.numerator * (scale // move.share.denominator) << 30 | order


def _explored(problem: Problem) -> dict[tuple[State, State], Move]:
    """The best move between each two states that a useful path may visit, in a fixed order."""
    edges: dict[tuple[State, State], Move] = {}
    done: set[tuple[State, bool]] = set()
    # An exchange right away is never worse than one later, unless a reduction comes between.
    direct = list(exchanges(problem, problem.start))
    queue: deque[tuple[State, bool]] = deque([(problem.start, False)])
    # Without a reduction, one exchange sends the least there is: a better path has one message and free slices.
    one_message = bool(direct) and not problem.start.partial
    _record(edges, direct)
    queue.extend((move.result, True) for move in direct)
    while queue:
        state, spent = queue.popleft()
        if (state, spent) in done:
            continue
        done.add((state, spent))
        moves = list(slices(problem, state))
        sending = [] if spent and one_message else list(message_moves(problem, state))
        entries = [move.result for move in sending if move.kind in REDUCTIONS]
        sending += [move for entry in entries for move in exchanges(problem, entry)]
        _record(edges, chain(moves, sending))
        queue.extend((move.result, spent) for move in moves)
        queue.extend((move.result, True) for move in sending)
    return edges


def _record(edges: dict[tuple[State, State], Move], moves: Iterable[Move]) -> None:
    for move in moves:
        pair = move.source, move.result
        known = edges.get(pair)
        if known is None or _rank(move) < _rank(known):
            edges[pair] = move


def _rank(move: Move) -> tuple[Fraction, int, bool]:
    return move.share, messages(move.kind), move.kind == "exchange"


def _through_common_prefixes(problem: Problem) -> list[Move]:
    """
    Reduces, gathers what differs, slices: the way that always exists.

    Taken only where an exchange is too large to count exactly, and no other path keeps the memory bound.
    """
    start, goal = problem.start, problem.goal
    reduced, middle = State(start.dims, ()), State(common_prefixes(problem), ())
    gathered = tuple(dim[len(kept) :] for dim, kept in zip(start.dims, middle.dims, strict=True))
    added = tuple(dim[len(kept) :] for dim, kept in zip(goal.dims, middle.dims, strict=True))
    share = Fraction(1, problem.shards(middle.dims)) - Fraction(1, problem.shards(start.dims))
    moves = [
        Move("all_reduce", start, reduced, all_reduce_share(problem, start, start.partial), (start.partial,)),
        Move("all_gather", reduced, middle, share, gathered),
        Move("all_slice", middle, goal, NOTHING, added),
    ]
    return [move for move in moves if any(move.atoms)]


def _step(problem: Problem, move: Move) -> Step:
    source, result = problem.spec(move.source), problem.spec(move.result)
    match move.kind:
        case "all_reduce":
            return Step(move.kind, source, result, move.share, problem.axes(sorted(move.atoms[0])))
        case "all_to_all":
            axes = problem.axes(move.atoms[0])
            return Step(move.kind, source, result, move.share, axes, (), move.source_dim, move.target_dim)
        case _:
            return Step(move.kind, source, result, move.share, dim_axes=tuple(map(problem.axes, move.atoms)))
