"""The program that each device runs, as a function of its own arrays or inside a manual computation of global ones."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block

from shardwright.compiler.checking import verify_ours
from shardwright.compiler.exporting.captures import carry_captures
from shardwright.compiler.exporting.stablehlo import lower_collectives
from shardwright.compiler.exporting.values import annotated, finish, manual_computation, shardings, without_ours
from shardwright.compiler.pipelines import run_pipeline
from shardwright.dialects import sdy
from shardwright.dialects.dtensor import MeshOp, meshes
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.sdy import ops as sdy_ops
from shardwright.dialects.text.locations import fault
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import erase, locate, replace_with
from shardwright.passes.stages import GLOBAL_TYPE_ARGUMENT, LAYOUT_ARGUMENT


def export_stablehlo(module: ModuleOp, *, bare: bool = False) -> None:
    """
    Turns a local program into StableHLO alone, in place.

    Its body stands in a `sdy.manual_computation` over all axes of the mesh, so that whoever runs Shardy's programs can
    call it with global arrays. With `bare`, the function takes and gives what one device holds. Raises SW0720 for an
    argument that is partial.
    """
    mesh = next(iter(meshes(module).values()), Mesh())
    function = entry_function(module)
    inputs, outputs = _sides(function.arg_attrs, function), _sides(function.res_attrs, function)
    carry_captures(module)
    lower_collectives(module, mesh)
    run_pipeline(module, ["dce"])
    _drop_ours(module, function)
    if mesh.size > 1 and not bare:
        _wrap(module, function, inputs, outputs)
    else:
        for op in list(module.ops):
            if isinstance(op, MeshOp):
                erase(op)
    finish(module, mesh)
    verify_ours(module, "export")


Side = tuple[LayoutSpec, Attribute]
"""The layout and the global type of an argument or result."""


def _sides(attributes: ArrayAttr[DictionaryAttr] | None, function: FuncOp) -> list[Side]:
    found: list[Side] = []
    for entry in attributes or ():
        layout = entry.data[LAYOUT_ARGUMENT]
        assert isinstance(layout, LayoutAttr)
        if layout.data.partial:
            raise fault(
                "SW0720",
                f"an argument has the layout {layout.data}, whose parts no manual computation can take",
                function,
                help="give the argument a layout without partial results",
            )
        found.append((layout.data, entry.data[GLOBAL_TYPE_ARGUMENT]))
    return found


def _drop_ours(module: ModuleOp, function: FuncOp) -> None:
    """Attributes of our own mean nothing to others."""
    for op in module.walk():
        op.attributes = without_ours(op.attributes)
    for name in ("arg_attrs", "res_attrs"):
        entries = function.properties.pop(name, None)
        if isinstance(entries, ArrayAttr):
            kept = [DictionaryAttr(without_ours(entry.data)) for entry in entries if isinstance(entry, DictionaryAttr)]
            if any(entry.data for entry in kept):
                function.properties[name] = ArrayAttr(kept)


def _wrap(module: ModuleOp, function: FuncOp, inputs: Sequence[Side], outputs: Sequence[Side]) -> None:
    """The function's body becomes that of a manual computation, which is all that the function has."""
    mesh = next(op for op in module.ops if isinstance(op, MeshOp))
    axes = mesh.mesh.axis_names
    replace_with(mesh, sdy.MeshOp(mesh.sym_name.data, sdy.SdyMesh(mesh.axes.data)))
    body = function.body.detach_block(0)
    last = body.last_op
    assert isinstance(last, ReturnOp)
    body.insert_op_before(locate(sdy_ops.ReturnOp.create(operands=last.operands), last), last)
    body.erase_op(last)
    block = Block(arg_types=[whole for _, whole in inputs])
    for argument, inner in zip(block.args, body.args, strict=True):
        argument.name_hint, argument.location = inner.name_hint, inner.location
    within, out = (shardings([spec for spec, _ in side], function) for side in (inputs, outputs))
    computation = manual_computation(block.args, [whole for _, whole in outputs], (within, out), axes, body)
    block.add_ops([locate(computation, function), locate(ReturnOp(*computation.results), last)])
    function.body.add_block(block)
    function.properties["arg_attrs"] = annotated(function.arg_attrs, within.data)
    function.properties["res_attrs"] = annotated(function.res_attrs, out.data)
    function.update_function_type()
