"""
Programs in exact numbers: what is a float in the program is an integer modulo a prime here.

Sums and products are those of the field, in any order, and what is not algebra is a function of which nothing is known
but that equal arguments give equal results. Two programs that agree here do the same sums of the same products; a float
run could not tell, for rounding hides what is small. Comparisons, sorts, and all that moves elements or computes on
integers mean what they always mean. The numbers lie in float64, around zero, and no sum of products reaches 2**53.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, cast

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, SymbolRefAttr, TensorType, f64, i1, i32, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from shardwright.dialects import stablehlo
from shardwright.dialects.building import Builder, appending, only_op
from shardwright.dialects.dtensor import WindowOp
from shardwright.dialects.factors import on_diagonal, product, related, turned
from shardwright.dialects.stablehlo.elementwise import ElementwiseOp
from shardwright.dialects.stablehlo.parts.syntax import truth
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import bit_width, element_dtype, element_of, is_boolean, is_complex, is_float, shape_of
from shardwright.proof.loops import COUNT, bounded
from shardwright.runtime.kernels import table

PRIME = 1_048_573
"""The numbers are those modulo this prime: below 2**20, and one more than a multiple of 4, so that -1 has a root."""

ROOT = next(r for n in range(2, 99) if (r := pow(n, (PRIME - 1) // 4, PRIME)) * r % PRIME == PRIME - 1)
"""What stands for the imaginary unit: its square is -1."""

ROUNDS = 8
"""A loop runs so often at least, unless it ends: its body is one program, whatever the round."""

INFINITY = PRIME + PRIME // 4
"""Beyond all others, so that it is neutral for minimum or maximum; and not zero, which would be neutral for sums."""

LARGEST = 64
"""Rows of a matrix of which a Cholesky factor is computed, at most: each column takes its ops."""

WIDEST = 1 << 22
"""Elements of a matrix that stands for a transform, at most."""

_HINTS = frozenset(
    """
    sdy.sharding_constraint sdy.reshard sdy.propagation_barrier sdy.sharding_group sdy.data_flow_edge
    dtensor.constraint dtensor.relayout dtensor.barrier dtensor.group
    """.split()
)
"""Ops that say something of layouts alone: their results are their operands."""

_MOVING = frozenset(
    """
    broadcast_in_dim reshape transpose slice dynamic_slice dynamic_update_slice concatenate pad reverse gather select
    compare maximum minimum clamp sort optimization_barrier return all_gather all_to_all collective_permute
    collective_broadcast
    """.split()
)
"""Ops that mean on these numbers what they mean on floats: they move, or they compare."""

_REDUCING = frozenset("reduce reduce_window scatter select_and_scatter all_reduce reduce_scatter".split())
"""Ops that combine elements by what stands in their last region, or by the kind that they name."""


class Inexact(Exception):
    """An op that has no meaning in exact numbers; the message says which, and why."""


def residue(value: complex) -> float:
    """
    The number that stands for a float: each is an integer by a power of two, and 2 has an inverse.

    A NaN is one of them, too, but for those with bits of their own: they are marks, which nothing but bits tells apart.

    >>> residue(3.0), residue(0.5) * 2 % PRIME, residue(-1.0)
    (3, 1, -1)
    """
    if isinstance(value, complex):
        parts = residue(value.real) + ROOT * residue(value.imag)
        return parts if math.isnan(parts) else _centred(int(parts))
    if math.isnan(value):
        return value if _is_mark(value) else zlib.crc32(b"nan") % (PRIME // 2)
    if math.isinf(value):
        return INFINITY if value > 0 else -INFINITY
    exact = Fraction(value)
    return _centred(exact.numerator * pow(exact.denominator, -1, PRIME))


def _is_mark(value: float) -> bool:
    """Whether a NaN has other bits than the one that stands for what has no value, of either sign."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return bits & (1 << 51) - 1 != 0


def _as_python(scalar: Any) -> complex:
    return complex(scalar) if np.asarray(scalar).dtype.kind == "c" else float(scalar)


def _centred(number: int) -> int:
    return (number + PRIME // 2) % PRIME - PRIME // 2


def is_number(element: Attribute) -> bool:
    """Whether elements are floats or complex numbers, which are numbers of the field here."""
    return is_float(element) or is_complex(element)


def exact_type(type_: Attribute) -> Attribute:
    """The type of what stands for a value: plain, whatever layout the value has."""
    if not isinstance(type_, TensorType):
        return type_
    element = cast("TensorType[Attribute]", type_).element_type
    return TensorType(f64 if is_number(element) else element, type_.shape)


def make_exact(module: ModuleOp, rounds: int = ROUNDS, turn: int = 0) -> ModuleOp:
    """
    A copy of a module, without calls, in exact numbers; raises `Inexact` for an op without a meaning in them.

    Loops run at most `rounds` times (see `loops.bounded`), and choices take the branch that is `turn` further on.

    ```
    %1 = stablehlo.exponential %0 : tensor<4xf32>
    %2 = stablehlo.add %1, %1 : tensor<4xf32>
    ```
    becomes a polynomial with random coefficients, and a sum reduced by the prime, of `tensor<4xf64>`.
    """
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp) and op.body.blocks}
    main = functions["main"].clone_without_regions()
    main.body.add_block(_Meaning(functions, rounds, turn).block(functions["main"].body.block))
    main.update_function_type()
    for name in ("arg_attrs", "res_attrs"):
        if name in main.properties:
            main.properties[name] = _exact_attributes(main.properties[name])
    return ModuleOp([*(op.clone() for op in module.ops if op.name == "dtensor.mesh"), main], dict(module.attributes))


def _is_hint(op: Operation) -> bool:
    """Whether an op is GSPMD's way of saying something of a layout."""
    return op.name == "stablehlo.custom_call" and str(op.properties.get("call_target_name")) == '"Sharding"'


def _exact_attributes(entries: Attribute) -> Attribute:
    """What a local function says of the global types of its arguments or results."""
    if isinstance(entries, ArrayAttr):
        return ArrayAttr([_exact_attributes(entry) for entry in entries])
    assert isinstance(entries, DictionaryAttr)
    return DictionaryAttr({name: exact_type(item) for name, item in entries.data.items()})


class _Meaning:
    """Builds blocks in exact numbers: what each value became, and the floats that splats hold, to be folded as such."""

    def __init__(self, functions: Mapping[str, FuncOp], rounds: int, turn: int) -> None:
        self.functions, self.rounds, self.turn = functions, rounds, turn
        self.values: dict[SSAValue, SSAValue] = {}
        self.scalars: dict[SSAValue, Any] = {}
        self.deciding = False

    def block(self, old: Block, more: int = 0) -> Block:
        """What a block became, with so many arguments more."""
        new = Block(arg_types=[*(exact_type(argument.type) for argument in old.args), *[COUNT] * more])
        self.values.update(zip(old.args, new.args, strict=False))
        for op in old.ops:
            self._op(op, appending(new))
        return new

    def _op(self, op: Operation, build: Builder) -> None:
        name = op.name.partition(".")[2]
        involved = any(isinstance(v.type, TensorType) and is_number(element_of(v)) for v in (*op.operands, *op.results))
        if isinstance(op, stablehlo.WhileOp):
            made = self._loop(op, build)
        elif isinstance(op, stablehlo.CaseOp | stablehlo.IfOp):
            made = self._choice(op, build)
        elif op.name == "func.call":
            made = self._called(op, build)
        elif op.name in _HINTS or _is_hint(op):
            made = [self.values[value] for value in op.operands][: len(op.results)]
        elif op.name.startswith("sdy."):
            raise Inexact(f"{op.name} has no meaning in exact numbers")
        elif (scalar := self._scalar(op)) is not None:
            made = [self._splat(op, scalar, build)]
        elif isinstance(op, stablehlo.SelectOp) and op.operands[0] in self.scalars:
            made = [self.values[op.operands[1 if self.scalars[op.operands[0]] else 2]]]
        elif not involved:
            made = self._same(op, build)
        elif isinstance(op, stablehlo.IsFiniteOp) and self.turn % 2 == 0:
            made = [build.literal(True, i1, shape_of(op.results[0]))]  # in other turns an unknown function
        elif isinstance(op, stablehlo.CompareOp) and involved and self.deciding:
            made = [self._decision(op, build)]
        elif name in _MEANINGS:
            made = [_MEANINGS[name](build, op, [self.values[value] for value in op.operands], self.scalars)]
        elif name in _REDUCING:
            made = self._reduced(op, build)
        elif name in _MOVING or op.name.startswith(("dtensor.", "func.")) or op.name == "chlo.top_k":
            made = self._same(op, build)
        elif isinstance(op, ElementwiseOp) and op.FACTS is not None:
            made = [_unknown_op(build, op, [self.values[value] for value in op.operands])]
        else:
            raise Inexact(f"{op.name} has no meaning in exact numbers")
        self.values.update(zip(op.results, made, strict=True))

    def _called(self, op: Operation, build: Builder) -> Sequence[SSAValue]:
        """The body of the function, in the call's place."""
        callee = op.properties["callee"]
        assert isinstance(callee, SymbolRefAttr)
        block = self.functions[callee.root_reference.data].body.block
        for argument, value in zip(block.args, op.operands, strict=True):
            self.values[argument] = self.values[value]
            self.scalars.pop(argument, None)
            if value in self.scalars:
                self.scalars[argument] = self.scalars[value]
        last = block.last_op
        assert last is not None
        for inner in block.ops:
            for result in inner.results:
                self.scalars.pop(result, None)  # of another call
            if inner is not last:
                self._op(inner, build)
        for result, value in zip(op.results, last.operands, strict=True):
            if value in self.scalars:
                self.scalars[result] = self.scalars[value]
        return [self.values[value] for value in last.operands]

    def _same(self, op: Operation, build: Builder) -> Sequence[SSAValue]:
        return self._copied(op, build).results

    def _copied(self, op: Operation, build: Builder, sums: bool = False) -> Operation:
        """The same op, on what its operands became; of one that sums, the last region stays as it is."""
        copy = op.clone_without_regions()
        copy.operands = [self.values[value] for value in op.operands]
        for result in copy.results:
            result._type = exact_type(result.type)  # pyright: ignore[reportPrivateUsage]
        if isinstance(op, WindowOp) and op.padding is not None and is_number(element_of(op.operands[0])):
            copy.properties["padding"] = _literal(stablehlo.constant_value(op.padding))
        for region, source in zip(copy.regions, op.regions, strict=True):
            for block in source.blocks:
                region.add_block(_unreduced(source) if sums and source is op.regions[-1] else self.block(block))
        return build.insert(copy)

    def _splat(self, op: Operation, scalar: Any, build: Builder) -> SSAValue:
        self.scalars[op.results[0]] = scalar
        element = element_of(op.results[0])
        number = residue(_as_python(scalar)) if is_number(element) else scalar
        return build.literal(number, f64 if is_number(element) else element, shape_of(op.results[0]))

    def _scalar(self, op: Operation) -> Any:
        """
        The one number that a constant, or what is computed of constants alone, has everywhere; or None.

        Compilers compute with constants before the run, and round: so do we, on both sides, before we take residues.
        """
        if isinstance(op, stablehlo.ConstantOp):
            return stablehlo.splat_value(op) if stablehlo.is_splat(op) else None
        known = [self.scalars.get(value) for value in op.operands]
        if isinstance(op, stablehlo.SelectOp) and known[0] is not None:
            return known[1 if known[0] else 2]
        if not known or any(value is None for value in known) or len(op.results) != 1:
            return None
        if op.name in ("stablehlo.broadcast_in_dim", "stablehlo.reshape", "stablehlo.transpose", "stablehlo.slice"):
            return known[0]
        static: tuple[object, ...] = ()
        if isinstance(op, stablehlo.CompareOp):
            kind = op.compare_type
            static = (op.comparison_direction.data.value, kind is not None and kind.data.value == "TOTALORDER")
        elif not isinstance(op, ElementwiseOp) or op.FACTS is None or op.properties.keys() - {"result_accuracy"}:
            return None
        with np.errstate(all="ignore"):
            return table.evaluate(op.name.partition(".")[2], known, element_dtype(element_of(op.results[0])), static)

    def _reduced(self, op: Operation, build: Builder) -> Sequence[SSAValue]:
        """What an op sums is reduced by the prime once, after it; other regions reduce in each step."""
        if "kind" in op.properties:  # ours, without a region
            adds = "sum" in str(op.properties["kind"])
            if "prod" in str(op.properties["kind"]):
                raise Inexact(f"the product over devices of {op.name} is too long for exact numbers")
        else:
            adds = isinstance(only_op(op.regions[-1].block), stablehlo.AddOp)
        if not adds:
            return self._same(op, build)
        made = self._copied(op, build, sums=True).results
        return [centre(build, value, 1 << 48) if is_number(element_of(value)) else value for value in made]

    def _loop(self, op: stablehlo.WhileOp, build: Builder) -> Sequence[SSAValue]:
        self.deciding = trip_count(op) is None
        condition = self.block(op.condition.block, more=1)
        self.deciding = False
        body = self.block(op.body.block, more=1)
        loop = bounded(op, condition, body, [self.values[value] for value in op.inputs], build, self.rounds)
        return build.insert(loop).results[:-1]

    def _decision(self, op: stablehlo.CompareOp, build: Builder) -> SSAValue:
        """Whether a loop goes on by two floats: yes or no, in two turns; in others an unknown function, mostly yes."""
        if self.turn in (1, 2):
            return build.literal(self.turn == 1, i1, shape_of(op.result))
        found = unknown(build, f"{op.direction} {self.turn}", [self.values[value] for value in op.operands])
        return build.compare(found, "GT", build.constant(-PRIME // 3, found))

    def _choice(self, op: Operation, build: Builder) -> Sequence[SSAValue]:
        """
        A choice of branches, each taken for another number than it should: both programs do so alike.

        What decides may be nearly always the same on these numbers, and a branch that never runs proves nothing.
        """
        made = self._copied(op, build)
        if op.operands[0] not in self.scalars:
            blocks = [region.detach_block(region.block) for region in made.regions]
            turn = self.turn % len(blocks)
            for region, block in zip(made.regions, blocks[turn:] + blocks[:turn], strict=True):
                region.add_block(block)
        return made.results


def _unreduced(region: Region) -> Block:
    """The block of a region that adds, as it is: the remainder is taken of what comes out."""
    copied = region.clone()
    copy = copied.detach_block(copied.block)
    for value in (*copy.args, *(result for op in copy.walk() for result in op.results)):
        value._type = exact_type(value.type)  # pyright: ignore[reportPrivateUsage]
    return copy


def _literal(array: np.ndarray[Any, Any]) -> Any:
    """The residues of an array's elements, as a constant."""
    known: dict[Any, float] = {}
    wide = array if array.dtype.kind == "c" else array.astype(np.float64)
    numbers = [known[x] if x in known else known.setdefault(x, residue(x)) for x in wide.reshape(-1).tolist()]
    return stablehlo.make_dense(np.array(numbers, np.float64).reshape(array.shape), f64)


def centre(build: Builder, value: SSAValue, largest: int = 1 << 40) -> SSAValue:
    """
    The remainder by the prime that is nearest to zero of a value below `largest`: `x - p * round(x / p)`.

    From 2**48 on the quotient is not exact enough, and the remainder with the sign of the value comes first.
    """
    if largest >= 1 << 48:
        value = build.put(stablehlo.RemainderOp(value, build.constant(PRIME, value)))
    quotient = build.put(stablehlo.RoundNearestEvenOp(build.scale(value, 1 / PRIME)))
    return build.subtract(value, build.scale(quotient, PRIME))


def unknown(build: Builder, name: str, values: Sequence[SSAValue]) -> SSAValue:
    """A function of which nothing is known: a polynomial of degree three whose coefficients follow from its name."""
    random = np.random.default_rng(zlib.crc32(name.encode()))
    first, *rest = random.integers(1, PRIME // 2, 4 + len(values)).tolist()
    mixed = build.scale(values[0], first)
    for value in values[1:]:
        mixed = build.add(mixed, build.scale(value, rest.pop()))
    mixed = centre(build, mixed)
    result = mixed
    for coefficient in rest[:3]:
        result = centre(build, build.multiply(build.add(result, build.constant(coefficient, mixed)), mixed))
    return result


def _unknown_op(build: Builder, op: Operation, values: Sequence[SSAValue]) -> SSAValue:
    """An element-wise op that is not algebra; one that gives truth values compares what is unknown with zero."""
    numbers = [value if is_number(element_of(value)) else _from_integer(build, value) for value in values]
    own = {name: str(item) for name, item in sorted(op.properties.items()) if name != "result_accuracy"}
    found = unknown(build, f"{op.name} {own or ''}", numbers)
    element = element_of(op.results[0])
    if is_number(element):
        return found
    if is_boolean(element):
        return build.compare(found, "GT", build.zeros(found))
    return build.cast(found, element)


def _from_integer(build: Builder, value: SSAValue) -> SSAValue:
    return centre(build, build.cast(value, f64), 1 << 52)


def _constant(build: Builder, op: Operation, values: Sequence[SSAValue], scalars: Mapping[SSAValue, Any]) -> SSAValue:
    assert isinstance(op, stablehlo.ConstantOp)
    return build.put(stablehlo.ConstantOp(_literal(stablehlo.constant_value(op))))


def _iota(build: Builder, op: Operation, values: Sequence[SSAValue], scalars: Mapping[SSAValue, Any]) -> SSAValue:
    assert isinstance(op, stablehlo.IotaOp)
    return centre(build, build.iota(op.dim, shape_of(op.results[0]), f64))


def _algebra(kind: Callable[..., Operation]) -> Callable[..., SSAValue]:
    def meaning(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
        return centre(build, build.put(kind(*values)))

    return meaning


def _square(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    return centre(build, build.multiply(values[0], values[0]))


def _divide(build: Builder, op: Operation, values: Sequence[SSAValue], scalars: Mapping[SSAValue, Any]) -> SSAValue:
    """The product with the inverse; the inverse of what is not constant is an unknown function."""
    divisor = scalars.get(op.operands[1])
    number = math.nan if divisor is None else residue(_as_python(divisor))
    if not math.isnan(number) and number % PRIME:
        return centre(build, build.scale(values[0], _centred(pow(int(number), -1, PRIME))))
    return centre(build, build.multiply(values[0], unknown(build, "inverse", values[1:])))


def _convert(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """Floats stay the numbers that they are, whatever their width; integers become their residues."""
    source, target = element_of(op.operands[0]), element_of(op.results[0])
    if is_number(target):
        return values[0] if is_number(source) else _from_integer(build, values[0])
    return build.cast(values[0], target)


def _bitcast(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """The bits of a float are an unknown function of it, which gives those of no mark; marks keep their bits."""
    if shape_of(op.operands[0]) != shape_of(op.results[0]):
        raise Inexact(f"{op.name} between types of other widths has no meaning in exact numbers")
    source, target = element_of(op.operands[0]), element_of(op.results[0])
    if not is_float(source) or is_number(target):
        return _unknown_op(build, op, values)
    narrow = min(1.0, 2.0 ** (bit_width(target) - 21))  # few bits have room for few numbers
    found = build.put(stablehlo.RoundNearestEvenOp(build.scale(unknown(build, op.name, values), narrow)))
    marked = build.compare(values[0], "NE", values[0])
    bits = _bits_of_mark(build, values[0], element_dtype(source))
    return build.cast(
        build.select(marked, bits, build.cast(build.select(marked, build.zeros(found), found), i64)), target
    )


def _bits_of_mark(build: Builder, value: SSAValue, dtype: np.dtype[Any]) -> SSAValue:
    """The bits that a NaN has as a float of another type, as an integer of 64 bits: conversions may not keep them."""
    lost, width = 52 - ml_dtypes.finfo(dtype).nmant, 8 * dtype.itemsize
    wide = build.put(stablehlo.BitcastConvertOp(value, i64))
    moved = build.put(stablehlo.ShiftRightArithmeticOp(wide, build.constant(lost, wide)))
    size = build.both(moved, build.constant((1 << width - 1) - 1, wide))
    sign = build.select(
        build.compare(wide, "LT", build.zeros(wide)), build.constant(-1 << width - 1, wide), build.zeros(wide)
    )
    return build.add(size, sign)


def _complex(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    return centre(build, build.add(values[0], build.scale(values[1], ROOT)), 1 << 48)


def _part(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """Real and imaginary parts: linear, and else unknown; a real number is its own."""
    if not is_complex(element_of(op.operands[0])):
        return values[0] if op.name.endswith("real") else build.zeros(values[0])
    return centre(build, build.scale(values[0], zlib.crc32(op.name.encode()) % (PRIME // 2)))


def _product(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """A dot or convolution."""
    length = math.prod(shape_of(op.operands[1]))
    if isinstance(op, stablehlo.DotGeneralOp):
        length = math.prod(shape_of(op.operands[0])[dim] for dim in op.contracting_dims[0])

    def product(left: SSAValue) -> SSAValue:
        copy = op.clone()
        for name in ("algorithm", "precision_config"):
            copy.properties.pop(name, None)
        copy.operands = [left, values[1]]
        copy.results[0]._type = exact_type(copy.results[0].type)  # pyright: ignore[reportPrivateUsage]
        return build.put(copy)

    return _summed(build, op.name, values[0], product, length)


def _summed(
    build: Builder, name: str, left: SSAValue, product: Callable[[SSAValue], SSAValue], length: int
) -> SSAValue:
    """Sums of so many products, on the high and the low digits of the left operand where they are long."""
    if length <= 1 << 10:
        return centre(build, product(left), 1 << 47)
    if length > 1 << 22:
        raise Inexact(f"{name} sums {length} products, more than stay exact")
    high = build.put(stablehlo.RoundNearestEvenOp(build.scale(left, 2.0**-10)))
    low = build.subtract(left, build.scale(high, 1 << 10))
    upper = centre(build, product(high), 1 << 52)
    return centre(build, build.add(build.scale(upper, 1 << 10), centre(build, product(low), 1 << 52)))


def _times(build: Builder, left: SSAValue, right: SSAValue) -> SSAValue:
    """The products of matrices."""
    return _summed(build, "a solve", left, lambda digits: product(build, digits, right), shape_of(left)[-1])


def _conjugate(build: Builder, op: Operation, value: SSAValue) -> SSAValue:
    """What `chlo.conj` makes of the elements that complex numbers of an op became."""
    return unknown(build, "chlo.conj ", [value]) if is_complex(element_of(op.results[0])) else value


def _solution(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """
    The solution of a triangular system, in sums and products, and the unknown inverses of what is on the diagonal.

    With `s` the matrix less its diagonal `d`, `x = y - m @ x` where `y = b / d` and `m = s / d`: the product of all
    `1 + (-m) ** (2 ** k)` with `y`, since a power of `m` is zero.
    """
    assert isinstance(op, stablehlo.TriangularSolveOp)
    (matrix, right), left, lower = values, op.is_left, truth(op.lower)
    transpose = op.transpose_a.data
    matrix = _conjugate(build, op, matrix) if transpose is stablehlo.Transpose.ADJOINT else matrix
    if left == (transpose is not stablehlo.Transpose.NO_TRANSPOSE):
        matrix, lower = turned(build, matrix), not lower
    right = right if left else turned(build, right)
    shape, rank = shape_of(matrix), len(shape_of(matrix))
    inside = build.select(related(build, shape, "GT" if lower else "LT"), matrix, build.zeros(matrix))
    solution, power = right, inside
    if not truth(op.unit_diagonal):
        inverse = unknown(build, "inverse", [on_diagonal(build, matrix)])
        across = [*range(rank - 1)]
        power = centre(build, build.multiply(inside, build.broadcast(inverse, shape, across)))
        solution = centre(build, build.multiply(right, build.broadcast(inverse, shape_of(right), across)))
    power = build.negate(power)
    for _step in range((shape[-1] - 1).bit_length()):
        solution = centre(build, build.add(solution, _times(build, power, solution)))
        power = _times(build, power, power)
    return solution if left else turned(build, solution)


def _factor(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """
    A Cholesky factor, column after column, in sums and products, unknown roots, and their unknown inverses.

    What is asked of roots is only that they are those of the same numbers.
    """
    assert isinstance(op, stablehlo.CholeskyOp)
    rank, size = len(shape_of(values[0])), shape_of(values[0])[-1]
    if size > LARGEST:
        raise Inexact(f"{op.name} of {size} rows is too large for exact numbers")
    matrix = values[0] if op.is_lower else turned(build, _conjugate(build, op, values[0]))
    factor = build.zeros(matrix)
    for number in range(size):
        row = _columns(build, turned(build, factor), number)
        known = _times(build, factor, _conjugate(build, op, row))
        left = centre(build, build.subtract(_columns(build, matrix, number), known))
        root = unknown(build, op.name, [_columns(build, turned(build, left), number)])
        inverse = unknown(build, "inverse", [_conjugate(build, op, root)])
        shape, every = shape_of(left), [*range(rank)]
        below = centre(build, build.multiply(left, build.broadcast(inverse, shape, every)))
        place, at = build.iota(rank - 2, shape), build.literal(number, i32, shape)
        found = build.select(build.compare(place, "GT", at), below, build.zeros(left))
        found = build.select(build.compare(place, "EQ", at), build.broadcast(root, shape, every), found)
        others = build.compare(
            build.iota(rank - 1, shape_of(matrix)), "NE", build.literal(number, i32, shape_of(matrix))
        )
        factor = build.select(others, factor, build.broadcast(found, shape_of(matrix), every))
    return factor if op.is_lower else turned(build, _conjugate(build, op, factor))


def _columns(build: Builder, matrix: SSAValue, number: int) -> SSAValue:
    """One column of matrices."""
    *rows, _ = shape_of(matrix)
    return build.slice(matrix, [*[0] * len(rows), number], [*rows, number + 1])


def _transform(build: Builder, op: Operation, values: Sequence[SSAValue], _: Mapping[SSAValue, Any]) -> SSAValue:
    """A Fourier transform: a linear function of its last dims, and else unknown."""
    assert isinstance(op, stablehlo.FftOp)
    return _by_matrix(build, f"fft {op.kind} {op.length}", values[0], shape_of(op.results[0]), len(op.length))


def _by_matrix(build: Builder, name: str, value: SSAValue, shape: tuple[int, ...], dims: int) -> SSAValue:
    """The last dims of a value, all elements of them, multiplied with a random matrix that follows from the name."""
    before = shape_of(value)
    kept, taken, given = before[:-dims], math.prod(before[-dims:]), math.prod(shape[-dims:])
    if taken * given > WIDEST or taken > 1 << 10:
        raise Inexact(f"{name} of {taken} elements is too large for exact numbers")
    random = np.random.default_rng(zlib.crc32(name.encode()))
    numbers = random.integers(-(PRIME // 2), PRIME // 2, (taken, given)).astype(np.float64)
    matrix = build.literal(numbers, f64, (taken, given))
    flat = build.reshape(value, (*kept, taken))
    pairs = stablehlo.DotDimensions((), (), (len(kept),), (0,))
    product = build.put(stablehlo.DotGeneralOp(flat, matrix, pairs))
    return build.reshape(centre(build, product, 1 << 47), shape)


_MEANINGS: dict[str, Callable[[Builder, Operation, list[SSAValue], Mapping[SSAValue, Any]], SSAValue]] = {
    "constant": _constant,
    "iota": _iota,
    "add": _algebra(stablehlo.AddOp),
    "subtract": _algebra(stablehlo.SubtractOp),
    "multiply": _algebra(stablehlo.MultiplyOp),
    "negate": _algebra(stablehlo.NegateOp),
    "square": _square,
    "divide": _divide,
    "convert": _convert,
    "bitcast_convert": _bitcast,
    "complex": _complex,
    "real": _part,
    "imag": _part,
    "dot_general": _product,
    "convolution": _product,
    "fft": _transform,
    "cholesky": _factor,
    "triangular_solve": _solution,
}
"""What ops mean that are neither moves nor unknown."""
