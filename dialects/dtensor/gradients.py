"""Ops of the traced stage that say what is differentiated, and how: `expand-gradients` replaces all of them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, StringAttr, TensorType
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
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

from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.types import plain, tensor_type


def _types(values: Sequence[SSAValue]) -> list[object]:
    return [plain(value.type) for value in values]


@irdl_op_definition
class GradientOp(IRDLOperation):
    """
    The gradients of `targets` with respect to `sources`, both values of the program so far: for each source the sum
    over targets of the seed times the target's derivative.

    The last `constants` sources are none: they were computed before anybody watched, so nothing is followed through
    them, and nobody uses their gradients.

    `"dtensor.gradient"(%loss, %seed, %w) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (f, f, w) -> w`
    """

    name = "dtensor.gradient"
    targets = var_operand_def(TensorType)
    seeds = var_operand_def(TensorType)
    sources = var_operand_def(TensorType)
    gradients = var_result_def(TensorType)
    constants = opt_prop_def(IntegerAttr)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(
        self,
        targets: Sequence[SSAValue],
        seeds: Sequence[SSAValue],
        sources: Sequence[SSAValue],
        constants: Sequence[SSAValue] = (),
    ):
        given = [*sources, *constants]
        types = [plain(tensor_type(source)) for source in given]
        counted = {"constants": IntegerAttr(len(constants), 64)} if constants else {}
        super().__init__(operands=[list(targets), list(seeds), given], result_types=[types], properties=counted)

    @property
    def variables(self) -> Sequence[SSAValue]:
        """The sources that are not constants."""
        return self.sources[: len(self.sources) - self._constant_count]

    @property
    def fixed(self) -> Sequence[SSAValue]:
        """The sources that are constants."""
        return self.sources[len(self.sources) - self._constant_count :]

    @property
    def _constant_count(self) -> int:
        return 0 if self.constants is None else self.constants.value.data

    def verify_(self) -> None:
        if _types(self.targets) != _types(self.seeds):
            raise VerifyException("there must be one seed for each target, of the target's type")
        if _types(self.sources) != _types(self.gradients):
            raise VerifyException("there must be one gradient for each source, of the source's type")
        if not 0 <= self._constant_count <= len(self.sources):
            raise VerifyException("there are more constants than sources")


@irdl_op_definition
class StopGradientOp(forms.TensorOp):
    """Its operand, which counts as a constant for gradients: `"dtensor.stop_gradient"(%x) : (t) -> t`."""

    name = "dtensor.stop_gradient"
    operand = operand_def(TensorType)

    def __init__(self, operand: SSAValue):
        super().__init__(operands=[operand], result_types=[plain(tensor_type(operand))])


@irdl_op_definition
class PrimalOp(forms.TensorOp):
    """
    Its operand, as the value by which something is differentiated: `"dtensor.primal"(%x) : (t) -> t`.

    What was computed of the operand before, or is by whoever has it from elsewhere, is not computed of this.
    """

    name = "dtensor.primal"
    operand = operand_def(TensorType)

    def __init__(self, operand: SSAValue):
        super().__init__(operands=[operand], result_types=[operand.type])


@irdl_op_definition
class WithGradientOp(IRDLOperation):
    """
    The values `outputs`, whose gradient with respect to `inputs` is what the region computes of the outputs' gradients.

    `"dtensor.with_gradient"(%y, %x) ({ ^bb0(%dy: t): ... stablehlo.return %dx : t }) : (t, t) -> t`
    """

    name = "dtensor.with_gradient"
    outputs = var_operand_def(TensorType)
    inputs = var_operand_def(TensorType)
    results_ = var_result_def(TensorType)
    rule = region_def("single_block")
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, outputs: Sequence[SSAValue], inputs: Sequence[SSAValue], rule: Region):
        types = [plain(tensor_type(output)) for output in outputs]
        super().__init__(operands=[list(outputs), list(inputs)], result_types=[types], regions=[rule])

    def verify_(self) -> None:
        if [plain(kind) for kind in self.rule.block.arg_types] != _types(self.outputs):
            raise VerifyException("the region must take one gradient for each output")
        last = self.rule.block.last_op
        if last is None or _types(last.operands) != _types(self.inputs):
            raise VerifyException("the region must return one gradient for each input")


@irdl_op_definition
class ResultOfOp(IRDLOperation):
    """
    The values `outputs`, which are what a function makes of `inputs`: there is a rule for its gradient, whatever they
    are computed by.

    `"dtensor.result_of"(%x, %a) <{function = "inv", operandSegmentSizes = array<i32: 1, 1>}> : (t, t) -> t`
    """

    name = "dtensor.result_of"
    outputs = var_operand_def(TensorType)
    inputs = var_operand_def(TensorType)
    function = prop_def(StringAttr)
    results_ = var_result_def(TensorType)
    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())

    def __init__(self, function: str, outputs: Sequence[SSAValue], inputs: Sequence[SSAValue]):
        types = [plain(tensor_type(output)) for output in outputs]
        said = {"function": StringAttr(function)}
        super().__init__(operands=[list(outputs), list(inputs)], result_types=[types], properties=said)

    def verify_(self) -> None:
        if _types(self.results) != _types(self.outputs):
            raise VerifyException("the results must be of the outputs' types")


@irdl_op_definition
class CheckpointOp(IRDLOperation):
    """
    What its region computes; for gradients it is computed again instead of kept (rematerialisation).

    `"dtensor.checkpoint"(%x) ({ ^bb0(%a: t): ... stablehlo.return %y : t }) : (t) -> t`
    """

    name = "dtensor.checkpoint"
    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    body = region_def("single_block")
    traits = traits_def(RecursiveMemoryEffect())

    def __init__(self, inputs: Sequence[SSAValue], body: Region):
        last = body.block.last_op
        assert last is not None
        types = [plain(tensor_type(value)) for value in last.operands]
        super().__init__(operands=[list(inputs)], result_types=[types], regions=[body])

    def verify_(self) -> None:
        if [plain(kind) for kind in self.body.block.arg_types] != _types(self.inputs):
            raise VerifyException("the region must take the inputs")
        last = self.body.block.last_op
        if last is None or _types(last.operands) != _types(self.outputs):
            raise VerifyException("the region must return the outputs")


OPS: tuple[type[Operation], ...] = (GradientOp, StopGradientOp, PrimalOp, WithGradientOp, ResultOfOp, CheckpointOp)
