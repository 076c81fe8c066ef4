"""TensorFlow's own messages are split and put together like ours."""

import pytest
from reference_merger import merge, tensorflow_order

from shardwright.serialization.merging.merger import Merger
from shardwright.serialization.splitting import GraphDefSplitter, SavedModelSplitter

pytestmark = pytest.mark.peers


@pytest.fixture(scope="module")
def graph():
    """A graph that TensorFlow traced, with a large constant and constants of strings, and functions."""
    tensorflow = pytest.importorskip("tensorflow")
    weights = [[number * 0.5 for number in range(100)]] * 30

    @tensorflow.function
    def inner(x):
        return tensorflow.matmul(x, tensorflow.constant(weights))

    @tensorflow.function
    def outer(x):
        texts = tensorflow.constant([b"a" * 50, b"bb" * 40] * 20)
        return tensorflow.cond(tensorflow.reduce_sum(x) > 0, lambda: inner(x), lambda: inner(-x)), texts

    return outer.get_concrete_function(tensorflow.TensorSpec((None, 30))).graph.as_graph_def()


@pytest.mark.parametrize("max_size", [400, 2000, 20_000])
def test_graphs_and_saved_models(graph, max_size, tmp_path) -> None:
    before = graph.SerializeToString(deterministic=True)
    chunks, chunked = GraphDefSplitter(graph, max_size=max_size).split()
    assert len(chunks) > 1 or len(before) <= max_size
    assert all(isinstance(chunk, bytes) or chunk.ByteSize() <= max_size for chunk in chunks)
    tensorflow_order(chunked)
    assert merge(chunks, chunked, type(graph)()).SerializeToString(deterministic=True) == before
    saved_model_pb2 = pytest.importorskip("tensorflow.core.protobuf.saved_model_pb2")
    model = saved_model_pb2.SavedModel()
    for _ in range(2):
        model.meta_graphs.add().graph_def.CopyFrom(graph)
    SavedModelSplitter(model, max_size=max_size).write(tmp_path / "saved_model")
    Merger.read(tmp_path / "saved_model", read := saved_model_pb2.SavedModel())
    assert read == model
    assert graph.SerializeToString(deterministic=True) == before
