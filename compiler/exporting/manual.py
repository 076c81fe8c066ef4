"""The program that each device runs, as a function of its own arrays or inside a manual computation of global ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, SSAValue

from shardwright.compiler.checking import verify_ours
from shardwright.compiler.exporting.captures import carry_captures
from shardwright.compiler.exporting.results import finish_results
from shardwright.compiler.exporting.stablehlo import lower_collectives
from shardwright.compiler.exporting.values import (
    annotated,
    check_counted,
    finish,
    manual_computation,
    shardings,
    without_ours,
)
from shardwright.compiler.exporting.xla.again import hold_apart
from shardwright.compiler.exporting.xla.cpus import word_for_cpus
from shardwright.compiler.exporting.xla.memories import put_into_memories
from shardwright.compiler.exporting.xla.products import spell_out_products
from shardwright.compiler.exporting.xla.slicing import hold_starts
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects import sdy
from shardwright.dialects.building import Builder, appending, ops_in
from shardwright.dialects.dtensor import MeshOp, meshes
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.sdy import ops as sdy_ops
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import element_of, shape_of, tensor
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import erase, locate, replace_with
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, LAYOUT_ARGUMENT


def export_stablehlo(
    module: ModuleOp,
    *,
    bare: bool = False,
    padded: bool = False,
    platform: str | None = None,
    partial: bool = False,
) -> None:
    """
    Turns a local program into StableHLO alone, in place.

    Its body stands in a `sdy.manual_computation` over all axes of the mesh, so that whoever runs Shardy's programs can
    call it with global arrays; partial results are finished, but with `partial` they are left to whoever takes them,
    and arguments may be partial as well. With `bare`, the function takes and gives what one device holds. Dims that do
    not divide are padded and cut around it; with `padded`, that is left to whoever calls it. For the platform "cpu"
    (JAX's names), what XLA does slowly or fails to do there is written in another way. Raises SW0720 for an argument
    that is partial elsewhere, SW0734 for more devices than are counted or listed.
    """
    mesh = next(iter(meshes(module).values()), Mesh())
    check_counted(mesh)
    function = entry_function(module)
    if not partial:
        finish_results(function)
    inputs, outputs = (_sides(side, function, mesh, partial) for side in (function.arg_attrs, function.res_attrs))
    carry_captures(module)
    hold_apart(module)
    put_into_memories(module)
    hold_starts(module, mesh)
    if mesh.size > 1:
        spell_out_products(module, mesh)
    lower_collectives(module, mesh)
    if platform == "cpu":
        word_for_cpus(module, mesh)
    run_pipeline(module, ["dce"])
    _drop_ours(module, function)
    if mesh.size > 1 and not bare:
        if padded:
            inputs, outputs = ([replace(each, whole=each.even) for each in side] for side in (inputs, outputs))
        _wrap(module, mesh, function, inputs, outputs)
    else:
        for op in list(module.ops):
            if isinstance(op, MeshOp):
                erase(op)
    finish(module, mesh)
    verify_ours(module, "export")


@dataclass(frozen=True)
class Side:
    """The layout of an argument or result, its global type, and the type that divides as the layout splits it."""

    spec: LayoutSpec
    whole: Attribute
    even: Attribute


def _sides(attributes: ArrayAttr[DictionaryAttr] | None, function: FuncOp, mesh: Mesh, partial: bool) -> list[Side]:
    found: list[Side] = []
    for entry in attributes or ():
        layout = entry.data[LAYOUT_ARGUMENT]
        assert isinstance(layout, LayoutAttr)
        if layout.data.partial and not partial:
            raise fault(
                "SW0720",
                f"an argument has the layout {layout.data}, whose parts no manual computation can take",
                function,
                help="give the argument a layout without partial results",
            )
        whole = entry.data[GLOBAL_TYPE_ARGUMENT]
        even = tensor(whole_shape(layout.data, shape_of(whole), mesh), element_of(whole))
        found.append(Side(layout.data, whole, even))
    return found


def _drop_ours(module: ModuleOp, function: FuncOp) -> None:
    """Attributes of our own mean nothing to others."""
    for op in ops_in(module):
        if op.attributes:
            op.attributes = without_ours(op.attributes)
    for name in ("arg_attrs", "res_attrs"):
        entries = function.properties.pop(name, None)
        if isinstance(entries, ArrayAttr):
            kept = [DictionaryAttr(without_ours(entry.data)) for entry in entries if isinstance(entry, DictionaryAttr)]
            if any(entry.data for entry in kept):
                function.properties[name] = ArrayAttr(kept)


def _wrap(module: ModuleOp, mesh: Mesh, function: FuncOp, inputs: Sequence[Side], outputs: Sequence[Side]) -> None:
    """The function's body becomes that of a manual computation, which is all that the function has."""
    declared = next(op for op in module.ops if isinstance(op, MeshOp))
    replace_with(declared, sdy.MeshOp(declared.sym_name.data, sdy.SdyMesh(declared.axes.data)))
    body = function.body.detach_block(0)
    last = body.last_op
    assert isinstance(last, ReturnOp)
    body.insert_op_before(locate(sdy_ops.ReturnOp.create(operands=last.operands), last), last)
    body.erase_op(last)
    block = Block(arg_types=[side.whole for side in inputs])
    for argument, inner in zip(block.args, body.args, strict=True):
        argument.name_hint, argument.location = inner.name_hint, inner.location
    sides = ([side.spec for side in each] for each in (inputs, outputs))
    within, out = (shardings(specs, mesh, function, kinds=True) for specs in sides)
    build = appending(block)
    given = [_resized(build, value, side.even) for value, side in zip(block.args, inputs, strict=True)]
    computation = manual_computation(given, [side.even for side in outputs], (within, out), mesh.axis_names, body)
    block.add_op(computation)
    made = [_resized(build, value, side.whole) for value, side in zip(computation.results, outputs, strict=True)]
    block.add_op(locate(ReturnOp(*made), last))
    for op in block.ops:
        locate(op, function)
    function.body.add_block(block)
    function.properties["arg_attrs"] = annotated(function.arg_attrs, _said(within, inputs))
    function.properties["res_attrs"] = annotated(function.res_attrs, _said(out, outputs))
    function.update_function_type()


def _resized(build: Builder, value: SSAValue, type_: Attribute) -> SSAValue:
    """The value with padding at the ends of its dims, or without it."""
    high = [new - old for new, old in zip(shape_of(type_), shape_of(value), strict=True)]
    return build.pad(value, build.scalar(0, value), [0] * len(high), high) if any(high) else value


def _said(found: sdy.ShardingPerValueAttr, sides: Sequence[Side]) -> list[sdy.Sharding | None]:
    """The shardings of arguments or results, but where they are uneven: not everybody takes these."""
    pairs = zip(found.data, sides, strict=True)
    return [sharding if side.whole == side.even else None for sharding, side in pairs]
