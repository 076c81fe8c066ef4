"""
What Shardwright takes from JAX that JAX does not promise to keep. All of it stands here, one function each; only
what turns bytecode into text, in a process of its own that loads nothing of ours, is `compiler/reading/bytecode_child`.

`tests/e2e/test_jax_internals_peers.py` asks each function for what it is for, with every JAX that is supported.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np


def leave_out_of_places(folder: str) -> None:
    """Makes JAX leave the files of a folder out of what it says of where ops were written."""
    import_module("jax._src.source_info_util").register_exclusion(folder)


def kept_arguments(lowered: Any) -> list[int] | None:
    """Which arguments a lowered program still takes, by their numbers; None where JAX does not say it."""
    kept = getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("kept_var_idx")
    return None if kept is None else sorted(kept)


def host_callbacks(lowered: Any) -> list[Any]:
    """The Python functions that a lowered program calls back, by the numbers that its custom calls give."""
    return list(getattr(getattr(lowered, "_lowering", None), "compile_args", {}).get("host_callbacks", ()))


def devices_of(lowered: Any) -> tuple[Any, ...]:
    """The devices for which a program was lowered, in the order of its mesh."""
    return tuple(lowered._lowering._device_list)


def shardings_of(lowered: Any) -> list[Any]:
    """The shardings that arguments, results and constraints of a lowered program were given."""
    arguments = lowered._lowering.compile_args
    names = ("in_shardings", "out_shardings", "intermediate_shardings")
    return [sharding for name in names for sharding in arguments.get(name, ())]


def shardings_of_arguments(lowered: Any) -> list[Any]:
    """For each argument that a lowered program takes its sharding, or what JAX puts where there is none."""
    return list(lowered._lowering.compile_args["in_shardings"])


def asked_of_results(lowered: Any) -> list[Any]:
    """For each result of a lowered program the sharding that it was asked to have, or what JAX puts where none was."""
    return list(lowered._lowering.compile_args["out_shardings"])


def layouts_of_results(lowered: Any) -> list[Any]:
    """For each result of a lowered program how its elements shall lie in memory; None where nobody said it."""
    return list(lowered._lowering.compile_args["out_layouts"])


def is_tracing() -> bool:
    """Whether JAX traces a function right now: whatever is called becomes part of that."""
    return not import_module("jax._src.core").trace_state_clean()


def trace_context() -> Hashable:
    """All settings and contexts on which the program of a function depends."""
    return import_module("jax._src.config").trace_context()


def is_of_jax(error: BaseException) -> bool:
    """Whether a module of JAX's own raised an error, and no function of somebody else's that it called."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return last is not None and str(last.tb_frame.f_globals.get("__name__")).startswith("jax.")


def writes_references(traced: Any) -> bool:
    """Whether a traced function reads or writes a `jax.Ref` of somebody else's."""
    kind = import_module("jax._src.state.types").RefEffect
    return any(isinstance(effect, kind) for effect in traced.jaxpr.effects)


def abstract(shape: tuple[int, ...], dtype: Any) -> Any:
    """What JAX knows of an array of such a shape and type while it traces."""
    return import_module("jax._src.core").ShapedArray(shape, dtype)


def portable(text: str) -> bytes:
    """A module's text as the portable artifact that `jax.export.Exported` holds; the same JAX reads it at once."""
    version = import_module("jaxlib.mlir.dialects.stablehlo").get_current_version()
    return import_module("jax.extend.mlir").serialize_portable_artifact(text, version, True)


def exported(text: str, name: str, takes: Sequence[Any], gives: Sequence[Any]) -> Any:
    """
    A `jax.export.Exported` of a module, whose `call` takes and gives so many arrays of these abstract values.

    JAX makes such objects of its own functions alone: this is one of those, with another program in it, which is for
    whatever devices it is called on.
    """
    jax: Any = import_module("jax")
    export: Any = import_module("jax.export")
    own = export.export(jax.jit(lambda: ()), disabled_checks=[export.DisabledSafetyCheck.platform()])()
    no_shardings = {
        f"{prefix}{side}_{kind}": (None,) * len(values)
        for side, values in (("in", takes), ("out", gives))
        for prefix, kind in (("_", "named_shardings"), ("", "shardings_hlo"))
    }
    return replace(
        own,
        fun_name=name,
        in_tree=jax.tree.structure(((0,) * len(takes), {})),
        in_avals=tuple(takes),
        out_tree=jax.tree.structure([0] * len(gives)),
        out_avals=tuple(gives),
        module_kept_var_idx=tuple(range(len(takes))),
        mlir_module_serialized=portable(text),
        **no_shardings,
    )


def calling(program: Any, functions: Sequence[Any]) -> Any:
    """
    How to call an exported program that calls Python functions back, by their numbers in this order.

    XLA is given such functions with the program that JAX compiles: here it is this one's, around the call.
    """
    if not functions:
        return program.call
    mlir: Any = import_module("jax.interpreters.mlir")
    primitive = import_module("jax.extend.core").Primitive(f"call_{program.fun_name}")
    primitive.multiple_results = True

    def types(*given: Any) -> Any:
        return list(program.out_avals)

    def lowered(context: Any, *given: Any) -> Any:
        assert not context.module_context.host_callbacks, "the program is called once, and by itself"
        for function in functions:
            context.module_context.add_host_callback(function)
        return mlir.lower_fun(program.call, multiple_results=True)(context, *given)

    primitive.def_abstract_eval(types)
    mlir.register_lowering(primitive, lowered)
    return primitive.bind


def reflectors(a: Any) -> tuple[Any, Any]:
    """The Householder reflectors of a QR factorisation, packed as LAPACK's `geqrf` packs them, and their scales."""
    return import_module("jax._src.lax.linalg").geqrf(a)


def partitioned_functions() -> Mapping[bytes, Any]:
    """
    The functions of `custom_partitioning` that were lowered and are still in use, by what their calls name.

    Each says with `partition(*static_args, mesh, operands, results)` what a device computes, and how it wants these.
    """
    return import_module("jax._src.custom_partitioning")._sharding_callbacks


def compiled_for(text: str, count: int) -> Any:
    """What XLA makes of a module's text for the first devices of JAX, with Shardy and its own partitioner."""
    jax: Any = import_module("jax")
    ir: Any = import_module("jaxlib.mlir.ir")
    import_module("jaxlib.lapack").prepare_lapack_call("potrf", np.float32)  # else calls of LAPACK lead nowhere
    devices = tuple(jax.devices()[:count])
    # The numbers of devices leave gaps where several processes have them.
    numbers = np.array([[device.id for device in devices]])
    options = import_module("jax._src.compiler").get_compile_options(1, count, device_assignment=numbers)
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    module = ir.Module.parse(text, import_module("jax._src.interpreters.mlir").make_ir_context())
    client = devices[0].client
    return client.compile_and_load(module, import_module("jaxlib._jax").DeviceList(devices), options)


class Store:
    """The texts that JAX's coordinator keeps for all processes, by name. Where it is gone, there are none."""

    def __init__(self) -> None:
        self._state: Any = import_module("jax._src.distributed").global_state

    def put(self, name: str, text: str) -> None:
        """Puts a text in the place of what was there."""
        with suppress(RuntimeError, AttributeError):
            self._state.client.key_value_set(name, text, True)

    def get(self, name: str) -> str | None:
        """What is there, if there is anything."""
        with suppress(RuntimeError, AttributeError):
            return self._state.client.key_value_try_get(name)
        return None

    def awaited(self, names: Sequence[str], seconds: float) -> list[str]:
        """
        What is there under some names, once it is.

        Raises `RuntimeError` when there is no coordinator any more, and when a text does not come within this time.
        """
        return [self._state.client.blocking_key_value_get(name, int(seconds * 1000)) for name in names]
