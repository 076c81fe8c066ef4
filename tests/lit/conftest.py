"""Lit files as pytest items, run in this process."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from in_process import RunFailure, run_file


class LitItem(pytest.Item):
    """One `.mlir` file: all its RUN lines."""

    def runtest(self) -> None:
        """Execute the RUN lines."""
        with tempfile.TemporaryDirectory(prefix="shardwright-lit-") as scratch:
            run_file(self.path, Path(scratch))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> object:
        """The shell's account, without a Python traceback."""
        if isinstance(excinfo.value, RunFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where the item comes from."""
        return self.path, 0, self.name


class LitFile(pytest.File):
    """The collector of one file."""

    def collect(self) -> Iterator[LitItem]:
        """One item per file."""
        yield LitItem.from_parent(self, name="RUN")


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> LitFile | None:
    """Collect every `.mlir` file below this folder, except those in folders named `Inputs`."""
    if file_path.suffix != ".mlir" or "Inputs" in file_path.parts:
        return None
    return LitFile.from_parent(parent, path=file_path)
