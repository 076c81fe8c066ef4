"""What loading gives back: functions that run saved programs, and modules with variables and such functions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from xdsl.ir import Block, SSAValue

from shardwright.compiler.control.regions import told_apart
from shardwright.compiler.layouts.decided import Layouts, layouts_of
from shardwright.compiler.pipelines import run_pipeline
from shardwright.compiler.stages import Compiled, Traced
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.dtypes import kind_of, scalar_kind
from shardwright.compiler.tracing.interface import Parameter, is_argument, type_text
from shardwright.compiler.tracing.pytree import Tree, flatten, unflatten
from shardwright.compiler.tracing.trace import Trace, Tracer, current_trace
from shardwright.diagnostics import ShardwrightTypeError
from shardwright.diagnostics.faults import attribute_error
from shardwright.diagnostics.registry import coded
from shardwright.dialects.dtensor import Relaid, layout_of, meshes
from shardwright.dialects.types import native_array
from shardwright.frontends.functions.function import static_places, with_static
from shardwright.frontends.functions.recording import holding, record, tells_versions_apart
from shardwright.frontends.training.modules import Module
from shardwright.layout import Layout
from shardwright.passes.program import entry_function
from shardwright.saving.faults import SavingError
from shardwright.saving.objects.forms import call_form
from shardwright.saving.objects.values import Writer
from shardwright.saving.programs.placement import rename_meshes
from shardwright.saving.programs.programs import SavedProgram

LONG_TEXT = 400
"""How much of an argument's text messages show."""

_KINDS = {"integer": ("integer",), "float": ("integer", "float"), "complex": ("integer", "float", "complex")}
"""Which Python numbers a parameter of each kind takes."""


class LoadedFunction:
    """
    A function that was loaded: it runs the programs that were saved, and finds the right one by its arguments.

    It is called as the function that was saved, inside of traced functions as well, where its program becomes part of
    theirs and can be differentiated. Other shapes, types or static values raise `TypeError` (SW0882), which lists what
    it takes.
    """

    def __init__(
        self,
        name: str,
        programs: Sequence[SavedProgram],
        signature: inspect.Signature | None,
        static_names: Sequence[str],
        instance: Any = None,
    ) -> None:
        self.name = self.__name__ = name if instance is None else f"{type(instance).__name__}.{name}"
        self.signature = signature
        self.static_names = frozenset(static_names)
        self.instance = instance
        if signature is not None:
            own = 0 if instance is None else 1
            self.__signature__ = signature.replace(parameters=list(signature.parameters.values())[own:])
        self._programs = list(programs)
        self._numbers: dict[int, int] = {}
        self._writer = Writer([], self._number)
        self._saved = [call_form(program.arguments, signature, self._static_form) for program in self._programs]
        self._forms: dict[Hashable, tuple[Hashable, tuple[int, ...]]] = {}

    def __repr__(self) -> str:
        return f"LoadedFunction({self.name}, {len(self._programs)} program{'s' * (len(self._programs) != 1)})"

    @property
    def programs(self) -> list[Traced]:
        """The programs as they were written, in the order in which they were saved."""
        return [program.traced for program in self._programs]

    @property
    def signatures(self) -> list[str]:
        """How each program is called, a text each: `x: f32[8@batch, 16]`."""
        return [_call_text(program) for program in self._programs]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        program, leaves = self._chosen(args, kwargs)
        trace = current_trace()
        if trace is not None:
            return _inlined(program, leaves, trace)
        compiled = program.compiled_for(_layouts(leaves))
        held = holding(compiled.interface.captured)
        value = compiled.run(leaves)
        record(self, args, kwargs, value, held)
        return value

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The program for these arguments, or specs of them, as it was written."""
        return self._chosen(args, kwargs)[0].traced

    def compiled(self, *args: Any, **kwargs: Any) -> Compiled:
        """The program that a call with these arguments runs."""
        program, leaves = self._chosen(args, kwargs)
        return program.compiled_for(_layouts(leaves))

    def layouts(self, *args: Any, **kwargs: Any) -> Layouts:
        """The layouts of arguments, variables, results and all values of the program for these arguments."""
        return layouts_of(self.trace(*args, **kwargs).propagate())

    def _chosen(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[SavedProgram, list[Any]]:
        """The program for a call, and the call's arrays in the program's order."""
        leaves, tree = self._flatten(args, kwargs)
        form, order = self._form(tree)
        fitting: list[tuple[int, int]] = []
        for number, (saved, places) in enumerate(self._saved):
            if saved == form:
                program = self._programs[number]
                distance = [
                    _distance(leaves[at], program.parameters[place], program)
                    for at, place in zip(order, places, strict=True)
                ]
                if None not in distance:
                    fitting.append((sum(item or 0 for item in distance), number))
        if not fitting:
            self._refuse(leaves, tree)
        number = min(fitting)[1]
        program, places = self._programs[number], self._saved[number][1]
        arranged = dict(zip(places, [leaves[place] for place in order], strict=True))
        return program, [_taken(arranged[place]) for place in range(len(places))]

    def _flatten(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[list[Any], Tree]:
        if self.instance is not None:
            args = (self.instance, *args)
        if self.static_names:
            parameters = self.signature.parameters.values() if self.signature is not None else ()
            places = static_places(parameters, self.static_names)
            args, kwargs = with_static(args, kwargs, self.static_names, places)
        return flatten((args, kwargs), is_argument)

    def _form(self, tree: Tree) -> tuple[Hashable, tuple[int, ...]]:
        try:
            found = self._forms.get(tree)
        except TypeError:  # a static value that cannot be hashed fits no program
            return call_form(tree, self.signature, self._static_form)
        if found is None:
            found = self._forms[tree] = call_form(tree, self.signature, self._static_form)
        return found

    def _static_form(self, value: Any) -> Hashable:
        """What makes static values equal: their data."""
        try:
            return self._writer.value(value, "a value").SerializeToString(deterministic=True)
        except SavingError:
            return "other", id(value)

    def _number(self, item: Any) -> int:
        return self._numbers.setdefault(id(item), len(self._numbers))

    def _refuse(self, leaves: Sequence[Any], tree: Tree) -> NoReturn:
        given = _arguments_text(tree, map(_described, leaves))
        message = f"{self.name} was not saved for this call, with {given}{_on_meshes(_layouts(leaves))}"
        raise ShardwrightTypeError(coded("SW0882", message, *map(_line, self._programs)))


def _line(program: SavedProgram) -> str:
    return f"it was saved for {_call_text(program)}{_on_meshes([item.layout for item in program.parameters])}"


def _on_meshes(layouts: Sequence[Layout | None]) -> str:
    meshes = dict.fromkeys(layout.mesh for layout in layouts if layout is not None)
    return "".join(f", on {mesh!r}" for mesh in meshes)


def _call_text(program: SavedProgram) -> str:
    """How a program is called: its arrays by their types, static values as they are."""
    return _arguments_text(program.arguments, map(str, program.parameters))


def _arguments_text(tree: Tree, leaves: Iterable[str]) -> str:
    """Arguments as a call has them: its arrays as these texts, static values as they are."""
    args, kwargs = unflatten(tree, [_Shown(leaf) for leaf in leaves])
    given = [_brief(item) for item in args if not isinstance(item, LoadedModule)]
    return ", ".join([*given, *[f"{name}={_brief(value)}" for name, value in kwargs.items()]]) or "no arguments"


def _brief(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONG_TEXT else f"{text[:LONG_TEXT]}..."


class _Shown(str):
    """Stands for an argument in a text."""

    __repr__ = str.__str__


def _described(leaf: Any) -> str:
    if scalar_kind(leaf) is not None:
        return repr(leaf)
    array = leaf if isinstance(leaf, Array) else np.asarray(leaf)
    if array.dtype.kind not in "biufcV":
        return f"an array of {array.dtype}"
    return type_text(array.shape, array.dtype, getattr(array, "layout", None))


def _layouts(leaves: Sequence[Any]) -> list[Layout | None]:
    """In which layouts arguments come; None for those that are distributed as the program takes them."""
    return [leaf.layout if isinstance(leaf, Array) else None for leaf in leaves]


def _distance(leaf: Any, parameter: Parameter, program: SavedProgram) -> int | None:
    """How far an argument is from what a program takes: 0 is what it was saved for, None does not fit."""
    kind = scalar_kind(leaf)
    if kind is not None:
        kinds = _KINDS.get(kind_of(parameter.dtype), ())
        return None if parameter.shape or kind not in kinds else len(kinds) - 1 - kinds.index(kind)
    array = leaf if isinstance(leaf, Array) else native_array(np.asarray(leaf))
    if (array.shape, array.dtype) != (parameter.shape, parameter.dtype):
        return None
    layout: Layout | None = array.layout if isinstance(array, Array) else None
    if current_trace() is not None or layout == parameter.layout:
        return 0
    if layout is not None:  # a number for what has to be compiled for it
        return 100 if program.on_its_meshes(layout) else None
    return 0 if parameter.layout is None or parameter.layout.is_replicated else 1


def _taken(leaf: Any) -> Any:
    """The argument as an array; numbers stay what they are until the program takes them."""
    return leaf if isinstance(leaf, Array) or scalar_kind(leaf) is not None else native_array(np.asarray(leaf))


def _inlined(program: SavedProgram, leaves: Sequence[Any], trace: Trace) -> Any:
    """The program's operations as part of the one that is being traced; its results there."""
    traced = program.traced
    module, interface = traced.module.clone(), traced.interface
    run_pipeline(module, ("decompose", "inline"))
    own = {mesh.name: mesh for mesh in interface.meshes}
    named = {name: own.get(name, mesh) for name, mesh in meshes(module).items() if mesh.axis_names}
    rename_meshes(module, {name: trace.use_mesh(mesh).name for name, mesh in named.items()})
    inputs = [emit.fit(leaf, item.dtype, ()) if scalar_kind(leaf) is not None else emit.as_tracer(leaf)
              for leaf, item in zip(leaves, interface.parameters, strict=True)]  # fmt: skip
    inputs += map(emit.as_tracer, interface.captured)
    results = _written_again(entry_function(module).body.block, inputs, trace)
    count = len(results) - len(interface.updated)
    for variable, value in zip(interface.updated, results[count:], strict=True):
        trace.assign(variable, told_apart(variable, value) if tells_versions_apart() else value)
    return unflatten(interface.results, results[:count])


def _written_again(block: Block, inputs: Sequence[Tracer], trace: Trace) -> list[Tracer]:
    """Adds a block's operations to a trace, and gives what the block returns."""
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, [value.value for value in inputs], strict=True))
    homes = {mesh.name: mesh for mesh in trace.meshes}
    location = trace.location
    for op in block.ops:
        if op is block.last_op:
            break
        clone = op.clone(values)
        for inner in clone.walk():
            inner.location = location
        trace.settle(clone)
        if isinstance(clone, Relaid):
            spec = layout_of(clone.result)
            assert spec is not None
            trace.homes[clone.result] = homes[spec.mesh]
        trace.block.add_op(clone)
    assert block.last_op is not None
    return [Tracer(trace, values[value]) for value in block.last_op.operands]


class LoadedModule(Module):
    """
    A module that was loaded: its variables, modules, values and functions are reached by the names that they had.

    It has the methods that were saved, which are those that are traced functions. Attributes that could not be stored
    raise `AttributeError` (SW0882), which says what they were.
    """

    _left_out: Mapping[str, str]

    @staticmethod
    def made(class_name: str, left_out: Mapping[str, str]) -> LoadedModule:
        """A module without attributes yet, whose class has this name."""
        kind = type(class_name, (LoadedModule,), {"__doc__": LoadedModule.__doc__, "_left_out": dict(left_out)})
        return kind()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(name for name in vars(self) if not name.startswith('_'))})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        call: Callable[..., Any] | None = vars(self).get("__call__")
        if call is None:
            raise self._missing("__call__")
        return call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        raise self._missing(name)

    def _missing(self, name: str) -> Exception:
        kind = type(self).__name__
        if name.startswith("__") and name != "__call__":
            return AttributeError(f"{kind!r} object has no attribute {name!r}")
        left_out = type(self)._left_out.get(name)
        if left_out is None:
            return attribute_error(
                "SW0882",
                f"the loaded {kind} has no attribute {name!r}",
                help="methods are saved if they are traced functions that were called, or named in signatures=",
            )
        return attribute_error("SW0882", f"{name!r} of the loaded {kind} was not stored: it was a {left_out}")
