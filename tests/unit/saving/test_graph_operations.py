"""Each operation of the table, against what TensorFlow computed: stored, and where it is installed."""

import numpy as np
import pytest
from graph_operations import BFLOAT16, DATA, all_cases, loaded, run

import shardwright as sw
from shardwright.frontends.tensorflow.importing.importing import ROWS
from shardwright.frontends.tensorflow.importing.table import DEFINITIONS, HOST, definitions
from shardwright.serialization.protos import graph_pb2

STRUCTURAL = {
    "Assert", "AssignAddVariableOp", "AssignSubVariableOp", "AssignVariableOp", "Case", "Const",
    "DisableCopyOnRead", "EmptyTensorList", "HashTable", "HashTableV2", "If", "InitializeTable",
    "InitializeTableFromTextFile", "InitializeTableFromTextFileV2", "InitializeTableV2", "LookupTableFind",
    "LookupTableFindV2", "LookupTableImport", "LookupTableImportV2", "LookupTableSize", "LookupTableSizeV2",
    "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTable", "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2", "MutableHashTableV2", "NoOp", "OptionalFromValue", "OptionalGetValue",
    "OptionalNone", "PartitionedCall", "Placeholder", "PlaceholderV2", "PlaceholderWithDefault", "Print",
    "PrintV2", "ReadVariableOp", "ResourceApplyAdagradV2", "ResourceApplyAdam", "ResourceApplyGradientDescent",
    "ResourceApplyKerasMomentum", "ResourceApplyMomentum", "ResourceApplyRMSProp", "ResourceGather",
    "ResourceGatherNd", "ResourceScatterAdd", "ResourceScatterMax", "ResourceScatterMin",
    "ResourceScatterNdAdd", "ResourceScatterNdMax", "ResourceScatterNdMin", "ResourceScatterNdSub",
    "ResourceScatterNdUpdate", "ResourceScatterSub", "ResourceScatterUpdate", "StatefulPartitionedCall",
    "StatelessCase", "StatelessIf", "StatelessWhile", "TensorListConcat", "TensorListConcatV2",
    "TensorListFromTensor", "TensorListGather", "TensorListGetItem", "TensorListLength", "TensorListPopBack",
    "TensorListPushBack", "TensorListReserve", "TensorListResize", "TensorListScatter",
    "TensorListScatterIntoExistingList", "TensorListScatterV2", "TensorListSetItem", "TensorListSplit",
    "TensorListStack", "VarHandleOp", "VarIsInitializedOp", "Variable", "VariableShape", "VariableV2", "While",
}  # fmt: skip
"""Operations without a value of their own: whole graphs test them, in test_graph_import.py."""

OPERATIONS = sorted({case.op for case in all_cases()})


def test_every_row_has_a_case_and_a_definition():
    assert set(OPERATIONS) | STRUCTURAL == {*ROWS, *HOST}
    assert not set(OPERATIONS) & STRUCTURAL
    assert set(definitions()) == {*ROWS, *HOST}


@pytest.fixture(scope="module")
def expected():
    graph = graph_pb2.GraphDef.FromString((DATA / "operations.pb").read_bytes())
    return graph, loaded(DATA / "operations.npz.xz")


def tolerance(dtype):
    return {"float16": 2e-3, "bfloat16": 2e-2, "float64": 1e-10, "complex64": 1e-5}.get(dtype.name, 1e-5)


def compare(op, graph, arrays):
    """All cases of one operation as one program."""
    names = [name for name in arrays if name.split("/")[0].partition("_")[2] == op]
    inputs = [name for name in names if "/in" in name]
    outputs = {name: name.replace("/out", "/node:") for name in names if "/out" in name}
    assert outputs
    program = sw.from_graph(graph, inputs=inputs, outputs=outputs)
    found = program(*(arrays[name] for name in inputs))
    for name in outputs:
        due, got = arrays[name], np.asarray(found[name])
        if op.startswith("FusedBatchNorm") and int(name.rpartition("out")[2]) > 2:
            continue  # what TensorFlow keeps for its own gradient
        if op in ("Svd", "SelfAdjointEigV2") and not name.endswith("out0"):
            continue  # vectors that were not asked for
        assert got.dtype == due.dtype, name
        assert got.shape == due.shape, name
        if due.dtype == object:
            assert got.tolist() == due.tolist(), name
            continue
        bound = 0 if due.dtype.kind in "biu" else tolerance(due.dtype)
        wide = [part.astype("float32") if part.dtype == BFLOAT16 else part for part in (got, due)]
        np.testing.assert_allclose(*wide, rtol=bound, atol=bound, err_msg=name)


@pytest.mark.every(5)
@pytest.mark.parametrize("op", OPERATIONS)
def test_as_stored(op, expected):
    compare(op, *expected)


@pytest.mark.peers
@pytest.mark.parametrize("seed", [1, 2])
def test_as_tensorflow(seed):
    pytest.importorskip("tensorflow")
    message, arrays = run(all_cases(seed))
    graph = graph_pb2.GraphDef.FromString(message.SerializeToString())
    for op in OPERATIONS:
        compare(op, graph, arrays)


@pytest.mark.peers
def test_definitions_are_those_of_tensorflow():
    pytest.importorskip("tensorflow")
    from shardwright.benchmarks.tensorflow_op_defs import definitions as current

    assert current().SerializeToString(deterministic=True) == DEFINITIONS.read_bytes()
