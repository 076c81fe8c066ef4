"""Modules as messages of `ir.proto`, and back, exactly: what a compiled program is stored as."""

from __future__ import annotations

import io
from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from shardwright._collector import collector_paused
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects import make_context
from shardwright.dialects.text.verify import verify_module
from shardwright.serialization.errors import IrProtoError
from shardwright.serialization.ir.attributes import Payloads
from shardwright.serialization.ir.kinds import LARGEST_BLOB
from shardwright.serialization.ir.reading import ModuleReader
from shardwright.serialization.ir.writing import ModuleWriter
from shardwright.serialization.protos import ir_pb2

__all__ = ["LARGEST_BLOB", "IrProtoError", "module_from_proto", "module_to_proto", "read_message"]


def module_to_proto(module: ModuleOp, context: Context | None = None) -> ir_pb2.Module:
    """
    The message that holds a module, of any stage: equal modules give equal messages.

    Large constants are copied into the message; `ir_files.write_module` writes them without. `context` is needed for
    attributes of dialects other than ours. Raises `IrProtoError` (SW0857) for a module that uses values from outside of
    it.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> message = module_to_proto(parse_module("func.func @main() { return }"))
    >>> [message.names[operation.name] for operation in message.operations]
    ['builtin.module', 'func.func', 'func.return']
    """
    with collector_paused():
        writer = ModuleWriter(module, context)
    message = writer.message
    for payload in writer.payloads:
        message.blobs.add(data=bytes(payload))
    return message


def module_from_proto(message: ir_pb2.Module, context: Context | None = None, *, verify: bool = False) -> ModuleOp:
    """
    The module that a message holds: equal to the one that was written in text, locations, names and bits.

    Raises `IrProtoError` (SW0850 to SW0859) for a message that no module gives; with `verify`, also what
    `verify_module` finds. `context` holds the dialects, ours by default; with `allow_unregistered`, unknown operations
    are taken as they are.

    >>> from shardwright.dialects.text.parsing import parse_module
    >>> from shardwright.dialects.text.printing import print_module
    >>> module = parse_module("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }")
    >>> print_module(module_from_proto(module_to_proto(module)), debuginfo=True) == print_module(module, debuginfo=True)
    True
    """

    def payloads(places: Sequence[int]) -> bytes:
        if len(places) == 1:
            return message.blobs[places[0]].data
        joined = io.BytesIO()
        for place in places:
            joined.write(message.blobs[place].data)
        return joined.getvalue()

    return read_message(message, payloads, len(message.blobs), context, verify=verify)


def read_message(
    message: ir_pb2.Module, payloads: Payloads, blobs: int, context: Context | None, *, verify: bool
) -> ModuleOp:
    """The module of a message whose `blobs` blobs are somewhere else: `payloads` gives the data of some of them."""
    with collector_paused():
        module = ModuleReader(message, context or make_context(), payloads, blobs).read()
    if verify:
        _verify(module)
    return module


def _verify(module: ModuleOp) -> None:
    try:
        verify_module(module)
    except ShardwrightError:
        raise
    except Exception as error:
        # Verifiers may take for granted what the parser ensures.
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise IrProtoError("SW0860", f"the module cannot be verified: {reason}") from None
