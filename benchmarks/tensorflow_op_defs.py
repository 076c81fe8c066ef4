"""
TensorFlow's definitions of the operations of `saving/graphs/operations/`, as they are checked in.

`python -m shardwright.benchmarks.tensorflow_op_defs` writes `saving/graphs/op_defs.pb`, without descriptions, after
a row was added. Needs TensorFlow.
"""

from __future__ import annotations

from typing import Any

from shardwright.frontends.tensorflow.importing.importing import ROWS
from shardwright.frontends.tensorflow.importing.table import DEFINITIONS, HOST
from shardwright.serialization.protos import graph_pb2


def definitions() -> graph_pb2.OpList:
    """The definitions of all operations in the table, by name, as the installed TensorFlow has them."""
    from tensorflow.python.framework import op_def_registry  # pyright: ignore

    registry: Any = op_def_registry
    found = graph_pb2.OpList()
    for name in sorted({*ROWS, *HOST}):
        definition = registry.get(name)
        assert definition is not None, f"TensorFlow has no operation {name}"
        copy = found.op.add()
        copy.ParseFromString(definition.SerializeToString())
        _strip(copy)
    return found


def _strip(definition: graph_pb2.OpDef) -> None:
    for field in ("summary", "description", "deprecation"):
        definition.ClearField(field)
    for part in (*definition.input_arg, *definition.output_arg, *definition.attr):
        part.ClearField("description")
    for argument in (*definition.input_arg, *definition.output_arg):
        argument.ClearField("experimental_full_type")


if __name__ == "__main__":
    DEFINITIONS.write_bytes(definitions().SerializeToString(deterministic=True))
    print(f"{DEFINITIONS}: {len({*ROWS, *HOST})} operations, {DEFINITIONS.stat().st_size} bytes")
