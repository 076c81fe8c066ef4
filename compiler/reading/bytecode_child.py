"""
A process of its own that turns MLIR bytecode into text: damaged bytecode can end the process that reads it.

It takes the bytecode on standard input, and gives JSON: the `text`, or what jaxlib `said` and why there is none.

Nothing of ours is loaded for that, so what jaxlib does not promise stands here too, and not in `engines/jax/internals`,
which is above this room; `tests/e2e/test_jax_internals_peers.py` asks it as well with every JAX that is supported.
"""

from __future__ import annotations

import json
import sys
from importlib import import_module
from typing import Any


def main() -> None:
    """Reads, and answers."""
    answer = answered(sys.stdin.buffer.read())
    sys.stdout.buffer.write(json.dumps(answer).encode())


def answered(bytecode: bytes) -> dict[str, Any]:
    """The text of the program in some bytecode, or what was said of it."""
    try:
        ir, stablehlo = (import_module(f"jaxlib.mlir.{part}") for part in ("ir", "dialects.stablehlo"))
        context = _context(ir)
    except ImportError as error:
        return {"missing": error.name or str(error)}
    said: list[str] = []

    def listen(diagnostic: Any) -> bool:
        said.append(_message(diagnostic))
        return True

    handler = context.attach_diagnostic_handler(listen)
    try:
        with context:
            module = stablehlo.deserialize_portable_artifact(context, bytecode)
            return {"text": str(module.operation.get_asm(enable_debug_info=True))}
    except Exception as error:
        return {"said": list(dict.fromkeys(said or [str(error)]))}
    finally:
        handler.detach()


def _message(diagnostic: Any) -> str:
    """What a diagnostic says; jaxlib gives none that repeats bytes which are no text."""
    try:
        return str(diagnostic.message)
    except (UnicodeDecodeError, RuntimeError):
        return "it has a name that is no text"


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


if __name__ == "__main__":
    main()
