"""
The array API standard's conformance suite, in a checkout of it: `make conformance SUITE=../array-api-tests`.

Twice: with arrays that are not distributed, and with arrays that all are. What the suite itself needs (its
requirements.txt) has to be there.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODES = {"shardwright": "skips_plain.txt", "sharded": "skips.txt"}
"""The module under test, and what is left out."""


def run(suite: Path, module: str, options: list[str]) -> int:
    """Runs the suite on one module; pytest's exit status."""
    known = os.environ.get("PYTHONPATH")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(HERE), *([known] if known else [])]),
        "ARRAY_API_TESTS_MODULE": module,
        "ARRAY_API_TESTS_VERSION": "2024.12",
    }
    command = [sys.executable, "-m", "pytest", "-q", "--disable-deadline", f"--skips-file={HERE / MODES[module]}"]
    return subprocess.run([*command, *options, "array_api_tests"], cwd=suite, env=environment, check=False).returncode


if __name__ == "__main__":
    if len(sys.argv) < 2 or not (Path(sys.argv[1]) / "array_api_tests").is_dir():
        sys.exit("give the folder of a checkout of array-api-tests: make conformance SUITE=../array-api-tests")
    sys.exit(max(run(Path(sys.argv[1]), module, sys.argv[2:] or ["--max-examples=20"]) for module in MODES))
