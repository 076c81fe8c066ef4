"""Bytecode is recognised without JAX, and needs it to be read."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

import shardwright
from shardwright.compiler.reading import bytecode
from shardwright.compiler.reading.bytecode import MAGIC, payload, text_of
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


@pytest.mark.parametrize(
    ("reader", "said"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "SW0722(.|\n)*jaxlib was ended by SIGSEGV"),
        ("raise SystemExit(3)", "SW0722(.|\n)*jaxlib ended with exit code 3"),
        ("print('no JSON')", "SW0722(.|\n)*jaxlib ended with exit code 0"),
        ("""print('{"said": ["it is cut off"]}')""", "SW0722(.|\n)*note: it is cut off"),
        ("""print('{"missing": "jaxlib.mlir"}')""", "SW0721(.|\n)*there is no module jaxlib.mlir"),
    ],
)
def test_what_ends_the_reader_is_an_error(
    reader: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child = tmp_path / "child.py"
    child.write_text(reader)
    monkeypatch.setattr(bytecode, "CHILD", child)
    monkeypatch.setitem(sys.modules, "jaxlib", ModuleType("jaxlib"))
    with pytest.raises(ShardwrightError, match=said):
        text_of(MAGIC, "program.mlirbc")


def test_the_text_comes_from_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child.py"
    child.write_text("import json, sys; print(json.dumps({'text': '\u00e9' + str(len(sys.stdin.buffer.read()))}))")
    monkeypatch.setattr(bytecode, "CHILD", child)
    monkeypatch.setitem(sys.modules, "jaxlib", ModuleType("jaxlib"))
    assert text_of(MAGIC, "program.mlirbc") == "\u00e94"
