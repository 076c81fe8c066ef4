"""Programs from JAX: what `jax.jit` lowers a function to, with the function's own arguments and results around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, ModuleOp

from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.reading import loading
from shardwright.compiler.reading.bytecode import required
from shardwright.compiler.stages import Callbacks, Traced, read_module
from shardwright.compiler.tracing.pytree import Tree, flatten
from shardwright.compiler.tracing.settings import settled
from shardwright.diagnostics.faults import placed_at, type_error
from shardwright.dialects.text.locations import definition_location, is_known
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.types import dtype_element, tensor
from shardwright.engines.jax.internals import kept_arguments
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.frontends.jax.calls.callbacks import keep_callbacks
from shardwright.passes.program import entry_function


@settled
def load_mlir(path: str | Path, *, callbacks: Callbacks = None) -> Traced:
    """
    Reads a program from a file of StableHLO text or MLIR bytecode, as JAX writes it; its shardings become layouts.

    With `callbacks="drop"`, prints and other calls back into Python are left out where nothing needs their results.
    Raises `ValueError` (SW0702) for a file that cannot be read, and `ShardwrightError` with the place of the fault for
    text that is no program. Bytecode needs the extra `jax`. A file that was compiled before is read when it has to be.
    """
    return loading.load_mlir(path, BACKEND, callbacks)


def from_jax(function: Any, /, *args: Any, callbacks: Callbacks = None, **kwargs: Any) -> Traced:
    """
    The program of a function that `jax.jit` made, for these arguments.

    Arguments are arrays or `jax.ShapeDtypeStruct`s, with or without shardings. The shardings of arguments, results and
    constraints become layouts. The stages are those of `function(...).trace`; what they compile to is called with NumPy
    arrays in the function's own containers, and with its static arguments left out. A lowered function
    (`jitted.lower(...)`) will do as well.

    Callbacks (`jax.pure_callback`, `io_callback`, `jax.debug.print`, checks of equinox) are called in this process,
    with whole arrays and in the order in which they are written; with `callbacks="drop"`, prints and other effects are
    left out where nothing needs their results. (A function with an argument of that name is lowered first.)

    Needs the extra `jax` (SW0721); raises `TypeError` (SW0518) for functions that JAX did not jit, and for arguments or
    results in containers that Python does not have.

    ```
    jitted = jax.jit(step, in_shardings=..., out_shardings=...)
    compiled = shardwright.from_jax(jitted, params, batch).compile()
    compiled(params, batch)
    ```
    """
    required("jax", "from_jax")
    return read_lowered(_lowered(function, args, kwargs), function, callbacks)


def read_lowered(lowered: Any, function: Any, callbacks: Callbacks = None) -> Traced:
    """What JAX lowered a function to; of where things were written, JAX says only that of operations."""
    name = str(lowered.compiler_ir("stablehlo").operation.attributes["sym_name"]).strip('"').removeprefix("jit_")
    with placed_at(function):
        module = parse_module(lowered.as_text(debug_info=True), name)
        for op in (module, entry_function(module)):
            op.location = op.location if is_known(op.location) else definition_location(function)
        keep_callbacks(module, lowered, effects=callbacks != "drop")
        run_pipeline(module, ["drop-tokens"])  # the function itself takes and gives none
        _take_all(module, lowered)
        traced = read_module(module, name, BACKEND, callbacks)
        interface = replace(traced.interface, arguments=_tree(lowered.in_tree), results=_tree(lowered.out_tree))
        return replace(traced, interface=interface)


def _lowered(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if hasattr(function, "lower") and hasattr(function, "eval_shape"):
        return function.lower(*args, **kwargs)
    if hasattr(function, "compiler_ir") and hasattr(function, "in_tree") and not args and not kwargs:
        return function
    given = f"the function {function.__name__}" if hasattr(function, "__name__") else f"a {type(function).__name__}"
    raise type_error(
        "SW0518",
        f"from_jax takes a function that jax.jit made, or what it lowered, not {given}",
        help="write from_jax(jax.jit(function), *arguments)",
    )


class _Place:
    """Stands for leaf number `number` of one of JAX's trees."""

    def __init__(self, number: int) -> None:
        self.number = number


def _tree(treedef: Any) -> Tree:
    """One of JAX's trees as ours."""
    whole = treedef.unflatten([_Place(number) for number in range(treedef.num_leaves)])
    leaves, tree = flatten(whole, lambda leaf: isinstance(leaf, _Place))
    if [leaf.number for leaf in leaves] != list(range(treedef.num_leaves)):
        raise type_error(
            "SW0518",
            f"the tree {treedef} has containers that are no dict, list, tuple or dataclass",
            help="wrap the function, so that its arguments and results are in containers of Python",
        )
    return tree


def _take_all(module: ModuleOp, lowered: Any) -> None:
    """Gives the program the arguments that JAX dropped because nothing uses them."""
    function = entry_function(module)
    block = function.body.block
    infos = lowered.in_tree.flatten_up_to(lowered.args_info)
    if len(block.args) == len(infos):
        return
    kept = kept_arguments(lowered)
    if kept is None or len(kept) != len(block.args):
        raise type_error(
            "SW0518",
            f"JAX lowered {len(infos)} arguments to {len(block.args)} and does not say which",
            help="keep all of them: jax.jit(function, keep_unused=True)",
        )
    entries = list(function.arg_attrs.data) if function.arg_attrs is not None else []
    for number, info in enumerate(infos):
        if number not in kept:
            block.insert_arg(tensor(info.shape, dtype_element(np.dtype(info.dtype))), number)
            block.args[number].location = function.location
            if entries:
                entries.insert(number, DictionaryAttr({}))
    if entries:
        function.properties["arg_attrs"] = ArrayAttr(entries)
    function.update_function_type()
