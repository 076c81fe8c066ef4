"""Graphs and bodies of functions as nodes: what they take, and an order in which they can be evaluated."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.serialization.protos import graph_pb2


@dataclass(frozen=True, slots=True)
class Reference:
    """
    Output `index` of a node; in functions, counted within the output called `output`.

    >>> str(Reference("dense/MatMul", "product", 0))
    'dense/MatMul:product:0'
    """

    node: str
    output: str
    index: int

    def __str__(self) -> str:
        return f"{self.node}:{self.output}:{self.index}" if self.output else f"{self.node}:{self.index}"


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its inputs taken apart; `ordinal` is its place in the graph, from 1 on."""

    proto: graph_pb2.NodeDef
    name: str
    op: str
    inputs: tuple[Reference, ...]
    controls: tuple[str, ...]
    ordinal: int
    home: str

    def __str__(self) -> str:
        place = f" of function {self.home!r}" if self.home else ""
        return f"node {self.name!r} ({self.op}){place}"


def reference(text: str, *, in_function: bool = False) -> Reference:
    """
    What an input of a node, or the name of a tensor, refers to.

    >>> reference("x"), reference("split:2"), reference("split:output:2", in_function=True)
    (Reference(node='x', output='', index=0), Reference(node='split', output='', index=2), Reference(node='split', \
output='output', index=2))
    """
    name, *rest = text.split(":")
    if not rest:
        return Reference(name, "", 0)
    index = rest.pop() if rest[-1].isdecimal() else "0"
    if not name or len(rest) > (1 if in_function else 0) or len(index) > 9:
        raise GraphError("SW0886", f"{text!r} is no name of a tensor")
    return Reference(name, rest[0] if rest else "", int(index))


_MUTE = ("NoOp", "Assert", "Const", "Placeholder", "PrintV2", "VarHandleOp")
"""Operations whose nodes are no results."""


class Body:
    """The nodes of a graph or of a function, by name."""

    def __init__(self, name: str, nodes: Iterable[graph_pb2.NodeDef], arguments: Sequence[str] = ()) -> None:
        self.name = name
        self.arguments = list(arguments)
        self.is_function = bool(name)
        self._protos: dict[str, tuple[graph_pb2.NodeDef, int]] = {}
        self._nodes: dict[str, Node] = {}
        for ordinal, proto in enumerate(nodes, 1):
            if proto.name in self._protos or proto.name in arguments:
                raise GraphError("SW0886", f"{self.described} has two nodes {proto.name!r}")
            self._protos[proto.name] = proto, ordinal

    @property
    def described(self) -> str:
        """What errors call it."""
        return f"function {self.name!r}" if self.is_function else "the graph"

    @property
    def names(self) -> Collection[str]:
        """The names of all nodes."""
        return self._protos.keys()

    def node(self, name: str, wanted_by: str) -> Node:
        """The node of this name; GraphError (SW0886) where there is none."""
        found = self._nodes.get(name)
        if found is None:
            known = self._protos.get(name)
            if known is None:
                raise GraphError("SW0886", f"{wanted_by} takes {name!r}, which is not in {self.described}")
            found = self._nodes[name] = self._parsed(*known)
        return found

    def of_kind(self, kinds: Collection[str]) -> list[str]:
        """The nodes with one of these operations."""
        return [name for name, (proto, _) in self._protos.items() if proto.op in kinds]

    def unused(self) -> list[str]:
        """The nodes that no other takes, and that give something."""
        taken = {text.removeprefix("^").partition(":")[0] for proto, _ in self._protos.values() for text in proto.input}
        return [name for name, (proto, _) in self._protos.items() if name not in taken and proto.op not in _MUTE]

    def _parsed(self, proto: graph_pb2.NodeDef, ordinal: int) -> Node:
        texts = list(proto.input)
        data = [text for text in texts if not text.startswith("^")]
        controls = tuple(text[1:] for text in texts if text.startswith("^"))
        inputs = tuple(reference(text, in_function=self.is_function) for text in data)
        return Node(proto, proto.name, proto.op, inputs, controls, ordinal, self.name)

    def order(self, roots: Iterable[str], fed: Collection[tuple[str, int]] = ()) -> list[Node]:
        """
        The nodes that the roots need, each behind those that it needs itself; without recursion.

        What is `fed` needs nothing. Raises `GraphError` (SW0886) for nodes that take what there is not, or themselves.
        """
        wanted_by: dict[str, str] = {}

        def needs(name: str) -> list[str]:
            node = self.node(name, wanted_by.get(name, self.described))
            following = self._needs(node, fed)
            wanted_by.update(dict.fromkeys(following, str(node)))
            return following

        roots = [root for root in roots if root not in self.arguments]
        return [self._nodes[name] for name in _postorder(roots, needs, self._cycle)]

    def _needs(self, node: Node, fed: Collection[tuple[str, int]]) -> list[str]:
        """The nodes that a node waits for, the first one last."""
        if node.op in ("NextIteration", "RefNextIteration"):  # closes a loop of TensorFlow 1, which is refused by name
            return []
        data = [ref.node for ref in node.inputs if not fed or (ref.node, ref.index) not in fed]
        return [name for name in (*reversed(node.controls), *reversed(data)) if name not in self.arguments]

    def _cycle(self, path: list[str], back: str) -> GraphError:
        around = path[path.index(back) :]
        shown = [*around[:6], "..."] if len(around) > 6 else around
        return GraphError("SW0886", f"{self.described} has a cycle: {' <- '.join([*shown, back])}")


class Definition:
    """A function of a graph's library: its body, arguments and results."""

    def __init__(self, proto: graph_pb2.FunctionDef) -> None:
        signature = proto.signature
        self.name = signature.name
        self.signature = signature
        self.body = Body(signature.name, proto.node_def, [argument.name for argument in signature.input_arg])
        self.results: list[Reference] = []
        for argument in signature.output_arg:
            if argument.name not in proto.ret:
                raise GraphError("SW0886", f"function {self.name!r} does not say what its result {argument.name!r} is")
            self.results.append(reference(proto.ret[argument.name], in_function=True))
        self.effects = list(proto.control_ret.values())

    @cached_property
    def order(self) -> list[Node]:
        """The nodes that its results and effects need, in order."""
        return self.body.order([*(result.node for result in self.results), *self.effects])

    def unchanged(self, place: int) -> bool:
        """Whether result number `place` is the argument of that number, as loops have what they leave alone."""
        ref = self.results[place]
        while ref.node not in self.body.arguments:
            node = self.body.node(ref.node, self.name)
            if node.op != "Identity" or len(node.inputs) != 1:
                return False
            ref = node.inputs[0]
        return place < len(self.body.arguments) and ref.node == self.body.arguments[place]


class Library:
    """The functions of a graph by name."""

    def __init__(self, functions: Iterable[graph_pb2.FunctionDef]) -> None:
        self._protos: dict[str, graph_pb2.FunctionDef] = {}
        for function in functions:
            if self._protos.setdefault(function.signature.name, function) is not function:
                raise GraphError("SW0886", f"the library has two functions {function.signature.name!r}")
        self._definitions: dict[str, Definition] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._protos

    def function(self, name: str, wanted_by: str) -> Definition:
        """The function of this name; GraphError (SW0886) where there is none."""
        found = self._definitions.get(name)
        if found is None:
            if name not in self._protos:
                raise GraphError("SW0886", f"{wanted_by} calls {name!r}, and the library has no such function")
            found = self._definitions[name] = Definition(self._protos[name])
        return found

    def called_by(self, node: Node) -> list[str]:
        """The functions that a node calls."""
        found = [node.op] if node.op in self._protos else []
        for name, value in node.proto.attr.items():
            if name.startswith("_"):
                continue
            kind = value.WhichOneof("value")
            if kind == "func":
                found.append(value.func.name)
            elif kind == "list":
                found += [function.name for function in value.list.func]
        return found


def longest_first(names: Iterable[str], calls: Callable[[str], list[str]]) -> list[str]:
    """
    Functions, each behind those that it calls; GraphError (SW0886) where one calls itself.

    >>> longest_first(["f"], {"f": ["g", "h"], "g": ["h"], "h": []}.__getitem__)
    ['h', 'g', 'f']
    """

    def cycle(path: list[str], back: str) -> GraphError:
        return GraphError("SW0886", f"function {back!r} calls itself, by way of {path[-1]!r}")

    return _postorder(names, calls, cycle)


def _postorder(
    roots: Iterable[str], needs: Callable[[str], list[str]], cycle: Callable[[list[str], str], GraphError]
) -> list[str]:
    """Names, each behind those that it needs, the last one first; raises what `cycle` makes. Without recursion."""
    done: dict[str, None] = {}
    for root in roots:
        path: dict[str, list[str]] = {} if root in done else {root: list(needs(root))}
        while path:
            name = next(reversed(path))
            if not path[name]:
                done[name] = None
                path.popitem()  # not del, after which finding the last entry takes longer and longer
                continue
            following = path[name].pop()
            if following in path:
                raise cycle(list(path), following)
            if following not in done:
                path[following] = list(needs(following))
    return list(done)
