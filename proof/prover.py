"""The prover: it writes the certificate of a program that was partitioned, and has the checker read it."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import COMPOSED, IMPORT, LOCALIZE, run_pipeline
from shardwright.diagnostics.folders import memory_folder
from shardwright.diagnostics.telling import lasting
from shardwright.dialects.building import blocks_in, captured_by
from shardwright.dialects.dtensor.gradients import OPS as GRADIENT_OPS
from shardwright.dialects.sdy.ops import (
    CollectiveOp,
    ConstantOp,
    FuncDataFlowEdgeOp,
    NamedComputationOp,
)
from shardwright.dialects.text.printing import print_module
from shardwright.passes.decomposing.decompose import TAKEN_APART
from shardwright.passes.stages import FUNCTIONS_OF_SCALARS
from shardwright.proof.certificate import FORMAT, Certificate
from shardwright.proof.checker import CheckedOp, Verdict, check
from shardwright.proof.reduction import Reduced, reduce_programs
from shardwright.proof.work import is_small

_DERIVATIVES = frozenset(op.name for op in GRADIENT_OPS)
_SHARDY = (NamedComputationOp, CollectiveOp, ConstantOp, FuncDataFlowEdgeOp)

LARGEST = 1 << 24
"""Bytes of what is remembered of one program, at most."""


@dataclass(frozen=True)
class Proof:
    """A certificate, and what the checker said of it."""

    certificate: Certificate
    verdict: Verdict

    @property
    def proved(self) -> bool:
        """Whether all of the program is proved."""
        return self.verdict.proved

    @property
    def faults(self) -> list[str]:
        """What is wrong."""
        return self.verdict.faults

    @property
    def unproved(self) -> list[str]:
        """What could not be asked, and why."""
        return self.verdict.unproved

    @property
    def ops(self) -> list[CheckedOp]:
        """For each op of the planned program what was proved, and how."""
        return self.verdict.ops

    def __repr__(self) -> str:
        said = "proved" if self.proved else "not proved"
        return f"Proof({said}, {len(self.ops)} ops, {self.verdict.how or 'nothing run'})"


def certify(traced: ModuleOp, planned: ModuleOp, local: ModuleOp, seed: int = 0) -> Proof:
    """
    The proof that `local`, which was made of `planned`, computes what `traced` does.

    Proofs that hold are remembered on disk, under the hash of their programs: in `$SHARDWRIGHT_CACHE`, by default in
    the user's folder of caches. Nothing there is code, and all of it may be deleted.

    >>> from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    >>> from shardwright.dialects.text.parsing import parse_module
    >>> traced = parse_module('''
    ...   sdy.mesh @mesh = <["x"=2]>
    ...   func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<f32> {
    ...     %0 = stablehlo.constant dense<0.0> : tensor<f32>
    ...     %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
    ...         : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    ...     return %1 : tensor<f32>
    ...   }''')
    >>> planned = traced.clone()
    >>> _ = run_pipeline(planned, ["plan"])
    >>> local = planned.clone()
    >>> _ = run_pipeline(local, LOCALIZE)
    >>> certify(traced, planned, local).proved
    True
    """
    with lasting("certifying"):
        return _certified(traced, planned, local, seed)


def _certified(traced: ModuleOp, planned: ModuleOp, local: ModuleOp, seed: int) -> Proof:
    program = defined(traced)
    texts = print_module(program), print_module(planned), print_module(local)
    proof: Proof | None = None
    for small in _smaller(program, planned):
        proof = _read(Certificate(*texts, *small, seed))
        if proof.proved or proof.faults:
            break
    assert proof is not None
    return proof


def _smaller(program: ModuleOp, planned: ModuleOp) -> Iterator[tuple[str, str]]:
    """
    The texts of programs at smaller sizes, for one that is too large to run; none for one that is not.

    The second time sizes that stand in the program as numbers stay: where the compiler used that both are equal, the
    smallest program is another one.
    """
    found: Reduced | str = ""
    for careful in (False, True) if not is_small(program) else ():
        found = reduce_programs(program, planned, careful=careful)
        if isinstance(found, Reduced):
            parts = found.planned.clone()
            run_pipeline(parts, LOCALIZE)
            yield print_module(found.traced), print_module(parts)
    if not isinstance(found, Reduced):
        yield "", ""


def _read(certificate: Certificate) -> Proof:
    """What the checker says of a certificate, now or some time before."""
    memory = _memory(certificate)
    verdict = _remembered(memory)
    if verdict is None:
        verdict = check(certificate)
        if verdict.proved:
            _remember(memory, verdict)
    return Proof(certificate, verdict)


def defined(traced: ModuleOp) -> ModuleOp:
    """
    The program with its derivatives, composed ops and what Shardy writes around ops taken apart, where it has any.

    What a gradient is, or a batch normalisation, its definition says; the proof is about how it is done on all devices.
    """
    passes = _definitions(traced)
    if not passes:
        return traced
    written = traced.clone()
    run_pipeline(written, passes)
    return written


def _definitions(traced: ModuleOp) -> Sequence[str]:
    """The passes that a program needs so that each of its ops has a meaning of its own."""
    ops = list(traced.walk())
    if any(op.name in _DERIVATIVES or isinstance(op, _SHARDY) for op in ops):
        return IMPORT[: IMPORT.index("expand-gradients") + 1]
    reading = (blocks_in(op) for op in ops if isinstance(op, FUNCTIONS_OF_SCALARS))
    if any(type(op) in TAKEN_APART for op in ops) or any(captured_by(blocks) for blocks in reading):
        return COMPOSED
    return ()


def _memory(certificate: Certificate) -> Path | None:
    """The file that remembers the proof of a certificate: its name says all that the proof depends on."""
    folder = memory_folder("proofs")
    content = f"{FORMAT} {_checker()}\n{certificate.to_json()}"
    return folder and folder / f"{hashlib.sha256(content.encode()).hexdigest()}.json"


@cache
def _checker() -> str:
    """The hash of the checker's own text: what a weaker one took for proved is proved anew."""
    texts = (path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    return hashlib.sha256(b"".join(texts)).hexdigest()


def _remembered(memory: Path | None) -> Verdict | None:
    try:
        if memory is None or memory.stat().st_size > LARGEST:
            return None
        found = json.loads(memory.read_bytes())
        return Verdict(ops=[CheckedOp(*map(str, op)) for op in found["ops"]], how=str(found["how"]))
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None  # no memory, or none that can be read: it is proved anew


def _remember(memory: Path | None, verdict: Verdict) -> None:
    if memory is None:
        return
    try:
        memory.parent.mkdir(parents=True, exist_ok=True)
        draft = memory.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps({"how": verdict.how, "ops": [list(asdict(op).values()) for op in verdict.ops]}))
        draft.replace(memory)
    except OSError:
        return  # a full disk or a folder of others keeps nobody from proving
