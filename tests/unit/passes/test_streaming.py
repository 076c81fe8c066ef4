"""Products whose operand comes part by part where memory is short: what they give, send and hold, and when."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from processes import on_processes
from xdsl.dialects.builtin import ModuleOp

import shardwright as sw
from shardwright.compiler.layouts.memory import memory_of
from shardwright.compiler.pipelines import ALIGN, LOCALIZE, PLAN, run_pipeline
from shardwright.compiler.report import predicted_bytes
from shardwright.dialects.dtensor import CollectiveOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.runtime.executable import compile_module
from shardwright.runtime.processes.communicator import Communicator
from shardwright.runtime.stacking import to_stacked

TYPES = {
    "f32": np.dtype("float32"),
    "f64": np.dtype("float64"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "i8": np.dtype("int8"),
    "i32": np.dtype("int32"),
}


@dataclass(frozen=True)
class Case:
    """A product as NumPy's einsum writes it; of one operand its layout before and after it is gathered."""

    mesh: str
    sums: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    result: str
    sizes: tuple[int, ...]
    """The sizes of the letters, in alphabetical order."""
    partial: str = ""
    element: str = "f32"
    made: str = "f32"

    @property
    def names(self) -> list[str]:
        operands, result = self.sums.split("->")
        return [*operands.split(","), result]

    def shape(self, names: str) -> tuple[int, ...]:
        sizes = dict(zip(sorted({*self.sums} - {*",->"}), self.sizes, strict=True))
        return tuple(sizes[name] for name in names)

    def type(self, names: str, layout: str, element: str, partial: str = "") -> str:
        kind = f", unreduced=sum{{{partial}}}" if partial else ""
        shape = "".join(f"{size}x" for size in self.shape(names))
        return f"tensor<{shape}{element}, #dtensor.layout<@mesh, [{layout}]{kind}>>"

    def text(self, limit: int | None = 1) -> str:
        """The aligned program."""
        left, right, result = self.names
        sides = [
            [self.type(names, each, self.element) for each in layouts]
            for names, layouts in ((left, self.left), (right, self.right))
        ]
        made = self.type(result, self.result, self.made, self.partial)
        whole = self.type(result, self.result, self.made)
        side = 0 if len(self.left) == 2 else 1
        given = ["%a", "%b"]
        given[side] = "%c"
        batch = [name for name in left if name in right and name in result]
        pairs = [
            [list(map(side.index, names)) for side in (left, right)]
            for names in (batch, [n for n in left if n in right and n not in result])
        ]
        numbers = f"batching_dims = {pairs[0][0]} x {pairs[0][1]}, contracting_dims = {pairs[1][0]} x {pairs[1][1]}"
        asked = "" if limit is None else f"dtensor.memory_limit = {limit} : i64, "
        return f"""
module attributes {{{asked}dtensor.stage = "aligned"}} {{
  dtensor.mesh @mesh = <[{self.mesh}]>
  func.func public @main(%a: {sides[0][0]}, %b: {sides[1][0]}) -> {whole} {{
    %c = dtensor.relayout {"%a%b"[2 * side : 2 * side + 2]} {{reason = "asked"}} : {sides[side][0]} -> {sides[side][1]}
    %d = stablehlo.dot_general {given[0]}, {given[1]}, {numbers} : ({sides[0][-1]}, {sides[1][-1]}) -> {made}
    %e = dtensor.relayout %d : {made} -> {whole}
    return %e : {whole}
  }}
}}
"""

    def arrays(self) -> list[Any]:
        draw = np.random.default_rng(0)
        return [draw.integers(-4, 5, self.shape(names)).astype(TYPES[self.element]) for names in self.names[:2]]


ROWS = Case('"x"=4', "ik,kj->ij", ('{"x"}, {}',), ('{"x"}, {}', "{}, {}"), '{"x"}, {}', (8, 32, 64))
COLUMNS = replace(ROWS, right=('{}, {"x"}', "{}, {}"))
CASES = {
    "summed": ROWS,
    "side by side": COLUMNS,
    "two devices": replace(ROWS, mesh='"x"=2'),
    "sixteen devices": replace(ROWS, mesh='"x"=16', sizes=(16, 32, 64)),
    "three devices": replace(COLUMNS, mesh='"x"=3', sizes=(6, 36, 96)),
    "six devices": replace(ROWS, mesh='"x"=6', sizes=(6, 36, 96)),
    "twelve devices": replace(COLUMNS, mesh='"x"=12', sizes=(12, 36, 96)),
    "left, side by side": Case('"x"=4', "ik,kj->ij", ('{"x"}, {}', "{}, {}"), ('{}, {"x"}',), '{}, {"x"}', (64, 8, 32)),
    "left, summed": Case('"x"=4', "ki,kj->ij", ('{"x"}, {}', "{}, {}"), ('{}, {"x"}',), '{}, {"x"}', (64, 8, 32)),
    "batches": Case(
        '"x"=4, "y"=2',
        "bik,bkj->bij",
        ('{"y"}, {"x"}, {}',),
        ('{"y"}, {"x"}, {}', '{"y"}, {}, {}'),
        '{"y"}, {"x"}, {}',
        (2, 8, 32, 64),
    ),
    "batches, side by side": Case(
        '"x"=4, "y"=2',
        "bik,bjk->bij",
        ('{"y"}, {"x"}, {}',),
        ('{"y"}, {"x"}, {}', '{"y"}, {}, {}'),
        '{"y"}, {"x"}, {}',
        (2, 8, 64, 32),
    ),
    "two summed dims": Case(
        '"x"=4', "lik,klj->ij", ('{}, {"x"}, {}',), ('{"x"}, {}, {}', "{}, {}, {}"), '{"x"}, {}', (8, 32, 16, 2)
    ),
    "more rows of devices": Case(
        '"x"=4, "y"=2, "z"=2',
        "ik,kj->ij",
        ('{"y", "x", "z"}, {}',),
        ('{"x"}, {}', "{}, {}"),
        '{"y", "x", "z"}, {}',
        (16, 32, 64),
    ),
    "parts of parts": Case(
        '"x"=2, "y"=2, "z"=2',
        "ik,kj->ij",
        ('{"x", "y"}, {}',),
        ('{}, {"z", "x", "y"}', '{}, {"z"}'),
        '{"x", "y"}, {"z"}',
        (8, 32, 64),
    ),
    "parts of an axis": Case(
        '"x"=8',
        "ik,kj->ij",
        ('{"x":(2)4}, {"x":(1)2}',),
        ('{"x"}, {}', '{"x":(1)2}, {}'),
        '{"x":(2)4}, {}',
        (8, 32, 64),
        partial='"x":(1)2',
    ),
    "bytes": replace(ROWS, element="i8", made="i32"),
    "integers": replace(COLUMNS, element="i32", made="i32"),
    "narrow floats": replace(ROWS, element="bf16", made="bf16", sizes=(8, 64, 64)),
}


def streamed(text: str) -> ModuleOp:
    module = parse_module(text, "test.mlir")
    run_pipeline(module, ["stream-products"], verify_each=True)
    return module


def planned(module: ModuleOp) -> ModuleOp:
    run_pipeline(module, PLAN, verify_each=True)
    return module


def sent(module: ModuleOp) -> list[str]:
    return [op.name.partition(".")[2] for op in module.walk() if isinstance(op, CollectiveOp)]


def stays(text: str) -> bool:
    return print_module(streamed(text)) == print_module(parse_module(text, "test.mlir"))


@pytest.mark.parametrize("name", CASES)
def test_parts_come_one_by_one(name: str) -> None:
    """The product is NumPy's, in as many bytes as gathering takes, and a device holds less."""
    case = CASES[name]
    free = planned(parse_module(case.text(None), "test.mlir"))
    module = planned(streamed(case.text()))
    assert "all_gather" in sent(free)
    assert "all_gather" not in sent(module)
    due = predicted_bytes(free)
    assert predicted_bytes(module) == due
    arrays = case.arrays()
    wide = [array.astype("float64") for array in arrays]
    expected = np.einsum(case.sums, *wide).astype(TYPES[case.made])
    for each in (free, module):
        run_pipeline(each, LOCALIZE, verify_each=True)
    assert memory_of(module).peak < memory_of(free).peak
    for fused in (True, False):
        executable = compile_module(module.clone(), fused=fused)
        np.testing.assert_array_equal(executable.run(arrays)[0], expected)
        assert executable.ledger.sent_bytes == due


def test_narrow_floats_are_added_up_as_wide_as_within_a_product() -> None:
    """256 + 1 + 1 + 1 is 260 in bfloat16 where it is rounded once; where it is after each part, it stays 256."""
    case = replace(ROWS, element="bf16", made="bf16", sizes=(8, 32, 64))
    module = planned(streamed(case.text()))
    run_pipeline(module, LOCALIZE)
    left, right = np.ones((8, 64)), np.zeros((64, 32))
    right[[0, 16, 32, 48]] = np.array([[256], [1], [1], [1]])
    found = compile_module(module).run([each.astype(ml_dtypes.bfloat16) for each in (left, right)])[0]
    np.testing.assert_array_equal(found.astype("float32"), np.full((8, 32), 260))


LEFT_ALONE = {
    "too many parts": replace(ROWS, mesh='"x"=64', sizes=(64, 32, 64)),
    "digits that cross": replace(
        ROWS,
        mesh='"x"=2, "y"=3',
        left=('{"x", "y"}, {}',),
        right=('{"x", "y"}, {}', "{}, {}"),
        result='{"x", "y"}, {}',
        sizes=(6, 32, 96),
    ),
    "two dims at once": replace(
        ROWS, mesh='"x"=2, "y"=2', left=('{"x", "y"}, {}',), right=('{"x"}, {"y"}', "{}, {}"), result='{"x", "y"}, {}'
    ),
    "a gathered batch": Case(
        '"x"=4', "bik,bkj->bij", ('{}, {"x"}, {}',), ('{"x"}, {}, {}', "{}, {}, {}"), '{}, {"x"}, {}', (4, 8, 32, 64)
    ),
    "more is held in rounds": replace(ROWS, sizes=(128, 32, 48)),
    "all multiply alike": replace(ROWS, left=("{}, {}",), result="{}, {}"),
    "another order": replace(
        ROWS, mesh='"x"=2, "y"=2', left=('{"y", "x"}, {}',), right=('{"x", "y"}, {}', "{}, {}"), result='{"y", "x"}, {}'
    ),
    "moved as well": replace(ROWS, right=('{"x"}, {}', '{}, {"x"}'), left=("{}, {}",), result='{}, {"x"}'),
}


@pytest.mark.parametrize("name", LEFT_ALONE)
def test_what_has_no_such_parts_is_gathered(name: str) -> None:
    assert stays(LEFT_ALONE[name].text())


def test_a_copy_for_others_than_products_is_kept() -> None:
    text = ROWS.text()
    made = ROWS.type("kj", "{}, {}", "f32")
    assert not stays(text)
    assert stays(text.replace("    %e =", f"    %n = stablehlo.negate %c : {made}\n    %e ="))


def test_without_need_nothing_changes() -> None:
    """Where the program fits, or holds most elsewhere, an operand is gathered; where it does not, part after part."""
    text = ROWS.text(None)
    held = max(levels(text))
    assert stays(text)
    assert stays(ROWS.text(held))
    assert not stays(ROWS.text(held - 1))
    wide = "tensor<4096xf32, #dtensor.layout<@mesh, [{}]>>"
    more = f"    %f = stablehlo.iota dim = 0 : {wide}\n    %g = stablehlo.negate %f : {wide}\n    %e ="
    assert stays(ROWS.text(held - 1).replace("    %e =", more))


def test_what_is_gathered_twice_then_comes_by_parts_as_well() -> None:
    """A product waits for what another one makes of the same value, which is let go of in between."""
    held, whole = ("tensor<64x64xf32, #dtensor.layout<@mesh, [" + dims + ", {}]>>" for dims in ('{"x"}', "{}"))
    row, wide = '#dtensor.layout<@mesh, [{"x"}, {}]>', "tensor<1024xf32, #dtensor.layout<@mesh, [{}]>>"
    row = f"tensor<8x64xf32, {row}>"
    text = f"""
module attributes {{dtensor.memory_limit = 16384 : i64, dtensor.stage = "aligned"}} {{
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: {row}, %w: {held}) -> ({row}, {wide}) {{
    %0 = dtensor.relayout %w : {held} -> {whole}
    %1 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : ({row}, {whole}) -> {row}
    %2 = stablehlo.iota dim = 0 : {wide}
    %3 = stablehlo.negate %2 : {wide}
    %4 = stablehlo.dot_general %1, %0, contracting_dims = [1] x [1] : ({row}, {whole}) -> {row}
    return %4, %3 : {row}, {wide}
  }}
}}
"""
    assert stays(text)  # as long as the second product reads it, too
    module = parse_module(text, "test.mlir")
    run_pipeline(module, [*ALIGN[2:], *PLAN], verify_each=True)
    assert sent(module) == ["window"] * 6
    assert predicted_bytes(module) == 2 * Fraction(3, 4) * 64 * 64 * 4


def test_what_makes_most_room_goes_first() -> None:
    """Of two values that are there at a time, the larger one, and then there is room for the other."""
    held, whole, small, small_whole, row, short = (
        f"tensor<{shape}xf32, #dtensor.layout<@mesh, [{dims}, {{}}]>>"
        for shape, dims in (
            ("64x64", '{"x"}'),
            ("64x64", "{}"),
            ("64x32", '{"x"}'),
            ("64x32", "{}"),
            ("8x64", '{"x"}'),
            ("8x32", '{"x"}'),
        )
    )
    arguments = (8 * 64 + 64 * 64 + 64 * 32) * 4 // 4
    text = f"""
module attributes {{dtensor.memory_limit = {arguments + 15 * 1024} : i64, dtensor.stage = "aligned"}} {{
  dtensor.mesh @mesh = <["x"=4]>
  func.func public @main(%a: {row}, %v: {small}, %w: {held}) -> ({short}, {row}) {{
    %0 = dtensor.relayout %v : {small} -> {small_whole}
    %1 = dtensor.relayout %w : {held} -> {whole}
    %2 = stablehlo.dot_general %a, %1, contracting_dims = [1] x [0] : ({row}, {whole}) -> {row}
    %3 = stablehlo.dot_general %a, %0, contracting_dims = [1] x [0] : ({row}, {small_whole}) -> {short}
    return %3, %2 : {short}, {row}
  }}
}}
"""
    module = planned(streamed(text))
    assert sent(module) == ["all_gather", *["window"] * 3]
    assert predicted_bytes(module) == Fraction(3, 4) * (64 * 64 + 64 * 32) * 4


def levels(text: str) -> tuple[int, ...]:
    """What a device holds, operation by operation."""
    module = parse_module(text, "test.mlir")
    run_pipeline(module, [*PLAN, *LOCALIZE])
    return memory_of(module).levels


# Whole programs

MESH = sw.Mesh(x=4)
SIZE, F32 = 64, 4
ROW, WHOLE = sw.Layout(["x", None], MESH), SIZE * SIZE * F32
PART = WHOLE // 4


def stage(function: Any, *shapes: tuple[int, ...], layout: sw.Layout = ROW) -> Any:
    return sw.function(function).trace(*(sw.TensorSpec(shape, "float32", layout=layout) for shape in shapes))


def peak(partitioned: Any) -> int:
    return memory_of(partitioned.module).peak


def test_a_limit_is_kept_by_parts_at_no_more_bytes() -> None:
    """Two arguments, two sums and a part of each operand, where it was a whole operand and a product."""
    traced = stage(lambda a, b: a @ b, (SIZE, SIZE), (SIZE, SIZE))
    free = traced.lay_out().partition()
    assert peak(free) == 2 * PART + WHOLE + PART
    assert sent(free.planned) == ["all_gather"]
    assert sent(traced.lay_out(memory_limit=peak(free)).partition().planned) == ["all_gather"]
    tight = traced.lay_out(memory_limit=peak(free) - 1).partition()
    assert sent(tight.planned) == ["window"] * 3
    number = 4  # of the device, by which it finds its own columns
    assert peak(tight) == 2 * PART + 3 * PART + PART // 4 + number
    assert tight.predicted_bytes == free.predicted_bytes == Fraction(3, 4) * WHOLE
    draw = np.random.default_rng(0).integers(-4, 5, (2, SIZE, SIZE)).astype("float32")
    np.testing.assert_array_equal(tight.compile(certify=True)(*draw).numpy(), draw[0] @ draw[1])
    (reason, *_) = {op.reason.data for op in tight.planned.walk() if isinstance(op, CollectiveOp)}
    assert reason.endswith("; it comes in 4 parts, one by one, as a device would hold too much otherwise")
    assert "one by one" in str(tight.explain())


def test_no_more_comes_by_parts_than_has_to() -> None:
    """Of two products the one at the fullest moment."""
    traced = stage(lambda a, b, c: (a @ b)[:, :16] @ c[:16], (SIZE, SIZE), (SIZE, SIZE), (SIZE, SIZE))
    free = traced.lay_out().partition()
    assert sent(free.planned).count("all_gather") == 2
    tight = traced.lay_out(memory_limit=peak(free) - 1).partition()
    assert sent(tight.planned).count("all_gather") == 1


def test_parts_that_several_products_read_come_once() -> None:
    def three(x: Any, q: Any, k: Any, v: Any) -> Any:
        return x @ q, x @ k, x @ v

    columns = sw.Layout([None, "x"], MESH)
    specs = [sw.TensorSpec((SIZE, 4 * SIZE), "float32", layout=ROW)]
    specs += [sw.TensorSpec((4 * SIZE, SIZE // 2), "float32", layout=columns)] * 3
    traced = sw.function(three).trace(*specs)
    free = traced.lay_out().partition()
    tight = traced.lay_out(memory_limit=peak(free) - 1).partition()
    assert sent(free.planned)[0] == "all_gather"
    assert sent(tight.planned) == ["window"] * 3 + sent(free.planned)[1:]
    assert tight.predicted_bytes == free.predicted_bytes
    draw = np.random.default_rng(0)
    given = [draw.integers(-4, 5, spec.shape).astype("float32") for spec in specs]
    for found, factor in zip(tight.compile(certify=True)(*given), given[1:], strict=True):
        np.testing.assert_array_equal(found.numpy(), given[0] @ factor)


def test_parts_come_in_each_round_of_a_loop() -> None:
    """A scan over the weights of layers: no device has those of one layer whole."""

    def layers(x: Any, weights: Any) -> Any:
        return sw.scan(lambda x, w: (sw.maximum(x @ w, 0), None), x, weights)[0]

    weights = sw.Layout([None, "x", None], MESH)
    specs = (
        sw.TensorSpec((SIZE, SIZE), "float32", layout=ROW),
        sw.TensorSpec((3, SIZE, SIZE), "float32", layout=weights),
    )
    traced = sw.function(layers).trace(*specs)
    free = traced.lay_out().partition()
    tight = traced.lay_out(memory_limit=peak(free) - 1).partition()
    assert sent(free.planned) == ["all_gather"]
    assert sent(tight.planned) == ["window"] * 3
    assert tight.predicted_bytes == free.predicted_bytes == 3 * Fraction(3, 4) * WHOLE
    draw = np.random.default_rng(0)
    x, w = draw.integers(-2, 3, (SIZE, SIZE)).astype("float32"), draw.integers(-2, 3, (3, SIZE, SIZE)).astype("float32")
    expected = x
    for weight in w:
        expected = np.maximum(expected @ weight, 0)
    np.testing.assert_array_equal(tight.compile(certify=True)(x, w).numpy(), expected)


@pytest.mark.parametrize(("dims", "fused"), [(["x", None], True), ([None, "x"], True), (["x", None], False)])
def test_processes_hold_what_is_foretold(dims: list[str | None], fused: bool) -> None:
    """Each of four: besides arguments, and results, which are there from the beginning."""
    traced = sw.function(lambda a, b: a @ b).trace(
        sw.TensorSpec((SIZE, SIZE), "float32", layout=ROW),
        sw.TensorSpec((SIZE, SIZE), "float32", layout=sw.Layout(dims, MESH)),
    )
    free = traced.lay_out().partition()
    tight = traced.lay_out(memory_limit=peak(free) - 1).partition()
    given = np.random.default_rng(0).integers(-4, 5, (SIZE, SIZE)).astype("float32")

    def work(communicator: Communicator) -> tuple[int, Any]:
        executable = compile_module(tight.module, fused=fused, communicator=communicator, threads=1)
        assert executable.mesh is not None
        mine = executable.mesh.seen_by(communicator.clients)
        (result,) = executable.run_stacked([to_stacked(given, port.spec, mine) for port in executable.inputs])
        return executable.peak_bytes, np.array(result)

    found = on_processes(4, work)
    np.testing.assert_array_equal(np.concatenate([part.reshape(-1, SIZE) for _, part in found]), given @ given)
    assert all(held <= peak(tight) - 2 * PART + PART < peak(free) - 2 * PART for held, _ in found)
