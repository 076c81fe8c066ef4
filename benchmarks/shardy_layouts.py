"""
Layouts and bytes beside Shardy's, for each function of the tests of its propagation.

    python -m shardwright.benchmarks.shardy_layouts FOLDER [--json FILE]

FOLDER is `shardy/dialect/sdy` of Shardy's sources. Each function goes through the passes of jaxlib's Shardy that its
file names, and through ours; arguments, results and ops that stand at the same place are compared. Shardy's bytes are
those of the program here with its layouts as annotations of all values.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp, TensorType
from xdsl.ir import SSAValue

from shardwright.benchmarks.shardy_tests import functions, parts_of, program, reached, without_comments
from shardwright.compiler.stages import Partitioned, read_module
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import shape_of
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.frontends.jax.calls.custom_calls import register_custom_call
from shardwright.passes.program import entry_function

Dims = tuple[tuple[str, ...], ...]
Layouts = dict[str, list[Dims]]
"""Layouts by place: of arguments and results, and of the results of an op by line, column and name."""

SHARDING = "sdy.sharding"
SINK = "func.func(sdy-sink-data-flow-edges)"
REDUCERS = frozenset(f"stablehlo.{name}" for name in "reduce sort scatter reduce_window select_and_scatter".split())

_PASS = re.compile(r"--?(sdy-[\w-]+)(?:=['\"]([^'\"]*)['\"])?")
_PLACE = re.compile(r'"-":(\d+):(\d+)')
_SHARDING = re.compile(r"<(?:@[\w.$-]+|mesh<[^>]*>), \[(.*?)\](?:, (?:replicated|unreduced)=\w*\{[^}]*\})*>")
_DIM = re.compile(r"\{([^{}]*)\}")


@dataclass
class Beside:
    """One function: how many values both have, those whose layouts differ, and what a device sends."""

    file: str
    part: int
    function: str
    state: str = ""
    values: int = 0
    differing: list[tuple[str, Dims, Dims]] = field(default_factory=list[tuple[str, Dims, Dims]])
    theirs: float | None = None
    ours: float | None = None


def passes_of(text: str) -> list[str]:
    """
    The passes that a test names, and the one that puts what edges say on their ops.

    >>> passes_of("// RUN: sdy_opt %s -sdy-basic-propagate='keep-sharding-rules=true' 2>&1 | FileCheck %s")
    ['sdy-basic-propagate{keep-sharding-rules=true}', 'func.func(sdy-sink-data-flow-edges)']
    """
    line = text.split("sdy_opt %s", 1)[1].split("\n", 1)[0]
    named = [name + (f"{{{options}}}" if options else "") for name, options in _PASS.findall(line)]
    return [each for each in named if each not in SINK] + [SINK]


def dims_of(text: str) -> list[Dims]:
    """
    The axes of the dims of each sharding in a text.

    >>> dims_of('#sdy.sharding_per_value<[<@mesh, [{"a", "b":(1)2, ?}, {}p1]>]>')
    [(('"a"', '"b":(1)2'), ())]
    """
    return [
        tuple(
            tuple(axis.strip() for axis in dim.split(",") if axis.strip() not in ("", "?"))
            for dim in _DIM.findall(each)
        )
        for each in _SHARDING.findall(text)
    ]


class Theirs:
    """A program that Shardy's passes have gone through."""

    def __init__(self, text: str, passes: Sequence[str]):
        self.ir: Any = import_module("jaxlib.mlir.ir")
        self.module: Any = self.ir.Module.parse(text)
        manager: Any = import_module("jaxlib.mlir.passmanager").PassManager
        manager.parse(f"builtin.module({','.join(passes)})").run(self.module.operation)

    @property
    def layouts(self) -> Layouts:
        """What was decided; what has no sharding is whole."""
        found: Layouts = {}
        main = next(op for op in self._functions() if op.attributes["sym_name"].value == "main")
        kind = self.ir.TypeAttr(main.attributes["function_type"]).value
        for side, name, types in (("argument", "arg_attrs", kind.inputs), ("result", "res_attrs", kind.results)):
            entries = main.attributes[name] if name in main.attributes else [{}] * len(types)
            tensors = [pair for pair in zip(entries, types, strict=True) if _is_ranked(pair[1])]
            for number, (entry, each) in enumerate(tensors):
                found[f"{side} {number}"] = self._said(entry, [each])
        for op, _ in _inside(main):
            place = _PLACE.search(str(op.location))
            if place is not None and self._is_laid_out(op):
                found[f"{place[1]}:{place[2]} {op.name}"] = self._said(
                    op.attributes, [each.type for each in op.results]
                )
        return found

    def closed(self) -> str:
        """The program with its layouts as closed annotations of all values."""
        for function in self._functions():
            kind = self.ir.TypeAttr(function.attributes["function_type"]).value
            for name, types in (("arg_attrs", kind.inputs), ("res_attrs", kind.results)):
                entries = function.attributes[name] if name in function.attributes else [{}] * len(types)
                pairs = zip(entries, types, strict=True)
                function.attributes[name] = self.ir.ArrayAttr.get([self._entry(*pair) for pair in pairs])
            for op, reduces in list(_inside(function)):
                self._close(op, reduces)
        return str(self.module)

    def _functions(self) -> list[Any]:
        return [op.operation for op in self.module.body.operations if op.operation.name == "func.func"]

    def _is_laid_out(self, op: Any) -> bool:
        ours = op.name.startswith(("stablehlo.", "chlo.", "func.call"))
        return ours and len(op.results) > 0 and all(_is_ranked(result.type) for result in op.results)

    def _said(self, attributes: Any, types: Sequence[Any]) -> list[Dims]:
        if SHARDING in attributes:
            return dims_of(str(attributes[SHARDING]))
        return [((),) * self.ir.RankedTensorType(each).rank for each in types]

    def _whole(self, kind: Any) -> str:
        declared = [op.operation for op in self.module.body.operations if op.operation.name == "sdy.mesh"]
        named = next(op for op in declared if re.search(r'"\s*=\s*\d', str(op)))
        dims = ", ".join(["{}"] * self.ir.RankedTensorType(kind).rank)
        return f"<@{named.attributes['sym_name'].value}, [{dims}]>"

    def _entry(self, entry: Any, kind: Any) -> Any:
        said = {} if isinstance(entry, dict) else {each.name: each.attr for each in entry}
        if _is_ranked(kind):
            text = _shut(str(said[SHARDING])) if SHARDING in said else f"#sdy.sharding{self._whole(kind)}"
            said[SHARDING] = self.ir.Attribute.parse(text)
        return self.ir.DictAttr.get(said)

    def _close(self, op: Any, reduces: bool) -> None:
        if op.name in ("sdy.sharding_group", "sdy.propagation_barrier"):
            if len(op.results):
                op.results[0].replace_all_uses_with(op.operands[0])
            op.erase()
            return
        if self._is_laid_out(op) and not reduces:
            told = ", ".join(self._whole(result.type) for result in op.results)
            text = str(op.attributes[SHARDING]) if SHARDING in op.attributes else f"#sdy.sharding_per_value<[{told}]>"
            op.attributes[SHARDING] = self.ir.Attribute.parse(_shut(text))
        for name in ("sharding", "in_shardings", "out_shardings"):
            if name in op.attributes:
                op.attributes[name] = self.ir.Attribute.parse(_shut(str(op.attributes[name])))


def _is_ranked(kind: Any) -> bool:
    return str(kind).startswith("tensor<") and not str(kind).startswith("tensor<*")


def _inside(op: Any, reduces: bool = False) -> Iterator[tuple[Any, bool]]:
    """The ops in the regions of one, and whether they are what a reduction does with two elements."""
    for region in op.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation, reduces
                yield from _inside(inner.operation, reduces or inner.operation.name in REDUCERS)


def _shut(text: str) -> str:
    """A sharding that nothing can be added to."""
    return re.sub(r"(?:, )?\?\}", "}", re.sub(r"\}p\d+", "}", re.sub(r", replicated=\{[^{}]*\}", "", text)))


def _ours(module: ModuleOp) -> Layouts:
    main = entry_function(module)
    found: defaultdict[str, list[Dims]] = defaultdict(list[Dims])
    last = main.get_return_op()
    assert last is not None
    for side, values in (("argument", main.args), ("result", last.operands)):
        for number, value in enumerate(values):
            found[f"{side} {number}"].append(_dims(value))
    for op in main.walk():
        if isinstance(place := op.location, FileLineColLoc) and all(
            isinstance(each.type, TensorType) for each in op.results
        ):
            found[f"{place.line.data}:{place.column.data} {op.name}"] += map(_dims, op.results)
    return found


def _dims(value: SSAValue) -> Dims:
    spec = layout_of(value)
    return ((),) * len(shape_of(value)) if spec is None else tuple(tuple(map(str, axes)) for axes in spec.dims)


def _sent(stage: Partitioned) -> float:
    """What a device sends, with one round of loops whose rounds nobody knows."""
    if stage.predicted_bytes is not None:
        return float(stage.predicted_bytes)
    return float(sum(row.bytes_per_device or 0 for row in stage.predicted))


def compared(text: str, passes: Sequence[str], row: Beside) -> None:
    """Fills in what one program gives."""
    try:
        theirs = Theirs(text, passes)
    except Exception:  # MLIR's errors are of a class of its own, which cannot be imported without jaxlib
        row.state = "not read by Shardy"
        return
    try:
        stage = read_module(parse_module(text, "-"), "-", BACKEND).propagate()
        row.ours = _sent(stage.partition())
    except ShardwrightError as error:
        row.state = error.diagnostics[0].code
        return
    ours = _ours(stage.module)
    for place, dims in theirs.layouts.items():
        pairs = list(zip(dims, ours[place], strict=True)) if len(ours.get(place, ())) == len(dims) else []
        row.values += len(pairs)
        row.differing += [(place, their, our) for their, our in pairs if their != our]
    row.state = "differs" if row.differing else "agrees"
    try:
        row.theirs = _sent(read_module(parse_module(theirs.closed(), "-"), "-", BACKEND).partition())
    except (ShardwrightError, StopIteration):  # it is on no mesh
        row.theirs = None


def rows(folder: Path) -> Iterator[Beside]:
    """Each function of the tests of propagation, but for those that others call."""
    mlir: Any = import_module("jax._src.interpreters.mlir")
    for path in sorted((folder / "transforms" / "propagation" / "test").glob("*.mlir")):
        if "registry" in path.name:
            continue
        for number, part in enumerate(parts_of(path)):
            table = functions(without_comments(part))
            called = {name for each in table for name in reached(table, each)[1:]}
            for name, function in table.items() if "expected-error" not in part else ():
                if not (function.is_private and name in called):
                    row = Beside(path.name, number, name)
                    with mlir.make_ir_context():
                        compared(program(part, name), passes_of(path.read_text()), row)
                    yield row


def summary(found: Iterable[Beside]) -> Iterator[str]:
    """How many agree, and how many send less, as much or more."""
    counts = Counter((row.state, _against(row)) for row in found)
    for (state, sent), count in sorted(counts.items()):
        yield f"{count:6} {state:20} {sent}"


def _against(row: Beside) -> str:
    if row.ours is None or row.theirs is None:
        return ""
    return "fewer bytes" if row.ours < row.theirs else "more bytes" if row.ours > row.theirs else "as many bytes"


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="shardy_layouts", description=str(__doc__).strip().split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="shardy/dialect/sdy of Shardy's sources")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write each function there")
    options = parser.parse_args(arguments)
    register_custom_call("sdy_testonly", None)
    found = list(rows(options.folder))
    print("\n".join(summary(found)))
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(row) for row in found], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
