"""`shardwright.jax.jit`: Shardwright partitions a function, JAX runs it."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Generator, Hashable
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from pathlib import Path
from typing import Any, Concatenate, Generic, Literal, ParamSpec, Self, TypedDict, TypeVar, Unpack, overload

from shardwright.compiler.reading.bytecode import required
from shardwright.diagnostics import ShardwrightError
from shardwright.diagnostics.faults import placed_at, type_error, value_error
from shardwright.engines.jax.agreement import agree
from shardwright.engines.jax.internals import (
    devices_of,
    is_of_jax,
    is_tracing,
    leave_out_of_places,
    trace_context,
    writes_references,
)
from shardwright.frontends.jax.choosing import Objective, Wanted
from shardwright.frontends.jax.lowered import Lowered, partitioned_by_us
from shardwright.frontends.jax.promised import parts_on_mixed
from shardwright.frontends.jax.signatures import Names, Numbers, Static, kinds, refuse_ours, spelled_alike
from shardwright.layout.planning.topology import Topology
from shardwright.views.limits import ACTIVE

Fallback = Literal["xla"] | None

_LOWERING: ContextVar[bool] = ContextVar("lowering", default=False)
"""Whether a function is being traced for us: functions inside of it become part of its program."""


P = ParamSpec("P")
R = TypeVar("R")
Rest = ParamSpec("Rest")
Owner = TypeVar("Owner")


class Options(TypedDict, total=False):
    """What `jit` takes beside the function."""

    in_shardings: Any
    out_shardings: Any
    static_argnums: Numbers
    static_argnames: Names
    donate_argnums: Numbers
    donate_argnames: Names
    keep_unused: bool
    inline: bool
    compiler_options: dict[str, Any] | None
    fallback: Fallback
    memory_limit: int | str | None
    objective: Objective | None
    topology: Topology | None
    recompute: bool
    microbatches: bool


class Jitted(Generic[P, R]):
    """
    A function whose programs Shardwright partitions; made by `jit`.

    Each kind of arguments (their shapes, types and shardings, and the static ones) has a program of its own, which is
    made when it is first needed. A call returns at once; its arrays are waited for when somebody looks at them.
    """

    def __init__(
        self, function: Callable[P, R], options: dict[str, Any], fallback: Fallback, wanted: Wanted | None
    ) -> None:
        self._plain = _jax().jit(function, **options)
        self._static = Static(function, options.get("static_argnums"), options.get("static_argnames"))
        self._kept = {name: options[name] for name in ("keep_unused", "compiler_options") if name in options}
        self._fallback, self._wanted = fallback, wanted
        self._programs: dict[Hashable, Callable[..., Any]] = {}
        self._known: dict[Hashable, Callable[..., Any]] = {}
        functools.update_wrapper(self, function, updated=())

    def __repr__(self) -> str:
        return f"shardwright.jax.jit({getattr(self, '__name__', 'function')})"

    @overload
    def __get__(self, instance: None, owner: type[Any] | None = None) -> Self: ...
    @overload
    def __get__(
        self: Jitted[Concatenate[Owner, Rest], R], instance: Owner, owner: type[Any] | None = None
    ) -> Callable[Rest, R]: ...
    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        if _LOWERING.get() or import_module("jax").config.jax_disable_jit:
            return self._plain(*args, **kwargs)
        call = self._static.split(args, kwargs)
        self._check_outermost(call.leaves)
        found = kinds(call.leaves)
        key = (call.tree, call.static, found, trace_context(), ACTIVE.get())
        try:
            run = self._known.get(key)
        except TypeError:
            self._plain.trace(*args, **kwargs)  # JAX says which static argument cannot be told from others
            raise
        if run is None:
            exact = (*key[:2], spelled_alike(found), *key[3:])
            if exact not in self._programs:
                self._programs[exact] = self._program(args, kwargs)
            run = self._known[key] = self._programs[exact]
        if run is self._plain:
            return self._plain(*args, **kwargs)
        try:
            return run(call.leaves)
        except FloatingPointError as error:  # of `jax_debug_nans`, which sees the program of ours as one operation
            raise self._named_by_jax(error, args, kwargs) from None

    def _named_by_jax(self, error: FloatingPointError, args: Any, kwargs: Any) -> FloatingPointError:
        """The error with the operation that it is of, which JAX finds by running its own program op by op."""
        try:
            self._plain(*args, **kwargs)
        except FloatingPointError as found:
            return found
        return error

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """What JAX traces the function to for these arguments, which may be `jax.ShapeDtypeStruct`s; nothing runs."""
        leaves = self._static.split(args, kwargs).leaves
        self._check_outermost(leaves)
        refuse_ours(leaves)
        return Traced(self, self._trace(args, kwargs))

    def lower(self, *args: Any, **kwargs: Any) -> Lowered:
        """
        The partitioned program for these arguments, which may be `jax.ShapeDtypeStruct`s; nothing runs.

        Raises `ShardwrightError` for what cannot be partitioned, at the line of the function that it comes from. With a
        fallback it is JAX's own `jax.stages.Lowered` then, and a warning says why.
        """
        traced = self.trace(*args, **kwargs).traced
        return self.lowered(traced, _lowered_by_jax(traced))

    def eval_shape(self, *args: Any, **kwargs: Any) -> Any:
        """The shapes and types of the results, as `jax.eval_shape` gives them."""
        return self._plain.eval_shape(*args, **kwargs)

    def clear_cache(self) -> None:
        """Forgets all programs."""
        self._programs.clear()
        self._known.clear()
        self._plain.clear_cache()

    def _program(self, args: Any, kwargs: Any) -> Callable[..., Any]:
        """What runs the program for such arguments."""
        traced = self._trace(args, kwargs)
        theirs = _lowered_by_jax(traced)
        if len(devices_of(theirs)) == 1 and self._wanted is None:  # there is nothing to partition
            return self._plain
        lowered = self.lowered(traced, theirs, frames=4)
        if lowered is theirs:
            return self._plain
        lowered.allow()
        agree(lowered.as_text(debug_info=True), devices_of(theirs))
        return lowered.run

    def _trace(self, args: Any, kwargs: Any) -> Any:
        """What JAX traces the function to; SW0591 where it takes parts of sums that JAX does nothing with."""
        with _lowering():
            try:
                return self._plain.trace(*args, **kwargs)
            except AssertionError as error:
                given = parts_on_mixed(import_module("jax").tree.leaves((args, kwargs)))
                if given is None or not is_of_jax(error):
                    raise
                raise _of_some_axes(getattr(self, "__name__", "function"), given) from error

    def lowered(self, traced: Any, theirs: Any, *, frames: int = 3) -> Lowered:
        """
        What becomes of the function as JAX traced it, and as JAX lowered that.

        That is the latter, with a warning to who called so many frames ago, where XLA's partitioner has to take it.
        """
        try:
            return self.partitioned(traced, theirs)
        except ShardwrightError as error:
            # What XLA's partitioner would send, and whether that fits, nobody knows.
            if self._fallback != "xla" or ACTIVE.get() or self._wanted is not None:
                raise
            warnings.warn(f"XLA's partitioner takes {self!r}: {error}", RuntimeWarning, stacklevel=frames)
            return theirs

    def strictly_lowered(self, *args: Any, **kwargs: Any) -> Lowered:
        """The partitioned program for these arguments, whatever fallback there is; raises as `lower` without one."""
        traced = self.trace(*args, **kwargs).traced
        return self.partitioned(traced, _lowered_by_jax(traced))

    def partitioned(self, traced: Any, theirs: Any) -> Lowered:
        """What becomes of the function as JAX traced it, and as JAX lowered that; raises what we do not partition."""
        if writes_references(traced):
            raise type_error(
                "SW0588",
                f"{self!r} reads or writes a jax.Ref that was made outside of it",
                "what it holds is memory of its own, and a partitioned program takes and gives arrays",
                help="give the array to the function and take the new one back, donated if need be; "
                "a Ref that is made inside of the function is no other than a variable",
            )
        gives = import_module("jax").tree.leaves(traced.out_avals)
        with placed_at(self):
            return partitioned_by_us(theirs, gives, self._kept, self._wanted)

    def _check_outermost(self, leaves: list[Any]) -> None:
        if _traced(leaves):
            raise type_error(
                "SW0570",
                f"{self!r} is called by a function that JAX itself traces",
                "a program is partitioned as a whole: what is around it, too",
                help="put it outermost: shardwright.jax.jit(jax.grad(function)), with plain functions inside; "
                "what it gives is told by its own eval_shape(...) and lower(...)",
            )


class Traced:
    """
    A function as JAX traced it for some arguments, before anybody partitions it; made by `Jitted.trace`.

    It has what JAX's own has: `jaxpr`, `fun_name`, `args_info`, `out_info` and others.
    """

    def __init__(self, jitted: Jitted[..., Any], traced: Any) -> None:
        self._jitted, self.traced = jitted, traced

    def __repr__(self) -> str:
        return f"{self._jitted!r}.trace(...)"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.traced, name)

    def lower(self, **options: Any) -> Lowered:
        """The partitioned program, as `Jitted.lower` gives it; raises as that does, and SW0590 for any options."""
        if options:
            raise type_error(
                "SW0590",
                f"{self._jitted!r} is lowered for the devices at hand, and not as {', '.join(options)} say",
                "so jax.export lowers what it exports",
                help="export jax.jit(function), and give what is loaded to us: shardwright.jax.jit(exported.call)",
            )
        return self._jitted.lowered(self.traced, _lowered_by_jax(self.traced))


@overload
def jit(function: Callable[P, R], /, **options: Unpack[Options]) -> Jitted[P, R]: ...
@overload
def jit(**options: Unpack[Options]) -> Callable[[Callable[P, R]], Jitted[P, R]]: ...
def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    in_shardings: Any = None,
    out_shardings: Any = None,
    static_argnums: Numbers = None,
    static_argnames: Names = None,
    donate_argnums: Numbers = None,
    donate_argnames: Names = None,
    keep_unused: bool = False,
    inline: bool = False,
    compiler_options: dict[str, Any] | None = None,
    fallback: Fallback = None,
    memory_limit: int | str | None = None,
    objective: Objective | None = None,
    topology: Topology | None = None,
    recompute: bool = False,
    microbatches: bool = False,
) -> Jitted[..., Any] | Callable[..., Any]:
    """
    As `jax.jit`, with Shardwright in place of XLA's partitioner; the arguments are those of `jax.jit`.

    Takes and gives `jax.Array`s in any containers that JAX knows. Shardings come from `in_shardings`,
    `out_shardings`, the arrays themselves and `with_sharding_constraint`; what nobody says is decided. Results that
    can have a donated argument's memory have its sharding. With `fallback="xla"`, what we do not partition goes to
    XLA's partitioner with a warning.

    With any of the last five, layouts that nobody gave are chosen, as `Traced.lay_out` does: those that send least, or
    take least time on a topology, of those with which a device holds at most `memory_limit` bytes at once (`"16GB"`),
    arguments included. Where nothing fits, `recompute` allows values to be computed again in the backward pass, and
    `microbatches` parts of the batch one after the other. The mesh is that of `jax.set_mesh`, or of a sharding that
    somebody gave. No fallback then.

    Raises SW0721 without JAX, `TypeError` (SW0570) when the function is called inside of JAX's own `jit`, `grad` or
    `vmap`, and coded errors at the user's line for what cannot be partitioned; where layouts are chosen SW0468 without
    a mesh, SW0586 for one of explicit axes, SW0469 if nothing fits, `ValueError` for a topology without a link for an
    axis (SW0121). At once, `ValueError` for a limit (SW0582) or an objective (SW0585) that is none, and for what does
    nothing without another of them (SW0510).

    ```python
    @shardwright.jax.jit(donate_argnums=0)
    def step(params, batch):
        loss, slopes = jax.value_and_grad(loss_of)(params, batch)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, slopes), loss

    params, loss = step(params, batch)
    print(step.lower(params, batch).explain())
    ```
    """
    if fallback not in (None, "xla"):
        raise value_error("SW0571", f"there is no fallback {fallback!r}", help="'xla' or None")
    given = {
        "in_shardings": in_shardings,
        "out_shardings": out_shardings,
        "static_argnums": static_argnums,
        "static_argnames": static_argnames,
        "donate_argnums": donate_argnums,
        "donate_argnames": donate_argnames,
        "compiler_options": compiler_options,
    }
    options = {name: value for name, value in given.items() if value is not None}
    options |= {name: True for name, said in (("keep_unused", keep_unused), ("inline", inline)) if said}
    wanted = Wanted.of(
        "jit",
        memory_limit=memory_limit,
        objective=objective,
        topology=topology,
        recompute=recompute,
        microbatches=microbatches,
    )
    if function is None:
        return functools.partial(Jitted[..., Any], options=options, fallback=fallback, wanted=wanted)
    return Jitted(function, options, fallback, wanted)


def _traced(leaves: list[Any]) -> bool:
    """Whether a function is being traced that calls this one."""
    tracer = import_module("jax.core").Tracer
    return is_tracing() or any(isinstance(leaf, tracer) for leaf in leaves)


def _jax() -> Any:
    jax = required("jax", "shardwright.jax.jit")
    _leave_us_out()
    return jax


@functools.cache
def _leave_us_out() -> None:
    leave_out_of_places(str(Path(__file__).parent))


def _lowered_by_jax(traced: Any) -> Any:
    """What JAX lowers a traced function to; SW0591 where it gives parts of sums that JAX does not lower."""
    with _lowering():
        try:
            return traced.lower()
        except ValueError as error:
            given = parts_on_mixed(import_module("jax").tree.leaves(traced.out_avals))
            if given is None or not is_of_jax(error):
                raise
            raise _of_some_axes(traced.fun_name, given) from error


def _of_some_axes(name: str, sharding: Any) -> ValueError:
    return value_error(
        "SW0591",
        f"{name} takes or gives parts of sums, {sharding.spec}, where not all axes of the mesh are explicit",
        "JAX itself does nothing with them there but jax.sharding.reshard",
        help="reshard it first, to a layout without unreduced; or make all axes of the mesh explicit",
    )


@contextmanager
def _lowering() -> Generator[None]:
    token = _LOWERING.set(True)
    try:
        yield
    finally:
        _LOWERING.reset(token)
