"""Products and sums by letters, older matrix products, and functions of scalars that are applied to every element."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import body_of, returned
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.passes.decomposing.parts import Decomposition, Site
from shardwright.passes.rewriter import retype


def _dot(op: stablehlo.DotOp, site: Site) -> Sequence[SSAValue]:
    product = stablehlo.DotGeneralOp(op.lhs, op.rhs, op.dims, element_of(op.result))
    if op.precision_config is not None:
        product.properties["precision_config"] = op.precision_config
    return [site.put(product)]


def _without(value: SSAValue, letters: str, unwanted: set[str], site: Site) -> tuple[SSAValue, str]:
    """The value summed over the dims with unwanted letters."""
    dims = [dim for dim, letter in enumerate(letters) if letter in unwanted]
    return site.sum(value, dims), "".join(letter for letter in letters if letter not in unwanted)


def _in_order(value: SSAValue, letters: str, wanted: str, site: Site) -> SSAValue:
    return site.transpose(value, [letters.index(letter) for letter in wanted])


def _einsum(op: stablehlo.EinsumOp, site: Site) -> Sequence[SSAValue]:
    (left, right), result = op.letters
    lhs, left = _without(op.lhs, left, set(left) - set(right) - set(result), site)
    rhs, right = _without(op.rhs, right, set(right) - set(left) - set(result), site)
    batch = [letter for letter in left if letter in right and letter in result]
    summed = [letter for letter in left if letter in right and letter not in result]
    dims = stablehlo.DotDimensions(
        *(tuple(side.index(letter) for letter in letters) for letters in (batch, summed) for side in (left, right))
    )
    product = site.put(stablehlo.DotGeneralOp(lhs, rhs, dims, element_of(op.result)))
    free = [letter for side in (left, right) for letter in side if letter not in batch and letter not in summed]
    return [_in_order(product, "".join([*batch, *free]), result, site)]


def _unary_einsum(op: stablehlo.UnaryEinsumOp, site: Site) -> Sequence[SSAValue]:
    (letters,), result = op.letters
    value, letters = _without(op.operand, letters, set(letters) - set(result), site)
    return [_in_order(value, letters, result, site)]


def _map(op: stablehlo.MapOp, site: Site) -> Sequence[SSAValue]:
    """The computation's ops on whole tensors."""
    shape = shape_of(op.result)
    block = op.computation.block
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, op.inputs, strict=True))
    for inner in body_of(block):
        if isinstance(inner, stablehlo.ConstantOp):
            values[inner.output] = site.literal(stablehlo.splat_value(inner), element_of(inner.output), shape)
            continue
        if type(inner) not in stablehlo.ELEMENTWISE:
            raise fault("SW0302", f"'stablehlo.map' op has {inner.name} in its computation", inner, help=_HELP)
        clone = inner.clone(values)
        for result in clone.results:
            retype(result, tensor(shape, element_of(result)))
        values[inner.results[0]] = site.put(clone)
    return [values[value] for value in returned(block)]


_HELP = "the computation may have element-wise ops and constants only"

PRODUCTS: Mapping[type[Operation], Decomposition] = {
    stablehlo.DotOp: _dot,
    stablehlo.EinsumOp: _einsum,
    stablehlo.UnaryEinsumOp: _unary_einsum,
    stablehlo.MapOp: _map,
}
