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
"""The modules of `libraries/` that hold programs, each with the library that its models are of."""


@dataclass(frozen=True)
class Training:
    """
    One step of training as its user writes it: a function of a state and a batch, trees of arrays, and both.

    The function returns the next state, the loss and the gradients: an optimiser such as Adam would hide that a
    gradient is wrong by a factor. Where a gradient is zero but for rounding, as that of the bias of attention's keys,
    such an optimiser has an eps as large as its rate: divided by less, the update would be rounding alone.

    Floating numbers are of `dtype`: float64 wherever a library lets us, so that rounding is far below any mistake.
    `rounds` is how often loops turn whose length depends on data. `minimum`: the result is where a function is least,
    as far as its values tell. Near there they change by the square of the distance, so the place is known to the square
    root of rounding only, for JAX as for us. `refused` is the code by which we refuse the program, if we do.
    """

    function: Callable[[Any, Any], Any]
    state: Any
    batch: Any
    rounds: int = 1
    minimum: bool = False
    dtype: str = "float64"
    refused: str | None = None


def programs(*modules: str) -> list[tuple[str, str]]:
    """The programs of some modules, each as module and name: the public functions whose result is a `Training`."""
    found: list[tuple[str, str]] = []
    for module in modules:
        tree = ast.parse((Path(__file__).parent / "libraries" / f"{module}.py").read_text())
        functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
        found += [
            (module, node.name)
            for node in functions
            if not node.name.startswith("_") and node.returns is not None and ast.unparse(node.returns) == "Training"
        ]
    return found
