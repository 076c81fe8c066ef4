"""The stages of a program (design, section 4): what is legal in each, which one a module is in, a verifier for each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, NoneAttr, StringAttr, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.diagnostics import Label, ShardwrightError
from shardwright.dialects import stablehlo
from shardwright.dialects.building import blocks_in, captured_by, ops_in, returned
from shardwright.dialects.dtensor import COLLECTIVES, MeshOp, layout_of, meshes, with_layout
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.dtensor.gradients import OPS as GRADIENT_OPS
from shardwright.dialects.stablehlo.collectives import AllReduceOp, ReduceScatterOp
from shardwright.dialects.text.locations import fault, label, where
from shardwright.dialects.text.verify import WHOLE_INSIDE, Alike, alike
from shardwright.dialects.types import shape_of
from shardwright.layout.axes import symbol
from shardwright.layout.check import check_spec
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import local_shape, whole_shape
from shardwright.layout.spec import LayoutSpec

STAGE = "dtensor.stage"
"""The module attribute that records the stage."""

MEMORY_LIMIT = "dtensor.memory_limit"
"""The module attribute that says how many bytes a device may hold at once."""

RECOMPUTE = "dtensor.recompute"
"""
The module attribute that lets values be computed again, where a device would hold more than the limit otherwise; and
what an op has that was put in for that.
"""

MESSAGE_BYTES = "dtensor.message_bytes"
"""
The module attribute that says what a message weighs, in bytes, where layouts are chosen and relayouts are planned.

Without it bytes alone decide, and of ways that send the same the one in fewer messages.
"""

MEMORY = "dtensor.memory"
"""The attribute of a barrier that puts its values into a memory of the device, by the name that JAX has for it."""

WHY = "dtensor.why"
"""Where an op, and an argument of the entry function, says why its layout is what it is."""

LAYOUT_ARGUMENT = "dtensor.layout"
GLOBAL_TYPE_ARGUMENT = "dtensor.global_type"
"""Where an argument or result of the local entry function keeps its global side."""


@dataclass(frozen=True)
class Stage:
    """What is legal in one stage: dialects wholly, other ops by name, and whether tensor types carry layouts."""

    name: str
    dialects: frozenset[str]
    ops: frozenset[str]
    layouts: str
    """`some`: where the user gave them; `all`: on every tensor, closed; `none`."""
    fits: bool = False
    """Whether the layouts of every op fit its rule exactly."""
    uneven: bool = False
    """Whether a layout may split a dim that does not divide."""


_TENSOR_OPS = frozenset({"stablehlo", "chlo"})
_OURS = frozenset({"builtin", "func", "dtensor", "sdy"})
_FRAME = frozenset({"builtin.module", "func.func", "func.return", "dtensor.mesh"})
_RELAYOUTS = frozenset({"dtensor.relayout", "dtensor.constraint"})
_REQUESTS = _RELAYOUTS | {"dtensor.roll"}
_HINTS = frozenset({"dtensor.barrier"})
_MANUAL = frozenset({"dtensor.to_manual", "dtensor.from_manual", "dtensor.fetch", "dtensor.axis_index"})
_MOVES = frozenset(op.name for op in COLLECTIVES)
_GRADIENTS = frozenset(op.name for op in GRADIENT_OPS)
_CALLS = frozenset({"func.call", "dtensor.group", "dtensor.transfer"})
_HERE = frozenset({"dtensor.axis_index", "dtensor.fetch", "dtensor.unvarying"})

STAGES = {
    stage.name: stage
    for stage in (
        Stage("traced", _TENSOR_OPS, _FRAME | _REQUESTS | _MANUAL | _HINTS | _GRADIENTS | _CALLS, "some", uneven=True),
        Stage("propagated", _TENSOR_OPS, _FRAME | _REQUESTS | _MANUAL | _HINTS, "all"),
        Stage("aligned", _TENSOR_OPS, _FRAME | _REQUESTS | _MANUAL | {"dtensor.window"}, "all", fits=True),
        Stage("planned", _TENSOR_OPS, _FRAME | _MOVES | _MANUAL | {"dtensor.roll"}, "all", fits=True),
        Stage("local", _TENSOR_OPS, _FRAME | _MOVES | _HERE, "none"),
    )
}
"""The stages in order."""

REGIONS_OF_TENSORS = WHOLE_INSIDE - {"builtin.module", "func.func"}
"""Ops whose regions compute on whole tensors. Other regions (a reduction's body) see scalars, which have no layout."""


FUNCTIONS_OF_SCALARS: tuple[type[Operation], ...] = (
    stablehlo.SortOp,
    stablehlo.ReduceOp,
    stablehlo.ReduceWindowOp,
    stablehlo.ScatterOp,
    stablehlo.SelectAndScatterOp,
    stablehlo.MapOp,
    AllReduceOp,
    ReduceScatterOp,
)
"""Ops whose regions are functions of scalars."""


def stage_of(module: ModuleOp) -> str | None:
    """The stage that `module` records, or None for a program that no pass has seen."""
    recorded = module.attributes.get(STAGE)
    return recorded.data if isinstance(recorded, StringAttr) else None


def message_bytes_of(module: ModuleOp) -> int:
    """What a message weighs in `module`, in bytes; raises SW0318 for what is no weight."""
    weight = module.attributes.get(MESSAGE_BYTES)
    if weight is None:
        return 0
    if not isinstance(weight, IntegerAttr) or weight.value.data < 0:
        help_text = f"write a whole number of bytes: {MESSAGE_BYTES} = 256 : i64"
        raise fault("SW0318", f"a message cannot weigh {weight}", module, help=help_text)
    return weight.value.data


def weigh_messages(module: ModuleOp, message_bytes: int) -> None:
    """Lets a message weigh so many bytes where layouts are chosen and relayouts are planned."""
    module.attributes[MESSAGE_BYTES] = IntegerAttr(message_bytes, 64)


def set_stage(module: ModuleOp, stage: str) -> None:
    """Records that `module` is now in `stage`; the pass that establishes a stage calls this last."""
    assert stage in STAGES
    module.attributes[STAGE] = StringAttr(stage)


def require_stage(module: ModuleOp, pass_name: str, *allowed: str) -> None:
    """Raises SW0311 when the pass cannot run on a module in its recorded stage."""
    stage = stage_of(module)
    if stage in allowed:
        return
    help_text = f"it takes the {' or the '.join(allowed)} stage; the pipelines run the passes in order"
    if stage == "local" and "traced" in allowed:
        help_text = "it is partitioned already: give the program that it was made from"
    was = f"in the {stage} stage" if stage else "in no stage yet"
    raise fault("SW0311", f"{pass_name} cannot run on a program that is {was}", module, help=help_text)


def verify_recorded_stage(module: ModuleOp, ops: Sequence[Alike] | None = None) -> None:
    """Verifies `module` against the stage that it records, if any; `ops` as in `verify_stage`."""
    stage = stage_of(module)
    if stage is not None:
        verify_stage(module, stage, ops)


def verify_stage(module: ModuleOp, stage: str, ops: Sequence[Alike] | None = None) -> None:
    """
    Raises the faults that keep `module` from being in `stage`, each with its op's place.

    SW0310 unknown stage; SW0312 an op that is not legal; SW0313 a tensor without a closed layout; SW0314 a layout that
    should be gone; SW0315 a local entry function whose attributes do not describe its global side; SW0316 an op whose
    layouts do not fit its rule. Layouts that do not fit their tensors keep the codes of `check_spec`. `ops` are those
    of the module, where somebody has gone through them: `verify_module` returns them.
    """
    if stage not in STAGES:
        known = f"the stages are {', '.join(STAGES)}"
        raise fault("SW0310", f"there is no stage {stage!r}", module, help=known, word=f'"{stage}"')
    _Verifier(STAGES[stage], meshes(module)).verify(alike(module) if ops is None else ops)


@dataclass
class _Verifier:
    stage: Stage
    meshes: dict[str, Mesh]

    def __post_init__(self) -> None:
        self.right_types: set[int] = set()

    def verify(self, ops: Sequence[Alike]) -> None:
        for found in ops:
            op = found.ops[0]
            if not _is_legal(op, self.stage):
                raise _illegal(op, self.stage)
            if isinstance(op, FUNCTIONS_OF_SCALARS):
                _verify_closed(op)
            if found.whole:
                for value in _values(op):
                    if id(value.type) not in self.right_types:
                        self._verify_type(value)
            if self.stage.layouts == "none" and isinstance(op, FuncOp):
                self._verify_local_function(op)
        if self.stage.fits:
            self._verify_fit([found.ops for found in ops if found.whole])

    def _verify_fit(self, alike: Iterable[Sequence[Operation]]) -> None:
        # The table loads on use: tracing needs the names of stages only.
        from shardwright.rules.fit import unfit

        for ops in alike:
            found = unfit(ops, self.meshes) if ops[0].name not in _RELAYOUTS else None
            if found is not None:
                op, problem = found
                help_text = "relayout its operands first (insert-relayouts does)"
                raise fault("SW0316", f"'{op.name}' does not fit its sharding rule {problem}", op, help=help_text)
            if ops[0].regions:
                _verify_ties(ops[0])

    def _verify_type(self, value: SSAValue) -> None:
        self.right_types.add(id(value.type))
        if not isinstance(value.type, TensorType):
            return
        spec = layout_of(value)
        if spec is None:
            if self.stage.layouts == "all" or not isinstance(value.type.encoding, NoneAttr):
                raise _no_layout(value, self.stage)
        elif self.stage.layouts == "none":
            message = f"{_owner(value)} has type {value.type}, but types in the local stage are per device"
            raise fault("SW0314", f"{message}, without layouts", value, help="localize drops them")
        elif self.stage.layouts == "all" and not spec.closed:
            raise _no_layout(value, self.stage)
        else:
            check_layout(spec, value.type, self.meshes, value, uneven=self.stage.uneven)

    def _verify_local_function(self, function: FuncOp) -> None:
        if not function.body.blocks:
            return
        last = function.get_return_op()
        sides: list[tuple[str, ArrayAttr[DictionaryAttr] | None, Sequence[SSAValue]]]
        sides = [("argument", function.arg_attrs, function.args)]
        if last is not None:
            sides.append(("result", function.res_attrs, tuple(last.operands)))
        for side, attributes, values in sides:
            for number, value in enumerate(values):
                # A damaged file may list fewer than there are.
                listed = attributes is not None and number < len(attributes.data)
                entry = attributes.data[number].data if attributes is not None and listed else {}
                self._verify_global_side(f"{side} {number}", entry, value)

    def _verify_global_side(self, name: str, entry: Mapping[str, Attribute], value: SSAValue) -> None:
        layout, whole = entry.get(LAYOUT_ARGUMENT), entry.get(GLOBAL_TYPE_ARGUMENT)
        if not isinstance(layout, LayoutAttr) or not isinstance(whole, TensorType):
            raise _global_side(name, f"needs {LAYOUT_ARGUMENT} and {GLOBAL_TYPE_ARGUMENT}", value)
        check_layout(layout.data, whole, self.meshes, value, uneven=True)
        mesh = self.meshes[layout.data.mesh]
        shape = local_shape(layout.data, whole_shape(layout.data, whole.get_shape(), mesh), mesh)
        found = value.type
        if (
            not isinstance(found, TensorType)
            or found.get_shape() != shape
            or found.element_type != whole.element_type
            or not isinstance(found.encoding, NoneAttr)
        ):
            expected = TensorType(whole.element_type, shape)
            raise _global_side(name, f"is {value.type}, but a shard of {whole} is {expected}", value)


def uneven_values(module: ModuleOp) -> Iterator[SSAValue]:
    """The values whose layouts split a dim that does not divide."""
    known = meshes(module)
    for value in values_in(module):
        spec = layout_of(value)
        if spec is not None and spec.mesh in known and any(spec.dims):
            shape = shape_of(value)
            if whole_shape(spec, shape, known[spec.mesh]) != shape:
                yield value


def values_in(module: ModuleOp) -> Iterator[SSAValue]:
    """All values of a module."""
    for op in ops_in(module):
        yield from op.results
        for block in blocks_in(op):
            yield from block.args


def _verify_closed(op: Operation) -> None:
    """A function of scalars reads nothing but its arguments: no device would have to be asked for anything else."""
    for value in captured_by(blocks_in(op))[:1]:
        raise fault(
            "SW0312",
            f"'{op.name}' op has a function that reads a value of type {value.type} from outside",
            op,
            labels=label(value, "it is defined here"),
            help="close-regions lets functions take along what they read",
        )


def check_layout(
    spec: LayoutSpec,
    tensor: TensorType[Attribute],
    known: dict[str, Mesh],
    place: Operation | SSAValue,
    *,
    uneven: bool,
) -> None:
    """Raises what is wrong with `spec` as the layout of `tensor`, pointing at `place`; some splits may be `uneven`."""
    if spec.mesh not in known:
        declared, named = ", ".join(map(symbol, known)), symbol(spec.mesh)
        raise fault(
            "SW0103",
            f"there is no mesh {named}",
            place,
            word=named,
            help=f"the module declares {declared}" if known else f'declare it: dtensor.mesh {named} = <["x"=8]>',
        )
    found = check_spec(spec, tensor.get_shape(), known[spec.mesh], uneven=uneven)
    if found is not None:
        plain = with_layout(tensor, None)
        notes = (*found.notes, f"the tensor is {plain}")
        declared_at = _declared(place, spec.mesh)
        raise ShardwrightError(replace(found, notes=notes, location=where(place), labels=declared_at))


def _declared(place: Operation | SSAValue, name: str) -> tuple[Label, ...]:
    """What is to be said of the declaration of a mesh, in the module of an op or a value."""
    top = place if isinstance(place, Operation) else place.owner
    while (parent := top.parent_op()) is not None:
        top = parent
    inside = top.walk() if isinstance(top, ModuleOp) else ()
    found = next((op for op in inside if isinstance(op, MeshOp) and op.sym_name.data == name), None)
    return label(found, "its axes are declared here") if found is not None else ()


def _verify_ties(op: Operation) -> None:
    """What goes into, around and out of a loop, or out of a branch, has one layout; what decides is whole."""
    deciding = _deciding(op)
    if deciding is not None and (spec := layout_of(deciding)) is not None and spec.axes():
        raise fault(
            "SW0316",
            f"'{op.name}' is decided by a value of type {with_layout(deciding.type, spec)}",
            op,
            help="every device must decide alike, so the value must be finished: relayout it first",
        )
    for number, result in enumerate(op.results if op.name in REGIONS_OF_TENSORS else ()):
        if isinstance(op, stablehlo.WhileOp):
            tied = [op.inputs[number], op.condition.block.args[number], op.body.block.args[number]]
            tied = [returned(op.body.block)[number], *tied]
        else:
            tied = [returned(block)[number] for block in blocks_in(op)]
        other = next((value for value in tied if layout_of(value) != layout_of(result)), None)
        if other is not None:
            raise fault(
                "SW0316",
                f"'{op.name}' has result {number} of type {result.type}, but carries it as {other.type}",
                op,
                help="entry, body and exit must agree on layouts: relayout its operands first (insert-relayouts does)",
            )


def _deciding(op: Operation) -> SSAValue | None:
    """The value by which a loop goes on or a branch is taken."""
    if isinstance(op, stablehlo.WhileOp):
        return returned(op.condition.block)[0]
    return op.operands[0] if isinstance(op, stablehlo.IfOp | stablehlo.CaseOp) else None


def _values(op: Operation) -> Sequence[SSAValue]:
    inside = blocks_in(op) if op.name in WHOLE_INSIDE else ()
    return (*op.results, *(value for block in inside for value in block.args)) if inside else op.results


def _is_legal(op: Operation, stage: Stage) -> bool:
    """Ops of other dialects are legal once somebody has said how they are split."""
    dialect = op.name.partition(".")[0]
    return op.name in stage.ops or dialect in stage.dialects or (dialect not in _OURS and _has_row(op))


def _has_row(op: Operation) -> bool:
    from shardwright.rules.table import ROWS

    return op.name in ROWS


def _illegal(op: Operation, stage: Stage) -> ShardwrightError:
    return fault(
        "SW0312",
        f"'{op.name}' op is not legal in the {stage.name} stage",
        op,
        help=f"legal are {', '.join(sorted(f'{name}.*' for name in stage.dialects) + sorted(stage.ops))}",
    )


def _no_layout(value: SSAValue, stage: Stage) -> ShardwrightError:
    message = f"{_owner(value)} has type {value.type}, which carries no closed layout"
    help_text = f"in the {stage.name} stage every tensor has one; propagate-layouts decides what is left open"
    return fault("SW0313", message, value, help=help_text)


def _global_side(name: str, problem: str, value: SSAValue) -> ShardwrightError:
    return fault(
        "SW0315",
        f"{name} of the local function {problem}",
        value,
        help="localize records the global type and layout of each argument and result",
    )


def _owner(value: SSAValue) -> str:
    owner = value.owner
    return f"a result of '{owner.name}' op" if isinstance(owner, Operation) else "a block argument"
