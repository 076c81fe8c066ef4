"""Random bits: `rng_bit_generator`, whose bits are defined, and `rng`, whose numbers nobody can make again."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import TensorType, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Operation, SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition, irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from shardwright.dialects.stablehlo.parts import forms, shapes, syntax
from shardwright.dialects.types import AnyTensor, bit_width, element_of, is_integer, plain, shape_of, tensor_type


class RngAlgorithm(StrEnum):
    """The generator: `DEFAULT` is Philox, as on XLA's CPU backend."""

    DEFAULT = "DEFAULT"
    THREE_FRY = "THREE_FRY"
    PHILOX = "PHILOX"


class RngDistribution(StrEnum):
    """How the numbers of `rng` are distributed."""

    UNIFORM = "UNIFORM"
    NORMAL = "NORMAL"


@irdl_attr_definition
class RngAlgorithmAttr(EnumAttribute[RngAlgorithm], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<rng_algorithm PHILOX>`."""

    name = "stablehlo.rng_algorithm"


@irdl_attr_definition
class RngDistributionAttr(EnumAttribute[RngDistribution], SpacedOpaqueSyntaxAttribute):
    """`#stablehlo<rng_distribution UNIFORM>`."""

    name = "stablehlo.rng_distribution"


@irdl_op_definition
class RngBitGeneratorOp(forms.WrittenOp):
    """
    Random bits from a state, and the next state.

    `%next, %bits = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<2xui64>) -> (...)`

    The state is a key, then a counter: of 64 bits (ThreeFry), or of 64 or 128 bits (Philox).
    """

    name = "stablehlo.rng_bit_generator"
    initial_state = operand_def(TensorType)
    rng_algorithm = prop_def(RngAlgorithmAttr)
    output_state = result_def(TensorType)
    output = result_def(TensorType)
    traits = traits_def(Pure())
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("rng_algorithm", forms.one_of(RngAlgorithmAttr), ", algorithm = ")
    )

    def __init__(self, state: SSAValue | Operation, output: AnyTensor, algorithm: RngAlgorithm = RngAlgorithm.DEFAULT):
        value = SSAValue.get(state)
        results = [plain(tensor_type(value)), output]
        properties: dict[str, Attribute] = {"rng_algorithm": RngAlgorithmAttr(algorithm)}
        super().__init__(operands=[value], properties=properties, result_types=results)

    @property
    def algorithm(self) -> RngAlgorithm:
        """The generator, never `DEFAULT`."""
        found = self.rng_algorithm.data
        return RngAlgorithm.PHILOX if found is RngAlgorithm.DEFAULT else found

    def verify_(self) -> None:
        state, sizes = tensor_type(self.initial_state), (2,) if self.algorithm is RngAlgorithm.THREE_FRY else (2, 3)
        shape = shape_of(state)
        element = state.element_type
        if not is_integer(element) or bit_width(element) != 64 or len(shape) != 1 or shape[0] not in sizes:
            wanted = " or ".join(f"{size}xui64" for size in sizes)
            raise VerifyException(f"the state of {self.algorithm.value} must be {wanted}, not {plain(state)}")
        syntax.check_result(self, plain(state))
        if not is_integer(element_of(self.output)):
            raise VerifyException(
                f"bits must be integers, not {element_of(self.output)}: generate integers and bitcast_convert them"
            )


@irdl_op_definition
class RngOp(forms.WrittenOp):
    """
    Random numbers out of nowhere: `stablehlo.rng %a, %b, %shape, distribution = UNIFORM : (...) -> tensor<4xf32>`.

    It can be read, so that it is refused by name (SW0416): no run could be repeated or compared.
    """

    name = "stablehlo.rng"
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    shape = operand_def(TensorType)
    rng_distribution = prop_def(RngDistributionAttr)
    result = result_def(TensorType)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.OPERANDS, forms.Field("rng_distribution", forms.one_of(RngDistributionAttr), ", distribution = ")
    )

    def verify_(self) -> None:
        element = element_of(self.result)
        for value in (self.a, self.b):
            if shape_of(value) or element_of(value) != element:
                raise VerifyException(f"a and b must be scalars of type {element}, not {plain(value.type)}")
        shape = tensor_type(self.shape)
        if shape.element_type != i64 or shape_of(shape) != (len(shape_of(self.result)),):
            raise VerifyException(f"the shape of {shapes.text(shape_of(self.result))} cannot be {plain(shape)}")


RANDOM_OPS: tuple[type[Operation], ...] = (RngBitGeneratorOp, RngOp)
RANDOM_ATTRIBUTES: tuple[type[Attribute], ...] = (RngAlgorithmAttr, RngDistributionAttr)
