"""The generated pages, and what gives the text of each."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from shardwright.docs.generators.coverage import coverage
from shardwright.docs.generators.errors import error_index
from shardwright.docs.generators.graph_ops import graph_index
from shardwright.docs.generators.rules import rule_index

DOCS = Path(__file__).resolve().parents[1]

PAGES: dict[Path, Callable[[], str]] = {
    DOCS / "coverage.md": coverage,
    DOCS / "errors.md": error_index,
    DOCS / "graph-ops.md": graph_index,
    DOCS / "rules.md": rule_index,
}
