"""What a local function says of what it gives, and results that are whole where it leaves them in parts."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp

from shardwright.dialects.dtensor import AllReduceOp
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.layout.spec import LayoutSpec

LAYOUT = "dtensor.layout"
"""Under which name a local function says how what it takes and gives is split."""


def with_whole_results(local: ModuleOp) -> ModuleOp:
    """A local program whose partial results are combined before they leave it, by its own arithmetic."""
    if not any(spec is not None and spec.partial for spec in map(layout_in, _entries(_main(local)))):
        return local
    local = local.clone()
    main, entries = _main(local), list[DictionaryAttr]()
    block = main.body.block
    end = block.last_op
    assert end is not None
    for place, entry in enumerate(_entries(main)):
        spec, value = layout_in(entry), end.operands[place]
        if spec is not None and spec.partial:
            whole = AllReduceOp([value], [value.type], spec.mesh, spec.partial, spec.kind)
            block.insert_op_before(whole, end)
            end.operands[place] = whole.results[0]
            entry = DictionaryAttr({**entry.data, LAYOUT: LayoutAttr(spec.with_partial((), ""))})
        entries.append(entry)
    main.properties["res_attrs"] = ArrayAttr(entries)
    return local


def _entries(main: FuncOp) -> Sequence[DictionaryAttr]:
    """What a local function says of its results."""
    return main.res_attrs.data if main.res_attrs is not None else ()


def layout_in(entry: DictionaryAttr) -> LayoutSpec | None:
    """The layout of an argument or a result, if it is said."""
    found = entry.data.get(LAYOUT)
    return found.data if isinstance(found, LayoutAttr) else None


def _main(local: ModuleOp) -> FuncOp:
    return next(op for op in local.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
