"""Gradients of element-wise ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import element_of, is_complex, shape_of
from shardwright.rules.gradients.vjp import Gradient, Site, has_gradient, vjp

Derivative = Callable[[SSAValue, SSAValue, Site], SSAValue]
"""The derivative of an op at its operand `x` and its result `y`."""


def _unary(name: str, derivative: Derivative) -> None:
    def rule(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
        (gradient,) = gradients
        assert gradient is not None
        return [site.multiply(gradient, derivative(op.operands[0], op.results[0], site))]

    vjp(name)(rule)


def _one_minus_square(value: SSAValue, site: Site) -> SSAValue:
    return site.subtract(site.constant(1, value), site.multiply(value, value))


def _inverse_root(value: SSAValue, site: Site) -> SSAValue:
    return site.put(stablehlo.RsqrtOp(value))


_UNARY: dict[str, Derivative] = {
    "stablehlo.exponential": lambda x, y, site: y,
    "stablehlo.exponential_minus_one": lambda x, y, site: site.add(y, site.constant(1, y)),
    "stablehlo.log": lambda x, y, site: site.divide(site.constant(1, x), x),
    "stablehlo.log_plus_one": lambda x, y, site: site.divide(site.constant(1, x), site.add(site.constant(1, x), x)),
    "stablehlo.sine": lambda x, y, site: site.put(stablehlo.CosineOp(x)),
    "stablehlo.cosine": lambda x, y, site: site.negate(site.put(stablehlo.SineOp(x))),
    "stablehlo.tan": lambda x, y, site: site.add(site.constant(1, y), site.multiply(y, y)),
    "chlo.tan": lambda x, y, site: site.add(site.constant(1, y), site.multiply(y, y)),
    "stablehlo.tanh": lambda x, y, site: _one_minus_square(y, site),
    "stablehlo.logistic": lambda x, y, site: site.multiply(y, site.subtract(site.constant(1, y), y)),
    "stablehlo.sqrt": lambda x, y, site: site.divide(site.constant(0.5, y), y),
    "stablehlo.rsqrt": lambda x, y, site: site.divide(site.scale(y, -0.5), x),
    "stablehlo.cbrt": lambda x, y, site: site.divide(site.constant(1 / 3, y), site.multiply(y, y)),
    "chlo.square": lambda x, y, site: site.scale(x, 2),
    "chlo.sinh": lambda x, y, site: site.put(chlo.CoshOp(x)),
    "chlo.cosh": lambda x, y, site: site.put(chlo.SinhOp(x)),
    "chlo.asin": lambda x, y, site: _inverse_root(_one_minus_square(x, site), site),
    "chlo.acos": lambda x, y, site: site.negate(_inverse_root(_one_minus_square(x, site), site)),
    "chlo.atan": lambda x, y, site: site.divide(
        site.constant(1, x), site.add(site.constant(1, x), site.multiply(x, x))
    ),
    "chlo.asinh": lambda x, y, site: _inverse_root(site.add(site.multiply(x, x), site.constant(1, x)), site),
    "chlo.acosh": lambda x, y, site: _inverse_root(site.subtract(site.multiply(x, x), site.constant(1, x)), site),
    "chlo.atanh": lambda x, y, site: site.divide(site.constant(1, x), _one_minus_square(x, site)),
    "chlo.erf": lambda x, y, site: _bell(x, 2 / math.sqrt(math.pi), site),
    "chlo.erfc": lambda x, y, site: _bell(x, -2 / math.sqrt(math.pi), site),
    "chlo.erf_inv": lambda x, y, site: site.scale(
        site.put(stablehlo.ExponentialOp(site.multiply(y, y))), math.sqrt(math.pi) / 2
    ),
    "chlo.lgamma": lambda x, y, site: site.put(chlo.DigammaOp(x)),
    "chlo.digamma": lambda x, y, site: site.put(chlo.PolygammaOp(site.constant(1, x), x)),
}


def _bell(x: SSAValue, factor: float, site: Site) -> SSAValue:
    return site.scale(site.put(stablehlo.ExponentialOp(site.negate(site.multiply(x, x)))), factor)


for _name, _derivative in _UNARY.items():
    _unary(_name, _derivative)


@vjp("stablehlo.negate")
def _negate(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    assert gradients[0] is not None
    return [site.negate(gradients[0])]


@vjp("stablehlo.abs")
def _abs(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """Of a real number its sign; of a complex one its direction."""
    (gradient,) = gradients
    assert gradient is not None
    sign = site.put(stablehlo.SignOp(op.operands[0]))
    if is_complex(element_of(sign)):
        gradient = site.put(stablehlo.ComplexOp(gradient, site.constant(0, gradient)))
        sign = site.put(chlo.ConjOp(sign))
    return [site.multiply(gradient, sign)]


@vjp("stablehlo.convert")
def _convert(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    assert gradients[0] is not None
    if not has_gradient(op.operands[0]):
        return [None]
    return [site.convert(gradients[0], op.operands[0])]


@vjp("stablehlo.reduce_precision", "dtensor.constraint", "dtensor.barrier")
def _same(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """The gradient as it comes."""
    return list(gradients)


@vjp("stablehlo.optimization_barrier")
def _each(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    return list(gradients)


@vjp("stablehlo.add")
def _add(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    return [gradients[0], gradients[0]]


@vjp("stablehlo.subtract")
def _subtract(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    assert gradients[0] is not None
    return [gradients[0], site.negate(gradients[0]) if site.needed(op.operands[1]) else None]


@vjp("stablehlo.multiply")
def _multiply(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,), (x, y) = gradients, op.operands
    assert gradient is not None
    return [
        site.multiply(gradient, y) if site.needed(x) else None,
        site.multiply(gradient, x) if site.needed(y) else None,
    ]


@vjp("stablehlo.divide")
def _divide(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,), y, (quotient,) = gradients, op.operands[1], op.results
    assert gradient is not None
    share = site.divide(gradient, y)
    return [share, site.negate(site.multiply(share, quotient)) if site.needed(y) else None]


@vjp("stablehlo.power")
def _power(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """To the base `y x^(y-1)`, to the exponent `x^y log x`, which is zero where the base is."""
    (gradient,), (x, y), (result,) = gradients, op.operands, op.results
    assert gradient is not None
    base = exponent = None
    if site.needed(x):
        lower = site.power(x, site.subtract(y, site.constant(1, y)))
        zero = site.compare(y, "EQ", site.constant(0, y))
        slope = site.select(zero, site.constant(0, x), site.multiply(y, lower))
        base = site.multiply(gradient, slope)
    if site.needed(y):
        safe = site.select(site.compare(x, "EQ", site.constant(0, x)), site.constant(1, x), x)
        exponent = site.multiply(gradient, site.multiply(result, site.put(stablehlo.LogOp(safe))))
    return [base, exponent]


@vjp("stablehlo.remainder")
def _remainder(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """`x - y trunc(x / y)`."""
    (gradient,), (x, y) = gradients, op.operands
    assert gradient is not None
    if not site.needed(y):
        return [gradient, None]
    quotient = site.divide(x, y)
    floor = site.put(stablehlo.FloorOp(site.put(stablehlo.AbsOp(quotient))))
    whole = site.multiply(site.put(stablehlo.SignOp(quotient)), floor)
    return [gradient, site.negate(site.multiply(gradient, whole))]


@vjp("stablehlo.atan2")
def _atan2(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,), (y, x) = gradients, op.operands
    assert gradient is not None
    square = site.add(site.multiply(x, x), site.multiply(y, y))
    share = site.divide(gradient, square)
    return [site.multiply(share, x), site.negate(site.multiply(share, y))]


@vjp("stablehlo.maximum", "stablehlo.minimum")
def _extreme(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """To the operand that is the result; to both in equal parts where they are equal."""
    (gradient,), (x, y) = gradients, op.operands
    assert gradient is not None
    equal = site.compare(x, "EQ", y)
    half, zero = site.scale(gradient, 0.5), site.constant(0, gradient)
    direction = "GT" if op.name.endswith("maximum") else "LT"
    shares: list[Gradient] = []
    for mine, other in ((x, y), (y, x)):
        won = site.select(site.compare(mine, direction, other), gradient, zero)
        shares.append(site.select(equal, half, won) if site.needed(mine) else None)
    return shares


@vjp("stablehlo.select")
def _select(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,), (condition, x, y) = gradients, op.operands
    assert gradient is not None
    zero = site.constant(0, gradient)
    return [
        None,
        site.select(condition, gradient, zero) if site.needed(x) else None,
        site.select(condition, zero, gradient) if site.needed(y) else None,
    ]


@vjp("stablehlo.clamp")
def _clamp(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """To the operand within the bounds, to a bound where it decides; a scalar bound gets the sum."""
    (gradient,), (low, x, high) = gradients, op.operands
    assert gradient is not None
    zero = site.constant(0, gradient)
    wide = [bound if shape_of(bound) else site.broadcast(bound, shape_of(x), ()) for bound in (low, high)]
    below, above = site.compare(x, "LT", wide[0]), site.compare(x, "GT", wide[1])
    inside = site.select(below, zero, site.select(above, zero, gradient))
    shares = [site.select(below, gradient, zero), site.select(above, gradient, zero)]
    ends = [
        (share if shape_of(bound) else site.sum(share, range(len(shape_of(x))))) if site.needed(bound) else None
        for share, bound in zip(shares, (low, high), strict=True)
    ]
    return [ends[0], inside, ends[1]]


@vjp("stablehlo.complex")
def _complex(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """Gradients of complex numbers are those that JAX gives: `df/dx - i df/dy`."""
    assert gradients[0] is not None
    imaginary = site.put(stablehlo.ImagOp(gradients[0]))
    return [site.put(stablehlo.RealOp(gradients[0])), site.negate(imaginary)]


@vjp("stablehlo.real", "stablehlo.imag")
def _part(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,) = gradients
    assert gradient is not None
    if not is_complex(element_of(op.operands[0])):
        return [gradient if op.name.endswith("real") else None]
    zero = site.constant(0, gradient)
    pair = (gradient, zero) if op.name.endswith("real") else (zero, site.negate(gradient))
    return [site.put(stablehlo.ComplexOp(*pair))]


@vjp("chlo.conj")
def _conj(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    assert gradients[0] is not None
    return [site.put(chlo.ConjOp(gradients[0]))]


def _only_last(op: Operation, needed: Callable[[SSAValue], bool]) -> bool:
    """Orders of derivatives and exponents are given, not differentiated."""
    return not needed(op.operands[0])


@vjp("chlo.polygamma", when=_only_last)
def _polygamma(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    (gradient,), (order, x) = gradients, op.operands
    assert gradient is not None
    higher = site.add(order, site.constant(1, order))
    return [None, site.multiply(gradient, site.put(chlo.PolygammaOp(higher, x)))]


@vjp("chlo.zeta", when=_only_last)
def _zeta(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    """By the offset: `-x zeta(x + 1, q)`."""
    (gradient,), (x, q) = gradients, op.operands
    assert gradient is not None
    slope = site.multiply(x, site.put(chlo.ZetaOp(site.add(x, site.constant(1, x)), q)))
    return [None, site.negate(site.multiply(gradient, slope))]
