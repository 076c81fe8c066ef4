"""
Programs as they are saved: the traced one, the one of each device, and how Python calls them.

A program that goes to the mesh for which it was saved runs as it is, without any pass. On another mesh, or when a
variable was moved since, the traced program is written for that and partitioned anew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp
from xdsl.ir import Attribute

from shardwright.compiler.stages import Compiled, Traced
from shardwright.compiler.tracing.array import Array
from shardwright.compiler.tracing.interface import Interface, Parameter
from shardwright.compiler.tracing.pytree import Static, Tree, paths
from shardwright.compiler.tracing.reference import Reference
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.dtensor import layout_of, meshes
from shardwright.dialects.dtensor.attributes import LayoutAttr
from shardwright.dialects.text.verify import verify_module
from shardwright.dialects.types import element_dtype, shape_of, tensor_type
from shardwright.frontends.functions.dtensor import BACKEND, fixed
from shardwright.layout import Layout, Mesh
from shardwright.layout.check import check_spec
from shardwright.layout.forms.text import read_spec
from shardwright.layout.spec import LayoutSpec
from shardwright.passes.program import entry_function
from shardwright.passes.stages import (
    GLOBAL_TYPE_ARGUMENT,
    LAYOUT_ARGUMENT,
    check_layout,
    stage_of,
    uneven_values,
    verify_recorded_stage,
)
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.forms import read_tree, write_call, write_tree
from shardwright.saving.objects.values import Reader, Writer, dtype_named
from shardwright.saving.programs.placement import Placement, placed_module, relay_captured
from shardwright.serialization.ir.proto import module_from_proto, module_to_proto
from shardwright.serialization.protos import ir_pb2, program_pb2 as pb

_Type: TypeAlias = "tuple[tuple[int, ...], Any, tuple[Any, LayoutSpec] | None] | None"
"""The shape and the element type of a whole array, and how it is split."""

LOCAL_CONSTANTS = 1 << 20
"""The most bytes of large constants that are stored a second time, in the program of each device."""


def write_program(
    message: pb.Program,
    traced: Traced,
    writer: Writer,
    number_of: Callable[[Any], int],
    where: str,
    names: Sequence[str] = (),
) -> None:
    """
    Fills a message with a program and all that it needs to run; `number_of` gives the numbers of what it captured.

    `where` is how its users reach it, `names` are those of its positional arguments. Raises `SavingError` (SW0865) for
    static values that cannot be stored.
    """
    interface = traced.interface
    message.name = interface.name
    message.arguments.CopyFrom(write_call(interface.arguments, writer, names, where))
    message.results.CopyFrom(write_tree(interface.results, writer, f"the result of {where}"))
    message.captured.extend([number_of(array) for array in interface.captured])
    message.updated.extend([number_of(variable) for variable in interface.updated])
    message.traced.CopyFrom(module_to_proto(traced.module))
    known = {mesh.name: mesh for mesh in interface.meshes}
    for name, mesh in (meshes(traced.module) | known).items():
        message.meshes.add(name=name, mesh=writer.mesh(mesh), known=name in known)
    decided = interface.parameters
    if len(message.meshes) <= 1:
        partitioned = traced.partition()
        decided = partitioned.interface.parameters
        local = module_to_proto(partitioned.module)
        if sum(len(blob.data) for blob in local.blobs) <= LOCAL_CONSTANTS:
            message.local.CopyFrom(local)
    pairs = zip(interface.parameters, decided, strict=True)
    message.parameters.extend([_write_parameter(given, final, writer) for given, final in pairs])


def _write_parameter(given: Parameter, decided: Parameter, writer: Writer) -> pb.Parameter:
    message = pb.Parameter(name=given.name, dtype=given.dtype.name, shape=given.shape)
    for parameter, field in ((given, message.layout), (decided, message.decided)):
        if parameter.layout is not None:
            field.CopyFrom(writer.layout(parameter.layout))
    return message


@dataclass
class Place:
    """
    What saved programs find around them: the placement of their meshes, how values are read, and the saved objects.

    `layouts` are those in which variables and arrays were saved.
    """

    placement: Placement
    reader: Reader
    objects: Mapping[int, Any]
    layouts: Mapping[int, pb.Layout]

    def layout(self, message: pb.Layout, shape: tuple[int, ...] | None = None) -> Layout:
        """A layout on the meshes as they are now; of a `shape`, one that may be uneven if it was when it was saved."""
        if message.mesh >= len(self.placement.saved):
            raise malformed(f"there is no mesh {message.mesh}")
        saved = self.placement.saved[message.mesh]
        spec = read_spec(message.text, saved.name)
        found = self.placement.layout(message.mesh, spec)
        fault = None if shape is None else check_spec(spec, shape, saved)
        was_uneven = fault is not None and fault.code == "SW0104"
        return Layout.from_spec(found.spec, found.mesh, uneven=True) if was_uneven else found

    def array(self, number: int, what: str) -> Any:
        """A variable or a tensor among the objects."""
        found = self.objects.get(number)
        if isinstance(found, np.ndarray):
            return fixed(found)
        if not isinstance(found, Array):
            raise malformed(f"{what} uses object {number}, which is no variable and no tensor")
        return found


class SavedProgram:
    """
    A program that was saved: it is read when it is first needed.

    `arguments` and `results` are the trees of a call; `parameters` its arrays, in the layouts in which they are taken.
    """

    def __init__(self, message: pb.Program, place: Place) -> None:
        self._message = message
        self._place = place
        self._compiled: Compiled | None = None
        self._variants: dict[tuple[Layout | None, ...], Compiled] = {}
        self.name = message.name
        self.arguments = _call_tree(read_tree(message.arguments, place.reader), message.name)
        self.results: Any = read_tree(message.results, place.reader)
        self.captured = [place.array(number, message.name) for number in message.captured]
        self.updated = [place.array(number, message.name) for number in message.updated]
        if not {id(array) for array in self.captured if isinstance(array, Reference)} >= set(map(id, self.updated)):
            raise malformed(f"{self.name} updates something that is no variable of its own")
        if any(mesh.mesh >= len(place.placement.saved) for mesh in message.meshes):
            raise malformed(f"{self.name} is on a mesh that there is not")
        self.given = [self._parameter(item, item.layout, item.HasField("layout")) for item in message.parameters]
        self.parameters = [self._parameter(item, item.decided, item.HasField("decided")) for item in message.parameters]
        if len(paths(self.arguments)) != len(self.parameters):
            raise malformed(f"{self.name} takes {len(self.parameters)} arrays in {len(paths(self.arguments))} places")

    @cached_property
    def module(self) -> ModuleOp:
        """The traced program on the meshes as they are now, for variables in the layouts that were saved."""
        module = self._read_module(self._message.traced, "traced")
        symbols = {mesh.name: mesh.mesh for mesh in self._message.meshes}
        if self._moves():
            even = next(uneven_values(module), None) is None
            placed_module(module, symbols, self._place.placement)
            _verify_placed(module, self.name, even=even)
        function = entry_function(module)
        last = function.get_return_op()
        known, sides = meshes(module), (function.args, last.operands if last is not None else ())
        types = ([_type_of(value.type, layout_of(value), known) for value in values] for values in sides)
        saved = (self._place.layouts.get(number) for number in self._message.captured)
        layouts = [None if layout is None else self._place.layout(layout) for layout in saved]
        self._check(self.name, self.given, layouts, *types)
        return module

    @property
    def traced(self) -> Traced:
        """The program as it was written, for variables as they are now."""
        module, relaid = self.module, self._relaid()
        if relaid:
            module = module.clone()
            count = len(paths(self.results))
            places = [id(array) for array in self.captured]
            updated = {places.index(id(variable)): count + at for at, variable in enumerate(self.updated)}
            relay_captured(module, len(self.given), relaid, updated)
        return Traced(module, self._interface(self.given), BACKEND)

    @property
    def compiled(self) -> Compiled:
        """The program, ready to run: as it was saved, if it is where it was saved."""
        if self._compiled is None or not self._compiled.interface.is_current:
            direct = self._message.HasField("local") and not self._moves() and not self._relaid()
            self._compiled = self._as_saved() if direct else self.traced.compile()
        return self._compiled

    def compiled_for(self, layouts: Sequence[Layout | None]) -> Compiled:
        """The program for arguments that come in these layouts, None for the one in which they are taken."""
        due = tuple(
            item.layout if given is None else given for given, item in zip(layouts, self.parameters, strict=True)
        )
        if due == tuple(item.layout for item in self.parameters):
            return self.compiled
        found = self._variants.get(due)
        if found is None or not found.interface.is_current:
            found = self._variants[due] = self._relaid_for(due).compile()
        return found

    def on_its_meshes(self, layout: Layout) -> bool:
        """Whether a tensor of this layout is on a mesh of the program."""
        return layout.mesh in self._symbols()

    def _relaid_for(self, due: Sequence[Layout | None]) -> Traced:
        """The traced program with other layouts of its arguments, as if it had been traced for them."""
        traced, symbols = self.traced, self._symbols()
        module = traced.module.clone()
        changed = {
            place: replace(layout.spec, mesh=symbols[layout.mesh])
            for place, (layout, item) in enumerate(zip(due, self.parameters, strict=True))
            if layout is not None and layout != item.layout
        }
        relay_captured(module, 0, changed, {})
        parameters = [
            replace(item, layout=layout) if place in changed else item
            for place, (item, layout) in enumerate(zip(self.given, due, strict=True))
        ]
        return Traced(module, self._interface(parameters), BACKEND)

    def _symbols(self) -> dict[Mesh, str]:
        """The names in the program of the meshes as they are now."""
        return {self._place.placement.meshes[mesh.mesh]: mesh.name for mesh in self._message.meshes}

    def _as_saved(self) -> Compiled:
        module, interface = self._read_module(self._message.local, "local"), self._interface(self.parameters)
        function, known = entry_function(module), meshes(module)
        sides = (function.arg_attrs, function.res_attrs)
        types = ([_global_type(item, known) for item in attributes or ()] for attributes in sides)
        layouts = [array.layout for array in self.captured]
        self._check(f"what each device runs of {self.name}", self.parameters, layouts, *types)
        return Compiled(BACKEND(module, interface.meshes), interface, None)

    def _read_module(self, message: ir_pb2.Module, stage: str) -> ModuleOp:
        """One of the two forms of the program, on the meshes with which it was saved."""
        module = module_from_proto(message, verify=True)
        if stage_of(module) != stage:
            raise malformed(f"the {stage} program of {self.name} is in stage {stage_of(module)}")
        verify_recorded_stage(module)
        if {name: list(mesh.sizes.items()) for name, mesh in meshes(module).items()} != self._sizes():
            raise malformed(f"{self.name} was not written for the meshes with which it was saved")
        return module

    def _moves(self) -> bool:
        return any(self._place.placement.moves(mesh.mesh) for mesh in self._message.meshes)

    def _sizes(self) -> dict[str, list[tuple[str, int]]]:
        saved = self._place.placement.saved
        return {mesh.name: list(saved[mesh.mesh].sizes.items()) for mesh in self._message.meshes}

    def _interface(self, parameters: Sequence[Parameter]) -> Interface:
        here = self._place.placement.meshes
        named = [(mesh.known, _named(here[mesh.mesh], mesh.name)) for mesh in self._message.meshes]
        return Interface(
            name=self.name,
            arguments=self.arguments,
            parameters=tuple(parameters),
            results=self.results,
            captured=tuple(self.captured),
            mesh=named[0][1] if named else Mesh(),
            updated=tuple(self.updated),
            known=tuple(array.layout for array in self.captured),
            meshes=tuple(mesh for known, mesh in named if known),
        )

    def _parameter(self, message: pb.Parameter, layout: pb.Layout, is_laid_out: bool) -> Parameter:
        shape = tuple(message.shape)
        found = self._place.layout(layout, shape) if is_laid_out else None
        check_split(found, shape, f"argument {message.name} of {self.name}")
        return Parameter(message.name, shape, dtype_named(message.dtype), found)

    def _relaid(self) -> dict[int, LayoutSpec]:
        """The captured arrays that are laid out otherwise than the saved program takes them."""
        here = self._symbols()
        found: dict[int, LayoutSpec] = {}
        for at, (number, array) in enumerate(zip(self._message.captured, self.captured, strict=True)):
            saved = self._place.layouts.get(number)
            layout = None if saved is None else self._place.layout(saved)
            if array.layout == layout:
                continue
            if array.layout is None or array.layout.mesh not in here:
                raise SavingError("SW0883", f"{array!r} is on a mesh that {self.name} does not have")
            found[at] = replace(array.layout.spec, mesh=here[array.layout.mesh])
        return found

    def _check(
        self,
        what: str,
        parameters: Sequence[Parameter],
        layouts: Sequence[Layout | None],
        taken: list[_Type],
        given: list[_Type],
    ) -> None:
        """SW0871 unless a program takes and gives what its interface says; `layouts` are those of what is captured."""
        due = [(item.shape, item.dtype, _split(item.layout, len(item.shape))) for item in parameters]
        pairs = zip(self.captured, layouts, strict=True)
        captured = {id(item): (item.shape, item.dtype, _split(layout, len(item.shape))) for item, layout in pairs}
        due += [captured[id(item)] for item in self.captured]
        updated = [captured[id(item)] for item in self.updated]
        count = len(paths(self.results))
        if taken != due or given[count:] != updated or len(given) < count:
            raise malformed(f"{what} takes or gives other arrays than it is said to, or others in their places")


def _call_tree(tree: Tree | Static, name: str) -> Tree:
    """The tree, if it is one of `(args, kwargs)`."""
    if isinstance(tree, Tree) and tree.kind is tuple and len(tree.parts) == 2:
        args, kwargs = tree.parts
        fits = isinstance(args, Tree) and isinstance(kwargs, Tree) and args.kind is tuple and kwargs.kind is dict
        if fits and all(isinstance(key, str) for key in kwargs.keys):
            return tree
    raise malformed(f"the arguments of {name} are no call")


def _named(mesh: Mesh, name: str) -> Mesh:
    if mesh.name == name:
        return mesh
    return Mesh(list(mesh.sizes.items()), mesh.devices, name=name).seen_by(mesh.clients)


def _verify_placed(module: ModuleOp, name: str, *, even: bool) -> None:
    """SW0883 for a program that does not fit its meshes; one of `even` splits must have such here, too."""
    try:
        verify_recorded_stage(module, verify_module(module))
        for value in uneven_values(module) if even else ():
            spec = layout_of(value)
            assert spec is not None
            check_layout(spec, tensor_type(value), meshes(module), value, uneven=False)
    except ShardwrightError as error:
        place = error.diagnostics[0].location
        raise _misfit(error, f"{name} does not fit the mesh" + (f" at {place}" if place else "")) from error


def check_split(layout: Layout | None, shape: tuple[int, ...], what: str) -> None:
    """SW0883 for a tensor, which `what` names, that does not split evenly over the mesh as it is now."""
    try:
        if layout is not None:
            layout.local_shape(shape)
    except ShardwrightError as error:
        raise _misfit(error, what) from error


def _misfit(error: ShardwrightError, what: str) -> SavingError:
    first = error.diagnostics[0]
    return SavingError("SW0883", f"{what}: {first.message}", *first.notes, help=first.help)


def _type_of(whole: Attribute, spec: LayoutSpec | None, known: Mapping[str, Mesh]) -> _Type:
    shape = shape_of(whole)
    layout = None if spec is None else Layout.from_spec(spec, known[spec.mesh])
    return shape, element_dtype(whole), _split(layout, len(shape))


def _global_type(attributes: DictionaryAttr, known: Mapping[str, Mesh]) -> _Type:
    whole, layout = attributes.data.get(GLOBAL_TYPE_ARGUMENT), attributes.data.get(LAYOUT_ARGUMENT)
    return _type_of(whole, layout.data, known) if whole is not None and isinstance(layout, LayoutAttr) else None


def _split(layout: Layout | None, rank: int) -> tuple[Any, LayoutSpec] | None:
    """What a layout splits over which mesh, without names; there are several ways to say that it splits nothing."""
    if layout is None or not any(layout.spec.axes()):
        return None
    return tuple(layout.mesh.sizes.items()), replace(layout.for_rank(rank).spec, mesh="")
