"""
Check every program of a folder: stages, results of both engines, bytes predicted and counted, bytes next to XLA's.

    python -m shardwright.benchmarks.check_programs FOLDER [NAME ...]

A folder has `NAME/{NAME.mlir,NAME.npz,meta.json}`, as `export_programs.py` writes them. One line for each program; what
is wrong with it, one line below. The exit status is 1 if anything is.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from shardwright.benchmarks.files import PROGRAMS, ProgramFile
from shardwright.compiler import report
from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.runtime.executable import compile_module
from shardwright.tools.programs.arrays import Array, Comparison, compare, load_archive, select
from shardwright.tools.programs.signature import Signature, entry_signature

OK, REFUSED, WRONG, CRASHED = "ok", "refused", "WRONG", "CRASHED"


@dataclass(frozen=True)
class Checked:
    """What came out for one program: its state, the bytes that a device sent, XLA's, seconds, and what is wrong."""

    name: str
    state: str
    sent: Fraction | None
    xla: float | None
    seconds: float
    faults: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """The program's line in the table."""
        sent = "-" if self.sent is None else f"{float(self.sent):.0f}"
        reference = "-" if self.xla is None else f"{self.xla:.0f}"
        more = " more" if self.sent is not None and self.xla is not None and self.sent > self.xla else ""
        return f"{self.name:28} {self.state:8} {sent:>10} {reference:>10} {self.seconds:6.1f}s{more}"


@dataclass
class _Checking:
    """One program on its way."""

    file: ProgramFile
    sent: Fraction | None = None

    def faults(self) -> Iterator[str]:
        """Partition with every check on, run both engines, and say what is wrong."""
        module = parse_module(self.file.text, self.file.path.name)
        signature = entry_signature(module)
        inputs, expected = self._arrays(signature)
        unsharded = unsharded_module(module.clone())
        planned, local = _partitioned(module)
        prediction = report.prediction(planned)
        for fused in (True, False):
            executable = compile_module(local.clone(), fused=fused)
            results = executable.run(inputs)
            engine = "fused" if fused else "plain"
            yield from self._differences(signature, results, expected, engine)
            self.sent = Fraction(executable.ledger.sent_bytes)
            predicted = prediction.total(executable.ledger.runs)
            if predicted is not None and predicted != self.sent:
                yield f"{engine}: {float(predicted):g} bytes predicted, {float(self.sent):g} counted"
        yield from self._differences(signature, compile_module(unsharded).run(inputs), expected, "unsharded")

    def _arrays(self, signature: Signature) -> tuple[list[Array], list[Array]]:
        path = str(self.file.path.with_suffix(".npz"))
        archive = load_archive(path)
        return select(archive, path, signature.arguments), select(archive, path, signature.results)

    def _differences(
        self, signature: Signature, results: list[Array], expected: list[Array], engine: str
    ) -> Iterator[str]:
        tolerance = self.file.meta["tol"]
        for declared, result, wanted in zip(signature.results, results, expected, strict=True):
            if (result.dtype, result.shape) != (wanted.dtype, wanted.shape):
                yield f"{engine}: {declared.key} is {result.dtype}{result.shape}, not {wanted.dtype}{wanted.shape}"
                continue
            found = compare(declared, result, wanted, "JAX", tolerance["rtol"], tolerance["atol"])
            if not found.ok:
                yield f"{engine}: {_difference(found)}"


def check(file: ProgramFile) -> Checked:
    """Check one program; whatever happens is reported."""
    checking, start = _Checking(file), time.perf_counter()
    try:
        faults = tuple(checking.faults())
        state = WRONG if faults else OK
    except ShardwrightError as error:
        state, faults = REFUSED, (str(error).split("\n")[0],)
    except Exception:  # a crash is what this tool looks for
        state, faults = CRASHED, (_last_frame(),)
    xla = file.meta["xla"]["sent_bytes"] if file.meta.get("xla") else None
    return Checked(file.name, state, checking.sent, xla, time.perf_counter() - start, faults)


def _partitioned(module: ModuleOp) -> tuple[ModuleOp, ModuleOp]:
    """The planned and the local module; after each pass the module verifies, and its text reads back."""

    def reads_back(name: str, current: ModuleOp) -> None:
        printed = print_module(current)
        if print_module(parse_module(printed, f"after {name}")) != printed:
            raise AssertionError(f"after {name}, the text does not read back as the same module")

    run_pipeline(module, ["plan"], verify_each=True, observer=reads_back)
    planned = module.clone()
    run_pipeline(module, LOCALIZE, verify_each=True, observer=reads_back)
    return planned, module


def _difference(found: Comparison) -> str:
    place = f"{found.key}{list(found.worst)}"
    return f"{place} is {found.actual}, not {found.expected} (at most {found.max_abs_error:.3g} off)"


def _last_frame() -> str:
    lines = traceback.format_exc().strip().splitlines()
    frames = [line.strip() for line in lines if line.startswith('  File "')]
    return f"{lines[-1][:300]} -- {frames[-1] if frames else ''}"


def main(arguments: list[str] | None = None) -> int:
    """Check the programs named, or all of a folder."""
    parser = argparse.ArgumentParser(description="Check programs against stored results and XLA's bytes.")
    parser.add_argument(
        "folder", type=Path, nargs="?", default=PROGRAMS, help=f"with a folder for each program ({PROGRAMS})"
    )
    parser.add_argument("names", nargs="*", help="all without a name")
    options = parser.parse_args(arguments)
    files = [ProgramFile(path) for path in sorted(options.folder.glob("*/*.mlir"))]
    checked: list[Checked] = []
    for file in files:
        if not options.names or file.name in options.names:
            checked.append(check(file))
            print(checked[-1].line, *checked[-1].faults, sep="\n    ", flush=True)
    states = [one.state for one in checked]
    counts = ", ".join(f"{states.count(state)} {state}" for state in (OK, REFUSED, WRONG, CRASHED))
    more = sum(one.line.endswith("more") for one in checked)
    print(f"{len(checked)} programs: {counts}; {more} send more than XLA", file=sys.stderr)
    return int(states.count(OK) < len(states))


if __name__ == "__main__":
    raise SystemExit(main())
