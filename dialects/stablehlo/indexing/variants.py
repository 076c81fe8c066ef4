"""Ops that gathers and slices make up: read here, and taken apart by the pass `decompose`."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, TensorType
from xdsl.ir import Operation
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.indexing import check_indices, gather_shape
from shardwright.dialects.stablehlo.indexing.numbers import GatherDimensions, GatherDimensionsAttr
from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.types import element_of, shape_of, tensor, tensor_type


@irdl_op_definition
class DynamicGatherOp(forms.TensorOp):
    """A gather whose slice sizes are an operand; the result's shape says what they are."""

    name = "stablehlo.dynamic_gather"
    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    slice_sizes = operand_def(TensorType)
    dimension_numbers = prop_def(GatherDimensionsAttr)
    indices_are_sorted = opt_prop_def(IntegerAttr)

    @property
    def numbers(self) -> GatherDimensions:
        """Which dims are taken from where."""
        return self.dimension_numbers.data

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extent of a slice along each dim of the operand, as the result has it."""
        result, rank = shape_of(self.result), len(shape_of(self.operand))
        found = dict(zip(self.numbers.window_dims(rank), self.numbers.offset_dims, strict=False))
        if not all(0 <= dim < len(result) for dim in found.values()):
            raise VerifyException(f"offset_dims {list(self.numbers.offset_dims)} are no dims of the result")
        return tuple(result[found[dim]] if dim in found else 1 for dim in range(rank))

    def verify_(self) -> None:
        check_indices(tensor_type(self.start_indices), "start indices")
        check_indices(tensor_type(self.slice_sizes), "slice sizes")
        if shape_of(self.slice_sizes) != (len(shape_of(self.operand)),):
            raise VerifyException("slice_sizes must have one entry for each dim of the operand")
        shape = gather_shape(shape_of(self.operand), shape_of(self.start_indices), self.numbers, self.sizes)
        syntax.check_result(self, tensor(shape, element_of(self.operand)))


@irdl_op_definition
class RealDynamicSliceOp(forms.WrittenOp, forms.TensorOp):
    """
    A slice whose bounds are operands, one entry for each dim.

    `stablehlo.real_dynamic_slice %x, %start, %limit, %strides : (...) -> tensor<2xf32>`
    """

    name = "stablehlo.real_dynamic_slice"
    operand = operand_def(TensorType)
    start_indices = operand_def(TensorType)
    limit_indices = operand_def(TensorType)
    strides = operand_def(TensorType)
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS)

    def verify_(self) -> None:
        operand, result = shape_of(self.operand), shape_of(self.result)
        for bound in (self.start_indices, self.limit_indices, self.strides):
            check_indices(tensor_type(bound), "bounds")
            if shape_of(bound) != (len(operand),):
                raise VerifyException("bounds must have one entry for each dim of the operand")
        if len(result) != len(operand) or any(size > extent for size, extent in zip(result, operand, strict=True)):
            raise VerifyException(f"{shapes.text(result)} is no slice of {shapes.text(operand)}")
        syntax.check_result(self, tensor(result, element_of(self.operand)))


@irdl_op_definition
class TorchIndexSelectOp(forms.TensorOp):
    """Slices of the operand along `dim`, one for each index; the first `batch_dims` dims of both pair up."""

    name = "stablehlo.torch_index_select"
    operand = operand_def(TensorType)
    index = operand_def(TensorType)
    dim_attr = prop_def(IntegerAttr, prop_name="dim")
    batch_dims_attr = prop_def(IntegerAttr, prop_name="batch_dims")

    @property
    def dim(self) -> int:
        """The dim along which slices are taken."""
        return self.dim_attr.value.data

    @property
    def numbers(self) -> GatherDimensions:
        """The gather that does it."""
        batch, dim, rank, count = self.batch_dims_attr.value.data, self.dim, len(self._shapes[0]), len(self._shapes[1])
        index_dims = range(dim, dim + count - batch)
        offset = tuple(at for at in range(batch, rank - 1 + count - batch) if at not in index_dims)
        pairs = tuple(range(batch))
        return GatherDimensions(offset, (dim,), pairs, pairs, (dim,), count)

    @property
    def sizes(self) -> tuple[int, ...]:
        """The extent of a slice along each dim of the operand."""
        one = {self.dim, *self.numbers.operand_batching_dims}
        return tuple(1 if dim in one else extent for dim, extent in enumerate(self._shapes[0]))

    @property
    def _shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        return shape_of(self.operand), shape_of(self.index)

    def verify_(self) -> None:
        check_indices(tensor_type(self.index), "indices")
        operand, index = self._shapes
        shapes.check_dims([self.dim], len(operand), "dim")
        if not 0 <= self.batch_dims_attr.value.data <= min(self.dim, len(index)):
            raise VerifyException(f"batch_dims {self.batch_dims_attr.value.data} must be at most dim {self.dim}")
        syntax.check_result(
            self, tensor(gather_shape(operand, index, self.numbers, self.sizes), element_of(self.operand))
        )


INDEX_VARIANT_OPS: tuple[type[Operation], ...] = (DynamicGatherOp, RealDynamicSliceOp, TorchIndexSelectOp)
