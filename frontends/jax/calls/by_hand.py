"""
Functions of `jax.custom_partitioning`: how their calls may be split says a rule, what each device computes a function.

The calls are partitioned by their rules, as custom calls are. When layouts are decided, each call's function is asked
what a device does with its parts, as XLA's partitioner would ask it; what it answers takes the call's place. Where it
wants other layouts, the dims in question are kept whole, and layouts are decided again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import count
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from shardwright.compiler.stages import Partitioned, Traced
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of
from shardwright.dialects.sdy.rules import KEPT_RULE, SHARDY_RULE, OpShardingRule, OpShardingRuleAttr
from shardwright.dialects.stablehlo.calls.custom_calls import CustomCallOp, custom_calls
from shardwright.dialects.text.locations import fault
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.dialects.types import element_dtype, shape_of
from shardwright.engines.jax.internals import partitioned_functions
from shardwright.engines.jax.shardings import JaxMesh
from shardwright.engines.jax.splicing import (
    call_instead,
    highest_channel,
    list_groups,
    number_channels,
    of_each_device,
    renamed,
)
from shardwright.frontends.jax.calls.called_back import called_back, let_call_back
from shardwright.rules.families.custom_calls import factors_of

BY_HAND = "CustomSPMDPartitioning"
"""What JAX calls a function of `custom_partitioning`: its partitioner is asked in Python what each device does."""

ROUNDS = 4
"""How often layouts are decided anew because a function wants others."""


def calls_by_hand(module: ModuleOp) -> Iterator[CustomCallOp]:
    """The calls of such functions."""
    return (op for op in custom_calls(module) if op.target == BY_HAND)


def keep_together(module: ModuleOp) -> None:
    """
    Lets no dim be split that a function combines, since it alone knows how, in place.

    Raises SW0431 for one without a rule.
    """
    for op in calls_by_hand(module):
        rule = op.attributes.get(SHARDY_RULE)
        if not isinstance(rule, OpShardingRuleAttr):
            raise fault(
                "SW0431",
                "a function of custom_partitioning has no rule by which it may be split",
                op,
                help='give def_partition a sharding_rule, call the function in a shard_map, or take fallback="xla"',
            )
        listed = {name for _, names in rule.data.groups for name in names}
        op.attributes[SHARDY_RULE] = OpShardingRuleAttr(_whole(rule.data, listed))


def _whole(rule: OpShardingRule, factors: set[str]) -> OpShardingRule:
    named = tuple(name for name, _ in rule.sizes if name in factors)
    return replace(rule, groups=(("need_replication", named),) if named else ())


@dataclass(frozen=True)
class Answer:
    """What a call's function says: what each device computes, and how it wants operands and results."""

    key: str
    function: Any
    operands: Sequence[Any]
    results: Sequence[Any]


def partition_by_hand(
    traced: Traced, devices: Sequence[Any], known: Sequence[Any], *, partial: bool = False
) -> tuple[Partitioned, str]:
    """
    A program partitioned, and the text that XLA gets, in which functions of `custom_partitioning` are written out.

    With `partial`, arguments and results may be partial there.

    Raises SW0431 where a function's answers fit no layouts.
    """
    partitioned = traced.partition()
    for _ in range(ROUNDS):
        calls = list(calls_by_hand(partitioned.planned))
        mesh = JaxMesh(partitioned.interface.mesh, devices, known)
        answers = [_asked(op, mesh) for op in calls]
        unfit = dict[str, set[str]]()  # a function that is called from several places has one rule
        for op, answer in zip(calls, answers, strict=True):
            unfit.setdefault(_key(op), set()).update(_unfit(op, answer, mesh))
        if not any(unfit.values()):
            return partitioned, _text(partitioned, answers, mesh, partial)
        for op in calls_by_hand(traced.module):
            rule = op.attributes[KEPT_RULE]
            assert isinstance(rule, OpShardingRuleAttr)
            before = {name for _, names in rule.data.groups for name in names}
            op.attributes[KEPT_RULE] = OpShardingRuleAttr(_whole(rule.data, before | unfit.get(_key(op), set())))
        partitioned = traced.partition()
    raise _refused(next(calls_by_hand(partitioned.planned)), "wants other layouts than its rule allows")


def _text(partitioned: Partitioned, answers: Sequence[Answer], mesh: JaxMesh, partial: bool) -> str:
    """What XLA gets, with all calls that only JAX can make or write."""
    text = partitioned.to_stablehlo(platform=mesh.platform, names=True, partial=partial)
    if not answers and next(called_back(partitioned.module), None) is None:
        return text
    module = parse_module(text, "partitioned")
    _write_out(module, answers, mesh)
    let_call_back(module, mesh.whole.size)
    return print_module(module, debuginfo=True)


def _refused(op: Operation, what: str) -> ShardwrightError:
    help_text = 'call it in a shard_map, or take fallback="xla"'
    return fault("SW0431", f"a function of custom_partitioning {what}", op, help=help_text)


def _key(op: CustomCallOp) -> str:
    """The name under which JAX knows the function of a call: each call has its own."""
    config = op.backend_config
    return config.data if isinstance(config, StringAttr) else ""


def _given(values: Sequence[SSAValue], mesh: JaxMesh) -> list[Any]:
    """What a function is told of arrays: their global shapes, and how they are split."""
    jax: Any = import_module("jax")
    found: list[Any] = []
    for value in values:
        spec, shape = layout_of(value), shape_of(value)
        sharding = mesh.whole_sharding() if spec is None else mesh.sharding(spec)
        found.append(jax.ShapeDtypeStruct(shape, element_dtype(value.type), sharding=sharding))
    return found


def _asked(op: CustomCallOp, mesh: JaxMesh) -> Answer:
    info: Any = partitioned_functions().get(_key(op).encode())
    if info is None:
        raise _refused(op, "is not there any more")
    operands, results = _given(op.operands, mesh), _given(op.results, mesh)
    _, function, gives, takes = info.partition(
        *info.static_args, mesh.whole, info.in_tree.unflatten(operands), info.out_tree.unflatten(results)
    )
    jax: Any = import_module("jax")

    def compute(*leaves: Any) -> list[Any]:
        return jax.tree.leaves(function(*info.in_tree.unflatten(leaves)))

    return Answer(_key(op), compute, info.in_tree.flatten_up_to(takes), info.out_tree.flatten_up_to(gives))


def _unfit(op: CustomCallOp, answer: Answer, mesh: JaxMesh) -> set[str]:
    """The factors of the dims that the function wants to be split otherwise than they are."""
    rule = op.attributes[KEPT_RULE]
    assert isinstance(rule, OpShardingRuleAttr)
    tensors = (*rule.data.operands, *rule.data.results)
    values, wanted = (*op.operands, *op.results), (*answer.operands, *answer.results)
    found = set[str]()
    for factors, told, want in zip(tensors, _given(values, mesh), wanted, strict=True):
        if told.sharding.mesh == mesh.whole and told.sharding.is_equivalent_to(want, len(told.shape)):
            continue
        pairs = zip(factors, _axes(told.sharding, len(factors)), _axes(want, len(factors)), strict=True)
        differing = {dim for dim, has, wants in pairs if has != wants or told.sharding.mesh != mesh.whole}
        found |= {name for dim in differing for name in factors_of(dim)}
    return found


def _axes(sharding: Any, rank: int) -> list[tuple[str, ...]]:
    """The axes that split each dim."""
    spec = (*getattr(sharding, "spec", ()),)
    entries = [*spec, *(None,) * (rank - len(spec))]
    return [() if entry is None else (entry,) if isinstance(entry, str) else tuple(entry) for entry in entries]


def _write_out(module: ModuleOp, answers: Sequence[Answer], mesh: JaxMesh) -> None:
    """Puts functions in the place of the calls, in order, which all devices call with their parts."""
    channels = count(highest_channel(module) + 1)
    for number, (op, answer) in enumerate(zip(list(calls_by_hand(module)), answers, strict=True)):
        assert _key(op) == answer.key, "no pass after the planner swaps calls"
        name = f"by_hand_{number}"
        written = _lowered(answer, op, mesh)
        functions = renamed(written, name)
        number_channels(functions, channels)
        module.body.block.add_ops(functions)
        call_instead(op, name)


def _lowered(answer: Answer, op: CustomCallOp, mesh: JaxMesh) -> ModuleOp:
    """What each device computes, as JAX writes it."""
    jax: Any = import_module("jax")
    within, out = ([each.spec for each in side] for side in (answer.operands, answer.results))
    mapped = jax.shard_map(
        answer.function, mesh=mesh.whole, in_specs=tuple(within), out_specs=list(out), check_vma=False
    )
    sizes = [_whole_shape(shape_of(value), each) for value, each in zip(op.operands, answer.operands, strict=True)]
    takes = [
        jax.ShapeDtypeStruct(shape, element_dtype(value.type), sharding=sharding)
        for shape, value, sharding in zip(sizes, op.operands, answer.operands, strict=True)
    ]
    written = parse_module(jax.jit(mapped).lower(*takes).as_text(), "<custom_partitioning>")
    list_groups(written)
    of_each_device(written)
    return written


def _whole_shape(part: Sequence[int], sharding: Any) -> tuple[int, ...]:
    parts = sharding.shard_shape(tuple(sharding.num_devices for _ in part))
    return tuple(size * sharding.num_devices // share for size, share in zip(part, parts, strict=True))
