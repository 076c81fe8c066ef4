"""Sort and top-k against NumPy: keys in any number and order, any comparator, NaN and zeros of both signs."""

import itertools

import ml_dtypes
import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module
from shardwright.runtime.kernels.sorting import network
from shardwright.runtime.lowering.comparators import keys_of

NEGATIVE_NAN = np.array([0xFFC00000], np.uint32).view(np.float32)[0]
ODD = np.array([1, np.nan, -0.0, 0.0, NEGATIVE_NAN, -np.inf, np.inf, np.nan, -0.0, 0.0], np.float32)
"""The floats that orders differ about; JAX's stable order of them is `JAX_ORDER`, zeros equal and NaN last."""
JAX_ORDER = [5, 2, 3, 8, 9, 0, 6, 1, 4, 7]
TOTAL_ORDER = [4, 5, 2, 8, 3, 9, 0, 6, 1, 7]
"""IEEE 754: -NaN < -inf < -0 < +0 < 1 < inf < NaN."""

JAX_COMPARATOR = """
%c = stablehlo.constant dense<0.0> : tensor<f32>
%1 = stablehlo.compare EQ, %x0, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%2 = stablehlo.select %1, %c, %x0 : tensor<i1>, tensor<f32>
%3 = stablehlo.compare NE, %x0, %x0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%n = stablehlo.constant dense<0x7FC00000> : tensor<f32>
%4 = stablehlo.select %3, %n, %2 : tensor<i1>, tensor<f32>
%c5 = stablehlo.constant dense<0.0> : tensor<f32>
%5 = stablehlo.compare EQ, %y0, %c5, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%6 = stablehlo.select %5, %c5, %y0 : tensor<i1>, tensor<f32>
%7 = stablehlo.compare NE, %y0, %y0, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
%n8 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
%8 = stablehlo.select %7, %n8, %6 : tensor<i1>, tensor<f32>
%z = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
"""


def compare(result, direction, left, right, element, order=None):
    kind = order or ("TOTALORDER" if element in ("f32", "bf16", "f16") else "SIGNED")
    scalar = f"tensor<{element}>"
    return f"{result} = stablehlo.compare {direction}, {left}, {right}, {kind} : ({scalar}, {scalar}) -> tensor<i1>\n"


def sort(comparator, arrays, elements, dim=0, *, fused=True, attributes=", is_stable = true"):
    """Runs one stablehlo.sort whose comparator's pairs are `%x0, %y0, %x1, %y1 ...`."""
    shape = "x".join(map(str, arrays[0].shape))
    types = [f"tensor<{shape}x{element}>" for element in elements]
    arguments = ", ".join(f"%a{at}: {type_}" for at, type_ in enumerate(types))
    pairs = ", ".join(f"%x{at}: tensor<{e}>, %y{at}: tensor<{e}>" for at, e in enumerate(elements))
    names = ", ".join(f"%a{at}" for at in range(len(types)))
    results = ", ".join(f"%0#{at}" for at in range(len(types))) if len(types) > 1 else "%0"
    everything, count = ", ".join(types), f":{len(types)}" if len(types) > 1 else ""
    text = f"""func.func @main({arguments}) -> ({everything}) {{
      %0{count} = "stablehlo.sort"({names}) <{{dimension = {dim} : i64{attributes}}}> ({{
      ^bb0({pairs}):
        {comparator}
        stablehlo.return %z : tensor<i1>
      }}) : ({everything}) -> ({everything})
      return {results} : {everything}
    }}"""
    return compile_module(parse_module(text, "sort.mlir"), fused=fused).run(list(arrays))


def places(shape, dim=0):
    return np.indices(shape)[dim % len(shape)]


ELEMENTS = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8, "i32": np.int32, "i1": np.bool_}


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("element", ELEMENTS)
def test_one_key_is_stable_along_any_dim(element, dim, fused):
    random = np.random.default_rng(1)
    keys = random.integers(-2, 3, (5, 7)).astype(ELEMENTS[element])
    order = "UNSIGNED" if element == "i1" else None
    comparator = compare("%z", "LT", "%x0", "%y0", element, order)
    found = sort(comparator, [keys, places((5, 7), dim).astype(np.int32)], [element, "i32"], dim, fused=fused)
    expected = np.argsort(keys.astype(np.float32), dim, kind="stable")
    assert np.array_equal(found[1], expected)
    assert np.array_equal(found[0], np.take_along_axis(keys, expected, dim))


@pytest.mark.parametrize("direction", ["LT", "GT"])
@pytest.mark.parametrize("swapped", [False, True])
def test_directions(direction, swapped):
    keys = np.array([3, 1, 2, 3], np.int32)
    sides = ("%y0", "%x0") if swapped else ("%x0", "%y0")
    (found,) = sort(compare("%z", direction, *sides, "i32"), [keys], ["i32"])
    assert found.tolist() == sorted(keys.tolist(), reverse=(direction == "GT") != swapped)


def test_unsigned_elements_descend():
    keys = np.array([3, 200, 0, 7], np.uint8)
    (found,) = sort(compare("%z", "GT", "%x0", "%y0", "ui8", "UNSIGNED"), [keys], ["ui8"])
    assert found.tolist() == [200, 7, 3, 0]


@pytest.mark.parametrize(("order", "expected"), [(JAX_COMPARATOR, JAX_ORDER), (None, TOTAL_ORDER)])
def test_zeros_and_nan(order, expected):
    comparator = order or compare("%z", "LT", "%x0", "%y0", "f32")
    found = sort(comparator, [ODD, places((10,)).astype(np.int32)], ["f32", "i32"])
    assert found[1].tolist() == expected
    assert np.array_equal(found[0].view(np.int32), ODD[expected].view(np.int32))


def test_zeros_are_equal_in_the_order_of_floats():
    found = sort(
        compare("%z", "LT", "%x0", "%y0", "f32", "FLOAT"),
        [np.float32([0.0, -0.0, -1.0]), places((3,)).astype(np.int32)],
        ["f32", "i32"],
    )
    assert found[1].tolist() == [2, 0, 1]


AFTER = {"not after": ("LT", "%y0", "%x0"), "not second": ("GT", "%x0", "%y0")}
"""Comparisons that say that the second elements come first."""


def lexicographic(form):
    """Two keys, the second one descending, in each of the forms in which a comparator may say so."""
    first, equal = compare("%l", "LT", "%x0", "%y0", "i32"), compare("%e", "EQ", "%x0", "%y0", "i32")
    if form in AFTER:
        equal = compare("%a", *AFTER[form], "i32") + "%e = stablehlo.not %a : tensor<i1>\n"
        form = "or and"
    rest = compare("%r", "GT", "%x1", "%y1", "f32")
    both = "%b = stablehlo.and %e, %r : tensor<i1>\n"
    ends = {
        "or and": both + "%z = stablehlo.or %l, %b : tensor<i1>",
        "and or": "%b = stablehlo.and %r, %e : tensor<i1>\n%z = stablehlo.or %b, %l : tensor<i1>",
        "select": "%z = stablehlo.select %e, %r, %l : tensor<i1>, tensor<i1>",
    }
    return first + equal + rest + ends[form]


@pytest.mark.parametrize("form", ["or and", "and or", "select", *AFTER])
def test_two_keys(form):
    random = np.random.default_rng(2)
    first, second = random.integers(0, 3, 40).astype(np.int32), random.integers(0, 3, 40).astype(np.float32)
    found = sort(lexicographic(form), [first, second, places((40,)).astype(np.int32)], ["i32", "f32", "i32"])
    assert found[2].tolist() == np.lexsort((-second, first)).tolist()


@pytest.mark.parametrize("form", ["or and", "select", *AFTER])
def test_whole_keys_are_sorted_by(form):
    assert keys_in(lexicographic(form)) == 2


def test_what_comes_after_or_is_equal_is_no_second_key():
    turned = lexicographic("not after").replace("LT, %y0, %x0", "LT, %x0, %y0")
    assert turned != lexicographic("not after")
    assert keys_in(turned) is None


def keys_in(comparator):
    """By how many keys a comparator of two pairs orders; None if by none."""
    pairs = "%x0: tensor<i32>, %y0: tensor<i32>, %x1: tensor<f32>, %y1: tensor<f32>"
    text = f"func.func @main({pairs}) -> tensor<i1> {{\n{comparator}\nreturn %z : tensor<i1>\n}}"
    block = parse_module(text, "sort.mlir").body.block.first_op.body.block
    last = block.last_op
    block.insert_op_before(stablehlo.ReturnOp(last.operands[0]), last)
    last.detach()
    found = keys_of(block)
    return None if found is None else len(found)


def test_a_key_may_be_computed():
    keys = np.array([[3, -1], [-4, 1], [1, 5]], np.int32)
    comparator = "%p = stablehlo.abs %x0 : tensor<i32>\n%q = stablehlo.abs %y0 : tensor<i32>\n"
    (found,) = sort(comparator + compare("%z", "LT", "%p", "%q", "i32"), [keys], ["i32"])
    assert found.tolist() == [[1, -1], [3, 1], [-4, 5]]


def test_a_key_may_be_bits():
    keys = np.float32([2.0, -1.0, 1.0])
    bits = "%p = stablehlo.bitcast_convert %x0 : (tensor<f32>) -> tensor<i32>\n"
    comparator = bits + bits.replace("%p", "%q").replace("%x0", "%y0") + compare("%z", "LT", "%p", "%q", "i32")
    assert sort(comparator, [keys], ["f32"])[0].tolist() == [-1.0, 1.0, 2.0]
    general = comparator.replace("%z", "%v") + "%z = stablehlo.and %v, %v : tensor<i1>"
    assert sort(general, [keys], ["f32"])[0].tolist() == [-1.0, 1.0, 2.0]


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("extent", [0, 1, 2, 7, 16, 33])
def test_any_comparator(extent, fused):
    """`x - y < 0`: no key is compared, so the comparator itself is asked."""
    keys = np.random.default_rng(3).integers(0, 6, (extent, 3)).astype(np.int32)
    comparator = "%d = stablehlo.subtract %x0, %y0 : tensor<i32>\n%n = stablehlo.constant dense<0> : tensor<i32>\n"
    comparator += compare("%z", "LT", "%d", "%n", "i32")
    found = sort(comparator, [keys, places(keys.shape).astype(np.int32)], ["i32", "i32"], fused=fused)
    assert np.array_equal(found[1], np.argsort(keys, 0, kind="stable"))


def test_equal_in_another_sense_is_no_second_key():
    """Zeros are equal here, but the first key tells them apart: no order by two keys, and still a permutation."""
    first = compare("%l", "LT", "%x0", "%y0", "f32") + compare("%e", "EQ", "%x0", "%y0", "f32", "FLOAT")
    both = compare("%r", "LT", "%x1", "%y1", "i32") + "%b = stablehlo.and %e, %r : tensor<i1>\n"
    arrays = [np.float32([0.0, -0.0, 1.0, -1.0]), np.int32([0, 1, 2, 3])]
    found = sort(first + both + "%z = stablehlo.or %l, %b : tensor<i1>", arrays, ["f32", "i32"])
    assert found[1][0] == 3
    assert sorted(found[1].tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("fused", [True, False])
def test_a_comparator_that_is_not_element_wise_is_refused(fused):
    lines = "%i = stablehlo.constant dense<0.0> : tensor<f32>\n"
    for name, argument in (("p", "x0"), ("q", "y0")):
        lines += f"%{name}0 = stablehlo.reshape %{argument} : (tensor<f32>) -> tensor<1xf32>\n"
        lines += f"%{name} = stablehlo.reduce(%{name}0 init: %i) applies stablehlo.add across dimensions = [0] : "
        lines += "(tensor<1xf32>, tensor<f32>) -> tensor<f32>\n"
    with pytest.raises(ShardwrightError, match=r"SW0601.* no kernel for reshape inside of stablehlo.sort"):
        sort(lines + compare("%z", "LT", "%p", "%q", "f32"), [np.float32([2, 1])], ["f32"], fused=fused)


@pytest.mark.parametrize("extent", range(1, 11))
def test_network_sorts_all_zeros_and_ones(extent):
    """Knuth's zero-one principle: a network that sorts these sorts everything."""
    rows = np.array(list(itertools.product([0, 1], repeat=extent)), np.int8)
    for first, second in network(extent):
        low, high = rows[:, first].copy(), rows[:, second].copy()
        rows[:, first], rows[:, second] = np.minimum(low, high), np.maximum(low, high)
    assert (np.diff(rows, axis=1) >= 0).all()


def top_k(array, element, k, *, fused=True):
    shape = "x".join(map(str, array.shape))
    short = "x".join(map(str, (*array.shape[:-1], k)))
    text = f"""func.func @main(%a: tensor<{shape}x{element}>) -> (tensor<{short}x{element}>, tensor<{short}xi32>) {{
      %v, %i = chlo.top_k(%a, k = {k}) : tensor<{shape}x{element}> -> (tensor<{short}x{element}>, tensor<{short}xi32>)
      return %v, %i : tensor<{short}x{element}>, tensor<{short}xi32>
    }}"""
    return compile_module(parse_module(text, "top_k.mlir"), fused=fused).run([array])


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize(("element", "k"), [("f32", 3), ("bf16", 6), ("i8", 0), ("i32", 1)])
def test_top_k(element, k, fused):
    rows = np.random.default_rng(4).integers(-2, 3, (4, 6)).astype(ELEMENTS[element])
    values, indices = top_k(rows, element, k, fused=fused)
    expected = np.argsort(-rows.astype(np.float32), 1, kind="stable")[:, :k]
    assert indices.dtype == np.int32
    assert np.array_equal(indices, expected)
    assert np.array_equal(values, np.take_along_axis(rows, expected, 1))


def test_top_k_takes_floats_in_their_total_order():
    """As JAX: NaN first, +0 before -0, equal ones by their places."""
    values, indices = top_k(ODD, "f32", 10)
    assert indices.tolist() == [1, 7, 6, 0, 3, 9, 2, 8, 5, 4]
    assert np.array_equal(values.view(np.int32), ODD[indices].view(np.int32))


def test_top_k_of_unsigned():
    assert top_k(np.uint8([3, 200, 3, 7]), "ui8", 2)[1].tolist() == [1, 3]
