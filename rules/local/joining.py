"""The local hook of roll: where a dim is whole, its end and then its beginning."""

from __future__ import annotations

from xdsl.ir import Operation

from shardwright.dialects.dtensor.roll import RollOp, spell_out
from shardwright.rules.local.hooks import HOOKS, Local


def _roll(op: Operation, local: Local) -> None:
    """Slices and a concatenation take its place: it is no op of the local stage."""
    assert isinstance(op, RollOp)
    result = spell_out(op, local.insert)
    result.name_hint = op.results[0].name_hint
    op.results[0].replace_all_uses_with(result)
    assert op.parent is not None
    op.parent.erase_op(op)


HOOKS["dtensor.roll"] = _roll
