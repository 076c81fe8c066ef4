"""Networks of equinox, optimisers of optax, solves of diffrax and optimistix in each layout, against JAX."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.catalogue import programs
from corpus.checking import LAYOUTS, check

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    ("module", "name"), programs("equinox_nets", "optax_rules", "diffrax_solves", "optimistix_solves")
)
def test_steps(module: str, name: str, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(module, name, layout, tmp_path, capsys)
