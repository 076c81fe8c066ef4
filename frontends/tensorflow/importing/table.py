"""The table of TensorFlow's operations: for each a row, and TensorFlow's own definition of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from shardwright.serialization.protos import graph_pb2

Evaluation = Callable[..., Any]
"""Makes the outputs of a node of its `Call` and its inputs."""

DEFINITIONS = Path(__file__).with_name("op_defs.pb")
"""TensorFlow's definitions of the operations in the table; `benchmarks/tensorflow_op_defs.py` writes it."""


@dataclass(frozen=True)
class Row:
    """
    What an operation means.

    `evaluate(call, *inputs)` gives one output or a tuple of them; an input is a NumPy array where it is known already.
    With `folds`, `call.xp` may be NumPy, and then all inputs are known: shapes are computed so while a graph is read.
    """

    op: str
    evaluate: Evaluation
    folds: bool = False


ROWS: dict[str, Row] = {}
"""The table: the modules in `operations` add to it."""

HOST: dict[str, Evaluation] = {}
"""
What operations mean on the host, before a program and after it, where all values are known NumPy arrays.

Those that stand here alone are on texts, tables and values whose shapes come from data, which no program has. Rows that
fold run on the host as well.
"""

KNOWN = {"Bincount": 1, "DenseBincount": 1, "SparseToDense": 1}
"""The inputs that a program must know; where they come from data, the host has the operation."""

GROUPS: dict[str, list[str]] = {}
"""The operations in the order of the table, by their family."""


_OLD_CONTROL_FLOW = (
    "control flow of TensorFlow 1 is read in graphs, where what switches is joined again, and not in their functions"
)


def _by_name(names_of: dict[str, str]) -> dict[str, str]:
    return {name: why for why, names in names_of.items() for name in names.split()}


REASONS = _by_name(
    {
        _OLD_CONTROL_FLOW: "Switch Merge Enter",
        "the shape of its result depends on data": "DenseToDenseSetOperation ListDiff NonMaxSuppressionV5",
        "it holds a program of JAX: read that with from_jax, or export with KERAS_BACKEND=tensorflow": "XlaCallModule",
        "nobody says in which order a table has its keys": "LookupTableExport LookupTableExportV2",
        "a Python function is not in the graph": "PyFunc EagerPyFunc",
    }
)
"""Why some operations have no row."""

FAMILIES = _by_name(
    {
        "its numbers would be others: make them outside, with shardwright.random, and give them as inputs": (
            "Random StatelessRandom StatefulUniform TruncatedNormal StatelessTruncatedNormal Multinomial"
        ),
        "quantised numbers are not supported: export the graph in float": "Quantize Dequantize FakeQuant",
        "a table that the graph changes is not supported: look up before the graph": "Lookup",
    }
)
"""The same for all operations whose names begin so."""


def row(*ops: str, folds: bool = False) -> Callable[[Evaluation], Evaluation]:
    """Puts a function into the table, for operations that mean the same."""

    def register(evaluate: Evaluation) -> Evaluation:
        family = evaluate.__module__.rpartition(".")[2]
        for op in ops:
            add(op, evaluate, family, folds=folds)
        return evaluate

    return register


def add(op: str, evaluate: Evaluation, family: str, *, folds: bool = False) -> None:
    """Puts one row into the table."""
    ROWS[op] = Row(op, evaluate, folds)
    GROUPS.setdefault(family, []).append(op)


def host_row(*ops: str) -> Callable[[Evaluation], Evaluation]:
    """Puts a function into the table of what runs on the host."""

    def register(evaluate: Evaluation) -> Evaluation:
        family = evaluate.__module__.rpartition(".")[2]
        for op in ops:
            HOST[op] = evaluate
            if op not in ROWS:
                GROUPS.setdefault(family, []).append(op)
        return evaluate

    return register


def only_on_host(op: str) -> bool:
    """Whether no program has this operation, but the host does."""
    return op in HOST and op not in ROWS


def on_host(op: str) -> bool:
    """Whether the host has this operation."""
    return op in HOST or (op in ROWS and ROWS[op].folds)


def supported(op: str) -> bool:
    """Whether a program or the host has this operation."""
    return op in ROWS or op in HOST


def reason(op: str) -> str | None:
    """Why an operation has no row, where there is more to say than that nobody wrote one."""
    if op in REASONS:
        return REASONS[op]
    return next((text for prefix, text in FAMILIES.items() if op.startswith(prefix)), None)


@cache
def definitions() -> dict[str, graph_pb2.OpDef]:
    """TensorFlow's definitions of the operations in the table."""
    return {op.name: op for op in graph_pb2.OpList.FromString(DEFINITIONS.read_bytes()).op}
