"""
The programs that JAX exported: right where their arrays are stored, and with no more bytes than other partitioners.

Each one's `meta.json` has the tolerances and what XLA's and Shardy's partitioners send for the same program.
"""

from __future__ import annotations

import pytest
from harness import run
from stored_programs import NAMES, RUNNABLE, assert_right, inputs, meta, tagged, text

from shardwright.compiler.pipelines import ALIGN, IMPORT, PLAN, PROPAGATE, run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.compiler.stages import read_module
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.dtensor import BACKEND

DENSE = tagged("dense", NAMES)


def predicted(name: str) -> float:
    """The bytes that each device sends in one run."""
    module = parse_module(text(name), name)
    run_pipeline(module, [*IMPORT, *PROPAGATE, *ALIGN, *PLAN])
    total = predicted_bytes(module)
    assert total is not None
    return float(total)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", RUNNABLE)
def test_results(name: str) -> None:
    """Partitioned with every check on, and run; predicted bytes are compared with those sent."""
    assert_right(name, run(text(name), inputs(name), namespace="numpy").results)


@pytest.mark.every(14)
@pytest.mark.parametrize("name", RUNNABLE)
def test_results_as_exported(name: str) -> None:
    """What each device runs, written with StableHLO's own collectives, is a program with the same results."""
    exported = read_module(parse_module(text(name), name), name, BACKEND).partition().to_stablehlo()
    assert_right(name, run(exported, inputs(name), namespace="numpy").results)


@pytest.mark.every(6)
@pytest.mark.parametrize("name", DENSE)
def test_bytes_are_at_most_those_of_xla(name: str) -> None:
    assert predicted(name) <= meta(name)["xla"]["sent_bytes"]


@pytest.mark.every(2)
@pytest.mark.parametrize("name", [name for name in DENSE if {"fsdp", "seqparallel"} & set(meta(name)["tags"])])
def test_bytes_are_at_most_those_of_shardy(name: str) -> None:
    assert predicted(name) <= meta(name)["shardy"]["sent_bytes"]
