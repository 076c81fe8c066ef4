"""Constants that passes make are those that the parser reads."""

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import IntegerType, Signedness

from shardwright.dialects.text.literals import dense_body, parse_dense
from shardwright.dialects.types import tensor
from shardwright.passes.canonical.constants import splat, splat_value

U2, U4 = (IntegerType(width, Signedness.UNSIGNED) for width in (2, 4))
NARROW = [
    (IntegerType(4), ml_dtypes.int4, range(-8, 8)),
    (U4, ml_dtypes.uint4, range(16)),
    (IntegerType(2), ml_dtypes.int2, range(-2, 2)),
    (U2, ml_dtypes.uint2, range(4)),
    (IntegerType(8), np.int8, (-128, -1, 127)),
]


@pytest.mark.parametrize(
    ("element_type", "dtype", "number"),
    [(element, dtype, number) for element, dtype, all_ in NARROW for number in all_],
)
def test_splat_of_a_narrow_integer(element_type: IntegerType, dtype: type, number: int) -> None:
    type_ = tensor((3,), element_type)
    made = splat(dtype(number), type_)
    literal = made.properties["value"]
    assert dense_body(literal) == str(number)
    assert literal == parse_dense(str(number), type_)
    assert splat_value(made.results[0]) == number
