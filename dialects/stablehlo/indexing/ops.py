"""Ops that find elements by computed indices: gather, scatter, dynamic_slice and dynamic_update_slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, TensorType, i1, i64
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import as_body, check_body
from shardwright.dialects.stablehlo.indexing.numbers import (
    GatherDimensions,
    GatherDimensionsAttr,
    ScatterDimensions,
    ScatterDimensionsAttr,
)
from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.types import AnyTensor, Integers, integers, is_integer, plain, shape_of, tensor, tensor_type

Shape = tuple[int, ...]


def _check_sorted(dims: Sequence[int], rank: int, what: str) -> None:
    shapes.check_dims(dims, rank, what)
    if list(dims) != sorted(dims):
        raise VerifyException(f"{what}s {list(dims)} are not in order")


def check_indices(type_: AnyTensor, what: str) -> None:
    """Checks that indices are integers."""
    if not is_integer(type_.element_type):
        raise VerifyException(f"{what} must be integers, not {type_.element_type}")


def _index_batch(indices: Shape, vector_dim: int, components: int, what: str) -> Shape:
    """The indices' shape without the dim that holds the components of each index."""
    if not 0 <= vector_dim <= len(indices):
        raise VerifyException(f"index_vector_dim {vector_dim} is out of range for rank {len(indices)}")
    found = indices[vector_dim] if vector_dim < len(indices) else 1
    if found != components:
        raise VerifyException(f"each index has {found} components, but {what} names {components} dims")
    return indices[:vector_dim] + indices[vector_dim + 1 :]


def _check_vector_dim(vector_dim: int, batching: Sequence[int]) -> None:
    if vector_dim in batching:
        raise VerifyException(f"index_vector_dim {vector_dim} is a batching dim of the indices")


def _check_batching(operand: Shape, dims: Sequence[int], indices: Shape, index_dims: Sequence[int]) -> None:
    if len(dims) != len(index_dims):
        raise VerifyException(f"batching dims {list(dims)} and {list(index_dims)} must pair up")
    shapes.check_dims(index_dims, len(indices), "batching dim of the indices")
    for mine, other in zip(dims, index_dims, strict=True):
        if operand[mine] != indices[other]:
            raise VerifyException(
                f"batching dims pair up: dim {mine} has {operand[mine]}, dim {other} of the indices {indices[other]}"
            )


def _interleave(batch: Shape, window: Shape, window_dims: Sequence[int]) -> Shape:
    """A shape in which `window` stands at `window_dims` and `batch` at the others."""
    rank = len(batch) + len(window)
    _check_sorted(window_dims, rank, "window dim")
    rest, inner = iter(batch), iter(window)
    return tuple(next(inner) if dim in window_dims else next(rest) for dim in range(rank))


def gather_shape(operand: Shape, indices: Shape, numbers: GatherDimensions, sizes: Sequence[int]) -> Shape:
    """The shape of a gather's result."""
    rank = len(operand)
    shapes.check_count(sizes, rank, "slice_sizes")
    _check_sorted(numbers.collapsed_slice_dims, rank, "collapsed dim")
    _check_sorted(numbers.operand_batching_dims, rank, "batching dim")
    shapes.check_dims(numbers.collapsed_slice_dims + numbers.operand_batching_dims, rank, "collapsed or batching dim")
    shapes.check_dims(numbers.start_index_map + numbers.operand_batching_dims, rank, "indexed or batching dim")
    batch = _index_batch(indices, numbers.index_vector_dim, len(numbers.start_index_map), "start_index_map")
    _check_vector_dim(numbers.index_vector_dim, numbers.start_indices_batching_dims)
    _check_batching(operand, numbers.operand_batching_dims, indices, numbers.start_indices_batching_dims)
    window = numbers.window_dims(rank)
    for dim, size in enumerate(sizes):
        if not 0 <= size <= operand[dim] or (dim not in window and size != 1):
            raise VerifyException(f"slice size {size} of dim {dim} does not fit its {operand[dim]} elements")
    if len(numbers.offset_dims) != len(window):
        raise VerifyException(f"offset_dims {list(numbers.offset_dims)} must name one dim for each of {list(window)}")
    return _interleave(batch, tuple(sizes[dim] for dim in window), numbers.offset_dims)


def _gather_type(
    operand: AnyTensor, indices: AnyTensor, dimension_numbers: GatherDimensionsAttr, slice_sizes: Integers, **_: object
) -> AnyTensor:
    check_indices(indices, "start indices")
    shape = gather_shape(shape_of(operand), shape_of(indices), dimension_numbers.data, slice_sizes.get_values())
    return tensor(shape, operand.element_type)


@irdl_op_definition
class GatherOp(forms.ShapedOp):
    """
    Slices of the operand, one for each index; a slice that would reach over an edge starts earlier.

    `"stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<...>, slice_sizes = array<i64: 1, 8>, ...}>`
    """

    name = "stablehlo.gather"
    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    dimension_numbers = prop_def(GatherDimensionsAttr)
    slice_sizes = prop_def(DenseArrayBase.constr(i64))
    indices_are_sorted = opt_prop_def(IntegerAttr)
    RULE: ClassVar[forms.TypeRule] = staticmethod(_gather_type)

    def __init__(
        self,
        operand: SSAValue | Operation,
        start_indices: SSAValue | Operation,
        numbers: GatherDimensions,
        sizes: Sequence[int],
        *,
        indices_are_sorted: bool = False,
    ):
        properties = {
            "dimension_numbers": GatherDimensionsAttr(numbers),
            "indices_are_sorted": IntegerAttr(int(indices_are_sorted), i1),
            "slice_sizes": integers(tuple(sizes)),
        }
        self.make([operand, start_indices], properties)

    @property
    def numbers(self) -> GatherDimensions:
        """Which dims are taken from where."""
        return self.dimension_numbers.data

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extent of a slice along each dim of the operand."""
        return self.slice_sizes.get_values()


def check_scatter(operand: Shape, indices: Shape, updates: Shape, numbers: ScatterDimensions) -> None:
    """Checks that updates of this shape fit the inputs and the indices."""
    rank = len(operand)
    _check_sorted(numbers.inserted_window_dims, rank, "inserted dim")
    _check_sorted(numbers.input_batching_dims, rank, "batching dim")
    shapes.check_dims(numbers.inserted_window_dims + numbers.input_batching_dims, rank, "inserted or batching dim")
    targets = numbers.scatter_dims_to_operand_dims
    shapes.check_dims(targets + numbers.input_batching_dims, rank, "indexed or batching dim")
    batch = _index_batch(indices, numbers.index_vector_dim, len(targets), "scatter_dims_to_operand_dims")
    _check_vector_dim(numbers.index_vector_dim, numbers.scatter_indices_batching_dims)
    _check_batching(operand, numbers.input_batching_dims, indices, numbers.scatter_indices_batching_dims)
    window = numbers.window_dims(rank)
    _check_sorted(numbers.update_window_dims, len(updates), "window dim")
    if len(numbers.update_window_dims) != len(window):
        raise VerifyException(f"update_window_dims must name one dim for each of {list(window)}")
    extents = tuple(updates[dim] for dim in numbers.update_window_dims)
    for dim, extent in zip(window, extents, strict=True):
        if extent > operand[dim]:
            raise VerifyException(f"the window has {extent} elements along dim {dim}, which has {operand[dim]}")
    expected = _interleave(batch, extents, numbers.update_window_dims)
    if updates != expected:
        raise VerifyException(f"updates must be {shapes.text(expected)}, not {shapes.text(updates)}")


@irdl_op_definition
class ScatterOp(IRDLOperation):
    """
    Inputs with windows updated, one for each index, by a function of the old element and the new one.

    n inputs, one tensor of indices, n updates; the body takes n old elements, then n new ones, all scalars. A window
    of which any part lies outside is left out.
    """

    name = "stablehlo.scatter"
    arguments = var_operand_def(TensorType)
    scatter_dimension_numbers = prop_def(ScatterDimensionsAttr)
    indices_are_sorted = opt_prop_def(IntegerAttr)
    unique_indices = opt_prop_def(IntegerAttr)
    outputs = var_result_def(TensorType)
    update_computation = region_def("single_block")
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        scatter_indices: SSAValue | Operation,
        updates: Sequence[SSAValue | Operation],
        numbers: ScatterDimensions,
        body: Region | type[Operation],
        *,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
    ):
        values = [SSAValue.get(value) for value in (*inputs, scatter_indices, *updates)]
        types = [tensor_type(value) for value in values]
        for index in range(len(inputs)):
            syntax.infer(self.name, lambda index=index: _scatter_type(types, index, numbers))
        super().__init__(
            operands=[values],
            properties={
                "indices_are_sorted": IntegerAttr(int(indices_are_sorted), i1),
                "scatter_dimension_numbers": ScatterDimensionsAttr(numbers),
                "unique_indices": IntegerAttr(int(unique_indices), i1),
            },
            result_types=[[plain(type_) for type_ in types[: len(inputs)]]],
            regions=[as_body(body, types[0].element_type)],
        )

    @property
    def inputs(self) -> tuple[SSAValue, ...]:
        """The tensors to update."""
        return tuple(self.operands[: len(self.operands) // 2])

    @property
    def scatter_indices(self) -> SSAValue:
        """Where windows start."""
        return self.operands[len(self.operands) // 2]

    @property
    def updates(self) -> tuple[SSAValue, ...]:
        """The new elements for each input."""
        return tuple(self.operands[len(self.operands) // 2 + 1 :])

    @property
    def numbers(self) -> ScatterDimensions:
        """Which dims are put where."""
        return self.scatter_dimension_numbers.data

    def verify_(self) -> None:
        count = len(self.operands) // 2
        if len(self.operands) != 2 * count + 1 or not count or len(self.outputs) != count:
            raise VerifyException("needs indices, and updates and a result for each input, and at least one input")
        types = [tensor_type(value) for value in self.operands]
        for index in range(count):
            syntax.check_result(self, _scatter_type(types, index, self.numbers), index)
        check_body(self.update_computation.block, types[:count])


def _scatter_type(types: Sequence[AnyTensor], index: int, numbers: ScatterDimensions) -> AnyTensor:
    """The type of result `index`."""
    count = len(types) // 2
    operand, indices, updates = types[index], types[count], types[count + 1 + index]
    check_indices(indices, "scatter indices")
    if shape_of(operand) != shape_of(types[0]) or shape_of(updates) != shape_of(types[count + 1]):
        raise VerifyException("all inputs must have one shape, and so must all updates")
    check_scatter(shape_of(operand), shape_of(indices), shape_of(updates), numbers)
    if operand.element_type != updates.element_type:
        raise VerifyException(f"updates of {operand.element_type} elements must be so too, not {updates.element_type}")
    return plain(operand)


def _check_starts(operand: AnyTensor, starts: Sequence[AnyTensor]) -> None:
    if len(starts) != len(shape_of(operand)):
        raise VerifyException(f"start_indices has {len(starts)} entries for rank {len(shape_of(operand))}")
    for start in starts:
        check_indices(start, "start indices")
        if plain(start) != plain(starts[0]) or shape_of(start):
            raise VerifyException("start indices must be scalars of one type")


def _dynamic_slice_type(operand: AnyTensor, *starts: AnyTensor, slice_sizes: Integers) -> AnyTensor:
    sizes = slice_sizes.get_values()
    _check_starts(operand, starts)
    shapes.check_count(sizes, len(starts), "slice_sizes")
    for dim, (extent, size) in enumerate(zip(shape_of(operand), sizes, strict=True)):
        if not 0 <= size <= extent:
            raise VerifyException(f"slice size {size} of dim {dim} does not fit its {extent} elements")
    return tensor(sizes, operand.element_type)


@irdl_op_definition
class DynamicSliceOp(forms.WrittenOp, forms.ShapedOp):
    """
    A box of the operand from a computed start; one that would reach over an edge starts earlier.

    `stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>`
    """

    name = "stablehlo.dynamic_slice"
    operand = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    slice_sizes = prop_def(DenseArrayBase.constr(i64))
    # MLIR writes a scalar's slice, which has no starts, as `%x, , sizes = []`.
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Operands(followed=True, gap=True), forms.Field("slice_sizes", forms.DIMS, " sizes = ")
    )
    RULE: ClassVar[forms.TypeRule] = staticmethod(_dynamic_slice_type)

    def __init__(self, operand: SSAValue | Operation, starts: Sequence[SSAValue | Operation], sizes: Sequence[int]):
        self.make([operand, *starts], {"slice_sizes": integers(tuple(sizes))})

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extent of the box along each dim."""
        return self.slice_sizes.get_values()


def _dynamic_update_type(operand: AnyTensor, update: AnyTensor, *starts: AnyTensor) -> AnyTensor:
    _check_starts(operand, starts)
    if update.element_type != operand.element_type:
        raise VerifyException(f"the update's elements must be {operand.element_type}, not {update.element_type}")
    shapes.check_count(shape_of(update), len(starts), "the update")
    for dim, (extent, size) in enumerate(zip(shape_of(operand), shape_of(update), strict=True)):
        if size > extent:
            raise VerifyException(f"the update has {size} elements along dim {dim}, which has {extent}")
    return plain(operand)


@irdl_op_definition
class DynamicUpdateSliceOp(forms.WrittenOp, forms.ShapedOp):
    """
    The operand with a box overwritten from a computed start; one that would reach over an edge starts earlier.

    `stablehlo.dynamic_update_slice %x, %y, %i : (tensor<8xf32>, tensor<2xf32>, tensor<i32>) -> tensor<8xf32>`
    """

    name = "stablehlo.dynamic_update_slice"
    operand = operand_def(TensorType)
    update = operand_def(TensorType)
    start_indices = var_operand_def(TensorType)
    FORM: ClassVar[forms.Form] = forms.Form(forms.Operands(least=1))
    RULE: ClassVar[forms.TypeRule] = staticmethod(_dynamic_update_type)

    def __init__(
        self, operand: SSAValue | Operation, update: SSAValue | Operation, starts: Sequence[SSAValue | Operation]
    ):
        self.make([operand, update, *starts], {})


INDEXING_OPS: tuple[type[Operation], ...] = (GatherOp, ScatterOp, DynamicSliceOp, DynamicUpdateSliceOp)
