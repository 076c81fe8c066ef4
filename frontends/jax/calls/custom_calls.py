"""Custom calls of users: what they mean for layouts, and the function that computes them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from shardwright.compiler.tracing.settings import settled
from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.dialects.stablehlo.calls.custom_calls import lapack_routine
from shardwright.passes.decomposing.custom_calls import CALLS as DECOMPOSED, PARTITIONING
from shardwright.plugins import extend
from shardwright.rules.families.custom_calls import CALLS
from shardwright.rules.sharding import row_of
from shardwright.runtime.kernels.custom_calls import FUNCTIONS


@settled
def register_custom_call(
    name: str,
    rule: str | None,
    kernel: Callable[..., Any] | None = None,
    *,
    linear: Sequence[tuple[int, ...]] = (),
    **kinds: str,
) -> None:
    """
    Says how the custom call `name` may be split, and what computes it on each device.

    `rule` names the dims of its operands and results as a row of the sharding table does (`"i k, k j -> i j"` with
    `k="sum"`, `linear=[(0,), (1,)]`: `docs/adding-an-op.md`); None takes the `sdy.sharding_rule` that the program
    gives the call, and without one nothing is split. `kernel` takes each device's part of each operand, as arrays of
    the engine (NumPy's, or CuPy's), what the call's configuration says as keywords, and gives each device's part of
    each result, several in a tuple. Without it the program can be partitioned, explained and exported, not run. Raises
    `ValueError` (SW0402) for a rule that cannot be read, and (SW0435) for the name of a call that is built in.

    >>> import shardwright, numpy
    >>> shardwright.register_custom_call("my.softsign", "i j -> i j", lambda x: x / (1 + abs(x)))
    """
    if name in DECOMPOSED or name in PARTITIONING or lapack_routine(name) is not None:
        message, help_text = f"the custom call @{name} is built in", "give yours another name"
        raise ShardwrightValueError(Diagnostic("SW0435", message, help=help_text))
    row = None if rule is None else row_of(f"@{name}", rule, linear, (), kinds)
    extend()
    CALLS[name] = row
    FUNCTIONS.pop(name, None)
    if kernel is not None:
        FUNCTIONS[name] = kernel
