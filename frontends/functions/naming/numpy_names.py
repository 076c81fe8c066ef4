"""NumPy's functions of distributed and traced arrays: each by a function here that does the same, or refused."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from types import ModuleType
from typing import Any, cast

import numpy as np

from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.pytree import flatten, unflatten
from shardwright.compiler.tracing.reference import held
from shardwright.compiler.tracing.trace import current_trace
from shardwright.diagnostics.faults import type_error
from shardwright.frontends.functions.naming.numpy_composed import COMPOSED
from shardwright.frontends.functions.naming.suggestions import called_here
from shardwright.frontends.functions.recording import check_unseen

NOT_GIVEN: Any = getattr(np, "_NoValue", None)
"""What NumPy's own code passes for arguments that nobody gave."""


def by_our_function(
    module: ModuleType, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """
    What a function of NumPy gives for arrays of this package, by a function of `module`.

    TypeError (SW0503) where there is none that does the same with these arguments: nothing is gathered silently.
    """
    name = f"{function.__module__}.{function.__name__}".removeprefix("numpy.")
    if name in UNSEEING:
        return cast("Any", function).__wrapped__(*args, **kwargs)
    row = ROWS.get(name)
    called, parameters = _called(module, row) if row is not None else (None, [])
    bound = called and _bound(called, parameters, args, kwargs)
    found = called(*bound.args, **bound.kwargs) if called and bound else NotImplemented
    if found is NotImplemented:
        plain = _plain(args, kwargs)
        if plain is not None:
            found = function(*plain[0], **plain[1])
            check_unseen(f"{function.__module__}.{function.__name__}", found)
            return found
        ours = row.split()[0] if isinstance(row, str) else None
        raise _refusal(module, f"{function.__module__}.{function.__name__}", ours, row is not None)
    return found


def _plain(args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """The arguments with what variables hold in place of these, where nothing is distributed or traced."""
    if current_trace() is not None:
        return None
    leaves, tree = flatten((tuple(args), dict(kwargs)))
    given = [_of_numpy(held(leaf)) for leaf in leaves]
    return None if any(isinstance(leaf, Array) for leaf in given) else unflatten(tree, given)


def _of_numpy(value: Any) -> Any:
    return value.view(np.ndarray) if isinstance(value, np.ndarray) else value


def _called(module: ModuleType, row: str | Callable[..., Any]) -> tuple[Callable[..., Any], Sequence[str]]:
    if not isinstance(row, str):
        return partial(row, module), ["*"]
    ours, *parameters = row.split()
    return attrgetter(ours)(module), parameters


def _bound(
    called: Callable[..., Any], parameters: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> inspect.BoundArguments | None:
    """NumPy's arguments as `called` takes them, by a row of `ROWS`; None where it does not take them."""
    names = [parameter.rstrip("=!") for parameter in parameters]
    given = _given(dict(zip(names, args, strict=False)) | dict(kwargs))
    if parameters == ["*"]:
        positional, named = list(args), _given(kwargs)
    elif len(args) > len(names) or any(name not in names or f"{name}!" in parameters for name in given):
        return None
    else:
        positional = [given[name] for name in parameters if name in given]
        named = {name: value for name, value in given.items() if f"{name}=" in parameters}
    try:
        return inspect.signature(called).bind(*positional, **named)
    except TypeError:
        return None


def _given(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Without those that say nothing."""
    return {key: one for key, one in arguments.items() if one is not NOT_GIVEN and not (key == "out" and one is None)}


def _refusal(module: ModuleType, name: str, ours: str | None, known: bool) -> Exception:
    _, *homes, last = name.split(".")
    other = f"shardwright.{ours}" if ours else called_here(module, last)
    if homes and other == f"shardwright.{last}":  # NumPy means another function than the one of that name here
        other = None
    instead = other if other and " " not in other else "functions of shardwright"
    return type_error(
        "SW0503",
        f"{name} does not work on distributed and traced arrays{' with these arguments' if known else ''}",
        help=f"write {instead} in its place, or, outside of traced functions, "
        "numpy.asarray(x) for each array, which gathers it",
    )


UNSEEING = frozenset("ndim shape size iscomplexobj isrealobj".split())
"""Those that look at no element: NumPy's own code does."""

ROWS: dict[str, str | Callable[..., Any]] = {
    "all": "all a axis= out! keepdims= where!",
    "amax": "max a axis= out! keepdims= initial! where!",
    "amin": "min a axis= out! keepdims= initial! where!",
    "any": "any a axis= out! keepdims= where!",
    "argmax": "argmax a axis= out! keepdims=",
    "argmin": "argmin a axis= out! keepdims=",
    "around": "round a decimals! out!",
    "astype": "astype x dtype copy= device=",
    "broadcast_arrays": "broadcast_arrays *",
    "broadcast_to": "broadcast_to array shape subok!",
    "clip": "clip a a_min a_max out! min= max=",
    "concatenate": "concat arrays axis= out! dtype! casting!",
    "count_nonzero": "count_nonzero a axis= keepdims=",
    "cross": "linalg.cross a b axisa! axisb! axisc! axis=",
    "cumulative_prod": "cumulative_prod x axis= dtype= out! include_initial=",
    "cumulative_sum": "cumulative_sum x axis= dtype= out! include_initial=",
    "diff": "diff a n= axis= prepend= append=",
    "einsum": "einsum *",
    "empty_like": "empty_like prototype dtype= order! subok! shape! device=",
    "expand_dims": "expand_dims a axis",
    "fft.fft": "fft.fft a n= axis= norm= out!",
    "fft.fftn": "fft.fftn a s= axes= norm= out!",
    "fft.fftshift": "fft.fftshift x axes=",
    "fft.hfft": "fft.hfft a n= axis= norm= out!",
    "fft.ifft": "fft.ifft a n= axis= norm= out!",
    "fft.ifftn": "fft.ifftn a s= axes= norm= out!",
    "fft.ifftshift": "fft.ifftshift x axes=",
    "fft.ihfft": "fft.ihfft a n= axis= norm= out!",
    "fft.irfft": "fft.irfft a n= axis= norm= out!",
    "fft.irfftn": "fft.irfftn a s= axes= norm= out!",
    "fft.rfft": "fft.rfft a n= axis= norm= out!",
    "fft.rfftn": "fft.rfftn a s= axes= norm= out!",
    "flip": "flip m axis=",
    "full_like": "full_like a fill_value dtype= order! subok! shape! device=",
    "imag": "imag val",
    "isin": "isin element test_elements assume_unique! invert= kind!",
    "linalg.cholesky": "linalg.cholesky a upper=",
    "linalg.cross": "linalg.cross x1 x2 axis=",
    "linalg.det": "linalg.det a",
    "linalg.diagonal": "linalg.diagonal x offset=",
    "linalg.eigh": "linalg.eigh a UPLO!",
    "linalg.eigvalsh": "linalg.eigvalsh a UPLO!",
    "linalg.inv": "linalg.inv a",
    "linalg.matmul": "matmul x1 x2",
    "linalg.matrix_norm": "linalg.matrix_norm x keepdims= ord=",
    "linalg.matrix_power": "linalg.matrix_power a n",
    "linalg.matrix_rank": "linalg.matrix_rank A tol! hermitian! rtol=",
    "linalg.matrix_transpose": "matrix_transpose x",
    "linalg.outer": "linalg.outer x1 x2",
    "linalg.pinv": "linalg.pinv a rcond! hermitian! rtol=",
    "linalg.qr": "linalg.qr a mode=",
    "linalg.slogdet": "linalg.slogdet a",
    "linalg.solve": "linalg.solve a b",
    "linalg.svd": "linalg.svd a full_matrices= compute_uv! hermitian!",
    "linalg.svdvals": "linalg.svdvals x",
    "linalg.tensordot": "tensordot x1 x2 axes=",
    "linalg.trace": "linalg.trace x offset= dtype=",
    "linalg.vecdot": "vecdot x1 x2 axis=",
    "linalg.vector_norm": "linalg.vector_norm x axis= keepdims= ord=",
    "matrix_transpose": "matrix_transpose x",
    "max": "max a axis= out! keepdims= initial! where!",
    "mean": "mean a axis= dtype! out! keepdims= where!",
    "meshgrid": "meshgrid *",
    "min": "min a axis= out! keepdims= initial! where!",
    "moveaxis": "moveaxis a source destination",
    "ones_like": "ones_like a dtype= order! subok! shape! device=",
    "pad": "pad array pad_width mode constant_values=",
    "prod": "prod a axis= dtype= out! keepdims= initial! where!",
    "real": "real val",
    "reshape": "reshape a shape order! copy=",
    "roll": "roll a shift axis=",
    "round": "round a decimals! out!",
    "searchsorted": "searchsorted a v side= sorter=",
    "split": "split ary indices_or_sections axis=",
    "squeeze": "squeeze a axis",
    "stack": "stack arrays axis= out! dtype! casting!",
    "sum": "sum a axis= dtype= out! keepdims= initial! where!",
    "take_along_axis": "take_along_axis arr indices axis=",
    "tensordot": "tensordot a b axes=",
    "tril": "tril m k=",
    "triu": "triu m k=",
    "unstack": "unstack x axis=",
    "where": "where condition x y",
    "zeros_like": "zeros_like a dtype= order! subok! shape! device=",
    **COMPOSED,
}
"""
Functions of NumPy by their names: ours, then NumPy's parameters in their order. Ours takes them by place, those with =
by the same name, and those with ! not at all. A star: all as they are. What is composed of several is a function.
"""
