"""
The sharding table `docs/rules.md`, generated from the table itself.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from shardwright.dialects.text.parsing import parse_module
from shardwright.rules import ROWS, describe, rule_for

HEADING = """# The sharding table

What each op means for layouts. A row maps the dims of operands and results to *factors*, einsum-like; a mesh axis that
splits a factor splits every dim that it stands in.

- `...` is all dims that are not named, the same ones wherever it stands; `(i j)` is a dim made of two factors, `1` a
  dim of size one, `()` a scalar.
- `k=sum` is a factor that the results lack: splitting it leaves partial sums. `replicate` factors are whole on every
  device. `permute` factors are whole as well, or, in slices, reversals and pads by constants, split at the price of an
  exchange.
- `i j -> i j  or  l j -> k j`: two ways of one op. Axes split the factors of one of them; layouts spread by the first.
- `i@x`: axis `x` splits the factor, always: here a manual computation begins or ends.
- `linear=[(0, 1)]`: partial sums may pass if operands 0 and 1 are both partial; `linear=[(0,), (1,)]`: if either is.
  `flows` says the same of other kinds of partial results.

Your own ops get rows by the same call that made these; `check_op` proves a row by brute force, and `missed_placements`
finds what it leaves out:

```python
from shardwright.rules import ROWS, add_row

add_row("my.matmul", "i k, k j -> i j", k="sum", linear=[(0,), (1,)])
assert str(ROWS.pop("my.matmul")) == "i k, k j -> i j  k=sum  linear=[(0,), (1,)]"
```

<!-- Generated from rules/ by `make pages`. -->
"""

_ADDING = (
    "({^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.add %x, %y : tensor<f32> "
    "stablehlo.return %z : tensor<f32>})"
)
"""The body of a collective that adds."""

EXAMPLES: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("stablehlo.constant dense<1.0>", (), "4x8"),
    ("stablehlo.constant dense<[1.0, 2.0]>", (), "2"),
    ("stablehlo.iota dim = 0", (), "4x8"),
    ("stablehlo.convert %a", ("4x8",), "4x8"),
    ("stablehlo.divide %a, %b", ("4x8", "4x8"), "4x8"),
    ("stablehlo.clamp %a, %b, %c", ("", "4x8", ""), "4x8"),
    ("stablehlo.bitcast_convert %a", ("4x8",), "4x8"),
    ("stablehlo.optimization_barrier %a", ("4x8",), "4x8"),
    ("stablehlo.broadcast_in_dim %a, dims = [0, 2]", ("4x1",), "4x2x8"),
    ("stablehlo.transpose %a, dims = [1, 0]", ("4x8",), "8x4"),
    ("stablehlo.reshape %a", ("8x32",), "256"),
    ("stablehlo.reshape %a", ("24x5",), "2x3x20"),
    ("stablehlo.reshape %a", ("2x3",), "3x2"),
    ("stablehlo.slice %a [0:4, 1:5]", ("4x8",), "4x4"),
    ("stablehlo.slice %a [0:4, 1:8:2]", ("4x8",), "4x4"),
    ("stablehlo.reverse %a, dims = [1]", ("4x8",), "4x8"),
    ("stablehlo.pad %a, %b, low = [0, 1], high = [0, 0], interior = [0, 0]", ("4x8", ""), "4x9"),
    ("stablehlo.concatenate %a, %b, dim = 1", ("4x8", "4x2"), "4x10"),
    ("dtensor.roll %a, dim = 1 by 3", ("4x8",), "4x8"),
    ("stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]", ("4x8", "8x2"), "4x2"),
    (
        "stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [2] x [1]",
        ("2x4x8", "2x8x3"),
        "2x4x3",
    ),
    ("stablehlo.reduce(%a init: %b) applies stablehlo.maximum across dimensions = [1]", ("4x8", ""), "4"),
    ("stablehlo.reduce(%a init: %b) applies stablehlo.add across dimensions = [1]", ("4x8", ""), "4"),
    (
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64}",
        ("2x8x4", "3x4x6"),
        "2x8x6",
    ),
    (
        "stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} "
        "{batch_group_count = 1 : i64, feature_group_count = 2 : i64}",
        ("2x8x4", "1x2x6"),
        "2x8x6",
    ),
    (
        '"stablehlo.reduce_window"(%a, %b) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>}> '
        "({^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.maximum %x, %y : tensor<f32> "
        "stablehlo.return %z : tensor<f32>})",
        ("4x8", ""),
        "4x4",
    ),
    (
        '"stablehlo.select_and_scatter"(%a, %b, %c) <{window_dimensions = array<i64: 1, 3>, '
        "padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>}> ({^bb0(%x: tensor<f32>, %y: tensor<f32>): "
        "%z = stablehlo.compare GE, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> "
        "stablehlo.return %z : tensor<i1>}, {^bb0(%x: tensor<f32>, %y: tensor<f32>): "
        "%z = stablehlo.add %x, %y : tensor<f32> stablehlo.return %z : tensor<f32>})",
        ("4x8", "4x8", ""),
        "4x8",
    ),
    ("stablehlo.dynamic_slice %a, %b, %c, sizes = [2, 8]", ("4x8", "i32", "i32"), "2x8"),
    ("stablehlo.dynamic_update_slice %a, %b, %c, %d", ("4x8", "2x8", "i32", "i32"), "4x8"),
    (
        '"stablehlo.gather"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], '
        "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, "
        "slice_sizes = array<i64: 1, 8>}>",
        ("16x8", "4x1xi32"),
        "4x8",
    ),
    (
        '"stablehlo.scatter"(%a, %b, %c) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], '
        "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
        "({^bb0(%x: tensor<f32>, %y: tensor<f32>): %z = stablehlo.add %x, %y : tensor<f32> "
        "stablehlo.return %z : tensor<f32>})",
        ("16x8", "4x1xi32", "4x8"),
        "16x8",
    ),
    (
        '"stablehlo.sort"(%a) <{dimension = 1 : i64}> ({^bb0(%x: tensor<f32>, %y: tensor<f32>): '
        "%z = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1> "
        "stablehlo.return %z : tensor<i1>})",
        ("4x8",),
        "4x8",
    ),
    ('"chlo.top_k"(%a) <{k = 2 : i64}>', ("4x8",), "4x2, 4x2xi32"),
    ("stablehlo.fft %a, type = RFFT, length = [8]", ("4x8",), "4x5xcomplex<f32>"),
    (
        "stablehlo.fft %a, type = FFT, length = [4, 8]",
        ("2x4x8xcomplex<f32>",),
        "2x4x8xcomplex<f32>",
    ),
    ("stablehlo.cholesky %a, lower = true", ("2x4x4",), "2x4x4"),
    (
        '"stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, '
        "transpose_a = #stablehlo<transpose TRANSPOSE>}>",
        ("2x4x4", "2x4x8"),
        "2x4x8",
    ),
    ("stablehlo.rng_bit_generator %a, algorithm = PHILOX", ("2xui64",), "2xui64, 4x8xui32"),
    ('dtensor.to_manual @mesh [{"x"}, {}] manual {"x"} %a', ("8x4",), "2x4"),
    ('dtensor.from_manual @mesh [{"x"}, {}] manual {"x", "y"} %a', ("2x4",), "8x4"),
    ('"stablehlo.all_reduce"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ' + _ADDING, ("4x8",), "4x8"),
    (
        '"stablehlo.reduce_scatter"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, '
        "scatter_dimension = 0 : i64}> " + _ADDING,
        ("4x8",),
        "2x8",
    ),
    (
        '"stablehlo.all_gather"(%a) <{all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}>',
        ("4x8",),
        "4x16",
    ),
    (
        '"stablehlo.all_to_all"(%a) <{concat_dimension = 0 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, '
        "split_count = 2 : i64, split_dimension = 1 : i64}>",
        ("4x8x3",),
        "8x4x3",
    ),
    ("stablehlo.custom_call @lapack_sgetrf_ffi(%a)", ("2x4x4",), "2x4x4, 2x4xi32, 2xi32"),
)
"""Ops whose rows are computed, at some shapes."""


def rule_index() -> str:
    """The text of `docs/rules.md`."""
    written = [(name, row) for name, row in describe() if ROWS[name].compute is None]
    computed = [(name, row.removeprefix("computed: ")) for name, row in describe() if ROWS[name].compute is not None]
    parts = [HEADING, "\n## Rows as text\n\n| row | ops |\n|---|---|\n"]
    for row in sorted({row for _, row in written}):
        parts.append(f"| `{row}` | {', '.join(f'`{name}`' for name, other in written if other == row)} |\n")
    parts.append("\n## Rows that depend on attributes, shapes or element types\n\n| op | how |\n|---|---|\n")
    parts += [f"| `{name}` | {how} |\n" for name, how in computed]
    parts.append("\nSome of them at some shapes:\n\n| op | row |\n|---|---|\n")
    parts += [f"| `{_title(*example)}` | `{example_rule(*example)}` |\n" for example in EXAMPLES]
    return "".join(parts)


def example_rule(line: str, operands: Sequence[str], result: str) -> str:
    """The rule of an op on tensors of these shapes."""
    return str(rule_for(example_op(line, operands, result)))


def example_op(line: str, operands: Sequence[str], result: str) -> Operation:
    """An op on tensors of these shapes."""
    types = [_tensor(shape) for shape in operands]
    outputs = [_tensor(shape) for shape in result.split(", ")]
    arguments = ", ".join(f"%{letter}: {type_}" for letter, type_ in zip("abcdef", types, strict=False))
    results = f"({', '.join(outputs)})" if len(outputs) > 1 else outputs[0]
    signature = f"({', '.join(types)}) -> {results}" if operands else results
    body = f"%0:{len(outputs)} = {line} : {signature}\n return"
    module = parse_module(f"func.func @main({arguments}) {{\n {body}\n}}", "example.mlir")
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    op = function.body.block.first_op
    assert op is not None
    return op


def _tensor(shape: str) -> str:
    """The type of a shape, whose elements are f32 unless it names others."""
    if not shape.split("x")[-1].isdecimal() and shape:
        return f"tensor<{shape}>"
    return f"tensor<{shape}xf32>" if shape else "tensor<f32>"


def _title(line: str, operands: Sequence[str], result: str) -> str:
    *inputs, outputs = (", ".join(map(_sizes, shapes.split(", "))) for shapes in (*operands, result))
    line = re.sub(r" \(\{.*\}\)", "", line.replace('"', "").removeprefix("stablehlo."))
    return f"{line} : {', '.join(inputs)} -> {outputs}".replace(" :  ->", " ->")


def _sizes(shape: str) -> str:
    return f"[{', '.join(size for size in shape.split('x') if size.isdecimal())}]"
