"""Processes that share devices run one program: before the first run of each they compare what they have."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from shardwright.diagnostics import Diagnostic, ShardwrightProcessError
from shardwright.diagnostics.caller import caller
from shardwright.engines.jax.internals import Store
from shardwright.engines.jax.watching import watch

SECONDS = 30.0
"""How long a process waits for what others have."""

_PROGRAMS: Counter[tuple[int, ...]] = Counter()
"""How many programs this process has run first with the same processes."""


def agree(text: str, devices: Sequence[Any]) -> None:
    """
    Raises `ShardwrightProcessError` where a process that has some of the devices runs another program (SW0902), or
    does not come within `SECONDS` (SW0904). One process has nobody to ask.
    """
    processes = tuple(sorted({device.process_index for device in devices}))
    if len(processes) == 1:
        return
    watch()
    own = import_module("jax").process_index()
    _PROGRAMS[processes] += 1
    number = _PROGRAMS[processes]
    order = ",".join(str(device.id) for device in devices)
    mine = hashlib.sha256(f"{order}\n{text}".encode()).hexdigest()
    store, names = Store(), [f"shardwright/{'-'.join(map(str, processes))}/{number}/{each}" for each in processes]
    store.put(names[processes.index(own)], mine)
    try:
        found = dict(zip(processes, store.awaited(names, SECONDS), strict=True))
    except RuntimeError as error:  # of JAX's own service: nobody there, or nobody in time
        why = str(error).splitlines()[0]
        raise _error("SW0904", f"program {number} of this process: others have not come to it: {why}") from error
    others = [each for each in processes if found[each] != mine]
    if others:
        said = f"program {number} of process {own} is another than on {', '.join(map(str, others))} of JAX's processes"
        raise _error("SW0902", said)


def _error(code: str, message: str) -> ShardwrightProcessError:
    help_text = "call the same functions in the same order, with the same mesh, shapes and layouts, on all processes"
    return ShardwrightProcessError(Diagnostic(code, message, caller(), (), help_text))
