"""What the API proves, and what is remembered of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.stages import Partitioned
from shardwright.diagnostics import ShardwrightInternalError, ShardwrightValueError
from shardwright.proof import prover
from shardwright.proof.checker import Verdict

MESH = sw.Mesh(x=2, y=2)
W = sw.relayout(np.ones((4, 6), np.float32), sw.Layout([None, "y"], MESH))
X = sw.relayout(np.ones((8, 4), np.float32), sw.Layout(["x", None], MESH))


def loss(w, x):
    return sw.sum(sw.tanh(x @ w))


def partitioned(function=loss) -> Partitioned:
    return sw.function(function).trace(W, X).partition()


def never(_: object) -> Verdict:
    raise AssertionError("it is remembered")


@pytest.mark.parametrize("checkpoint", [False, True])
def test_gradients_are_proved(checkpoint: bool) -> None:
    inner = sw.checkpoint(loss) if checkpoint else loss
    proof = partitioned(lambda w, x: sw.grad(inner)(w, x)).certify()
    assert proof.proved
    assert any(op.types == "its layout follows from its operand's" for op in proof.ops)


def test_factors_and_systems_in_blocks_are_proved() -> None:
    rows = sw.Layout(["x", None], MESH)
    a = sw.relayout(np.eye(4), rows)
    step = sw.function(lambda a: sw.relayout(sw.linalg.cholesky(a), rows)).trace(a).partition()
    assert any(op.name == "stablehlo.triangular_solve" for op in step.planned.walk())
    assert any(op.name == "dtensor.window" for op in step.planned.walk())  # blocks are sent
    proof = step.certify()
    assert proof.proved
    wrong = next(op for op in step.module.walk() if op.name == "stablehlo.cholesky")
    wrong.results[0].replace_all_uses_with(wrong.operands[0])
    with pytest.raises(ShardwrightInternalError, match="result 0 differs"):
        step.certify()


def test_a_certified_program_compiles_and_runs() -> None:
    found = sw.function(loss).trace(W, X).compile(certify=True)(W, X)
    np.testing.assert_allclose(np.asarray(found), 48 * np.tanh(4.0), rtol=1e-6)


def test_what_cannot_be_proved_does_not_compile_certified() -> None:
    a = np.eye(4, dtype=np.float32)
    traced = sw.function(lambda a: sw.linalg.cholesky(a) @ sw.linalg.inv(a)).trace(a)
    assert traced.compile()(a) is not None
    with pytest.raises(ShardwrightValueError, match="SW0332"):
        traced.compile(certify=True)


def test_a_wrong_program_is_a_fault_of_ours() -> None:
    stage = partitioned()
    for op in stage.module.walk():
        if op.name == "stablehlo.tanh":
            op.results[0].replace_all_uses_with(op.operands[0])
    with pytest.raises(ShardwrightInternalError, match="result 0 differs"):
        stage.certify()


def test_a_proof_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path))
    first = partitioned().certify()
    (kept,) = (tmp_path / "proofs").iterdir()
    with monkeypatch.context() as patched:
        patched.setattr(prover, "check", never)
        again = partitioned().certify()
        assert (again.proved, again.ops, again.verdict.how) == (True, first.ops, first.verdict.how)
        with pytest.raises(AssertionError, match="it is remembered"):
            partitioned(lambda w, x: sw.sum(x @ w)).certify()  # another program
    for damaged in (b"", b"{", b"[]", b"[" * 50_000, b'{"how": 1}', b"\xff"):
        kept.write_bytes(damaged)
        assert partitioned().certify().ops == first.ops


def test_a_folder_that_cannot_be_written_keeps_nobody_from_proving(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv("SHARDWRIGHT_CACHE", str(tmp_path / "file"))
    assert partitioned().certify().proved
