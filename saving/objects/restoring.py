"""Objects made of what was saved: first variables, arrays and empty modules, then what refers to them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from shardwright.diagnostics import ShardwrightError
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout, Mesh
from shardwright.layout.forms.clients import Clients
from shardwright.layout.layout_map import LayoutMap
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.forms import read_signature
from shardwright.saving.objects.public_names import own_module
from shardwright.saving.objects.records import Records
from shardwright.saving.objects.values import Reader, dtype_named, hashable
from shardwright.saving.programs.loaded import LoadedFunction, LoadedModule
from shardwright.saving.programs.placement import AxisNames, Placement
from shardwright.saving.programs.programs import Place, SavedProgram, check_split
from shardwright.serialization.protos import program_pb2 as pb

DEPTH = 128
"""How deep containers may be nested."""

MAX_DEVICES = 1 << 31
"""The most devices of a mesh: no system can number more."""

Wanted: TypeAlias = "dict[str, tuple[tuple[int, ...], Any, Layout | None]]"
"""Arrays to read, by their names in the checkpoint: shape, type, and the layout in which they are due."""

ReadArrays: TypeAlias = "Callable[[Wanted], dict[str, Any]]"


class Restorer:
    """
    The objects of a saved directory, on the meshes where they shall be.

    `layouts` are other layouts for variables, by the names that they have in the checkpoint. Raises `SavingError`:
    SW0871 for messages that contradict themselves, SW0883 for meshes and layouts that do not fit.
    """

    def __init__(
        self,
        message: pb.Saved,
        mesh: Mesh | Mapping[str, Mesh] | None = None,
        axes: AxisNames | None = None,
        layouts: Mapping[str, Layout] | None = None,
        classes: Iterable[type[Any]] = (),
    ) -> None:
        self._message = message
        self._layouts: Mapping[str, Layout] = {} if layouts is None else layouts
        saved_meshes = [_mesh(item) for item in message.meshes]
        placement = Placement(
            saved_meshes, mesh, axes, lambda number: _here(saved_meshes[number], message.meshes[number])
        )
        self._objects: dict[int, Any] = {}
        self._stored = {number: _stored(item) for number, item in self._of_kind("variable", "array")}
        layouts_saved = {number: item.layout for number, item in self._stored.items() if item.HasField("layout")}
        reader = Reader(self._mesh_at, lambda layout: self._place.layout(layout), self._object_at, Records(classes))
        self._place = Place(placement, reader, self._objects, layouts_saved)
        self._programs: dict[int, SavedProgram] = {}
        self._open: set[int] = set()

    def restore(self, read: ReadArrays) -> Any:
        """The object that was saved; `read` gives the arrays."""
        if not self._message.objects:
            raise malformed("there is no object in it")
        self._make_arrays(read)
        for number, item in self._of_kind("module"):
            self._objects[number] = self._new_module(item.module)
        for number, item in self._of_kind("module"):
            self._fill(self._objects[number], item.module)
        return self._object(0)

    def _of_kind(self, *kinds: str) -> list[tuple[int, pb.Object]]:
        return [pair for pair in enumerate(self._message.objects) if pair[1].WhichOneof("kind") in kinds]

    def _make_arrays(self, read: ReadArrays) -> None:
        wanted: Wanted = {}
        for stored in self._stored.values():
            if stored.key in wanted:
                raise malformed(f"two objects have the elements of {stored.key!r}")
            wanted[stored.key] = tuple(stored.shape), dtype_named(stored.dtype), self._due(stored)
        unknown = [name for name in self._layouts if name not in wanted]
        if unknown and not isinstance(self._layouts, LayoutMap):  # whose names are patterns
            known = ", ".join(map(repr, wanted)) or "none"
            help_text = "name one of them, or give a LayoutMap, whose names are patterns"
            raise SavingError("SW0883", f"layouts names {unknown[0]!r}; the variables are {known}", help=help_text)
        found = read(wanted)
        for number, stored in self._stored.items():
            value = found[stored.key]
            self._objects[number] = _variable(stored, value) if isinstance(stored, pb.Variable) else value

    def _due(self, stored: pb.Variable | pb.Array) -> Layout | None:
        """The layout in which an array shall come."""
        shape = tuple(stored.shape)
        layout = self._place.layout(stored.layout, shape) if stored.HasField("layout") else None
        layout = self._layouts.get(stored.key, layout)
        if layout is None:
            return None
        check_split(layout, shape, f"{stored.key!r}")
        return layout.for_rank(len(shape))

    def _new_module(self, message: pb.Module) -> Module:
        own = own_module(message.class_name, message.left_out)
        if own is not None:
            return own
        name = message.class_name.rpartition(".")[2]
        if not name.isidentifier():
            raise malformed(f"a module of the class {message.class_name!r}")
        return LoadedModule.made(name, message.left_out)

    def _fill(self, module: Module, message: pb.Module) -> None:
        for member in message.members:
            name = self._place.reader.value(member.key)
            if not isinstance(name, str):
                raise malformed(f"an attribute called {name!r}")
            vars(module)[name] = item = self._object(member.object)
            if name == "__call__" and not isinstance(item, LoadedFunction):
                raise malformed("a module is called that has no function for it")

    def _object(self, number: int) -> Any:
        if number in self._objects:
            return self._objects[number]
        if number >= len(self._message.objects) or number in self._open or len(self._open) > DEPTH:
            raise malformed(f"object {number} is not there, contains itself, or is nested too deeply")
        message = self._message.objects[number]
        kind = message.WhichOneof("kind")
        self._open.add(number)
        if kind == "container":
            self._objects[number] = self._container(message.container)
        elif kind == "function":
            self._objects[number] = self._function(message.function)
        elif kind == "value":
            self._objects[number] = self._place.reader.value(message.value)
        else:
            raise malformed(f"object {number} is of no kind that is known")
        self._open.discard(number)
        return self._objects[number]

    def _container(self, message: pb.Container) -> Any:
        items = [self._object(member.object) for member in message.members]
        if message.kind == pb.Container.DICT:
            keys = [hashable(self._place.reader.value(member.key)) for member in message.members]
            return dict(zip(keys, items, strict=True))
        return tuple(items) if message.kind == pb.Container.TUPLE else items

    def _function(self, message: pb.Function) -> LoadedFunction:
        if not message.programs:
            raise malformed(f"the function {message.name} has no program")
        signature = read_signature(message.signature) if message.HasField("signature") else None
        instance = self._object(message.instance) if message.HasField("instance") else None
        programs = [self._program(number) for number in message.programs]
        return LoadedFunction(message.name, programs, signature, message.static_names, instance)

    def _program(self, number: int) -> SavedProgram:
        if number >= len(self._message.programs):
            raise malformed(f"there is no program {number}")
        if number not in self._programs:
            self._programs[number] = SavedProgram(self._message.programs[number], self._place)
        return self._programs[number]

    def _mesh_at(self, number: int) -> Mesh:
        if number >= len(self._place.placement.meshes):
            raise malformed(f"there is no mesh {number}")
        return self._place.placement.meshes[number]

    def _object_at(self, number: int) -> Any:
        """A module or variable to which a value refers; other objects are nobody's values."""
        known = self._message.objects
        if number < len(known) and known[number].WhichOneof("kind") in ("module", "variable", "array"):
            return self._object(number)
        raise malformed(f"a value refers to object {number}, which is no module and no variable")


def _stored(item: pb.Object) -> pb.Variable | pb.Array:
    return item.variable if item.WhichOneof("kind") == "variable" else item.array


def _mesh(message: pb.Mesh) -> Mesh:
    """A mesh of so many devices, whoever has them."""
    mesh = Mesh([(axis.name, axis.size) for axis in message.axes], list(message.devices) or None, name=message.name)
    if mesh.size > MAX_DEVICES:
        raise malformed(f"a mesh of {mesh.size} devices")
    return mesh


def _here(mesh: Mesh, message: pb.Mesh) -> Mesh:
    """A saved mesh where nobody gave another: on the part of the job that it had, or spread over all processes."""
    if message.clients < 1:
        return mesh
    clients = Clients.found()
    if message.job == clients.count and message.first + message.clients <= clients.count:
        clients = clients.part(message.first, message.first + message.clients)
    try:
        mesh.client_borders(clients.count)
    except ShardwrightError as error:
        fault = f"{mesh!r} was saved by {message.clients} processes and cannot be spread over {clients.count}"
        raise SavingError("SW0883", fault, help="give load a mesh of this job: mesh=Mesh.distributed(...)") from error
    return mesh.seen_by(clients)


def _variable(message: pb.Variable, value: Any) -> Variable:
    variable = Variable(value, trainable=message.trainable)
    variable.name = message.name
    return variable
