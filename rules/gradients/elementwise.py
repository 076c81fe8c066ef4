"""Gradients of element-wise ops."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from xdsl.ir import Operation, SSAValue

from shardwright.dialects import chlo, stablehlo
from shardwright.dialects.types import element_of, is_complex, shape_of
from shardwright.rules.gradients.vjp import Gradient, Site, has_gradient, vjp, vjp_of_one

Derivative = Callable[[SSAValue, SSAValue, Site], SSAValue]
"""The derivative of an op at its operand `x` and its result `y`."""


def _unary(name: str, derivative: Derivative) -> None:
    def rule(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
        return [site.multiply(gradient, derivative(op.operands[0], op.results[0], site))]

    vjp_of_one(name)(rule)


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


@vjp_of_one("stablehlo.negate")
def _negate(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [site.negate(gradient)]


@vjp_of_one("stablehlo.abs")
def _abs(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Of a real number its sign; of a complex one its direction."""
    sign = site.put(stablehlo.SignOp(op.operands[0]))
    if is_complex(element_of(sign)):
        gradient = site.put(stablehlo.ComplexOp(gradient, site.constant(0, gradient)))
        sign = site.put(chlo.ConjOp(sign))
    return [site.multiply(gradient, sign)]


@vjp_of_one("stablehlo.sign")
def _direction(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """A complex number's direction changes by what is across to it; of real numbers no gradient is asked for."""
    x, direction = op.operands[0], op.results[0]
    along = site.put(stablehlo.RealOp(site.multiply(gradient, direction)))
    along = site.put(stablehlo.ComplexOp(along, site.constant(0, along)))
    across = site.subtract(gradient, site.multiply(along, site.put(chlo.ConjOp(direction))))
    length = site.put(stablehlo.AbsOp(x))
    zero = site.compare(length, "EQ", site.constant(0, length))
    length = site.select(zero, site.constant(1, length), length)
    return [site.divide(across, site.put(stablehlo.ComplexOp(length, site.constant(0, length))))]


@vjp_of_one("stablehlo.convert")
def _convert(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    if not has_gradient(op.operands[0]):
        return [None]
    return [site.convert(gradient, op.operands[0])]


@vjp_of_one("stablehlo.reduce_precision", "dtensor.constraint", "dtensor.barrier")
def _same(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """The gradient as it comes."""
    return [gradient]


@vjp("stablehlo.optimization_barrier")
def _each(op: Operation, gradients: Sequence[Gradient], site: Site) -> Sequence[Gradient]:
    return list(gradients)


@vjp_of_one("stablehlo.add")
def _add(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [gradient, gradient]


@vjp_of_one("stablehlo.subtract")
def _subtract(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [gradient, site.negate(gradient) if site.needed(op.operands[1]) else None]


@vjp_of_one("stablehlo.multiply")
def _multiply(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    x, y = op.operands
    return [
        site.multiply(gradient, y) if site.needed(x) else None,
        site.multiply(gradient, x) if site.needed(y) else None,
    ]


@vjp_of_one("stablehlo.divide")
def _divide(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    y, quotient = op.operands[1], op.results[0]
    share = site.divide(gradient, y)
    return [share, site.negate(site.multiply(share, quotient)) if site.needed(y) else None]


@vjp_of_one("stablehlo.power")
def _power(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the base `y x^(y-1)`, to the exponent `x^y log x`, which is zero where the base is."""
    (x, y), (result,) = op.operands, op.results
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


@vjp_of_one("stablehlo.remainder")
def _remainder(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """`x - y trunc(x / y)`."""
    x, y = op.operands
    if not site.needed(y):
        return [gradient, None]
    quotient = site.divide(x, y)
    floor = site.put(stablehlo.FloorOp(site.put(stablehlo.AbsOp(quotient))))
    whole = site.multiply(site.put(stablehlo.SignOp(quotient)), floor)
    return [gradient, site.negate(site.multiply(gradient, whole))]


@vjp_of_one("stablehlo.atan2")
def _atan2(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    y, x = op.operands
    square = site.add(site.multiply(x, x), site.multiply(y, y))
    share = site.divide(gradient, square)
    return [site.multiply(share, x), site.negate(site.multiply(share, y))]


@vjp_of_one("stablehlo.maximum", "stablehlo.minimum")
def _extreme(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the operand that is the result; to both in equal parts where they are equal."""
    x, y = op.operands
    equal = site.compare(x, "EQ", y)
    half, zero = site.scale(gradient, 0.5), site.constant(0, gradient)
    direction = "GT" if op.name.endswith("maximum") else "LT"
    shares: list[Gradient] = []
    for mine, other in ((x, y), (y, x)):
        won = site.select(site.compare(mine, direction, other), gradient, zero)
        shares.append(site.select(equal, half, won) if site.needed(mine) else None)
    return shares


@vjp_of_one("stablehlo.select")
def _select(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    condition, x, y = op.operands
    zero = site.constant(0, gradient)
    return [
        None,
        site.select(condition, gradient, zero) if site.needed(x) else None,
        site.select(condition, zero, gradient) if site.needed(y) else None,
    ]


@vjp_of_one("stablehlo.clamp")
def _clamp(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """To the operand within the bounds, to a bound where it decides; a scalar bound gets the sum."""
    low, x, high = op.operands
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


@vjp_of_one("stablehlo.complex")
def _complex(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """Gradients of complex numbers are those that JAX gives: `df/dx - i df/dy`."""
    imaginary = site.put(stablehlo.ImagOp(gradient))
    return [site.put(stablehlo.RealOp(gradient)), site.negate(imaginary)]


@vjp_of_one("stablehlo.real", "stablehlo.imag")
def _part(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    if not is_complex(element_of(op.operands[0])):
        return [gradient if op.name.endswith("real") else None]
    zero = site.constant(0, gradient)
    pair = (gradient, zero) if op.name.endswith("real") else (zero, site.negate(gradient))
    return [site.put(stablehlo.ComplexOp(*pair))]


@vjp_of_one("chlo.conj")
def _conj(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    return [site.put(chlo.ConjOp(gradient))]


def _only_last(op: Operation, needed: Callable[[SSAValue], bool]) -> bool:
    """Orders of derivatives and exponents are given, not differentiated."""
    return not needed(op.operands[0])


@vjp_of_one("chlo.polygamma", when=_only_last)
def _polygamma(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    order, x = op.operands
    higher = site.add(order, site.constant(1, order))
    return [None, site.multiply(gradient, site.put(chlo.PolygammaOp(higher, x)))]


@vjp_of_one("chlo.zeta", when=_only_last)
def _zeta(op: Operation, gradient: SSAValue, site: Site) -> Sequence[Gradient]:
    """By the offset: `-x zeta(x + 1, q)`."""
    x, q = op.operands
    slope = site.multiply(x, site.put(chlo.ZetaOp(site.add(x, site.constant(1, x)), q)))
    return [None, site.negate(site.multiply(gradient, slope))]
