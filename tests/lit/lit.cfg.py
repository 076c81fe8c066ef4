"""Plain `lit tests/lit`: the same files as pytest's collector, each command in its own process."""
# ruff: noqa: E402, F821

import os
import sys
from pathlib import Path

import lit.formats

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from in_process import SUBSTITUTIONS

config.name = "shardwright"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["Inputs"]
config.test_source_root = str(HERE)
config.test_exec_root = str(HERE.parent.parent / "build" / "lit")
config.recursiveExpansionLimit = 3

package = str(HERE.parent.parent / ".typing")
config.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [package, os.environ.get("PYTHONPATH")]))
config.environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

config.substitutions += list(SUBSTITUTIONS.items())
for command, module in {"shardwright-opt": "opt", "shardwright": "main"}.items():
    program = f"{sys.executable} -m shardwright.tools.{module}"
    config.substitutions.append((rf"(?<![\w./-]){command}(?![\w./-])", program))
