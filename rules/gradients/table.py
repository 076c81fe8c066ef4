"""The complete table of gradient rules: importing it fills in all of them."""

from shardwright.rules.gradients import control as _control
from shardwright.rules.gradients import elementwise as _elementwise
from shardwright.rules.gradients import indexing as _indexing
from shardwright.rules.gradients import linear_algebra as _linear_algebra
from shardwright.rules.gradients import ordering as _ordering
from shardwright.rules.gradients import shapes as _shapes
from shardwright.rules.gradients import windows as _windows

assert (_control, _elementwise, _indexing, _linear_algebra, _ordering, _shapes, _windows) is not None
