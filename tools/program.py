"""Reading the program that a command is given."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp


def parse(text: str, name: str) -> ModuleOp:
    """The verified program in `text`."""
    from shardwright.dialects.parsing import parse_module
    from shardwright.dialects.verify import verify_module

    module = parse_module(text, name)
    verify_module(module)
    return module
