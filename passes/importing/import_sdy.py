"""`import-sdy`: Shardy's meshes and shardings become `dtensor` meshes, layouts and constraints."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace as changed
from itertools import count

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.diagnostics import Label, ShardwrightError
from shardwright.diagnostics.suggestions import propose
from shardwright.dialects import sdy, stablehlo
from shardwright.dialects.building import ops_in
from shardwright.dialects.dtensor import ConstraintOp, MeshOp, RelayoutOp, layout_of, meshes, with_layout
from shardwright.dialects.dtensor.hints import BarrierOp, GroupOp
from shardwright.dialects.func import CallOp
from shardwright.dialects.sdy.ops import (
    CollectiveOp,
    CombiningOp,
    ConstantOp,
    DataFlowEdgeOp,
    Direction,
    FuncDataFlowEdgeOp,
    ManualComputationOp,
    NamedComputationOp,
    PropagationBarrierOp,
    ReshardOp,
    ShardingGroupOp,
)
from shardwright.dialects.sdy.rules import KEPT_RULE, SHARDY_RULE, OpShardingRuleAttr
from shardwright.dialects.stablehlo import CustomCallOp
from shardwright.dialects.stablehlo.collectives import COLLECTIVE_OPS, PartitionIdOp, ReplicaGroupsAttr
from shardwright.dialects.text.locations import fault, label
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import merge_adjacent
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.importing.calls import around, callees_first, calls_in, functions, hide_used, is_private
from shardwright.passes.importing.gspmd import SHARDING, import_gspmd
from shardwright.passes.importing.manual import CollectiveReader, check_replicas, inline_manual, inline_named
from shardwright.passes.importing.one_mesh import say_of_one
from shardwright.passes.rewriter import erase, locate, replace, replace_with, retype
from shardwright.passes.stages import (
    REGIONS_OF_TENSORS,
    check_layout,
    require_stage,
    set_stage,
    stage_of,
)

PREFIX = "sdy."
RECORDS = frozenset(
    f"sdy.{name}"
    for name in """
    original_func_name sharding_origins sharding_origin_name origin_sharding_name block_arg_sharding_origins
    result_sharding_origins propagation_edges block_arg_propagation_edges result_propagation_edges
    """.split()
)
"""Where Shardy keeps, for who looks for errors, what a function was called that it copied, and whose a sharding was."""

MANUAL_AXES = "sdy.func_manual_axes"
"""Where Shardy says of a function that it is written for one device along some axes."""

FRAMES = REGIONS_OF_TENSORS | {"func.func", "sdy.manual_computation", "sdy.named_computation"}
"""Ops whose regions compute on tensors that have layouts."""


@dataclass(frozen=True)
class ImportSdyPass(ModulePass):
    """
    Turns Shardy's annotations into layouts: on the entry's arguments in their types, elsewhere as constraints.

    Before:
        sdy.mesh @mesh = <["x"=2]>
        func.func public @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
          %0 = stablehlo.negate %x : tensor<4xf32>
          %1 = sdy.sharding_constraint %0 <@mesh, [{}]> : tensor<4xf32>
          %2 = stablehlo.negate %1 : tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }
    After:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%x: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32> {
          %0 = stablehlo.negate %x : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
          %1 = dtensor.constraint %0 : tensor<4xf32> -> tensor<4xf32, #dtensor.layout<@mesh, [{}]>>
          %2 = stablehlo.negate %1 : (tensor<4xf32, #dtensor.layout<@mesh, [{}]>>) -> tensor<4xf32>
          func.return %2 : tensor<4xf32>
        }
    """

    name = "import-sdy"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if stage_of(op) is not None:
            require_stage(op, self.name, "traced")
        _check_alone(op)
        check_replicas(op)
        hide_used(op)
        declared = _import_meshes(op)
        import_gspmd(op, declared.known)
        importer = _Importer(declared, _asked_outside(op) if declared.single else None)
        for function in functions(op).values():
            if function.body.blocks:
                importer.import_function(function)
        _settle_signatures(op)
        op.attributes = {name: value for name, value in op.attributes.items() if not name.startswith("mhlo.")}
        if stage_of(op) is None:
            set_stage(op, "traced")


def _check_alone(module: ModuleOp) -> None:
    """A program is one module: what another one inside of it defines is for nobody to call."""
    inner = next((op for op in ops_in(module) if isinstance(op, ModuleOp) and op is not module), None)
    if inner is not None:
        message = "a module stands inside of the program's module"
        raise fault("SW0324", message, inner, help="give each module as a program of its own, or drop the inner one")


@dataclass
class _Meshes:
    """
    The module's meshes, and for each of Shardy's symbols the one that stands for it.

    `single` are the names of meshes that are one certain device: JAX says so where Python is called back, others where
    an op is too small to be split. What is there is whole, and whole on all other devices as well.
    """

    known: dict[str, Mesh]
    symbols: dict[str, str]
    single: set[str]


def _import_meshes(module: ModuleOp) -> _Meshes:
    found = _Meshes(meshes(module), {}, set())
    said = dict.fromkeys(mesh for op in ops_in(module) for mesh in _named_by(op))
    declared = [op for op in module.ops if isinstance(op, sdy.MeshOp)]
    declared += _written_in_place(module, said, declared)
    named = {op.mesh.data.axes for op in declared if op.sym_name.data in said or op.mesh.data in said} - {()}
    used = [op for op in declared if not named or op.mesh.data.axes in named or not op.mesh.data.axes]
    for op in declared:
        if op not in used:  # other functions were on it, which are not here
            erase(op)
    used = say_of_one(module, used)
    # A mesh without axes, which JAX declares for unsharded values, counts as any other: it comes last to find one.
    for op in sorted(used, key=lambda op: not op.mesh.data.axes):
        _import_mesh(op, found)
    if used and len(found.known) > 1:
        names = ", ".join(f"@{name} is {mesh}" for name, mesh in found.known.items())
        message = f"one program uses several meshes: {names}"
        *others, last = used
        labels = tuple(found for other in others for found in label(other, "another mesh"))
        raise fault("SW0405", message, last, help="put all layouts on one mesh", labels=labels)
    return found


def _named_by(op: Operation) -> Iterator[str | sdy.SdyMesh]:
    """The meshes of what an op says of its values, or a function of its arguments and results, and of its groups."""
    waiting: list[Attribute] = [*op.properties.values(), *op.attributes.values()]
    while waiting:
        match waiting.pop():
            case sdy.ShardingAttr(data=found):
                yield found.mesh
            case sdy.ShardingPerValueAttr(data=found):
                yield from (sharding.mesh for sharding in found)
            case ReplicaGroupsAttr(data=found):
                yield found.mesh
            case ArrayAttr(data=found):
                waiting += found
            case DictionaryAttr(data=found):
                waiting += found.values()
            case _:
                pass


def _written_in_place(
    module: ModuleOp, said: Iterable[str | sdy.SdyMesh], declared: Sequence[sdy.MeshOp]
) -> list[sdy.MeshOp]:
    """Declarations of meshes that shardings write out, and that nobody has declared."""
    known = {op.mesh.data for op in declared}
    names = {op.properties["sym_name"] for op in module.ops if "sym_name" in op.properties}
    made: list[sdy.MeshOp] = []
    for mesh in said:
        if isinstance(mesh, sdy.SdyMesh) and mesh not in known:
            free = (name for at in count() if StringAttr(name := f"mesh_{at}" if at else "mesh") not in names)
            made.append(sdy.MeshOp(next(free), mesh))
            made[-1].location = module.location
            names.add(made[-1].sym_name)
            module.body.block.insert_op_before(made[-1], next(iter(module.body.block.ops)))
    return made


def _import_mesh(op: sdy.MeshOp, found: _Meshes) -> None:
    name, mesh = op.sym_name.data, op.mesh.data
    if mesh.device_ids and not mesh.axes:
        found.single |= {name, str(mesh)}
        if not found.known and not _lays_out(op):
            erase(op)
            return
    elif mesh.device_ids != tuple(range(len(mesh.device_ids))) and (number := _numbered(op)) is not None:
        raise _devices_named(name, op, label(number, "and here devices are numbered"))
    same = (other for other, known in found.known.items() if not mesh.axes or tuple(known.sizes.items()) == mesh.axes)
    symbol = next(same, name)
    found.symbols |= {name: symbol, str(mesh): symbol}
    if symbol in found.known:
        erase(op)
    else:
        found.known[name] = Mesh(mesh.axes, name=name)
        replace_with(op, MeshOp(name, mesh.axes))


def _lays_out(op: sdy.MeshOp) -> bool:
    """Whether a sharding on a mesh is one of a value, and not of a call that happens on its one device."""
    names = {op.sym_name.data, op.mesh.data}
    ops = _module_of(op).walk()
    return any(not names.isdisjoint(_named_by(other)) for other in ops if not isinstance(other, CustomCallOp))


def _numbered(op: Operation) -> Operation | None:
    """An op of the module that says which device by a number, which means another one where the mesh orders them."""
    return next((other for other in _module_of(op).walk() if isinstance(other, COLLECTIVE_OPS)), None)


def _asked_outside(module: ModuleOp) -> Operation | None:
    """An op that asks for the number of a device where no manual computation is: what it gives differs by device."""
    asked = (op for op in module.walk() if isinstance(op, PartitionIdOp))
    return next((op for op in asked if not any(isinstance(outer, ManualComputationOp) for outer in around(op))), None)


def _module_of(op: Operation) -> ModuleOp:
    module = op.parent_op()
    assert isinstance(module, ModuleOp)
    return module


def _devices_named(name: str, place: Operation | SSAValue, labels: tuple[Label, ...] = ()) -> ShardwrightError:
    return fault(
        "SW0110",
        f"mesh @{name} lists its devices by device_ids",
        place,
        notes=("a program refers to mesh axes only; which device stands where is for the run to say",),
        help="drop device_ids, and give the devices to Mesh(devices=...)",
        word="device_ids",
        labels=labels,
    )


def _asks_nothing(spec: LayoutSpec) -> bool:
    """Whether every dim may be split in any way: JAX says so of each value in a computation that is manual in part."""
    return bool(spec.dims) and spec == LayoutSpec(spec.mesh, ((),) * len(spec.dims), frozenset(range(len(spec.dims))))


class _Importer:
    def __init__(self, meshes: _Meshes, asked: Operation | None):
        self.meshes = meshes
        self.asked = asked
        """What asks for the number of a device outside of manual computations."""
        self.finished: list[tuple[Operation, str, str]] = []
        """The relayouts in place of collectives of this function, with the names of these and how they combine."""
        self.collectives = CollectiveReader(next(iter(meshes.known.values()), Mesh()), meshes.symbols)

    def import_function(self, function: FuncOp) -> None:
        """Imports what a function's arguments, ops and results say."""
        _drop_records(function)
        if function.sym_visibility is not None and function.sym_visibility.data == "private":
            function.attributes.pop(MANUAL_AXES, None)  # it is called inside of a computation that says so itself
        _check_names(function.attributes, function)
        for op in ops_in(function)[1:]:
            _drop_records(op)
            self._import_op(op)
        for op in reversed(ops_in(function)[1:]):
            self._inline(op)
        arguments = _take(function, "arg_attrs")
        for argument, sharding in zip(function.args, arguments or [None] * len(function.args), strict=True):
            if sharding is not None:
                self._import_argument(function, argument, sharding)
        self._check_kinds()
        self._import_results(function, _take(function, "res_attrs") or [])

    def _check_kinds(self) -> None:
        """Refuses collectives that combine partial results otherwise than is said of them."""
        for op, name, kind in self.finished:
            spec = layout_of(op.operands[0])
            if spec is not None and spec.partial and spec.kind != kind:
                message = f"'{name}' takes the {kind} of partial results that are for a {spec.kind}"
                raise fault("SW0407", message, op, help=f"write {spec.kind}, or unreduced={kind}{{...}}")
        self.finished.clear()

    def _import_op(self, op: Operation) -> None:
        if self._import_request(op):
            return
        self.collectives.read(op)
        if not op.attributes or op.parent is None:
            return
        annotation = op.attributes.pop(SHARDING, None)
        if isinstance(op, CustomCallOp):
            # Where a call happens is for the call to say: on one device, nothing of it is split.
            annotation = None if annotation is not None and self._is_single(annotation) else annotation
            rule = op.attributes.pop(SHARDY_RULE, None)
            if rule is not None:
                op.attributes[KEPT_RULE] = rule
        elif isinstance(rule := op.attributes.get(SHARDY_RULE), OpShardingRuleAttr) and not rule.data.custom:
            del op.attributes[SHARDY_RULE]  # what Shardy derived for an op that has a row of its own
        _check_names(op.attributes, op)
        if annotation is not None:
            for value, sharding in zip(op.results, _per_value(op, annotation), strict=True):
                self._annotate(value, sharding, op)

    def _is_single(self, annotation: Attribute) -> bool:
        """Whether an annotation says nothing but on which one device its op is."""
        found = annotation.data if isinstance(annotation, sdy.ShardingPerValueAttr) else ()
        return bool(found) and self.meshes.single.issuperset(str(sharding.mesh) for sharding in found)

    def _import_request(self, op: Operation) -> bool:
        """Turns an op of Shardy's into one of ours; whether it was one."""
        if not op.name.startswith(PREFIX):
            return False
        match op:
            case sdy.ShardingConstraintOp() if _in_reducer(op):
                replace(op, [op.input])
            case sdy.ShardingConstraintOp():
                spec = self._spec(op.sharding.data, op.input, op)
                if _asks_nothing(spec):
                    replace(op, [op.input])
                else:
                    replace_with(op, ConstraintOp(op.input, spec))
            case ReshardOp():
                spec = self._spec(op.sharding.data, op.input, op)
                replace_with(op, RelayoutOp(op.input, spec, "the user's reshard"))
            case CollectiveOp():  # how the value gets there is ours to plan
                spec = self._spec(op.out_sharding.data, op.input, op)
                moved = replace_with(op, RelayoutOp(op.input, spec, f"the program's {op.name}"))
                if isinstance(op, CombiningOp):
                    self.finished.append((moved, op.name, op.kind))
            case DataFlowEdgeOp(sharding=None):
                replace(op, [op.input])
            case DataFlowEdgeOp(sharding=found) if found is not None:
                replace_with(op, ConstraintOp(op.input, self._spec(found.data, op.input, op)))
            case FuncDataFlowEdgeOp():
                self._import_edge(op)
            case PropagationBarrierOp(direction=Direction.BOTH):
                replace(op, [op.input])
            case PropagationBarrierOp():
                replace_with(op, BarrierOp(op.input, op.direction.name.lower()))
            case ShardingGroupOp():
                replace_with(op, GroupOp(op.input, op.group))
            case ConstantOp():
                replace_with(op, stablehlo.ConstantOp(op.value))
            case _:
                return False
        return True

    def _import_edge(self, op: FuncDataFlowEdgeOp) -> None:
        """What goes into a called function or comes out of it is that value, in the layout that is said of it."""
        said = op.attributes.get(SHARDING)
        if isinstance(said, sdy.ShardingPerValueAttr):
            replace_with(op, ConstraintOp(op.input, self._spec(said.data[0], op.input, op)))
        else:
            replace(op, [op.input])

    def _inline(self, op: Operation) -> None:
        """Puts the bodies of computations in their place, the inner ones first."""
        if isinstance(op, ManualComputationOp):
            inline_manual(op, self.collectives.mesh, self._manual_spec)
        elif isinstance(op, NamedComputationOp):
            inline_named(op, self._spec)

    def _import_argument(self, function: FuncOp, argument: BlockArgument, sharding: sdy.Sharding) -> None:
        spec = self._spec(sharding, argument, argument)
        if is_private(function):
            first = function.body.block.first_op
            assert first is not None
            constraint = ConstraintOp(argument, spec)
            constraint.location = argument.location
            argument.replace_uses_with_if(constraint.result, lambda use: use.operation is not constraint)
            function.body.block.insert_op_before(locate(constraint, function), first)
        else:
            retype(argument, with_layout(argument.type, spec))

    def _import_results(self, function: FuncOp, shardings: Sequence[sdy.Sharding | None]) -> None:
        last = function.get_return_op()
        if last is None:  # a comparator that a custom call names: it returns as a region does
            return
        assert last.parent is not None
        for number, sharding in enumerate(shardings):
            if sharding is None:
                continue
            value = last.operands[number]
            spec = self._spec(sharding, value, last)
            # What an argument brings in parts is left so by an op, else it is finished for whoever takes the result.
            if layout_of(value) != spec or (spec.partial and isinstance(value, BlockArgument)):
                constraint = ConstraintOp(value, spec, f"layout of result {number}")
                last.parent.insert_op_before(locate(constraint, last), last)
                last.operands[number] = constraint.result

    def _annotate(self, value: SSAValue, sharding: sdy.Sharding, op: Operation) -> None:
        """The layout that an op says of its own result; a call's result has its callee's type, so it is constrained."""
        # What is left partial here the placement of partial sums decides, by bytes; the value is the same.
        spec = changed(self._spec(sharding, value, op), partial=(), kind="")
        if not isinstance(op, CallOp):
            retype(value, with_layout(value.type, spec))
            return
        constraint = locate(ConstraintOp(value, spec), op)
        value.replace_uses_with_if(constraint.results[0], lambda use: use.operation is not constraint)
        assert op.parent is not None
        op.parent.insert_op_after(constraint, op)

    def _manual_spec(self, sharding: sdy.Sharding, value: SSAValue, place: Operation) -> LayoutSpec:
        """The same at the border of a manual computation, which sees even parts along its own axes."""
        spec = self._spec(sharding, value, place)
        assert isinstance(place, ManualComputationOp)
        assert isinstance(value.type, TensorType)
        own = set(place.manual_axes.data)
        dims = tuple(tuple(axis for axis in axes if axis.name in own) for axes in spec.dims)
        check_layout(LayoutSpec(spec.mesh, dims), value.type, self.meshes.known, place, uneven=False)
        return spec

    def _spec(self, sharding: sdy.Sharding, value: SSAValue, place: Operation | SSAValue) -> LayoutSpec:
        """The layout that `sharding` gives to `value`; raises what is wrong with it, pointing at `place`."""
        if not isinstance(value.type, TensorType):
            message = f"a value of type {value.type} cannot have a layout"
            raise fault("SW0113", message, place, help="drop the sharding", word=SHARDING)
        if str(sharding.mesh) in self.meshes.single:
            return self._whole(sharding, value, place)
        open_dims = frozenset(number for number, dim in enumerate(sharding.dims) if dim.is_open)
        priorities = tuple(dim.priority or 0 for dim in sharding.dims)
        spec = LayoutSpec(
            self._mesh_symbol(sharding),
            tuple(dim.axes for dim in sharding.dims),
            open_dims,
            sharding.unreduced,
            sharding.kind if sharding.unreduced else "",
            sharding.replicated if open_dims else (),
            priorities if any(priorities) else (),
        )
        listed = changed(spec, withheld=sharding.replicated)
        check_layout(listed, value.type, self.meshes.known, place, uneven=True)
        sizes = self.meshes.known[spec.mesh].sizes
        return changed(
            spec,
            dims=tuple(merge_adjacent(axes, sizes) for axes in spec.dims),
            partial=merge_adjacent(spec.partial, sizes),
        )

    def _whole(self, sharding: sdy.Sharding, value: SSAValue, place: Operation | SSAValue) -> LayoutSpec:
        """What is on one device is whole: so it is on each, from where nothing has to be sent to have it elsewhere."""
        name = str(sharding.mesh)
        if self.asked is not None:
            raise _devices_named(name, place, label(self.asked, "and here each device has a number of its own"))
        return LayoutSpec(self._mesh_symbol(sharding), ((),) * len(shape_of(value)))

    def _mesh_symbol(self, sharding: sdy.Sharding) -> str:
        return self.meshes.symbols.get(str(sharding.mesh), str(sharding.mesh))


def _in_reducer(op: Operation) -> bool:
    """Whether an op is part of what a reduction does with two elements: these have no layouts."""
    parent = op.parent_op()
    return parent is not None and parent.name not in FRAMES


def _take(function: FuncOp, name: str) -> list[sdy.Sharding | None] | None:
    """Takes Shardy's entries out of a function's `arg_attrs` or `res_attrs`."""
    entries = function.properties.get(name)
    if not isinstance(entries, ArrayAttr):
        return None
    shardings: list[sdy.Sharding | None] = []
    kept: list[DictionaryAttr] = []
    places = function.args if name == "arg_attrs" else [function] * len(entries.data)
    for place, entry in zip(places, entries.data, strict=True):
        assert isinstance(entry, DictionaryAttr)
        _check_names([key for key in entry.data if key != SHARDING and key not in RECORDS], place)
        found = entry.data.get(SHARDING)
        if found is not None and not isinstance(found, sdy.ShardingAttr):
            raise _no_sharding(function, found)
        shardings.append(found.data if found is not None else None)
        others = {key: value for key, value in entry.data.items() if key != SHARDING and key not in RECORDS}
        kept.append(DictionaryAttr(others))
    if any(entry.data for entry in kept):
        function.properties[name] = ArrayAttr(kept)
    else:
        del function.properties[name]
    return shardings


def _drop_records(op: Operation) -> None:
    for name in RECORDS.intersection(op.attributes):
        del op.attributes[name]


def _check_names(names: Iterable[str], place: Operation | SSAValue) -> None:
    """Refuses Shardy's attributes that nothing reads: a sharding under a misspelt name would be lost silently."""
    for name in names:
        if name.startswith(PREFIX):
            raise fault(
                "SW0115",
                f"the attribute {name} means nothing here",
                place,
                word=name,
                help=propose(name, [SHARDING], f"only {SHARDING} is read: drop it"),
            )


def _no_sharding(function: FuncOp, found: Attribute) -> ShardwrightError:
    return fault(
        "SW0114",
        f"@{function.sym_name.data} has {SHARDING} = {found}, which is no sharding",
        function,
        word=SHARDING,
        help="write #sdy.sharding<@mesh, [{...}, ...]>, one {...} for each dim",
    )


def _per_value(op: Operation, annotation: Attribute) -> tuple[sdy.Sharding, ...]:
    if isinstance(annotation, sdy.ShardingPerValueAttr):
        if len(annotation.data) == len(op.results):
            return annotation.data
        if not op.results and not any(sharding.dims for sharding in annotation.data):
            return ()  # Shardy says of what gives nothing that it is whole
    if isinstance(annotation, sdy.ShardingAttr) and len(op.results) == 1:
        return (annotation.data,)
    raise fault(
        "SW0111",
        f"'{op.name}' op has {len(op.results)} results, which {SHARDING} = {annotation} does not fit",
        op,
        word=SHARDING,
        help="give #sdy.sharding_per_value<[...]> one entry for each result",
    )


def _settle_signatures(module: ModuleOp) -> None:
    """Lets function types follow the types of arguments and returned values, and calls those of their callees."""
    table = functions(module)
    for function in callees_first(module):
        for call in calls_in(function):
            _settle_call(call, table[call.callee.string_value()])
        function.update_function_type()


def _settle_call(call: CallOp, callee: FuncOp) -> None:
    for result, new_type in zip(call.results, callee.function_type.outputs, strict=True):
        if with_layout(new_type, None) == with_layout(result.type, None):
            retype(result, new_type)
