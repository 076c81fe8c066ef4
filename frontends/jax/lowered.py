"""A function's program for arguments of one kind: partitioned, and compiled by XLA for JAX's devices."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.compiler.answers import Explanation
from shardwright.compiler.report import CollectiveRow
from shardwright.compiler.stages import Partitioned, Traced, read_module
from shardwright.diagnostics.faults import type_error
from shardwright.dialects import sdy
from shardwright.dialects.dtensor import MeshOp
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.engines.jax.internals import (
    asked_of_results,
    calling,
    devices_of,
    exported,
    host_callbacks,
    kept_arguments,
    layouts_of_results,
    shardings_of,
    shardings_of_arguments,
)
from shardwright.engines.jax.shardings import JaxMesh, is_the_same
from shardwright.frontends.jax.borders import even_at_borders, whole_where_empty
from shardwright.frontends.jax.calls.by_hand import keep_together, partition_by_hand
from shardwright.frontends.jax.calls.called_back import hold_calls_back
from shardwright.frontends.jax.choosing import XLA, Wanted, shardings_around
from shardwright.frontends.jax.donation import keep_with_donated, lay_out_donated
from shardwright.frontends.jax.memories import memories_of, near, placed
from shardwright.frontends.jax.promised import is_mixed, leaves_parts, promised, typed, typed_as
from shardwright.frontends.jax.remembering import Local, keep, name_of, recalled
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.rewriter import insert_before
from shardwright.passes.stages import LAYOUT_ARGUMENT, weigh_messages


@dataclass(frozen=True, repr=False)
class Lowered:
    """
    A program that is partitioned and not compiled yet, as `jax.stages.Lowered` is.

    The shardings are those that were decided, in the order of the arrays in arguments and results; an argument that
    nothing uses has none. What is not here is asked of what JAX lowered: `in_tree`, `out_info`, `args_info`.
    """

    theirs: Any
    mesh: JaxMesh
    in_shardings: tuple[Any, ...]
    out_shardings: tuple[Any, ...]
    _text: str
    _jitted: Any
    _partition: Callable[[], Partitioned]

    @cached_property
    def partitioned(self) -> Partitioned:
        """The program that each device runs, with what it sends; of one that was remembered made now."""
        return self._partition()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.theirs, name)

    def __repr__(self) -> str:
        return repr(self.partitioned).replace("Partitioned", "Lowered", 1)

    @property
    def predicted(self) -> tuple[CollectiveRow, ...]:
        """The collectives, each with its bytes, its reason and the lines that it serves."""
        return self.partitioned.predicted

    @property
    def predicted_bytes(self) -> Fraction | None:
        """What each device sends in a run, in bytes; None where it depends on the data."""
        return self.partitioned.predicted_bytes

    @property
    def peak_bytes(self) -> int:
        """What a device holds at once, arguments included, as planned; XLA, which fuses, mostly holds less."""
        return self.partitioned.price().peak_bytes

    def explain(self) -> Explanation:
        """What is sent, why, and for which line: print it, or ask it `.why("model.py:18")`."""
        return self.partitioned.explain()

    def as_text(self, dialect: str | None = None, *, debug_info: bool = False) -> str:
        """
        The program as StableHLO, with the program of each device in a manual computation; or in another of JAX's words.

        With `debug_info`, each op says what it is called where it was written.
        """
        if dialect not in (None, "stablehlo"):
            return self._lowered().as_text(dialect, debug_info=debug_info)
        return self._text if debug_info else print_module(parse_module(self._text, "lowered"))

    def allow(self) -> None:
        """Refuses a program that breaks the limits of the blocks around (SW0580, SW0581)."""
        if XLA.views.limited:
            XLA.views.allow(self.partitioned, lambda: self._compiled().peak_bytes)

    def compile(self, compiler_options: dict[str, Any] | None = None) -> Compiled:
        """
        Has XLA compile it, with such options of XLA's on top of those of `jit`.

        Raises `ShardwrightError` (SW0580, SW0581) where it breaks the limits of the blocks around.
        """
        self.allow()
        return self._compiled(compiler_options)

    def _compiled(self, compiler_options: dict[str, Any] | None = None) -> Compiled:
        return Compiled(self, self._lowered().compile(compiler_options))

    def _lowered(self) -> Any:
        """What JAX lowers the partitioned program to."""
        jax = import_module("jax")
        return self._jitted.lower(*(jax.ShapeDtypeStruct(info.shape, info.dtype) for info in _infos(self.theirs)))

    def run(self, leaves: Sequence[Any]) -> Any:
        """The results for the arrays of a call, which are not waited for."""
        return self.theirs.out_tree.unflatten(self._jitted(*leaves))


OF_THE_CALL = {"in_tree", "out_tree", "in_avals", "args_info", "donate_argnums"}
OF_ARGUMENTS = {"input_shardings", "input_formats"}
OF_RESULTS = {"output_shardings", "output_formats", "out_info"}
"""What JAX's own compiled programs say of the call that they were lowered for, of its arguments, of its results."""


@dataclass(frozen=True)
class Compiled:
    """
    A program that XLA has compiled, as `jax.stages.Compiled` is: call it with the arguments that are not static.

    What is not here is asked of JAX's own: `memory_analysis()`, `cost_analysis()`, `as_text()`, `input_shardings`.
    """

    lowered: Lowered
    executable: Any

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        leaves, tree = import_module("jax").tree.flatten((args, kwargs))
        if tree != self.lowered.theirs.in_tree:
            raise type_error(
                "SW0508",
                f"the program was compiled for {self.lowered.theirs.in_tree}, not for {tree}",
                help="give it the arguments that it was lowered for, without the static ones",
            )
        try:
            found = self.executable(*leaves)
        except (TypeError, ValueError) as error:
            if "leaves[" not in str(error):
                raise
            raise type(error)(self._named(str(error))) from None
        return self.lowered.theirs.out_tree.unflatten(found)

    def _named(self, message: str) -> str:
        """What JAX says of arguments, which are leaves to it, by where they are in those of a call."""
        key = import_module("jax").tree_util
        paths = [path for path, _ in key.tree_flatten_with_path(self.lowered.theirs.args_info)[0]]
        names = [f"{('args', 'kwargs')[path[0].idx]}{key.keystr(path[1:])}" for path in paths]
        return re.sub(r"\bleaves\[(\d+)\]", lambda found: names[int(found[1])], message)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in OF_THE_CALL:
            return getattr(self.lowered.theirs, name)
        found = getattr(self.executable, name)  # of a program that takes and gives flat lists
        if name in OF_ARGUMENTS:
            return self.lowered.theirs.in_tree.unflatten(found[0])
        return self.lowered.theirs.out_tree.unflatten(found) if name in OF_RESULTS else found

    @property
    def peak_bytes(self) -> int:
        """What all devices together hold at once besides arguments, by XLA's account."""
        memory = self.executable.memory_analysis()
        held = memory.temp_size_in_bytes + memory.output_size_in_bytes - memory.alias_size_in_bytes
        return held * self.lowered.mesh.whole.size

    @property
    def predicted(self) -> tuple[CollectiveRow, ...]:
        """The collectives, each with its bytes, its reason and the lines that it serves."""
        return self.lowered.predicted

    @property
    def predicted_bytes(self) -> Fraction | None:
        """What each device sends in a run, in bytes; None where it depends on the data."""
        return self.lowered.predicted_bytes

    def explain(self) -> Explanation:
        """What is sent, why, and for which line: print it, or ask it `.why("model.py:18")`."""
        return self.lowered.explain()


@collector_paused()
def partitioned_by_us(theirs: Any, gives: Sequence[Any], options: dict[str, Any], wanted: Wanted | None) -> Lowered:
    """
    What JAX lowered, partitioned by us; `gives` are the abstract values of its results, `options` those of `jax.jit`.

    Layouts that nobody gave are chosen, where that is `wanted`.

    Raises `ShardwrightError` for what we do not partition.
    """
    infos, devices = _infos(theirs), devices_of(theirs)
    found = kept_arguments(theirs)
    kept = list(range(len(infos))) if found is None else found
    donated = [number for number, info in enumerate(infos) if info.donated]
    source = _Source(theirs, gives, [kept.index(number) for number in donated if number in kept], wanted)
    local = source.local()
    mesh = JaxMesh(local.mesh, devices, source.known)
    takes = import_module("jax").tree.leaves(theirs.in_avals)
    program = exported(local.text, local.name, [takes[number] for number in kept], gives)
    call = calling(program, host_callbacks(theirs))
    written = [] if mesh.explicit else [each for each in shardings_of_arguments(theirs) if mesh.is_of(each)]

    def sharded(spec: LayoutSpec, value: Any, memory: str | None) -> Any:
        return placed(mesh.sharding(spec, len(value.shape)), memory)

    def promised_to(spec: LayoutSpec, value: Any, memory: str | None) -> Any:
        return placed(typed(mesh.sharding(spec, len(value.shape)), value), memory)

    def asked(made: Any, value: Any, given: Any) -> Any:
        return next((each for each in (given, *written) if is_the_same(each, made, len(value.shape))), made)

    takers = [infos[number] for number in kept]
    decided = dict(zip(kept, map(sharded, local.inputs, takers, local.taken), strict=True))
    within = tuple(decided.get(number) for number in range(len(infos)))
    out = tuple(map(asked, map(promised_to, local.outputs, gives, local.given), gives, asked_of_results(theirs)))

    def run(*leaves: Any) -> Any:
        return call(*(near(leaves[number], decided[number], devices[0]) for number in kept))

    run.__name__ = local.name
    lying = list(map(_formatted, out, layouts_of_results(theirs)))
    jitted = import_module("jax").jit(run, in_shardings=within, out_shardings=lying, donate_argnums=donated, **options)
    return Lowered(theirs, mesh, within, out, local.text, jitted, source.partitioned)


class _Source:
    """
    A program as JAX lowered it, partitioned when it has to be; `donated` are numbers of arguments that it takes.

    Layouts are chosen where that is `wanted`.
    """

    def __init__(self, theirs: Any, gives: Sequence[Any], donated: Sequence[int], wanted: Wanted | None) -> None:
        self.theirs, self.gives, self.donated, self.wanted = theirs, gives, donated, wanted
        self.around = shardings_around()
        self.known = [*shardings_of(theirs), *self.around]
        self.text = str(theirs.as_text(debug_info=True))
        typed = (getattr(value, "sharding", None) for value in gives)
        laid_out = (*shardings_of_arguments(theirs), *asked_of_results(theirs), *typed)
        self._partial = any(map(leaves_parts, laid_out))
        self._made: tuple[Partitioned, str] | None = None

    def local(self) -> Local:
        """What JAX has to know of it: remembered, or made and remembered."""
        facts = (MESSAGE_BYTES, self.wanted, self._mesh_around(), *map(typed_as, self.gives))
        name = name_of(self.text, self.theirs, self.donated, *facts)
        found = recalled(name)
        if found is None:
            started = time.perf_counter()
            partitioned, text = self._partition()
            found = _local(partitioned, text, devices_of(self.theirs)[0], self._partial)
            keep(name, found, time.perf_counter() - started)
        return found

    def partitioned(self) -> Partitioned:
        return self._partition()[0]

    @collector_paused()
    def _partition(self) -> tuple[Partitioned, str]:
        if self._made is None:
            together = self.wanted is not None
            traced = _traced(self, self._mesh_around(), together=together)
            if self.wanted is not None:
                traced = self.wanted.lay_out(traced, self.known)
            mixed = any(is_mixed(sharding.mesh) for sharding in self.known if hasattr(sharding, "mesh"))
            even = even_at_borders(whole_where_empty(traced), whole_axes=mixed)
            self._made = partition_by_hand(even, devices_of(self.theirs), self.known, partial=self._partial)
        return self._made

    def _mesh_around(self) -> list[tuple[str, int]]:
        """
        The axes of the mesh on which it is, of which the text may know nothing: what was laid out may be left out.

        It is that of `jax.set_mesh` when this was lowered, or else one of a sharding that somebody gave.
        """
        count = len(devices_of(self.theirs))
        meshes = (each.mesh for each in (*self.around, *self.known) if hasattr(each, "spec"))
        return next((list(mesh.shape.items()) for mesh in meshes if mesh.size == count), [])


def _local(partitioned: Partitioned, text: str, device: Any, partial: bool) -> Local:
    interface, (inputs, outputs) = partitioned.interface, layouts_of(partitioned)
    if not partial:  # what is left in parts is finished in the text
        outputs = [spec.with_partial((), "") for spec in outputs]
    taken, given = memories_of(entry_function(partitioned.module), device)
    return Local(text, interface.name, interface.mesh, inputs, outputs, taken, given)


def _formatted(sharding: Any, layout: Any) -> Any:
    """A sharding with how elements lie in the memory of each device, where that was asked for."""
    return sharding if layout is None else import_module("jax.experimental.layout").Format(layout, sharding)


def _infos(theirs: Any) -> list[Any]:
    return theirs.in_tree.flatten_up_to(theirs.args_info)


MESSAGE_BYTES = 512
"""
What a message counts as next to the bytes that it sends.

On no machine is one cheaper: devices wait for one another longer than they would take to send so many.
"""


def _traced(source: _Source, around: Sequence[tuple[str, int]], *, together: bool) -> Traced:
    """
    The program as JAX lowered it; results that can have a donated argument's memory have its layout.

    If nobody gave one, they get one `together`. `around` are the axes of the mesh on which it is.
    """
    operation = source.theirs.compiler_ir("stablehlo").operation
    name = str(operation.attributes["sym_name"]).strip('"').removeprefix("jit_")
    module = parse_module(source.text, name)
    _declare_mesh(module, around)
    keep_together(module)
    hold_calls_back(module)
    lay_out_donated(entry_function(module), source.donated, promised(module, source.gives))
    if together:
        keep_with_donated(entry_function(module), source.donated)
    weigh_messages(module, MESSAGE_BYTES)
    return read_module(module, name, XLA)


def _declare_mesh(module: ModuleOp, around: Sequence[tuple[str, int]]) -> None:
    """Declares the mesh on which a program is, if nothing in it has a sharding on one that has axes."""
    if around and not any(isinstance(op, sdy.MeshOp) and op.mesh.data.axes for op in module.ops):
        insert_before(entry_function(module), MeshOp("mesh", list(around)))


def layouts_of(partitioned: Partitioned) -> tuple[list[LayoutSpec], list[LayoutSpec]]:
    """The layouts of a program's arguments and results."""
    function = entry_function(partitioned.module)
    sides: list[list[LayoutSpec]] = []
    for entries in (function.arg_attrs, function.res_attrs):
        found = [entry.data[LAYOUT_ARGUMENT] for entry in entries or ()]
        sides.append([layout.data for layout in found if isinstance(layout, LayoutAttr)])
    return sides[0], sides[1]
