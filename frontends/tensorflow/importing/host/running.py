"""The host's part of a graph: evaluated in NumPy on what a call gives, before the program and after it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.evaluate import Call, Frame, Interpreter, State, Value
from shardwright.frontends.tensorflow.importing.graphs.nodes import Node, Reference
from shardwright.frontends.tensorflow.importing.host.stages import UNSEEN, Stages
from shardwright.frontends.tensorflow.importing.table import HOST, ROWS

Key = tuple[str, int]
"""A tensor: its node, and which output of it."""


class HostInterpreter(Interpreter):
    """Evaluates nodes on NumPy arrays; nothing is traced."""

    def __init__(self, state: State) -> None:
        self.state = state

    def _located(self, node: Node) -> AbstractContextManager[object]:
        return nullcontext()

    def _outputs(self, node: Node, signature: Signature, inputs: list[Value]) -> Any:
        meaning = HOST.get(node.op) or ROWS[node.op].evaluate
        call = Call(signature, self, folding=True)
        call.most = float("inf")
        return meaning(call, *inputs)


class Around:
    """
    What runs around a program: `before` gives what the program takes, `after` the results of the whole.

    Tables are filled once, when the graph is read.
    """

    def __init__(self, state: State, stages: Stages, fed: Mapping[str, Key], outputs: Sequence[Reference]) -> None:
        self._interpreter, self.stages = HostInterpreter(state), stages
        self._fed, self._outputs = fed, outputs
        needed = {(ref.node, ref.index) for node in (*stages.before, *stages.after) for ref in node.inputs}
        self.seen = frozenset(name for name, key in fed.items() if key in needed)
        """The inputs that the host reads."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """The names of the nodes that run on the host."""
        return tuple(node.name for node in (*self.stages.before, *self.stages.after) if node.op not in UNSEEN)

    def before(self, given: Mapping[str, Any]) -> tuple[Frame, list[Any]]:
        """What a call gives, by the names of inputs, on the host; and what of it the program takes."""
        fed = {key: given[name] for name, key in self._fed.items()}
        nodes = [node for node in self.stages.before if node.op not in UNSEEN]
        frame = self._interpreter.run(nodes, Frame({}, fed))
        return frame, [frame.value(ref, "the program") for ref in self.stages.given]

    def after(self, frame: Frame, results: Sequence[Any]) -> list[Any]:
        """The outputs of the whole, of what the program gives."""
        fed = {(ref.node, ref.index): value for ref, value in zip(self.stages.wanted, results, strict=True)}
        needed = {(ref.node, ref.index) for node in self.stages.after for ref in node.inputs}
        known = {key: np.asarray(value) if key in needed else value for key, value in fed.items()}
        later = Frame({}, {**frame.fed, **known})
        later.values, later.signatures = dict(frame.values), dict(frame.signatures)
        self._interpreter.run([node for node in self.stages.after if node.op not in UNSEEN], later)
        return [later.value(ref, "the output") for ref in self._outputs]
