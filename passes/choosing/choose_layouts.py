"""`choose-layouts`: layouts for all that nobody laid out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import BlockArgument, Operation
from xdsl.passes import ModulePass

from shardwright.dialects.dtensor import meshes, with_layout
from shardwright.dialects.text.locations import fault
from shardwright.layout.planning.topology import Topology
from shardwright.layout.words import dim_name, over
from shardwright.passes.choosing.assignments import Assigner, Assignment
from shardwright.passes.choosing.even_program import EvenProgram
from shardwright.passes.choosing.objective import Objective, TimedStrategist
from shardwright.passes.choosing.prices import Prices
from shardwright.passes.choosing.search import Search
from shardwright.passes.program import Dims, Node, Program
from shardwright.passes.propagation.refinement import Ground, refine
from shardwright.passes.propagation.spreading import initial_state
from shardwright.passes.propagation.strategy import Strategist
from shardwright.passes.propagation.whole.improving import improve
from shardwright.passes.rewriter import retype
from shardwright.passes.stages import WHY


@dataclass(frozen=True)
class ChooseLayoutsPass(ModulePass):
    """
    Gives a layout to every value that has none, or an open one: those that send least with all devices at work.

    It looks for the dims that ops hold together (a batch, heads, hidden units), and gives the axes of the mesh to them,
    so that a device holds `memory_limit` bytes at most at once, as far as that can be and can be told here
    (`Traced.lay_out` looks at what comes out). What the user laid out stays. Only who asks for it gets it: no pipeline
    has this pass.

    Before:
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(%a: tensor<4x8xf32>, %b: tensor<8x2xf32>) -> tensor<4x2xf32> {
          %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
              : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
          func.return %0 : tensor<4x2xf32>
        }
    After:
        #x = #dtensor.layout<@mesh, [{"x"}, {}]>
        #all = #dtensor.layout<@mesh, [{}, {}]>
        dtensor.mesh @mesh = <["x"=2]>
        func.func public @main(
            %a: tensor<4x8xf32, #x> {dtensor.why = "chosen automatically: rows over x"},
            %b: tensor<8x2xf32, #all> {dtensor.why = "chosen automatically: not split"}
          ) -> tensor<4x2xf32, #x> {
          %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]
              {dtensor.why = "chosen automatically: rows over x, with rows of argument 0"}
              : (tensor<4x8xf32, #x>, tensor<8x2xf32, #all>) -> tensor<4x2xf32, #x>
          func.return %0 : tensor<4x2xf32, #x>
        }
    """

    name = "choose-layouts"
    memory_limit: int | None = None
    """The bytes that a device may hold at once."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        chooser = Chooser(op)
        chooser.write(chooser.choose(math.inf if self.memory_limit is None else self.memory_limit))


class Choice(NamedTuple):
    """
    Layouts, by value, and the bytes that a device holds with them at once, by and large.

    And what is made, held and done twice, as bytes, where bytes decide.
    """

    dims: tuple[Dims, ...]
    held: float
    beside: float


class Chooser:
    """
    Chooses the layouts of a module, for one memory limit after another if need be.

    With a topology, those that take the least seconds on it, as if reductions went `together` or apart, else those that
    send least. The search starts with what a chooser found last for a program `like` this one. Raises SW0468 where the
    module has no mesh with axes.
    """

    def __init__(
        self,
        module: ModuleOp,
        topology: Topology | None = None,
        *,
        together: bool = False,
        like: Chooser | None = None,
    ):
        self.programs = program_to_lay_out(module)
        self.program = self.programs.even
        self.topology = topology
        self.strategist = (
            Strategist(self.program) if topology is None else TimedStrategist(self.program, topology, together=together)
        )
        self.assigner = Assigner(self.program, self.programs.shapes)
        self.prices = Prices(self.program, self.strategist, self.assigner)
        self._ground = Ground(self.program)
        work = self.prices.work
        objective = Objective.of_seconds(topology, work) if topology is not None else Objective.of_bytes()
        start = () if like is None else [self.assigner.translated(each, like.assigner) for each in like.search.found]
        self.search = Search(self.prices, objective, start)
        self._refined: dict[Assignment, tuple[Choice, Choice]] = {}
        """For each assignment that was looked at its layouts, and what refinement makes of them."""

    def good(self, limit: float, most: int) -> list[Assignment]:
        """The best assignments with which a device holds at most so many bytes, by and large, the best first."""
        return self.search.best(limit)[:most]

    def known(self, held: float, near: float) -> list[Assignment]:
        """The same of those that were looked at so far and cost at most so many times what the best of them does."""
        return self.search.known(held, near)

    def choose(self, limit: float, assignment: Assignment | None = None) -> Choice:
        """The layouts of an assignment, of the best if none is given, and what a device then holds, by and large."""
        (assignment,) = [assignment] if assignment else self.good(limit, 1)
        if assignment not in self._refined:
            self._refined[assignment] = self._both(assignment)
        before, refined = self._refined[assignment]
        # What sends less may hold more.
        return refined if refined.held <= max(before.held, limit) else before

    def wider(self, choice: Choice) -> Iterator[Choice]:
        """
        The same layouts with an argument split over one axis less, as far as that seems to take less.

        What seems to save most comes first. Assignments split an argument like all that goes by the same names, which
        is more than pays where only what is made of it needs that. Where bytes decide, an argument that a result
        renews stays as it is: what comes out of a step goes into the next.
        """
        found, now = list[tuple[float, int, Dims]](), list(choice.dims)
        for argument in self._own_arguments():
            if self.topology is None and argument in self._renewed:
                continue
            readers, before = self.program.users[argument], choice.dims[argument]
            price = self._price(readers, now)
            for dims in _without_an_axis(before):
                now[argument] = dims
                found.append((price - self._price(readers, now), argument, dims))
            now[argument] = before
        for saved, argument, dims in sorted(found, key=lambda each: -each[0]):
            if saved > 0 or (saved == 0 and self.topology is None):
                wide = [*now[:argument], dims, *now[argument + 1 :]]
                yield self._choice(self._improved(wide) if self.topology is None else wide, choice.beside)

    def _own_arguments(self) -> Iterator[int]:
        """The arguments whose layouts are chosen here, and that no group has to have in common."""
        program = self.program
        grouped = {member for first, others in program.grouped.items() for member in (first, *others)}
        arguments = (program.numbers[each] for each in program.root.block.args if each in program.numbers)
        return (each for each in arguments if program.is_ours(each) and each not in grouped)

    @cached_property
    def _renewed(self) -> set[int]:
        """The values of which a result is made element by element, as of parameters new ones are."""
        program, end = self.program, self.program.root.block.last_op
        makers = {result: node for node in program.nodes for result in node.results}
        waiting = [program.numbers[each] for each in (end.operands if end else ()) if each in program.numbers]
        found = set[int]()
        while waiting:
            value = waiting.pop()
            node = None if value in found else makers.get(value)
            found.add(value)
            if node is not None:
                made = node.rule.results[node.results.index(value)]
                pairs = zip(node.operands, node.rule.operands, strict=True)
                waiting += [operand for operand, factors in pairs if factors == made]
        return found

    def _price(self, nodes: Iterable[Node], dims: Sequence[Dims]) -> float:
        return math.fsum(node.scope.weight * self.strategist.best(node, dims)[0] for node in nodes)

    def write(self, choice: Choice) -> None:
        """Puts layouts into the types of the module's values."""
        found = self.programs.as_given(choice.dims)
        reasons = [
            "" if place is None or dims is None else _reason(self.program, self.assigner, place, dims)
            for place, dims in zip(self.programs.places, found, strict=True)
        ]
        write_layouts(self.programs.given, found, reasons)

    def _both(self, assignment: Assignment) -> tuple[Choice, Choice]:
        """The layouts of an assignment, and those to which they are refined."""
        dims = self.assigner.of_values(self.assigner.layouts(assignment))
        beside = self.search.beside(assignment)
        return self._choice(dims, beside), self._choice(self._improved(dims), beside)

    def _improved(self, dims: Sequence[Dims]) -> Sequence[Dims]:
        """The layouts to which these are refined."""
        state = initial_state(self.program)
        state.dims = list(dims)
        refine(self.program, self.strategist, state, ground=self._ground)
        if self.topology is None:
            improve(self.program, self.strategist, state)  # it knows bytes only
        return state.dims

    def _choice(self, dims: Sequence[Dims], beside: float) -> Choice:
        return Choice(tuple(dims), self.prices.held(dims), beside)


def _without_an_axis(dims: Dims) -> Iterator[Dims]:
    """The same dims, split over one axis less, for each axis."""
    for place, axes in enumerate(dims):
        for left in axes:
            yield (*dims[:place], tuple(axis for axis in axes if axis != left), *dims[place + 1 :])


def program_to_lay_out(module: ModuleOp) -> EvenProgram:
    """The program of a module for whose values layouts may be chosen; SW0468 where it has no mesh with axes."""
    if not any(mesh.sizes for mesh in meshes(module).values()):
        raise fault(
            "SW0468",
            "there is no mesh over which layouts could be chosen",
            module,
            help='give one: traced.lay_out(Mesh(data=4)), or in the program dtensor.mesh @mesh = <["data"=4]>',
        )
    return EvenProgram.of(module)


def _reason(program: Program, assigner: Assigner, value: int, dims: Dims) -> str:
    """Which axes split a value, and with the dims of which argument: `dim 1 over model, with columns of argument 3`."""
    rank, parts = len(dims), list[str]()
    for dim, axes in enumerate(dims):
        if axes:
            lead = assigner.lead_of(value, dim)
            of = "" if lead is None or lead[0] == value else f", with {_dim_of_argument(program, *lead)}"
            parts.append(f"{dim_name(dim, rank)} {over(axes)}{of}")
    return f"chosen automatically: {'; '.join(parts) or 'not split'}"


def _dim_of_argument(program: Program, argument: int, dim: int) -> str:
    return f"{dim_name(dim, len(program.shapes[argument]))} of argument {argument}"


def write_layouts(program: Program, chosen: Sequence[Dims | None], reasons: Sequence[str]) -> None:
    """Puts the layouts into the types, and the reasons beside them; what has none stays open."""
    entry: dict[int, str] = {}
    for value, dims in enumerate(chosen):
        spec = program.given[value]
        if dims is None or program.free[value] or (spec is not None and spec.closed):
            continue
        closed = program.spec(dims) if spec is None else spec.with_dims(dims)
        for alias in program.aliases[value]:
            retype(alias, with_layout(alias.type, closed))
        first, reason = program.values[value], reasons[value]
        if isinstance(first, BlockArgument) and first.block is program.root.block:
            entry[first.index] = reason
        elif isinstance(first.owner, Operation):
            first.owner.attributes[WHY] = StringAttr(reason)
    function = program.function
    attributes = [DictionaryAttr({})] * len(function.args) if function.arg_attrs is None else function.arg_attrs.data
    function.arg_attrs = ArrayAttr(
        DictionaryAttr(each.data | ({WHY: StringAttr(entry[place])} if place in entry else {}))
        for place, each in enumerate(attributes)
    )
    function.update_function_type()
