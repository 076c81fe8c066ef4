"""Functions that JAX wrote, as functions of another module."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region

from shardwright.compiler.exporting.messages.devices import groups
from shardwright.dialects import sdy
from shardwright.dialects.building import returned
from shardwright.dialects.func import CallOp
from shardwright.dialects.sdy.ops import ManualComputationOp
from shardwright.dialects.stablehlo import make_dense
from shardwright.dialects.stablehlo.collectives import ChannelHandleAttr, GroupedOp
from shardwright.layout.mesh import Mesh
from shardwright.passes.rewriter import replace_with

CHANNEL = "channel_handle"


def renamed(module: ModuleOp, name: str) -> list[FuncOp]:
    """The functions of a module, named after its first, for another module."""
    found = [op for op in module.ops if isinstance(op, FuncOp)]
    names = {op.sym_name.data: name if op.sym_name.data == "main" else f"{name}_{op.sym_name.data}" for op in found}
    for op in module.walk():
        if isinstance(op, CallOp):
            op.properties["callee"] = SymbolRefAttr(names[op.callee.string_value()])
    for op in found:
        op.detach()
        own = {"sym_name": StringAttr(names[op.sym_name.data]), "function_type": op.function_type}
        op.properties = {**own, "sym_visibility": StringAttr("private")}
    return found


def list_groups(module: ModuleOp) -> None:
    """Lists the devices of groups that go by the axes of a mesh of the module, which others do not have, in place."""
    meshes = {op.sym_name.data: Mesh(op.mesh.data.axes) for op in module.ops if isinstance(op, sdy.MeshOp)}
    for op in module.walk():
        if isinstance(op, GroupedOp) and op.groups is not None:
            listed = groups(op.groups.axes, meshes[op.groups.mesh])
            op.properties["replica_groups"] = make_dense(listed, i64)


def of_each_device(module: ModuleOp) -> None:
    """Makes the body of a module's manual computation that of its main function, in place."""
    main = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == "main")
    manual = next(op for op in main.body.block.ops if isinstance(op, ManualComputationOp))
    block = manual.body.detach_block(0)
    last = block.last_op
    assert last is not None
    results = list(returned(block))
    last.detach()
    last.erase()
    block.add_op(ReturnOp(*results))
    main.detach()
    types = [argument.type for argument in block.args], [value.type for value in results]
    module.body.block.add_op(FuncOp("main", types, Region(block)))


def call_instead(op: Operation, name: str) -> None:
    """Puts a call of a function in the place of an op."""
    types = [result.type for result in op.results]
    properties = {"callee": SymbolRefAttr(name)}
    replace_with(op, CallOp.create(operands=op.operands, result_types=types, properties=properties))


def highest_channel(module: ModuleOp) -> int:
    """The highest number of a channel that collectives of a module have; 0 where there are none."""
    found = (op.properties.get(CHANNEL) for op in module.walk())
    return max((handle.data[0] for handle in found if isinstance(handle, ChannelHandleAttr)), default=0)


def number_channels(functions: Iterable[FuncOp], numbers: Iterator[int]) -> None:
    """Gives the collectives of functions channels of their own, in place."""
    for function in functions:
        for op in function.walk():
            handle = op.properties.get(CHANNEL)
            if isinstance(handle, ChannelHandleAttr):
                op.properties[CHANNEL] = ChannelHandleAttr((next(numbers), *handle.data[1:]))
