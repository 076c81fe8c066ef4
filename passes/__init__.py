"""The passes by name; each module loads when its pass is first asked for."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module

from xdsl.passes import ModulePass

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.suggestions import propose
from shardwright.plugins import extend, load_plugins

__all__ = ["add_pass", "all_passes", "following"]

_CLASSES = {
    "drop-tokens": "importing.tokens.DropTokensPass",
    "drop-callbacks": "importing.callbacks.DropCallbacksPass",
    "close-regions": "importing.close_regions.CloseRegionsPass",
    "settle-calls": "importing.settle_calls.SettleCallsPass",
    "decompose": "decomposing.decompose.DecomposePass",
    "import-sdy": "importing.import_sdy.ImportSdyPass",
    "inline": "importing.inline.InlinePass",
    "expand-gradients": "decomposing.expand_gradients.ExpandGradientsPass",
    "hoist-invariants": "canonical.hoist_invariants.HoistInvariantsPass",
    "canonicalize": "canonical.canonicalize.CanonicalizePass",
    "cse": "canonical.cse.CsePass",
    "dce": "canonical.dce.DcePass",
    "choose-layouts": "choosing.choose_layouts.ChooseLayoutsPass",
    "pad-uneven": "padding.pad_uneven.PadUnevenPass",
    "propagate-layouts": "propagation.propagate_layouts.PropagateLayoutsPass",
    "fit-borders": "padding.fit_borders.FitBordersPass",
    "insert-relayouts": "propagation.insert_relayouts.InsertRelayoutsPass",
    "split-searches": "collectives.split_searches.SplitSearchesPass",
    "release-copies": "collectives.release_copies.ReleaseCopiesPass",
    "stream-products": "collectives.stream_products.StreamProductsPass",
    "recompute-values": "collectives.recompute_values.RecomputeValuesPass",
    "lower-relayouts": "collectives.lower_relayouts.LowerRelayoutsPass",
    "optimize-collectives": "collectives.optimize_collectives.OptimizeCollectivesPass",
    "localize": "collectives.localize.LocalizePass",
    "verify-locations": "verify_locations.VerifyLocationsPass",
}


_ADDED: dict[str, type[ModulePass]] = {}
_FOLLOWING: dict[str, list[str]] = {}
"""What plugins added, and what runs after each pass because of them."""


def add_pass(added: type[ModulePass], *, after: str | None = None) -> None:
    """
    Lets `-p` name a pass from outside, and has it run after one of ours wherever that runs.

    Raises SW0732 where there is another pass of its name, or none that is called `after`.

    >>> class NothingPass(ModulePass):
    ...     name = "nothing"
    ...     def apply(self, ctx, op):
    ...         pass
    >>> add_pass(NothingPass, after="cse")
    >>> all_passes()["nothing"]() is NothingPass, following("cse")
    (True, ('nothing',))
    >>> del _ADDED["nothing"], _FOLLOWING["cse"]
    """
    known = {*_CLASSES, *_ADDED}
    if added.name in known:
        raise ShardwrightError(Diagnostic("SW0732", f"there is a pass '{added.name}' already"))
    if after is not None:
        if after not in known:
            help_text = propose(after, known, "shardwright-opt --list-passes lists them")
            raise ShardwrightError(Diagnostic("SW0732", f"'{added.name}' cannot run after '{after}'", help=help_text))
        _FOLLOWING.setdefault(after, []).append(added.name)
    extend()
    _ADDED[added.name] = added


def following(name: str) -> tuple[str, ...]:
    """The passes from outside that run after a pass."""
    return tuple(_FOLLOWING.get(name, ()))


def all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """
    Every pass by its kebab-case name, as a function that imports and returns its class.

    >>> all_passes()["dce"]().name
    'dce'
    """
    load_plugins()
    return {name: _loader(name) for name in _CLASSES} | {name: partial(_itself, _ADDED[name]) for name in _ADDED}


def _itself(added: type[ModulePass]) -> type[ModulePass]:
    return added


def _loader(name: str) -> Callable[[], type[ModulePass]]:
    def load() -> type[ModulePass]:
        module, _, kind = _CLASSES[name].rpartition(".")
        return getattr(import_module(f"{__name__}.{module}"), kind)

    return load
