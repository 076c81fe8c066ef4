"""Bytecode is recognised without JAX, and needs it to be read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import shardwright
from shardwright.compiler.bytecode import MAGIC, payload
from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.files import read_text


@pytest.fixture
def without_jax(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the extra is not installed."""
    for name in ("jax", "jaxlib"):
        for loaded in [module for module in sys.modules if module.split(".")[0] == name]:
            monkeypatch.delitem(sys.modules, loaded)
        monkeypatch.setitem(sys.modules, name, None)


@pytest.mark.usefixtures("without_jax")
def test_bytecode_needs_jaxlib(tmp_path: Path) -> None:
    path = tmp_path / "program.mlirbc"
    path.write_bytes(MAGIC + b"\r\xff")
    for read in (read_text, shardwright.load_mlir):
        with pytest.raises(ShardwrightError, match=r"SW0721.*program.mlirbc needs JAX") as caught:
            read(str(path))
        assert "pip install 'shardwright[jax]'" in str(caught.value)


@pytest.mark.usefixtures("without_jax")
def test_from_jax_needs_jax() -> None:
    with pytest.raises(ShardwrightError, match="SW0721"):
        shardwright.from_jax(abs, 1.0)
    with pytest.raises(ShardwrightError, match=r"SW0721.*shardwright.jax.jit needs JAX"):
        shardwright.jax.jit(abs)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (MAGIC + b"abc", MAGIC + b"abc"),
        (b"head" + (7).to_bytes(4, "little") + MAGIC + b"abctail", MAGIC + b"abc"),
        (b"head" + (70).to_bytes(4, "little") + MAGIC + b"abctail", None),
        (b"h" + MAGIC, None),
        (b"module {}", None),
        (b"", None),
    ],
)
def test_payload(data: bytes, found: bytes | None) -> None:
    assert payload(data) == found
