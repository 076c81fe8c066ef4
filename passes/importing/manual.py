"""
How `import-sdy` reads manual computations: inlined between casts, with collectives that name mesh axes.

Devices that a program lists are found again as mesh axes, so nothing behind this module sees a list of devices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace as changed

from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue

from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.suggestions import also
from shardwright.dialects import stablehlo
from shardwright.dialects.dtensor import AxisIndexOp, ConstraintOp
from shardwright.dialects.dtensor.manual import CastOp, FetchOp, FromManualOp, ToManualOp
from shardwright.dialects.sdy import Sharding
from shardwright.dialects.sdy.ops import ManualComputationOp, NamedComputationOp
from shardwright.dialects.stablehlo import collectives
from shardwright.dialects.stablehlo.collectives import UI32, GroupedOp, ReplicaGroups, ReplicaGroupsAttr
from shardwright.dialects.text.locations import fault, where
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis, remaining
from shardwright.layout.check import check_spec
from shardwright.layout.forms.groups import axes_of_digits, axes_of_groups, pairs_as_sources
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.importing.in_parts import as_parts, finished, from_parts, parted
from shardwright.passes.rewriter import erase, insert_before, move_body, replace, replace_with

Axes = tuple[Axis, ...]
ReadSharding = Callable[[Sharding, SSAValue, Operation], LayoutSpec]
"""The layout that a sharding gives to a value, or a coded error that points at an op."""


def inline_manual(op: ManualComputationOp, mesh: Mesh, read: ReadSharding) -> None:
    """
    Puts the body of a manual computation in its place, between casts.

    Before:
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>]
            manual_axes={"x"} (%y: tensor<2xf32>) {
          %1 = stablehlo.negate %y : tensor<2xf32>
          sdy.return %1 : tensor<2xf32>
        } : (tensor<4xf32>) -> tensor<4xf32>
    After:
        %x' = dtensor.constraint %x : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
        %y = dtensor.to_manual @mesh [{"x"}] manual {"x"} %x' : ... -> tensor<2xf32>
        %1 = stablehlo.negate %y : tensor<2xf32>
        %r = dtensor.from_manual @mesh [{"x"}] manual {"x"} %1 : (tensor<2xf32>) -> tensor<4xf32>
        %0 = dtensor.constraint %r : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
    """
    manual = _manual_axes(op, mesh) if op.inputs or op.outputs else ()  # else nothing says on which mesh
    block, name = op.body.block, f"of the manual computation{_at(op)}"
    for number, (argument, value) in enumerate(zip(block.args, op.inputs, strict=True)):
        spec = _withheld(read(op.in_shardings.data[number], value, op), manual, mesh)
        parts = parted(spec, manual)
        fixed = insert_before(op, ConstraintOp(value, finished(spec, parts), f"operand {number} {name}")).results[0]
        cast = _cast(ToManualOp(fixed, mesh, _dim_axes(spec, manual, op), manual), argument, op)
        inner = insert_before(op, cast).results[0]
        argument.replace_all_uses_with(as_parts(inner, parts, spec.kind, mesh, op) if parts else inner)
    returned = op.returned
    move_body(op.body.block, op)
    results: list[SSAValue] = []
    for number, (value, result) in enumerate(zip(returned, op.outputs, strict=True)):
        spec = _withheld(read(op.out_shardings.data[number], result, op), manual, mesh)
        dim_axes, parts = _dim_axes(spec, manual, op), parted(spec, manual)
        cast = _cast(FromManualOp(value, mesh, dim_axes, manual), result, op)
        if parts:
            whole = from_parts(value, dim_axes, parts, spec, mesh, manual, op)
        else:
            whole = insert_before(op, cast).results[0]
        results.append(insert_before(op, ConstraintOp(whole, spec, f"result {number} {name}")).results[0])
        results[-1].name_hint = result.name_hint
    replace(op, results)


def inline_named(op: NamedComputationOp, read: ReadSharding) -> None:
    """Puts the body of a named computation in its place; its shardings become constraints."""
    arguments = _constrained(op.inputs, op.shardings("in_shardings", len(op.inputs)), op, read)
    for argument, value in zip(op.body.block.args, arguments, strict=True):
        argument.replace_all_uses_with(value)
    returned = op.returned
    move_body(op.body.block, op)
    replace(op, _constrained(returned, op.shardings("out_shardings", len(op.outputs)), op, read))


def _constrained(
    values: Sequence[SSAValue], shardings: Sequence[Sharding] | None, op: Operation, read: ReadSharding
) -> list[SSAValue]:
    if shardings is None:
        return list(values)
    pairs = zip(values, shardings, strict=True)
    return [insert_before(op, ConstraintOp(value, read(sharding, value, op))).results[0] for value, sharding in pairs]


def _at(op: Operation) -> str:
    place = where(op)
    return f" at {place}" if place else ""


def _manual_axes(op: ManualComputationOp, mesh: Mesh) -> Axes:
    unknown = next((name for name in op.manual_axes.data if name not in mesh.sizes), None)
    if unknown is not None:
        known = ", ".join(mesh.sizes) or "none"
        raise fault(
            "SW0102",
            f"mesh @{mesh.name} has no axis {unknown!r}",
            op,
            help=also(unknown, mesh.sizes, f"its axes are {known}"),
        )
    return tuple(Axis(name) for name in op.manual_axes.data)


def _withheld(spec: LayoutSpec, manual: Axes, mesh: Mesh) -> LayoutSpec:
    """The layout with the manual axes that it does not name kept out of its open dims."""
    more = remaining(manual, [*spec.axes(), *spec.withheld], mesh.sizes) if spec.open_dims else ()
    return changed(spec, withheld=spec.withheld + more)


def _dim_axes(spec: LayoutSpec, manual: Axes, op: Operation) -> tuple[Axes, ...]:
    """The manual axes of each dim; they must be the major ones."""
    names = {axis.name for axis in manual}
    found = [tuple(axis for axis in axes if axis.name in names) for axes in spec.dims]
    if any(axes[: len(mine)] != mine for axes, mine in zip(spec.dims, found, strict=True)):
        raise fault(
            "SW0464",
            f"the sharding {spec} of a manual computation names free axes before manual ones",
            op,
            help="in each dim the manual axes come first: they are the major ones",
        )
    return tuple(found)


def _cast(cast: CastOp, inner: SSAValue, op: Operation) -> CastOp:
    """The cast, if its result has the type that the program says."""
    found, expected = cast.result.type, inner.type
    if shape_of(found) != shape_of(expected):
        raise fault(
            "SW0464",
            f"the manual computation takes or gives {expected} where its sharding makes it {found}",
            op,
            help="along manual axes the body sees each device's part of a value",
        )
    return cast


@dataclass
class CollectiveReader:
    """Turns the collectives of a program into ones that name axes of `mesh`; `symbols` are the meshes' other names."""

    mesh: Mesh
    symbols: dict[str, str]

    def read(self, op: Operation) -> None:
        """Rewrites `op` if it is a collective, or asks for the number of a device."""
        match op:
            case collectives.CollectivePermuteOp():
                self._permute(op)
            case collectives.CollectiveBroadcastOp():
                self._broadcast(op)
            case collectives.PartitionIdOp():
                self._partition_id(op)
            case collectives.ReplicaIdOp():
                replace_with(op, stablehlo.make_constant(0, UI32, ()))
            case GroupedOp():
                axes = self._axes(op)
                self._check_size(op, self.mesh.group_size(axes))
                op.properties["replica_groups"] = ReplicaGroupsAttr(ReplicaGroups(self.mesh.name, axes))
                op.properties.pop("channel_handle", None)
                op.properties.pop("use_global_device_ids", None)
            case _:
                pass

    def _axes(self, op: GroupedOp) -> Axes:
        groups = op.groups
        if groups is not None:
            self._check_mesh(groups, op)
            return groups.axes
        rows = op.dense_groups
        assert rows is not None
        if not self._lists_devices(op):
            _check_replicas(rows.tolist(), op)
            return tuple(map(Axis, self.mesh.sizes)) if op.channel_handle is not None else ()
        found = axes_of_groups(rows.tolist(), self.mesh)
        if found is None and isinstance(op, collectives.AllReduceOp):
            found = axes_of_groups([sorted(group) for group in rows.tolist()], self.mesh)
        if found is None:
            raise self._no_axes(op, f"replica_groups {_brief(rows.tolist())}")
        return found

    def _check_mesh(self, groups: ReplicaGroups, op: Operation) -> None:
        if self.symbols.get(groups.mesh, groups.mesh) != self.mesh.name:
            raise self._no_axes(op, f"mesh @{groups.mesh}")
        found = check_spec(LayoutSpec(self.mesh.name, (groups.axes,)), (self._extent(groups.axes),), self.mesh)
        if found is not None:
            raise fault(found.code, f"'{op.name}': {found.message}", op, notes=found.notes, help=found.help)

    def _extent(self, axes: Axes) -> int:
        """A size that the axes divide, as far as the mesh has them."""
        return math.prod(axis.size or self.mesh.sizes.get(axis.name, 1) for axis in axes)

    def _check_size(self, op: GroupedOp, size: int) -> None:
        """What the op makes must fit the number of devices of a group; lists of devices were checked with the op."""
        match op:
            case collectives.AllGatherOp():
                sides = [(shape_of(a)[op.dim], shape_of(b)[op.dim]) for a, b in zip(op.inputs, op.outputs, strict=True)]
            case collectives.ReduceScatterOp():
                sides = [(shape_of(op.result)[op.dim], shape_of(op.operand)[op.dim])]
            case collectives.AllToAllOp():
                sides = [(1, op.count)]
            case _:
                sides = []
        if any(small * size != large for small, large in sides):
            raise self._no_axes(op, f"groups of {size} devices, but dims that grow or shrink otherwise")

    def _lists_devices(self, op: GroupedOp) -> bool:
        """Whether the groups list devices, and not replicas."""
        channel = op.channel_handle
        named = channel is not None and channel.data[0] > 0
        combining = isinstance(op, collectives.AllReduceOp | collectives.ReduceScatterOp | collectives.AllGatherOp)
        return named and ("use_global_device_ids" in op.properties or not combining)

    def _permute(self, op: collectives.CollectivePermuteOp) -> None:
        pairs = [(source, target) for source, target in op.pairs.tolist()]
        if op.channel_handle is None or op.channel_handle.data[0] <= 0:
            _check_replicas(pairs, op)
        self._fetch(op, *self._sources(op, pairs, f"source_target_pairs {_brief(pairs)}"))

    def _broadcast(self, op: collectives.CollectiveBroadcastOp) -> None:
        groups, rows = op.groups, op.dense_groups
        if groups is not None:
            self._check_mesh(groups, op)
            self._fetch(op, groups.axes, (0,) * self.mesh.group_size(groups.axes))
            return
        assert rows is not None
        if not self._lists_devices(op):
            _check_replicas(rows.tolist(), op)
        pairs = [(group[0], device) for group in rows.tolist() for device in group if device >= 0]
        self._fetch(op, *self._sources(op, pairs, f"replica_groups {_brief(rows.tolist())}"))

    def _sources(self, op: Operation, pairs: Sequence[tuple[int, int]], what: str) -> tuple[Axes, tuple[int, ...]]:
        """The axes along which pairs of devices differ, and who is whose source along them."""
        if any(device >= self.mesh.size for pair in pairs for device in pair):
            raise self._no_axes(op, what)
        return pairs_as_sources(pairs, self.mesh)

    def _fetch(
        self,
        op: collectives.CollectivePermuteOp | collectives.CollectiveBroadcastOp,
        axes: Axes,
        sources: Sequence[int],
    ) -> None:
        reason = f"{op.name} written by the user{_at(op)}"
        replace_with(op, FetchOp(op.operand, self.mesh.name, axes, sources, reason))

    def _partition_id(self, op: collectives.PartitionIdOp) -> None:
        """The number over all axes, or over those that the division and remainder after it pick out."""
        for quotient in [use.operation for use in op.result.uses]:
            for rest in [use.operation for use in quotient.results[0].uses] if _divides(quotient, op) else ():
                axes = self._picked(quotient, rest)
                if axes is not None:
                    self._index(rest, axes)
        if not list(op.result.uses):
            erase(op)
        else:
            self._index(op, tuple(map(Axis, self.mesh.sizes)))

    def _picked(self, quotient: Operation, rest: Operation) -> Axes | None:
        if not isinstance(rest, stablehlo.RemainderOp) or rest.lhs is not quotient.results[0]:
            return None
        stride, size = _number(quotient.operands[1]), _number(rest.rhs)
        return None if stride is None or size is None else axes_of_digits(stride, size, self.mesh)

    def _index(self, op: Operation, axes: Axes) -> None:
        index = insert_before(op, AxisIndexOp(self.mesh.name, axes)).results[0]
        replace_with(op, stablehlo.ConvertOp(index, UI32))

    def _no_axes(self, op: Operation, what: str) -> ShardwrightError:
        return fault(
            "SW0460",
            f"'{op.name}' has {what}, which no axes of the mesh make",
            op,
            notes=(f"the mesh is {self.mesh}; devices are numbered row-major over its axes",),
            help="let the devices of a group differ along mesh axes, or parts of them, and list every device once",
        )


def check_replicas(module: ModuleOp) -> None:
    """SW0466 for a program that is run several times at once, as `pmap` did: its replicas are no part of the mesh."""
    count = module.attributes.get("mhlo.num_replicas")
    if isinstance(count, IntegerAttr) and count.value.data > 1:
        raise fault(
            "SW0466",
            f"the program is for {count.value.data} replicas",
            module,
            help="export it for one replica and more partitions: use jax.jit or shard_map instead of pmap",
        )


def _check_replicas(groups: Sequence[Sequence[int]], op: Operation) -> None:
    """Lists of replicas, where devices were not meant: the program has one replica."""
    if any(replica != 0 for group in groups for replica in group):
        raise fault(
            "SW0466",
            f"'{op.name}' lists replicas {_brief(groups)}, but the program has one replica",
            op,
            help="to name devices, give the op a channel_handle above 0, and use_global_device_ids where it has it",
        )


def _brief(groups: Sequence[Sequence[int]]) -> str:
    """The list, or its beginning."""
    shown = ", ".join(str(list(group)) for group in groups[:4])
    return f"[{shown}{', ...' if len(groups) > 4 else ''}]"


def _divides(op: Operation, number: collectives.PartitionIdOp) -> bool:
    return isinstance(op, stablehlo.DivideOp) and op.lhs is number.result


def _number(value: SSAValue) -> int | None:
    """The whole number that a scalar constant is."""
    owner = value.owner
    if not isinstance(owner, stablehlo.ConstantOp) or shape_of(value):
        return None
    return int(stablehlo.splat_value(owner))
