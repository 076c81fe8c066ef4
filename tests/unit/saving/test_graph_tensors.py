"""Tensors of graphs: what TensorFlow writes, what lists leave out, and what no tensor is."""

import ml_dtypes
import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightValueError
from shardwright.frontends.tensorflow.importing.tensors import (
    data_type,
    numpy_dtype,
    shape_proto,
    static_shape,
    tensor_array,
    tensor_proto,
)
from shardwright.serialization.protos import graph_pb2 as pb

NAMES = "float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool complex64 complex128".split()
NARROW = ["bfloat16", "float8_e5m2", "float8_e4m3fn", "int4", "uint4"]


def dtype_named(name):
    return np.dtype(getattr(ml_dtypes, name) if name in NARROW else name)


@pytest.mark.parametrize("name", NAMES + NARROW)
def test_elements_come_back(name):
    dtype = dtype_named(name)
    for array in (np.array([[0, 1, 3], [2, 1, 0]]).astype(dtype), np.array(1).astype(dtype), np.zeros((0, 2), dtype)):
        back = tensor_array(pb.TensorProto.FromString(tensor_proto(array).SerializeToString()))
        assert back.dtype == dtype
        assert back.shape == array.shape
        assert back.tobytes() == array.tobytes()


@pytest.mark.parametrize("name", NAMES + NARROW)
def test_one_element_is_listed_and_stands_for_all(name):
    wide = np.broadcast_to(np.array(1).astype(dtype_named(name)), (1 << 20, 1 << 20))
    proto = tensor_proto(wide)
    assert proto.ByteSize() < 64
    back = tensor_array(proto)
    assert back.shape == wide.shape
    assert back.dtype == wide.dtype
    assert back[5, 7] == wide[0, 0]
    assert not any(back.strides)


def test_strings_are_bytes():
    array = tensor_array(tensor_proto(np.array([b"one", b"\xff"], object)))
    assert array.tolist() == [b"one", b"\xff"]
    assert array.dtype == object


def test_lists_as_tensorflow_reads_them():
    def read(**fields):
        return tensor_array(pb.TensorProto(**fields)).tolist()

    assert read(dtype=pb.DT_FLOAT, tensor_shape=shape_proto((2, 2)), float_val=[1, 2]) == [[1, 2], [2, 2]]
    assert read(dtype=pb.DT_INT64, tensor_shape=shape_proto((2,))) == [0, 0]
    assert read(dtype=pb.DT_HALF, tensor_shape=shape_proto(()), half_val=[0x3C00]) == 1.0
    assert read(dtype=pb.DT_BFLOAT16, tensor_shape=shape_proto(()), half_val=[0x3F80]) == 1.0
    assert read(dtype=pb.DT_COMPLEX64, tensor_shape=shape_proto((1,)), scomplex_val=[1, 2]) == [1 + 2j]
    assert read(dtype=pb.DT_UINT8, tensor_shape=shape_proto((1,)), int_val=[255]) == [255]
    assert read(dtype=pb.DT_BOOL, tensor_shape=shape_proto((2,)), tensor_content=b"\x00\x02") == [False, True]
    assert read(dtype=pb.DT_STRING, tensor_shape=shape_proto((1,))) == [b""]


WRONG = {
    "too few bytes": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((2,)), "tensor_content": b"1234"},
    "huge shape": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((1 << 40,)), "tensor_content": b"1234"},
    "beyond any number": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((1 << 40, 1 << 40)), "float_val": [1]},
    "too many": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((1,)), "float_val": [1, 2]},
    "a bomb": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((1 << 40,)), "float_val": [1, 2]},
    "no shape": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto(None)},
    "open shape": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((None,))},
    "negative": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((-5,))},
    "many dims": {"dtype": pb.DT_FLOAT, "tensor_shape": shape_proto((1,) * 300)},
    "does not fit": {"dtype": pb.DT_UINT8, "tensor_shape": shape_proto((1,)), "int_val": [256]},
    "half a complex number": {"dtype": pb.DT_COMPLEX64, "tensor_shape": shape_proto((2,)), "scomplex_val": [1, 2, 3]},
}


@pytest.mark.parametrize("case", WRONG)
def test_what_no_tensor_is(case):
    with pytest.raises(ShardwrightValueError, match="SW0888") as caught:
        tensor_array(pb.TensorProto(**WRONG[case]), "the node")
    assert "the node" in str(caught.value)


def test_types_that_are_no_elements():
    for number in (pb.DT_RESOURCE, pb.DT_VARIANT, pb.DT_QINT8, 0, 77):
        with pytest.raises(ShardwrightValueError, match="SW0889"):
            numpy_dtype(number)
    with pytest.raises(ShardwrightValueError, match="SW0889"):
        data_type(np.dtype("datetime64[s]"))
    assert numpy_dtype(pb.DT_FLOAT_REF) == np.float32
    assert static_shape(shape_proto((3, None))) == (3, None)


@pytest.mark.peers
def test_tensorflow_reads_what_we_write_and_we_what_it_writes():
    tf = pytest.importorskip("tensorflow")
    random = np.random.default_rng(0)
    for name in (*NAMES, "bfloat16"):
        for shape in ((), (1,), (3, 2), (0, 4)):
            array = np.asarray(random.integers(0, 2, shape)).astype(dtype_named(name))
            theirs = tf.make_tensor_proto(array)
            assert tensor_array(pb.TensorProto.FromString(theirs.SerializeToString())).tobytes() == array.tobytes()
            ours = type(theirs).FromString(tensor_proto(array).SerializeToString())
            assert tf.io.parse_tensor(ours.SerializeToString(), ours.dtype).numpy().tobytes() == array.tobytes()
