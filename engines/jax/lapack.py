"""LAPACK's routines on devices that are no CPUs: what JAX itself writes for such a device."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, custom_calls
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.engines.jax.internals import reflectors
from shardwright.engines.jax.splicing import call_instead, renamed

Routine = Callable[..., tuple[Any, ...]]
"""What a routine gives, as LAPACK gives it: of JAX's functions, the options of the call, and arrays."""


def spell_for(module: ModuleOp, device: Any) -> None:
    """Replaces each call of LAPACK, in place, by a call of a function that JAX writes for the device."""
    calls = [op for op in custom_calls(module) if op.routine in _ROUTINES]
    for number, op in enumerate(calls):
        name = f"lapack_{number}"
        module.body.block.add_ops(_functions(op, device, name))
        call_instead(op, name)


def _functions(op: CustomCallOp, device: Any, name: str) -> list[FuncOp]:
    """The function of this name that does what a call does, and those that it calls."""
    jax: Any = import_module("jax")
    place = jax.sharding.SingleDeviceSharding(device)
    takes = [jax.ShapeDtypeStruct(shape_of(one), element_dtype(one.type), sharding=place) for one in op.operands]
    gives = [jax.ShapeDtypeStruct(shape_of(one), element_dtype(one.type)) for one in op.results]
    assert op.routine is not None
    routine = _ROUTINES[op.routine]

    def compute(*arrays: Any) -> list[Any]:
        made = routine(import_module("jax.lax").linalg, op.options, *arrays)
        return [_like(one, due) for one, due in zip(made, gives, strict=True)]

    written = parse_module(jax.jit(compute).lower(*takes).as_text(), f"<{op.target} for {device.platform}>")
    return renamed(written, name)


def _like(made: Any, due: Any) -> Any:
    """A result in its type; zeros for what JAX does not say: whether all went well, and vectors that nobody wants."""
    numpy: Any = import_module("jax.numpy")
    return numpy.zeros(due.shape, due.dtype) if made is None else made.astype(due.dtype)


def _letter(options: Mapping[str, Any], name: str) -> str:
    return chr(options[name])


def _lu(linalg: Any, options: Mapping[str, Any], a: Any) -> tuple[Any, ...]:
    factors, pivots, _ = linalg.lu(a)
    return factors, pivots + 1, None  # rows count from one there


def _reflectors(linalg: Any, options: Mapping[str, Any], a: Any) -> tuple[Any, ...]:
    return reflectors(a)


def _basis(linalg: Any, options: Mapping[str, Any], a: Any, scales: Any) -> tuple[Any, ...]:
    return (linalg.householder_product(a, scales),)


def _symmetric(linalg: Any, options: Mapping[str, Any], a: Any) -> tuple[Any, ...]:
    vectors, values = linalg.eigh(a, lower=_letter(options, "uplo") == "L", symmetrize_input=False)
    return vectors, values, None


def _singular(linalg: Any, options: Mapping[str, Any], a: Any) -> tuple[Any, ...]:
    mode = _letter(options, "mode")
    if mode == "N":
        return a, linalg.svd(a, compute_uv=False), None, None, None
    left, values, right = linalg.svd(a, full_matrices=mode == "A")
    return a, values, left, right, None


def _triangular(linalg: Any, options: Mapping[str, Any], a: Any, b: Any) -> tuple[Any, ...]:
    transpose = _letter(options, "trans_x")
    solve = partial(linalg.triangular_solve, left_side=_letter(options, "side") == "L")
    flags = {"transpose_a": transpose != "N", "conjugate_a": transpose == "C"}
    return (solve(a, b, lower=_letter(options, "uplo") == "L", unit_diagonal=_letter(options, "diag") == "U", **flags),)


def _positive(linalg: Any, options: Mapping[str, Any], a: Any) -> tuple[Any, ...]:
    if _letter(options, "uplo") == "L":
        return linalg.cholesky(a, symmetrize_input=False), None
    flipped = linalg.cholesky(a.mT.conj(), symmetrize_input=False)
    return flipped.mT.conj(), None


_ROUTINES: Mapping[str, Routine] = {
    "getrf": _lu,
    "geqrf": _reflectors,
    "orgqr": _basis,
    "ungqr": _basis,
    "syevd": _symmetric,
    "heevd": _symmetric,
    "gesdd": _singular,
    "gesvd": _singular,
    "trsm": _triangular,
    "potrf": _positive,
}
"""The routines that JAX has on all devices."""
