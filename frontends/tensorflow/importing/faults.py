"""The coded errors of TensorFlow's graphs: what is wrong, at which node, in which function."""

from __future__ import annotations

from shardwright.diagnostics import ShardwrightValueError
from shardwright.diagnostics.registry import coded


class GraphError(ShardwrightValueError):
    """
    A fault in a graph, a SavedModel or its variables.

    >>> print(GraphError("SW0888", "tensor 'w' has 3 bytes where its shape needs 4", help="write it again"))
    error[SW0888]: tensor 'w' has 3 bytes where its shape needs 4
      help: write it again
    """

    def __init__(self, code: str, message: str, *notes: str, help: str | None = None) -> None:
        super().__init__(coded(code, message, *notes, help=help))
        self.code, self.message = code, message
