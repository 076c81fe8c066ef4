"""The passes by name; each module loads when its pass is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module

from xdsl.passes import ModulePass

__all__ = ["all_passes"]

_CLASSES = {
    "decompose": "decomposing.decompose.DecomposePass",
    "import-sdy": "importing.import_sdy.ImportSdyPass",
    "inline": "importing.inline.InlinePass",
    "expand-gradients": "decomposing.expand_gradients.ExpandGradientsPass",
    "hoist-invariants": "canonical.hoist_invariants.HoistInvariantsPass",
    "canonicalize": "canonical.canonicalize.CanonicalizePass",
    "cse": "canonical.cse.CsePass",
    "dce": "canonical.dce.DcePass",
    "propagate-layouts": "propagation.propagate_layouts.PropagateLayoutsPass",
    "insert-relayouts": "propagation.insert_relayouts.InsertRelayoutsPass",
    "lower-relayouts": "collectives.lower_relayouts.LowerRelayoutsPass",
    "optimize-collectives": "collectives.optimize_collectives.OptimizeCollectivesPass",
    "localize": "collectives.localize.LocalizePass",
    "verify-locations": "verify_locations.VerifyLocationsPass",
}


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """
    Every pass by its kebab-case name, as a function that imports and returns its class.

    >>> all_passes()["dce"]().name
    'dce'
    """
    return {name: _loader(name) for name in _CLASSES}


def _loader(name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        module, _, kind = _CLASSES[name].rpartition(".")
        return getattr(import_module(f"{__name__}.{module}"), kind)

    return load
