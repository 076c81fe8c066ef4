"""Which views a stage of a program has; each is loaded when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from shardwright.compiler.stages import Partitioned
    from shardwright.views.explanation.explanation import Explanation


class StageViews:
    """The views of stages, as `compiler.stages.Views` wants them; see `docs/decisions/0026-views.md`."""

    def explain(self, stage: Partitioned) -> Explanation:
        """What is sent, why, and for which line."""
        from shardwright.views.explanation.explanation import Explanation

        return Explanation(stage.planned)
