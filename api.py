"""
The public surface, put together from the layers below.

Here the two sides meet that know nothing of each other: the compiler, which needs something that runs a program, and
the runtime, which runs one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any, cast, overload

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler import emit, stages
from shardwright.compiler.array import Array
from shardwright.compiler.array_shapes import one_place
from shardwright.compiler.dispatch import array_function, set_distribute, set_eager
from shardwright.compiler.distribute import set_function
from shardwright.compiler.dtypes import as_dtype, brief
from shardwright.compiler.emit import Value, as_numpy, check_layout
from shardwright.compiler.faults import type_error, value_error
from shardwright.compiler.function import Function, eager_runner
from shardwright.compiler.gradients import differentiated
from shardwright.compiler.packing import components_of
from shardwright.compiler.reference import held
from shardwright.compiler.signature import Signature
from shardwright.compiler.stages import Traced
from shardwright.compiler.tape import is_recording, set_runner
from shardwright.compiler.trace import current_trace
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.types import native_array
from shardwright.layout import Layout, Mesh
from shardwright.runtime.dtensor_value import DTensorValue, scatter, stack
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.transfer import count_transfer


class DTensor(DTensorValue, Array):
    """
    A tensor that is distributed over a mesh, seen as a whole: its shape is the global one.

    It is made by `pack`, `relayout`, creation functions with a layout, and traced functions. It works with operators,
    the functions of `shardwright`, NumPy (`numpy.asarray(x)`) and DLPack (`from_dlpack(x)`).

    >>> import shardwright, numpy
    >>> mesh = shardwright.Mesh(batch=2)
    >>> x = shardwright.relayout(numpy.arange(4.0), shardwright.Layout(["batch"], mesh))
    >>> x
    DTensor(f64[4@batch], Mesh(batch=2))
    >>> (x + 1).numpy()
    array([1., 2., 3., 4.])
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"DTensor({self.layout.describe(self.shape, brief(self.dtype))}, {self.mesh!r})"

    def __getitem__(self, index: Any) -> Any:
        place = one_place(index, self.shape) if current_trace() is None and not is_recording() else None
        if place is None:
            return super().__getitem__(index)
        # One element is looked up: the program of each place would have to be compiled.
        whole = Layout.replicated(self.mesh, rank=0)
        return DTensor(scatter(np.asarray(self.numpy()[place]), whole), whole)


class _LocalExecutable:
    """A program on all devices of a mesh in this process, called with distributed tensors and global arrays."""

    def __init__(self, module: ModuleOp, known: Sequence[Mesh]) -> None:
        # Only what runs needs the code generator.
        from shardwright.runtime.executable import compile_module

        self._inner = compile_module(module)
        declared = next(iter(meshes(module).values()), Mesh())
        self._mesh = next((mesh for mesh in known if mesh.name == declared.name), declared)
        self._lead = len(self._mesh.axis_names)
        self._distributed = bool(self._lead) or self._mesh in known
        self._inputs = [Layout.from_spec(port.spec, self._mesh) for port in self._inner.inputs]
        self._outputs = [Layout.from_spec(port.spec, self._mesh) for port in self._inner.outputs]

    @property
    def source(self) -> str:
        return self._inner.source

    @property
    def ledger(self) -> Any:
        return self._inner.ledger

    @property
    def peak_bytes(self) -> int:
        return self._inner.peak_bytes

    def __call__(self, arguments: Sequence[Any]) -> list[Any]:
        inputs = [self._taken(*pair) for pair in zip(arguments, self._inputs, strict=True)]
        return [self._given(*pair) for pair in zip(self._inner.run_stacked(inputs), self._outputs, strict=True)]

    def _taken(self, argument: Any, layout: Layout) -> Any:
        stacked = (
            argument.stacked if isinstance(argument, DTensor) else scatter(native_array(np.asarray(argument)), layout)
        )
        # A program that names no axis runs on plain arrays.
        return stacked if self._inner.mesh is not None else stacked.reshape(stacked.shape[self._lead :])

    def _given(self, result: Any, layout: Layout) -> Any:
        array = np.asarray(result)
        if not self._distributed:
            return array
        stacked = array if self._inner.mesh is not None else array.reshape((1,) * self._lead + array.shape)
        return DTensor(stacked, layout)


def _run_traced(traced: Callable[..., Any], *arguments: Any) -> Any:
    return Function(traced, BACKEND)(*arguments)


class _Transport:
    """Copies between meshes in this process."""

    def move(self, value: Any, layout: Layout, ledger: Ledger) -> DTensor:
        count_transfer(value, layout, ledger)
        return DTensor(scatter(value.numpy(), layout), layout)

    def ledger(self) -> Ledger:
        return Ledger()


def _executable(module: ModuleOp, known: Sequence[Mesh]) -> stages.Executable:
    """What runs a local program, or a traced one on several meshes."""
    if len(meshes(module)) > 1:
        from shardwright.compiler.several_meshes import SeveralMeshes

        return SeveralMeshes(module, known, _LocalExecutable, _Transport())
    return _LocalExecutable(module, known)


BACKEND: stages.Backend = _executable
"""Runs programs in this process."""

set_eager(eager_runner(BACKEND))
set_runner(_run_traced)


@overload
def function(
    function: Callable[..., Any], /, *, static: Sequence[str] = (), input_signature: Signature | None = None
) -> Function: ...
@overload
def function(
    *, static: Sequence[str] = (), input_signature: Signature | None = None
) -> Callable[[Callable[..., Any]], Function]: ...
def function(
    function: Callable[..., Any] | None = None,
    /,
    *,
    static: Sequence[str] = (),
    input_signature: Signature | None = None,
) -> Function | Callable[[Callable[..., Any]], Function]:
    """
    Makes a Python function run as one program on the mesh of its arguments (RFC: `tf.function`).

    Arrays and numbers in the arguments are traced, also inside of dicts, lists, tuples and dataclasses; truth values,
    strings and other objects are constants of the program, as are the arguments named in `static`. NumPy arguments are
    replicated up to 64 KiB; larger ones raise `TypeError` (SW0501), which says how to distribute them. Without any
    distributed argument the program runs on one device and returns NumPy arrays.

    Variables are taken by identity; what the function assigns to them is kept after the call. With `input_signature`,
    `TensorSpec`s for all positional arguments, numbers take the types given there, arrays without a layout are
    distributed, and other arguments are a `TypeError` (SW0533).

    >>> import shardwright, numpy
    >>> @shardwright.function
    ... def double(x):
    ...     return x + x
    >>> double(numpy.arange(3))
    array([0, 2, 4])
    """
    if function is None:
        return partial(_function, static=static, signature=input_signature)
    return _function(function, static=static, signature=input_signature)


def _function(python_function: Callable[..., Any], *, static: Sequence[str], signature: Signature | None) -> Function:
    return Function(python_function, BACKEND, static, signature)


def value_and_grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function:
    """
    Like `grad`, but the result is the function's value and its gradient.

    >>> import numpy, shardwright
    >>> shardwright.value_and_grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    (array(5.), array([2., 4.]))
    """
    return Function(differentiated(function, argnums), BACKEND)


def grad(function: Callable[..., Any], argnums: int | Sequence[int] = 0) -> Function:
    """
    The function that computes the gradient of a scalar function with respect to some of its positional arguments.

    Each argument may be a tree of arrays; its gradient has its shape, and with several `argnums` the result is a tuple.
    Raises `TypeError` (SW0520) for a result that is no real scalar, and for arguments that are no floats.

    >>> import numpy, shardwright
    >>> shardwright.grad(lambda x: shardwright.sum(x * x))(numpy.array([1.0, 2.0]))
    array([2., 4.])
    """
    both = differentiated(function, argnums)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        return both(*args, **kwargs)[1]

    return Function(update_wrapper(gradient, function), BACKEND)


def load_mlir(path: str | Path) -> Traced:
    """
    Reads a program from a file of StableHLO text or MLIR bytecode, as JAX writes it; its shardings become layouts.

    Raises `ValueError` with the place of the fault for text that cannot be read. Bytecode needs the extra `jax`.
    """
    return stages.load_mlir(path, BACKEND)


def from_jax(function: Any, /, *args: Any, **kwargs: Any) -> Traced:
    """
    The program of a function that `jax.jit` made, for these arguments.

    Arguments are arrays or `jax.ShapeDtypeStruct`s, with or without shardings. The shardings of arguments, results and
    constraints become layouts. The stages are those of `function(...).trace`; what they compile to is called with NumPy
    arrays in the function's own containers, and with its static arguments left out. A lowered function
    (`jitted.lower(...)`) will do as well. Needs the extra `jax` (SW0721); raises `TypeError` (SW0518) for functions
    that JAX did not jit.

    ```
    jitted = jax.jit(step, in_shardings=..., out_shardings=...)
    compiled = shardwright.from_jax(jitted, params, batch).compile()
    compiled(params, batch)
    ```
    """
    from shardwright.compiler.from_jax import trace_jax

    return trace_jax(function, args, kwargs, BACKEND)


def pack(components: Sequence[Any], layout: Layout) -> DTensor:
    """
    The distributed tensor made of every device's component, in row-major order of the mesh (RFC: `tf.dtensor.pack`).

    Raises `ValueError` (SW0512) for another number of components than devices, components of different shapes or types,
    and components that differ where the layout says that they are the same.

    >>> import shardwright, numpy
    >>> mesh = shardwright.Mesh(x=2)
    >>> shardwright.pack([numpy.zeros((1, 3)), numpy.ones((1, 3))], shardwright.Layout(["x"], mesh))
    DTensor(f64[2@x, 3], Mesh(x=2))
    """
    check_layout(layout, "pack")
    return DTensor(stack(components_of(components), layout), layout)


def unpack(dtensor: Any) -> list[np.ndarray[Any, Any]]:
    """
    Every device's component, in row-major order of the mesh (RFC: `tf.dtensor.unpack`).

    Raises `ValueError` (SW0502) for anything but a distributed tensor.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> shardwright.unpack(shardwright.ones(4, layout=shardwright.Layout(["x"], mesh)))
    [array([1., 1.], dtype=float32), array([1., 1.], dtype=float32)]
    """
    if current_trace() is None:
        dtensor = held(dtensor)
    if not isinstance(dtensor, DTensor):
        raise value_error(
            "SW0502",
            f"unpack takes a distributed tensor, not a {type(dtensor).__name__}",
            help="shardwright.relayout distributes an array; inside of a traced function there are no components",
        )
    return dtensor.components()


def relayout(source: Any, mesh_or_layout: Layout | Mesh) -> Any:
    """
    The same tensor in another layout (RFC: `tf.dtensor.relayout`); a NumPy array is distributed.

    With a mesh instead of a layout, the sharding stays and the mesh must have the same axes. Works in traced functions,
    where it is an operation like any other, and outside.

    >>> import shardwright
    >>> mesh = shardwright.Mesh(x=2)
    >>> x = shardwright.ones((4, 4), layout=shardwright.Layout(["x"], mesh))
    >>> shardwright.relayout(x, shardwright.Layout([None, "x"], mesh))
    DTensor(f32[4, 4@x], Mesh(x=2))
    """
    layout = mesh_or_layout
    if isinstance(layout, Mesh):
        if current_trace() is not None and getattr(source, "layout", None) is None:
            return emit.to_mesh(emit.as_tracer(source, "relayout"), layout, "shardwright.relayout")
        return relayout(source, _on_mesh(source, layout))
    check_layout(layout, "relayout")
    if current_trace() is not None or isinstance(source, Array):
        return _relayout(source, layout)
    # A copy: the tensor must not change when the caller's array does.
    array = np.array(source, dtype=None if hasattr(source, "dtype") else _dtype_of_python(source))
    return DTensor(scatter(as_numpy(array, "relayout"), layout), layout)


set_distribute(relayout)
set_function(function, from_jax)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None, layout: Layout | None = None) -> Any:
    """
    The array of another library, by way of DLPack; its memory is shared unless `copy` or `layout` is given.

    As for all functions that make arrays, the result is distributed with `layout` and a NumPy array without it. Raises
    `TypeError` (SW0507) for what does not speak DLPack, and `BufferError` for what cannot be exchanged.

    >>> import shardwright, numpy
    >>> shardwright.from_dlpack(numpy.arange(3.0))
    array([0., 1., 2.])
    >>> shardwright.from_dlpack(numpy.ones(4), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    DTensor(f64[4@x], Mesh(x=2))
    """
    if not hasattr(x, "__dlpack__") or isinstance(x, type):
        raise type_error(
            "SW0507", f"from_dlpack takes arrays that have __dlpack__, not {type(x).__name__}", help="use asarray"
        )
    if device not in (None, "cpu"):
        raise value_error("SW0517", f"there is no device {device!r}", help="the one device is called cpu")
    array = np.from_dlpack(x, copy=copy)
    return array if layout is None else relayout(array, layout)


def relayout_like(source: Any, reference: Any, use_mesh_only: bool = False) -> Any:
    """
    The same tensor in the layout of `reference`, or only on its mesh (RFC: `tf.dtensor.relayout_like`).

    >>> import shardwright, numpy
    >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
    >>> shardwright.relayout_like(numpy.zeros(6), x)
    DTensor(f64[6@x], Mesh(x=2))
    """
    layout = getattr(reference, "layout", None)
    if layout is None:
        raise value_error(
            "SW0502", "relayout_like: the reference is not a distributed tensor", help="give the layout to relayout"
        )
    return relayout(source, layout.mesh if use_mesh_only else layout)


@array_function
def _relayout(source: Value, layout: Layout) -> Any:
    return emit.relayout(emit.as_tracer(source, "relayout"), layout, "shardwright.relayout")


def _on_mesh(source: Any, mesh: Mesh) -> Layout:
    layout = getattr(source, "layout", None)
    return Layout(Mesh.UNSHARDED, mesh) if layout is None else cast(Layout, layout).moved_to(mesh)


def _dtype_of_python(value: Any) -> Any:
    if isinstance(value, bool | int | float | complex):
        return as_dtype(type(value))
    return None
