"""`create_dtensor_iterable`: elements of any dataset as global batches that are distributed."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, cast

import numpy as np

from shardwright.compiler.tracing.emit import as_numpy
from shardwright.compiler.tracing.pytree import Tree, flatten, is_mapping, paths, unflatten
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.frontends.functions.relayouts import relayout
from shardwright.frontends.training.data_parts import Part, part_of, shares
from shardwright.frontends.training.prefetch import Prefetched
from shardwright.layout import Layout, Mesh

RAGGED = ("drop", "error", "smaller")
"""What can be done with a batch that lacks rows."""


@dataclass(frozen=True)
class _Plan:
    """How batches are put together."""

    layouts: Any
    batch_dimension: str | None
    elements: int
    part: Part
    ragged: str


def create_dtensor_iterable(
    dataset: Iterable[Any],
    element_layouts: Any,
    batch_dimension: str | None,
    num_elements_per_batch: int = 1,
    *,
    ragged: str = "drop",
    prefetch: int = 2,
    num_processes: int | None = None,
    process_id: int | None = None,
) -> DTensorIterable:
    """
    Distributed batches of a dataset's elements (RFC: `create_dtensor_iterable`).

    `dataset` is anything that can be iterated over: a list, a generator, a PyTorch `DataLoader`, a `tf.data.Dataset`.
    Its elements are arrays, or trees (dicts, lists, tuples, dataclasses) of things with `__array__`, whose first dim
    counts rows. `num_elements_per_batch` of them, one behind the other, are one batch, distributed as
    `element_layouts` say: one layout for all arrays (which need not have all of its unsharded dims), or a tree of
    layouts. `batch_dimension` is the mesh axis that splits the rows, `None` when none does.

    A batch is ragged when elements run out, when it has fewer rows than one before, or when its rows do not split
    evenly. `ragged` says what becomes of it: `"drop"` leaves it out, `"error"` raises `ValueError` (SW0551),
    `"smaller"` gives as many of its rows as split evenly. A first batch that is complete must split.

    A thread makes up to `prefetch` batches ahead of their use (0: no thread). An error of the dataset is raised where
    its batch would have been. The iterable can be iterated over as often as the dataset can; over a generator there is
    one iteration, which every `iter` continues.

    On a mesh over several processes (`Mesh.distributed`) each converts only the elements in which its devices have
    rows, if the batch axis is the mesh's first. With `num_processes` and `process_id` its batches lie on the
    part of the mesh that is its own.

    Raises `TypeError` (SW0550) for datasets and elements that cannot be batched, `ValueError` (SW0550) for arrays whose
    shapes do not fit together, and (SW0552) for processes that do not share out the mesh.

    >>> import numpy, shardwright
    >>> mesh = shardwright.Mesh(batch=4, model=2)
    >>> data = [(numpy.full((8, 3), i), numpy.full(8, i)) for i in range(5)]
    >>> batches = shardwright.create_dtensor_iterable(data, shardwright.Layout(["batch", None], mesh), "batch", 2)
    >>> rows, labels = next(iter(batches))
    >>> len(batches), rows.shape, labels
    (2, (16, 3), DTensor([0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1], i64[16@batch], Mesh(batch=4, model=2)))
    """
    check_dataset(dataset)
    if ragged not in RAGGED:
        raise value_error("SW0550", f"ragged={ragged!r} is none of {', '.join(map(repr, RAGGED))}")
    numbers = {"num_elements_per_batch": num_elements_per_batch, "prefetch": prefetch}
    given = {"num_processes": num_processes, "process_id": process_id}
    for name, number in {**numbers, **{key: value for key, value in given.items() if value is not None}}.items():
        if not hasattr(number, "__index__") or np.ndim(number):
            raise type_error("SW0550", f"{name} is a whole number, not {number!r}")
        least = int(name in ("num_elements_per_batch", "num_processes"))
        if number < least:
            raise value_error("SW0550", f"{name}={number} is below {least}")
    part = part_of(_mesh(element_layouts), batch_dimension, num_processes, process_id)
    plan = _Plan(element_layouts, batch_dimension, num_elements_per_batch, part, ragged)
    return DTensorIterable(dataset, plan, prefetch)


def check_dataset(dataset: Any) -> None:
    """TypeError (SW0550) for what cannot be iterated over."""
    if not hasattr(dataset, "__iter__") and not hasattr(dataset, "__getitem__"):
        raise type_error("SW0550", f"a {type(dataset).__name__} is no dataset", help="give anything with __iter__")


def own_batches(
    dataset: Iterable[Any], part: Part, batch_dimension: str, elements: int, *, ragged: str, prefetch: int
) -> DTensorIterable:
    """Batches of a dataset that gives only what the devices of this process have of each."""
    layout = Layout([batch_dimension], part.mesh)
    return DTensorIterable(dataset, _Plan(layout, batch_dimension, elements, part.own, ragged), prefetch)


class DTensorIterable(Iterable[Any]):
    """Distributed batches of a dataset's elements: what `create_dtensor_iterable` gives."""

    def __init__(self, dataset: Iterable[Any], plan: _Plan, prefetch: int) -> None:
        self._dataset = dataset
        self._plan = plan
        self._prefetch = prefetch
        self._only: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        if not hasattr(self._dataset, "__next__"):
            return self._started()
        if self._only is None:
            self._only = self._started()
        return self._only

    def __len__(self) -> int:
        """The number of batches, if the dataset knows how many elements it has."""
        elements = len(cast("Sequence[Any]", self._dataset))
        per_batch = self._plan.elements
        return elements // per_batch if self._plan.ragged == "drop" else -(-elements // per_batch)

    def _started(self) -> Iterator[Any]:
        dataset, plan = self._dataset, self._plan
        if self._prefetch == 0:
            return _batches(dataset, plan)
        return _Located(lambda: _batches(dataset, plan), self._prefetch)


class _Located(Prefetched):
    """Raises the coded errors of the thread at the line that asked for the batch."""

    def __next__(self) -> Any:
        try:
            return super().__next__()
        except ShardwrightError as error:
            raise type(error)([replace(found, location=caller()) for found in error.diagnostics]) from error


def _batches(dataset: Iterable[Any], plan: _Plan) -> Generator[Any]:
    """The batches, one after another."""
    most = 0
    with closing(_elements(dataset)) as elements:
        while group := list(islice(elements, plan.elements)):
            tree = group[0][1]
            leaves = [found for found, _ in group]
            sizes = [_size(found) for found in leaves]
            total = _total(sizes, most, plan)
            if total:
                most = max(most, total)
                yield _batch(leaves, sizes, total, tree, plan)
            if len(group) < plan.elements:
                break


def _elements(dataset: Iterable[Any]) -> Generator[tuple[list[Any], Tree]]:
    """The leaves of each element of a dataset, and their common tree; at the end the dataset's iterator is closed."""
    source = iter(dataset)
    first: Tree | None = None
    try:
        for element in source:
            leaves, tree = flatten(element)
            first = first or tree
            if tree != first:
                raise type_error(
                    "SW0550",
                    f"an element of the dataset holds {_shown(tree)}, the first one {_shown(first)}",
                    help="give elements with the same keys and lengths",
                )
            if not leaves:
                raise type_error(
                    "SW0550", "an element of the dataset holds no arrays", help="give arrays or trees of them"
                )
            yield leaves, tree
    finally:
        close = getattr(source, "close", None)
        if close is not None:
            close()


def _shown(tree: Tree) -> str:
    return ", ".join(paths(tree, "element")) or "nothing"


def _shape(leaf: Any) -> tuple[int, ...]:
    """The shape of an array, without converting it if it knows its shape itself."""
    if not hasattr(leaf, "__array__"):
        raise type_error(
            "SW0550",
            f"an element of the dataset holds a {type(leaf).__name__}, which is no array",
            help="give NumPy arrays, tensors, or anything else with __array__",
        )
    shape = getattr(leaf, "shape", None)
    return tuple(int(size) for size in (np.shape(as_numpy(leaf, "a dataset")) if shape is None else shape))


def _size(leaves: Sequence[Any]) -> int:
    """The number of rows of an element, which all of its arrays have."""
    shapes = [_shape(leaf) for leaf in leaves]
    if not all(map(len, shapes)) or len({shape[0] for shape in shapes}) > 1:
        raise value_error(
            "SW0550",
            f"arrays of shapes {', '.join(str(list(shape)) for shape in shapes)} have no common number of rows",
            help="the first dim of every array of an element counts its rows; give single examples a first dim of one",
        )
    return shapes[0][0]


def _total(sizes: Sequence[int], most: int, plan: _Plan) -> int:
    """How many rows of these elements become a batch; zero for a batch that is left out."""
    total, parts = sum(sizes), _parts(plan)
    complete = len(sizes) == plan.elements and total >= most
    if complete and total % parts == 0:
        return total
    if plan.ragged == "error" or (complete and not most):
        elements = f"{len(sizes)} of {plan.elements} elements"
        raise value_error(
            "SW0551",
            f"a batch of {elements} has {total} rows; the most before were {most}, the devices split rows by {parts}",
            help='leave a ragged batch out with ragged="drop", take what splits evenly of it with ragged="smaller"',
        )
    return 0 if plan.ragged == "drop" else total - total % parts


def _parts(plan: _Plan) -> int:
    """
    What the number of rows must be a multiple of: the devices that split the first dim of any array.

    A layout that may be uneven asks for nothing, unless the rows of a batch come from several processes.
    """
    alone = plan.part.stop - plan.part.start == plan.part.count
    binding = [one for one in _layouts(plan.layouts) if one.rank and not (one.uneven and alone)]
    sizes = [one.mesh.group_size(one.spec.dims[0]) for one in binding]
    return int(np.lcm.reduce([*sizes, 1]))


def _batch(group: list[list[Any]], sizes: Sequence[int], total: int, tree: Tree, plan: _Plan) -> Any:
    """The distributed tree of the first `total` rows of these elements, or of this process' part of them."""
    layouts = _matched(plan.layouts, tree)
    bounds = shares(sizes, *plan.part.rows(total))
    columns = zip(layouts, paths(tree, "element"), zip(*group, strict=True), strict=True)
    return unflatten(tree, [_joined(leaves, bounds, path, layout, plan) for layout, path, leaves in columns])


def _joined(leaves: Sequence[Any], bounds: Sequence[tuple[int, int]], path: str, layout: Layout, plan: _Plan) -> Any:
    """One distributed tensor of the rows of its elements; what lies outside of the bounds is not converted."""
    fitting = _trimmed(layout, len(_shape(leaves[0])))
    if plan.part.stop - plan.part.start < plan.part.count:
        _check_major(fitting, path, plan)
    wanted = [(leaf, bound) for leaf, bound in zip(leaves, bounds, strict=True) if bound[1]]
    arrays = [as_numpy(leaf, path)[first:last] for leaf, (first, last) in wanted]
    if len({(array.shape[1:], array.dtype) for array in arrays}) > 1:
        shown = ", ".join(sorted({f"{array.dtype}{list(array.shape)}" for array in arrays}))
        raise value_error("SW0550", f"{path}: {shown} cannot stand one behind the other")
    whole = arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
    if plan.part.whole is None:
        return relayout(whole, plan.part.layout(fitting))
    # Of several processes each has as many rows as the others.
    even = Layout.from_spec(fitting.spec, fitting.mesh)
    own: Any = relayout(whole, plan.part.layout(even))
    return DTensor(own.stacked, even.on(plan.part.whole))


def _check_major(layout: Layout, path: str, plan: _Plan) -> None:
    first = layout.sharding_specs[0] if layout.rank else ()
    if plan.batch_dimension not in ((first,) if isinstance(first, str) else first)[:1]:
        raise value_error(
            "SW0552",
            f"{path}: {layout} does not split the rows over {plan.batch_dimension!r} first, so processes share them",
            help="give every array a layout whose first dim is split by the batch dimension",
        )


def _trimmed(layout: Layout, rank: int) -> Layout:
    """The layout for a tensor of this rank: unsharded dims that it does not have are left out."""
    entries = layout.sharding_specs
    if layout.rank > rank and all(entry == Mesh.UNSHARDED for entry in entries[rank:]):
        return Layout(entries[:rank], layout.mesh, uneven=layout.uneven)
    return layout.for_rank(rank)


def _layouts(tree: Any) -> list[Layout]:
    """All layouts of a tree of them."""
    found = flatten(tree)[0]
    wrong = [one for one in found if not isinstance(one, Layout)]
    if wrong or not found:
        raise type_error(
            "SW0515",
            f"element_layouts: {wrong[0] if wrong else tree!r} is not a Layout",
            help="give one layout, or a tree of layouts like the dataset's elements",
        )
    return found


def _mesh(layouts: Any) -> Mesh:
    """The one mesh of all layouts."""
    meshes = {layout.mesh for layout in _layouts(layouts)}
    if len(meshes) > 1:
        raise value_error("SW0552", f"the layouts are on {len(meshes)} meshes", help="put all elements on one mesh")
    return meshes.pop()


def _matched(layouts: Any, tree: Tree) -> list[Layout]:
    """The layout of each leaf of a tree; one layout stands for all below it, and lists and tuples are alike."""
    if isinstance(layouts, Layout):
        return [layouts] * len(paths(tree))
    kind, keyed = tree.kind, is_mapping(tree.kind)
    if layouts is kind is None:
        return []
    if isinstance(layouts, dict) and keyed and set(cast("dict[Any, Any]", layouts)) == set(tree.keys):
        pairs = [(layouts[key], part) for key, part in zip(tree.keys, tree.parts, strict=True)]
    elif isinstance(layouts, list | tuple) and not (kind is None or keyed) and len(layouts) == len(tree.parts):
        pairs = list(zip(cast("Sequence[Any]", layouts), tree.parts, strict=True))
    else:
        raise type_error(
            "SW0550",
            f"element_layouts do not fit elements that hold {_shown(tree)}",
            help="give one layout for all arrays, or a tree like the elements",
        )
    return [layout for part_layouts, part in pairs for layout in _matched(part_layouts, part)]
