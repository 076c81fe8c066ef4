"""How often loops run, against the same loops in Python."""

import operator

import pytest

from shardwright.dialects.stablehlo import WhileOp
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.trip_count import trip_count

LOOP = """
func.func @main(%x: tensor<4xf32>, %given: tensor<{type}>) {{
  %start = stablehlo.constant dense<{start}> : tensor<{type}>
  %limit = stablehlo.constant dense<{limit}> : tensor<{type}>
  %0:3 = stablehlo.while(%i = %start, %n = %limit, %a = %x) : tensor<{type}>, tensor<{type}>, tensor<4xf32>
  cond {{
    {test}
    stablehlo.return %p : tensor<i1>
  }} do {{
    %step = stablehlo.constant dense<{step}> : tensor<{type}>
    {body}
    %b = stablehlo.add %a, %a : tensor<4xf32>
    stablehlo.return %j, %n, %b : tensor<{type}>, tensor<{type}>, tensor<4xf32>
  }}
  return
}}
"""
COMPARE = "%p = stablehlo.compare {direction}, {left}, {right} : (tensor<{type}>, tensor<{type}>) -> tensor<i1>"
HOLDS = {"LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge, "NE": operator.ne}
ADD = "%j = stablehlo.add %i, %step : tensor<{type}>"


def found(direction="LT", start=0, limit=8, step=1, left="%i", right="%n", body=ADD, test=COMPARE, type="i32"):
    names = {"direction": direction, "start": start, "limit": limit, "step": step, "left": left, "right": right}
    names |= {"type": type}
    text = LOOP.format(test=test.format(**names), body=body.format(**names), **names)
    return trip_count(next(op for op in parse_module(text).walk() if isinstance(op, WhileOp)))


def counted(direction, start, limit, step):
    """The rounds of the same loop in Python; None where it runs for longer than any loop here."""
    rounds, value = 0, start
    while HOLDS[direction](value, limit):
        rounds, value = rounds + 1, value + step
        if rounds > 100:
            return None
    return rounds


@pytest.mark.every(5)
@pytest.mark.parametrize("direction", HOLDS)
def test_counts_are_those_of_python(direction):
    for start in (-3, 0, 2):
        for limit in range(-6, 7):
            for step in (-3, -2, -1, 1, 2, 3):
                assert found(direction, start, limit, step) == counted(direction, start, limit, step)


def test_equality_holds_for_one_round():
    assert found("EQ", 3, 3, 1) == 1
    assert found("EQ", 3, 4, 1) == 0


def test_the_counter_may_stand_on_the_right():
    assert found("GT", 0, 10, 3, left="%n", right="%i") == 4


def test_subtraction_counts_down():
    assert found("GT", 10, 0, 3, body="%j = stablehlo.subtract %i, %step : tensor<{type}>") == 4


def test_the_step_may_stand_first():
    assert found("LT", 0, 10, 3, body="%j = stablehlo.add %step, %i : tensor<{type}>") == 4


def test_the_limit_may_be_a_value_from_outside():
    assert found(right="%limit", limit=5) == 5


def test_unsigned_counters():
    assert found("LT", 0, 4294967295, 2147483648, type="ui32") is None  # 0, 2147483648, and then it wraps around
    assert found("LT", 0, 4294967295, 858993459, type="ui32") == 5


@pytest.mark.parametrize(
    "options",
    [
        {"right": "%given"},
        {"left": "%given", "right": "%n"},
        {"start": 0, "step": 0},
        {"body": "%j = stablehlo.multiply %i, %step : tensor<{type}>"},
        {"body": "%j = stablehlo.add %given, %step : tensor<{type}>"},
        {"test": "%p = stablehlo.constant dense<true> : tensor<i1>"},
        {"direction": "LT", "limit": 120, "step": 100, "type": "i8"},
    ],
)
def test_what_depends_on_data_is_unknown(options):
    assert found(**options) is None
