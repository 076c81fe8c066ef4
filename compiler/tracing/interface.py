"""From a Python function and its arguments to a traced module."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects.builtin import LocationAttr, ModuleOp, NameLoc
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, Region

from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array, Namespace
from shardwright.compiler.tracing.dtypes import WIDE, DType, brief, default_dtype, kind_of, scalar_kind
from shardwright.compiler.tracing.pytree import LEAF, Tree, flatten, paths, unflatten
from shardwright.compiler.tracing.reference import Reference
from shardwright.compiler.tracing.trace import Trace, Tracer, tracing
from shardwright.compiler.values import border_layouts, layout_for
from shardwright.diagnostics import Diagnostic, ShardwrightValueError
from shardwright.diagnostics.faults import type_error
from shardwright.dialects.dtensor import MeshOp, layout_of, meshes, with_layout
from shardwright.dialects.stablehlo import ConvertOp
from shardwright.dialects.text.locations import definition_location, fault
from shardwright.dialects.types import (
    dtype_element,
    element_dtype,
    element_of,
    has_array_type,
    native_array,
    shape_of,
    tensor,
)
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.plain import mesh_of, plain_mesh, plain_spec, spec_of
from shardwright.passes.rewriter import retype
from shardwright.passes.stages import set_stage

Op = TypeVar("Op", bound=Operation)

REPLICATION_LIMIT = 64 * 1024
"""The most bytes of a NumPy argument that is replicated without being asked (RFC: autobroadcast)."""


@dataclass(frozen=True)
class Parameter:
    """One array argument: how the function reaches it, its type, and its layout (None: on one device)."""

    name: str
    shape: tuple[int, ...]
    dtype: DType
    layout: Layout | None

    def __str__(self) -> str:
        return f"{self.name}: {type_text(self.shape, self.dtype, self.layout)}"


@dataclass(frozen=True)
class Interface:
    """
    What a program takes and gives back, on the Python side.

    `arguments` is the shape of `(args, kwargs)` with the static values in it, `results` that of the result; `captured`
    are arrays that the function found outside of its arguments. After `results` the program gives what `updated`, the
    variables to which something was assigned, hold from then on. `known` are the layouts of the captured arrays.
    """

    name: str
    arguments: Tree
    parameters: tuple[Parameter, ...]
    results: Tree
    captured: tuple[Array, ...]
    mesh: Mesh
    updated: tuple[Reference, ...] = ()
    known: tuple[Layout | None, ...] = ()
    meshes: tuple[Mesh, ...] = ()
    """All meshes, with their devices, which the program's text does not name."""
    outputs: tuple[str, ...] = ()
    """The names of results, where the program has names for them of its own: those of a graph."""
    signature: str = ""
    """The name of the SavedModel's signature that the program was, if it was one."""

    @property
    def is_current(self) -> bool:
        """Whether all variables still have the layouts for which the program was traced."""
        return all(array.layout is layout for array, layout in zip(self.captured, self.known, strict=True))


def type_text(shape: Sequence[int | None], dtype: DType, layout: Layout | None) -> str:
    """
    A tensor's type for people; None is a dim of any size.

    >>> type_text((16, None), np.dtype("float32"), None)
    'f32[16, None]'
    """
    if layout is None:
        return f"{brief(dtype)}{list(shape)}"
    return layout.describe(shape, brief(dtype))


def is_traced(leaf: Any) -> bool:
    """
    Whether an argument becomes an argument of the program.

    Arrays and numbers do. Truth values, strings, functions and the like steer Python instead: they are constants of one
    trace, and the function is traced again when they change.
    """
    return isinstance(leaf, Array | np.ndarray | np.generic) or (
        type(leaf) in (int, float, complex) or (hasattr(leaf, "__array__") and not isinstance(leaf, type))
    )


def is_argument(leaf: Any) -> bool:
    """Whether an argument is traced: variables are not, since the program takes those by identity."""
    return is_traced(leaf) and not isinstance(leaf, Reference)


def trace_function(
    function: Callable[..., Any], leaves: Sequence[Any], tree: Tree, namespace: Namespace
) -> tuple[ModuleOp, Interface]:
    """
    Runs a Python function on traced values and returns what it wrote.

    `leaves` and `tree` are the flattened `(args, kwargs)`, with `is_argument` saying what is a leaf.
    """
    trace = Trace(getattr(function, "__name__", type(function).__name__), namespace)
    place = definition_location(function)
    names = argument_names(function, tree)
    values = [_argument(trace, name, leaf, place) for name, leaf in zip(names, leaves, strict=True)]
    with tracing(trace):
        args, kwargs = unflatten(tree, [_given(*pair) for pair in zip(leaves, values, strict=True)])
        outputs, results = flatten(function(*args, **kwargs))
        returned = [_result(*pair) for pair in zip(outputs, paths(results, "result"), strict=True)]
        _lay_out_plain(trace, names, leaves, values)
        returned += [_written_back(trace, *pair) for pair in trace.assigned.items()]
    for leaf, value in zip(leaves, values, strict=True):
        if scalar_kind(leaf) is not None:
            _settle_number(value, returned)
    mesh = trace.mesh or Mesh()
    parameters = tuple(
        Parameter(name, value.shape, element_dtype(element_of(value.value)), value.layout)
        for name, value in zip(names, values, strict=True)
    )
    captured = tuple(trace.captured)
    known = tuple(array.layout for array in captured)
    interface = Interface(
        trace.name, tree, parameters, results, captured, mesh, tuple(trace.assigned), known, tuple(trace.meshes)
    )
    return _module(trace, returned, mesh, place), interface


def _written_back(trace: Trace, variable: Reference, value: Tracer) -> Tracer:
    """What a variable holds at the end, in the layout that it keeps."""
    layout = trace.argument_of(variable).layout
    return value if layout is None else emit.relayout(value, layout, f"{variable.name} keeps its layout")


def argument_names(function: Callable[..., Any], tree: Tree) -> list[str]:
    """How the function reaches each leaf of its flattened `(args, kwargs)`: `params['w'][0]`."""
    args, kwargs = tree.parts
    names: list[str] = []
    for position, part in enumerate(args.parts):
        names += paths(part, _parameter_name(function, position))
    for key, part in zip(kwargs.keys, kwargs.parts, strict=True):
        names += paths(part, key)
    return names


def positional_names(parameters: Iterable[inspect.Parameter]) -> list[str]:
    """
    The names of the parameters that take one positional argument, which come before all others.

    >>> positional_names(inspect.signature(lambda a, /, b, *c, d: None).parameters.values())
    ['a', 'b']
    """
    single = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return [item.name for item in parameters if item.kind in single]


def _parameter_name(function: Callable[..., Any], position: int) -> str:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return f"argument {position}"
    single = positional_names(parameters)
    rest = [item.name for item in parameters if item.kind is inspect.Parameter.VAR_POSITIONAL]
    if position < len(single):
        return single[position]
    return f"{rest[0]}[{position - len(single)}]" if rest else f"argument {position}"


def _argument(trace: Trace, name: str, leaf: Any, place: LocationAttr) -> Tracer:
    kind = scalar_kind(leaf)
    if kind is not None:
        return trace.argument(name, (), WIDE[kind], place)
    if isinstance(leaf, Array):
        argument = trace.argument(name, leaf.shape, leaf.dtype, place)
        if leaf.layout is not None:
            trace.lay_out(argument, leaf.layout)
        return argument
    array = emit.as_numpy(leaf, f"argument {name}")
    return trace.argument(name, array.shape, array.dtype, place)


def _given(leaf: Any, argument: Tracer) -> Tracer:
    """What the Python function gets: for a number a value of its default type, which knows the exact one."""
    kind = scalar_kind(leaf)
    if kind is None:
        return argument
    value = emit.convert(argument, default_dtype(kind))
    value.scalar_kind, value.exact = kind, argument
    return value


def _settle_number(argument: Tracer, returned: list[Tracer]) -> None:
    """
    Gives an argument the type to which its readers convert it, if they agree; otherwise the widest of these.

    Of integers the narrowest: what does not fit there is refused when it is given, and not cut off.
    """
    value, results = argument.value, {each.value for each in returned}
    readers = [use.operation for use in value.uses]
    if value in results or not all(isinstance(reader, ConvertOp) for reader in readers):
        return
    idle = [reader for reader in readers if not reader.results[0].uses and reader.results[0] not in results]
    wanted = [element_dtype(element_of(reader.results[0])) for reader in readers if reader not in idle]
    whole = [dtype for dtype in wanted if kind_of(dtype) == "integer"]
    default = default_dtype(kind_of(argument.dtype))
    dtype = min(whole, key=_width) if whole else max(wanted, key=_width, default=default)
    retype(value, tensor((), dtype_element(dtype)))
    for reader in readers:
        made = reader.results[0]
        if reader in idle or made.type == value.type:
            made.replace_all_uses_with(value)
            returned[:] = [Tracer(each.trace, value) if each.value is made else each for each in returned]
            reader.detach()
            reader.erase()


def _width(dtype: DType) -> int:
    return dtype.itemsize


def _lay_out_plain(trace: Trace, names: Sequence[str], leaves: Sequence[Any], values: Sequence[Tracer]) -> None:
    """Replicates the arguments that are not distributed, if the program turned out to have a mesh."""
    if trace.mesh is None or not trace.mesh.axis_names:
        return
    captured = [(getattr(array, "name", "captured"), array, trace.argument_of(array)) for array in trace.captured]
    for name, leaf, value in [*zip(names, leaves, values, strict=True), *captured]:
        if value.layout is None:
            mesh = trace.homes.get(value.value, trace.mesh)
            _check_replication(name, leaf, value, mesh)
            trace.lay_out(value, Layout.replicated(mesh, value.ndim))


def _check_replication(name: str, leaf: Any, value: Tracer, mesh: Mesh) -> None:
    size = value.size * value.dtype.itemsize
    if size <= REPLICATION_LIMIT or mesh.size == 1:
        return
    raise type_error(
        "SW0501",
        f"argument {name} is a {type(leaf).__name__} of {size} bytes, {brief(value.dtype)}{list(value.shape)}, "
        f"too large to be copied to all {mesh.size} devices unasked",
        f"arrays of up to {REPLICATION_LIMIT} bytes are replicated, larger ones need a layout",
        help=f"distribute it first: shardwright.relayout({name}, shardwright.Layout([...], mesh)), "
        f"or shardwright.Layout.replicated(mesh, rank={value.ndim}) if every device shall hold it all",
    )


def _result(output: Any, path: str) -> Tracer:
    if not is_traced(output) and not isinstance(output, bool):
        raise type_error(
            "SW0509",
            f"{path} is a {type(output).__name__}, which a traced function cannot return",
            help="return arrays and numbers, or dicts, lists, tuples and dataclasses of them",
        )
    return emit.as_tracer(output, "a traced function")


def _module(trace: Trace, returned: Sequence[Tracer], mesh: Mesh, place: LocationAttr) -> ModuleOp:
    for argument in trace.entry.args:
        layout = trace.layouts.get(argument)
        layout = layout if layout is not None else Layout.replicated(mesh, Tracer(trace, argument).ndim)
        layout = layout.on(trace.use_mesh(layout.mesh))
        retype(argument, with_layout(argument.type, layout.spec))
    trace.entry.add_op(_at(ReturnOp(*[value.value for value in returned]), place))
    types = [argument.type for argument in trace.entry.args], [value.value.type for value in returned]
    function = FuncOp("main", types, Region(trace.entry), visibility="public")
    declared = [_at(MeshOp(each.name, list(each.sizes.items())), place) for each in trace.meshes or [mesh]]
    module = ModuleOp([*declared, _at(function, place)])
    set_stage(module, "traced")
    return _at(module, place)


def _at(op: Op, place: LocationAttr) -> Op:
    op.location = place
    return op


def interface_of(module: ModuleOp, name: str, known: Sequence[Mesh] = ()) -> Interface:
    """What a traced program takes and gives, array by array; `known` are meshes with their devices."""
    function = _entry(module, name)
    own = meshes(module) | {mesh.name: mesh for mesh in known}
    parameters = tuple(_parameter(value, place, own) for place, value in enumerate(function.args))
    mesh = next(iter(own.values()), Mesh())
    return _array_by_array(name, parameters, len(function.function_type.outputs), mesh, known)


def _array_by_array(
    name: str, parameters: tuple[Parameter, ...], count: int, mesh: Mesh, known: Sequence[Mesh] = ()
) -> Interface:
    """What a program takes and gives whose arguments and results are in no containers."""
    arguments = Tree(tuple, (), (Tree(tuple, (), (LEAF,) * len(parameters)), Tree(dict)))
    results = LEAF if count == 1 else Tree(tuple, (), (LEAF,) * count)
    return Interface(name, arguments, parameters, results, (), mesh, meshes=tuple(known))


def plain_interface(interface: Interface) -> list[Any]:
    """The interface of a program in a file, array by array, as lists of names and numbers."""
    parameters = [[each.name, each.shape, each.dtype.name, _plain_layout(each.layout)] for each in interface.parameters]
    count = 1 if interface.results is LEAF else len(interface.results.parts)
    return [interface.name, parameters, count, plain_mesh(interface.mesh)]


def interface_from(record: Sequence[Any]) -> Interface:
    """The interface that `plain_interface` wrote down."""
    name, parameters, count, plain = record
    mesh = mesh_of(plain)
    return _array_by_array(
        name,
        tuple(
            Parameter(called, tuple(shape), np.dtype(dtype), _layout_from(layout, mesh))
            for called, shape, dtype, layout in parameters
        ),
        count,
        mesh,
    )


def _plain_layout(layout: Layout | None) -> list[Any] | None:
    return None if layout is None else [plain_spec(layout.spec), layout.uneven]


def _layout_from(record: Sequence[Any] | None, mesh: Mesh) -> Layout | None:
    return None if record is None else Layout.from_spec(spec_of(record[0]), mesh, uneven=record[1])


def _entry(module: ModuleOp, name: str) -> FuncOp:
    for op in module.ops:
        if isinstance(op, FuncOp) and op.sym_name.data == "main" and op.body.blocks:
            return op
    raise ShardwrightValueError(
        Diagnostic("SW0716", f"{name} has no function @main", help="name the entry function main")
    )


def decided(interface: Interface, module: ModuleOp) -> Interface:
    """The interface with the layouts that propagation chose for arguments without one."""
    arguments, _ = border_layouts(_entry(module, interface.name), dict.fromkeys(meshes(module), interface.mesh))
    return laid_out(interface, arguments)


def laid_out(interface: Interface, layouts: Sequence[Layout | None]) -> Interface:
    """The interface with these layouts for arguments without one, or with one that was to be decided."""
    if not interface.mesh.axis_names:
        return interface
    parameters = tuple(
        replace(parameter, layout=layout if _is_open(parameter.layout) else parameter.layout)
        for parameter, layout in zip(interface.parameters, layouts, strict=False)
    )
    return replace(interface, parameters=parameters)


def _is_open(layout: Layout | None) -> bool:
    return layout is None or layout.is_auto or not layout.spec.closed


def _parameter(value: Any, place: int, known: Mapping[str, Mesh]) -> Parameter:
    if not has_array_type(value.type):
        help_text = "arguments and results of a program are tensors of numbers or truth values"
        raise fault("SW0718", f"in_{place} has type {value.type}, which is no array", value, help=help_text)
    spec = layout_of(value)
    name = value.location.desc.data if isinstance(value.location, NameLoc) else value.name_hint
    # A number that all devices have may come from another mesh as it is.
    is_known = spec is not None and spec.closed and spec.mesh in known
    layout = layout_for(value, {}, known) if is_known else None
    return Parameter(name or f"arg{place}", shape_of(value), element_dtype(value.type), layout)


def matched(leaves: Sequence[Any], tree: Tree, interface: Interface) -> list[Any]:
    """The array arguments; TypeError (SW0508) where the call is not the one that was compiled."""
    if tree != interface.arguments:
        expected = ", ".join(map(str, interface.parameters))
        raise type_error(
            "SW0508",
            f"{interface.name} was compiled for other arguments",
            f"it takes {expected or 'no arrays'}",
            help="call the function itself, which compiles for each kind of arguments, or trace it again",
        )
    return [_checked(value, parameter) for value, parameter in zip(leaves, interface.parameters, strict=True)]


def _checked(value: Any, parameter: Parameter) -> Any:
    if scalar_kind(value) is not None and parameter.shape == ():
        return value
    array = value if isinstance(value, Array) else _elements(value, parameter)
    layout = array.layout if isinstance(array, Array) else None
    fits = (array.shape, array.dtype) == (parameter.shape, parameter.dtype)
    if fits and (layout is None or layout == parameter.layout):
        return array
    raise type_error(
        "SW0508",
        f"argument {parameter.name} is {type_text(array.shape, array.dtype, layout)}",
        f"the program was compiled for {type_text(parameter.shape, parameter.dtype, parameter.layout)}",
        help="shardwright.relayout changes a layout; for another shape or type trace the function again",
    )


def _elements(value: Any, parameter: Parameter) -> np.ndarray[Any, Any]:
    if hasattr(value, "__array__"):
        return emit.as_numpy(value, f"argument {parameter.name}")
    return native_array(np.asarray(value))


def with_elements(value: Any, parameter: Parameter) -> Any:
    """The argument with its type: a Python number takes the parameter's."""
    if type(value) not in (int, float, complex):
        return value
    try:
        if type(value) is float and kind_of(parameter.dtype) in ("integer", "boolean"):
            raise TypeError("a fraction would be cut off")
        return np.asarray(value, parameter.dtype)
    except (OverflowError, TypeError) as error:
        raise type_error(
            "SW0506",
            f"argument {parameter.name} is {value!r}, which does not fit {brief(parameter.dtype)}",
            help="pass an array of the type that you mean",
        ) from error
