"""What goes along which axis: against every element of every device, and against the rounds that are written."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from random import Random

import pytest

from shardwright.compiler.exporting.messages import devices
from shardwright.layout.axes import Axis
from shardwright.layout.boxes import box
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.cost import missing_share
from shardwright.layout.planning.planner import plan
from shardwright.layout.planning.topology import Link, Topology
from shardwright.layout.planning.traffic import Moving, exchange_traffic, window_traffic
from shardwright.layout.planning.window import Window, givers, missing_elements
from shardwright.layout.spec import LayoutSpec

MESHES = (Mesh(a=2, b=2), Mesh(a=2, b=4), Mesh(a=4, b=2), Mesh(a=2, b=2, c=2), Mesh(a=4, b=2, c=2), Mesh(a=6, b=2))


def topology(random: Random, mesh: Mesh) -> Topology:
    """Each axis may be the slowest."""
    speeds = random.sample(range(1, 10), len(mesh.axis_names))
    links = {axis: Link(1e-6, speed * 1e9) for axis, speed in zip(mesh.axis_names, speeds, strict=True)}
    return Topology(links, flops=1e12, memory=1e12)


def layout(random: Random, mesh: Mesh, rank: int) -> LayoutSpec:
    atoms: list[Axis] = []
    for name, size in mesh.sizes.items():
        cuts = [part for part in range(2, size) if size % part == 0]
        cut = random.choice(cuts) if cuts and random.random() < 0.4 else 0
        atoms += [Axis(name, 1, cut), Axis(name, cut, size // cut)] if cut else [Axis(name)]
    random.shuffle(atoms)
    dims: list[list[Axis]] = [[] for _ in range(rank + 1)]
    for atom in atoms:
        random.choice(dims).append(atom)
    return LayoutSpec("mesh", tuple(map(tuple, dims[:rank])))


def exchanges(
    random: Random, mesh: Mesh, count: int, *shapes: tuple[int, ...]
) -> Iterator[tuple[LayoutSpec, LayoutSpec, tuple[int, ...]]]:
    """So many exchanges that relayouts between random layouts take, with shapes that they divide."""
    found: set[tuple[LayoutSpec, LayoutSpec]] = set()
    while len(found) < count:
        shape = random.choice(shapes or [(48,), (24, 24), (24, 24)])
        rank = len(shape)
        try:
            steps = plan(layout(random, mesh, rank), layout(random, mesh, rank), shape, mesh).steps
        except ValueError:
            continue  # the shape does not divide
        for step in steps:
            if step.kind == "exchange" and (step.source, step.result) not in found:
                found.add((step.source, step.result))
                yield step.source, step.result, shape


def crossed(
    source: LayoutSpec, target: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, order: Sequence[str]
) -> dict[str, float]:
    """The elements that a device gets on average, by the slowest axis that each has to cross from whoever holds it."""
    places = [dict(zip(mesh.axis_names, at, strict=True)) for at in itertools.product(*map(range, mesh.shape))]

    def held(spec: LayoutSpec) -> list[set[tuple[int, ...]]]:
        return [set(itertools.product(*(range(*ends) for ends in box(spec, shape, mesh, at)))) for at in places]

    before, after = held(source), held(target)
    apart = [
        [next((order.index(axis) for axis in order if one[axis] != other[axis]), len(order)) for other in places]
        for one in places
    ]
    found: Counter[str] = Counter()
    for receiver, needed in enumerate(after):
        for element in needed - before[receiver]:
            nearest = max(apart[sender][receiver] for sender in range(mesh.size) if element in before[sender])
            found[order[nearest]] += 1
    return {axis: count / mesh.size for axis, count in found.items()}


@pytest.mark.parametrize("mesh", MESHES, ids=repr)
def test_bytes_of_an_exchange_by_axis_are_the_least_possible_between_all_holders(mesh: Mesh) -> None:
    random = Random(7)
    for source, target, shape in exchanges(random, mesh, 25):
        on = topology(random, mesh)
        share = missing_share(source, target, mesh)
        assert share is not None
        sent = float(share) * math.prod(shape)
        found = {axis: part for axis, _, part in exchange_traffic(source, target, mesh, on, sent)}
        assert found == pytest.approx(crossed(source, target, shape, mesh, on.slowest_first(mesh.axis_names)))


@pytest.mark.parametrize("mesh", [mesh for mesh in MESHES if mesh.size <= 8], ids=repr)
def test_rounds_of_an_exchange_are_those_that_are_written(mesh: Mesh) -> None:
    """Where it is done in rounds: not at once, and no device hands on what all need."""
    random, compared = Random(8), 0
    for source, target, _ in exchanges(random, mesh, 40):
        route = devices.route(source, target, mesh)
        if route.at_once is None and route.groups is None:
            moving = [one for one in route.rounds if any(piece.sender != piece.receiver for piece in one)]
            found = exchange_traffic(source, target, mesh, topology(random, mesh), 1.0)
            assert sum(messages for _, messages, _ in found) == pytest.approx(len(moving))
            compared += 1
    assert compared > 10


@pytest.mark.parametrize("mesh", [Mesh(a=4, b=2, c=2), Mesh(a=2, b=8), Mesh(a=3, b=2, c=2), Mesh(a=6, b=2)], ids=repr)
def test_what_is_written_goes_from_machine_to_machine_no_more_than_it_must(mesh: Mesh) -> None:
    """At once, in rounds, or handed on: as many bytes as if each came from the nearest of all that have it."""
    random, ways = Random(9), Counter[str]()
    machine = mesh.size // mesh.shape[0]  # the last axes, up to eight devices
    for source, target, shape in exchanges(random, mesh, 40, (mesh.size, mesh.size), (mesh.size * 2, 2)):
        route = devices.route(source, target, mesh)
        piece = math.prod(shape) // math.prod(cut.parts for cut in devices.cuts(source, target, mesh))
        direct = devices.exchange(source, target, mesh) if route.at_once else itertools.chain(*route.rounds)
        far = sum(one.sender // machine != one.receiver // machine for one in direct)
        for group in route.groups if route.groups is not None else []:
            far += (len({int(device) // machine for device in group}) - 1) * len(group) * route.places
        least = crossed(source, target, shape, mesh, mesh.axis_names).get("a", 0.0) * mesh.size
        handed_on = route.groups is not None
        assert far * piece <= least if handed_on else far * piece == pytest.approx(least)
        ways["at once" if route.at_once else "handed on" if handed_on else "rounds"] += 1
    assert ways["rounds"] > 10


def test_where_counting_takes_too_long_all_goes_along_the_slowest_axis() -> None:
    """Parts that cross are counted place by place, and of these there are too many."""
    mesh = Mesh(x=2 * 524309 * 3, y=2)
    source, target = (LayoutSpec("mesh", ((Axis("x", 1, size), Axis("y")),)) for size in (2 * 524309, 3 * 524309))
    on = Topology({"x": Link(1, 2), "y": Link(1, 1)}, 1, 1)
    (found,) = exchange_traffic(source, target, mesh, on, 5.0)
    assert (found[0], found[2]) == ("y", 5.0)


def windows(random: Random, mesh: Mesh) -> list[Moving]:
    """Shifts, halos, reversals and strided slices of one dim or two, whose axes stand in any order."""
    axes = [Axis(name) for name in mesh.axis_names]
    if mesh.sizes["x"] == 4 and random.random() < 0.4:
        axes = [Axis("x", 1, 2), Axis("x", 2, 2), *axes[1:]]
    random.shuffle(axes)
    count = random.randrange(1, len(axes) + 1)
    groups = [tuple(axes[:count]), *([tuple(axes[count:])] if axes[count:] and random.random() < 0.5 else [])]
    found: list[Moving] = []
    for group in groups:
        parts = mesh.group_size(group)
        each, low, high = random.randrange(1, 5), random.randrange(2), random.randrange(3)
        size, frame = parts * each, low + each + high
        ways = [
            Window(size, size, random.choice([-2, -1, 1, 2])),
            Window(size, parts * frame, -low, frame=frame, step=each),
            Window(size, size, size - 1, stride=-1),
            Window(size, parts * random.choice([1, 2]), random.randrange(3), stride=2),
        ]
        found.append((random.choice(ways), group))
    return [(window, group) for window, group in found if window.moves]


def shown(window: Window, parts: int) -> list[list[int]]:
    """For each part of the result the parts of the operand that its elements come from, element by element."""
    found: list[list[int]] = [[] for _ in range(parts)]
    frame = window.frame or window.result
    for index in range(window.result):
        place = window.start + window.step * (index // frame) + window.stride * (index % frame)
        if place % window.dilation == 0 and 0 <= place < window.operand * window.dilation:
            found[index * parts // window.result].append(place // window.dilation * parts // window.operand)
    return found


def place(part: int, axes: Sequence[Axis], mesh: Mesh) -> dict[Axis, int]:
    found: dict[Axis, int] = {}
    for axis in reversed(axes):
        part, found[axis] = divmod(part, mesh.axis_size(axis))
    return found


@pytest.mark.parametrize("seed", range(60))
def test_windows_against_every_element_of_every_device(seed: int) -> None:
    random = Random(seed)
    mesh = Mesh(x=random.choice([2, 4]), y=2, z=random.choice([1, 2, 4]))
    moving, on = windows(random, mesh), topology(random, mesh)
    order = on.slowest_first(mesh.axis_names)
    lines = [shown(window, mesh.group_size(axes)) for window, axes in moving]
    wanted: Counter[str] = Counter()
    most = 0
    receivers = list(itertools.product(*(range(len(line)) for line in lines)))
    for receiver in receivers:
        boxes = itertools.product(*(Counter(line[at]).items() for line, at in zip(lines, receiver, strict=True)))
        senders = 0
        for box_of in boxes:
            apart = {
                axis.name
                for (_, axes), (giver, _), at in zip(moving, box_of, receiver, strict=True)
                for axis, digit in place(giver, axes, mesh).items()
                if digit != place(at, axes, mesh)[axis]
            }
            if apart:
                wanted[min(apart, key=order.index)] += math.prod(count for _, count in box_of)
                senders += 1
        most = max(most, senders)
    sent = float(missing_elements([(window, mesh.group_size(axes)) for window, axes in moving])) if moving else 0.0
    found = window_traffic(moving, mesh, on, sent)
    assert {axis: part for axis, _, part in found} == pytest.approx(
        {axis: count / len(receivers) for axis, count in wanted.items()}
    )
    assert sum(messages for _, messages, _ in found) == most


def test_parts_of_which_nobody_counts_each_frame() -> None:
    assert givers(Window(8, 6, 0), 4) is None  # an uneven split has other windows
    long = Window(4096, 4096 * 3, -1, frame=3, step=1)
    assert givers(long, 4) is None
    found = window_traffic([(long, (Axis("x"), Axis("y")))], Mesh(x=2, y=2), Topology.of(Mesh(x=2, y=2)), 7.0)
    assert found == [("x", 1.0, 7.0)]
