"""What a program takes in exact numbers, of time and of memory: how it is compared, and nothing of what is found."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Operation

from shardwright.compiler.layouts.memory import memory_of
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in
from shardwright.dialects.dtensor import meshes
from shardwright.dialects.trip_count import trip_count
from shardwright.dialects.types import shape_of
from shardwright.proof.exact import ROUNDS, Inexact
from shardwright.runtime.codegen.arena import machine_bytes

WORK = 1 << 33
"""Multiplications, and elements of results, that a comparison may take: some seconds."""

EASY = 1 << 28
"""The same, of a comparison that may be repeated on other numbers, with more rounds of its loops."""

DISPATCH = 10_000
"""Multiplications that take as long as an op on no elements: on its devices, and with all that makes it exact."""

TOO_LITTLE = "this machine has too little memory to run the program in exact numbers"


def is_small(op: Operation) -> bool:
    """Whether an op, or a whole program, can be run in exact numbers as it is."""
    return work(op) <= WORK


def work(op: Operation, rounds: int = ROUNDS) -> float:
    """The multiplications that an op takes, or the elements that it makes; those of a loop in each round."""
    elements = sum(math.prod(shape_of(value)) for value in op.results if isinstance(value.type, TensorType))
    if isinstance(op, stablehlo.DotGeneralOp):
        return elements * math.prod(shape_of(op.operands[0])[dim] for dim in op.contracting_dims[0])
    if isinstance(op, stablehlo.ConvolutionOp):
        kernel = shape_of(op.operands[1])
        return elements * math.prod(kernel) / max(kernel[op.numbers.kernel_output], 1)
    inner = sum(work(each, rounds) for block in blocks_in(op) for each in block.ops)
    if isinstance(op, stablehlo.WhileOp):
        known = trip_count(op)
        inner *= rounds if known is None else min(known, rounds)
    return DISPATCH + 8 * elements + inner


def ask_for_memory(local: ModuleOp) -> None:
    """
    Raises `Inexact` where the devices of a local program hold more together than this process may have.

    It is asked before: a system may promise more memory than it has, and end who uses it.
    """
    if memory_of(local).peak * math.prod(mesh.size for mesh in meshes(local).values()) > machine_bytes():
        raise Inexact(TOO_LITTLE)
