"""Meshes on JAX's devices: their arrays are `jax.Array`s, and XLA compiles the program that each device runs."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any, ClassVar, cast

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.exporting.manual import export_stablehlo
from shardwright.compiler.reading.bytecode import required
from shardwright.diagnostics import Diagnostic, ShardwrightProcessError
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import value_error
from shardwright.dialects.text.printing import print_module
from shardwright.engines.jax.internals import abstract, exported
from shardwright.engines.jax.lapack import spell_for
from shardwright.engines.jax.shardings import JaxMesh
from shardwright.engines.owned.parts import Owner, Parts, Program
from shardwright.layout import Mesh
from shardwright.layout.forms.devices import DeviceSpec
from shardwright.runtime.executable import interface_of
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.ports import Port
from shardwright.runtime.stacking import component, stacked_shape


class JaxDevices(Owner):
    """
    JAX's devices, as far as they are in this process.

    Element types are ours: what is of 64 bits stays so, whatever JAX makes of it elsewhere.
    """

    takes_partial: ClassVar[bool] = False

    def hold(self, stacked: np.ndarray[Any, Any], mesh: Mesh) -> Parts:
        put, devices = import_module("jax").device_put, devices_of(mesh)
        with _as_ours(), _faults():  # JAX may keep what it is given: a copy
            shards = [put(np.array(component(stacked, mesh, at)), device) for at, device in enumerate(devices)]
        return JaxParts(shards, stacked.shape, stacked.dtype, mesh)

    def program(self, module: ModuleOp, mesh: Mesh) -> Program:
        return JaxProgram(module, mesh)


JAX_DEVICES = JaxDevices()
"""JAX has its devices once in a process."""


class JaxParts(Parts):
    """What each device has: an array of each, or the one `jax.Array` that they are together."""

    __slots__ = ("_array", "_mesh", "_shards")

    def __init__(self, held: Any, shape: tuple[int, ...], dtype: np.dtype[Any], mesh: Mesh) -> None:
        super().__init__(shape, dtype)
        self._shards: list[Any] | None = held if isinstance(held, list) else None
        self._array: Any = None if isinstance(held, list) else held
        self._mesh = mesh

    def array(self, port: Port, sharding: Any) -> Any:
        """The `jax.Array`, as an argument of a program is."""
        if self._array is None:
            make = import_module("jax").make_array_from_single_device_arrays
            self._array, self._shards = make(port.shape, sharding, self._shards), None
        return self._array

    def here(self) -> np.ndarray[Any, Any]:
        whole = np.empty(self.shape, self.dtype)
        if not whole.size:  # of which JAX gives each device all
            return whole
        with _faults():
            for at, shard in enumerate(self._shards or self._in_order()):
                component(whole, self._mesh, at)[...] = np.asarray(shard)
        return whole

    def wait(self) -> None:
        """Until all devices have made their parts."""
        with _faults():
            import_module("jax").block_until_ready(self._shards if self._array is None else self._array)

    def _in_order(self) -> list[Any]:
        found = {shard.device: shard.data for shard in self._array.addressable_shards}
        return [found[device] for device in devices_of(self._mesh)]


class JaxProgram(Program):
    """A local program, which XLA compiles for the devices of a mesh."""

    def __init__(self, module: ModuleOp, mesh: Mesh) -> None:
        jax, devices, interface = import_module("jax"), devices_of(mesh), interface_of(module)
        self._mesh, self._takes, self._gives = mesh, interface.inputs, interface.outputs
        placed = JaxMesh(mesh, devices)
        self._shardings = [placed.sharding(port.spec) for port in self._takes]
        own = module.clone()
        export_stablehlo(own, padded=True, platform=devices[0].platform)
        with _as_ours(), _faults():
            if devices[0].platform != "cpu":
                spell_for(own, devices[0])
            self._text = print_module(own)
            takes, gives = ([abstract(port.shape, port.dtype) for port in side] for side in (self._takes, self._gives))
            program = exported(self._text, "main", takes, gives)
            results = [placed.sharding(port.spec) for port in self._gives]
            # Compiled by the first call: what is compiled ahead takes no arrays of four bits (JAX 0.10).
            self._jitted = jax.jit(program.call, in_shardings=tuple(self._shardings), out_shardings=results)

    def run(self, inputs: Sequence[Parts]) -> list[Parts]:
        given = zip(inputs, self._takes, self._shardings, strict=True)
        with _as_ours(), _faults():
            results = self._jitted(*(cast(JaxParts, part).array(port, sharding) for part, port, sharding in given))
        return [
            JaxParts(array, stacked_shape(port.shape, port.spec, self._mesh), port.dtype, self._mesh)
            for array, port in zip(results, self._gives, strict=True)
        ]

    @property
    def source(self) -> str:
        return self._text

    @property
    def ledger(self) -> Ledger:
        """Raises `ValueError` (SW0574): XLA does not count."""
        raise value_error(
            "SW0574",
            "JAX does not count what its devices send",
            help="the stage before says what is sent: traced.partition().predicted and predicted_bytes",
        )

    @property
    def peak_bytes(self) -> int:
        jax = import_module("jax")
        with _as_ours(), _faults():
            takes = [jax.ShapeDtypeStruct(port.shape, port.dtype) for port in self._takes]
            memory = self._jitted.lower(*takes).compile().memory_analysis()
        return (memory.output_size_in_bytes + memory.temp_size_in_bytes) * self._mesh.size


@cache
def devices_of(mesh: Mesh) -> tuple[Any, ...]:
    """
    JAX's devices of a mesh, in row-major order. Where none are named, JAX says in which order they are best.

    Raises `ValueError` where JAX has fewer (SW0572), or some are in other processes (SW0573), and SW0721 without JAX.
    """
    jax = required("jax", "a mesh on JAX's devices")
    if mesh.devices is None:
        found = _chosen(jax, mesh)
    else:
        found = tuple(_named(jax, DeviceSpec.parse(name)) for name in mesh.devices)
    elsewhere = [device for device in found if device.process_index != jax.process_index()]
    if elsewhere:
        raise value_error(
            "SW0573",
            f"{len(elsewhere)} of the {mesh.size} devices of {mesh!r} are in other processes of JAX",
            help="give devices of this process, jax.local_devices(); shardwright.jax.jit uses those of all",
        )
    return found


def _chosen(jax: Any, mesh: Mesh) -> tuple[Any, ...]:
    devices = jax.devices()
    if len(devices) < mesh.size:
        raise _too_few(
            f"{mesh!r} has {mesh.size} devices, and JAX has {len(devices)}: {devices[0].platform}", mesh.size
        )
    made = jax.make_mesh(tuple(mesh.sizes.values()), tuple(mesh.sizes), devices=devices[: mesh.size])
    return tuple(made.devices.flat)


def _named(jax: Any, name: DeviceSpec) -> Any:
    kind = name.device_type.lower()
    try:
        devices = jax.devices() if kind == "jax" else jax.devices(kind)
    except RuntimeError as error:
        raise _too_few(f"JAX has no devices of the kind {kind!r}: {error}", 0) from error
    for place, device in enumerate(devices):
        if name.device_index == (place if kind == "jax" else device.id):
            return device
    raise _too_few(
        f"JAX has no device {name}: it has {len(devices)} of the kind {devices[0].platform!r}", name.device_index + 1
    )


def _too_few(message: str, wanted: int) -> Exception:
    on_cpus = f"; XLA_FLAGS=--xla_force_host_platform_device_count={wanted} makes as many of the CPU" if wanted else ""
    return value_error("SW0572", message, help=f"look at jax.devices(){on_cpus}")


def _as_ours() -> Any:
    """JAX with the element types that arrays and programs say, also those of 64 bits."""
    return import_module("jax").enable_x64(True)


@contextmanager
def _faults() -> Generator[None]:
    """What JAX raises for a program or an array, as ours (SW0575)."""
    errors: Any = import_module("jax.errors")
    try:
        yield
    except (errors.JaxRuntimeError, TypeError, ValueError, NotImplementedError) as error:
        why = str(error).strip().splitlines() or [type(error).__name__]
        raise ShardwrightProcessError(
            Diagnostic(
                "SW0575",
                f"JAX cannot do it: {why[0]}",
                caller(),
                tuple(why[1:8]),
                "with a mesh without devices='jax' NumPy runs it",
            )
        ) from error
