"""`docs/graph-ops.md` says what is so."""

from shardwright.saving.graphs.importing import ROWS
from shardwright.tools import graph_index


def test_the_table_is_written() -> None:
    message = "write it with python -m shardwright.tools.graph_index --write"
    assert graph_index.INDEX.read_text() == graph_index.graph_index(), message


def test_every_operation_is_in_it() -> None:
    text = graph_index.graph_index()
    assert all(f"| `{op}`" in text for op in ROWS)
    assert "| `StridedSlice` * | input, begin, end, strides |" in text
    assert "| `ConcatV2` * | values..., axis |" in text
