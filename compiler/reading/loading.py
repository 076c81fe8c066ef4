"""Programs in files: read at once, or only when something asks, where it is known what they compile to."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import is_
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.running import RememberedFile
from shardwright.compiler.stages import Backend, Callbacks, Compiled, Traced, read_module
from shardwright.compiler.tracing.interface import Interface
from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.dialects.building import ops_in
from shardwright.dialects.text.parsing import parse_module

__all__ = ["load_mlir"]


def load_mlir(path: str | Path, backend: Backend, callbacks: Callbacks = None) -> Traced:
    """The program in a file of StableHLO text or MLIR bytecode; its shardings become layouts."""
    if "\n" in str(path):
        message = "the text of a program was given where the path of its file belongs"
        raise ShardwrightValueError(Diagnostic("SW0702", message, help="write it into a file, and give its path"))
    if "\0" in str(path):
        raise ShardwrightValueError(Diagnostic("SW0702", f"cannot read {str(path)!r}: a name has no NUL"))
    try:
        data = Path(path).read_bytes()
        file = backend.remembered_file(data, path, callbacks)
        interface = None if file is None else file.interface()
        if file is not None and interface is not None:
            return _Loaded(lambda: _read(data, path, backend, callbacks).module, interface, backend, file)
        traced = _read(data, path, backend, callbacks)
    except (OSError, UnicodeDecodeError) as error:
        raise ShardwrightValueError(
            Diagnostic("SW0702", f"cannot read {str(path)!r}: {error}", help="check the path; programs are UTF-8 text")
        ) from error
    return traced if file is None else _Loaded(lambda: traced.module, traced.interface, backend, file)


def _read(data: bytes, path: str | Path, backend: Backend, callbacks: Callbacks) -> Traced:
    from shardwright.compiler.reading.bytecode import payload, text_of  # only programs in files may be bytecode

    bytecode = payload(data)
    text = data.decode("utf-8") if bytecode is None else text_of(bytecode, str(path))
    return read_module(parse_module(text, str(path)), str(path), backend, callbacks)


class _Loaded(Traced):
    """
    A program in a file. One that was compiled before is read when somebody asks for more than its compiled form.

    Whoever had its module may have changed it: then it is no longer known as what the file holds.
    """

    _read: Callable[[], ModuleOp]
    _file: RememberedFile
    _parts: list[object]

    def __init__(
        self, read: Callable[[], ModuleOp], interface: Interface, backend: Backend, file: RememberedFile
    ) -> None:
        vars(self).update(interface=interface, backend=backend, _read=read, _file=file)

    @cached_property
    def module(self) -> ModuleOp:  # pyright: ignore[reportIncompatibleVariableOverride]
        module = self._read()
        vars(self).update(_parts=_parts_of(module))
        return module

    def compile(self, *, certify: bool = False) -> Compiled:
        file = self._file if self._is_as_read() else None
        known = None if file is None or self._is_asked(certify) else file.recall()
        return self._compiled(certify, file) if known is None else self._found(*known)

    def _is_as_read(self) -> bool:
        if "module" not in vars(self):
            return True
        parts = _parts_of(self.module)
        return len(parts) == len(self._parts) and all(map(is_, parts, self._parts))


def _parts_of(module: ModuleOp) -> list[object]:
    """All of which a module consists: the same objects, as long as nobody changes it."""
    found: list[object] = []
    for op in ops_in(module):
        for named in (op.attributes, op.properties):
            found += (*named, *named.values())
        found += (op, op.location, *op.operands, *(result.type for result in op.results))
        for block in (block for region in op.regions for block in region.blocks):
            found += (block, *(argument.type for argument in block.args))
    return found
