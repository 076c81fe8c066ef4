"""`propagate-layouts`: every value gets a layout, spread from those that the user gave."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Attribute, BlockArgument, Operation
from xdsl.passes import ModulePass

from shardwright.dialects import dtensor
from shardwright.dialects.dtensor.hints import GroupOp
from shardwright.dialects.dtensor.kinds import combines
from shardwright.dialects.text.locations import fault, where
from shardwright.dialects.types import element_of
from shardwright.layout.spec import LayoutSpec
from shardwright.layout.words import dims_in_words
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.passes.program import Program, entry_function
from shardwright.passes.propagation.numbering import build_program
from shardwright.passes.propagation.spreading import Because, State, agree_in_groups, propagate, settle_groups
from shardwright.passes.propagation.starts import best_state
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.propagation.structure.folding import fold
from shardwright.passes.propagation.whole.improving import improve
from shardwright.passes.propagation.whole.stacking import stack_partial
from shardwright.passes.rewriter import erase, insert_before, retype
from shardwright.passes.stages import WHY, set_stage


@dataclass(frozen=True)
class PropagateLayoutsPass(ModulePass):
    """
    Spreads layouts through the ops' rules, then moves them where that sends fewer bytes.

    User layouts stay untouched. Each op says in `dtensor.why` from where its result's layout came.

    Before:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32> {
          %0 = stablehlo.negate %a : (tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    After:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>)
            -> tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>> {
          %0 = stablehlo.negate %a {dtensor.why = "from argument 0, its operand"}
              : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
          func.return %0 : tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>
        }
    """

    name = "propagate-layouts"
    refine: bool = True
    """Whether to move layouts to where they send fewer bytes."""
    together: bool = True
    """Whether, after that, to choose all layouts of a small program together."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        _check_imported(op)
        _declare_mesh(op)
        program = build_program(op)
        _check_partial(program)
        _write(program, self.state(program))
        for inner in list(program.function.body.walk()):
            if isinstance(inner, GroupOp):
                erase(inner)
        set_stage(op, "propagated")

    def state(self, program: Program) -> State:
        """The layouts of all values of a program."""
        agree_in_groups(program)
        state = self._spread(program)
        if self.refine:
            stack_partial(program, state)
        settle_groups(program, state)
        return state

    def _spread(self, program: Program) -> State:
        if not self.refine:
            return propagate(program, Strategist(program, program.message_bytes))
        folded = fold(program)
        if folded is not None:
            state = best_state(folded.program, Strategist(folded.program, program.message_bytes))
            folded.unfold(state)
            return state
        strategist = Strategist(program, program.message_bytes)
        state = best_state(program, strategist)
        if self.together:
            improve(program, strategist, state)
        return state


def _check_imported(module: ModuleOp) -> None:
    """What Shardy's annotations say must have become layouts: here nobody would read them."""
    for op in module.walk():
        if op.name.startswith("sdy.") or SHARDING in op.attributes:
            raise fault(
                "SW0311",
                f"propagate-layouts cannot run on a program with Shardy's annotations, as at this {op.name}",
                op,
                help="import them first: -p import-sdy,propagate-layouts, or -p propagate",
            )


def _declare_mesh(module: ModuleOp) -> None:
    """A program without a mesh is one for a single device: layouts still need a mesh to name."""
    if not dtensor.meshes(module):
        insert_before(entry_function(module), dtensor.MeshOp("mesh", []))


def _check_partial(program: Program) -> None:
    """Parts of the elements that a value has must combine by the kind that is asked for."""
    for value, spec in zip(program.values, program.given, strict=True):
        if spec is not None and spec.partial and not combines(spec.kind, element_of(value)):
            raise fault(
                "SW0407",
                f"partial results of type {element_of(value)} do not combine by {spec.kind}",
                value,
                word="unreduced",
                help="ask for another kind, such as sum, or drop `unreduced` from the layout",
            )


def _write(program: Program, state: State) -> None:
    types: dict[tuple[Attribute, LayoutSpec], Attribute] = {}
    for number, value in enumerate(program.values):
        spec = program.spec(state.dims[number])
        given = program.given[number]
        if given is not None and given.partial:
            spec = spec.with_partial(given.partial, given.kind)
        key = (value.type, spec)
        if key not in types:
            types[key] = dtensor.with_layout(value.type, spec)
        for alias in program.aliases[number]:
            retype(alias, types[key])
        producer = program.producers[number]
        because = state.because[number]
        if producer is not None and because is not None and because.node is not None:
            producer.op.attributes[WHY] = StringAttr(_why(program, producer.op, because))
    program.function.update_function_type()


def _why(program: Program, op: Operation, because: Because) -> str:
    """From which op or argument the layout of a result came, and over which other it was chosen."""
    if because.text or because.node is None or because.source is None:
        return because.text
    if isinstance(because.node.op, dtensor.ConstraintOp) and because.node.op is not op:
        found = f"given by the user at {where(because.node.op)}, for what is made of it"
    elif because.node.op is not op:
        found = f"from {because.node.op.name} at {where(because.node.op)}, which uses it"
    else:
        found = f"from {_named(program, because.source)}, its operand"
    if because.lost is None:
        return found
    sizes = [program.bytes[source] for source in (because.lost.source, because.source)]
    other = f"{dims_in_words(because.lost.dims)}, from {_named(program, because.lost.source)}"
    return f"{found}; chosen over {other}, of {sizes[0]:,} bytes against {sizes[1]:,}"


def _named(program: Program, number: int) -> str:
    """A value, by its op or by what brings it."""
    value = program.values[number]
    if isinstance(value, BlockArgument) and value.block is program.root.block:
        return f"argument {value.index}"
    if isinstance(value, BlockArgument):
        return f"what the loop carries as {value.index}"
    assert isinstance(value.owner, Operation)
    return f"{value.owner.name} at {where(value)}"
