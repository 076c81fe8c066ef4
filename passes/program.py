"""
`Program`: an entry function as numbered ops and values, so that the layout passes work on plain Python data.

Building it (`passes.numbering`) is one walk. Values are numbers; shapes, bytes, users and layouts are lists indexed by
them. Loops and branches are opened up: what they carry in, around and out are nodes like any other.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.text.literals import element_size
from shardwright.dialects.text.locations import fault, label
from shardwright.dialects.types import has_array_type
from shardwright.layout.axes import Axis, overlap
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.importing.calls import second_entries
from shardwright.rules.rule import Rule

Axes = tuple[Axis, ...]
Dims = tuple[Axes, ...]


@dataclass(slots=True, eq=False)
class Scope:
    """
    A block whose ops are numbered: the function's, or that of a region of a loop or a branch.

    Inside, a carried value goes by one of the region's `arguments`; once the scope closes, `results` name values of the
    loop or branch in the scope around it. `weight` is how often the block runs, as far as that is known.
    """

    block: Block
    owner: Operation | None = None
    parent: Scope | None = None
    weight: float = 1.0
    arguments: list[tuple[int, SSAValue]] = field(default_factory=list[tuple[int, SSAValue]])
    results: list[tuple[int, SSAValue]] = field(default_factory=list[tuple[int, SSAValue]])

    def outermost(self, defined: Scope) -> Scope:
        """
        Where to make something, needed here, of a value that is defined in `defined`.

        Before all loops that leave the value alone, but inside a branch, which may not run at all.
        """
        scope = self
        while scope is not defined and isinstance(scope.owner, stablehlo.WhileOp):
            assert scope.parent is not None
            scope = scope.parent
        return scope

    def anchor(self, inner: Operation) -> Operation:
        """The op of this block that is, or holds, `inner`."""
        while inner.parent is not self.block:
            outer = inner.parent_op()
            assert outer is not None
            inner = outer
        return inner


@dataclass(frozen=True, slots=True)
class Opening:
    """From here on the steps are those of a scope."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Closing:
    """The scope's steps end."""

    scope: Scope


@dataclass(frozen=True, slots=True)
class Use:
    """Where a node's operand stands in the IR: operand number `place` of `op`."""

    op: Operation
    place: int

    @property
    def value(self) -> SSAValue:
        """The operand."""
        return self.op.operands[self.place]


@dataclass(slots=True, eq=False)
class Node:
    """
    One op, or a part of it that stands alone: its rule, operands and results.

    Parts are the pairs of a barrier, and what loops and branches carry. A part without results ties its operands to
    the layout of the last one, which has no `use`.
    """

    index: int
    op: Operation
    rule: Rule
    operands: tuple[int, ...]
    results: tuple[int, ...]
    uses: tuple[Use | None, ...]
    scope: Scope
    shares: tuple[float, ...]
    """For each operand how often, for each run of the node, it would be relaid: less than once if before a loop."""
    reserved: Axes = ()
    """The manual axes of the computation: no layout at the node may name them (`passes/propagation/manual.py`)."""
    times: float = 1.0
    """How many ops the node stands for (`passes/propagation/structure/folding.py`)."""
    weight: float = field(init=False)
    """How often all of these run."""
    values: tuple[int, ...] = field(init=False)
    """Operands, then results, in the order of `rule.tensors()`; stored, as every visit asks for them."""

    def __post_init__(self) -> None:
        self.values = self.operands + self.results
        self.weight = self.scope.weight * self.times

    def make(self, results: tuple[int, ...]) -> None:
        """Gives the results their numbers, which they have once it is known what the node makes."""
        self.results, self.values = results, self.operands + results


Step: TypeAlias = Node | Opening | Closing


@dataclass(frozen=True, slots=True)
class Carried:
    """A value that a loop carries: its number, the loop's body, and the nodes that bring it in and around."""

    value: int
    body: Scope
    entry: Node
    tie: Node


@dataclass
class Program:
    """The entry function of a module: `nodes` in program order, and facts about each value by number."""

    function: FuncOp
    mesh: Mesh
    root: Scope
    message_bytes: int = 0
    """What a message weighs next to the bytes that it sends."""
    nodes: list[Node] = field(default_factory=list[Node])
    steps: list[Step] = field(default_factory=list["Step"])
    """The nodes, and where scopes begin and end."""
    carried: list[Carried] = field(default_factory=list[Carried])
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    aliases: list[list[SSAValue]] = field(default_factory=list[list[SSAValue]])
    """All values of the IR that go by the number: for what a loop carries, arguments and results."""
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    shapes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    bytes: list[int] = field(default_factory=list[int])
    users: list[list[Node]] = field(default_factory=list[list[Node]])
    producers: list[Node | None] = field(default_factory=list["Node | None"])
    given: list[LayoutSpec | None] = field(default_factory=list["LayoutSpec | None"])
    """The layout in each value's type: at the traced stage the user's, later everyone's."""
    free: list[bool] = field(default_factory=list[bool])
    """
    Values that any device can make without communication in any layout: splat constants, iotas, and what is computed
    of nothing else, element by element.
    """
    grouped: dict[int, list[int]] = field(default_factory=dict[int, list[int]])
    """For the first member of each group of values with one layout the others."""
    reserved: list[Axes] = field(default_factory=list["Axes"])
    """For each value the manual axes along which devices hold different tensors: its layout cannot name them."""
    around: list[tuple[Node, ...]] = field(default_factory=list[tuple[Node, ...]])
    """For each value the nodes that use it, and the one that makes it."""
    times: list[float] = field(default_factory=list[float])
    """For each value how many it stands for."""
    entering: dict[int, int] = field(default_factory=dict[int, int])
    """For what ops that stand for several take of ops that do not, the like of it that the next of them takes."""
    specs: dict[Dims, LayoutSpec] = field(default_factory=dict[Dims, LayoutSpec])
    """The layouts that `spec` has given: few, and asked for all the time."""

    @property
    def counting(self) -> str:
        """What is said behind a number of bytes that are sent: what each message counts as, where it does."""
        return f", a message counted as {self.message_bytes:,}" if self.message_bytes else ""

    @cached_property
    def kinds(self) -> list[int]:
        """
        For each node a number that it has in common with all nodes whose rule, and whose values' shapes, bytes and
        given layouts are the same: what one of them does about some layouts, all do.

        Models repeat their layers, so there are few. No layout is given to a value once they are asked for.
        """
        facts = list(zip(self.shapes, self.bytes, self.free, self.given, self.reserved, strict=True))
        values = _numbered(facts)
        return _numbered(
            (each.rule, each.shares, each.reserved, *[values[at] for at in each.values]) for each in self.nodes
        )

    @property
    def return_op(self) -> ReturnOp:
        """The function's terminator."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    def spec(self, dims: Dims) -> LayoutSpec:
        """The closed layout on this program's mesh with these dims."""
        found = self.specs.get(dims)
        if found is None:
            found = self.specs[dims] = LayoutSpec(self.mesh.name, dims)
        return found

    def is_ours(self, value: int) -> bool:
        """Whether all of a value's layout is the compiler's to choose."""
        return not self.free[value] and self.given[value] is None

    def overlaps(self, axes: Iterable[Axis], others: Collection[Axis]) -> bool:
        """Whether any of some axes shares digits with any of others."""
        return any(overlaps(axis, others, self.mesh) for axis in axes)

    def scope_of(self, value: int) -> Scope:
        """The scope of the op that makes a value."""
        producer = self.producers[value]
        return self.root if producer is None else producer.scope

    def weight_of(self, value: int) -> float:
        """How often a value is made, with all that it stands for."""
        return self.scope_of(value).weight * self.times[value]

    @cached_property
    def unreduced(self) -> dict[int, tuple[Axes, str]]:
        """The values that are to be partial, as who wrote the program asks for, and how their parts combine."""
        asked = ((number, spec) for number, spec in enumerate(self.given) if spec is not None and spec.partial)
        return {number: (spec.partial, spec.kind) for number, spec in asked if self.producers[number] is not None}

    def partial_values(self) -> list[tuple[Axes, str] | None]:
        """For each value that comes in partial, or is asked for so, over which axes, and how its parts combine."""
        return [(spec.partial, spec.kind) if spec is not None and spec.partial else None for spec in self.given]

    def layouts(self) -> list[LayoutSpec]:
        """The layout of every value, from the propagated stage on."""
        return [
            spec.close() if spec is not None else self.spec(((),) * len(shape))
            for spec, shape in zip(self.given, self.shapes, strict=True)
        ]

    def add_value(self, value: SSAValue, producer: Node | None, free: bool = False) -> int:
        """Gives a value the next number; SW0403 for anything but a tensor."""
        refuse_others(value)
        type_ = cast("TensorType[Any]", value.type)
        number = self.numbers[value] = len(self.values)
        self.values.append(value)
        self.aliases.append([value])
        self.shapes.append(type_.get_shape())
        self.bytes.append(_bytes(type_))
        self.users.append([])
        self.producers.append(producer)
        self.given.append(dtensor.layout_of(value))
        self.free.append(free)
        self.reserved.append(())
        self.times.append(1.0)
        return number

    def add_node(self, node: Node) -> None:
        """Takes a node, whose results have their numbers, as the last one."""
        self.nodes.append(node)
        self.steps.append(node)
        for value in node.results:
            self.producers[value] = node
        for value in dict.fromkeys(node.operands):
            self.users[value].append(node)

    def find_around(self) -> None:
        """Finds the nodes around each value, once all nodes are there."""
        pairs = zip(self.users, self.producers, strict=True)
        self.around = [(*users, producer) if producer is not None else tuple(users) for users, producer in pairs]

    def add_alias(self, number: int, value: SSAValue) -> None:
        """Lets one more value of the IR go by a number."""
        self.numbers[value] = number
        self.aliases[number].append(value)


def refuse_others(value: SSAValue) -> None:
    """SW0403 for a value that is no tensor, or one of elements that arrays have none of."""
    if not has_array_type(value.type):
        tensor = isinstance(value.type, TensorType)
        help_text = "use elements that NumPy or ml_dtypes has a type for" if tensor else "use tensors only"
        raise fault("SW0403", f"a value of type {value.type} cannot be partitioned", value, help=help_text)


def overlaps(axis: Axis, others: Iterable[Axis], mesh: Mesh) -> bool:
    """Whether an axis shares digits with any of `others`."""
    return any(overlap(axis, other, mesh.sizes[axis.name]) for other in others)


def entry_function(module: ModuleOp) -> FuncOp:
    """
    The one public function `main`; a coded error when there is none, or another public one (SW0408).

    A function that the module calls or names itself is no entry, whatever it says of who may see it.
    """
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    entry = next((function for function in functions if function.sym_name.data == "main"), None)
    if entry is None:
        raise fault(
            "SW0404",
            "the module has no function @main",
            functions[0] if functions else module,
            help="name the entry function @main and make it public",
        )
    for function in second_entries(module):
        name = f"@{function.sym_name.data}"
        raise fault(
            "SW0408",
            f"{name} is a second public function: only @main is partitioned",
            function,
            labels=label(entry, "this is what is partitioned"),
            word=name,
            help=f"make {name} private or remove it",
        )
    return entry


def the_mesh(module: ModuleOp) -> Mesh:
    """The module's mesh; a mesh without axes when the module declares none (one device)."""
    meshes = list(dtensor.meshes(module).values())
    if len(meshes) > 1:
        names = ", ".join(f"@{mesh.name}" for mesh in meshes)
        raise fault("SW0405", f"the module declares several meshes: {names}", module, help="use one mesh in a program")
    return meshes[0] if meshes else Mesh()


def _bytes(tensor: TensorType[Any]) -> int:
    return math.prod(tensor.get_shape()) * element_size(tensor.element_type)


def _numbered(things: Iterable[Hashable]) -> list[int]:
    """Equal things have equal numbers."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(thing, len(numbers)) for thing in things]
