"""Reading the program that a command is given."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace

from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics import ShardwrightError, SourceLocation


def parse(text: str, name: str) -> ModuleOp:
    """The verified program in `text`."""
    from shardwright.dialects.text.parsing import parse_module
    from shardwright.dialects.text.verify import verify_module

    module = parse_module(text, name)
    verify_module(module)
    return module


def placed(error: ShardwrightError, name: str) -> ShardwrightError:
    """The same error; what names no place is about the whole program, and gets its first line."""
    whole = SourceLocation(name, 1, 1)
    return ShardwrightError(replace(item, location=item.location or whole) for item in error.diagnostics)


@contextmanager
def about(name: str) -> Generator[None]:
    """Mistakes found inside are about the program `name`."""
    try:
        yield
    except ShardwrightError as error:
        raise placed(error, name) from error
