"""Parts of parts from computed starts: slices, gathers and scatters, with a loop or a change of shape in between."""

from __future__ import annotations

FIRST = ("slice", "gather")
SECOND = ("slice", "gather", "scatter", "slice after a loop", "slice of a reshape")

_GATHER = """%{to}at = stablehlo.reshape %{at} : (tensor<i32>) -> tensor<1xi32>
%{to} = "stablehlo.gather"(%{of}, %{to}at) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0],
  start_index_map = [0], index_vector_dim = 0>, slice_sizes = array<i64: {size}>}}>
  : (tensor<{whole}xi32>, tensor<1xi32>) -> tensor<{size}xi32>"""
_SLICE = """%{to} = stablehlo.dynamic_slice %{of}, %{at}, sizes = [{size}]
  : (tensor<{whole}xi32>, tensor<i32>) -> tensor<{size}xi32>"""
_SCATTER = """%at = stablehlo.reshape %j : (tensor<i32>) -> tensor<1xi32>
%r = "stablehlo.scatter"(%a, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
  scatter_dims_to_operand_dims = [0], index_vector_dim = 0>}> ({
^bb0(%old: tensor<i32>, %new: tensor<i32>):
  %sum = stablehlo.add %old, %new : tensor<i32>
  stablehlo.return %sum : tensor<i32>
}) : (tensor<6xi32>, tensor<1xi32>, tensor<3xi32>) -> tensor<6xi32>"""
_LOOP = """%none = stablehlo.constant dense<0> : tensor<i32>
%b, %n = stablehlo.while(%c = %a, %k = %none) : tensor<6xi32>, tensor<i32> cond {
  %end = stablehlo.constant dense<0> : tensor<i32>
  %more = stablehlo.compare LT, %k, %end, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  stablehlo.return %more : tensor<i1>
} do {
  %next = stablehlo.reverse %c, dims = [0] : tensor<6xi32>
  stablehlo.return %next, %k : tensor<6xi32>, tensor<i32>
}"""
_RESHAPED = """%m = stablehlo.reshape %a : (tensor<6xi32>) -> tensor<1x6xi32>
%zero = stablehlo.constant dense<0> : tensor<i32>
%s = stablehlo.dynamic_slice %m, %zero, %j, sizes = [1, 3]
  : (tensor<1x6xi32>, tensor<i32>, tensor<i32>) -> tensor<1x3xi32>
%r = stablehlo.reshape %s : (tensor<1x3xi32>) -> tensor<3xi32>"""


def _part(kind: str, to: str, of: str, at: str, whole: int, size: int) -> str:
    text = _GATHER if kind == "gather" else _SLICE
    return text.format(to=to, of=of, at=at, whole=whole, size=size)


def sliced_twice(first: str, second: str) -> str:
    """Six of twelve elements from %i on, and of these three from %j on; a scatter adds %u to those."""
    lines, size = [_part(first, "a", "x", "i", 12, 6)], 3
    match second:
        case "none":
            lines, size = [_part(first, "r", "x", "i", 12, 6)], 6
        case "scatter":
            lines, size = [*lines, _SCATTER], 6
        case "slice after a loop":
            lines += [_LOOP, _part("slice", "r", "b", "j", 6, 3)]
        case "slice of a reshape":
            lines.append(_RESHAPED)
        case _:
            lines.append(_part(second, "r", "a", "j", 6, 3))
    body = "\n".join(lines)
    return f"""
func.func @main(%x: tensor<12xi32>, %i: tensor<i32>, %j: tensor<i32>, %u: tensor<3xi32>) -> tensor<{size}xi32> {{
{body}
return %r : tensor<{size}xi32>
}}"""
