"""The named pipelines, and the one function that runs passes."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.compiler.checking import verify_ours
from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.diagnostics.telling import counted
from shardwright.dialects import make_context
from shardwright.passes import all_passes, following

_LOG = logging.getLogger("shardwright.passes")

WITHOUT_CALLBACKS = ("drop-tokens", "drop-callbacks")
"""What takes calls back into Python out of a program, where its results do not depend on them."""

READ = ("drop-tokens", "close-regions", "settle-calls", "import-sdy")
"""What a program as somebody else wrote it goes through before it is looked at."""

COMPOSED = ("drop-tokens", "close-regions", "settle-calls", "decompose")
IMPORT = (
    *COMPOSED, "import-sdy", "inline", "expand-gradients", "hoist-invariants", "canonicalize", "cse", "dce",
)  # fmt: skip
PROPAGATE = ("pad-uneven", "propagate-layouts", "fit-borders")
ALIGN = (
    "insert-relayouts", "split-searches", "stream-products", "recompute-values", "release-copies", "stream-products",
)  # fmt: skip
PLAN = ("lower-relayouts", "optimize-collectives")
LOCALIZE = ("localize",)

PIPELINES: dict[str, tuple[str, ...]] = {
    "import": IMPORT,
    "propagate": IMPORT + PROPAGATE,
    "align": IMPORT + PROPAGATE + ALIGN,
    "plan": IMPORT + PROPAGATE + ALIGN + PLAN,
    "partition": IMPORT + PROPAGATE + ALIGN + PLAN + LOCALIZE,
}
"""Each pipeline by name, down to the stage in which it leaves the program."""

LEAVING = frozenset({PLAN[-1], LOCALIZE[-1]})
"""The passes after which a program may leave the compiler: then it is verified, whoever asked for it."""


@dataclass(frozen=True)
class PassTime:
    """How long one pass took."""

    name: str
    seconds: float


Observer = Callable[[str, ModuleOp], None]
"""Called with a pass' name and the module, after the pass."""


def run_pipeline(
    module: ModuleOp,
    names: Iterable[str],
    *,
    verify_each: bool = False,
    leaving: bool = True,
    observer: Observer | None = None,
) -> list[PassTime]:
    """
    Runs passes and pipelines, by name, over `module`, in place; returns each pass' time.

    The planned and the local program are verified, ops and stage, unless they are not `leaving` the compiler but are
    counted and thrown away; with `verify_each`, what each pass makes. Raises SW0317 for what is found wrong, SW0705
    for an unknown name.

    >>> run_pipeline(ModuleOp([]), ["cse", "dce"])[1].name
    'dce'
    """
    context, known, times = make_context(), all_passes(), list[PassTime]()
    with collector_paused():
        for name in counted("compiling", _flatten(names, known)):
            pass_class = known[name]()  # loaded before the clock starts
            started = time.perf_counter()
            pass_class().apply(context, module)
            times.append(PassTime(name, time.perf_counter() - started))
            _LOG.info("%s: %.1f ms", name, times[-1].seconds * 1000)
            if _LOG.isEnabledFor(logging.DEBUG):  # the count walks the module
                _LOG.debug("%s: %d ops", name, sum(1 for _ in module.walk()))
            if verify_each or (leaving and name in LEAVING):
                verify_ours(module, name)
            if observer is not None:
                observer(name, module)
    return times


def _flatten(names: Iterable[str], known: Collection[str]) -> list[str]:
    given = [each for name in names for each in PIPELINES.get(name, (name,))]
    passes = [each for name in given for each in (name, *following(name))]
    unknown = [name for name in passes if name not in known]
    if unknown:
        help_text = f"choose from {', '.join([*PIPELINES, *known])}"
        raise ShardwrightValueError(
            Diagnostic("SW0705", f"there is no pass or pipeline {unknown[0]!r}", help=help_text)
        )
    return passes
