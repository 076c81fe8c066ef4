"""The programs of the corpus: what one is, and which there are, read from the text so that no library is imported."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LIBRARIES = {
    "linen": "flax.linen",
    "nnx": "flax.nnx",
    "haiku_nets": "haiku",
    "equinox_nets": "equinox",
    "keras_models": "keras",
    "optax_rules": "optax",
    "diffrax_solves": "diffrax",
    "optimistix_solves": "optimistix",
}
"""The modules of this folder that hold programs, each with the library that its models are of."""


@dataclass(frozen=True)
class Training:
    """
    One step of training as its user writes it: a function of a state and a batch, trees of arrays, and both.

    Floating numbers are of `dtype`: float64 wherever a library lets us, so that rounding is far below any mistake. The
    function returns the next state, the loss and the gradients: an optimiser such as Adam would hide a gradient that
    is wrong by a factor. `rounds` is how often loops turn whose length depends on data; `amplified` by how much rounding
    grows beyond its sum along the longest path, and a comment at each use says why.
    """

    function: Callable[[Any, Any], Any]
    state: Any
    batch: Any
    rounds: int = 1
    amplified: float = 1.0
    dtype: str = "float64"


def programs() -> list[tuple[str, str]]:
    """The module and the name of each program: a public function whose result is a `Training`."""
    found: list[tuple[str, str]] = []
    for module in LIBRARIES:
        tree = ast.parse((Path(__file__).parent / f"{module}.py").read_text())
        functions = (node for node in tree.body if isinstance(node, ast.FunctionDef) and node.returns is not None)
        found += [
            (module, node.name)
            for node in functions
            if not node.name.startswith("_") and ast.unparse(node.returns or node) == "Training"
        ]
    return found
