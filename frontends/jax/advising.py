"""`shardwright.jax.shardings`: what Shardwright would decide, for those who stay with `jax.jit`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Literal

from xdsl.ir import Operation, SSAValue

from shardwright.compiler.stages import Partitioned
from shardwright.diagnostics.faults import placed_at, type_error
from shardwright.dialects.dtensor import CollectiveOp, layout_of
from shardwright.dialects.text.locations import is_backward
from shardwright.dialects.text.scopes import scopes_of
from shardwright.dialects.types import shape_of
from shardwright.engines.jax.shardings import JaxMesh
from shardwright.frontends.jax.choosing import XLA, Wanted
from shardwright.frontends.jax.importing import read_lowered
from shardwright.frontends.jax.jitting import Jitted, jit
from shardwright.frontends.jax.lowered import Lowered, layouts_of, partitioned_by_us
from shardwright.layout import Mesh, Topology
from shardwright.passes.program import entry_function


@dataclass(frozen=True)
class Shardings:
    """
    The shardings of a program.

    `arguments` has the form of the call's `args`, and `keywords` that of its `kwargs`, both without what is static;
    `results` that of what the function returns. `named` are intermediate values by the `jax.named_scope` in which they
    were computed (`"layer"`, `"layer/hidden"`): of each, the last that is read outside of it. What nothing uses of the
    arguments has None.
    """

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    results: Any
    named: dict[str, Any]


def shardings(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Shardings:
    """
    The `NamedSharding`s that Shardwright decides for a function's arguments, results and named intermediate values.

    The arguments are arrays or `jax.ShapeDtypeStruct`s; their shardings, where they have any, are kept, and so are the
    function's own constraints. A function that `shardwright.jax.jit` or `jax.jit` made brings its `in_shardings` and
    static arguments along. Nothing is compiled, and nothing runs.

    Raises as `shardwright.jax.jit(function).lower` does, also where the function has a fallback.

    ```python
    found = shardwright.jax.shardings(step, params, batch)
    step = jax.jit(step, in_shardings=found.arguments, out_shardings=found.results)
    ```
    """
    lowered = _lowered(function, args, kwargs)
    args_, kwargs_ = lowered.in_tree.unflatten(lowered.in_shardings)
    named = dict(_named(lowered.partitioned, lowered.mesh))
    return Shardings(args_, kwargs_, lowered.out_tree.unflatten(lowered.out_shardings), named)


def _lowered(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Lowered:
    """The partitioned program of any function, jitted or not; of what XLA's partitioner would take, nobody knows it."""
    if not isinstance(function, Jitted) and all(hasattr(function, name) for name in ("trace", "lower", "eval_shape")):
        traced = function.trace(*args, **kwargs)
        with placed_at(function):
            return partitioned_by_us(traced.lower(), import_module("jax").tree.leaves(traced.out_avals), {}, None)
    jitted: Jitted[..., Any] = function if isinstance(function, Jitted) else jit(function)
    return jitted.strictly_lowered(*args, **kwargs)


def auto_shardings(
    function: Callable[..., Any],
    mesh: Any,
    /,
    *args: Any,
    memory_limit: int | str | None = None,
    objective: Literal["bytes", "seconds"] = "bytes",
    topology: Topology | None = None,
    **kwargs: Any,
) -> Shardings:
    """
    The `NamedSharding`s over a mesh of JAX with which a function sends or takes least, where nobody gave any.

    The arguments are arrays or `jax.ShapeDtypeStruct`s, and so are they for `jax.jit(function).lower`. All devices
    are at work, and each holds at most `memory_limit` bytes at once (`"16GB"`), arguments included. What the function's
    own constraints say stays. Nothing is compiled, and nothing runs. The objective and the topology are those of
    `Traced.lay_out`.

    Raises what `from_jax` and `Traced.lay_out` raise: SW0469 where nothing fits, SW0121 for a topology without a link
    for an axis; SW0510 for a mesh that is not one of JAX's devices, before anything is traced, as for other settings.

    ```python
    mesh = jax.make_mesh((4, 2), ("data", "model"))
    found = shardwright.jax.auto_shardings(step, mesh, params, batch, memory_limit="16GB")
    step = jax.jit(step, in_shardings=found.arguments, out_shardings=found.results)
    ```
    """
    anywhere = import_module("jax.sharding")
    if not isinstance(mesh, anywhere.Mesh):
        help = "it is a jax.sharding.Mesh, which has devices"
        raise type_error("SW0510", f"auto_shardings: the mesh cannot be {mesh!r}", help=help)
    wanted = Wanted.of("auto_shardings", memory_limit=memory_limit, objective=objective, topology=topology)
    jitted: Any = function if hasattr(function, "lower") else import_module("jax").jit(function)
    lowered = jitted.lower(*args, **kwargs)
    ours = Mesh(dict(mesh.shape))
    traced = replace(read_lowered(lowered, function), backend=XLA)
    partitioned = traced.lay_out(ours, **vars(wanted) if wanted else {}).partition()
    whole = anywhere.NamedSharding(mesh, anywhere.PartitionSpec())
    theirs = JaxMesh(ours, list(mesh.devices.flat), [whole])
    within, out = layouts_of(partitioned)
    leaves = import_module("jax").tree.leaves
    takes = [theirs.sharding(spec, value.ndim) for spec, value in zip(within, leaves(lowered.in_avals), strict=True)]
    gives = [theirs.sharding(spec, value.ndim) for spec, value in zip(out, leaves(lowered.out_info), strict=True)]
    args_, kwargs_ = lowered.in_tree.unflatten(takes)
    return Shardings(args_, kwargs_, lowered.out_tree.unflatten(gives), dict(_named(partitioned, theirs)))


def _named(partitioned: Partitioned, mesh: JaxMesh) -> Iterator[tuple[str, Any]]:
    """Each scope with the sharding of a value that goes on from it, in the program's order: the last one counts."""
    for op in entry_function(partitioned.planned).walk():
        scopes = _scopes(op) or ()
        for value in op.results if scopes else ():
            spec = layout_of(value)
            if spec is None:
                continue
            readers = [found for reader in _readers(value) if (found := _scopes(reader)) is not None]
            for depth in range(1, len(scopes) + 1):
                if any(reader[:depth] != scopes[:depth] for reader in readers):
                    yield "/".join(scopes[:depth]), mesh.sharding(spec, len(shape_of(value)))


def _readers(value: SSAValue) -> Iterator[Operation]:
    """The ops that read a value, or what collectives make of it."""
    for use in value.uses:
        if isinstance(use.operation, CollectiveOp):
            yield from _readers(use.operation.results[0])
        else:
            yield use.operation


def _scopes(op: Operation) -> tuple[str, ...] | None:
    """The scopes in which an op was written, from the outermost; None for collectives and gradients."""
    if isinstance(op, CollectiveOp) or is_backward(op.location):
        return None
    return scopes_of(op.location)
