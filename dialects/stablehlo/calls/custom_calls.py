"""
Custom calls: ops that StableHLO knows by name only, such as the LAPACK routines that JAX calls on CPUs; and what else
happens beside a program: tokens, which put effects in order, and ops that talk to the host or to other programs.
"""

from __future__ import annotations

import re
from abc import ABC
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    NameLoc,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    irdl_attr_definition,
    irdl_op_definition,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import EffectInstance, MemoryEffect, MemoryEffectKind, Pure
from xdsl.utils.exceptions import VerifyException

from shardwright.diagnostics import Diagnostic
from shardwright.dialects.stablehlo.algebra.lapack import SIGNATURES, check_shapes
from shardwright.dialects.stablehlo.parts import forms, syntax
from shardwright.dialects.stablehlo.parts.attributes import fields_text, parse_dims, parse_fields, parse_integer
from shardwright.dialects.text.data import Reader, TextAttr, Writer
from shardwright.dialects.text.literals import dense
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import element_of, element_type_named, shape_of


@dataclass(frozen=True)
class OperandAlias:
    """Which result may take over the memory of which operand; places inside tuples are given step by step."""

    output_tuple_indices: tuple[int, ...]
    operand_index: int
    operand_tuple_indices: tuple[int, ...]


def _parse_alias(parser: AttrParser) -> OperandAlias:
    readers: dict[str, Any] = {
        "output_tuple_indices": parse_dims,
        "operand_index": parse_integer,
        "operand_tuple_indices": parse_dims,
    }
    position = parser.pos
    fields = parse_fields(parser, readers)
    if len(fields) != len(readers):
        parser.raise_error(f"an alias needs {', '.join(readers)}", position)
    return OperandAlias(**fields)


def _alias_text(alias: OperandAlias) -> str:
    return fields_text(vars(alias), empty=True)


@irdl_attr_definition
class OutputOperandAliasAttr(TextAttr[OperandAlias]):
    """`#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 0, operand_tuple_indices = []>`."""

    name = "stablehlo.output_operand_alias"
    READ: ClassVar[Reader] = staticmethod(_parse_alias)
    TEXT: ClassVar[Writer] = staticmethod(_alias_text)


class _AsItSays(MemoryEffect):
    """A call has the effects that it says it has: none, or any."""

    @classmethod
    def get_effects(cls, op: Operation) -> set[EffectInstance]:
        """No effects, or one that keeps the call where it is."""
        assert isinstance(op, CustomCallOp)
        return {EffectInstance(MemoryEffectKind.WRITE)} if op.effects else set()


@irdl_op_definition
class CustomCallOp(forms.WrittenOp):
    """
    A computation known by its name: `stablehlo.custom_call @lapack_spotrf_ffi(%x) {...} : (...) -> (...)`.

    Layouts of operands and results are hints to a compiler and change no values.

    >>> from xdsl.dialects.test import TestOp
    >>> from shardwright.dialects.types import element_type_named, tensor
    >>> kind = tensor((4, 4), element_type_named("float32"))
    >>> matrix = TestOp(result_types=[kind])
    >>> CustomCallOp("lapack_sorgqr_ffi", matrix.results, [kind]).routine
    'orgqr'
    """

    name = "stablehlo.custom_call"
    inputs = var_operand_def()
    call_target_name = prop_def(StringAttr)
    has_side_effect = opt_prop_def(IntegerAttr)
    backend_config = opt_prop_def(Attribute)
    api_version = opt_prop_def(IntegerAttr)
    called_computations = opt_prop_def(ArrayAttr)
    operand_layouts = opt_prop_def(ArrayAttr)
    result_layouts = opt_prop_def(ArrayAttr)
    output_operand_aliases = opt_prop_def(ArrayAttr)
    outputs = var_result_def()
    traits = traits_def(_AsItSays())
    FORM: ClassVar[forms.Form] = forms.Form(forms.Field("call_target_name", forms.SYMBOL), forms.Operands(parens=True))

    def __init__(
        self,
        target: str,
        inputs: Sequence[SSAValue | Operation],
        result_types: Sequence[Attribute],
        config: dict[str, Attribute] | None = None,
    ):
        properties: dict[str, Attribute] = {"call_target_name": StringAttr(target), "api_version": IntegerAttr(4, i32)}
        properties["backend_config"] = DictionaryAttr(config or {})
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], properties=properties, result_types=[list(result_types)])

    @property
    def target(self) -> str:
        """The name of the computation."""
        return self.call_target_name.data

    @property
    def effects(self) -> bool:
        """Whether the call does more than compute its results."""
        return syntax.truth(self.has_side_effect)

    @property
    def is_callback(self) -> bool:
        """Whether the call is one back into the Python process that JAX ran in."""
        return self.target in _CALLBACKS

    @property
    def routine(self) -> str | None:
        """The LAPACK routine without its type letter (`getrf`), if the call is of one and of no kind unknown here."""
        routine, options = lapack_routine(self.target), self.options
        left_vectors = routine == "geev" and options.get("compute_left") == ord("V")
        upper = routine in ("sytrd", "hetrd") and options.get("uplo") == ord("U")
        sorted_values = routine == "gees" and options.get("sort") == ord("S")
        return None if left_vectors or upper or sorted_values else routine

    @property
    def options(self) -> dict[str, Any]:
        """The call's configuration, wherever its exporter wrote it: numbers, booleans and strings by name."""
        found: dict[str, Any] = {}
        sources = (
            self.backend_config,
            *(self.attributes.get(f"mhlo.{name}") for name in ("backend_config", "attributes")),
        )
        for source in sources:
            if isinstance(source, DictionaryAttr):
                found |= {name: _plain_option(value) for name, value in source.data.items()}
        return found

    @property
    def computations(self) -> tuple[str, ...]:
        """The functions that the call takes, by name."""
        return tuple(cast(Any, item).string_value() for item in self.called_computations or ())

    def verify_(self) -> None:
        routine = self.routine
        if routine is None:
            return
        tensors = (*self.operands, *self.results)
        if not tensors or not all(isinstance(value.type, TensorType) for value in tensors):
            raise VerifyException(f"@{self.target} takes and gives tensors")
        expected = element_type_named(_LETTER_DTYPES[self.target[7]])
        if not self.operands or element_of(self.operands[0]) != expected:
            raise VerifyException(f"the first operand of @{self.target} must have elements of type {expected}")
        operands, results = ([shape_of(value) for value in side] for side in (self.operands, self.results))
        check_shapes(self.target, routine, operands, results, self.options)


def _plain_option(value: Attribute) -> Any:
    if isinstance(value, IntegerAttr | FloatAttr):
        return cast("IntegerAttr[Any]", value).value.data
    return cast(Any, value).data if isinstance(value, StringAttr) else value


_LETTER_DTYPES = {"s": "float32", "d": "float64", "c": "complex64", "z": "complex128"}
_LAPACK = re.compile(r"lapack_([sdcz])(\w+)_ffi")
_LETTERS = {"orgqr": "sd", "ormqr": "sd", "syevd": "sd", "sytrd": "sd"} | {
    "ungqr": "cz",
    "unmqr": "cz",
    "heevd": "cz",
    "hetrd": "cz",
}
"""The type letters of routines whose name depends on the type; all others take all four."""


def lapack_routine(target: str) -> str | None:
    """
    The routine that a target names, without its type letter; None when that has no meaning here.

    >>> lapack_routine("lapack_dgetrf_ffi"), lapack_routine("lapack_sungqr_ffi"), lapack_routine("annotate")
    ('getrf', None, None)
    """
    match = _LAPACK.fullmatch(target)
    if match is None or match[2] not in SIGNATURES or match[1] not in _LETTERS.get(match[2], "sdcz"):
        return None
    return match[2]


def unknown_call(op: CustomCallOp) -> Diagnostic:
    """The refusal of a call that has no meaning here."""
    if op.is_callback:
        return _callback(op)
    if op.target == "ragged_all_to_all":
        return Diagnostic(
            "SW0431",
            "ragged_all_to_all sends as many rows as the program computes",
            where(op),
            notes=(
                "what each device sends is known before the run, here as everywhere: layouts and bytes follow from it",
            ),
            help="send rows of equal numbers (jax.lax.all_to_all), and mask those that are too many",
            word="@ragged_all_to_all",
        )
    names = f"lapack_{{s,d,c,z}}NAME_ffi with NAME {', '.join(sorted(SIGNATURES))}"
    what = "has side effects" if op.effects else "is known by its name only"
    return Diagnostic(
        "SW0431",
        f"the custom call @{op.target} {what}",
        where(op),
        notes=(f"calls that can be run are {names}; ApproxTopK, TopK and mhlo's functions become ops",),
        help="write the computation with StableHLO's ops, export it for platform cpu, call it in a shard_map over all "
        "axes, or give it a rule and a kernel: shardwright.register_custom_call",
        word=f"@{op.target}",
    )


def scipy_is_missing(op: CustomCallOp) -> Diagnostic:
    """The refusal of a routine that NumPy lacks where SciPy is not installed."""
    return Diagnostic(
        "SW0431",
        f"the custom call @{op.target} is computed by SciPy, which is not installed",
        where(op),
        help="pip install 'shardwright[solver]'",
        word=f"@{op.target}",
    )


def unclear_effect(op: CustomCallOp) -> Diagnostic:
    """The refusal of a call back into Python of which nobody can say which process should make it."""
    return Diagnostic(
        "SW0431",
        f"{_caller(op)} has effects in Python, and each of several processes would have them",
        where(op),
        help="run the program in one process, or leave the call out: callbacks='drop'",
    )


def _callback(op: CustomCallOp) -> Diagnostic:
    """The refusal of a call back into Python."""
    needed = any(result.uses for result in op.results)
    return Diagnostic(
        "SW0431",
        f"{_caller(op)} calls Python back in the middle of the program",
        where(op),
        notes=(f"its custom call @{op.target} names a function that only the process which traced it has",),
        help=_NEEDED if needed else _NOT_NEEDED,
        word=f"@{op.target}",
    )


def _caller(op: CustomCallOp) -> str:
    """What of JAX's calls Python back, as far as the place says it: `debug_print`, `pure_callback`, `io_callback`."""
    place = op.location
    named = place.desc.data.rstrip(":").rpartition("/")[2] if isinstance(place, NameLoc) else ""
    return named if named.isidentifier() else "a callback"


_NEEDED = (
    "its result is needed: compute it with JAX's functions, or call it before or after the program; from_jax runs "
    "callbacks itself"
)
_NOT_NEEDED = (
    "nothing needs its result: leave it out with callbacks='drop', or with --callbacks drop of the command; from_jax "
    "calls it"
)

_CALLBACKS = frozenset(
    f"xla_{kind}python_{device}_callback" for kind in ("", "ffi_", "ffi_partitioned_") for device in ("cpu", "gpu")
)


def custom_calls(module: Operation) -> Iterator[CustomCallOp]:
    """The custom calls in a module, in order."""
    # Ops are classes of an ABC, of which `isinstance` is ten times as dear for all that are no calls.
    return (op for op in module.walk() if op.name == CustomCallOp.name and isinstance(op, CustomCallOp))


def lapack_batch(op: CustomCallOp) -> int:
    """The number of leading batch dims of a LAPACK call's operands and results."""
    return len(shape_of(op.operands[0])) - (1 if op.routine == "gtsv" else 2)


def column_major(op: CustomCallOp) -> None:
    """
    Says of a LAPACK call that its matrices lie in memory by columns, as whoever runs the routine has to know.

    What the call means here does not depend on it; XLA gives the routine the memory as it is said to lie.
    """
    batch = lapack_batch(op)
    for name, values in (("operand_layouts", op.operands), ("result_layouts", op.results)):
        op.properties[name] = ArrayAttr([_layout(len(shape_of(value)), batch) for value in values])


def in_rows(value: SSAValue) -> CustomCallOp:
    """
    A value of which XLA is told that it lies in memory by rows: it changes no element.

    >>> from xdsl.dialects.test import TestOp
    >>> from shardwright.dialects.types import element_type_named, tensor
    >>> in_rows(TestOp(result_types=[tensor((2, 3), element_type_named("float32"))]).results[0]).target
    'LayoutConstraint'
    """
    op = CustomCallOp("LayoutConstraint", [value], [value.type])
    del op.properties["api_version"]
    rank = len(shape_of(value))
    rows = ArrayAttr([_layout(rank, rank)])
    op.properties |= {"backend_config": StringAttr(""), "operand_layouts": rows, "result_layouts": rows}
    return op


PLACEMENT = "annotate_device_placement"
"""The target of a call that puts a value into a memory of its device."""

_FRONTEND, _PLACE = "mhlo.frontend_attributes", "_xla_buffer_placement"


def in_memory(value: SSAValue, memory: StringAttr) -> CustomCallOp:
    """
    A value in a memory of its device, by the name that JAX has for it, written as JAX does.

    >>> from xdsl.dialects.test import TestOp
    >>> from shardwright.dialects.types import element_type_named, tensor
    >>> kind = tensor((2, 3), element_type_named("float32"))
    >>> memory_of(in_memory(TestOp(result_types=[kind]).results[0], StringAttr("pinned_host")))
    StringAttr(data='pinned_host')
    """
    op = CustomCallOp(PLACEMENT, [value], [value.type])
    op.properties |= {
        "api_version": IntegerAttr(1, i32),
        "backend_config": StringAttr(""),
        "has_side_effect": IntegerAttr.from_bool(True),
    }
    op.attributes[_FRONTEND] = DictionaryAttr({_PLACE: memory})
    return op


def memory_of(op: CustomCallOp) -> StringAttr | None:
    """The memory that a call puts its value into; None if it names none."""
    said = op.attributes.get(_FRONTEND)
    memory = said.data.get(_PLACE) if isinstance(said, DictionaryAttr) else None
    return memory if isinstance(memory, StringAttr) else None


def _layout(rank: int, batch: int) -> Attribute:
    """The dims from the one whose elements stand side by side: those of a matrix its rows, else the last."""
    dims = [*reversed(range(rank))]
    if rank - batch == _MATRIX:
        dims[:_MATRIX] = reversed(dims[:_MATRIX])
    return dense(TensorType(IndexType(), [rank]), np.array(dims, np.int64).tobytes())


_MATRIX = 2


@irdl_attr_definition
class TokenType(ParametrizedAttribute, TypeAttribute):
    """What an effect gives to those that come after it: `!stablehlo.token`."""

    name = "stablehlo.token"


class _TokenOp(IRDLOperation, ABC):
    """Makes one token: `name %a, %b : !stablehlo.token`."""

    inputs = var_operand_def(TokenType)
    result = result_def(TokenType)
    traits = traits_def(Pure())

    @classmethod
    def parse(cls, parser: Parser) -> _TokenOp:
        operands = forms.OPERANDS.read(parser, cls)
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        position = parser.pos
        kind = parser.parse_type()
        values = parser.resolve_operands(operands, [kind] * len(operands), position)
        return cls.create(operands=values, result_types=[kind], attributes=attributes)

    def print(self, printer: Printer) -> None:
        syntax.print_operands(printer, self.operands)
        syntax.print_attributes(printer, self)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)


@irdl_op_definition
class AfterAllOp(_TokenOp):
    """A token that comes after others: `stablehlo.after_all %a, %b : !stablehlo.token`."""

    name = "stablehlo.after_all"


@irdl_op_definition
class CreateTokenOp(_TokenOp):
    """A token that comes after nothing: `stablehlo.create_token : !stablehlo.token`."""

    name = "stablehlo.create_token"

    def verify_(self) -> None:
        if self.inputs:
            raise VerifyException("takes no operands")


class _HostOp(IRDLOperation, ABC):
    """Talks to something outside of the program. Upstream has no pretty form of such ops."""

    inputs = var_operand_def()
    outputs = var_result_def()


@irdl_op_definition
class InfeedOp(_HostOp):
    """Values from a queue of the device."""

    name = "stablehlo.infeed"
    infeed_config = opt_prop_def(Attribute)
    layout = opt_prop_def(Attribute)


@irdl_op_definition
class OutfeedOp(_HostOp):
    """Values into a queue of the device."""

    name = "stablehlo.outfeed"
    outfeed_config = opt_prop_def(Attribute)


@irdl_op_definition
class SendOp(_HostOp):
    """Values to the host, or to one other device."""

    name = "stablehlo.send"
    channel_handle = opt_prop_def(Attribute)
    is_host_transfer = opt_prop_def(Attribute)
    source_target_pairs = opt_prop_def(Attribute)


@irdl_op_definition
class RecvOp(_HostOp):
    """Values from the host, or from one other device."""

    name = "stablehlo.recv"
    channel_handle = opt_prop_def(Attribute)
    is_host_transfer = opt_prop_def(Attribute)
    source_target_pairs = opt_prop_def(Attribute)


def is_token(value: SSAValue) -> bool:
    """Whether a value is a token, which holds nothing."""
    return value.type.__class__ is TokenType


HOST_OPS: tuple[type[Operation], ...] = (InfeedOp, OutfeedOp, SendOp, RecvOp)
TOKEN_OPS: tuple[type[Operation], ...] = (AfterAllOp, CreateTokenOp, *HOST_OPS)


CUSTOM_CALL_OPS: tuple[type[Operation], ...] = (CustomCallOp,)
CUSTOM_CALL_ATTRIBUTES: tuple[type[Attribute], ...] = (OutputOperandAliasAttr, TokenType)
