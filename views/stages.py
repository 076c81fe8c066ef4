"""Which views a stage of a program has; each is loaded when it is asked for."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardwright.compiler.stages import Partitioned, PartitionedSegments
from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.caller import caller
from shardwright.views.limits import ACTIVE

if TYPE_CHECKING:
    from pathlib import Path

    from shardwright.compiler.stages import Compiled
    from shardwright.layout import Topology
    from shardwright.views.explanation.explanation import Explanation
    from shardwright.views.explanation.what_if import Comparison
    from shardwright.views.pricing import Price


class StageViews:
    """The views of stages, as `compiler.stages.Views` wants them; see `docs/decisions/0026-views.md`."""

    def explain(self, stage: Partitioned) -> Explanation:
        """What is sent, why, and for which line."""
        from shardwright.views.explanation.explanation import Explanation

        return Explanation(stage.planned, stage.interface.name)

    @property
    def limited(self) -> bool:
        """Whether blocks around set limits."""
        return bool(ACTIVE.get())

    def allow(self, stage: Partitioned, peak_bytes: Callable[[], int]) -> None:
        """Refuses a program that breaks the limits of the blocks around: SW0580, SW0581."""
        for limits in ACTIVE.get():
            from shardwright.views.explanation.judging import broken, broken_on_several

            if isinstance(stage, PartitionedSegments):
                found = broken_on_several(limits, stage, peak_bytes)
            else:
                found = broken(limits, stage.planned, stage.interface.name, peak_bytes)
            if found:
                raise ShardwrightValueError(replace(each, location=each.location or caller()) for each in found)

    def what_if(
        self,
        stage: Partitioned,
        without: Sequence[str] = (),
        layouts: Mapping[str, str] | None = None,
        mesh: Mapping[str, int] | None = None,
    ) -> Comparison:
        """What the program would send and hold if it were written otherwise."""
        from shardwright.views.explanation.explanation import Explanation
        from shardwright.views.explanation.what_if import what_if

        file = Explanation(stage.planned, stage.interface.name).file
        return what_if(stage.traced.module, stage.backend, without, layouts, mesh, file)

    def price(self, stage: Partitioned, topology: Topology | None) -> Price:
        """What a run costs each device."""
        from shardwright.views.pricing import price_of

        return price_of(stage, topology)

    def report(self, stage: Partitioned, path: str | Path, compiled: Compiled | None = None) -> None:
        """Writes a page about a program."""
        from shardwright.serialization.files.text import write_atomically
        from shardwright.views.report.page import report_page

        _check_path(path)
        write_atomically(path, report_page(stage, compiled))


def _check_path(path: object) -> None:
    if not isinstance(path, str | os.PathLike):
        message = f"cannot write {path!r}: a page's path is a text or a pathlib.Path"
        raise ShardwrightTypeError(Diagnostic("SW0704", message, help="give the path first: report('page.html')"))
