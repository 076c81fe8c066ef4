"""`Pipeline`: the stages of a model on meshes of their own, with several microbatches in flight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.emit import check_layout
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.compiler.tracing.settings import settled
from shardwright.diagnostics.faults import value_error
from shardwright.engines.jobs.timeline import span
from shardwright.engines.owned.owners import owner_of
from shardwright.frontends.arrays.shapes import split
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.frontends.functions.function import Function, function
from shardwright.frontends.functions.relayouts import constraint, relayout
from shardwright.frontends.functions.tape import GradientTape
from shardwright.frontends.training.distribute._schedule import Event, Move, Task, events
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout, Mesh
from shardwright.layout.spec import LayoutSpec

Stage: TypeAlias = Callable[[Any, Any], Any]
"""A stage of a model: a function of its weights and of its input."""


class Pipeline:
    """
    The stages of a model, each on a mesh of its own, and the schedule by which microbatches go through them.

    A call computes the loss of a batch and its gradients. The batch is cut into microbatches. Each stage goes ahead by
    as many of them as there are stages after it, then takes turns between one forward and one backward (1F1B), so that
    it holds the inputs of `stages - stage` microbatches at most; what it computed forward it computes again going back.
    Where stages lie on different processes they work at the same time. Gradients of microbatches add up on each
    device and are reduced once, at the end.

    Args:
        stages: for each stage a function of its weights, a tree, and of its input, an array or a tree of arrays.
        loss: a function of what the last stage gives and of what is wanted, which gives a number: the loss of the batch
            is the mean over its microbatches.
        layouts: for each stage the layout of its input, on the stage's mesh; dim 0 is the batch. The rows of a
            microbatch split evenly, unless the layouts say `uneven=True`.
        microbatches: into how many a batch is cut, along dim 0.

    Raises:
        ValueError: there is no stage, not a layout for each, or no microbatch (SW0556).
        TypeError: one of `layouts` is no layout (SW0515).

    (PipeDream-Flush: Narayanan et al., "Efficient Large-Scale Language Model Training on GPU Clusters", 2021.)

    >>> import numpy, shardwright as sw
    >>> mesh = sw.Mesh(stage=2, batch=2)
    >>> rows = [sw.Layout(["batch", None], mesh.submesh(stage=number)) for number in range(2)]
    >>> pipeline = sw.distribute.Pipeline(
    ...     [lambda w, x: sw.tanh(x @ w), lambda w, x: x @ w],
    ...     lambda y, wanted: sw.mean((y - wanted) ** 2),
    ...     rows,
    ...     microbatches=4,
    ... )
    >>> weights = [sw.ones((3, 3), layout=sw.Layout([], layout.mesh)) for layout in rows]
    >>> loss, gradients = pipeline(weights, numpy.zeros((16, 3), "float32"), numpy.ones((16, 3), "float32"))
    >>> float(loss), gradients[0].shape, gradients[1].mesh == rows[1].mesh
    (1.0, (3, 3), True)
    """

    @settled
    def __init__(self, stages: Sequence[Stage], loss: Stage, layouts: Sequence[Layout], microbatches: int) -> None:
        if not stages or len(stages) != len(layouts) or microbatches < 1:
            raise value_error(
                "SW0556",
                f"a pipeline of {len(stages)} stages, {len(layouts)} layouts and {microbatches} microbatches",
                help="give at least one stage, a layout for the input of each, and how many microbatches there are",
            )
        for layout in layouts:
            check_layout(layout, "Pipeline")
        self._layouts, self._microbatches = tuple(layouts), microbatches
        self._programs = _programs(stages, loss, layouts, microbatches)

    @property
    def meshes(self) -> tuple[Mesh, ...]:
        """
        The mesh of each stage.

        >>> import shardwright as sw
        >>> rows = sw.Layout(["batch"], sw.Mesh(batch=2))
        >>> sw.distribute.Pipeline([lambda w, x: x * w], lambda y, wanted: sw.mean(y), [rows], 1).meshes
        (Mesh(batch=2),)
        """
        return tuple(layout.mesh for layout in self._layouts)

    @property
    def bubble(self) -> float:
        """
        The part of its time in which a stage waits, where all take equally long and sending takes none.

        >>> import shardwright as sw
        >>> rows = [sw.Layout(["batch"], sw.Mesh(batch=2, stage=4).submesh(stage=number)) for number in range(4)]
        >>> sw.distribute.Pipeline([lambda w, x: x * w] * 4, lambda y, wanted: sw.mean(y), rows, 12).bubble
        0.2
        """
        ahead = len(self._layouts) - 1
        return ahead / (self._microbatches + ahead)

    def __call__(self, weights: Sequence[Any], x: Any, wanted: Any) -> tuple[Any, list[Any]]:
        """
        The loss of a batch, and for each stage the gradient of its weights: a tree like them, in their layouts.

        Args:
            weights: for each stage a tree of distributed tensors and variables on its mesh.
            x: an array or a tree of arrays, with the batch as dim 0, which the first stage takes.
            wanted: the same for the loss; its rows go along with those of the last stage's input.

        Raises:
            ValueError: there are not weights for each stage, weights are not on its mesh, a batch cannot be cut into
                equal microbatches, or their rows do not split evenly (SW0556).
        """
        self._check(weights)
        given, due = self._cut(x, "x", self._layouts[0]), self._cut(wanted, "wanted", self._layouts[-1])
        run = _Run(self._programs, self._layouts, weights, given, due)
        for event in self._events:
            run.do(event)
        finish = self._programs.finish
        return run.loss, [finish(found, like) for found, like in zip(run.totals, weights, strict=True)]

    @cached_property
    def _events(self) -> list[Event]:
        return events(len(self._layouts), self._microbatches)

    def _check(self, weights: Sequence[Any]) -> None:
        if len(weights) != len(self._layouts):
            raise value_error("SW0556", f"weights of {len(weights)} stages for a pipeline of {len(self._layouts)}")
        for number, (tree, mesh) in enumerate(zip(weights, self.meshes, strict=True)):
            for leaf in flatten(tree)[0]:
                if not isinstance(leaf, DTensor | Variable) or leaf.mesh != mesh:
                    raise value_error(
                        "SW0556",
                        f"the weights of stage {number} are not all on its mesh, {mesh!r}: {type(leaf).__name__}",
                        help="distribute each with relayout, or make it a Variable, in a layout on the stage's mesh",
                    )

    def _cut(self, batch: Any, what: str, layout: Layout) -> list[Any]:
        """The microbatches of a batch, or of a tree of arrays."""
        leaves, tree = flatten(batch)
        sizes = {leaf.shape[0] if getattr(leaf, "ndim", 0) else 0 for leaf in leaves}
        if len(sizes) != 1 or 0 in sizes or min(sizes) % self._microbatches:
            rows = ", ".join(map(str, sorted(sizes))) or "no"
            raise value_error(
                "SW0556",
                f"{what} has {rows} rows, which cannot be cut into {self._microbatches} equal microbatches",
                help="give arrays with as many rows each, a multiple of the number of microbatches",
            )
        _check_rows(min(sizes) // self._microbatches, layout, f"a microbatch of {what}")
        cut = [(split if isinstance(leaf, Array) else np.split)(leaf, self._microbatches) for leaf in leaves]
        return [unflatten(tree, parts) for parts in zip(*cut, strict=True)]


@dataclass(frozen=True)
class _Programs:
    """What stages run: `forward` of all but the last, `backward` of each, and `finish` for the gradients of one."""

    forward: list[Function[..., Any]]
    backward: list[Function[..., Any]]
    finish: Function[..., Any]


def _programs(stages: Sequence[Stage], loss: Stage, layouts: Sequence[Layout], microbatches: int) -> _Programs:
    def end(weights: Any, x: Any, wanted: Any) -> Any:
        return loss(stages[-1](weights, x), wanted) / microbatches

    backward = [
        function(_backward(stage, layout, first=not number))
        for number, (stage, layout) in enumerate(zip(stages[:-1], layouts[:-1], strict=True))
    ]
    backward.append(function(_last_backward(end, layouts[-1], first=len(stages) == 1)))
    return _Programs([function(stage) for stage in stages[:-1]], backward, function(_finished))


class _Run:
    """One call: the inputs that stages hold, and what has been added up."""

    def __init__(
        self,
        programs: _Programs,
        layouts: Sequence[Layout],
        weights: Sequence[Any],
        given: list[Any],
        wanted: list[Any],
    ) -> None:
        self._programs, self._layouts, self._weights = programs, layouts, weights
        self._given, self._wanted = given, wanted
        self._inputs: list[dict[int, Any]] = [{} for _ in weights]
        self._slopes: list[dict[int, Any]] = [{} for _ in weights]
        self._made: dict[Task, Any] = {}
        self._splits: list[dict[int, list[Layout]]] = [{} for _ in weights]
        """How a stage's results were split, which is how their gradients are wanted."""
        self.totals: list[Any] = [None] * len(weights)
        self.loss: Any = None

    def do(self, event: Event) -> None:
        """One task or move; what lies on other processes is passed over there."""
        if isinstance(event, Move):
            self._move(event.made_by)
            return
        here = self._layouts[event.stage].mesh.clients.is_here
        with span(event.name, "stage") if here else nullcontext():
            self._go_back(event) if event.backward else self._go_ahead(event)

    def _go_ahead(self, task: Task) -> None:
        made = self._programs.forward[task.stage](self._weights[task.stage], self._input(task))
        self._splits[task.stage][task.microbatch] = [leaf.layout for leaf in flatten(made)[0]]
        self._made[task] = made

    def _go_back(self, task: Task) -> None:
        stage, number = task.stage, task.microbatch
        last = stage == len(self._weights) - 1
        x = self._input(task)
        del self._inputs[stage][number]
        # The loss takes what is wanted, the other stages the gradient of what they gave.
        against = _placed(self._wanted[number], self._rows(stage)) if last else self._slopes[stage].pop(number)
        value, self.totals[stage], self._made[task] = self._programs.backward[stage](
            self._weights[stage], x, against, self.totals[stage]
        )
        if last:
            self.loss = value if self.loss is None else self.loss + value

    def _input(self, task: Task) -> Any:
        """What a stage takes of a microbatch: it has come from the stage before, or is cut from the batch now."""
        held = self._inputs[task.stage]
        if task.microbatch not in held:
            held[task.microbatch] = _placed(self._given[task.microbatch], self._layouts[0])
        return held[task.microbatch]

    def _rows(self, stage: int) -> Layout:
        """The layout of what has nothing but rows in common with a stage's input."""
        layout = self._layouts[stage]
        return Layout([layout.sharding_specs[0]], layout.mesh, uneven=layout.uneven)

    def _move(self, task: Task) -> None:
        made, number = self._made.pop(task), task.microbatch
        if task.backward:
            leaves, tree = flatten(made)
            pairs = zip(leaves, self._splits[task.stage - 1].pop(number), strict=True)
            self._slopes[task.stage - 1][number] = unflatten(tree, [relayout(leaf, split) for leaf, split in pairs])
        else:
            self._inputs[task.stage + 1][number] = _placed(made, self._layouts[task.stage + 1])


def _check_rows(rows: int, layout: Layout, what: str) -> None:
    """SW0556 where the rows are not the same for all devices, unless the layout says that it may be uneven."""
    parts = layout.mesh.group_size(layout.spec.dims[0]) if layout.spec.dims else 1
    if rows % parts and not layout.uneven:
        raise value_error(
            "SW0556",
            f"{what} has {rows} rows, which do not split evenly over the {parts} parts of {layout!r}",
            help="give as many rows as fit, fewer microbatches, or layouts that say uneven=True",
        )


def _placed(tree: Any, layout: Layout) -> Any:
    leaves, shape = flatten(tree)
    for leaf in leaves:
        _check_rows(leaf.shape[0] if leaf.ndim else 0, layout, "a stage's input")
    return unflatten(shape, [relayout(leaf, layout.for_rank(leaf.ndim)) for leaf in leaves])


def _backward(stage: Stage, layout: Layout, *, first: bool) -> Callable[..., Any]:
    """What a stage does going back: nothing, its gradients added to what there is, and its input's."""

    def back(weights: Any, x: Any, slope: Any, total: Any) -> Any:
        with GradientTape() as tape:
            made = stage(weights, x)
        own, further = _gradients(tape, made, weights, None if first else x, slope)
        return None, _added(own, total, weights, layout), further

    return back


def _last_backward(end: Callable[..., Any], layout: Layout, *, first: bool) -> Callable[..., Any]:
    """The same of the last stage, which gives the loss first."""

    def back(weights: Any, x: Any, wanted: Any, total: Any) -> Any:
        with GradientTape() as tape:
            made = end(weights, x, wanted)
        own, further = _gradients(tape, made, weights, None if first else x, None)
        return made, _added(own, total, weights, layout), further

    return back


def _gradients(tape: GradientTape, made: Any, weights: Any, x: Any, slope: Any) -> tuple[Any, Any]:
    """Those of the weights and of the input, which the first stage need not have: it may be of integers."""
    own, further = tape.gradient(made, [weights, x], slope, unconnected_gradients="zero")
    return own, further


def _added(own: Any, total: Any, weights: Any, layout: Layout) -> Any:
    """Gradients and what they add to, left in parts along the axes over which the batch is split."""
    leaves, tree = flatten(own)
    totals = [None] * len(leaves) if total is None else flatten(total)[0]
    parts = [_in_parts(weight.layout, layout) for weight in flatten(weights)[0]]
    found = [
        constraint(leaf if before is None else before + leaf, part)
        for leaf, before, part in zip(leaves, totals, parts, strict=True)
    ]
    return unflatten(tree, found)


def _in_parts(weight: Layout, rows: Layout) -> Layout:
    """A weight's layout, unreduced over the axes that split the batch and not the weight, where parts can wait."""
    owner = owner_of(weight.mesh)
    if owner is not None and not owner.takes_partial:
        return weight
    used = {axis.name for axis in weight.spec.axes()}
    over = tuple(axis for axis in rows.spec.dims[0] if axis.name not in used)
    spec = LayoutSpec(weight.spec.mesh, weight.spec.dims, partial=over, kind="sum" if over else "")
    return Layout.from_spec(spec, weight.mesh, uneven=weight.uneven)


def _finished(total: Any, weights: Any) -> Any:
    """Gradients in the layouts of their weights: what was left in parts is reduced, in as few messages as may be."""
    leaves, tree = flatten(total)
    pairs = zip(leaves, flatten(weights)[0], strict=True)
    return unflatten(tree, [relayout(leaf, weight.layout) for leaf, weight in pairs])
