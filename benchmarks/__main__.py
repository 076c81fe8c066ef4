"""
`make bench`: every benchmark, as tables and with `--json FILE` as data.

    python -m shardwright.benchmarks [NAME ...] [--smoke] [--json FILE] [--programs FOLDER]
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console

from shardwright.benchmarks import xla

CORE_TYPE = "OPENBLAS_CORETYPE"


def restart_without_core_type() -> None:
    """OpenBLAS reads the variable when it loads, and runs at half speed with it: start over without it."""
    if CORE_TYPE in os.environ:
        environment = {name: value for name, value in os.environ.items() if name != CORE_TYPE}
        arguments = [sys.executable, "-m", "shardwright.benchmarks", *sys.argv[1:]]
        os.execve(sys.executable, arguments, environment)


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    packages = {name: _version(name) for name in ("numpy", "xdsl", "jax", "jaxlib")}
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "environment": f"without {CORE_TYPE}",
        **packages,
    }


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _processor() -> str:
    path = Path("/proc/cpuinfo")
    lines = path.read_text().splitlines() if path.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or "unknown"


def main(arguments: list[str] | None = None) -> int:
    """Run the benchmarks named, or all."""
    from shardwright.benchmarks.report import joined
    from shardwright.benchmarks.suites import SMOKE, SUITES, Settings

    parser = argparse.ArgumentParser(prog="make bench", description="Shardwright against JAX on the same files.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SUITES)}; all without a name")
    parser.add_argument("--smoke", action="store_true", help="one repetition of the smallest, to see that it works")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there as well")
    parser.add_argument(
        "--programs", type=Path, metavar="FOLDER", help="of programs: NAME/{NAME.mlir,NAME.npz,meta.json}"
    )
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in SUITES]
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(SUITES)}")
    settings = SMOKE if options.smoke else Settings()
    if options.programs is not None:
        settings = replace(settings, folder=options.programs)
    console, reports = Console(width=None if sys.stdout.isatty() else 160), []
    console.print(", ".join(f"{name} {value}" for name, value in machine().items()), highlight=False)
    for name in options.names or SUITES:
        reports.append(SUITES[name](settings))
        reports[-1].print(console)
    if options.json is not None:
        options.json.write_text(json.dumps({"machine": machine(), **joined(reports)}, indent=1))
    return 0


if __name__ == "__main__":
    restart_without_core_type()
    xla.prepare()
    raise SystemExit(main())
