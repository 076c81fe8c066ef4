"""
Programs of which the inputs alone have layouts: what we send for them, next to XLA and Shardy.

They are the stored ones, without what they say of results and of values in between. Nothing runs: our bytes are those
of the plan, XLA's those of the module that it compiles, Shardy's those of its collectives. These are all that is sent
where dims pass, or are summed, in each op; of loops, and of dims along which elements move, they leave it to others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

from shardwright.benchmarks import files, ours, shardy, xla
from shardwright.benchmarks.report import Cell, Report
from shardwright.compiler.pipelines import IMPORT, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.func import FuncOp
from shardwright.dialects.sdy import ShardingConstraintOp
from shardwright.dialects.stablehlo import CaseOp, IfOp, WhileOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.engines.jax import hlo
from shardwright.passes.rewriter import replace
from shardwright.rules.rule import PERMUTE, REPLICATE
from shardwright.rules.sharding import ROWS, rule_for

SHARDING = "sdy.sharding"


def inputs_alone(programs: Sequence[files.ProgramFile]) -> Report:
    """The stored programs with layouts of their inputs alone; those that are computations by hand are left out."""
    report = Report("inputs", "bytes that a device sends where the inputs alone have layouts")
    counts: Counter[str] = Counter()
    for file in programs:
        text = with_inputs_alone(file.text)
        if text is None:
            continue
        sent, theirs = _ours(text), _xla(text)
        row: dict[str, Cell] = {"program": file.name, "sent": sent, "xla": theirs, "shardy": _shardy(text)}
        report.add(row)
        counts[_verdict(sent, theirs)] += 1
    report.notes.append(", ".join(f"{what}: {count}" for what, count in sorted(counts.items())))
    return report


def with_inputs_alone(text: str) -> str | None:
    """
    The program without layouts of its results and of values in between; None where no input has one, or by hand.

    >>> text = '''
    ... sdy.mesh @mesh = <["x"=2]>
    ... func.func public @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>})
    ...     -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {
    ...   %0 = sdy.sharding_constraint %a <@mesh, [{}]> : tensor<4xf32>
    ...   return %0 : tensor<4xf32>
    ... }'''
    >>> found = with_inputs_alone(text)
    >>> found.count("sdy.sharding"), "return %a" in found
    (2, True)
    """
    module = parse_module(text)
    for op in list(module.walk()):
        if op.name == "sdy.manual_computation":
            return None
        if isinstance(op, ShardingConstraintOp):
            replace(op, [op.input])
    (main,) = (op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    if main.res_attrs is not None:
        main.res_attrs = ArrayAttr([_without_layout(entry) for entry in main.res_attrs])
    arguments = () if main.arg_attrs is None else main.arg_attrs
    return print_module(module) if any(SHARDING in entry.data for entry in arguments) else None


def _without_layout(entry: DictionaryAttr) -> DictionaryAttr:
    return DictionaryAttr({name: value for name, value in entry.data.items() if name != SHARDING})


def _verdict(sent: float | None, theirs: float | None) -> str:
    if sent is None or theirs is None:
        return "not counted"
    return "no more than XLA" if sent <= theirs else "more than XLA"


def _ours(text: str) -> float | None:
    """What our plan sends; None where that depends on data."""
    try:
        return ours.sent_bytes(text)
    except ShardwrightError:
        raise  # what we refuse is no program that sends what depends on data
    except ValueError:
        return None


def _xla(text: str) -> float | None:
    """What XLA's module sends; None where that depends on data."""
    compiled = xla.compile_text(text)
    try:
        return float(sum(one.sent_bytes for one in hlo.collectives(compiled.hlo(), compiled.devices)))
    except ValueError:
        return None


def _shardy(text: str) -> float | None:
    """What Shardy's collectives send; None where others are to add some."""
    module = parse_module(text)
    run_pipeline(module, IMPORT)
    if any(isinstance(op, WhileOp | IfOp | CaseOp) for op in module.walk()):
        return None
    rules = [rule_for(op) for op in module.walk() if op.name in ROWS]
    if any(kind in (PERMUTE, REPLICATE) for rule in rules for kind in rule.kinds):
        return None
    return sum(one["sent_bytes"] for one in shardy.sent(shardy.partition(text)[0]).values())
