"""Programs of any size are compiled, priced and proved without their memory; what does not fit is refused by name."""

from __future__ import annotations

import re

import numpy as np
import pytest

import shardwright as sw
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.codegen import arena
from shardwright.runtime.executable import compile_module

MESH = sw.Mesh(data=4, model=2)
HUGE = 1 << 20
"""Rows and columns of a matrix of 4 TiB."""


def rows(*shape: int) -> sw.TensorSpec:
    return sw.TensorSpec(shape, "float32", layout=sw.Layout(["data"], MESH))


def test_a_program_of_any_size_is_compiled_priced_and_proved() -> None:
    stage = sw.function(lambda x: sw.tanh(x @ sw.matrix_transpose(x))).trace(rows(HUGE, HUGE)).partition()
    compiled = stage.compile()
    assert compiled.peak_bytes >= 4 * HUGE**2  # the result alone
    # Each device computes half of its rows of the product, the other half is done along `model`: it needs half of the
    # columns of the right side, of which it has a quarter.
    assert stage.predicted_bytes == 3 * 4 * HUGE**2 // 4 // 2
    assert stage.certify().proved


def test_what_moves_along_a_dim_of_any_size_is_priced() -> None:
    """Of 2**33 rows of eight numbers each device has one, and is given all others."""
    rows = 1 << 33
    mesh = sw.Mesh(x=rows)
    spec = sw.TensorSpec((rows, 8), "float32", layout=sw.Layout(["x"], mesh))
    stage = sw.function(lambda x: sw.relayout(sw.tanh(x), sw.Layout.replicated(mesh, 2))).trace(spec).partition()
    assert stage.price().peak_bytes == 8 * 4 * (2 + rows)


def test_what_does_not_fit_is_refused_with_its_largest_values() -> None:
    @sw.function
    def wide(scale: sw.Array) -> sw.Array:
        rows = sw.arange(HUGE, dtype="float32", layout=sw.Layout(["data"], MESH))
        x = rows[:, None] * scale - sw.arange(HUGE, dtype="float32")
        return sw.sum(sw.sort(x, axis=1))

    with pytest.raises(ShardwrightError, match=r"SW0609.*a run holds [\d.]+ TiB at once") as caught:
        wide(np.float32(2))
    line = wide.__wrapped__.__code__.co_firstlineno + 4
    # A sort of 2**40 elements finds their order, numbers of eight bytes, first.
    assert re.search(rf"8\.0 TiB for ordered at \S+test_memory\.py:{line}:", str(caught.value))
    assert caught.value.diagnostics[0].location is not None
    assert caught.value.diagnostics[0].location.file == __file__


@pytest.mark.parametrize("split", [[None], ["data"]])
def test_numbers_that_are_counted_take_no_memory_before_they_run(split: list[str | None]) -> None:
    @sw.function
    def numbers() -> sw.Array:
        return sw.arange(1 << 40, dtype="int64", layout=sw.Layout(split, MESH))

    stage = numbers.trace().partition()
    assert stage.compile().peak_bytes >= 8 << 40
    with pytest.raises(ShardwrightError, match=r"SW0609.*a run holds [\d.]+ TiB at once"):
        numbers()


@pytest.mark.parametrize(("dtype", "count"), [("float32", 17 << 20), ("bfloat16", 33 << 20)])
def test_many_numbers_are_counted_as_few_are(dtype: str, count: int) -> None:
    made = sw.function(lambda: sw.arange(count, dtype=dtype))()
    assert made.dtype.name == dtype
    places = np.arange(0, count, 5)  # to convert all of them takes longer than to make them
    assert (np.asarray(made)[places] == places.astype(made.dtype)).all()
    assert len(made) == count


def test_what_stands_before_a_barrier_is_done_before_what_follows() -> None:
    """Products that are added up are not kept for one sum of them all: there are two sums and a product at a time."""
    count, size = 6, 16
    square = f"tensor<{size}x{size}xf32>"
    lines = ["%s0 = stablehlo.negate %a"]
    for number in range(count):
        lines += [
            f"%p{number} = stablehlo.dot_general %a, %w{number}, contracting_dims = [1] x [0]",
            f"%t{number} = stablehlo.add %s{number}, %p{number}",
            f"%s{number + 1} = stablehlo.optimization_barrier %t{number}",
        ]
    types = [f"({square}, {square}) -> {square}" if "dot" in line else square for line in lines]
    body = "\n".join(f"{line} : {kind}" for line, kind in zip(lines, types, strict=True))
    given = ", ".join(f"{name}: {square}" for name in ["%a", *(f"%w{number}" for number in range(count))])
    text = f"func.func public @main({given}) -> {square} {{\n{body}\n  return %s{count} : {square}\n}}"
    executable = compile_module(parse_module(text, "test.mlir"))
    assert executable.peak_bytes <= 4 * 4 * size**2  # with the result, which is there from the beginning
    a, *weights = (np.full((size, size), number, np.float32) for number in range(1, count + 2))
    np.testing.assert_array_equal(executable.run([a, *weights])[0], sum((a @ w for w in weights), -a))


def test_what_is_made_before_a_result_lies_in_its_memory() -> None:
    """Of four values in a row two are there at a time: one in the arena, the others in the result's memory in turn."""
    square = sw.TensorSpec((64, 64))

    @sw.function
    def chain(a: sw.Array, b: sw.Array) -> sw.Array:
        return sw.tanh(((a @ b) @ b) @ b)

    compiled = chain.trace(square, square).compile()
    assert compiled.peak_bytes == 2 * 4 * 64 * 64
    a, b = (np.random.default_rng(0).standard_normal((2, 64, 64)) / 8).astype("float32")
    first, second = (np.asarray(compiled(a, scale * b)) for scale in (1, 2))  # results of two runs share nothing
    np.testing.assert_allclose(first, np.tanh(a @ b @ b @ b), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(second, np.tanh(8 * (a @ b @ b @ b)), rtol=1e-4, atol=1e-5)


def test_products_go_one_by_one_where_together_they_hold_much_more() -> None:
    """Of the first product nothing is needed once the second is there: the third takes its place."""
    size = 512
    square = sw.TensorSpec((size, size))

    @sw.function
    def products(x: sw.Array, u: sw.Array) -> sw.Array:
        second, third = (x @ u) @ u, u @ x  # threads could do these two side by side
        return sw.sum(second * third)

    compiled = products.trace(square, square).compile()
    assert 2 * 4 * size**2 <= compiled.peak_bytes < 2 * 4 * size**2 * 1.01
    x, u = (np.random.default_rng(2).standard_normal((2, size, size)) / 16).astype("float32")
    np.testing.assert_allclose(float(compiled(x, u)), ((x @ u @ u) * (u @ x)).sum(), rtol=1e-3)


def test_several_results_lend_their_memory_until_they_are_written() -> None:
    """What a loop has for itself, what another result is made of, and results that are written in between."""

    @sw.function
    def several(a: sw.Array, b: sw.Array) -> list[sw.Array]:
        c = a @ b
        total, _ = sw.scan(lambda state, _: (sw.tanh(state @ b), None), c, None, length=3)
        d = sw.sort(total @ b, axis=0)
        return [c, d, d @ c, sw.exp(c @ a)]

    a, b = (np.random.default_rng(1).standard_normal((2, 64, 64)) / 8).astype("float32")
    c = total = a @ b
    for _ in range(3):
        total = np.tanh(total @ b)
    d = np.sort(total @ b, axis=0)
    for found, due in zip(several(a, b), [c, d, d @ c, np.exp(c @ a)], strict=True):
        np.testing.assert_allclose(np.asarray(found), due, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fused", [True, False])
def test_after_a_refusal_a_program_runs_where_there_is_memory(fused: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    x = sw.relayout(np.arange(64, dtype=np.float32).reshape(8, 8), sw.Layout(["data"], MESH))
    compiled = sw.function(lambda x: x @ sw.matrix_transpose(x)).trace(x).compile()
    if not fused:
        compiled.executable._inner._engine.call = _refusing(compiled.executable._inner._engine.call)  # pyright: ignore
    with monkeypatch.context() as patched:
        patched.setattr(arena, "machine_bytes", lambda: 100)
        with pytest.raises(ShardwrightError, match=r"SW0609.*this process may have 100 bytes"):
            compiled(x)
    np.testing.assert_array_equal(compiled(x), np.asarray(x) @ np.asarray(x).T)


def _refusing(call):
    """An engine's call, which has no memory the first time."""
    refusals = [MemoryError()]

    def first_not(*args):
        if refusals:
            raise refusals.pop()
        return call(*args)

    return first_not


def test_the_least_of_what_there_is_and_what_is_allowed(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    limit = tmp_path / "memory.max"
    monkeypatch.setattr(arena, "_CONTROL_GROUPS", (limit, tmp_path / "none"))
    limit.write_text("max\n")
    whole = arena.machine_bytes()
    limit.write_text("4096\n")
    assert arena.machine_bytes() == 4096 < whole
    with pytest.raises(MemoryError):
        arena.arena(4000, beside=97)
    assert arena.arena(4000, beside=96).nbytes == 4000
