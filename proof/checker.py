"""
The checker of certificates: it knows how ops are read and run, and nothing of how they were split.

It asks three things. *Types*: every value of the planned program has a layout that fits it; what a loop carries, what a
branch returns and what comes out of it agree, partial sums included; each collective makes the layout that it says of
the one that it takes. *Edges between programs*: the local program takes and gives the shards of what the program does,
and sends what the planned one says. *Values*: both programs, run on the same random numbers modulo a prime, give the
same. A program that is wrong as a polynomial of degree d agrees by chance once in prime / d times.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in, returned
from shardwright.dialects.dtensor import CollectiveOp, layout_of, meshes
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import verify_module
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.check import check_spec
from shardwright.layout.planning.algebra import canonical, local_shape
from shardwright.proof.certificate import Certificate
from shardwright.proof.exact import PRIME, ROUNDS, Inexact, draw, make_exact
from shardwright.runtime.executable import compile_module

WORK = 1 << 33
"""Multiplications, and elements of results, that a comparison may take: some seconds."""


@dataclass(frozen=True)
class CheckedOp:
    """What was proved of one op of the planned program, and how: its types, and its value as part of the whole."""

    op: str
    place: str
    types: str
    values: str


@dataclass
class Verdict:
    """What the checker found: `faults` say what is wrong, `unproved` what could not be asked, and why."""

    faults: list[str] = field(default_factory=list[str])
    unproved: list[str] = field(default_factory=list[str])
    ops: list[CheckedOp] = field(default_factory=list[CheckedOp])
    how: str = ""

    @property
    def proved(self) -> bool:
        """Whether all of it is right."""
        return not self.faults and not self.unproved


def check(certificate: Certificate, program: ModuleOp | None = None) -> Verdict:
    """
    Reads a certificate again; with a `program`, which may be the traced one, the planned or the local one, for it.

    Nothing in the certificate is believed: its programs are parsed, verified, compared with each other and run.
    """
    verdict = Verdict()
    try:
        traced, planned, local = (
            parse_module(text, name)
            for text, name in (
                (certificate.program, "program"),
                (certificate.planned, "planned"),
                (certificate.local, "local"),
            )
        )
        for module in (traced, planned, local):
            verify_module(module)
    except ShardwrightError as error:
        verdict.faults.append(f"a program of the certificate is none: {error.diagnostics[0].message}")
        return verdict
    if program is not None:
        own = {"planned": planned, "local": local}.get(_stage(program), traced)
        if print_module(own) != print_module(program):
            verdict.faults.append("the certificate is of another program")
            return verdict
    verdict.faults += [*_type_faults(planned), *_border_faults(planned, local)]
    if not verdict.faults:
        _compare(certificate, traced, local, verdict)
    how = verdict.how if verdict.proved else "not proved"
    verdict.ops = [_checked(op, how) for op in _main(planned).walk() if not isinstance(op, FuncOp)]
    return verdict


def _checked(op: Operation, how: str) -> CheckedOp:
    types = (
        "its layout follows from its operand's" if isinstance(op, CollectiveOp) else "its values have closed layouts"
    )
    if isinstance(op, stablehlo.WhileOp | stablehlo.IfOp | stablehlo.CaseOp):
        types = "entry, body and exit agree"
    return CheckedOp(op.name, str(where(op) or ""), types, how)


def _compare(certificate: Certificate, traced: ModuleOp, local: ModuleOp, verdict: Verdict) -> None:
    """Runs both programs, or the reduced ones that stand for them, in exact numbers."""
    size = ""
    if certificate.reduced_program:
        from shardwright.proof.structure import same_structure

        try:
            pairs = (traced, certificate.reduced_program), (local, certificate.reduced_local)
            reduced = [parse_module(text, "reduced") for _, text in pairs]
            for (whole, _), small in zip(pairs, reduced, strict=True):
                verify_module(small)
                other = same_structure(whole, small)
                if other is not None:
                    verdict.faults.append(f"a reduced program has another structure: {other}")
                    return
        except ShardwrightError as error:
            verdict.faults.append(f"a reduced program is none: {error.diagnostics[0].message}")
            return
        (traced, local), size = reduced, ", at reduced shapes"
    try:
        if _transforms(traced) != _transforms(local):
            raise Inexact("stablehlo.fft is taken apart along split dims, which has no meaning in exact numbers")
        differing = differences(traced, local, certificate.seed)
    except Inexact as error:
        verdict.unproved.append(str(error))
    except ShardwrightError as error:
        verdict.faults.append(f"the local program cannot run: {error.diagnostics[0].message}")
    else:
        verdict.faults += [f"result {number} differs from the program's" for number in differing]
        verdict.how = f"the whole program on numbers modulo {PRIME}{size}"


def _transforms(module: ModuleOp) -> set[str]:
    """The kinds and lengths of Fourier transforms: each is an unknown function of its own."""
    return {f"{op.kind} {op.length}" for op in module.walk() if isinstance(op, stablehlo.FftOp)}


def differences(traced: ModuleOp, local: ModuleOp, seed: int = 0) -> list[int]:
    """
    The numbers of the results in which a program and its local form differ, on random numbers of the field.

    Raises `Inexact` where the program has no meaning in exact numbers, or would take too long, and `ShardwrightError`
    where the local one does not run.
    """
    cost = sum(map(work, _main(traced).body.block.ops))
    if cost > WORK:
        raise Inexact(f"running the program takes {cost:.1e} steps, more than {WORK:.1e}: no reduced shapes were given")
    random = np.random.default_rng(seed)
    inputs = [draw(random, shape_of(value), element_of(value)) for value in _main(traced).body.block.args]
    try:
        whole = compile_module(make_exact(traced)).run(inputs)
    except ShardwrightError as error:
        raise Inexact(f"the program as it was written cannot run here: {error.diagnostics[0].message}") from error
    # Nothing fused: the engine would fold a split product and its all-reduce into one, which would prove little.
    parts = compile_module(make_exact(local), fused=False).run(inputs)
    return [
        number
        for number, (left, right) in enumerate(zip(whole, parts, strict=True))
        if left.dtype != right.dtype or not np.array_equal(left, right)
    ]


def work(op: Operation) -> float:
    """The multiplications that an op takes, or the elements that it makes; those of a loop in each round."""
    elements = sum(math.prod(shape_of(value)) for value in op.results if isinstance(value.type, TensorType))
    if isinstance(op, stablehlo.DotGeneralOp):
        return elements * math.prod(shape_of(op.operands[0])[dim] for dim in op.contracting_dims[0])
    if isinstance(op, stablehlo.ConvolutionOp):
        return (
            elements * math.prod(shape_of(op.operands[1])) / max(shape_of(op.operands[1])[op.numbers.kernel_output], 1)
        )
    inner = sum(work(each) for block in blocks_in(op) for each in block.ops)
    if isinstance(op, stablehlo.WhileOp):
        known = trip_count(op)
        inner *= ROUNDS if known is None else min(known, ROUNDS)
    return 8 * elements + inner


def _main(module: ModuleOp) -> FuncOp:
    return next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")


def _stage(module: ModuleOp) -> str:
    found = module.attributes.get("dtensor.stage")
    return found.data if isinstance(found, StringAttr) else ""


_FRAMES = ("stablehlo.while", "stablehlo.case", "stablehlo.if", "func.func")
"""Ops whose regions compute on whole tensors; others compute on scalars, which have no layout."""


def _framed(op: Operation) -> Iterator[Operation]:
    """The ops whose values are whole tensors."""
    for block in blocks_in(op):
        for inner in block.ops:
            yield inner
            if inner.name in _FRAMES:
                yield from _framed(inner)


def _type_faults(planned: ModuleOp) -> Iterator[str]:
    """What is wrong with a layout of the planned program, or where two that must agree do not."""
    named, main = meshes(planned), _main(planned)
    for op in (main, *_framed(main)):
        arguments = [value for block in blocks_in(op) for value in block.args] if op.name in _FRAMES else []
        for value in (*op.results, *arguments):
            spec = layout_of(value)
            if spec is None or not spec.closed or spec.mesh not in named:
                yield f"{op.name} has a value without a closed layout: {value.type}"
            elif (found := check_spec(spec, shape_of(value), named[spec.mesh])) is not None:
                yield f"{op.name} has a value whose layout does not fit it: {found.message}"
        yield from _tie_faults(op)


def _tie_faults(op: Operation) -> Iterator[str]:
    """Where entry, body and exit of a loop, or the branches of a choice, disagree; where devices may decide apart."""
    if isinstance(op, stablehlo.WhileOp):
        sides = [op.operands, op.condition.block.args, op.body.block.args, returned(op.body.block)]
        decides = returned(op.condition.block)[0]
    elif isinstance(op, stablehlo.IfOp | stablehlo.CaseOp):
        sides, decides = [returned(block) for block in blocks_in(op)], op.operands[0]
    else:
        return
    if (spec := layout_of(decides)) is not None and spec.axes():
        yield f"{op.name} is decided by a value that devices do not share: {decides.type}"
    for number, result in enumerate(op.results):
        for side in sides:
            if layout_of(side[number]) != layout_of(result):
                yield f"{op.name} has result {number} of type {result.type}, but carries it as {side[number].type}"


def _border_faults(planned: ModuleOp, local: ModuleOp) -> Iterator[str]:
    """Where the local program does not take, give or send what the planned one says."""
    inner, outer = _main(local), _main(planned)
    for name, values, attributes, shards in (
        ("argument", outer.body.block.args, inner.arg_attrs, inner.body.block.args),
        ("result", returned(outer.body.block), inner.res_attrs, returned(inner.body.block)),
    ):
        yield from _side_faults(name, values, attributes, shards, planned)
    if meshes(planned) != meshes(local):
        yield "the local program is on another mesh"
    sent, due = ([_move(op) for op in main.walk() if isinstance(op, CollectiveOp)] for main in (inner, outer))
    missing = [move for move in due if move not in sent]
    if missing:
        yield f"the local program lacks {missing[0]}"


def _move(op: Operation) -> str:
    """The name of a collective, its axes, and how it combines."""
    own = (str(item) for name, item in sorted(op.properties.items()) if name in ("axes", "dim_axes", "kind"))
    return " ".join((op.name, *own))


def _side_faults(
    name: str, values: Sequence[SSAValue], attributes: Any, shards: Sequence[SSAValue], planned: ModuleOp
) -> Iterator[str]:
    entries = list(attributes) if isinstance(attributes, ArrayAttr) else []
    if not len(values) == len(entries) == len(shards):
        yield f"the local program has other {name}s"
        return
    for number, (value, entry, shard) in enumerate(zip(values, entries, shards, strict=True)):
        spec, layout = layout_of(value), entry.data.get("dtensor.layout")
        assert spec is not None
        mesh = meshes(planned)[spec.mesh]
        if not isinstance(layout, LayoutAttr) or canonical(layout.data, mesh) != canonical(spec, mesh):
            yield f"{name} {number} of the local program has another layout"
        elif shape_of(shard) != local_shape(spec, shape_of(value), mesh) or element_of(shard) != element_of(value):
            yield f"{name} {number} of the local program is {shard.type}, which is no shard of {value.type}"
