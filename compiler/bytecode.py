"""
Reading MLIR bytecode and StableHLO's portable artifacts, with what jaxlib brings along (the extra `jax`).

Both become text with their locations, and are read like any other text from there on.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from shardwright.diagnostics import Diagnostic, ShardwrightError, ShardwrightValueError, SourceLocation

MAGIC = b"ML\xefR"
"""How MLIR bytecode starts."""

LENGTH_BYTES = 4
"""The size of the length in front of the bytecode inside of `jax.export`'s own files."""


def payload(data: bytes) -> bytes | None:
    """
    The bytecode in the bytes of a file: all of them, or the program inside of what `Exported.serialize()` gave.

    >>> payload(MAGIC + b"rest") == payload(b"header" + (8).to_bytes(4, "little") + MAGIC + b"rest and more")
    True
    >>> payload(b"module {}") is None
    True
    """
    at = data.find(MAGIC)
    if at <= 0:
        return data if at == 0 else None
    size = int.from_bytes(data[max(0, at - LENGTH_BYTES) : at], "little")
    return data[at : at + size] if at >= LENGTH_BYTES and len(MAGIC) < size <= len(data) - at else None


def text_of(bytecode: bytes, name: str) -> str:
    """
    The program in MLIR bytecode or a portable artifact, as text with locations; `name` is what errors call it.

    Raises SW0721 without jaxlib, and SW0722 for bytes that it cannot read.
    """
    place = SourceLocation(name, 1, 1)
    ir, stablehlo = (required(f"jaxlib.mlir.{part}", name, place) for part in ("ir", "dialects.stablehlo"))
    context = _context(ir)
    said: list[str] = []

    def listen(diagnostic: Any) -> bool:
        said.append(str(diagnostic.message))
        return True

    handler = context.attach_diagnostic_handler(listen)
    try:
        with context:
            module = stablehlo.deserialize_portable_artifact(context, bytecode)
            return str(module.operation.get_asm(enable_debug_info=True))
    except (ValueError, RuntimeError) as error:
        raise ShardwrightValueError(
            Diagnostic(
                "SW0722",
                "this is MLIR bytecode that jaxlib cannot read",
                place,
                notes=tuple(dict.fromkeys(said or [str(error)])),
                help="check that the file is complete, and that jaxlib is as new as what wrote it",
            )
        ) from error
    finally:
        handler.detach()


def required(module: str, name: str, place: SourceLocation | None = None) -> Any:
    """A module of the extra `jax`; SW0721 where that is not installed and `name` needs it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise ShardwrightError(
            Diagnostic(
                "SW0721",
                f"{name} needs JAX, which is not installed",
                place,
                notes=(f"there is no module {error.name or module}",),
                help="pip install 'shardwright[jax]'; a program as StableHLO text needs nothing",
            )
        ) from error


def _context(ir: Any) -> Any:
    """A context of MLIR that knows what JAX writes."""
    registry = ir.DialectRegistry()
    import_module("jaxlib.mlir._mlir_libs._jax_mlir_ext").register_dialects(registry)
    context = ir.Context()
    context.append_dialect_registry(registry)
    context.load_all_available_dialects()
    for dialect in ("sdy", "chlo", "stablehlo"):
        import_module(f"jaxlib.mlir.dialects.{dialect}").register_dialect(context)
    import_module("jaxlib.mlir.dialects.mhlo").register_mhlo_dialect(context)
    return context
