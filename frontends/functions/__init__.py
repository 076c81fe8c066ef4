"""Traced functions, gradients, tapes, distributed tensors, and how array functions run at once."""

from shardwright.compiler.control.gradients import checkpoint
from shardwright.frontends.functions.dtensor import DTensor, Tensor
from shardwright.frontends.functions.function import function
from shardwright.frontends.functions.gradients import (
    custom_gradient,
    grad,
    jvp,
    stop_gradient,
    value_and_grad,
    vjp,
)
from shardwright.frontends.functions.limits import budget, explicit
from shardwright.frontends.functions.packing import pack, unpack
from shardwright.frontends.functions.relayouts import constraint, fetch, from_dlpack, relayout, relayout_like
from shardwright.frontends.functions.signature import TensorSpec
from shardwright.frontends.functions.tape import GradientTape

__all__ = [
    "DTensor",
    "GradientTape",
    "Tensor",
    "TensorSpec",
    "budget",
    "checkpoint",
    "constraint",
    "custom_gradient",
    "explicit",
    "fetch",
    "from_dlpack",
    "function",
    "grad",
    "jvp",
    "pack",
    "relayout",
    "relayout_like",
    "stop_gradient",
    "unpack",
    "value_and_grad",
    "vjp",
]
