"""The named pipelines, and the one function that runs passes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp

from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.dialects import make_context
from shardwright.dialects.text.verify import verify_module
from shardwright.passes import all_passes
from shardwright.passes.stages import verify_recorded_stage

IMPORT = ("decompose", "import-sdy", "inline", "expand-gradients", "hoist-invariants", "canonicalize", "cse", "dce")
PROPAGATE = ("propagate-layouts",)
ALIGN = ("insert-relayouts",)
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


@dataclass(frozen=True)
class PassTime:
    """How long one pass took."""

    name: str
    seconds: float


Observer = Callable[[str, ModuleOp], None]
"""Called with a pass' name and the module, after the pass."""


def run_pipeline(
    module: ModuleOp, names: Iterable[str], *, verify_each: bool = False, observer: Observer | None = None
) -> list[PassTime]:
    """
    Runs passes and pipelines, by name, over `module`, in place; returns each pass' time.

    `verify_each` verifies the ops and the recorded stage after each pass. Raises SW0705 for an unknown name.

    >>> run_pipeline(ModuleOp([]), ["cse", "dce"])[1].name
    'dce'
    """
    context, times = make_context(), list[PassTime]()
    with collector_paused():
        for name in _flatten(names):
            pass_class = all_passes()[name]()  # loaded before the clock starts
            started = time.perf_counter()
            pass_class().apply(context, module)
            times.append(PassTime(name, time.perf_counter() - started))
            if verify_each:
                verify_module(module)
                verify_recorded_stage(module)
            if observer is not None:
                observer(name, module)
    return times


@contextmanager
def collector_paused() -> Generator[None]:
    """Without Python's cycle collector: the IR is full of cycles that all live, and looking for dead ones is dear."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _flatten(names: Iterable[str]) -> list[str]:
    passes: list[str] = []
    for name in names:
        passes += PIPELINES.get(name, (name,))
    unknown = [name for name in passes if name not in all_passes()]
    if unknown:
        known = ", ".join([*PIPELINES, *all_passes()])
        raise ShardwrightValueError(
            Diagnostic("SW0705", f"there is no pass or pipeline {unknown[0]!r}", help=f"choose from {known}")
        )
    return passes
