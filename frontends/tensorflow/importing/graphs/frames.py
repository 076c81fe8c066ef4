"""
Control flow of TensorFlow 1 as that of TensorFlow 2: of `Enter` and `Exit` a `While`, of `Switch` and `Merge` an `If`.

Freezing writes it, and so did TensorFlow 1 itself. Loops first, those inside of others before these; then branches.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.graphs.nodes import Body, Node, Reference
from shardwright.frontends.tensorflow.importing.table import definitions, supported
from shardwright.serialization.protos import graph_pb2

FLOW = ("Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Switch")

INPUTS = {"Enter": 1, "Exit": 1, "Identity": 1, "LoopCond": 1, "Merge": 2, "NextIteration": 1, "Switch": 2}
"""How many inputs what is rewritten takes."""

Nodes = dict[str, Node]

Condition = Mapping[str, bool]
"""Under which outcomes of which tests a node runs."""


def with_functions(graph: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """
    The graph with loops and branches as functions; the same graph where it has no control flow of TensorFlow 1.

    Raises `GraphError` (SW0886) for loops and branches that do not fit together.
    """
    if not any(node.op in FLOW for node in graph.node):
        return graph
    return _Rewriting(graph).run()


class _Rewriting:
    """Nodes by name, which change, and the functions that they call."""

    def __init__(self, graph: graph_pb2.GraphDef) -> None:
        self.graph = graph_pb2.GraphDef()
        self.graph.CopyFrom(graph)
        body = Body("", self.graph.node)
        self.nodes: Nodes = {name: body.node(name, "the graph") for name in body.names}
        for node in self.nodes.values():
            due = INPUTS.get(node.op)
            if due is not None and len(node.inputs) != due:
                raise GraphError("SW0886", f"{node} takes {due} inputs and has {len(node.inputs)}")

    def run(self) -> graph_pb2.GraphDef:
        """The graph, rewritten."""
        _Loops(self.nodes, self.add_function).run()
        _Branches(self.nodes, self.add_function, {}).run()
        del self.graph.node[:]
        self.graph.node.extend(_written(node, self.nodes) for node in self.nodes.values())
        return self.graph

    def add_function(
        self, name: str, arguments: Mapping[Reference, int], results: Sequence[tuple[Reference, int]], nodes: Nodes
    ) -> str:
        """Adds a function of these arguments, each a value and its type; branches in it are rewritten."""
        function = self.graph.library.function.add()
        function.signature.name = name
        names = {ref: f"argument_{place}" for place, ref in enumerate(arguments)}
        inside = {key: _renamed(node, names) for key, node in nodes.items()}
        _Branches(inside, self.add_function, {names[ref]: kind for ref, kind in arguments.items()}).run()
        for ref, kind in arguments.items():
            function.signature.input_arg.add(name=names[ref], type=kind)
        for place, (ref, kind) in enumerate(results):
            function.signature.output_arg.add(name=f"result_{place}", type=kind)
            function.ret[f"result_{place}"] = names.get(ref) or str(ref)
        function.node_def.extend(_written(node, inside) for node in inside.values())
        return name


AddFunction = Callable[[str, Mapping[Reference, int], Sequence[tuple[Reference, int]], Nodes], str]


def _written(node: Node, others: Collection[str]) -> graph_pb2.NodeDef:
    """The node as a message; it waits for those of the others that are left."""
    proto = graph_pb2.NodeDef()
    proto.CopyFrom(node.proto)
    del proto.input[:]
    proto.input.extend([*map(_text, node.inputs), *(f"^{name}" for name in node.controls if name in others)])
    return proto


def _text(ref: Reference) -> str:
    return f"{ref.node}:{ref.index}" if ref.index else ref.node


def _renamed(node: Node, names: Mapping[Reference, str]) -> Node:
    inputs = tuple(Reference(names[ref], "", 0) if ref in names else ref for ref in node.inputs)
    return Node(node.proto, node.name, node.op, inputs, (), node.ordinal, node.home)


def _made(name: str, op: str, inputs: Iterable[Reference], ordinal: int) -> Node:
    return Node(graph_pb2.NodeDef(name=name, op=op), name, op, tuple(inputs), (), ordinal, "")


def _copy(node: Node, source: Reference, kind: int) -> Node:
    """A node that is `source` under the name of another one."""
    made = _made(node.name, "Identity", [source], node.ordinal)
    _attributes(made)["T"].type = kind
    return made


def _attributes(node: Node) -> Any:
    """The attributes of a node that is made here; types are TensorFlow's numbers."""
    return node.proto.attr


def _type(node: Node) -> int:
    if "T" not in node.proto.attr:
        raise GraphError("SW0887", f"{node} has no attribute 'T'")
    return node.proto.attr["T"].type


def _kind_of(nodes: Nodes, ref: Reference, given: Mapping[str, int]) -> int:
    """TensorFlow's type of what a node, or an argument, gives."""
    if ref.node in given:
        return given[ref.node]
    node = nodes.get(ref.node)
    if node is None:
        raise GraphError("SW0886", f"{ref.node!r} is taken, and is not in the graph")
    if node.op in FLOW:
        return _type(node)
    if not supported(node.op):
        return graph_pb2.DT_FLOAT  # refused by its name afterwards
    kinds = Signature(node, definitions()[node.op]).output_types
    if ref.index >= len(kinds):
        raise GraphError("SW0886", f"{node} has no output {ref.index}")
    return kinds[ref.index]


def _behind(nodes: Nodes, roots: Iterable[Reference], is_end: Callable[[Reference], bool]) -> Nodes:
    """
    The nodes that the roots need, up to what is given.

    Raises `GraphError`: SW0886 for parts of other loops among them, SW0885 where one waits for a change of a variable.
    """
    found: Nodes = {}
    waiting = [ref for ref in roots if not is_end(ref)]
    while waiting:
        name = waiting.pop().node
        if name in found:
            continue
        if name not in nodes:
            raise GraphError("SW0886", f"{name!r} is taken, and is not in the graph")
        node = nodes[name]
        if node.op in ("Exit", "Enter", "LoopCond", "NextIteration"):
            raise GraphError("SW0886", f"{node} belongs to another loop than what takes it")
        _check_waiting(nodes, node)
        found[name] = node
        waiting += [ref for ref in node.inputs if not is_end(ref)]
    return {name: node for name, node in nodes.items() if name in found}


CHANGES = ("Assign", "ResourceApply", "ResourceScatter", "Scatter", "Apply")
"""How operations begin that change variables."""


def _check_waiting(nodes: Nodes, node: Node) -> None:
    """GraphError where a node waits for a variable to change: functions keep what is taken, not what is waited for."""
    waiting, seen = list(node.controls), set[str]()
    while waiting:
        name = waiting.pop()
        other = nodes.get(name)
        if other is None or name in seen:
            continue
        seen.add(name)
        if other.op.startswith(CHANGES) and other.op != "ScatterNd":
            what = "changes a variable within a loop or branch of TensorFlow 1, which is not supported"
            raise GraphError("SW0885", f"{other} {what}")
        waiting += other.controls if other.op in ("NoOp", "Identity") else ()


class _Loop:
    """A frame: what enters it, what goes round, and what comes out."""

    def __init__(self, name: str, nodes: Nodes, users: Mapping[str, Sequence[Node]]) -> None:
        self.name, self.nodes = name, nodes
        enters = [node for node in nodes.values() if node.op == "Enter" and _frame(node) == name]
        self.merges: list[Node] = []
        self.starts: list[Node] = []
        self.constants: list[Node] = []
        for enter in enters:
            merges = [user for user in users.get(enter.name, ()) if user.op == "Merge"]
            if merges:
                self.merges.append(merges[0])
                self.starts.append(enter)
            else:
                self.constants.append(enter)
        self.nexts = [self._next(merge) for merge in self.merges]
        self.switches = [[user for user in users.get(m.name, ()) if user.op == "Switch"] for m in self.merges]
        tests = {switch.inputs[1].node for found in self.switches for switch in found if len(switch.inputs) == 2}
        if len(tests) != 1 or (test := nodes.get(next(iter(tests)))) is None or test.op != "LoopCond":
            raise GraphError("SW0886", f"the loop {name!r} has {len(tests)} tests, not one")
        self.condition, self.test = test.name, test.inputs[0]
        self.exits = [
            [user for switch in found for user in users.get(switch.name, ()) if user.op == "Exit"]
            for found in self.switches
        ]

    def _next(self, merge: Node) -> Node:
        for ref in merge.inputs:
            node = self.nodes.get(ref.node)
            if node is not None and node.op == "NextIteration":
                return node
        raise GraphError("SW0886", f"{merge} of the loop {self.name!r} has nothing that comes round")

    @property
    def arguments(self) -> dict[Reference, int]:
        """What each round is given, by where the body takes it; the test takes it of the merges."""
        given = {Reference(merge.name, "", 0): _type(merge) for merge in self.merges}
        return given | {Reference(node.name, "", 0): _type(node) for node in self.constants}

    def inside(self, roots: Sequence[Reference]) -> Nodes:
        """The nodes of a round behind these, with what they take of the switches taken of the merges."""
        taken = {
            Reference(switch.name, "", 1): Reference(merge.name, "", 0)
            for merge, switches in zip(self.merges, self.switches, strict=True)
            for switch in switches
        }
        ends = {*self.arguments, *taken}
        found = _behind(self.nodes, roots, ends.__contains__)
        return {name: _taking(node, taken) for name, node in found.items()}

    def source(self, ref: Reference) -> Reference:
        """The merge behind a switch of this loop."""
        for merge, switches in zip(self.merges, self.switches, strict=True):
            if any(ref == Reference(switch.name, "", 1) for switch in switches):
                return Reference(merge.name, "", 0)
        return ref


def _taking(node: Node, taken: Mapping[Reference, Reference]) -> Node:
    inputs = tuple(taken.get(ref, ref) for ref in node.inputs)
    return Node(node.proto, node.name, node.op, inputs, (), node.ordinal, node.home)


def _frame(node: Node) -> str:
    return node.proto.attr["frame_name"].s.decode("utf-8", "replace") if "frame_name" in node.proto.attr else ""


class _Loops:
    def __init__(self, nodes: Nodes, add_function: AddFunction) -> None:
        self.nodes, self.add_function = nodes, add_function

    def run(self) -> None:
        """Rewrites all loops, each when none is left inside of it."""
        left = list(dict.fromkeys(_frame(node) for node in self.nodes.values() if node.op == "Enter"))
        while left:
            ready = [name for name in left if self._rewrite(name, others=len(left) > 1)]
            if not ready:
                raise GraphError("SW0886", f"the loops {', '.join(map(repr, left[:4]))} are inside of each other")
            left = [name for name in left if name not in ready]

    def _rewrite(self, name: str, *, others: bool) -> bool:
        """Whether the loop could be rewritten; another one inside of it must be first."""
        users: dict[str, list[Node]] = {}
        for node in self.nodes.values():
            for ref in node.inputs:
                users.setdefault(ref.node, []).append(node)
        loop = _Loop(name, self.nodes, users)
        try:
            test = loop.inside([loop.test])
            body = loop.inside([node.inputs[0] for node in loop.nexts])
        except GraphError:
            if others:
                return False
            raise
        self._replace(loop, test, body)
        return True

    def _replace(self, loop: _Loop, test: Nodes, body: Nodes) -> None:
        arguments, plain = loop.arguments, f"frame/{loop.name}"
        results = [(loop.source(node.inputs[0]), _type(node)) for node in loop.nexts]
        results += [(Reference(node.name, "", 0), _type(node)) for node in loop.constants]
        condition = [(loop.source(loop.test), graph_pb2.DT_BOOL)]
        functions = {
            "cond": self.add_function(f"{plain}/test", arguments, condition, test),
            "body": self.add_function(f"{plain}/body", arguments, results, body),
        }
        entered = [*loop.starts, *loop.constants]
        made = _made(plain, "While", (node.inputs[0] for node in entered), entered[0].ordinal)
        for key, function in functions.items():
            made.proto.attr[key].func.name = function
        _attributes(made)["T"].list.type.extend(arguments.values())
        self.nodes[plain] = made
        for place, exits in enumerate(loop.exits):
            for node in exits:
                self.nodes[node.name] = _copy(node, Reference(plain, "", place), _type(node))
        gone = (*entered, *loop.merges, *loop.nexts, *(switch for found in loop.switches for switch in found))
        self._remove([*(node.name for node in gone), *test, *body, loop.condition])

    def _remove(self, names: Sequence[str]) -> None:
        """Takes nodes out, and those that took them, which nothing outside of the loop takes."""
        users: dict[str, list[str]] = {}
        for node in self.nodes.values():
            for ref in node.inputs:
                users.setdefault(ref.node, []).append(node.name)
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if self.nodes.pop(name, None) is not None:
                waiting += users.get(name, ())


_Merge = tuple[Node, Reference, Reference]
"""A merge, and what it takes if what it asks is not so, and if it is."""


class _Branches:
    """Switches and merges of a graph, or of a function whose arguments are `given` with their types."""

    def __init__(self, nodes: Nodes, add_function: AddFunction, given: Mapping[str, int]) -> None:
        self.nodes, self.add_function, self.given = nodes, add_function, given
        self.forced: dict[str, Condition] = {}
        self.order: list[Node] = []

    def run(self) -> None:
        """Rewrites all branches, the innermost first."""
        while merges := [node for node in self.nodes.values() if node.op == "Merge"]:
            conditions = self._conditions()
            groups: dict[tuple[str, tuple[tuple[str, bool], ...]], list[_Merge]] = {}
            for merge in merges:
                apart = self._taken_apart(merge, conditions)
                if apart is not None:
                    test, common, sides = apart
                    groups.setdefault((test, tuple(sorted(common.items()))), []).append((merge, *sides))
            if not groups:
                raise GraphError("SW0886", f"{merges[0]} joins no two sides of one branch")
            deepest = max(len(common) for _, common in groups)  # none of these is inside of another
            ready = {key: self._first(found) for key, found in groups.items() if len(key[1]) == deepest}
            for (test, common), found in ready.items():
                self._replace(test, dict(common), found, conditions)

    def _first(self, merges: Sequence[_Merge]) -> Sequence[_Merge]:
        """Of merges that ask the same those that need no other one: a gradient is a branch behind that of its value."""
        names = {merge.name for merge, *_ in merges}
        if len(names) == 1:
            return merges
        behind = set[str]()
        for node in self.order:
            if any(ref.node in names or ref.node in behind for ref in node.inputs):
                behind.add(node.name)
        return [one for one in merges if one[0].name not in behind]

    def _conditions(self) -> dict[Reference, Condition]:
        """Under which outcomes each node runs, and for switches each side."""
        body = Body("", [_written(node, self.nodes) for node in self.nodes.values()], list(self.given))
        found: dict[Reference, Condition] = {}
        runs: dict[str, Condition] = {}  # a switch runs whatever it asks, and so does what waits for it
        self.order = body.order(self.nodes)
        for node in self.order:
            own: dict[str, bool] = dict(self.forced.get(node.name, {}))
            if node.op == "Merge":
                apart = self._taken_apart(self.nodes[node.name], found)
                own |= apart[1] if apart else {}
            else:
                for ref in node.inputs:
                    own |= found.get(ref, {})
                for control in node.controls:
                    own |= runs.get(control, {})
            runs[node.name] = own
            if node.op == "Switch":
                test = self._test(node.inputs[1])
                found |= {Reference(node.name, "", side): {**own, test: bool(side)} for side in (0, 1)}
            else:
                found |= {Reference(node.name, "", place): own for place in range(_outputs(node))}
        return found

    def _test(self, ref: Reference) -> str:
        """What a switch asks, past nodes that only repeat it."""
        while (node := self.nodes.get(ref.node)) is not None and node.op == "Identity":
            ref = node.inputs[0]
        return _text(ref)

    def _taken_apart(
        self, merge: Node, conditions: Mapping[Reference, Condition]
    ) -> tuple[str, Condition, tuple[Reference, Reference]] | None:
        """What a merge asks, under which outcomes it runs, and what it takes if not and if so."""
        first, second = (conditions.get(ref, {}) for ref in merge.inputs)
        tests = [test for test in first if test in second and first[test] != second[test]]
        tests = tests or [test for test in {**first, **second} if (test in first) != (test in second)]
        if len(tests) != 1:
            return None
        common = {test: side for test, side in first.items() if second.get(test) == side}
        is_second = second[tests[0]] if tests[0] in second else not first[tests[0]]
        no, yes = merge.inputs if is_second else merge.inputs[::-1]
        return tests[0], common, (no, yes)

    def _replace(
        self,
        test: str,
        common: Condition,
        merges: Sequence[_Merge],
        conditions: Mapping[Reference, Condition],
    ) -> None:
        plain = f"branch/{merges[0][0].name}"
        switches = {
            Reference(node.name, "", side): node.inputs[0]
            for node in self.nodes.values()
            if node.op == "Switch" and self._test(node.inputs[1]) == test
            for side in (0, 1)
        }
        sides = [no for _, no, _ in merges], [yes for _, _, yes in merges]
        results = [[switches.get(ref, ref) for ref in side] for side in sides]

        def is_outside(ref: Reference) -> bool:
            return ref in switches or test not in conditions.get(ref, {})

        parts = [_behind(self.nodes, roots, is_outside) for roots in results]
        inside = [{name: _taking(node, switches) for name, node in part.items()} for part in parts]
        names = {name for nodes in inside for name in nodes}
        taken = [ref for nodes in inside for node in nodes.values() for ref in node.inputs if ref.node not in names]
        taken += [ref for refs in results for ref in refs if ref.node not in names]
        arguments = {ref: _kind_of(self.nodes, ref, self.given) for ref in dict.fromkeys(taken)}
        kinds = [_type(merge) for merge, *_ in merges]
        functions = [
            self.add_function(f"{plain}/{side}", arguments, list(zip(refs, kinds, strict=True)), nodes)
            for side, refs, nodes in zip(("no", "yes"), results, inside, strict=True)
        ]
        self._put(plain, test, [*arguments], functions, [*arguments.values()], kinds)
        self.forced[plain] = common
        for place, (merge, *_) in enumerate(merges):
            self.nodes[merge.name] = _copy(merge, Reference(plain, "", place), _type(merge))

    def _put(
        self,
        name: str,
        test: str,
        inputs: Sequence[Reference],
        functions: Sequence[str],
        given: Sequence[int],
        kinds: Sequence[int],
    ) -> None:
        node, _, index = test.partition(":")
        made = _made(name, "If", [Reference(node, "", int(index or 0)), *inputs], len(self.nodes))
        attributes = _attributes(made)
        attributes["else_branch"].func.name, attributes["then_branch"].func.name = functions
        attributes["Tcond"].type = graph_pb2.DT_BOOL
        attributes["Tin"].list.type.extend(given)
        attributes["Tout"].list.type.extend(kinds)
        self.nodes[name] = made


def _outputs(node: Node) -> int:
    if node.op in FLOW or not supported(node.op):
        return 2
    return max(1, len(Signature(node, definitions()[node.op]).output_types))
