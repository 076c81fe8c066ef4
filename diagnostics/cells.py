"""Cells of notebooks: Python calls them files that are nowhere, people call them by the numbers beside them."""

from __future__ import annotations

import linecache
import sys
from typing import Any

__all__ = ["cell_name", "cell_text", "in_notebook", "shell"]


def shell() -> Any:
    """IPython's shell where this runs in one; else None."""
    return getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()


def in_notebook() -> bool:
    """Whether a kernel runs this, which shows what a cell ends with; having one installed or loaded says nothing."""
    return hasattr(shell(), "kernel")


def cell_name(file: str) -> str | None:
    """
    What IPython shows beside the cell that was compiled as `file`, such as `In[3]`; None for what is no cell.

    >>> cell_name("train.py") is None
    True
    """
    named = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    found = named(file) if named else None
    return found[1] if found else None


def cell_text(file: str) -> str | None:
    """The text of the cell that was compiled as `file`; None for what is no cell."""
    if cell_name(file) is None or file not in linecache.cache:
        return None
    return "".join(linecache.getlines(file))
