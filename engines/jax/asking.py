"""
What XLA sends for a program: its own compiler is asked, in a process of its own that has enough host devices.

`python -m shardwright.engines.jax.asking COUNT` is that process: a program's text comes in, what it sends goes out.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

from shardwright.compiler.reading.bytecode import required
from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.engines.jax import hlo
from shardwright.engines.jax.internals import compiled_for


@dataclass(frozen=True)
class Sent:
    """
    What each device sends in a run, in bytes, with the number and bytes of each kind of collective.

    A loop whose turns depend on data counts with one turn; `depends_on_data` says that there is one that sends.
    """

    bytes_per_device: float
    collectives: dict[str, dict[str, float]]
    depends_on_data: bool

    def __str__(self) -> str:
        kinds = ", ".join(f"{row['count']:.0f} {kind}" for kind, row in self.collectives.items())
        return f"{self.bytes_per_device:,.0f} bytes" + (f" ({kinds})" if kinds else "")


def sent_by_xla(text: str, count: int) -> Sent:
    """
    What XLA's partitioner makes of a program, StableHLO text with Shardy's annotations, for so many devices.

    Raises `ShardwrightError`: SW0721 without JAX, SW0575 with XLA's words where it refuses.
    """
    required("jax", "asking XLA")
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={count}".strip()
    command = [sys.executable, "-m", "shardwright.engines.jax.asking", str(count)]
    environment = os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        why = _error(done.stderr) or f"its process ended with {done.returncode}"
        help = "leave --ask-xla away: what is written can still be read by others"
        raise ShardwrightError(Diagnostic("SW0575", f"XLA does not compile the program: {why}", help=help))
    return Sent(**json.loads(done.stdout))


def _error(text: str) -> str:
    """The line of a process's standard error that says what was wrong."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ([line for line in lines if "error" in line.lower()] or lines or [""])[-1]


def main() -> None:
    """Compiles the text on standard input; prints what it sends as JSON."""
    count = int(sys.argv[1])
    compiled = compiled_for(sys.stdin.read(), count).hlo_modules()[0].to_string()
    turns = iter([1] * hlo.loops(compiled))
    found = hlo.collectives(compiled, count, turns)
    depends = len(list(turns)) < hlo.loops(compiled)
    total = float(sum(one.sent_bytes for one in found))
    json.dump({"bytes_per_device": total, "collectives": hlo.summary(found), "depends_on_data": depends}, sys.stdout)


if __name__ == "__main__":
    main()
