"""A pass that writes into the module how many ops of each kind it has."""

from collections import Counter

from xdsl.context import Context
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from shardwright.passes import add_pass


class CountOpsPass(ModulePass):
    """Counts the ops of each kind, as the module's attribute `ramp.ops`."""

    name = "count-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Counts them."""
        counts = Counter(each.name for each in op.walk() if each is not op)
        op.attributes["ramp.ops"] = DictionaryAttr({name: IntegerAttr(counts[name], i64) for name in sorted(counts)})


add_pass(CountOpsPass)
