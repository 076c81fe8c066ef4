"""
What a call is apart from its arrays: the form by which a saved program is found again.

Positional and keyword arguments are brought into the order of the function's parameters, dicts into the order of their
keys, and classes of records go by their names and fields. So a call finds its program however it was written.
"""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias, cast

from shardwright.compiler.tracing.pytree import LEAF, Defaults, Static, Tree, is_mapping
from shardwright.saving.faults import SavingError, malformed
from shardwright.saving.objects.records import field_names
from shardwright.saving.objects.values import DEPTH, Reader, Writer, hashable
from shardwright.serialization.protos import program_pb2 as pb

Part: TypeAlias = tuple[Hashable, tuple[int, ...]]
"""The form of a part of a call, and the numbers of the leaves in it, in the order of the form."""

_CONTAINERS = {list: pb.Tree.LIST, tuple: pb.Tree.TUPLE, dict: pb.Tree.DICT, OrderedDict: pb.Tree.DICT}
_ORDERED = OrderedDict.__name__
"""What a dict says that is an ordered one; before it could say so, it was none."""

_KINDS = {pb.PythonParameter.Kind.Value(kind.name): kind for kind in type(inspect.Parameter.KEYWORD_ONLY)}
"""Python's kinds of parameters have the same names in the message."""


def write_tree(tree: Tree | Static, writer: Writer, where: str, depth: int = 0) -> pb.Tree:
    """A tree as a message; `SavingError` (SW0865) for classes and static values that cannot be stored."""
    if isinstance(tree, Static):
        return pb.Tree(kind=pb.Tree.STATIC, value=writer.value(tree.value, where))
    if tree == LEAF:
        return pb.Tree(kind=pb.Tree.LEAF)
    if tree.kind is None:
        return pb.Tree(kind=pb.Tree.NONE)
    if isinstance(tree.kind, Defaults):
        raise SavingError("SW0865", f"{where} is a defaultdict, which cannot be stored", help="use a dict")
    if depth > DEPTH:
        raise SavingError("SW0865", f"{where} is nested more than {DEPTH} levels deep", help="make it flatter")
    named = [f".{key}" if field_names(tree.kind) else f"[{key!r}]" for key in tree.keys]
    named = named or [f"[{place}]" for place in range(len(tree.parts))]
    parts = [write_tree(part, writer, where + name, depth + 1) for part, name in zip(tree.parts, named, strict=False)]
    if tree.kind in _CONTAINERS:
        keys = [writer.value(key, f"a key of {where}") for key in tree.keys]
        name = _ORDERED if tree.kind is OrderedDict else ""
        return pb.Tree(kind=_CONTAINERS[tree.kind], class_name=name, keys=keys, parts=parts)
    return _write_fields(tree.kind, parts, where)


def _write_fields(kind: type, parts: list[pb.Tree], where: str) -> pb.Tree:
    """A named tuple or a dataclass."""
    names = field_names(kind)
    if names is None or len(names) != len(parts) or hasattr(kind, "named_variables"):
        raise SavingError("SW0865", f"{where} is a {kind.__name__}, which cannot be stored")
    form = pb.Tree.NAMED_TUPLE if issubclass(kind, tuple) else pb.Tree.DATACLASS
    keys = [pb.Value(text=name) for name in names]
    return pb.Tree(kind=form, class_name=kind.__name__, keys=keys, parts=parts)


def write_call(tree: Tree, writer: Writer, names: Sequence[str], where: str) -> pb.Tree:
    """The tree of a call, whose positional arguments have these names, as far as they are known."""
    args, kwargs = tree.parts
    count = len(args.parts)
    known = [*names[:count], *map(str, range(len(names), count)), *kwargs.keys]
    parts = [
        write_tree(part, writer, f"argument {name} of {where}")
        for part, name in zip((*args.parts, *kwargs.parts), known, strict=True)
    ]
    keys = [writer.value(key, "the name of an argument") for key in kwargs.keys]
    given = pb.Tree(kind=pb.Tree.TUPLE, parts=parts[:count])
    named = pb.Tree(kind=pb.Tree.DICT, keys=keys, parts=parts[count:])
    return pb.Tree(kind=pb.Tree.TUPLE, parts=[given, named])


def read_tree(message: pb.Tree, reader: Reader) -> Tree | Static:
    """The tree of a message; `SavingError` (SW0871) for one that is none."""
    if message.kind == pb.Tree.STATIC:
        return Static(reader.value(message.value))
    if message.kind == pb.Tree.LEAF:
        return LEAF
    if message.kind == pb.Tree.NONE:
        return Tree(None)
    parts = tuple(read_tree(part, reader) for part in message.parts)
    if message.kind in (pb.Tree.LIST, pb.Tree.TUPLE):
        return Tree(list if message.kind == pb.Tree.LIST else tuple, (), parts)
    keys = tuple(hashable(reader.value(key)) for key in message.keys)
    if len(keys) != len(parts) or len(set(keys)) != len(keys):
        raise malformed(f"a container of {len(keys)} keys and {len(parts)} parts")
    if message.kind == pb.Tree.DICT:
        return Tree(OrderedDict if message.class_name == _ORDERED else dict, keys, parts)
    if message.kind not in (pb.Tree.NAMED_TUPLE, pb.Tree.DATACLASS) or not all(isinstance(key, str) for key in keys):
        raise malformed("a container of no kind that is known")
    kind = reader.records.kind(message.class_name, keys, message.kind == pb.Tree.NAMED_TUPLE)
    return Tree(kind, () if issubclass(kind, tuple) else keys, parts)


def write_signature(signature: inspect.Signature) -> pb.Signature:
    message = pb.Signature()
    for item in signature.parameters.values():
        kind = pb.PythonParameter.Kind.Value(item.kind.name)
        message.parameters.add(name=item.name, kind=kind, optional=item.default is not item.empty)
    return message


def read_signature(message: pb.Signature) -> inspect.Signature:
    """The parameters of a Python function; defaults are only known to be there."""
    empty = inspect.Parameter.empty
    try:
        parameters = [
            inspect.Parameter(item.name, _KINDS[item.kind], default=None if item.optional else empty)
            for item in message.parameters
        ]
        return inspect.Signature(parameters)
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise malformed(f"the parameters of a function: {error}") from error


def call_form(tree: Tree, signature: inspect.Signature | None, static_form: Callable[[Any], Hashable]) -> Part:
    """
    The form of a call, by the tree of its `(args, kwargs)`, and the order in which it has its leaves.

    >>> from shardwright.compiler.tracing.pytree import flatten
    >>> signature = inspect.signature(lambda x, y: None)
    >>> one, two = (flatten(call)[1] for call in (((1,), {"y": {"b": 2, "a": 3}}), ((1, {"a": 3, "b": 2}), {})))
    >>> call_form(one, signature, repr)[0] == call_form(two, signature, repr)[0], call_form(one, signature, repr)[1]
    (True, (0, 2, 1))
    """
    numbers = iter(range(1 << 62))
    args, kwargs = tree.parts
    values = [_form(part, numbers, static_form) for part in args.parts]
    named = dict(zip(kwargs.keys, [_form(part, numbers, static_form) for part in kwargs.parts], strict=True))
    if signature is not None:
        try:
            given = signature.bind(*values, **named)
        except TypeError:  # a form that equals no other
            return object(), ()
        values, named = list(given.args), given.kwargs
    items = sorted(named.items())
    order = [number for part in (*values, *[part for _, part in items]) for number in part[1]]
    return (tuple(part[0] for part in values), tuple((name, part[0]) for name, part in items)), tuple(order)


def _form(tree: Tree | Static, numbers: Iterator[int], static_form: Callable[[Any], Hashable]) -> Part:
    if isinstance(tree, Static):
        return ("static", static_form(tree.value)), ()
    if tree == LEAF:
        return "*", (next(numbers),)
    if tree.kind is None:
        return None, ()
    parts = [_form(part, numbers, static_form) for part in tree.parts]
    if is_mapping(tree.kind):
        keyed = sorted(zip(map(static_form, tree.keys), parts, strict=True), key=lambda pair: repr(pair[0]))
        return ("dict", *[(key, part[0]) for key, part in keyed]), _joined([part for _, part in keyed])
    if tree.kind in (list, tuple):
        return (tree.kind.__name__, *[part[0] for part in parts]), _joined(parts)
    names = field_names(tree.kind) or ()
    return ("record", cast("type[Any]", tree.kind).__name__, names, *[part[0] for part in parts]), _joined(parts)


def _joined(parts: Sequence[Part]) -> tuple[int, ...]:
    return tuple(number for _, numbers in parts for number in numbers)
