"""Writing the propagated program with Shardy's annotations: what was decided, for JAX and other readers of Shardy."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.compiler.checking import verify_ours
from shardwright.compiler.exporting.regions import regroup
from shardwright.compiler.exporting.stablehlo import lower_collectives
from shardwright.compiler.exporting.values import (
    SHARDING,
    annotated,
    check_counted,
    finish,
    sharding,
    without_ours,
)
from shardwright.compiler.exporting.xla.memories import put_into_memories
from shardwright.compiler.exporting.xla.products import spell_out_products
from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.values import drop_layouts
from shardwright.dialects import sdy
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp, layout_of, meshes
from shardwright.dialects.dtensor.hints import BarrierOp
from shardwright.dialects.dtensor.roll import RollOp, spell_out
from shardwright.dialects.sdy.rules import KEPT_RULE, SHARDY_RULE, OpShardingRuleAttr
from shardwright.dialects.stablehlo import ConstantOp, CustomCallOp, WhileOp
from shardwright.layout.mesh import Mesh
from shardwright.passes.padding.fit_borders import fit_borders
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before, locate, replace, replace_with, retype
from shardwright.rules.families.custom_calls import written_for_shardy


def export_sdy(module: ModuleOp) -> None:
    """
    Turns a propagated program into StableHLO with Shardy's annotations, in place; `import-sdy` reads it back.

    ```
    dtensor.mesh @mesh = <["x"=2]>
    %1 = stablehlo.negate %0 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    ```
    becomes
    ```
    sdy.mesh @mesh = <["x"=2]>
    %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>} : tensor<4xf32>
    ```
    Raises SW0720 for a layout that Shardy cannot state, SW0734 for more devices than are counted.
    """
    mesh = next(iter(meshes(module).values()), Mesh())
    check_counted(mesh)
    _say_for_others(module)
    # Padding is ours: others take and give global arrays, of which uneven parts are for nobody to state.
    fit_borders(entry_function(module), lambda _, whole: whole)
    computations = regroup(module, mesh)
    operations = list(module.walk())
    shardings = {op: _shardings(op.results, mesh, op) for op in operations}
    for computation in computations:
        if set(computation.manual_axes.data) == set(mesh.axis_names):
            # Nothing is left to say inside: each device computes on its own arrays.
            shardings |= dict.fromkeys(computation.body.walk(), ())
        shardings[computation] = ()
    for op in operations:
        if isinstance(op, FuncOp) and op.body.blocks:
            _annotate_function(op, mesh)
    for op in operations:
        drop_layouts(op)
        rule = _rule_for_shardy(op)
        op.attributes = without_ours(op.attributes) | ({} if rule is None else {SHARDY_RULE: rule})
        _annotate(op, shardings[op])
    if mesh.size > 1:
        spell_out_products(module, mesh)
    if computations:
        lower_collectives(module, mesh)
        run_pipeline(module, ["dce"])
    for op in operations:
        if isinstance(op, FuncOp):
            op.update_function_type()
    finish(module, mesh)
    verify_ours(module, "export")


def _rule_for_shardy(op: Operation) -> Attribute | None:
    """How Shardy may split a custom call: as the program said, or else as whoever registered it."""
    kept = op.attributes.get(KEPT_RULE)
    written = written_for_shardy(op) if kept is None and isinstance(op, CustomCallOp) else None
    return kept if written is None else OpShardingRuleAttr(written)


def _say_for_others(module: ModuleOp) -> None:
    """Writes what only we have ops and notes for in others' words: rolls, and values in other memories."""
    for roll in [op for op in module.walk() if isinstance(op, RollOp)]:
        _spell_out(roll)
    put_into_memories(module)


def _spell_out(op: RollOp) -> None:
    """A roll as slices and a concatenation; the slices, which need not divide, have no sharding."""
    result = spell_out(op, lambda new: insert_before(op, new))
    replace(op, [retype(result, op.result.type)])


def _shardings(values: Sequence[SSAValue], mesh: Mesh, place: Operation | SSAValue) -> tuple[sdy.Sharding, ...]:
    """The sharding of each value, or nothing when none of them has a layout."""
    specs = [layout_of(value) for value in values]
    name = next((spec.mesh for spec in specs if spec is not None), None)
    if name is None:
        return ()
    return tuple(sdy.Sharding(name) if spec is None else sharding(spec, mesh, place) for spec in specs)


def _annotate(op: Operation, shardings: tuple[sdy.Sharding, ...]) -> None:
    if isinstance(op, MeshOp):
        replace_with(op, sdy.MeshOp(op.sym_name.data, sdy.SdyMesh(op.axes.data)))
    elif isinstance(op, ConstraintOp | RelayoutOp | BarrierOp):
        if shardings:
            replace_with(op, sdy.ShardingConstraintOp(op.operand, shardings[0]))
        else:
            replace(op, [op.operand])
    elif isinstance(op, WhileOp) and shardings:
        # XLA takes what a loop leaves alone out of its tuple, but not out of the loop's annotation.
        _constrain_results(op, shardings)
    elif shardings and not isinstance(op, ConstantOp):
        # A constant is made in whatever layout its uses want; an annotation would stand between them.
        op.attributes[SHARDING] = sdy.ShardingPerValueAttr(shardings)


def _constrain_results(op: Operation, shardings: tuple[sdy.Sharding, ...]) -> None:
    last = op
    for result, found in zip(op.results, shardings, strict=True):
        if result.uses:
            constraint = locate(sdy.ShardingConstraintOp(result, found), op)
            result.replace_uses_with_if(constraint.results[0], lambda use, new=constraint: use.operation is not new)
            assert last.parent is not None
            last.parent.insert_op_after(constraint, last)
            last = constraint


def _annotate_function(function: FuncOp, mesh: Mesh) -> None:
    returned = function.get_return_op()
    results = () if returned is None else returned.operands
    function.properties["arg_attrs"] = annotated(function.arg_attrs, _one_each(function.args, mesh))
    function.properties["res_attrs"] = annotated(function.res_attrs, _one_each(results, mesh))


def _one_each(values: Sequence[SSAValue], mesh: Mesh) -> list[sdy.Sharding | None]:
    return [next(iter(_shardings([value], mesh, value)), None) for value in values]
