"""Whether the packages that Shardwright names are there, in versions that it works with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, requires, version

from packaging.requirements import Requirement

from shardwright.diagnostics import ShardwrightError
from shardwright.plugins import load_plugins, plugins
from shardwright.tools.health.findings import Finding

EXTRAS = {
    "jax": "programs from JAX, shardwright.jax.jit, meshes on JAX's devices, MLIR bytecode",
    "keras": "Keras models",
    "cupy": "GPUs",
    "solver": "shardwright solve on networks that are too wide for elimination",
    "mpi": "several processes: shardwright launch, Workers",
    "ray": "workers of a Ray cluster",
    "storage": "saving programs and messages",
    "checkpoints": "checkpoints",
}
"""What users install for what; the other extras are for developing Shardwright itself."""


def packages() -> list[Finding]:
    """The packages without which nothing works, and those of each extra."""
    try:
        named = [Requirement(line) for line in requires("shardwright") or ()]
    except PackageNotFoundError:
        return [Finding("packages", "wrong", "shardwright runs from a source tree", "pip install --editable .")]
    return found_packages(named, _Installed())


def plugins_found() -> Iterator[Finding]:
    """The plugins of other packages, if there are any: whether they load."""
    named = ", ".join(plugin.name for plugin in plugins())
    if not named:
        return
    try:
        load_plugins()
    except ShardwrightError as error:
        found = error.diagnostics[0]
        yield Finding("plugins", "wrong", found.message, found.help)
    else:
        yield Finding("plugins", "ok", named)


def found_packages(named: Iterable[Requirement], installed: Mapping[str, str]) -> list[Finding]:
    """
    The same for given requirements and versions.

    >>> named = [Requirement("numpy>=2.0"), Requirement("ray>=2.50; extra == 'ray'")]
    >>> [(each.about, each.state, each.seen) for each in found_packages(named, {"numpy": "1.26"})]
    [('packages', 'wrong', 'numpy 1.26, but >=2.0 is needed'), ('extra ray', 'absent', 'no ray')]
    """
    named = list(named)
    needed = [each for each in named if each.marker is None or each.marker.evaluate({"extra": ""})]
    return [_needed(needed, installed), *_extras(named, needed, installed)]


class _Installed(Mapping[str, str]):
    """The version of each package that is installed."""

    def __getitem__(self, name: str) -> str:
        try:
            return version(name)
        except PackageNotFoundError:
            raise KeyError(name) from None

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def _needed(needed: list[Requirement], installed: Mapping[str, str]) -> Finding:
    faults = [*_missing(needed, installed), *_unfit(needed, installed)]
    if faults:
        return Finding("packages", "wrong", "; ".join(faults), "pip install --upgrade shardwright")
    return Finding("packages", "ok", ", ".join(f"{each.name} {installed[each.name]}" for each in needed))


def _extras(named: list[Requirement], needed: list[Requirement], installed: Mapping[str, str]) -> Iterator[Finding]:
    for extra, use in EXTRAS.items():
        wanted = [each for each in _of_extra(extra, named) if each not in needed]
        if not wanted:
            continue
        install = f"pip install 'shardwright[{extra}]'"
        if unfit := _unfit(wanted, installed):
            yield Finding(f"extra {extra}", "wrong", "; ".join(unfit), install)
        elif missing := _missing(wanted, installed):
            yield Finding(f"extra {extra}", "absent", ", ".join(missing), f"for {use}: {install}")
        else:
            yield Finding(f"extra {extra}", "ok", ", ".join(f"{each.name} {installed[each.name]}" for each in wanted))


def _of_extra(extra: str, named: list[Requirement]) -> Iterator[Requirement]:
    """What an extra asks for, and what the extras of ours that it names ask for."""
    for each in named:
        if each.marker is None or not each.marker.evaluate({"extra": extra}):
            continue
        if each.name == "shardwright":
            for inner in each.extras:
                yield from _of_extra(inner, named)
        else:
            yield each


def _missing(wanted: list[Requirement], installed: Mapping[str, str]) -> list[str]:
    return [f"no {each.name}" for each in wanted if _version(each, installed) is None]


def _unfit(wanted: list[Requirement], installed: Mapping[str, str]) -> list[str]:
    found = [(each, _version(each, installed)) for each in wanted]
    return [
        f"{each.name} {seen}, but {each.specifier} is needed"
        for each, seen in found
        if seen is not None and not each.specifier.contains(re.sub(r"\+.*", "", seen), prereleases=True)
    ]


def _version(each: Requirement, installed: Mapping[str, str]) -> str | None:
    return installed[each.name] if each.name in installed else None  # noqa: SIM401
