"""Writing IR as MLIR text, pretty or generic, with or without locations."""

from __future__ import annotations

import io

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from shardwright.dialects.text.xdsl_patches import MlirPrinter


def print_module(module: ModuleOp | Operation, generic: bool = False, debuginfo: bool = False) -> str:
    """
    The text of a module (or of one op), ending in a newline; MLIR and `parse_module` read it back.

    `generic` writes every op in MLIR's generic form; `debuginfo` adds each op's and argument's location.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> print(print_module(parse_module("func.func @main() { return }")), end="")
    module {
      func.func @main() {
        return
      }
    }
    """
    stream = io.StringIO()
    MlirPrinter(stream, generic=generic, debuginfo=debuginfo).print_op(module)
    stream.write("\n")
    return stream.getvalue()
