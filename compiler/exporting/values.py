"""Layouts, manual computations and attributes as Shardy writes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, i32
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from shardwright.compiler.exporting.messages.devices import too_many_devices
from shardwright.dialects import sdy
from shardwright.dialects.sdy import ops as sdy_ops
from shardwright.dialects.stablehlo.calls.custom_calls import column_major, custom_calls
from shardwright.dialects.text.locations import fault
from shardwright.layout.axes import merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.stages import STAGE

SHARDING = "sdy.sharding"
"""The attribute that holds shardings, on arguments, results and ops."""

OURS = "dtensor."
"""How attributes begin that mean nothing to other readers."""


COUNTED = (1 << 31) - 1
"""The most devices that a module counts: `mhlo.num_partitions` has 32 bits."""


def check_counted(mesh: Mesh) -> None:
    """Raises SW0734 for more devices than a module counts."""
    if mesh.size > COUNTED:
        raise too_many_devices(mesh, COUNTED, "mhlo.num_partitions has 32 bits")


def sharding(spec: LayoutSpec, mesh: Mesh, place: Operation | SSAValue, *, kinds: bool = False) -> sdy.Sharding:
    """
    A layout as Shardy writes it: parts of an axis that follow each other are one.

    Raises SW0720 for partial results that are no sums, which not every Shardy reads; with `kinds` it does.
    """
    if spec.partial and spec.kind != "sum" and not kinds:
        raise fault(
            "SW0720",
            f"the layout {spec} has partial results of kind {spec.kind}, which Shardy cannot state",
            place,
            help="give the value a layout without partial results",
        )
    merged = [merge_adjacent(axes, mesh.sizes) for axes in spec.dims]
    dims = tuple(sdy.DimSharding(axes, number in spec.open_dims) for number, axes in enumerate(merged))
    kind = spec.kind if spec.partial else "sum"
    return sdy.Sharding(spec.mesh, dims, unreduced=merge_adjacent(spec.partial, mesh.sizes), kind=kind)


def shardings(
    specs: Iterable[LayoutSpec | None], mesh: Mesh, place: Operation, *, kinds: bool = False
) -> sdy.ShardingPerValueAttr:
    """The layouts, as far as there are any, of several values."""
    found = (sharding(spec, mesh, place, kinds=kinds) for spec in specs if spec is not None)
    return sdy.ShardingPerValueAttr(tuple(found))


def annotated(
    entries: ArrayAttr[DictionaryAttr] | None, found: Sequence[sdy.Sharding | None]
) -> ArrayAttr[DictionaryAttr]:
    """The attributes of a function's arguments or results with their shardings."""
    old = entries.data if entries is not None else [DictionaryAttr({})] * len(found)
    new: list[DictionaryAttr] = []
    for entry, one in zip(old, found, strict=True):
        own = {} if one is None else {SHARDING: sdy.ShardingAttr(one)}
        new.append(DictionaryAttr({**without_ours(entry.data), **own}))
    return ArrayAttr(new)


def manual_computation(
    operands: Sequence[SSAValue],
    result_types: Sequence[Attribute],
    sides: tuple[sdy.ShardingPerValueAttr, sdy.ShardingPerValueAttr],
    axes: tuple[str, ...],
    body: Block,
) -> sdy_ops.ManualComputationOp:
    """The computation of each device over `axes`; `sides` are how what it takes and what it gives are split."""
    within, out = sides
    return sdy_ops.ManualComputationOp.create(
        operands=operands,
        result_types=result_types,
        properties={"in_shardings": within, "out_shardings": out, "manual_axes": sdy_ops.ManualAxesAttr(axes)},
        regions=[Region(body)],
    )


def without_ours(attributes: Mapping[str, Attribute]) -> dict[str, Attribute]:
    """Attributes without our own notes."""
    return {name: value for name, value in attributes.items() if not name.startswith(OURS)}


def finish(module: ModuleOp, mesh: Mesh) -> None:
    """Says about a module and its calls what their readers ask for, and no longer what stage of ours it is in."""
    for call in custom_calls(module):
        if call.routine is not None:
            column_major(call)
    module.attributes.pop(STAGE, None)
    module.attributes |= {"mhlo.num_partitions": IntegerAttr(mesh.size, i32), "mhlo.num_replicas": IntegerAttr(1, i32)}
