"""The programs that the benchmarks run: those of the tests, or a folder next to the repository that has more arrays."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from shardwright.tools.programs.arrays import Array, Declared, load_archive, random_inputs, select

ROOT = Path(__file__).resolve().parent.parent
_BESIDE = ROOT.parent / "shared" / "programs"
OWN = ROOT / "tests" / "data" / "programs"
PROGRAMS = _BESIDE if _BESIDE.is_dir() else OWN
NAMES = ("mlp_train_dptp", "mlp_train_fsdp", "tblock_fwd", "tblock_train")
FAMILIES = (
    "resnet_fwd_spatial",
    "rnn_scan_tp",
    "decode_loop",
    "while_cg",
    "moe_fwd",
    "embed_grad",
    "cumsum_sharded",
    "sort_sharded",
    "fft_batch",
    "random_normal",
    "smap_ring_matmul",
)
"""One program of each family beyond the dense ones."""


@dataclass(frozen=True)
class ProgramFile:
    """One program: its text, and what lies next to it."""

    path: Path

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.path.stem

    @cached_property
    def text(self) -> str:
        """The StableHLO text."""
        return self.path.read_text()

    @cached_property
    def meta(self) -> dict[str, Any]:
        """What `meta.json` says about it; nothing if there is none."""
        path = self.path.parent / "meta.json"
        return json.loads(path.read_text()) if path.exists() else {}

    def inputs(self, declared: Sequence[Declared]) -> list[Array]:
        """The stored inputs, or seeded ones where none are stored."""
        arrays = self.path.with_suffix(".npz")
        if arrays.exists():
            return select(load_archive(str(arrays)), str(arrays), declared)
        return random_inputs(declared, seed=0)


def benchmarked(folder: Path = PROGRAMS) -> list[ProgramFile]:
    """The four programs that the targets name, and one of each other family, as far as a folder has them."""
    found = (ProgramFile(folder / name / f"{name}.mlir") for name in (*NAMES, *FAMILIES))
    return [file for file in found if file.path.exists()]


def described(folder: Path = PROGRAMS) -> list[ProgramFile]:
    """Every program of a folder that says in `meta.json` what others send for it."""
    found = [ProgramFile(path) for path in sorted(folder.glob("*/*.mlir"))]
    return [file for file in found if file.meta]
