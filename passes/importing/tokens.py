"""`drop-tokens`: effects happen in the order in which they are written, so that nothing has to carry tokens around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass

from shardwright.dialects.building import blocks_in, ops_in
from shardwright.dialects.sdy import ShardingPerValueAttr
from shardwright.dialects.sdy.meshes import ShardedOp
from shardwright.dialects.stablehlo.calls.custom_calls import AfterAllOp, CreateTokenOp, is_token
from shardwright.dialects.text.xdsl_patches import operands_of
from shardwright.passes.importing.gspmd import SHARDING
from shardwright.passes.rewriter import erase, insert_before, locate


@dataclass(frozen=True)
class DropTokensPass(ModulePass):
    """
    Takes tokens out of calls, loops, branches and signatures: what stands above happens before what stands below.

    Before:
        func.func public @main(%t: !stablehlo.token, %x: tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>) {
          %0 = stablehlo.after_all %t : !stablehlo.token
          %1:2 = stablehlo.custom_call @my.read(%0, %x) {has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, tensor<4xf32>)
          func.return %1#0, %1#1 : !stablehlo.token, tensor<4xf32>
        }
    After:
        func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
          %0 = stablehlo.custom_call @my.read(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
          func.return %0 : tensor<4xf32>
        }
    """  # noqa: E501

    name = "drop-tokens"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ops = ops_in(op)
        signatures = {function: _kept_results(function) for function in ops if isinstance(function, FuncOp)}
        for inner in ops:
            if any(map(is_token, operands_of(inner))):
                _take_less(inner)
        for inner in ops:
            for block in blocks_in(inner):
                _name_less(inner, block.args)
        for inner in reversed(ops):
            if any(map(is_token, inner.results)):
                erase(inner) if isinstance(inner, _ONLY_TOKENS) else _give_less(inner)
        for function, kept in signatures.items():
            _keep(function.properties, "res_attrs", kept)
            if function.body.blocks:
                function.update_function_type()


_ONLY_TOKENS = (AfterAllOp, CreateTokenOp, ShardedOp)
"""Ops that give nothing else where they give a token: Shardy's constraints give what they take."""


def _kept_results(function: FuncOp) -> list[int]:
    last = function.get_return_op()
    return [] if last is None else [place for place, value in enumerate(last.operands) if not is_token(value)]


def _take_less(op: Operation) -> None:
    """The operands that are no tokens, and what the op says of them."""
    kept = [place for place, value in enumerate(op.operands) if not is_token(value)]
    op.operands = [op.operands[place] for place in kept]
    _keep(op.properties, "operand_layouts", kept)
    _keep(op.properties, "in_shardings", kept)
    op.properties.pop("output_operand_aliases", None)


def _name_less(op: Operation, arguments: Sequence[SSAValue]) -> None:
    """The arguments of a block that are no tokens; what a function says of them."""
    kept = [place for place, value in enumerate(arguments) if not is_token(value)]
    for block in blocks_in(op) if len(kept) < len(arguments) else ():
        for argument in reversed(block.args):
            if is_token(argument):
                block.erase_arg(argument)
    if isinstance(op, FuncOp):
        _keep(op.properties, "arg_attrs", kept)


def _give_less(op: Operation) -> None:
    """The op in its place without results that are tokens."""
    kept = [place for place, value in enumerate(op.results) if not is_token(value)]
    if isinstance(said := op.attributes.get(SHARDING), ShardingPerValueAttr) and len(said.data) == len(op.results):
        _keep(op.attributes, SHARDING, kept)
    _keep(op.properties, "out_shardings", kept)
    _keep(op.properties, "result_layouts", kept)
    new = type(op).create(
        operands=op.operands,
        result_types=[op.results[place].type for place in kept],
        properties=op.properties,
        attributes=op.attributes,
        regions=[op.detach_region(0) for _ in range(len(op.regions))],
    )
    insert_before(op, locate(new, op))
    for place, result in zip(kept, new.results, strict=True):
        result.name_hint = op.results[place].name_hint
        op.results[place].replace_all_uses_with(result)
    erase(op)


def _keep(properties: dict[str, Any], name: str, kept: Sequence[int]) -> None:
    """The entries of a list that are about what is kept."""
    listed = properties.get(name)
    if isinstance(listed, ShardingPerValueAttr):
        properties[name] = ShardingPerValueAttr(tuple(listed.data[place] for place in kept))
    elif isinstance(listed, ArrayAttr) and len(listed.data) > len(kept):
        properties[name] = ArrayAttr(found := [listed.data[place] for place in kept])
        if all(entry == DictionaryAttr({}) for entry in found):
            del properties[name]
