"""Operations on traced values, one function each: what the array functions are made of."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.dtypes import (
    BOOLEAN,
    DType,
    as_dtype,
    brief,
    check_integer,
    common_dtype,
    default_dtype,
    kind_of,
    listed,
    scalar_kind,
)
from shardwright.compiler.tracing.trace import Trace, Tracer, check_alive, current_trace
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.building import Builder
from shardwright.dialects.dtensor.transfers import TransferOp
from shardwright.dialects.types import dtype_element, native_array, tensor
from shardwright.layout import Layout, Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.reductions import MONOIDS

LITERAL_LIMIT = 64 * 1024
"""The most bytes of a NumPy array that a traced program takes in as a constant."""

Value = Any
"""What somebody gave for an array (`ArrayLike`); whether it is one, is seen here."""


def trace_now() -> Trace:
    """The program that is being traced."""
    trace = current_trace()
    assert trace is not None, "operations are only emitted while tracing"
    return trace


def as_tracer(value: Value, what: str = "an array function") -> Tracer:
    """A value of the current program for anything that can be one."""
    if isinstance(value, Tracer):
        check_alive(value, trace_now())
        return value
    if isinstance(value, Array):
        return trace_now().capture(value)
    kind = scalar_kind(value)
    if kind is not None:
        literal = constant(value, default_dtype(kind))
        return Tracer(literal.trace, literal.value, kind)
    array = as_numpy(value, what)
    if array.nbytes > LITERAL_LIMIT:
        raise type_error(
            "SW0501",
            f"a NumPy array of {array.nbytes} bytes would become a constant of the program",
            f"arrays up to {LITERAL_LIMIT} bytes may",
            help="pass it to the traced function as an argument",
        )
    return constant(array, array.dtype)


def as_numpy(value: Value, what: str) -> np.ndarray[Any, Any]:
    """The NumPy array of something that has elements; TypeError (SW0507) for anything else, and for masked arrays."""
    if is_traced_by_jax(value):
        raise type_error(
            "SW0507",
            f"{what} takes no arrays that JAX traces: they have no elements yet",
            help="compute with jax.numpy inside of jax.jit; shardwright.jax.jit partitions such a function",
        )
    if is_key_of_jax(value):
        raise type_error(
            "SW0507",
            f"{what} takes arrays of numbers, not keys of JAX",
            help="give its numbers: jax.random.key_data(key)",
        )
    if not hasattr(value, "__array__") or isinstance(value, type):
        raise type_error(
            "SW0507", f"{what} takes arrays and numbers, not {type(value).__name__}", help="make an array of it first"
        )
    check_unmasked(value, what)
    array = native_array(np.asarray(value))
    as_dtype(array.dtype)
    return array


def is_traced_by_jax(value: Value) -> bool:
    """Whether a value is what stands for an array while JAX traces a function."""
    core = sys.modules.get("jax.core")
    return core is not None and isinstance(value, core.Tracer)


def is_key_of_jax(value: Value) -> bool:
    """Whether a value is an array of keys, `jax.random.key(0)`, which NumPy has no type for."""
    return hasattr(value, "__array__") and type(getattr(value, "dtype", None)).__name__ == "KeyTy"


def check_unmasked(value: Value, what: str) -> None:
    """TypeError (SW0507) for a masked array, whose mask would be lost."""
    if hasattr(value, "mask") and isinstance(value, np.ma.MaskedArray):
        raise type_error(
            "SW0507", f"{what} takes no masked arrays", help="fill them, x.filled(0), or compute with the mask as well"
        )


def constant(value: Value, dtype: DType, shape: Sequence[int] = ()) -> Tracer:
    """A constant: an array, or a scalar that fills `shape`."""
    if isinstance(value, int) and not isinstance(value, bool):
        check_integer(value, dtype)
    whole = tuple(shape) if scalar_kind(value) is not None or np.ndim(value) == 0 else np.shape(value)
    return trace_now().emit(stablehlo.make_constant(value, dtype_element(dtype), whole))


def operands(what: str, *values: Value) -> list[Tracer]:
    """The values with their common type and shape, as element-wise operations need them."""
    dtype = result_dtype(what, *values)
    shape = broadcast_shape(what, *[shape_of(value) for value in values])
    return [fit(value, dtype, shape) for value in values]


def fit(value: Value, dtype: DType, shape: Sequence[int]) -> Tracer:
    """
    The value converted and broadcast; a Python scalar becomes one constant of that type and shape.

    Raises `ValueError` (SW0504) for what does not broadcast to it.
    """
    if scalar_kind(value) is not None:
        return constant(value, dtype, shape)
    found, target = _exact(as_tracer(value), dtype), tuple(shape)
    sizes = zip(found.shape[::-1], target[::-1], strict=False)
    if found.ndim > len(target) or any(size not in (1, wanted) for size, wanted in sizes):
        raise value_error(
            "SW0504",
            f"a value of {list(found.shape)} does not broadcast to {list(target)}",
            help="aligned at the last dim, sizes must be equal or 1",
        )
    return broadcast(convert(found, dtype), target)


def _exact(value: Tracer, dtype: DType) -> Tracer:
    """A number that is to be of another type than the default one, with the digits that it has."""
    return value if value.exact is None or value.dtype == dtype else value.exact


def typed(value: Value, dtype: DType, what: str) -> Tracer:
    """The value in a type, in its own shape; a Python scalar becomes a constant of that type."""
    if scalar_kind(value) is not None:
        return constant(value, dtype)
    return convert(_exact(as_tracer(value, what), dtype), dtype)


def result_dtype(what: str, *values: Value) -> DType:
    """The type to which the values promote."""
    kinds = [kind for value in values if (kind := weak_kind(value)) is not None]
    dtypes = [dtype_of(value, what) for value in values if weak_kind(value) is None]
    return common_dtype(dtypes, kinds, what)


def weak_kind(value: Value) -> str | None:
    """The kind of a value that takes the type of the arrays around it; None for a value with a type of its own."""
    return value.scalar_kind if isinstance(value, Tracer) else scalar_kind(value)


def dtype_of(value: Value, what: str = "an array function") -> DType:
    """The dtype of a value; a Python scalar has its kind's default."""
    kind = scalar_kind(value)
    if kind is not None:
        return default_dtype(kind)
    return value.dtype if isinstance(value, Array) else as_numpy(value, what).dtype


def shape_of(value: Value) -> tuple[int, ...]:
    """The shape of a value; Python scalars have none."""
    if scalar_kind(value) is not None:
        return ()
    if isinstance(value, list | tuple):
        return listed(value, None, "an array function").shape
    return tuple(value.shape if isinstance(value, Array) else np.shape(value))


def broadcast_shape(what: str, *shapes: Sequence[int]) -> tuple[int, ...]:
    """
    The shape to which all broadcast; ValueError (SW0504) when there is none.

    >>> broadcast_shape("add", (4, 1), (3,))
    (4, 3)
    """
    try:
        return np.broadcast_shapes(*map(tuple, shapes))
    except ValueError:
        raise value_error(
            "SW0504",
            f"{what} does not fit shapes {' and '.join(str(list(shape)) for shape in shapes)}",
            help="aligned at the last dim, sizes must be equal or 1",
        ) from None


def convert(value: Tracer, dtype: DType) -> Tracer:
    """The elements in another type."""
    if value.dtype == dtype:
        return value
    if dtype == BOOLEAN:
        return compare("NE", value, constant(0, value.dtype, value.shape))
    if kind_of(value.dtype) == "complex" and kind_of(dtype) != "complex":
        raise type_error("SW0506", f"{brief(value.dtype)} cannot be {brief(dtype)}", help="take its real part first")
    return trace_now().emit(stablehlo.ConvertOp(value.value, dtype_element(dtype)))


def as_it_is(value: Tracer) -> Tracer:
    """The same elements as a value of its own."""
    return trace_now().emit(stablehlo.ConvertOp(value.value, dtype_element(value.dtype)))


def unary(operation: Callable[[SSAValue], Operation], value: Tracer) -> Tracer:
    """An element-wise operation of one operand."""
    return trace_now().emit(operation(value.value))


def binary(operation: type[stablehlo.BinaryOp], left: Tracer, right: Tracer) -> Tracer:
    """An element-wise operation of two operands of one type."""
    result = trace_now().emit(operation(left.value, right.value))
    if left.scalar_kind and right.scalar_kind:
        result.scalar_kind = left.scalar_kind
    return result


def builder() -> Builder:
    """Builds at the end of the program that is being traced."""
    trace = trace_now()

    def insert(op: Operation) -> Operation:
        trace.emit(op)
        return op

    return Builder(insert)


def _traced(made: SSAValue, source: Tracer) -> Tracer:
    """What the builder made of `source`: itself, where an op would have changed nothing."""
    return source if made is source.value else Tracer(trace_now(), made)


def compare(direction: str, left: Tracer, right: Tracer) -> Tracer:
    """Whether a relation (EQ, NE, LT, LE, GT, GE) holds, for each element."""
    return _traced(builder().compare(left.value, direction, right.value), left)


def select(condition: Tracer, on_true: Tracer, on_false: Tracer) -> Tracer:
    """Elements of one value or the other."""
    return _traced(builder().select(condition.value, on_true.value, on_false.value), on_true)


def broadcast_in_dim(value: Tracer, shape: Sequence[int], dims: Sequence[int]) -> Tracer:
    """The value repeated: its dim `i` becomes dim `dims[i]` of `shape`."""
    return value if tuple(shape) == value.shape else _traced(builder().broadcast(value.value, shape, dims), value)


def broadcast(value: Tracer, shape: Sequence[int]) -> Tracer:
    """The value repeated as element-wise operations repeat it: dims are aligned at the last."""
    offset = len(shape) - value.ndim
    return broadcast_in_dim(value, shape, range(offset, len(shape)))


def reshape(value: Tracer, shape: Sequence[int]) -> Tracer:
    """The same elements, row-major, in another shape of the same size."""
    return _traced(builder().reshape(value.value, shape), value)


def transpose(value: Tracer, order: Sequence[int]) -> Tracer:
    """The dims in another order."""
    return _traced(builder().transpose(value.value, order), value)


def slice_(value: Tracer, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> Tracer:
    """A box of the elements, of every `strides`-th one."""
    if not any(starts) and tuple(limits) == value.shape and all(stride == 1 for stride in strides):
        return value
    return _traced(builder().slice(value.value, tuple(starts), tuple(limits), tuple(strides)), value)


def reverse(value: Tracer, dims: Sequence[int]) -> Tracer:
    """The elements of some dims back to front."""
    return trace_now().emit(stablehlo.ReverseOp(value.value, tuple(dims))) if dims else value


def concatenate(values: Sequence[Tracer], dim: int) -> Tracer:
    """Values end to end along one dim."""
    return trace_now().emit(stablehlo.ConcatenateOp([value.value for value in values], dim))


def iota(dtype: DType, shape: Sequence[int], dim: int) -> Tracer:
    """Each element's index along `dim`."""
    return trace_now().emit(stablehlo.IotaOp(dim, tensor(tuple(shape), dtype_element(dtype))))


def reduce(operation: type[Operation], value: Tracer, dims: Sequence[int]) -> Tracer:
    """The elements of some dims combined by add, multiply, maximum, minimum, and, or."""
    if not dims:
        return value
    start = constant(MONOIDS[operation].identity(value.dtype), value.dtype)
    return trace_now().emit(stablehlo.ReduceOp([value.value], [start.value], tuple(dims), operation))


def dot(left: Tracer, right: Tracer, dims: stablehlo.DotDimensions) -> Tracer:
    """Sums of products: batching dims first, then the free dims of each operand."""
    return trace_now().emit(stablehlo.DotGeneralOp(left.value, right.value, dims))


def check_layout(layout: object, what: str, *, automatic: bool = False) -> None:
    """TypeError (SW0515) for anything but a layout, ValueError (SW0584) for an automatic one where that cannot be."""
    if isinstance(layout, Layout):
        if layout.is_auto and not automatic:
            raise value_error(
                "SW0584",
                f"{what}: {layout!r} says only that the compiler is to choose",
                help="give it to a TensorSpec, for which a function is traced; for other values write the layout",
            )
        return
    made = f"wrap it: shardwright.Layout({layout!r}, mesh)"
    if not isinstance(layout, list | tuple | str):
        made = 'make one: shardwright.Layout(["batch", None], mesh)'
    raise type_error("SW0515", f"{what}: {layout!r} is not a Layout", help=made)


def constrain(value: Tracer, layout: Layout, what: str = "layout", reason: str | None = None) -> Tracer:
    """The value with its layout settled, for what it is made of as well; `ValueError` (SW0505) on another mesh."""
    mesh, spec = _fitting(value, layout, what)
    home = trace_now().homes.get(value.value)
    if home is not None and home is not mesh:
        raise value_error(
            "SW0505",
            f"{what}: the value is on {home!r} and the layout on {mesh!r}",
            help="relayout takes a value to another mesh: shardwright.relayout(x, layout)",
        )
    return _on(mesh, dtensor.ConstraintOp(value.value, spec, reason))


def relayout(value: Tracer, layout: Layout, reason: str) -> Tracer:
    """The value in another layout, on another mesh if the layout says so."""
    mesh, spec = _fitting(value, layout, "relayout")
    home = trace_now().homes.get(value.value)
    if home is None or home is mesh:
        return _on(mesh, dtensor.RelayoutOp(value.value, spec, reason))
    return _on(mesh, TransferOp(value.value, spec, home.name, reason))


def to_mesh(value: Tracer, mesh: Mesh, reason: str) -> Tracer:
    """The value on another mesh, split there as it is here, as far as that mesh has the same axes."""
    trace = trace_now()
    home, target = trace.homes.get(value.value), trace.use_mesh(mesh)
    if home is None or home is target:
        return value
    rank = value.ndim
    spec = LayoutSpec(target.name, ((),) * rank, frozenset(range(rank)))
    return _on(target, TransferOp(value.value, spec, home.name, reason))


def relayout_like(value: Tracer, reference: Tracer, reason: str, *, mesh_only: bool = False) -> Tracer:
    """
    The value in the layout of another one, also where propagation is still to decide that; or only on its mesh.

    `ValueError` (SW0502) for a reference that has no mesh, or no layout yet and another shape.
    """
    trace = trace_now()
    home = trace.homes.get(reference.value, trace.meshes[0] if trace.meshes else None)
    layout = trace.layout_of(reference.value)
    if layout is not None and not mesh_only:
        return relayout(value, layout, reason)
    if home is None or (value.shape != reference.shape and not mesh_only):
        why = "is on no mesh" if home is None else "gets its layout later, and has another shape"
        raise value_error(
            "SW0502",
            f"relayout_like: the reference of shape {list(reference.shape)} {why}",
            help="give the layout to relayout",
        )
    here = to_mesh(value, home, reason)
    if mesh_only:
        return here
    spec = LayoutSpec(home.name, ((),) * here.ndim, frozenset(range(here.ndim)))
    result = _on(home, dtensor.RelayoutOp(here.value, spec, reason))
    trace.group([reference.value, result.value])
    return result


def _fitting(value: Tracer, layout: Layout, what: str) -> tuple[Mesh, LayoutSpec]:
    """The program's mesh for a layout and the layout on it; an error when the value cannot be laid out so."""
    check_layout(layout, what)
    mesh, full = trace_now().use_mesh(layout.mesh), layout.for_rank(value.ndim)
    full.local_shape(value.shape)
    return mesh, full.on(mesh).spec


def _on(mesh: Mesh, op: Operation) -> Tracer:
    trace = trace_now()
    result = trace.emit(op)
    trace.homes[result.value] = mesh
    return result
