"""What a program takes and gives: the entry function's arguments and results as arrays."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from shardwright.diagnostics.figures import readable_bytes
from shardwright.dialects.text.locations import fault, where
from shardwright.dialects.types import element_dtype, has_array_type, shape_of
from shardwright.tools.programs.arrays import Declared

ENTRY = "main"


@dataclass(frozen=True)
class Signature:
    """The arguments and results of the entry function, as global arrays."""

    arguments: tuple[Declared, ...]
    results: tuple[Declared, ...]


def entry_function(module: ModuleOp) -> FuncOp:
    """The function `main`; SW0716 where there is none with a body."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.sym_name.data == ENTRY and function.body.blocks:
            return function
    names = ", ".join(f"@{function.sym_name.data}" for function in functions) or "none"
    help_text, notes = f"name the entry function: func.func public @{ENTRY}", (f"its functions: {names}",)
    place = functions[0] if functions else module
    raise fault("SW0716", f"the program has no function @{ENTRY} with a body", place, notes=notes, help=help_text)


def entry_signature(module: ModuleOp) -> Signature:
    """The global arrays that `main` takes and gives."""
    function = entry_function(module)
    returned = function.get_return_op()
    results = returned.operands if returned is not None else ()
    return Signature(
        tuple(_declared(f"in_{number}", value) for number, value in enumerate(function.args)),
        tuple(_declared(f"out_{number}", value) for number, value in enumerate(results)),
    )


def check_memory(module: ModuleOp, available: int | None = None) -> None:
    """
    Refuse a program with a tensor that is larger than this machine's memory (SW0717).

    NumPy would fail late, or the machine would start to swap.
    """
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limit = physical if available is None else available
    for value in _tensors(module):
        size = math.prod(shape_of(value)) * element_dtype(value.type).itemsize
        if size > limit:
            message = f"{value.type} takes {readable_bytes(size)}; this machine has {readable_bytes(limit)}"
            raise fault("SW0717", message, value, help="run a smaller program, or only partition it: shardwright-opt")


def _declared(key: str, value: SSAValue) -> Declared:
    if has_array_type(value.type):
        return Declared(key, shape_of(value), element_dtype(value.type), where(value))
    help_text = "arguments and results of a program to run are tensors of numbers or truth values"
    raise fault("SW0718", f"{key} has type {value.type}, which is no array", value, help=help_text)


def _tensors(module: ModuleOp) -> Iterator[SSAValue]:
    """The values that are arrays in a run; what else there is, the partitioner refuses."""
    for op in module.walk():
        yield from (result for result in op.results if has_array_type(result.type))
        for region in op.regions:
            for block in region.blocks:
                yield from (argument for argument in block.args if has_array_type(argument.type))
