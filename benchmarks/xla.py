"""
JAX's side of the comparison: the same text, compiled by XLA for eight host devices and run on them.

Everything goes through jaxlib's client, so that both sides start from the text.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from shardwright.engines.jax.internals import compiled_for

DEVICES = 8


def available() -> bool:
    """Whether JAX is installed."""
    return find_spec("jax") is not None and find_spec("jaxlib") is not None


def prepare() -> None:
    """Ask for eight host devices; JAX reads this once, when something first asks it for a device."""
    flag = "--xla_force_host_platform_device_count=8"
    if flag not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {flag}".strip()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")


@dataclass(frozen=True)
class XlaExecutable:
    """A compiled program on some of the eight host devices."""

    loaded: Any
    devices: int = DEVICES

    def place(self, inputs: Sequence[np.ndarray]) -> list[Any]:
        """The inputs on the devices, split as the executable wants them."""
        jax: Any = import_module("jax")
        shardings = self._shardings(self.loaded.get_parameter_shardings(), len(inputs))
        # Each process gives its devices' parts: `device_put` would first compare what all of them have.
        return [
            jax.make_array_from_callback(value.shape, sharding, value.__getitem__)
            for value, sharding in zip(inputs, shardings, strict=True)
        ]

    def parts(self, inputs: Sequence[np.ndarray]) -> list[list[np.ndarray]]:
        """What each device has of each result."""
        ran = self.loaded.execute_sharded(self.place(inputs)).disassemble_into_single_device_arrays()
        return [[np.asarray(part) for part in parts] for parts in ran]

    def places(self, shapes: Sequence[tuple[int, ...]]) -> list[list[tuple[slice, ...]]]:
        """Where what each device has of each result, of these global shapes, stands in it."""
        shardings = self._shardings(self.loaded.get_output_shardings(), len(shapes))
        return [
            list(sharding.devices_indices_map(shape).values())
            for sharding, shape in zip(shardings, shapes, strict=True)
        ]

    def _shardings(self, specs: Sequence[Any] | None, count: int) -> list[Any]:
        """How so many arrays are split. An executable for one device says nothing of that."""
        jax: Any = import_module("jax")
        implementations: Any = import_module("jax._src.sharding_impls")
        devices = tuple(jax.devices()[: self.devices])
        if specs is None:
            return [jax.sharding.SingleDeviceSharding(devices[0])] * count
        return [implementations.GSPMDSharding(devices, spec) for spec in specs]

    def run(self, placed: list[Any]) -> None:
        """One step, waited for."""
        for result in self.loaded.execute_sharded(placed).disassemble_into_single_device_arrays():
            for part in result:
                part.block_until_ready()

    def hlo(self) -> str:
        """The text of the optimised module."""
        return self.loaded.hlo_modules()[0].to_string()


def compile_text(text: str, count: int = DEVICES) -> XlaExecutable:
    """Parse StableHLO text and compile it for `count` devices with Shardy and the SPMD partitioner."""
    return XlaExecutable(compiled_for(text, count), count)
