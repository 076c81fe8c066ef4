"""Exported graphs in TensorFlow: equal results, of stored programs, random ones, and of every element-wise op."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from stored_programs import PROGRAMS, RUNNABLE, inputs, meta, outputs
from whole.draw import random_program
from whole.registry import STEPS
from whole.styles import LARGE, LINEAR, MOVING, SMALL
from whole.verdict import difference

import shardwright as sw
from shardwright.compiler.layouts.unsharded import unsharded_module
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.tensorflow.exporting.graphs import ExportedGraph, export_graph, export_module
from shardwright.frontends.tensorflow.exporting.kernels import KERNELS
from shardwright.frontends.tensorflow.importing.tensors import data_type
from shardwright.runtime.executable import compile_module
from shardwright.tools.main import main

pytestmark = pytest.mark.peers
tf: Any = pytest.importorskip("tensorflow")

Array = np.ndarray[Any, Any]
STYLES = {"small": SMALL, "large": LARGE, "linear": LINEAR, "moving": MOVING}
OPS = sorted({op for step in STEPS for op in step.ops})
DTYPES: dict[str, Any] = {
    "f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "i8": np.int8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32,
    "ui64": np.uint64, "complex<f32>": np.complex64, "complex<f64>": np.complex128, "i1": np.bool_,
}  # fmt: skip
FLOATS = ("f32", "f64", "bf16", "f16")
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
TOLERANCES = {
    "float32": 3e-5,
    "complex64": 3e-5,
    "float64": 1e-9,
    "complex128": 1e-9,
    "bfloat16": 1e-2,
    "float16": 2e-3,
}


def session(graph_def: bytes) -> Any:
    graph = tf.Graph()
    message = tf.compat.v1.GraphDef()
    message.ParseFromString(graph_def)
    with graph.as_default():
        tf.import_graph_def(message, name="")
    options = tf.compat.v1.ConfigProto(intra_op_parallelism_threads=1, inter_op_parallelism_threads=1)
    return tf.compat.v1.Session(graph=graph, config=options)


def run(exported: ExportedGraph, arrays: Any) -> list[Array]:
    given = {port.tensor: array for port, array in zip(exported.inputs, arrays, strict=True)}
    with session(exported.graph_def.SerializeToString()) as opened:
        return [np.asarray(each) for each in opened.run([port.tensor for port in exported.outputs], given)]


def close(found: Array, wanted: Array, scale: float = 1.0) -> Array:
    """Where two arrays are equal, up to rounding for floats."""
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    if wanted.dtype.kind in "iub":
        return found == wanted
    wide = np.complex128 if wanted.dtype.kind == "c" else np.float64
    bound = TOLERANCES[wanted.dtype.name]
    left, right = found.astype(wide), wanted.astype(wide)
    same = np.isclose(left, right, rtol=bound, atol=bound * scale * 1e-3, equal_nan=True)
    return (
        same | (np.isnan(left) & np.isnan(right)) | (~np.isfinite(left) & ~np.isfinite(right) & (wide is np.complex128))
    )


def test_kernels_are_what_tensorflow_has() -> None:
    from tensorflow.python.framework import kernels, op_def_registry  # type: ignore[import-not-found]

    for name, kernel in KERNELS.items():
        definition = op_def_registry.get(name)
        assert [output.name for output in definition.output_arg] == list(kernel.outputs), name
        assert set(kernel.types) <= {attribute.name for attribute in definition.attr}
        known = [each for each in kernels.get_registered_kernels_for_op(name).kernel if each.device_type == "CPU"]
        first = next((attribute for attribute, source in kernel.types.items() if source in (0, 1)), None)
        if first is None or first == "Tidx":
            continue
        allowed = {t for each in known for c in each.constraint if c.name == first for t in c.allowed_values.list.type}
        missing = {
            dtype for dtype in kernel.dtypes if data_type(np.dtype(getattr(ml_dtypes, dtype, dtype))) not in allowed
        }
        assert not allowed or not missing, (name, missing)


REFUSED = {"bit_tricks": "16x8xi4", "low_rank": "lapack_sgesdd_ffi", "spectra_batch": "lapack_ssyevd_ffi"}
"""Stored programs that TensorFlow cannot say, and the word of the refusal."""


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_programs_say_why(name: str) -> None:
    with pytest.raises(ShardwrightError, match=rf"SW0893.*{REFUSED[name]}"):
        export_graph(sw.load_mlir(PROGRAMS / name / f"{name}.mlir"))


@pytest.mark.parametrize("name", [name for name in RUNNABLE if name not in REFUSED])
def test_stored_programs(name: str) -> None:
    exported = export_graph(sw.load_mlir(PROGRAMS / name / f"{name}.mlir"))
    relative = float(meta(name)["tol"]["rtol"])
    triples = zip(run(exported, inputs(name)), outputs(name), exported.outputs, strict=True)
    for found, wanted, port in triples:
        if port.dtype.kind in "iub":
            assert np.array_equal(found, wanted)
            continue
        wide = np.complex128 if port.dtype.kind == "c" else np.float64
        size = float(np.sqrt(np.nanmean(np.abs(wanted.astype(wide)) ** 2)))
        bound = max(relative, 1e-2 if port.dtype.itemsize == 2 else 1e-4)
        atol = bound * max(size, 1e-6)
        assert np.allclose(found.astype(wide), wanted.astype(wide), rtol=bound, atol=atol, equal_nan=True)


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("block", range(4))
def test_random_programs(style: str, block: int) -> None:
    for seed in range(30 * block, 30 * block + 30):
        check(seed, random_program(seed, "", STYLES[style]))


@pytest.mark.parametrize("op", OPS)
def test_programs_with_each_op(op: str) -> None:
    for seed in range(3):
        check(seed, random_program(seed, op))


def check(seed: int, program: Any) -> None:
    """Exported, run, compared with what NumPy says."""
    exported = export_module(parse_module(program.text))
    for found, value in zip(run(exported, program.inputs), program.results, strict=True):
        assert not difference(found, value), f"seed {seed}\n{program.text}"


def numbers(kind: str, turn: int) -> Array:
    """Elements of a type, the extreme ones among them."""
    random = np.random.default_rng(turn)
    dtype = DTYPES[kind]
    if kind == "i1":
        return random.integers(0, 2, 64).astype(bool)
    if kind in INTEGERS:
        bounds = np.iinfo(dtype)
        extreme = [0, 1, 2, 3, 7, bounds.max, bounds.min, bounds.max - 1, bounds.max // 3]
        extreme += [-1, -2, bounds.min + 1] if bounds.min else [8, 31, 33]
        array = np.array([*extreme, *random.integers(0, 100, 52).tolist()], dtype=object)
    elif kind in FLOATS:
        extreme = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, np.nan, np.inf, -np.inf, 1e-3, 3e4, -3e4, 0.99, -3.0]
        array = np.array([*extreme, *(random.standard_normal(48) * 3).tolist()])
    else:
        array = np.concatenate([[1, -2, 2j, 2 + 3j], random.standard_normal(60) * 2 + 1j * random.standard_normal(60)])
    return (array if turn == 0 else random.permutation(array)).astype(dtype)


def cases() -> Iterator[tuple[str, tuple[str, ...], str]]:
    """Every element-wise op with every type that it takes."""
    words = (
        "cosine exponential exponential_minus_one log log_plus_one logistic rsqrt sine sqrt tan tanh cbrt negate sign"
    )
    both = "acos acosh asin asinh atan atanh cosh sinh square conj"
    for kind in FLOATS:
        for op in f"{words} ceil floor round_nearest_even round_nearest_afz abs".split():
            yield f"stablehlo.{op}", (kind,), kind
        for op in f"{both} tan bessel_i1e digamma erf erf_inv erfc lgamma".split():
            yield f"chlo.{op}", (kind,), kind
        for op in "chlo.is_inf chlo.is_neg_inf chlo.is_pos_inf stablehlo.is_finite".split():
            yield op, (kind,), "i1"
        for op in "add subtract multiply divide maximum minimum power remainder atan2".split():
            yield f"stablehlo.{op}", (kind, kind), kind
    for kind in ("f32", "f64"):
        yield "chlo.next_after", (kind, kind), kind
    for kind in INTEGERS:
        for op in ("negate not popcnt count_leading_zeros " + ("" if kind.startswith("u") else "abs sign")).split():
            yield f"stablehlo.{op}", (kind,), kind
        bits = "and or xor shift_left shift_right_logical shift_right_arithmetic"
        for op in f"add subtract multiply divide maximum minimum power remainder {bits}".split():
            yield f"stablehlo.{op}", (kind, kind), kind
        yield "chlo.mulhi", (kind, kind), kind
    for kind, part in (("complex<f32>", "f32"), ("complex<f64>", "f64")):
        for op in words.split():
            yield f"stablehlo.{op}", (kind,), kind
        for op in both.split():
            yield f"chlo.{op}", (kind,), kind
        for op in "abs real imag".split():
            yield f"stablehlo.{op}", (kind,), part
    for op in "add multiply and or xor maximum minimum".split():
        yield f"stablehlo.{op}", ("i1", "i1"), "i1"
    for source in DTYPES:
        for target in DTYPES:
            yield "stablehlo.convert", (source,), target


CASES = list(cases())


@pytest.mark.parametrize("block", range(8))
def test_pointwise_ops_on_extreme_numbers(block: int) -> None:
    """All in one program for each block, so that TensorFlow starts only a few times."""
    for name, kinds, result in CASES[block::8]:
        arguments = ", ".join(f"%x{at}: tensor<64x{kind}>" for at, kind in enumerate(kinds))
        types, used = (
            ", ".join(f"tensor<64x{kind}>" for kind in kinds),
            ", ".join(f"%x{at}" for at in range(len(kinds))),
        )
        text = (
            f"func.func @main({arguments}) -> tensor<64x{result}> {{\n"
            f'  %r = "{name}"({used}) : ({types}) -> tensor<64x{result}>\n  return %r : tensor<64x{result}>\n}}'
        )
        arrays = [numbers(kind, at) for at, kind in enumerate(kinds)]
        wanted = np.asarray(compile_module(unsharded_module(parse_module(text))).run(list(arrays))[0])
        found = run(export_module(parse_module(text)), arrays)[0]
        wrong = ~close(found, wanted)
        assert not wrong.any(), f"{name} {kinds}: {[array[wrong] for array in (*arrays, found, wanted)]}"


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "uint32", "uint64"])
def test_minus_unsigned_integers_in_the_optimizer(dtype: str) -> None:
    x = np.array([[0, 1, 2], [3, 4, np.iinfo(dtype).max]], dtype)
    exported = export_graph(sw.function(lambda a: sw.negative(sw.reshape(a, (6,)))).trace(x))
    np.testing.assert_array_equal(run(exported, [x])[0], -x.reshape(6))


@pytest.mark.parametrize("kind", ["f8E4M3FN", "f8E5M2"])
def test_floats_of_eight_bits(kind: str) -> None:
    text = f"""func.func @main(%x: tensor<6x4xf32>) -> tensor<2x12xf32> {{
      %0 = stablehlo.convert %x : (tensor<6x4xf32>) -> tensor<6x4x{kind}>
      %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<6x4x{kind}>) -> tensor<4x6x{kind}>
      %2 = stablehlo.add %1, %1 : tensor<4x6x{kind}>
      %3 = stablehlo.reshape %2 : (tensor<4x6x{kind}>) -> tensor<2x12x{kind}>
      %4 = stablehlo.convert %3 : (tensor<2x12x{kind}>) -> tensor<2x12xf32>
      return %4 : tensor<2x12xf32>
    }}"""
    dtype = getattr(ml_dtypes, f"float8_{kind[2:].lower()}")
    array = np.random.default_rng(0).standard_normal((6, 4)).astype("float32")
    narrow = array.astype(dtype).T.astype("float32")
    wanted = (narrow + narrow).astype(dtype).astype("float32").reshape(2, 12)
    np.testing.assert_array_equal(run(export_module(parse_module(text)), [array])[0], wanted)


@pytest.mark.parametrize(("algorithm", "words"), [("THREE_FRY", 2), ("PHILOX", 2), ("PHILOX", 3)])
def test_random_bits(algorithm: str, words: int) -> None:
    for kind in ("ui8", "ui32", "i64"):
        for shape in ((), (5,), (4, 3), (3, 5), (1, 7, 2)):
            made, state = "x".join([*map(str, shape), kind]), f"{words}xui64"
            text = (
                f"func.func @main(%s: tensor<{state}>) -> (tensor<{state}>, tensor<{made}>) {{\n"
                f"  %a, %b = stablehlo.rng_bit_generator %s, algorithm = {algorithm} : (tensor<{state}>) -> "
                f"(tensor<{state}>, tensor<{made}>)\n  return %a, %b : tensor<{state}>, tensor<{made}>\n}}"
            )
            arrays = [np.array([2**64 - 3, 2**64 - 2, 7][:words], "uint64")]
            wanted = compile_module(unsharded_module(parse_module(text))).run(list(arrays))
            for found, each in zip(run(export_module(parse_module(text)), arrays), wanted, strict=True):
                np.testing.assert_array_equal(found, each)


def test_linear_algebra() -> None:
    random = np.random.default_rng(0)
    tall, wide = random.standard_normal((2, 5, 3)), random.standard_normal((3, 5)).astype("float32")
    square = random.standard_normal((2, 4, 4)) + 1j * random.standard_normal((2, 4, 4))
    cases: list[tuple[Any, Any]] = [
        (sw.linalg.qr, tall),
        (lambda x: sw.linalg.qr(x, mode="complete"), tall),
        (sw.linalg.qr, wide),
        (sw.linalg.qr, square),
        (sw.linalg.inv, square),
        (sw.linalg.slogdet, square.real),
        (sw.linalg.det, np.ones((3, 3))),
        (lambda x: sw.linalg.solve(x, x[..., :2]), square),
    ]
    for function, array in cases:
        traced = sw.function(function)
        wanted = traced(array)
        found = run(export_graph(traced.trace(array)), [array])
        for each, other in zip(found, wanted if isinstance(wanted, tuple) else (wanted,), strict=True):
            assert np.allclose(each, other, atol=1e-5 if array.dtype == np.float32 else 1e-12)


def test_saved_models_run(tmp_path: Path) -> None:
    def loss(params: dict[str, Any], x: Any, y: Any) -> Any:
        hidden = sw.nn.relu(x @ params["w"] + params["b"])
        return sw.mean((hidden @ params["out"] - y) ** 2)

    def step(params: dict[str, Any], x: Any, y: Any) -> Any:
        value, slopes = sw.value_and_grad(loss)(params, x, y)
        return value, {name: params[name] - 0.1 * slopes[name] for name in params}

    random = np.random.default_rng(0)
    shapes = {"w": (4, 8), "b": (8,), "out": (8, 2)}
    params = {name: random.standard_normal(shape, np.float32) for name, shape in shapes.items()}
    x, y = random.standard_normal((5, 4), np.float32), random.standard_normal((5, 2), np.float32)
    function = sw.function(step)
    sw.to_saved_model(function.trace(params, x, y), tmp_path)
    signature = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    found = signature(**{f"params_{name}": value for name, value in params.items()}, x=x, y=y)
    value, after = function(params, x, y)
    assert np.allclose(found["result_0"], value, rtol=1e-5)
    for name in params:
        assert np.allclose(found[f"result_1_{name}"], after[name], atol=1e-6)


def test_the_command_writes_what_tensorflow_reads(tmp_path: Path) -> None:
    source, target = tmp_path / "p.mlir", tmp_path / "p.pb"
    source.write_text(
        "func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
        "  %r = stablehlo.tanh %x : tensor<3xf32>\n  return %r : tensor<3xf32>\n}"
    )
    assert main(["export", str(source), "--to", "graphdef", "-o", str(target)]) == 0
    with session(target.read_bytes()) as opened:
        assert np.allclose(opened.run("result:0", {"x:0": [0, 1, 2]}), np.tanh([0, 1, 2]))


def test_attention_and_its_gradients() -> None:
    def block(params: dict[str, Any], x: Any) -> Any:
        query, key, value = (x @ params[name] for name in ("q", "k", "v"))
        weights = sw.nn.softmax(sw.einsum("bqd,bkd->bqk", query, key) / 4.0)
        return sw.mean(sw.nn.gelu(sw.nn.layer_norm(x + sw.einsum("bqk,bkd->bqd", weights, value))) ** 2)

    random = Random(0)
    generator = np.random.default_rng(random.randrange(100))
    params = {name: generator.standard_normal((16, 16), np.float32) / 4 for name in "qkv"}
    x = generator.standard_normal((2, 6, 16), np.float32)
    function = sw.function(sw.value_and_grad(block))
    value, slopes = function(params, x)
    found = run(export_graph(function.trace(params, x)), [*params.values(), x])
    assert np.allclose(found[0], value, rtol=1e-5)
    for slope, name in zip(found[1:], params, strict=True):
        assert np.allclose(slope, slopes[name], atol=1e-6)
