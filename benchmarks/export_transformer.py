"""
Export the training step of a transformer of any depth, unrolled, as StableHLO text with Shardy annotations.

    python -m shardwright.benchmarks.export_transformer --layers 48 --out /tmp/deep.mlir

Only shapes are traced, so a program for a million devices can be written on one machine. The layouts are data parallel
over `batch` and tensor parallel over `model`.
"""

from __future__ import annotations

import argparse
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from shardwright.benchmarks import xla
from shardwright.benchmarks.programs.sizes import Shape

SIZES = Shape(length=128, width=256, heads=8, groups=8, hidden=1024)


@dataclass(frozen=True)
class Options:
    """What to export: the depth and the sizes of a block."""

    layers: int = 2
    shape: Shape = SIZES
    batch_axis: int = 4
    model_axis: int = 2

    @property
    def device_count(self) -> int:
        """The number of devices of the mesh in the text."""
        return self.batch_axis * self.model_axis


def export(options: Options) -> str:
    """The text of one training step. JAX traces it over eight devices; a larger mesh is written into the text."""
    text = _lowered(options).as_text()
    text = text.replace('"batch"=4, "model"=2', f'"batch"={options.batch_axis}, "model"={options.model_axis}')
    text = re.sub(r"mhlo.num_partitions = \d+", f"mhlo.num_partitions = {options.device_count}", text)
    return re.sub(r" \{stablehlo\.mesh = .*\}\}$", "", text, flags=re.MULTILINE)


def _lowered(options: Options) -> Any:
    xla.prepare()
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

    from shardwright.benchmarks.programs import transformer
    from shardwright.benchmarks.programs.catalogue import Context

    mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("batch", "model"))

    def run(stack: list[Any], value: jax.Array) -> jax.Array:
        for layer in stack:
            value = transformer.biased_block(layer, value)
        return value

    def transformer_train(stack: list[Any], value: jax.Array, target: jax.Array) -> Any:
        return transformer.train_step(run)(stack, value, target)

    def parameters() -> Any:
        return transformer.biased_parameters(Context(None), options.shape)

    def sharding(spec: P) -> NamedSharding:
        return NamedSharding(mesh, spec)

    specs = [jax.tree.map(sharding, transformer.biased_tensor_parallel()) for _ in range(options.layers)]
    layer = jax.eval_shape(parameters)
    shape = options.shape
    tokens = jax.ShapeDtypeStruct((shape.batch, shape.length, shape.width), jnp.float32)
    rows = sharding(P("batch"))
    step = jax.jit(transformer_train, in_shardings=(specs, rows, rows), out_shardings=(specs, sharding(P())))
    return step.lower([layer] * options.layers, tokens, tokens)


def main(arguments: list[str] | None = None) -> int:
    """Write the file."""
    parser = argparse.ArgumentParser(description="Export a transformer's training step with JAX.")
    default = Options()
    parser.add_argument("--layers", type=int, default=default.layers)
    for name in ("batch", "length", "width", "heads", "groups", "hidden"):
        parser.add_argument(f"--{name}", type=int, default=getattr(default.shape, name))
    parser.add_argument("--batch-axis", type=int, default=default.batch_axis, help="devices along `batch`")
    parser.add_argument("--model-axis", type=int, default=default.model_axis, help="devices along `model`")
    parser.add_argument("--out", type=Path, required=True)
    given = vars(parser.parse_args(arguments))
    shape = replace(default.shape, **{name: given[name] for name in Shape.__dataclass_fields__})
    options = Options(given["layers"], shape, given["batch_axis"], given["model_axis"])
    given["out"].write_text(export(options))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
