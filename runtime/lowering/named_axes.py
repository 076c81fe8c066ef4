"""The axes that programs name: in the layouts of arguments and results, and in the attributes of collectives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr
from xdsl.ir import Attribute, Operation

from shardwright.dialects import dtensor
from shardwright.dialects.dtensor.attributes import AxesAttr, DimAxesAttr, LayoutAttr
from shardwright.dialects.func import FuncOp
from shardwright.layout.axes import Axis
from shardwright.layout.spec import LayoutSpec


def axes_named(op: Operation) -> list[tuple[str, Axis]]:
    """The axes that an op's attributes name, with their mesh."""
    if isinstance(op, FuncOp):
        return _interface_axes(op)
    if not op.name.startswith("dtensor.") or any(dtensor.layout_of(value) is not None for value in op.operands):
        return []  # on global types axes say how a value would be split: nothing is
    found: list[tuple[str, Axis]] = []
    mesh: Any = op.properties.get("mesh")
    for attribute in op.properties.values():
        if isinstance(attribute, LayoutAttr):
            found += _spec_axes(attribute.data)
        elif isinstance(attribute, AxesAttr):
            found += [(mesh.root_reference.data, axis) for axis in attribute.data]
        elif isinstance(attribute, DimAxesAttr):
            found += [(mesh.root_reference.data, axis) for axes in attribute.data for axis in axes]
    return found


def entries(attributes: Attribute | None, count: int = 0) -> list[Mapping[str, Attribute]]:
    """What is said of each argument or result; where nothing is said of any, so many times nothing."""
    if not isinstance(attributes, ArrayAttr):
        return [{}] * count
    return [entry.data for entry in attributes.data if isinstance(entry, DictionaryAttr)]


def _interface_axes(function: FuncOp) -> list[tuple[str, Axis]]:
    """The axes in the layouts of a function's arguments and results."""
    said = (*entries(function.arg_attrs), *entries(function.res_attrs))
    layouts = [entry.get("dtensor.layout") for entry in said]
    return [pair for layout in layouts if isinstance(layout, LayoutAttr) for pair in _spec_axes(layout.data)]


def _spec_axes(spec: LayoutSpec) -> list[tuple[str, Axis]]:
    return [(spec.mesh, axis) for axis in spec.axes()]
