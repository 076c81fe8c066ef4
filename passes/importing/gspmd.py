"""
How `import-sdy` reads GSPMD's shardings: `mhlo.sharding` on arguments, results and ops, and its custom calls.

They become what Shardy would say, on the program's mesh or on one that is made of their tiles.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import sdy
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor import MeshOp
from shardwright.dialects.dtensor.manual import FromManualOp, ToManualOp
from shardwright.dialects.sdy import DimSharding, Sharding, ShardingAttr, ShardingPerValueAttr
from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.text.locations import fault
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.forms.gspmd import Tiling, mesh_of_tilings, split_tuple
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import insert_before, replace, replace_with

FOREIGN = "mhlo.sharding"
SHARDING = "sdy.sharding"
CONSTRAINT, ENTER, LEAVE = "Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"

INSIDE = ("manual", "unknown")
"""What a sharding says of a value that it splits in no way that layouts name."""

_OPEN = re.compile(r"unspecified_dims=\[([\d,]*)\]")


def import_gspmd(module: ModuleOp, known: dict[str, Mesh]) -> None:
    """
    Turns GSPMD's shardings of `module` into Shardy's, in place; a mesh that they need is declared and added to `known`.

    Before:
        func.func public @main(%x: tensor<4xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) -> tensor<4xf32>
    After:
        dtensor.mesh @mesh = <["axis0"=2]>
        func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"axis0"}]>}) -> tensor<4xf32>
    """
    written = list(_strings(module))
    if not written:
        return
    reader = _Reader(_mesh(module, known, written))
    for op in [op for op in ops_in(module) if isinstance(op, CustomCallOp) and op.target in (ENTER, LEAVE)]:
        reader.border(op)
    for op in ops_in(module):
        if isinstance(op, CustomCallOp) and op.target == CONSTRAINT:
            reader.constraint(op)
        elif isinstance(op, FuncOp):
            reader.signature(op)
        elif FOREIGN in op.attributes:
            reader.annotation(op)


def _strings(module: ModuleOp) -> Iterator[tuple[str, Operation]]:
    """Each sharding of GSPMD that counts, and where it stands."""
    for op in ops_in(module):
        entries = [op.attributes]
        if isinstance(op, FuncOp):
            entries += [entry.data for entry in (*_entries(op, "arg_attrs"), *_entries(op, "res_attrs"))]
        for entry in entries:
            found = entry.get(FOREIGN)
            if isinstance(found, StringAttr) and SHARDING not in entry:
                yield from ((text, op) for text in split_tuple(found.data))


def _entries(function: FuncOp, name: str) -> tuple[DictionaryAttr, ...]:
    found = function.properties.get(name)
    entries = found.data if isinstance(found, ArrayAttr) else ()
    return tuple(entry for entry in entries if isinstance(entry, DictionaryAttr))


def _mesh(module: ModuleOp, known: dict[str, Mesh], written: Sequence[tuple[str, Operation]]) -> Mesh:
    """The mesh that the shardings are read on: the first with axes, declared where there is none."""
    if not any(mesh.sizes for mesh in known.values()):
        _declare(module, known, written)
    return next(mesh for mesh in known.values() if mesh.sizes or len(known) == 1)


def _declare(module: ModuleOp, known: dict[str, Mesh], written: Sequence[tuple[str, Operation]]) -> None:
    """Declares a mesh of the shardings' own tiles."""
    tilings = [_tiling(text, place) for text, place in written]
    try:
        mesh = mesh_of_tilings(tilings, next(iter(known), "mesh"))
    except ValueError as error:
        raise _unreadable(written[0][0], str(error), written[0][1]) from error
    for op in [op for op in module.ops if isinstance(op, MeshOp)]:
        op.detach()
    first = module.body.block.first_op
    assert first is not None
    insert_before(first, MeshOp(mesh.name, list(mesh.sizes.items())))
    known[mesh.name] = mesh


def _tiling(text: str, place: Operation | SSAValue) -> Tiling:
    try:
        found = Tiling.parse(text)
    except ValueError as error:
        raise _unreadable(text, str(error), place) from error
    if found.whole == "maximal":
        raise _unreadable(text, "it puts the value on one device", place)
    return found


def _unreadable(text: str, why: str, place: Operation | SSAValue) -> ShardwrightError:
    return fault(
        "SW0467",
        f"{FOREIGN} = {text} cannot be read as a layout: {why}",
        place,
        word=FOREIGN,
        help="export the program with Shardy: jax.config.update('jax_use_shardy_partitioner', True)",
    )


def _withholding(sharding: Sharding, manual: Sequence[Axis]) -> Sharding:
    """The sharding of what leaves a manual computation: its open dims gain none of the axes that were manual."""
    kept = tuple(axis for axis in manual if not any(axis in dim.axes for dim in sharding.dims))
    withheld = kept if any(dim.is_open for dim in sharding.dims) else ()
    return Sharding(sharding.mesh, sharding.dims, replicated=withheld)


@dataclass
class _Reader:
    mesh: Mesh

    def sharding(
        self, text: str, rank: int, place: Operation | SSAValue, open_dims: Sequence[int] = ()
    ) -> tuple[Sharding, tuple[Axis, ...]]:
        """What `text` says of a value of this rank, as Shardy says it, and the manual axes."""
        try:
            dims, manual = _tiling(text, place).axes(self.mesh)
        except ValueError as error:
            raise _unreadable(text, str(error), place) from error
        if dims and len(dims) != rank:
            raise _unreadable(text, f"it has {len(dims)} dims, but the value has {rank}", place)
        pairs = enumerate(dims or [()] * rank)
        listed = tuple(DimSharding(axes, number in open_dims) for number, axes in pairs)
        kept = manual if open_dims else ()
        return Sharding(self.mesh.name, listed, replicated=kept), manual

    def constraint(self, op: CustomCallOp) -> None:
        """`@Sharding` is a constraint, unless it says only that its value is one of a manual computation."""
        text, (value,) = self._text(op), op.inputs
        sharding, manual = self.sharding(text, len(shape_of(value)), op, _open_dims(op))
        if _tiling(text, op).whole in INSIDE:
            replace(op, [value])
            return
        if manual:
            sharding = Sharding(sharding.mesh, sharding.dims)
        replace_with(op, sdy.ShardingConstraintOp(value, sharding))

    def border(self, op: CustomCallOp) -> None:
        """Where a manual computation begins or ends: a cast, whose other side's sharding is on the op before it."""
        (value,) = op.inputs
        before = value.owner
        if not isinstance(before, CustomCallOp) or before.target != CONSTRAINT:
            raise _unreadable(self._text(op), f"@{op.target} does not follow a @{CONSTRAINT}", op)
        rank, enters = len(shape_of(value)), op.target == ENTER
        outer, inner = (before, op) if enters else (op, before)
        _, manual = self.sharding(self._text(inner), rank, op)
        sharding, _ = self.sharding(self._text(outer), rank, op, _open_dims(outer))
        names = {axis.name for axis in manual}
        dim_axes = [tuple(axis for axis in dim.axes if axis.name in names) for dim in sharding.dims]
        cast = (ToManualOp if enters else FromManualOp)(value, self.mesh, dim_axes, manual)
        if shape_of(cast.result) != shape_of(op.results[0]):
            raise _unreadable(self._text(outer), f"it makes {op.results[0].type} a {cast.result.type}", op)
        if enters:
            replace_with(op, cast)
            return
        insert_before(op, cast)
        replace_with(op, sdy.ShardingConstraintOp(cast.result, _withholding(sharding, manual)))

    def signature(self, function: FuncOp) -> None:
        """Arguments and results."""
        types = function.function_type
        for name, values in (("arg_attrs", types.inputs.data), ("res_attrs", types.outputs.data)):
            entries = _entries(function, name)
            if any(FOREIGN in entry.data for entry in entries):
                changed = [self._entry(entry, kind, function) for entry, kind in zip(entries, values, strict=True)]
                function.properties[name] = ArrayAttr(changed)

    def _entry(self, entry: DictionaryAttr, kind: Attribute, function: FuncOp) -> DictionaryAttr:
        data = dict(entry.data)
        text = data.pop(FOREIGN, None)
        if not isinstance(text, StringAttr) or SHARDING in data or not isinstance(kind, TensorType):
            return DictionaryAttr(data)
        if _tiling(text.data, function).whole not in INSIDE:
            data[SHARDING] = ShardingAttr(self.sharding(text.data, len(shape_of(kind)), function)[0])
        return DictionaryAttr(data)

    def annotation(self, op: Operation) -> None:
        """An op's own results."""
        text = op.attributes.pop(FOREIGN)
        if SHARDING in op.attributes or not isinstance(text, StringAttr):
            return
        parts = split_tuple(text.data)
        if len(parts) != len(op.results):
            raise _unreadable(text.data, f"it is for {len(parts)} values, but the op has {len(op.results)} results", op)
        if any(_tiling(part, op).whole in INSIDE for part in parts):
            return
        pairs = zip(parts, op.results, strict=True)
        found = tuple(self.sharding(part, len(shape_of(value)), op)[0] for part, value in pairs)
        op.attributes[SHARDING] = ShardingPerValueAttr(found)

    def _text(self, op: CustomCallOp) -> str:
        found = op.attributes.get(FOREIGN)
        if not isinstance(found, StringAttr):
            raise _unreadable("", f"@{op.target} has none", op)
        return found.data


def _open_dims(op: CustomCallOp) -> tuple[int, ...]:
    """The dims that GSPMD may split further: `unspecified_dims=[0,1]`."""
    config = op.backend_config
    match = _OPEN.search(config.data) if isinstance(config, StringAttr) else None
    return tuple(int(dim) for dim in match[1].split(",") if dim) if match is not None else ()
