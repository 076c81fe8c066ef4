"""Sort: tensors ordered along one dim, together, by any comparator."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import BoolAttr, IntegerAttr, TensorType, i1, i64
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.stablehlo.algebra.contractions import ReturnOp
from shardwright.dialects.stablehlo.elementwise import CompareOp
from shardwright.dialects.stablehlo.parts import shapes, syntax
from shardwright.dialects.stablehlo.parts.attributes import ComparisonDirection, ComparisonType
from shardwright.dialects.types import AnyTensor, element_of, is_float, plain, shape_of, tensor, tensor_type


@irdl_op_definition
class SortOp(IRDLOperation):
    """
    The elements along one dim in order: n inputs of one shape, n results, all permuted alike.

    The comparator takes two scalars of each input, `x0, y0, x1, y1 ...`, and says whether the first elements come
    before the second ones. It has no pretty form, upstream as here.

    >>> from xdsl.dialects.test import TestOp
    >>> from shardwright.dialects.types import element_type_named, tensor
    >>> keys = TestOp(result_types=[tensor((4, 8), element_type_named("float32"))])
    >>> SortOp(keys.results, 1).dim
    1
    """

    name = "stablehlo.sort"
    inputs = var_operand_def(TensorType)
    dimension = opt_prop_def(IntegerAttr)
    is_stable = opt_prop_def(BoolAttr)
    outputs = var_result_def(TensorType)
    comparator = region_def("single_block")
    traits = traits_def(Pure(), RecursiveMemoryEffect())

    def __init__(
        self,
        inputs: Sequence[SSAValue | Operation],
        dim: int,
        comparator: Region | None = None,
        *,
        stable: bool = True,
    ):
        """Without a comparator, the first input's elements ascend, floats in their total order."""
        values = [SSAValue.get(value) for value in inputs]
        types = [tensor_type(value) for value in values]
        results = [syntax.infer(self.name, lambda found=found: _result_type(found, types[0], dim)) for found in types]
        super().__init__(
            operands=[values],
            properties={"dimension": IntegerAttr(dim, i64), "is_stable": BoolAttr(stable, i1)},
            result_types=[results],
            regions=[ascending(types) if comparator is None else comparator],
        )

    @property
    def dim(self) -> int:
        """The dim along which elements are ordered, counted from the front."""
        dim = -1 if self.dimension is None else self.dimension.value.data
        return dim % max(len(shape_of(self.inputs[0])), 1)

    @property
    def stable(self) -> bool:
        """Whether elements of which neither comes first stay in order."""
        return self.is_stable is not None and bool(self.is_stable.value.data)

    def verify_(self) -> None:
        if not self.inputs or len(self.outputs) != len(self.inputs):
            raise VerifyException("needs one result for each input, and at least one input")
        first = tensor_type(self.inputs[0])
        dim = -1 if self.dimension is None else self.dimension.value.data
        for index, value in enumerate(self.inputs):
            syntax.check_result(self, _result_type(tensor_type(value), first, dim), index)
        self._verify_comparator()

    def _verify_comparator(self) -> None:
        block = self.comparator.block
        wanted = [tensor((), element_of(value)) for value in self.inputs for _ in "xy"]
        found = [plain(arg.type) if isinstance(arg.type, TensorType) else arg.type for arg in block.args]
        if found != wanted:
            raise VerifyException(f"the comparator must take {', '.join(map(str, wanted))}")
        last = block.last_op
        if not isinstance(last, ReturnOp) or [value.type for value in last.operands] != [tensor((), i1)]:
            raise VerifyException(f"the comparator must return {tensor((), i1)}")


def _result_type(operand: AnyTensor, first: AnyTensor, dim: int) -> AnyTensor:
    shapes.equal([shape_of(first), shape_of(operand)])
    rank = len(shape_of(first))
    if not -rank <= dim < rank:
        raise VerifyException(f"dimension {dim} is out of range for rank {rank}")
    return tensor(shape_of(operand), operand.element_type)


def ascending(types: Sequence[AnyTensor]) -> Region:
    """The comparator by which the first of tensors of these types ascends, floats in their total order."""
    return _by_first(types, ComparisonDirection.LT)


def descending(types: Sequence[AnyTensor]) -> Region:
    """The comparator by which the first of tensors of these types descends, floats in their total order."""
    return _by_first(types, ComparisonDirection.GT)


def _by_first(types: Sequence[AnyTensor], direction: ComparisonDirection) -> Region:
    block = Block(arg_types=[tensor((), found.element_type) for found in types for _ in "xy"])
    order = ComparisonType.TOTALORDER if is_float(types[0].element_type) else None
    before = CompareOp(block.args[0], block.args[1], direction, order)
    block.add_ops([before, ReturnOp(before)])
    return Region(block)
