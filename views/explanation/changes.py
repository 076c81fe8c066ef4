"""What a question "what if" changes in a traced program: a layout taken away, one given, other sizes of the mesh."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument

from shardwright.compiler.report import value_name
from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp, with_layout
from shardwright.dialects.text.locations import where
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis, parse_axis
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import replace, replace_with, retype
from shardwright.views.explanation.places import Place, brief_places, is_at

UNSPLIT = ("-", "None", "")
"""How `--layout` writes a dim that no axis splits."""


@dataclass(frozen=True)
class Change:
    """
    One change, or several at once: `label` says which.

    `without` are places whose constraints and relayouts go, `layouts` the axes of each dim of arguments by their names
    (`data+model,-`), `mesh` the new sizes of axes.
    """

    label: str
    without: tuple[Place, ...] = ()
    layouts: Mapping[str, str] | None = None
    mesh: Mapping[str, int] | None = None

    def applied(self, traced: ModuleOp) -> ModuleOp:
        """
        The traced program with the change; the given one stays.

        Raises `ShardwrightError` (SW0729) for a place, an argument or an axis that the program does not have.
        """
        module = traced.clone()
        for place in self.without:
            _take_away(module, place)
        for name, text in (self.layouts or {}).items():
            _lay_out(entry_function(module), name, text)
        if self.mesh:
            _resize(module, self.mesh)
        return module


def _take_away(module: ModuleOp, place: Place) -> None:
    given = [op for op in module.walk() if isinstance(op, ConstraintOp | RelayoutOp)]
    found = [op for op in given if is_at(where(op), place)]
    if not found:
        there = sorted((found for op in given if (found := where(op))), key=lambda found: abs(found.line - place.line))
        lines = brief_places(", ".join(dict.fromkeys(map(str, there[:4]))), place.file) or "no line"
        raise _unknown(f"no layout is asked for at {place}", f"nearby they are asked for at {lines}")
    for op in found:
        replace(op, [op.operand])


def _lay_out(function: FuncOp, name: str, text: str) -> None:
    names = [value_name(argument).lstrip("%") for argument in function.args]
    if name.lstrip("%") not in names:
        close = difflib.get_close_matches(name, names, n=3)
        raise _unknown(f"no argument is called '{name}'", f"did you mean {', '.join(close or names[:3])}?")
    argument = function.args[names.index(name.lstrip("%"))]
    dims = _dims(argument, name, text)
    retype(argument, with_layout(argument.type, LayoutSpec(_symbol(function), dims)))
    function.update_function_type()


def _symbol(function: FuncOp) -> str:
    """The name of the program's mesh."""
    module = function.parent_op()
    assert isinstance(module, ModuleOp)
    return next((op.sym_name.data for op in module.ops if isinstance(op, MeshOp)), "mesh")


def _dims(argument: BlockArgument, name: str, text: str) -> tuple[tuple[Axis, ...], ...]:
    """The axes of each dim that a text like `data+model,-` names."""
    shape = shape_of(argument)
    parts = [part.strip() for part in text.split(",")] if shape or text.strip() not in UNSPLIT else []
    if len(parts) != len(shape):
        raise _unknown(
            f"'{text}' is a layout of {len(parts)} dims, and {name} has {len(shape)}",
            "write the axes of each dim, separated by commas, '-' for a dim that none splits: data+model,-",
        )
    try:
        return tuple(() if part in UNSPLIT else tuple(map(parse_axis, part.split("+"))) for part in parts)
    except ValueError as error:
        raise _unknown(f"'{text}' is no layout: {error}", "write names of axes, '+' between two, or '-'") from error


def _resize(module: ModuleOp, sizes: Mapping[str, int]) -> None:
    declared = [op for op in module.ops if isinstance(op, MeshOp)]
    known = {axis for op in declared for axis, _ in op.axes.data}
    unknown = sorted(map(str, set(sizes) - known))
    if unknown:
        raise _unknown(f"the mesh has no axis {', '.join(unknown)}", f"its axes are {', '.join(sorted(known))}")
    for op in declared:
        axes = [(axis, sizes.get(axis, size)) for axis, size in op.axes.data]
        replace_with(op, MeshOp(op.sym_name.data, axes))


def _unknown(message: str, help_text: str) -> ShardwrightError:
    return ShardwrightError(Diagnostic("SW0729", message, help=help_text))


def changes(without: Sequence[Place], layouts: Mapping[str, str], mesh: Mapping[str, int]) -> list[Change]:
    """Each change that was asked for by itself, and all of them at once where there are several."""
    found = [Change(f"without {place}", without=(place,)) for place in without]
    found += [Change(f"{name} = {text}", layouts={name: text}) for name, text in layouts.items()]
    if mesh:
        found.append(Change("mesh " + ", ".join(f"{axis}={size}" for axis, size in mesh.items()), mesh=mesh))
    if len(found) > 1:
        found.append(Change("all of these", tuple(without), layouts, mesh))
    return found
