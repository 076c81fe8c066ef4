"""The complete table of gradient rules: importing it fills in all of them."""

from shardwright.rules.gradients import (
    control as _control,
    elementwise as _elementwise,
    functions as _functions,
    indexing as _indexing,
    linear_algebra as _linear_algebra,
    ordering as _ordering,
    shapes as _shapes,
    windows as _windows,
)

assert (_control, _elementwise, _functions, _indexing, _linear_algebra, _ordering, _shapes, _windows) is not None
