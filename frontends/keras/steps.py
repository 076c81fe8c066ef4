"""
Keras models trained on a mesh (the extra `keras`): JAX lowers a training step, which runs here like any other program.

The step is that of Keras itself, without state (`model.stateless_call`, `optimizer.stateless_apply`), lowered with the
layouts of a layout map. The weights stay on the mesh between steps, until they are written back.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import replace
from importlib import import_module
from itertools import chain, count
from typing import Any, NamedTuple

import numpy as np

from shardwright.compiler.stages import Compiled, Traced
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.frontends.functions.namespace import ARRAY_FUNCTIONS
from shardwright.frontends.functions.relayouts import relayout
from shardwright.layout import Layout, Mesh
from shardwright.layout.layout_map import LayoutMap


class _State(NamedTuple):
    """Everything that a step changes, or the layouts or Keras variables of it."""

    trainable: list[Any]
    non_trainable: list[Any]
    optimizer: list[Any]
    metrics: list[Any]


class KerasStep:
    """
    One step of training a Keras model on a mesh: `step(x, y)` gives the loss.

    What `DTensorStrategy.keras_step` makes. Batches are distributed tensors, in any layout that splits their rows over
    the batch axis, or arrays. Metrics are updated with labels and predictions, plain means and sums with the loss.
    `write_back()` brings the weights and the states of optimizer and metrics to the Keras objects.
    """

    def __init__(
        self,
        model: Any,
        optimizer: Any,
        loss: Any,
        metrics: Sequence[Any],
        places: tuple[Layout, LayoutMap],
    ) -> None:
        self._keras = _keras()
        if not isinstance(model, self._keras.Model):
            raise type_error("SW0510", f"keras_step: model cannot be {model!r}", help="it is a keras.Model")
        if isinstance(loss, (list, tuple, dict)):
            message = f"keras_step: loss cannot be {loss!r}"
            raise type_error("SW0510", message, help="it is one loss, of the labels and all that the model gives")
        self._model = model
        self._trains = _takes_training(model)
        self._optimizer = self._keras.optimizers.get(optimizer)
        self._loss = self._keras.losses.get(loss)
        self._metrics = [self._keras.metrics.get(metric) for metric in metrics]
        self._batch, self._layouts = places
        self._variables: _State | None = None
        self._state: _State | None = None
        self._programs: dict[Hashable, Compiled] = {}

    def __call__(self, x: Any, y: Any) -> Any:
        """Trains on one batch; the loss."""
        batch = self._placed(x), self._placed(y)
        if self._state is None:
            self._begin(x)
        assert self._state is not None
        leaves, tree = flatten(batch)
        key = tree, tuple((leaf.shape, leaf.dtype, leaf.layout) for leaf in leaves)
        if key not in self._programs:
            self._programs[key] = self._compiled(batch)
        *state, loss = self._programs[key](*self._state, *batch)
        self._state = _State(*state)
        return loss

    @property
    def ledger(self) -> Any:
        """What the last step that was compiled sent when it ran."""
        return next(reversed(self._programs.values())).ledger

    @property
    def tensors(self) -> dict[str, Any]:
        """
        What has been learnt so far, and all states, by the paths of Keras: tensors on the mesh.

        Of several variables with one path, which Keras has, the second has `_1` behind it, and so on.
        """
        found: dict[str, Any] = {}
        for variable, value in self._held():
            others = (f"{variable.path}_{number}" for number in count(1))
            found[next(name for name in chain([variable.path], others) if name not in found)] = value
        return found

    def write_back(self) -> None:
        """Brings the weights and all states to the Keras objects; steps go on with their own."""
        for variable, value in self._held():
            variable.assign(np.asarray(value))

    def _held(self) -> Iterator[tuple[Any, Any]]:
        """Each variable of Keras with the tensor that it has become; none before the first step."""
        return zip(flatten(self._variables)[0], flatten(self._state)[0], strict=True)

    def _begin(self, x: Any) -> None:
        """Builds what Keras has not built yet, and brings all variables to the mesh."""
        model, optimizer = self._model, self._optimizer
        if not model.built:
            leaves, tree = flatten(x)
            model(unflatten(tree, [np.asarray(leaf)[:1] for leaf in leaves]))
        if not optimizer.built:
            optimizer.build(model.trainable_variables)
        self._variables = _State(
            list(model.trainable_variables),
            list(model.non_trainable_variables),
            list(optimizer.variables),
            [variable for metric in self._metrics for variable in metric.variables],
        )
        placed = [[relayout(np.asarray(one), self._layout(one)) for one in part] for part in self._variables]
        self._state = _State(*placed)

    def _layout(self, variable: Any) -> Layout:
        """The layout of a Keras variable; a slot of an optimizer lies where its variable does."""
        rank = len(variable.shape)
        for other in self._model.trainable_variables if rank else ():
            slot = f"/{other.path.replace('/', '_')}_"
            if slot in f"/{variable.path.partition('/')[2]}" and tuple(other.shape) == tuple(variable.shape):
                variable = other
                break
        layout = self._layouts.get(variable, Layout(Mesh.UNSHARDED, self._batch.mesh)).for_rank(rank)
        if layout.mesh != self._batch.mesh:
            raise _refused(f"{variable.path} is to lie on {layout.mesh!r}", "a Keras model lies on one mesh")
        return layout

    def _placed(self, batch: Any) -> Any:
        """A batch of distributed tensors, of types that JAX has."""
        leaves, tree = flatten(batch)
        canonical = import_module("jax").dtypes.canonicalize_dtype
        placed: list[Any] = []
        for leaf in leaves:
            whole = leaf if isinstance(leaf, Array) else np.asarray(leaf)
            dtype = np.dtype(canonical(whole.dtype))
            typed = whole if whole.dtype == dtype else ARRAY_FUNCTIONS["astype"](whole, dtype)
            here = isinstance(typed, Array) and typed.layout is not None and typed.layout.mesh == self._batch.mesh
            placed.append(typed if here else relayout(typed, self._batch))
        return unflatten(tree, placed)

    def _compiled(self, batch: tuple[Any, Any]) -> Compiled:
        """The program of a step for batches of these types and layouts."""
        jax = import_module("jax")
        mesh = self._batch.mesh
        abstract = jax.sharding.AbstractMesh(mesh.shape, mesh.axis_names)
        assert self._state is not None
        leaves, tree = flatten((*self._state, *batch))
        shapes = [
            jax.ShapeDtypeStruct(one.shape, one.dtype, sharding=_sharding(jax, abstract, one.layout)) for one in leaves
        ]
        given = unflatten(tree, shapes)
        kept = [[one.sharding for one in part] for part in given[: len(self._state)]]
        loss = jax.sharding.NamedSharding(abstract, jax.sharding.PartitionSpec())
        jitted = jax.jit(self._step(jax), out_shardings=(*kept, loss))
        lowered = jitted.trace(*given).lower(lowering_platforms=("cpu",))
        from shardwright.frontends.jax.importing import from_jax  # loads with the first step

        return _on(from_jax(lowered), mesh).compile()

    def _step(self, jax: Any) -> Callable[..., Any]:
        model, optimizer, loss_function = self._model, self._optimizer, self._loss

        def loss_of(trainable: Any, non_trainable: Any, x: Any, y: Any) -> Any:
            trains = {"training": True} if self._trains else {}
            predicted, changed, losses = model.stateless_call(trainable, non_trainable, x, return_losses=True, **trains)
            return jax.numpy.mean(loss_function(y, predicted)) + sum(losses), (changed, predicted)

        def keras_step(trainable: Any, non_trainable: Any, state: Any, metrics: Any, x: Any, y: Any) -> Any:
            differentiated = jax.value_and_grad(loss_of, has_aux=True)
            (loss, (changed, predicted)), gradients = differentiated(trainable, non_trainable, x, y)
            moved, state = optimizer.stateless_apply(state, gradients, trainable)
            return list(moved), list(changed), list(state), self._measured(metrics, loss, y, predicted), loss

        return keras_step

    def _measured(self, states: Sequence[Any], loss: Any, y: Any, predicted: Any) -> list[Any]:
        """The states of all metrics after this batch."""
        of_loss = (self._keras.metrics.Mean, self._keras.metrics.Sum)
        waiting, measured = list(states), list[Any]()
        for metric in self._metrics:
            state = [waiting.pop(0) for _ in metric.variables]
            values = (loss,) if type(metric) in of_loss else (y, predicted)
            measured += metric.stateless_update_state(state, *values)
        return measured


def _keras() -> Any:
    """Keras 3 on JAX; ValueError (SW0555) where there is none."""
    try:
        keras = import_module("keras")
    except ImportError as error:
        raise _refused("Keras is not installed", f"there is no module {error.name}") from error
    if not keras.__version__.startswith("3") or keras.backend.backend() != "jax":
        raise _refused(f"this is Keras {keras.__version__} on {keras.backend.backend()}", "Keras 3 on JAX is needed")
    return keras


def _takes_training(model: Any) -> bool:
    """Whether the model's own `call` has to do with training; stateless calls hand on whatever they are given."""
    parameters = inspect.signature(model.call).parameters.values()
    return any(one.name == "training" or one.kind is one.VAR_KEYWORD for one in parameters)


def _refused(message: str, note: str) -> Exception:
    return value_error(
        "SW0555",
        message,
        note,
        help="pip install 'shardwright[keras]', and set KERAS_BACKEND=jax before Keras is imported",
    )


def _sharding(jax: Any, mesh: Any, layout: Layout) -> Any:
    """A layout in JAX's words."""
    entries: Sequence[Any] = [None if entry == Mesh.UNSHARDED else entry for entry in layout.sharding_specs]
    names = [name for entry in entries if entry for name in ([entry] if isinstance(entry, str) else entry)]
    if layout.spec.partial or any(":" in name for name in names):
        raise _refused(f"JAX cannot state the layout {layout}", "parts of axes and partial sums are ours alone")
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*entries))


def _on(traced: Traced, mesh: Mesh) -> Traced:
    """The program on a mesh whose devices have names, which JAX did not see."""
    interface = traced.interface
    own = mesh.named(interface.mesh.name)
    parameters = tuple(
        replace(one, layout=None if one.layout is None else one.layout.on(own)) for one in interface.parameters
    )
    return replace(traced, interface=replace(interface, parameters=parameters, mesh=own, meshes=(own,)))
