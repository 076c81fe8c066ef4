"""`docs/graph-ops.md` says what is so."""

from shardwright.docs.generators import graph_ops as graph_index
from shardwright.frontends.tensorflow.importing.importing import ROWS


def test_every_operation_is_in_it() -> None:
    text = graph_index.graph_index()
    assert all(f"| `{op}`" in text for op in ROWS)
    assert "| `StridedSlice` * | input, begin, end, strides |" in text
    assert "| `ConcatV2` * | values..., axis |" in text
