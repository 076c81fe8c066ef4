"""From a training step to what `shardwright run` takes: StableHLO text with layouts, arrays, and how exact they are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from corpus.catalogue import Training

MOVES = frozenset(
    """
    reshape transpose broadcast_in_dim squeeze slice dynamic_slice dynamic_update_slice concatenate select_n gather pad
    rev copy iota eq ne lt le gt ge and or not sign neg abs max min reduce_max reduce_min argmax argmin sort
    stop_gradient
    """.split()
)
"""What makes, moves or chooses numbers without rounding any."""

LAYOUTS = {
    "data": (("data", 8),),
    "tensor": (("data", 4), ("model", 2)),
    "fsdp": (("data", 8),),
}
"""The mesh of each layout: arrays of a batch are split over its axis `data`."""


def spec_of_state(shape: tuple[int, ...], layout: str) -> PartitionSpec:
    """
    How an array of the state is split: not at all, over `model`, or over all devices.

    Tensor parallelism takes the largest dim that divides, so that a widening layer is split by columns and the
    narrowing one behind it by rows; FSDP takes the first.
    """
    if layout == "data":
        return PartitionSpec()
    axis, size = LAYOUTS[layout][-1]
    dims = [dim for dim, extent in enumerate(shape) if extent and extent % size == 0]
    if not dims:
        return PartitionSpec()
    chosen = dims[0] if layout == "fsdp" else max(dims, key=lambda dim: (shape[dim], dim))
    return PartitionSpec(*(axis if dim == chosen else None for dim in range(len(shape))))


def spec_of_batch(shape: tuple[int, ...], layout: str) -> PartitionSpec:
    """The first dim of a batch is split over `data`."""
    size = dict(LAYOUTS[layout])["data"]
    return PartitionSpec("data") if shape and shape[0] % size == 0 else PartitionSpec()


@dataclass(frozen=True)
class Step:
    """A training step with what JAX computes for it on one device, and how far another right way may be from that."""

    training: Training
    results: Any
    tolerance: float


@lru_cache(maxsize=1)
def step_of(module: str, name: str) -> Step:
    """A program of the corpus; kept until the next is asked for, since JAX compiles longer than all else here takes."""
    training = getattr(import_module(f"corpus.libraries.{module}"), name)()
    traced = jax.jit(training.function).trace(training.state, training.batch)
    run = traced.lower().compile(compiler_options={"xla_backend_optimization_level": 0})
    return Step(training, run(training.state, training.batch), tolerance(training, traced.jaxpr.jaxpr))


def shardings_of(training: Training, layout: str) -> tuple[Any, Any]:
    """The shardings of a step's state and batch in a layout."""
    names, sizes = zip(*LAYOUTS[layout], strict=True)
    mesh = Mesh(np.array(jax.devices()[: math.prod(sizes)]).reshape(sizes), names)

    def state(leaf: Any) -> NamedSharding:
        return NamedSharding(mesh, spec_of_state(np.shape(leaf), layout))

    def batch(leaf: Any) -> NamedSharding:
        return NamedSharding(mesh, spec_of_batch(np.shape(leaf), layout))

    return jax.tree.map(state, training.state), jax.tree.map(batch, training.batch)


def export(step: Step, layout: str, folder: Path) -> tuple[Path, Path]:
    """Writes the program with layouts, and its arrays: arguments, and results that JAX computes on one device."""
    training = step.training
    split = shardings_of(training, layout)
    # The next state has the layout of the last one, as donated buffers must; loss and gradients are ours to choose.
    jitted = jax.jit(training.function, in_shardings=split, out_shardings=(split[0], None, None), keep_unused=True)
    text = jitted.lower(training.state, training.batch).as_text()
    program, arrays = folder / "step.mlir", folder / "step.npz"
    program.write_text(text)
    np.savez(arrays, **_arrays("in", (training.state, training.batch)), **_arrays("out", step.results))
    return program, arrays


def _arrays(side: str, tree: Any) -> dict[str, np.ndarray]:
    return {f"{side}_{index}": np.asarray(_plain(leaf)) for index, leaf in enumerate(jax.tree.leaves(tree))}


def _plain(leaf: Any) -> Any:
    """A key as the numbers that a program takes for it."""
    return jax.random.key_data(leaf) if jax.numpy.issubdtype(leaf.dtype, jax.dtypes.prng_key) else leaf


def tolerance(training: Training, jaxpr: Jaxpr) -> float:
    """
    How far two right ways to compute a step may differ, relative to numbers of size one.

    A sum of n numbers in another order differs by at most n roundings of its size, an element-wise op by one. Along the
    longest path through the program these add up. What is divided by numbers that are nearly zero, or has a minimum for
    its result, would be less exact: the corpus has none of the first (see `Training`), and says the second.
    """
    rounding = longest(jaxpr, training.rounds) * float(np.finfo(training.dtype).eps)
    return math.sqrt(rounding) if training.minimum else rounding


def longest(jaxpr: Jaxpr, rounds: int) -> int:
    """The roundings on the path through a program that has most of them."""
    depth: dict[Any, int] = {}
    for equation in jaxpr.eqns:
        before = max((depth.get(atom, 0) for atom in equation.invars if not hasattr(atom, "val")), default=0)
        here = before + _roundings(equation, rounds)
        depth.update(dict.fromkeys(equation.outvars, here))
    return max(depth.values(), default=0)


def _roundings(equation: Any, rounds: int) -> int:
    name = equation.primitive.name
    if name in MOVES or not equation.invars:
        return 0
    # What a loop's condition computes reaches no result.
    params = {key: value for key, value in equation.params.items() if key != "cond_jaxpr"}
    inner = [
        longest(one.jaxpr if isinstance(one, ClosedJaxpr) else one, rounds)
        for value in params.values()
        for one in (value if isinstance(value, tuple | list) else (value,))
        if isinstance(one, ClosedJaxpr | Jaxpr)
    ]
    if inner:
        return {"scan": params.get("length", 1), "while": rounds}.get(name, 1) * max(inner)
    # Of what is read, each element of a result sees at most the share that is not spread over the results' elements.
    read = max(math.prod(atom.aval.shape) for atom in equation.invars)
    match name:
        case "dot_general":
            contracted, _ = equation.params["dimension_numbers"][0]
            return math.prod(equation.invars[0].aval.shape[dim] for dim in contracted)
        case "conv_general_dilated":
            kernel, numbers = equation.invars[1].aval.shape, equation.params["dimension_numbers"]
            return math.prod(kernel) // kernel[numbers.rhs_spec[0]]
        case "reduce_sum" | "reduce_prod":
            return read // max(1, math.prod(equation.outvars[0].aval.shape))
        case "scatter-add" | "scatter_add":
            return math.prod(equation.invars[-1].aval.shape)
        case "cumsum" | "cumprod" | "cumlogsumexp":
            return equation.invars[0].aval.shape[equation.params["axis"]]
        case "reduce_window_sum" | "select_and_scatter_add":
            return math.prod(equation.params["window_dimensions"])
        case "lu" | "cholesky" | "qr" | "triangular_solve" | "eigh" | "svd" | "householder_product" | "geqrf":
            return equation.invars[0].aval.shape[-1] ** 2
        case _:
            return 1
