"""
What is saved, found by walking from one object: modules, containers, variables, arrays, functions, each once.

What is reached twice is stored once, under the first path, so that shared variables stay shared.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Container, Mapping
from dataclasses import dataclass, is_dataclass
from itertools import chain, count
from types import MethodType
from typing import Any, cast

import numpy as np

from shardwright.compiler.stages import Compiled, Partitioned, Propagated, Traced
from shardwright.compiler.tracing.interface import positional_names
from shardwright.compiler.tracing.pytree import Static, flatten
from shardwright.dialects.types import dtype_element
from shardwright.frontends.functions.dtensor import DTensor
from shardwright.frontends.functions.function import Function, function as traced_function
from shardwright.frontends.functions.signature import TensorSpec
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout, Mesh
from shardwright.saving.faults import SavingError
from shardwright.saving.objects.forms import write_signature
from shardwright.saving.objects.public_names import public_name
from shardwright.saving.objects.values import Writer
from shardwright.saving.objects.views import signature_def
from shardwright.saving.objects.walking import DEPTH, joined, parts_of
from shardwright.saving.programs.loaded import LoadedFunction
from shardwright.saving.programs.programs import write_program
from shardwright.serialization.protos import graph_pb2, program_pb2 as pb, saved_model_pb2

STAGES = (Traced, Propagated, Partitioned, Compiled)


class Collector:
    """
    The objects around one, written into a message, and the arrays in them by their names in the checkpoint.

    `signatures` says for which arguments functions are traced, by their paths; of all others the programs are taken to
    which they were compiled.
    """

    def __init__(self, message: pb.Saved, signatures: Mapping[str, Any] | None = None) -> None:
        self.message = message
        self.arrays: dict[str, Any] = {}
        self.signatures: dict[str, saved_model_pb2.SignatureDef] = {}
        self.graph: graph_pb2.GraphDef | None = None
        self.meshes: list[Mesh] = []
        self._writer = Writer(self.meshes, lambda item: self._numbers.get(id(item)))
        self._numbers: dict[Any, int] = {}
        self._alive: list[Any] = []
        self._signatures = dict(signatures or {})
        self._unused = set(self._signatures)
        self._found: list[str] = []
        self._functions: list[tuple[int, str, Any, Any]] = []
        self._open: set[int] = set()

    def collect(self, item: Any) -> None:
        """
        Writes everything that an object reaches.

        Raises `SavingError` (SW0865) for what cannot be stored, and (SW0866) for functions without a program.
        """
        self._number(item, "", 0)
        for number, path, function, instance in self._functions:
            self._write_function(number, path, function, instance)
        if self._unused:
            known = ", ".join(map(repr, self._found)) or "none"
            fault = f"signatures names {min(self._unused)!r}, where no function is"
            raise SavingError("SW0866", fault, help=f"there are functions at {known}")
        for mesh in self.meshes:
            self._write_mesh(mesh)

    def _new(self, key: Any, item: Any) -> tuple[int, pb.Object]:
        """A new object, found again by `key`; the item lives as long as its number."""
        number = self._numbers[key] = len(self.message.objects)
        self._alive.append(item)
        return number, self.message.objects.add()

    def _known(self, item: Any, path: str, depth: int) -> int | None:
        """The number of an object that was reached before; refuses one inside itself, and one that is too deep."""
        if depth > DEPTH:
            raise SavingError("SW0865", f"{path} is nested more than {DEPTH} levels deep", help="make it flatter")
        known = self._numbers.get(_key(item))
        if known is not None and id(item) in self._open:
            raise SavingError("SW0865", f"{path} contains itself")
        return known

    def _number(self, item: Any, path: str, depth: int) -> int:
        """The number of an object, which is written when it is first reached."""
        known = self._known(item, path, depth)
        if known is not None:
            return known
        number, message = self._new(_key(item), item)
        if isinstance(item, Variable):
            message.variable.name, message.variable.trainable = item.name, item.trainable
            self._write_elements(message.variable, item, path or "variable")
        elif _is_array(item):
            self._write_elements(message.array, item, path or "array")
        elif isinstance(item, Module):
            self._write_module(message, item, number, path, depth)
        elif is_function(item):
            self._note_function(message, number, item, path)
        elif isinstance(item, dict | list | tuple) and not hasattr(item, "_fields"):
            self._write_container(message, item, path, depth)
        elif isinstance(item, graph_pb2.GraphDef) and not path:
            self.graph = item
            message.graph.SetInParent()
        else:
            message.value.CopyFrom(self._writer.value(item, path or "what shall be saved"))
            if not path:
                fault = f"{type(item).__name__} alone is nothing to save"
                raise SavingError("SW0865", fault, help="save it in a dict, list or module")
        return number

    def _write_elements(self, stored: pb.Variable | pb.Array, item: Any, path: str) -> None:
        """Writes what a variable or an array is, and notes its elements for the checkpoint, by a name like its path."""
        stored.dtype = item.dtype.name
        stored.shape.extend(item.shape)
        layout: Layout | None = getattr(item, "layout", None)
        if layout is not None:
            stored.layout.CopyFrom(self._writer.layout(layout))
        plain = re.sub(r"[^\w./-]+", "_", path, flags=re.ASCII) or "_"
        name = "/".join(part if part.strip(".") else "_" for part in plain.split("/"))
        stored.key = _unused(name, self.arrays)
        self.arrays[stored.key] = item

    def _write_module(self, message: pb.Object, module: Module, number: int, path: str, depth: int) -> None:
        message.module.class_name = public_name(type(module)) or type(module).__name__
        methods = _methods_of(module, self._signatures, path)
        called = {id(method.function) for method in methods.values()}
        for name, item in vars(module).items():
            if id(item) not in called:
                self._write_attribute(message.module, name, item, joined(path, name), depth)
        for name, method in methods.items():
            if name not in vars(module):
                self._write_method(message.module, name, method, module, number, joined(path, name))

    def _write_attribute(self, message: pb.Module, name: str, item: Any, path: str, depth: int) -> None:
        structural = _is_structure(item)
        try:
            key = self._writer.value(name, f"the name of {path}")
            if is_function(item) and path not in self._signatures and not _programs(item):
                self._found.append(path)
                message.left_out[name] = "function that was never called"
                return
            value = None if structural else self._writer.value(item, path)
        except SavingError:
            message.left_out[name] = type(item).__name__
            return
        number = len(self.message.objects) if value is not None else self._number(item, path, depth + 1)
        message.members.add(key=key, object=number)
        if value is not None:
            self.message.objects.add(value=value)

    def _write_method(
        self, message: pb.Module, name: str, method: _Method, module: Module, instance: int, path: str
    ) -> None:
        self._found.append(path)
        owner = module if method.takes_module else None
        if path not in self._signatures and not _programs(method.function, owner):
            called = not is_dataclass(module)
            message.left_out[name] = "method that was never called" if called else "method of a dataclass"
            return
        number, written = self._new((id(method.function), id(module)), method.function)
        written.function.name = name
        if method.takes_module:
            written.function.instance = instance
        self._functions.append((number, path, method.function, owner))
        message.members.add(key=pb.Value(text=name), object=number)

    def _write_container(self, message: pb.Object, items: Any, path: str, depth: int) -> None:
        kinds = {dict: pb.Container.DICT, list: pb.Container.LIST, tuple: pb.Container.TUPLE}
        if type(items) not in kinds:
            fault = f"{path or 'what shall be saved'} is a {type(items).__name__}"
            raise SavingError("SW0865", fault, help="use a dict")
        self._open.add(id(items))
        message.container.kind = kinds[type(items)]
        for key, item in parts_of(items):
            if isinstance(key, Variable | Module):
                self._number(key, joined(path, "key"), depth + 1)
            written = self._writer.value(key, f"a key of {path or 'the dict'}")
            number = self._number(item, joined(path, str(key)), depth + 1)
            message.container.members.add(key=written, object=number)
        self._open.discard(id(items))

    def _note_function(self, message: pb.Object, number: int, item: Any, path: str) -> None:
        """A function, stage or bound method: its programs are written when all modules are known."""
        instance = item.instance if isinstance(item, LoadedFunction) else None
        if isinstance(item, MethodType):
            instance, item = item.__self__, item.__func__
        if instance is not None:
            message.function.instance = self._number(instance, joined(path, "self"), 0)
        message.function.name = item.interface.name if isinstance(item, STAGES) else item.name
        self._found.append(path)
        self._functions.append((number, path, item, instance))

    def _write_function(self, number: int, path: str, function: Any, instance: Any) -> None:
        message = self.message.objects[number].function
        self._unused.discard(path)
        where = path or message.name
        given = self._signatures.get(path)
        programs = _programs(function, instance) if given is None else _traced_for(function, instance, given, where)
        if not programs:
            raise SavingError("SW0866", f"{where} has no program")
        names: list[str] = []
        if isinstance(function, Function | LoadedFunction):
            message.static_names.extend(sorted(function.static_names))
            signature = _signature_of(function)
            if signature is not None:
                message.signature.CopyFrom(write_signature(signature))
                names = positional_names(signature.parameters.values())
        for traced in programs:
            message.programs.append(len(self.message.programs))
            key = where if len(programs) == 1 else f"{where}:{len(message.programs) - 1}"
            program = self.message.programs.add(signature=key)
            write_program(program, traced, self._writer, self._captured, where, names)
            self.signatures[key] = signature_def(traced, key)

    def _captured(self, array: Any) -> int:
        return self._number(array, f"captured/{getattr(array, 'name', 'array')}", 0)

    def _write_mesh(self, mesh: Mesh) -> None:
        name = _unused(mesh.name, {other.name for other in self.message.meshes})
        here = mesh.clients
        clients = here.count if here.everyone.count > 1 else 0
        devices = mesh.devices or ()
        message = self.message.meshes.add(name=name, devices=devices, clients=clients, job=here.job, first=here.first)
        for axis, size in mesh.sizes.items():
            message.axes.add(name=axis, size=size)


def _unused(name: str, taken: Container[str]) -> str:
    """The name, with a number behind it where it is taken."""
    numbered = (f"{name}_{number}" for number in count(1))
    return next(found for found in chain([name], numbered) if found not in taken)


def _key(item: Any) -> Any:
    """By what an object is found again; a bound method is made anew whenever it is looked up."""
    return (id(item.__func__), id(item.__self__)) if isinstance(item, MethodType) else id(item)


def is_function(item: Any) -> bool:
    """Whether an object is saved as programs."""
    if isinstance(item, MethodType):
        return isinstance(item.__func__, Function) and isinstance(item.__self__, Module)
    return isinstance(item, (*STAGES, Function, LoadedFunction))


def _is_array(item: Any) -> bool:
    """Whether an object is a tensor, or an array of a type that tensors have."""
    if not isinstance(item, DTensor | np.ndarray) or isinstance(item, np.ma.MaskedArray):
        return False
    try:
        dtype_element(item.dtype)
    except TypeError:
        return False
    return True


def _is_structure(item: Any, depth: int = 0) -> bool:
    """Whether an object is stored by itself: it is, or holds, something that is more than a value."""
    if isinstance(item, Variable | Module) or _is_array(item) or is_function(item):
        return True
    if not isinstance(item, dict | list | tuple) or depth > DEPTH:
        return False
    return any(_is_structure(part, depth + 1) for pair in parts_of(item) for part in pair)


@dataclass(frozen=True)
class _Method:
    """A traced function that is called on a module; `takes_module` is whether the module is its first argument."""

    function: Function[..., Any]
    takes_module: bool


def _methods_of(module: Module, signatures: Mapping[str, Any], path: str) -> dict[str, _Method]:
    """The traced functions of a module's classes by name, and other methods for which there is a signature."""
    found: dict[str, _Method] = {}
    for kind in reversed(type(module).__mro__):
        for name, item in vars(kind).items():
            if isinstance(item, Function):
                found[name] = _Method(item, True)
            elif joined(path, name) in signatures and callable(item):
                found[name] = _Method(traced_function(getattr(module, name)), False)
            else:
                found.pop(name, None)
    imported = sys.modules.get("shardwright.frontends.tensorflow.importing.importing")
    if imported is not None and isinstance(module, imported.GraphProgram):
        on_host = vars(module)["host"]
        if on_host:
            fault = f"{path or 'it'} runs in part on the host ({on_host[0]!r}), and what is saved has no such part"
            raise SavingError("SW0865", fault, help="keep the model that was imported")
        found["__call__"] = _Method(vars(module)["_function"], False)
    return found


def _signature_of(function: Any) -> inspect.Signature | None:
    """How Python calls a function; None where that cannot be found out."""
    if isinstance(function, LoadedFunction):
        return function.signature
    try:
        return inspect.signature(function.python_function)
    except (TypeError, ValueError):
        return None


def _programs(function: Any, instance: Any = None) -> list[Traced]:
    """The traced programs that a function was compiled to; of a method, those for one module."""
    if isinstance(function, MethodType):
        function, instance = function.__func__, function.__self__
    if isinstance(function, LoadedFunction):
        return function.programs
    if isinstance(function, STAGES):
        traced = function if isinstance(function, Traced) else function.traced
        return [] if traced is None else [traced]
    found = [compiled.traced for compiled in function.specialisations if compiled.traced is not None]
    if instance is not None:
        found = [traced for traced in found if _belongs(traced, instance)]
    return found or _by_input_signature(function, instance)


def _by_input_signature(function: Function[..., Any], instance: Any) -> list[Traced]:
    """The program of a function that was not called yet, if its input signature says for what."""
    signature = function.input_signature
    if signature is None or any(getattr(spec, "is_open", False) for spec in flatten(signature)[0]):
        return []
    return [function.trace(*(() if instance is None else (instance,)), *signature)]


def _belongs(traced: Traced, instance: Any) -> bool:
    """Whether a method's program was made for this module: it is the first argument."""
    args = traced.interface.arguments.parts[0].parts
    return bool(args) and isinstance(args[0], Static) and args[0].value is instance


def _traced_for(function: Any, instance: Any, given: Any, where: str) -> list[Traced]:
    """The programs of a function for the arguments that were given: one call, or a list of them."""
    if not isinstance(function, Function):
        raise SavingError("SW0866", f"{where} has its programs already and cannot be traced for others")
    calls = cast("list[Any]", given) if isinstance(given, list) else [given]
    return [_trace(function, instance, call, where) for call in calls]


def _trace(function: Function[..., Any], instance: Any, call: Any, where: str) -> Traced:
    own = () if instance is None else (instance,)
    if isinstance(call, dict):
        return function.trace(*own, **cast("dict[str, Any]", call))
    if isinstance(call, TensorSpec | DTensor | np.ndarray):
        call = (call,)
    if not isinstance(call, tuple):
        help_text = "give a tuple of positional arguments, a dict of named ones, or a list of such calls"
        raise SavingError("SW0866", f"the signature of {where} is a {type(call).__name__}", help=help_text)
    return function.trace(*own, *cast("tuple[Any, ...]", call))
