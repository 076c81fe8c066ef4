"""The local hook of roll: where a dim is whole, its end and then its beginning."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from shardwright.dialects.dtensor.roll import RollOp, spell_out
from shardwright.rules.local.hooks import HOOKS, Local


def _roll(op: RollOp, local: Local) -> Sequence[SSAValue]:
    """Slices and a concatenation take its place: it is no op of the local stage."""
    return [spell_out(op, local.insert)]


HOOKS["dtensor.roll"] = _roll
