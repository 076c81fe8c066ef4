"""`shardwright.distribute`: strategies, which give variables and batches their places, as `tf.distribute` does."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.emit import shape_of
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import setting
from shardwright.diagnostics import SourceLocation
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import noted, value_error
from shardwright.frontends.functions.function import Function
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.keras.steps import KerasStep
from shardwright.frontends.training.data_parts import part_of
from shardwright.frontends.training.datasets import DTensorIterable, check_dataset, own_batches
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.scopes import entered
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout, Mesh
from shardwright.layout.layout_map import LayoutMap

R = TypeVar("R")

_strategies: ContextVar[tuple[DTensorStrategy, ...]] = ContextVar("shardwright_strategies", default=())

REDUCTIONS = ("sum", "mean", "max", "min")
"""The array functions of `reduce`."""


def get_strategy() -> DTensorStrategy | None:
    """The strategy in whose scope, or in whose `run`, this code is; None outside."""
    strategies = _strategies.get()
    return strategies[-1] if strategies else None


@dataclass(frozen=True)
class InputContext:
    """
    What a dataset function is told about the process that it feeds (RFC: `tf.distribute.InputContext`).

    >>> InputContext(num_input_pipelines=2, input_pipeline_id=1, num_replicas_in_sync=4).get_per_replica_batch_size(32)
    8
    """

    num_input_pipelines: int = 1
    input_pipeline_id: int = 0
    num_replicas_in_sync: int = 1

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """The rows of each replica; `ValueError` (SW0554) when they are not equally many."""
        if global_batch_size % self.num_replicas_in_sync:
            raise value_error(
                "SW0554", f"{global_batch_size} rows do not split evenly over {self.num_replicas_in_sync} replicas"
            )
        return global_batch_size // self.num_replicas_in_sync


class DTensorStrategy:
    """
    Where variables and batches lie (RFC: `tf.distribute.DTensorStrategy`).

    `batch_dim` is the axis of `default_mesh` that splits batches, by default the first one. Variables that are made in
    the `scope()` without a layout get the one that `layout_map` has for their name or their path in a module, and are
    replicated on the default mesh if it has none.

    Raises `ValueError` for an axis that the mesh lacks (SW0102) and for a mesh without axes (SW0554).

    >>> import shardwright as sw
    >>> class Model(sw.Module):
    ...     def __init__(self):
    ...         self.kernel = sw.Variable(sw.ones, shape=(4, 6))
    ...         self.bias = sw.Variable(sw.zeros, shape=(6,))
    >>> mesh = sw.Mesh(batch=4, model=2)
    >>> layouts = sw.LayoutMap({"kernel": sw.Layout([None, "model"], mesh)})
    >>> strategy = sw.distribute.DTensorStrategy(mesh, batch_dim="batch", layout_map=layouts)
    >>> with strategy.scope():
    ...     model = Model()
    >>> model.kernel.layout, model.bias.layout.is_replicated
    (Layout(['unsharded', 'model'], Mesh(batch=4, model=2)), True)
    """

    @settled
    def __init__(
        self,
        default_mesh: Mesh,
        batch_dim: str | None = None,
        layout_map: LayoutMap | Mapping[str, Layout] | None = None,
    ) -> None:
        if batch_dim is None and not default_mesh.axis_names:
            raise value_error("SW0554", "a mesh without axes has none for batches")
        self.mesh = default_mesh
        self.batch_dim = default_mesh.axis_names[0] if batch_dim is None else batch_dim
        patterns = {} if layout_map is None else layout_map
        self.layout_map = patterns if isinstance(patterns, LayoutMap) else LayoutMap(patterns, default_mesh)
        self.num_replicas_in_sync = default_mesh.dim_size(self.batch_dim)
        self._met: set[str] = set()
        self._traced = lru_cache(maxsize=64)(Function)

    @property
    def batch_layout(self) -> Layout:
        """The layout of batches: rows split over the batch axis."""
        return Layout([self.batch_dim], self.mesh)

    def scope(self) -> AbstractContextManager[DTensorStrategy]:
        """
        Variables that are made in this context have places.

        Paths are known when the context ends: then variables whose names meet no pattern, but whose paths in the
        modules that were made do, move there. Warns (SW0553) of patterns that nothing has met so far.
        """
        return self._scoped(caller())

    @contextmanager
    def _scoped(self, place: SourceLocation | None) -> Generator[DTensorStrategy]:
        scope = _VariableScope(self.mesh, self.layout_map)
        with self._current(), entered(scope):
            yield self
        self._met |= scope.settle()
        if scope.names:
            self.layout_map.warn_unmet(self._met, scope.names, place)
            self._met |= set(self.layout_map)

    @settled
    def run(self, fn: Callable[..., R], args: Any = (), kwargs: Mapping[str, Any] | None = None) -> R:
        """
        Calls a function on all devices (RFC: `strategy.run(train_step, next(batches))`).

        A plain Python function is traced; calls with the same function reuse the program. A batch that is a tuple or
        list is all arguments, anything else the only one.

        >>> import shardwright as sw
        >>> strategy = sw.distribute.DTensorStrategy(sw.Mesh(batch=2))
        >>> strategy.run(lambda x, y: x + y, (sw.ones(4, layout=strategy.batch_layout), 1.0))
        DTensor([2., 2., 2., 2.], f32[4@batch], Mesh(batch=2))
        """
        function: Callable[..., Any] = fn if isinstance(fn, Function | KerasStep) else self._traced(fn)
        positional = tuple(args) if isinstance(args, list | tuple) else (args,)
        with self._current():
            return function(*positional, **(kwargs or {}))

    def reduce(self, reduce_op: object, value: Any, axis: int | tuple[int, ...] | None = None) -> Array:
        """
        The sum, mean, maximum or minimum over dims of a tensor, by default over all (RFC: `strategy.reduce`).

        A distributed tensor is one tensor, not one for each replica: a number that a function returned is that number.
        `reduce_op` is `"sum"`, `"mean"`, `"max"` or `"min"` in any case, or something with such a name.

        >>> import numpy, shardwright as sw
        >>> strategy = sw.distribute.DTensorStrategy(sw.Mesh(batch=2))
        >>> float(strategy.reduce("SUM", sw.ones((4, 3), layout=strategy.batch_layout)))
        12.0
        """
        name = str(getattr(reduce_op, "name", reduce_op)).lower()
        if name not in REDUCTIONS:
            raise value_error("SW0554", f"{reduce_op!r} is no reduction", help=f"use {', '.join(REDUCTIONS)}")
        return ARRAY_FUNCTIONS[name](value, axis=axis) if shape_of(value) else value  # a number is the number

    def distribute_dataset_from_fn(
        self, dataset_fn: Callable[[InputContext], Iterable[Any]], *, ragged: str = "drop", prefetch: int = 2
    ) -> DTensorIterable:
        """
        Distributed batches of what `dataset_fn(context)` gives, one element for each replica (RFC: the same name).

        Each process' function is told which process it feeds, and gives the elements of its own replicas: the global
        batch has as many elements as the batch axis has coordinates. When it gives a generator, every iteration calls
        it again. `ragged` and `prefetch` are those of `create_dtensor_iterable`.
        """
        part = part_of(self.mesh, self.batch_dim)
        here = part.stop - part.start
        context = InputContext(part.count // here, part.start // here, part.count)
        first = dataset_fn(context)
        check_dataset(first)
        dataset = _Again(first, lambda: dataset_fn(context)) if hasattr(first, "__next__") else first
        return own_batches(dataset, part, self.batch_dim, here, ragged=ragged, prefetch=prefetch)

    def keras_step(self, model: Any, optimizer: Any, loss: Any, metrics: Sequence[Any] = ()) -> KerasStep:
        """
        One step of training a Keras model by a Keras optimizer, as a function for `run` (needs the extra `keras`).

        `loss` is a Keras loss, or its name; `metrics` are Keras metrics. Variables lie as the layout map says for their
        paths, the optimizer's slots beside them. What is learnt stays on the mesh until `write_back()` of what this
        gives. Raises `ValueError` (SW0555) without Keras 3 on JAX, and for layouts that JAX cannot state.

        ```
        step = strategy.keras_step(model, keras.optimizers.Adam(), "mse")
        losses = [strategy.run(step, batch) for batch in dataset]
        step.write_back()
        ```
        """
        return KerasStep(model, optimizer, loss, metrics, (self.batch_layout, self.layout_map))

    def _current(self) -> AbstractContextManager[object]:
        return setting(_strategies, (*_strategies.get(), self))


class _Again(Iterable[Any]):
    """A dataset that can be read only once, and is made again for each further reading."""

    def __init__(self, first: Iterable[Any], make: Callable[[], Iterable[Any]]) -> None:
        self._first: Iterable[Any] | None = first
        self._make = make

    def __iter__(self) -> Iterator[Any]:
        found = self._make() if self._first is None else self._first
        self._first = None
        return iter(found)


class _VariableScope:
    """Gives variables layouts by name at once, and by path when all modules are made."""

    def __init__(self, mesh: Mesh, layout_map: LayoutMap) -> None:
        self._map = layout_map
        self._default = Layout(Mesh.UNSHARDED, mesh)
        self._modules: list[weakref.ref[Module]] = []
        self._made: list[weakref.ref[Variable]] = []
        self.names: list[str] = []

    def layout_of(self, variable: Variable) -> Layout:
        self._made.append(weakref.ref(variable))
        self.names.append(variable.name)
        found = self._map.patterns(variable.name)
        return self._map[found[0]] if found else self._default

    def see(self, module: Module) -> None:
        self._modules.append(weakref.ref(module))

    def settle(self) -> set[str]:
        """Moves variables whose paths meet a pattern that their names did not; the patterns that were met."""
        paths = self._paths()
        met: set[str] = set()
        for variable in [found for one in self._made if (found := one()) is not None]:
            path = paths.get(id(variable), variable.name)
            patterns = self._map.patterns(variable.name) or self._map.patterns(path)
            self._map.warn_several(path, patterns)
            met |= set(patterns)
            if patterns and variable.layout == self._default.for_rank(len(variable.shape)):
                with noted(f"the variable is {path!r}"):
                    variable.set_layout(self._map[patterns[0]])
        return met

    def _paths(self) -> dict[int, str]:
        """The longest path of each variable in the modules that were made."""
        found: dict[int, str] = {}
        for module in [module for one in self._modules if (module := one()) is not None]:
            for path, variable in module.named_variables().items():
                found[id(variable)] = max(path, found.get(id(variable), ""), key=len)
        return found
