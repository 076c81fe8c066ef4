"""Names of devices, as TensorFlow writes them: `CPU:0`, `/worker:0/GPU:1`, `/job:worker/task:0/device:GPU:1`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from sys import intern
from typing import cast

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout.faults import fault
from shardwright.plugins import load_plugins

KINDS = ("CPU", "GPU", "TPU", "CUDA", "ROCM", "JAX")
"""The kinds of devices that a name may say; a device of JAX that is given itself may be of any."""

DEFAULT_JOB = "localhost"
"""The job of a device whose name says none, where a full name is asked for."""


@dataclass(frozen=True, slots=True)
class DeviceSpec:
    """
    The parts of a device's name; a part is None where the name leaves it out.

    >>> DeviceSpec.parse("/worker:1/GPU:0")
    DeviceSpec(job='worker', replica=None, task=1, device_type='GPU', device_index=0)
    >>> str(DeviceSpec.parse("gpu:1")), DeviceSpec.parse("gpu:1").full()
    ('GPU:1', '/job:localhost/replica:0/task:0/device:GPU:1')
    """

    job: str | None = None
    replica: int | None = None
    task: int | None = None
    device_type: str = "CPU"
    device_index: int = 0

    @classmethod
    def parse(cls, name: object) -> DeviceSpec:
        """
        Reads a device's name, or anything whose `to_string()` gives one, such as `tf.DeviceSpec`, or a device of JAX.

        `/worker:0/` is short for `/job:worker/task:0/`. Raises `ValueError` (SW0116) for anything else.
        """
        text = name if isinstance(name, str) else _as_text(name)
        match = None if text is None else _NAME.fullmatch(text.strip())
        if match is None or (match["job"] and match["short"]):
            raise device_error(
                f"{name!r} is no device name", 'write "GPU:0", "/worker:0/GPU:0" or "/job:worker/task:0/device:GPU:0"'
            )
        task = match["task"] or match["short_task"]
        return cls(
            match["job"] or match["short"],
            int(match["replica"]) if match["replica"] else None,
            int(task) if task else None,
            match["type"].upper(),
            int(match["index"]),
        )

    def on_client(self, client: int, job: str) -> DeviceSpec:
        """The device of this name that belongs to one client."""
        return replace(self, job=job, replica=0, task=client)

    def full(self) -> str:
        """The name with all its parts; those left out are of this process."""
        return str(replace(self, job=self.job or DEFAULT_JOB, replica=self.replica or 0, task=self.task or 0))

    def __str__(self) -> str:
        parts = [("job", self.job), ("replica", self.replica), ("task", self.task)]
        where = "".join(f"/{part}:{value}" for part, value in parts if value is not None)
        device = f"{self.device_type}:{self.device_index}"
        return f"{where}/device:{device}" if where else device


JAX = "jax"
"""Who holds the devices of a mesh that are JAX's."""

ENGINES = {JAX}
"""The engines that `devices=` may name."""


def given_devices(devices: str | Sequence[object] | None) -> tuple[tuple[str, ...] | None, str | None]:
    """
    The names of the devices that a mesh is given, if it is given any, and who holds them where it is not this process.

    >>> given_devices(["cpu:0"]), given_devices("jax")
    ((('CPU:0',), None), (None, 'jax'))

    Raises `ValueError` (SW0116) as `device_names` does.
    """
    if devices is None:
        return None, None
    if isinstance(devices, str):
        if devices not in ENGINES:
            load_plugins()
        if devices in ENGINES:
            return None, intern(devices)
        named = " or ".join(f'"{name}"' for name in sorted(ENGINES))
        raise device_error(f"devices={devices!r} is one text", f"give a list of names, one for each device, or {named}")
    if not isinstance(devices, Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise device_error(f"devices={devices!r} is no list", "give a list of names, one for each device")
    of_jax = bool(devices) and all(hasattr(device, "device_kind") and hasattr(device, "id") for device in devices)
    return device_names(devices), JAX if of_jax else None


def device_names(names: Sequence[object]) -> tuple[str, ...]:
    """
    The names of the devices of a mesh, each in one spelling.

    The index `i` stands for the place in the list, as in the RFC's examples. Raises `ValueError` (SW0116) for what is
    no device name, for a kind of device that there is not, and for a device that stands in two places.

    >>> device_names(["cpu:0", "/job:worker/task:0/gpu:1"]), device_names(["TPU:i", "TPU:i"])
    (('CPU:0', '/job:worker/task:0/device:GPU:1'), ('TPU:0', 'TPU:1'))
    """
    if isinstance(names, str):
        raise device_error(f"devices={names!r} is one text", "give a list of names, one for each device")
    found: dict[DeviceSpec, int] = {}
    for place, name in enumerate(names):
        given = f"{name[:-1]}{place}" if isinstance(name, str) and name.endswith(":i") else name
        device = DeviceSpec.parse(given)
        if device.device_type not in KINDS and not hasattr(name, "platform"):
            raise device_error(f"{name!r} is a device of no kind that there is", f"kinds are {', '.join(KINDS)}")
        if device in found:
            raise device_error(
                f"device {str(device)!r} stands in places {found[device]} and {place} of the mesh",
                "give each place of the grid its own device",
            )
        found[device] = place
    return tuple(map(str, found))


def device_error(message: str, help_text: str) -> ShardwrightValueError:
    """The `ValueError` (SW0116) of a device list; raise it."""
    return fault("SW0116", message, help_text)


def _as_text(name: object) -> str | None:
    write = getattr(name, "to_string", None)
    if callable(write):
        return cast(str, write())
    platform, number = (getattr(name, each, None) for each in ("platform", "id"))  # a device of JAX
    return f"{platform}:{number}" if platform is not None else None


_NAME = re.compile(
    r"/?(?:job:(?P<job>[A-Za-z_][\w.-]*)/)?(?:(?P<short>(?!task:|replica:|device:|job:)[A-Za-z_]\w*):(?P<short_task>\d+)/)?"
    r"(?:replica:(?P<replica>\d+)/)?(?:task:(?P<task>\d+)/)?(?:device:)?(?P<type>[A-Za-z]\w*):(?P<index>\d+)"
)
