"""
`Program`: an entry function as numbered ops and values, so that the layout passes work on plain Python data.

Building it is one walk. Values are numbers; shapes, bytes, users and layouts are lists indexed by them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast
from zlib import crc32

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.dialects import dtensor
from shardwright.dialects.literals import element_size
from shardwright.dialects.locations import fault
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.calls import is_private
from shardwright.rules.rule import Rule
from shardwright.rules.sharding import missing_row
from shardwright.rules.table import ROWS

Axes = tuple[Axis, ...]
Dims = tuple[Axes, ...]


@dataclass(slots=True, eq=False)
class Node:
    """
    One op, or one pair of an op whose operands and results are independent pairs: its rule, operands and results.

    `first` is the place of the node's first operand among the op's.
    """

    index: int
    op: Operation
    rule: Rule
    operands: tuple[int, ...]
    results: tuple[int, ...]
    first: int = 0

    @property
    def values(self) -> tuple[int, ...]:
        """Operands, then results, in the order of `rule.tensors()`."""
        return self.operands + self.results


@dataclass(slots=True)
class Program:
    """The entry function of a module: `nodes` in program order, and facts about each value by number."""

    function: FuncOp
    mesh: Mesh
    nodes: list[Node] = field(default_factory=list[Node])
    values: list[SSAValue] = field(default_factory=list[SSAValue])
    numbers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    shapes: list[tuple[int, ...]] = field(default_factory=list[tuple[int, ...]])
    bytes: list[int] = field(default_factory=list[int])
    users: list[list[Node]] = field(default_factory=list[list[Node]])
    producers: list[Node | None] = field(default_factory=list["Node | None"])
    given: list[LayoutSpec | None] = field(default_factory=list["LayoutSpec | None"])
    """The layout in each value's type: at the traced stage the user's, later everyone's."""
    free: list[bool] = field(default_factory=list[bool])
    """Values that any device can make without communication in any layout: splat constants and iotas."""

    @property
    def return_op(self) -> ReturnOp:
        """The function's terminator."""
        last = self.function.body.block.last_op
        assert isinstance(last, ReturnOp)
        return last

    def spec(self, dims: Dims) -> LayoutSpec:
        """The closed layout on this program's mesh with these dims."""
        return LayoutSpec(self.mesh.name, dims)

    def partial_arguments(self) -> list[tuple[Axes, str] | None]:
        """For each value the axes over which it comes in partial, and how its parts combine."""
        return [(spec.partial, spec.kind) if spec is not None and spec.partial else None for spec in self.given]

    def layouts(self) -> list[LayoutSpec]:
        """The layout of every value, from the propagated stage on."""
        return [
            spec.close() if spec is not None else self.spec(((),) * len(shape))
            for spec, shape in zip(self.given, self.shapes, strict=True)
        ]

    def add_value(self, value: SSAValue, producer: Node | None, free: bool = False) -> int:
        """Gives a value the next number; a coded error for anything but a tensor."""
        if not isinstance(value.type, TensorType):
            raise fault("SW0403", f"a value of type {value.type} cannot be partitioned", value, help="use tensors only")
        type_ = cast("TensorType[Any]", value.type)
        number = self.numbers[value] = len(self.values)
        self.values.append(value)
        self.shapes.append(type_.get_shape())
        self.bytes.append(_bytes(type_))
        self.users.append([])
        self.producers.append(producer)
        self.given.append(dtensor.layout_of(value))
        self.free.append(free)
        return number


def entry_function(module: ModuleOp) -> FuncOp:
    """The one public function `main`; a coded error when there is none, or another public one (SW0408)."""
    functions = [op for op in module.body.block.ops if isinstance(op, FuncOp)]
    entry = next((function for function in functions if function.sym_name.data == "main"), None)
    if entry is None:
        raise fault(
            "SW0404",
            "the module has no function @main",
            functions[0] if functions else module,
            help="name the entry function @main and make it public",
        )
    for function in functions:
        if function is not entry and not is_private(function):
            name = f"@{function.sym_name.data}"
            raise fault(
                "SW0408",
                f"{name} is a second public function: only @main is partitioned",
                function,
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


def build_program(module: ModuleOp) -> Program:
    """Numbers the entry function of `module`; one error names all ops that have no rule."""
    function = entry_function(module)
    program = Program(function, the_mesh(module))
    for argument in function.body.block.args:
        program.add_value(argument, None)
    missing: dict[str, Diagnostic] = {}
    for op in function.body.block.ops:
        if isinstance(op, ReturnOp):
            break
        row = ROWS.get(op.name)
        if row is None:
            missing.setdefault(op.name, missing_row(op))
        elif not missing:
            _add_nodes(program, op, row.rule(op))
    if missing:
        raise ShardwrightError(missing.values())
    return program


def structural_marks(program: Program) -> list[int]:
    """
    A number for each node that says where it stands in the graph, whatever the order of the text.

    It mixes the op's name and shapes with those of everything that it comes from and goes to. Whole numbers hash alike
    in every process, which strings do not.
    """
    names: dict[str, int] = {}
    values: list[int] = list(range(len(program.values)))
    marks: list[int] = []
    for node in program.nodes:
        name = names.setdefault(node.op.name, crc32(node.op.name.encode()))
        shapes = tuple(program.shapes[value] for value in node.results)
        marks.append(hash((name, shapes, tuple(values[value] for value in node.operands))))
        for place, value in enumerate(node.results):
            values[value] = hash((marks[-1], place))
    for node in reversed(program.nodes):
        onwards = sorted(marks[user.index] for value in node.results for user in program.users[value])
        marks[node.index] = hash((marks[node.index], *onwards))
    return marks


def structural_order(program: Program, marks: list[int]) -> list[Node]:
    """The nodes, operands before users, in an order that does not depend on that of the text: by depth, then mark."""
    depths: list[int] = [0] * len(program.values)
    depth: list[int] = []
    for node in program.nodes:
        depth.append(max((depths[value] for value in node.operands), default=0))
        for value in node.results:
            depths[value] = depth[-1] + 1
    return sorted(program.nodes, key=lambda node: (depth[node.index], marks[node.index], node.index))


def _add_nodes(program: Program, op: Operation, rule: Rule) -> None:
    if not rule.pairwise:
        _add_node(program, op, rule, op.operands, op.results)
        return
    for place, (pair, operand, result) in enumerate(zip(rule.pairs(), op.operands, op.results, strict=True)):
        _add_node(program, op, pair, (operand,), (result,), place)


def _add_node(
    program: Program, op: Operation, rule: Rule, sources: Sequence[SSAValue], made: Sequence[SSAValue], first: int = 0
) -> None:
    operands = tuple(program.numbers[value] for value in sources)
    node = Node(len(program.nodes), op, rule, operands, (), first)
    node.results = tuple(program.add_value(value, node, rule.free) for value in made)
    program.nodes.append(node)
    for number in dict.fromkeys(operands):
        program.users[number].append(node)


def _bytes(tensor: TensorType[Any]) -> int:
    return math.prod(tensor.get_shape()) * element_size(tensor.element_type)
