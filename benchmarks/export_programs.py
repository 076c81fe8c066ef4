"""
Export the catalogue of programs with JAX: `NAME/{NAME.mlir,NAME.npz,meta.json}`.

    python -m shardwright.benchmarks.export_programs --out /tmp/programs [NAME ...]

Each program is traced and partitioned over eight host devices; its expected outputs come from one device, unsharded.
`meta.json` says what XLA's own partitioner sends for it, and what Shardy's MLIR passes do.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from shardwright.benchmarks import shardy, xla
from shardwright.benchmarks.programs import (
    algebra,
    control,
    indexing,
    library,
    manual,
    mlp,
    models,
    numeric,
    ordering,
    transformer,
    windows,
)
from shardwright.benchmarks.programs.catalogue import PROGRAMS, Context, Program, Traceable
from shardwright.engines.jax.hlo import collectives, summary

FAMILIES = (mlp, transformer, algebra, indexing, library, windows, ordering, numeric, control, manual, models)


def export(program: Program, folder: Path) -> dict[str, Any]:
    """Write one program; the result is its `meta.json`."""
    mesh = _mesh(program)
    built = program.build(Context(mesh))
    lowered = _jit(built, mesh, program.name).lower(*built.arguments)
    compiled = lowered.compile()
    # Shardy's passes count loops once, and leave to others what the ops that are not dense send.
    shardy_sent = _shardy(lowered.as_text()) if "dense" in program.tags else None
    meta = _meta(program, built, mesh, compiled) | {"shardy": shardy_sent}
    target = folder / program.name
    target.mkdir(parents=True, exist_ok=True)
    (target / f"{program.name}.mlir").write_text(lowered.as_text())
    np.savez_compressed(target / f"{program.name}.npz", allow_pickle=False, **_arrays(_reference(program, built)))
    (target / "meta.json").write_text(json.dumps(meta, indent=1))
    return meta


def lowered_text(program: Program) -> str:
    """The StableHLO text of one program, without compiling it."""
    mesh = _mesh(program)
    built = program.build(Context(mesh))
    return _jit(built, mesh, program.name).lower(*built.arguments).as_text()


def _mesh(program: Program) -> Mesh:
    xla.prepare()
    names, sizes = zip(*program.axes, strict=True)
    return Mesh(np.array(jax.devices()[: xla.DEVICES]).reshape(sizes), names)


def _jit(built: Traceable, mesh: Mesh, name: str) -> Any:
    def main(*arguments: Any) -> Any:
        return built.function(*arguments)

    main.__name__ = name
    return jax.jit(
        main,
        in_shardings=_shardings(built.in_specs, mesh),
        out_shardings=_shardings(built.out_specs, mesh),
        donate_argnums=built.donated,
        keep_unused=True,
    )


def _shardings(specs: Any, mesh: Mesh) -> Any:
    return jax.tree.map(lambda spec: NamedSharding(mesh, spec), specs, is_leaf=lambda leaf: isinstance(leaf, P))


def _reference(program: Program, built: Traceable) -> Traceable:
    """What gives the expected outputs: the program without a mesh; with one if it names mesh axes itself."""
    return built if program.manual else program.build(Context(None))


def _arrays(built: Traceable) -> dict[str, np.ndarray]:
    """Inputs, and outputs."""
    outputs = jax.jit(built.function)(*built.arguments)
    inputs = {f"in_{index}": _stored(leaf) for index, leaf in enumerate(jax.tree.leaves(built.arguments))}
    return inputs | {f"out_{index}": _stored(leaf) for index, leaf in enumerate(jax.tree.leaves(outputs))}


def _stored(leaf: Any) -> np.ndarray:
    array = np.asarray(leaf)
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def _meta(program: Program, built: Traceable, mesh: Mesh, compiled: Any) -> dict[str, Any]:
    return {
        "name": program.name,
        "tags": list(program.tags),
        "mesh": [list(axis) for axis in program.axes],
        "inputs": _inputs(built),
        "outputs": _outputs(built, mesh, compiled),
        "tol": dict(zip(("rtol", "atol"), program.tolerance, strict=True)),
        "reference": "one device, unsharded jax.jit on CPU; bf16 stored as uint16 bits",
        "spec_format": "list per dim of mesh axis names (major to minor); null spec = left to the partitioner",
        "xla": {
            "version": f"jaxlib {jax.lib.__version__}, CPU pipeline",
            **_xla(compiled.as_text(), program.trips),
            "temp_bytes": compiled.memory_analysis().temp_size_in_bytes,
        },
    }


def _xla(hlo: str, trips: tuple[int, ...]) -> dict[str, Any]:
    """What XLA's partitioner sends; null where a loop that sends turns an unknown number of times."""
    try:
        found = collectives(hlo, xla.DEVICES, trips)
    except ValueError:
        return {"kinds": None, "sent_bytes": None}
    return {"kinds": summary(found), "sent_bytes": float(sum(one.sent_bytes for one in found))}


def _shardy(text: str) -> dict[str, Any]:
    kinds = shardy.sent(shardy.partition(text)[0])
    return {"validated": None, "kinds": kinds, "sent_bytes": sum(row["sent_bytes"] for row in kinds.values())}


def _inputs(built: Traceable) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    specs = _broadcast(built.in_specs, built.arguments)
    donated = _broadcast(tuple(index in built.donated for index in range(len(built.arguments))), built.arguments)
    leaves = jax.tree_util.tree_flatten_with_path(built.arguments)[0]
    for (path, leaf), spec, given in zip(leaves, specs, donated, strict=True):
        row = _described("in", len(rows), path, leaf)
        rows.append({**row, "spec": _dims(spec, leaf.ndim), "donated": given})
    return rows


def _outputs(built: Traceable, mesh: Mesh, compiled: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    shapes = jax.eval_shape(built.function, *built.arguments)
    leaves = jax.tree_util.tree_flatten_with_path(shapes)[0]
    specs = _broadcast(built.out_specs, shapes)
    chosen = jax.tree.leaves(compiled.output_shardings, is_leaf=lambda one: isinstance(one, NamedSharding))
    for (path, leaf), spec, sharding in zip(leaves, specs, chosen, strict=True):
        row = _described("out", len(rows), path, leaf)
        xla_spec = sharding.spec if isinstance(sharding, NamedSharding) else None
        rows.append({**row, "spec": _dims(spec, leaf.ndim), "xla_spec": _dims(xla_spec, leaf.ndim)})
    return rows


def _broadcast(prefix: Any, tree: Any) -> list[Any]:
    """The leaves of a prefix tree, each repeated for every leaf of `tree` below it."""
    is_leaf = lambda one: one is None or isinstance(one, P)  # noqa: E731
    spread = jax.tree.map(lambda spec, below: [spec] * len(jax.tree.leaves(below)), prefix, tree, is_leaf=is_leaf)
    return jax.tree.leaves(spread, is_leaf=is_leaf)


def _described(side: str, index: int, path: Any, leaf: Any) -> dict[str, Any]:
    name = np.dtype(leaf.dtype).name
    return {
        "key": f"{side}_{index}",
        "path": jax.tree_util.keystr(path),
        "shape": list(leaf.shape),
        "dtype": name,
        "npz_dtype": "uint16" if name == "bfloat16" else name,
    }


def _dims(spec: P | None, rank: int) -> list[list[str]] | None:
    if spec is None:
        return None
    entries = [*spec, *([None] * (rank - len(spec)))]
    return [[] if entry is None else list(entry) if isinstance(entry, tuple) else [entry] for entry in entries]


def main(arguments: list[str] | None = None) -> int:
    """Export the programs named, or all."""
    parser = argparse.ArgumentParser(description="Export programs with JAX.")
    parser.add_argument("names", nargs="*", help=f"of {len(PROGRAMS)} programs; all without a name")
    parser.add_argument("--out", type=Path, required=True, help="the folder to write to")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in PROGRAMS]
    if unknown:
        parser.error(f"no such program: {', '.join(unknown)}; there are {', '.join(sorted(PROGRAMS))}")
    for name in options.names or PROGRAMS:
        meta = export(PROGRAMS[name], options.out)
        print(f"{name:28} {meta['xla']['sent_bytes']} bytes {meta['xla']['kinds']}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
