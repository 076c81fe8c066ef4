"""Dense literals: the bytes are NumPy's, the text is MLIR's, splats keep one element."""

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects import builtin
from xdsl.dialects.builtin import ComplexType, IntegerType, Signedness
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects import stablehlo
from shardwright.dialects.text.literals import dense_body, is_splat, parse_dense
from shardwright.dialects.types import dtype_element, element_dtype, tensor

U8 = IntegerType(8, Signedness.UNSIGNED)
C64 = ComplexType(builtin.f32)


def value(body: str, shape: tuple[int, ...], element_type) -> np.ndarray:
    return stablehlo.constant_value(parse_dense(body, tensor(shape, element_type)))


@pytest.mark.parametrize(
    ("body", "element_type", "expected"),
    [
        ("0xFF800000", builtin.f32, -np.inf),
        ("0x7F800000", builtin.f32, np.inf),
        ("0xFC00", builtin.f16, -np.inf),
        ("0xFF80", builtin.bf16, -np.inf),
        ("0xFFF0000000000000", builtin.f64, -np.inf),
        ("1.000980e-01", builtin.bf16, ml_dtypes.bfloat16(0.1)),
        ("9.99999974E-6", builtin.f32, np.float32(1e-5)),
        ("-3", IntegerType(32), -3),
        ("0xFFFFFFFF", IntegerType(32), -1),
        ("200", U8, 200),
        ("-3", IntegerType(4), -3),
        ("true", IntegerType(1), True),
        ("false", IntegerType(1), False),
        ("1", IntegerType(1), True),
        ("-1", IntegerType(1), True),
        ("(1.0, -2.5)", C64, 1 - 2.5j),
        ("1.5", builtin.f8E4M3FN, 1.5),
    ],
)
def test_scalar_has_numpys_value_and_dtype(body, element_type, expected):
    found = value(body, (), element_type)
    assert found.dtype == element_dtype(element_type)
    assert found == np.asarray(expected).astype(found.dtype)


def test_nan_keeps_its_payload():
    attribute = parse_dense("0x7FC00123", tensor((), builtin.f32))
    assert attribute.data.data == bytes.fromhex("2301c07f")
    assert dense_body(attribute) == "0x7FC00123"


def test_i1_comes_back_as_truth_values():
    found = value("[true, false, true]", (3,), IntegerType(1))
    assert found.dtype == np.bool_
    assert found.tolist() == [True, False, True]


def test_lists_nest():
    found = value("[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", (2, 3), builtin.f32)
    np.testing.assert_array_equal(found, np.arange(1, 7, dtype=np.float32).reshape(2, 3))


@pytest.mark.parametrize("name", ["float32", "float64", "float16", "bfloat16", "int8", "uint32", "int64", "complex64"])
def test_blob_is_numpys_bytes(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    array = np.arange(6).astype(dtype).reshape(2, 3)
    found = value(f'"0x{array.tobytes().hex()}"', (2, 3), dtype_element(dtype))
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("packing", ["bits", "bytes"])
def test_truth_value_blobs_of_old_and_new_mlir(packing):
    array = np.arange(16) % 3 == 0
    data = np.packbits(array, bitorder="little") if packing == "bits" else array
    found = value(f'"0x{data.tobytes().hex()}"', (16,), IntegerType(1))
    np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize(
    ("element_type", "text"),
    [(IntegerType(4), "[-8, -1, 7]"), (IntegerType(4, Signedness.UNSIGNED), "[8, 15, 7]")],
)
def test_blob_of_narrow_integers_ignores_the_bits_above_them(element_type, text):
    type_ = tensor((3,), element_type)
    for blob in ('"0x080F07"', '"0xF8FFF7"'):
        literal = parse_dense(blob, type_)
        assert dense_body(literal) == text
        assert literal == parse_dense(text, type_)


def test_splat_costs_one_element():
    attribute = parse_dense("1.5", tensor((1 << 20, 1 << 20), builtin.f32))
    assert attribute.data.data == np.float32(1.5).tobytes()
    view = stablehlo.constant_value(attribute)
    assert view.shape == (1 << 20, 1 << 20)
    assert view[12345, 54321] == 1.5
    assert not view.flags.writeable


def test_equal_elements_are_a_splat_however_they_are_written():
    shape = tensor((2, 2), builtin.f32)
    spellings = ["1.0", "[[1.0, 1.0], [1.0, 1.0]]", '"0x0000803F"', f'"0x{"0000803F" * 4}"']
    assert {parse_dense(spelling, shape) for spelling in spellings} == {parse_dense("1.0", shape)}


def test_negative_zero_is_not_zero():
    assert not is_splat(parse_dense("[0.0, -0.0]", tensor((2,), builtin.f32)))


def test_empty():
    assert value("", (0, 3), builtin.f32).shape == (0, 3)


@pytest.mark.parametrize(
    ("body", "element_type", "message"),
    [
        ("[1.0, 2.0, 3.0]", builtin.f32, "shape"),
        ("[[1.0], [2.0, 3.0]]", builtin.f32, "different shapes"),
        ("[1.0, 2.0", builtin.f32, "expected"),
        ("[1.0 2.0]", builtin.f32, "expected"),
        ("", builtin.f32, "no elements"),
        ("true", builtin.f32, "no element"),
        ("true", IntegerType(8), "only an element of type i1"),
        ("1.5", IntegerType(8), "no element"),
        ("300", IntegerType(8), "out of range"),
        ("-1", U8, "out of range"),
        ("0x1FF800000", builtin.f32, "more bits"),
        ('"0x00"', builtin.f32, "bytes"),
        ('"0x0"', builtin.f32, "hexadecimal"),
        ("(1.0, 2.0", C64, "complex"),
        ("1.0", C64, "complex"),
        ("1.0 2.0", builtin.f32, "follows"),
    ],
)
def test_malformed(body, element_type, message):
    with pytest.raises(VerifyException, match=message):
        parse_dense(body, tensor((2,), element_type))


@pytest.mark.parametrize(
    "body",
    ["1.000000e+00", "[1.000000e+00, 1.000000e-01]", "9.99999974E-6", "0xFF800000", "123456.789", "3.40282347E+38"],
)
def test_text_is_stable(body):
    shape = (2,) if body.startswith("[") else ()
    assert dense_body(parse_dense(body, tensor(shape, builtin.f32))) == body


def test_more_than_a_hundred_elements_are_a_blob_except_truth_values():
    array = np.arange(101, dtype=np.float32)
    body = dense_body(stablehlo.make_dense(array, builtin.f32))
    assert body == f'"0x{array.tobytes().hex().upper()}"'
    assert dense_body(stablehlo.make_dense(array % 2 == 0, IntegerType(1))).startswith("[true, false, true")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("element_type", [builtin.f16, builtin.f32, builtin.f64, builtin.bf16, builtin.f8E5M2])
def test_random_bits_survive_text(element_type, seed):
    dtype = element_dtype(element_type)
    bits = np.random.default_rng(seed).integers(0, 256, 90 * dtype.itemsize, dtype=np.uint8)
    attribute = stablehlo.make_dense(bits.view(dtype), element_type)
    assert attribute.data.data == bits.tobytes()
    assert parse_dense(dense_body(attribute), tensor((90,), element_type)) == attribute


def test_make_constant():
    op = stablehlo.make_constant(np.arange(3), IntegerType(64))
    assert stablehlo.constant_value(op).tolist() == [0, 1, 2]
    assert not stablehlo.is_splat(op)
    filled = stablehlo.make_constant(True, IntegerType(1), (4,))
    assert stablehlo.splat_value(filled) == np.True_
    assert stablehlo.is_splat(filled)
    with pytest.raises(ValueError, match="not all equal"):
        stablehlo.splat_value(op)
    with pytest.raises(ValueError, match="no constant of shape"):
        stablehlo.make_constant(np.arange(3), IntegerType(64), (4,))


@pytest.mark.parametrize(
    "name",
    ["bool", "int2", "int4", "uint4", "int8", "uint8", "int16", "int32", "uint64", "float16", "bfloat16", "float64",
     "complex64", "complex128", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu", "float4_e2m1fn"],
)  # fmt: skip
def test_dtypes_and_element_types_are_inverse(name):
    dtype = np.dtype(getattr(ml_dtypes, name, name))
    assert element_dtype(dtype_element(dtype)) == dtype


def test_dtypes_without_element_type():
    with pytest.raises(TypeError, match="object"):
        dtype_element(np.dtype(object))
    with pytest.raises(TypeError, match="i3"):
        element_dtype(IntegerType(3))
