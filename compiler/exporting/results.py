"""Results that leave a local program whole, where it leaves them in parts: for who knows no partial results."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.dialects.dtensor import AllReduceOp
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.stages import LAYOUT_ARGUMENT


def layout_in(entry: DictionaryAttr) -> LayoutSpec | None:
    """The layout of an argument or a result of a local function, if it is said."""
    found = entry.data.get(LAYOUT_ARGUMENT)
    return found.data if isinstance(found, LayoutAttr) else None


def with_whole_results(local: ModuleOp) -> ModuleOp:
    """A local program that gives whole results, combined by its own arithmetic; itself where it does."""
    if not _leaves_parts(entry_function(local)):
        return local
    found = local.clone()
    finish_results(entry_function(found))
    return found


def _entries(function: FuncOp) -> Sequence[DictionaryAttr]:
    """What a local function says of its results."""
    return function.res_attrs.data if function.res_attrs is not None else ()


def _leaves_parts(function: FuncOp) -> bool:
    return any(spec is not None and spec.partial for spec in map(layout_in, _entries(function)))


def finish_results(function: FuncOp) -> None:
    """Combines what a local function gives in parts before it leaves it, in place."""
    if not _leaves_parts(function):
        return
    block, finished = function.body.block, list[DictionaryAttr]()
    end = block.last_op
    assert end is not None
    for place, entry in enumerate(_entries(function)):
        spec, value = layout_in(entry), end.operands[place]
        if spec is not None and spec.partial:
            whole = AllReduceOp([value], [value.type], spec.mesh, spec.partial, spec.kind)
            whole.location = end.location
            block.insert_op_before(whole, end)
            end.operands[place] = whole.results[0]
            entry = DictionaryAttr({**entry.data, LAYOUT_ARGUMENT: LayoutAttr(spec.with_partial((), ""))})
        finished.append(entry)
    function.properties["res_attrs"] = ArrayAttr(finished)
