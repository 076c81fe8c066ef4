"""
The checker of certificates: it knows how ops are read and run, and nothing of how they were split.

It asks three things. *Types*: every value of the planned program has a layout that fits it; what a loop carries, what a
branch returns and what comes out of it agree, partial sums included; each collective makes the layout that it says of
the one that it takes. *Edges between programs*: the local program takes and gives the shards of what the program does,
and sends what the planned one says. *Values*: both programs, run on the same random numbers modulo a prime, give the
same. A program that is wrong as a polynomial of degree d agrees by chance once in prime / d times.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.exporting.results import layout_in, with_whole_results
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in, returned
from shardwright.dialects.dtensor import CollectiveOp, layout_of, meshes
from shardwright.dialects.text.locations import where
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.text.verify import WHOLE_INSIDE, alike, verify_module
from shardwright.dialects.types import element_of, shape_of
from shardwright.layout.check import check_spec
from shardwright.layout.planning.algebra import canonical, local_shape
from shardwright.proof.certificate import Certificate
from shardwright.proof.exact import PRIME, ROUNDS, Inexact, make_exact
from shardwright.proof.loops import known_rounds
from shardwright.proof.structure import same_structure
from shardwright.proof.trials import draw, extents_of, trials_of, turns
from shardwright.proof.work import EASY, TOO_LITTLE, WORK, ask_for_memory, work
from shardwright.runtime.executable import compile_module


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


class Broken(Exception):
    """A certificate that is wrong, or a local program that cannot be run on its devices; the message says why."""


@contextmanager
def _blaming(what: str, kind: type[Exception] = Exception) -> Generator[None]:
    """Says of whatever fails inside, a program that may be wrong in any way, that it is the certificate's fault."""
    try:
        yield
    except kind as error:
        if isinstance(error, MemoryError) or isinstance(error.__cause__, MemoryError):
            raise Inexact(TOO_LITTLE) from error
        why = error.diagnostics[0].message if isinstance(error, ShardwrightError) else str(error)
        raise Broken(f"{what}: {why}") from error


def check(certificate: Certificate, program: ModuleOp | None = None) -> Verdict:
    """
    Reads a certificate again; with a `program`, which may be the traced one, the planned or the local one, for it.

    Nothing in the certificate is believed: its programs are parsed, verified, compared with each other and run.
    """
    verdict, ops = Verdict(), list[Operation]()
    try:
        traced, planned, local = (_read(certificate, part) for part in ("program", "planned", "local"))
        if program is not None:
            own = {"planned": planned, "local": local}.get(_stage(program), traced)
            if print_module(own) != print_module(program):
                raise Broken("the certificate is of another program")
        ops = [op for op in _main(planned).walk() if not isinstance(op, FuncOp)]
        verdict.faults += [*_type_faults(planned)] or _border_faults(planned, local)
        if not verdict.faults:
            _compare(certificate, traced, local, verdict)
    except Broken as error:
        verdict.faults.append(str(error))
    except Inexact as error:
        verdict.unproved.append(str(error))
    how = verdict.how if verdict.proved else "not proved"
    verdict.ops = [CheckedOp(op.name, str(where(op) or ""), _types_of(op), how) for op in ops]
    return verdict


def _read(certificate: Certificate, part: str) -> ModuleOp:
    """One of the programs of a certificate."""
    with _blaming(f"a program of the certificate is none, {part}", ShardwrightError):
        module = parse_module(getattr(certificate, part), part)
        verify_module(module)
    _main(module)
    return module


def _types_of(op: Operation) -> str:
    """What was asked of the types of an op."""
    if isinstance(op, stablehlo.WhileOp | stablehlo.IfOp | stablehlo.CaseOp):
        return "entry, body and exit agree"
    return "its layout follows from its operand's" if isinstance(op, CollectiveOp) else "its values have closed layouts"


def _compare(certificate: Certificate, traced: ModuleOp, local: ModuleOp, verdict: Verdict) -> None:
    """Runs both programs, or the reduced ones that are the same but for sizes, in exact numbers."""
    size = ""
    if certificate.reduced_program:
        program, parts = (_read(certificate, part) for part in ("reduced_program", "reduced_local"))
        other = same_structure(traced, program) or same_structure(local, parts, local=True)
        if other is not None:
            raise Broken(f"a reduced program has another structure: {other}")
        traced, local, size = program, parts, ", at reduced sizes"
    if _transforms(traced) != _transforms(local):
        raise Inexact("stablehlo.fft is taken apart along split dims, which has no meaning in exact numbers")
    found = [
        f"result {number} differs from the program's{size}" for number in differences(traced, local, certificate.seed)
    ]
    # A size may stand in the program as a number, too, which stays: what differs then is the smaller program.
    (verdict.unproved if size else verdict.faults).extend(found)
    verdict.how = f"the whole program on numbers modulo {PRIME}{size}"


def _transforms(module: ModuleOp) -> set[str]:
    """The kinds and lengths of Fourier transforms: each is an unknown function of its own."""
    return {f"{op.kind} {op.length}" for op in module.walk() if isinstance(op, stablehlo.FftOp)}


def differences(traced: ModuleOp, local: ModuleOp, seed: int = 0) -> list[int]:
    """
    The numbers of the results in which a program and its local form differ, on random numbers of the field.

    Raises `Inexact` where the program has no meaning in exact numbers, or would take too long, and `Broken` where the
    local one does not run.
    """
    main = _main(traced)
    rounds = next((rounds for rounds in (64, 32, 16) if work(main, rounds) <= EASY), ROUNDS)
    cost = work(main, rounds)
    if cost > WORK:
        raise Inexact(f"running the program takes {cost:.1e} steps, more than {WORK:.1e}: no reduced sizes were given")
    random, often = np.random.default_rng(seed), turns(traced)
    trials = trials_of(main, cost, often)
    return next(
        (found for turn in range(often) if (found := _differing(traced, local, random, rounds, turn, trials))), []
    )


def _differing(
    traced: ModuleOp, local: ModuleOp, random: np.random.Generator, rounds: int, turn: int, trials: int
) -> list[int]:
    """The results that differ in the first of some trials in which any do."""
    try:
        program, parts = make_exact(traced, rounds, turn), make_exact(with_whole_results(local), rounds, turn)
        whole = compile_module(program)
    except ShardwrightError as error:
        raise Inexact(f"the program as it was written cannot run here: {error.diagnostics[0].message}") from error
    _compare_loops(known_rounds(program), known_rounds(parts), rounds)
    ask_for_memory(parts)
    # Nothing fused: the engine would fold a split product and its all-reduce into one, which would prove little.
    with _blaming("the local program cannot run"):
        devices = compile_module(parts, fused=False)
    extents, arguments = extents_of(traced), _main(traced).body.block.args
    for trial in range(trials):
        inputs = [draw(random, shape_of(v), element_of(v), extents, trial % 2 == 1) for v in arguments]
        wanted = whole.run(inputs)
        with _blaming("the local program cannot run"):
            given = devices.run(inputs)
        pairs = enumerate(zip(wanted, given, strict=True))
        found = [n for n, (one, other) in pairs if not _same(one, other)]
        if found:
            return found
    return []


def _same(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    """Whether two results are equal; a NaN, which only marks become, is equal to itself."""
    return one.dtype == other.dtype and np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _compare_loops(whole: Sequence[int | None], parts: Sequence[int | None], rounds: int) -> None:
    """Raises `Broken` where loops, of which only some of the rounds are run, do more or less than the program's."""
    if (lost := Counter(n for n in whole if (n or 0) > rounds) - Counter(parts)) and len(parts) > len(whole):
        raise Inexact(f"a loop of {next(iter(lost))} rounds, of which {rounds} are run here, has become several")
    more = Counter(known for known in parts if known is None or known > rounds) - Counter(whole)
    if len(whole) > len(parts):
        del more[None]
    if more:
        raise Broken(f"the local program has a loop of {next(iter(more)) or 'unknown'} rounds that the program lacks")


def _main(module: ModuleOp) -> FuncOp:
    """The function that runs; raises `Broken` where there is none."""
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks:
            return op
    raise Broken("a program of the certificate has no function @main")


def _stage(module: ModuleOp) -> str:
    found = module.attributes.get("dtensor.stage")
    return found.data if isinstance(found, StringAttr) else ""


def _type_faults(planned: ModuleOp) -> Iterator[str]:
    """What is wrong with a layout of the planned program, or where two that must agree do not."""
    named = meshes(planned)
    for op in (found.ops[0] for found in alike(planned) if found.whole):
        inside = blocks_in(op) if op.name in WHOLE_INSIDE else ()
        for value in (*op.results, *(value for block in inside for value in block.args)):
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
    missing = Counter(due) - Counter(sent)
    if missing:
        yield f"the local program lacks {next(iter(missing))}"


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
        spec, layout = layout_of(value), layout_in(entry)
        assert spec is not None
        mesh = meshes(planned)[spec.mesh]
        if layout is None or canonical(layout, mesh) != canonical(spec, mesh):
            yield f"{name} {number} of the local program has another layout"
        elif shape_of(shard) != local_shape(spec, shape_of(value), mesh) or element_of(shard) != element_of(value):
            yield f"{name} {number} of the local program is {shard.type}, which is no shard of {value.type}"
