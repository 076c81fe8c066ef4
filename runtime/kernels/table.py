"""Element-wise ops by name: the Python expression of each, and its value on scalars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import chlo, stablehlo
from shardwright.plugins import extend
from shardwright.runtime.kernels import elementwise as kernels, special as special

FACTS = {
    op.name.partition(".")[2]: facts
    for op in (*stablehlo.ELEMENTWISE_OPS, *chlo.UNARY_OPS, *chlo.BINARY_OPS)
    if (facts := op.FACTS) is not None
}
"""What the dialects say of each element-wise op, by its name alone."""

UFUNCS = {"copy": "positive", **{name: facts.ufunc for name, facts in FACTS.items() if facts.ufunc}}
"""Ops that are one ufunc of the array namespace, for every dtype not listed elsewhere."""

_BOOLEAN_UFUNCS = {"subtract": "logical_xor", "negate": "positive", "divide": "logical_and"}
_WIDTH_OPS = {"count_leading_zeros", "popcnt", "shift_left", "shift_right_arithmetic", "shift_right_logical"}
_FLOAT_UFUNCS = {"divide": "divide", "remainder": "fmod"}
_COMPLEX_KERNELS = {"atan2", "exponential_minus_one", "log_plus_one", "square"}
"""Functions of which NumPy's own are wrong for some complex numbers, or not there."""


def _computed(name: str, wide: list[str], source: np.dtype[Any]) -> str:
    """An op over operands of the wider type, as if they had the bits of their own."""
    if source in kernels.NARROW_INTEGERS:
        bits = 2 if source.name.endswith("2") else 4
        if name in _WIDTH_OPS:
            return f"k.narrow_bits(xp, {name!r}, {bits}, {', '.join(wide)})"
        if name == "mulhi":
            return f"xp.right_shift(xp.multiply({', '.join(wide)}), {bits})"
    return call_text(name, wide, source)


def expression(name: str, operands: Sequence[tuple[str, np.dtype[Any]]], dtype: np.dtype[Any], static: Any) -> str:
    """
    The Python expression of an element-wise op over named operands.

    >>> expression("add", [("a", np.dtype("f4")), ("b", np.dtype("f4"))], np.dtype("f4"), ())
    'xp.add(a, b)'
    """
    names = [operand for operand, _ in operands]
    source = operands[0][1]
    if name == "convert":
        return f"k.convert(xp, {names[0]}, {dtype_text(dtype)})"
    if name == "compare":
        return _compare(names, source, static)
    if name == "reduce_precision":
        return f"k.reduce_precision(xp, {names[0]}, {static[0]}, {static[1]})"
    if name == "select":
        return f"k.select(xp, {', '.join(names)})"
    if name == "real":
        return f"{names[0]}.real"
    if name == "next_after":  # a step of the element type itself, not of the wider one
        return f"xp.nextafter({', '.join(names)})"
    computed = _computed(name, [_widened(text, kind) for text, kind in operands], source)
    if kernels.working_dtype(dtype) == dtype:
        return computed
    return f"k.narrow(xp, {computed}, {dtype_text(dtype)})"


def _widened(text: str, dtype: np.dtype[Any]) -> str:
    return text if kernels.working_dtype(dtype) == dtype else f"k.widen(xp, {text})"


def call_text(name: str, operands: Sequence[str], dtype: np.dtype[Any]) -> str:
    """The call of the ufunc or kernel for operands of a working dtype."""
    ufunc = ufunc_name(name, dtype)
    if ufunc is not None:
        return f"xp.{ufunc}({', '.join(operands)})"
    return f"k.{FACTS[name].kernel or name}(xp, {', '.join(operands)})"


def ufunc_name(name: str, dtype: np.dtype[Any]) -> str | None:
    """The ufunc that computes the op on this dtype by itself, if one does."""
    if dtype.kind == "b" and name in _BOOLEAN_UFUNCS:
        return _BOOLEAN_UFUNCS[name]
    if kernels.working_dtype(dtype).kind in "fc" and name in _FLOAT_UFUNCS:
        return _FLOAT_UFUNCS[name]
    return None if dtype.kind == "c" and name in _COMPLEX_KERNELS else UFUNCS.get(name)


def _compare(names: Sequence[str], dtype: np.dtype[Any], static: Any) -> str:
    direction, total = static
    wide = [_widened(name, dtype) for name in names]
    if total and kernels.working_dtype(dtype).kind == "f":
        wide = [f"k.total_order_key(xp, {name})" for name in wide]
    return f"xp.{kernels.COMPARISONS[direction]}({', '.join(wide)})"


@lru_cache(maxsize=256)  # NumPy spells a dtype's name anew each time
def dtype_text(dtype: np.dtype[Any]) -> str:
    """
    The name by which generated code knows a dtype.

    >>> dtype_text(np.dtype("float32"))
    'dtypes.float32'
    """
    return f"dtypes.{dtype.name}"


def is_known(name: str) -> bool:
    """Whether the op is element-wise and has a kernel."""
    return name in UFUNCS or name in FACTS


def evaluate(name: str, scalars: Sequence[Any], dtype: np.dtype[Any], static: Any) -> Any:
    """The op's value on scalars, by the same expression that is generated for arrays."""
    names = [f"x{index}" for index in range(len(scalars))]
    code = expression(name, [(text, scalar.dtype) for text, scalar in zip(names, scalars, strict=True)], dtype, static)
    scope = dict(zip(names, (np.asarray(scalar) for scalar in scalars), strict=True))
    scope.update(runtime_scope(np))
    return np.asarray(eval(code, scope)).astype(dtype)[()]


class _Dtypes:
    """The dtypes by name, as generated code spells them."""

    def __getattr__(self, name: str) -> np.dtype[Any]:
        try:
            found = np.dtype(getattr(ml_dtypes, name, name))
        except TypeError as error:
            raise AttributeError(name) from error
        setattr(self, name, found)
        return found


class _Kernels:
    """The kernels by function name, as generated code spells them."""

    def __getattr__(self, name: str) -> Any:
        from shardwright.runtime.kernels import (
            custom_calls,
            factors,
            indexing,
            lapack,
            linear_algebra,
            random,
            shape,
            sorting,
            windows,
        )

        for module in (
            kernels,
            special,
            indexing,
            lapack,
            linear_algebra,
            random,
            factors,
            shape,
            sorting,
            windows,
            custom_calls,
        ):
            if hasattr(module, name):
                found = getattr(module, name)
                setattr(self, name, found)
                return found
        raise AttributeError(name)


DTYPES = _Dtypes()
KERNEL_TABLE = _Kernels()


def add_kernel(name: str, kernel: Callable[..., Any]) -> None:
    """
    Lets emitters call a kernel from outside: it takes the array namespace, the stacked operands, and what is static.

    Raises SW0732 where there is another one of that name.

    >>> add_kernel("twice", lambda xp, array: xp.multiply(array, 2))
    >>> int(KERNEL_TABLE.twice(np, 3))
    6
    >>> del KERNEL_TABLE.twice
    """
    if hasattr(KERNEL_TABLE, name):
        raise ShardwrightError(Diagnostic("SW0732", f"there is a kernel '{name}' already"))
    extend()
    setattr(KERNEL_TABLE, name, kernel)


def runtime_scope(xp: Any) -> dict[str, Any]:
    """The names that every generated line may use."""
    return {"xp": xp, "k": KERNEL_TABLE, "dtypes": DTYPES}
