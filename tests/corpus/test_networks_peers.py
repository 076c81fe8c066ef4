"""Networks of flax, haiku and Keras in each layout, trained for one step, against JAX on one device."""

from __future__ import annotations

from pathlib import Path

import pytest

from corpus.catalogue import programs
from corpus.checking import LAYOUTS, check

pytestmark = pytest.mark.peers


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("module", "name"), programs("linen", "nnx", "haiku_nets", "keras_models"))
def test_steps(module: str, name: str, layout: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    check(module, name, layout, tmp_path, capsys)
