"""In what an op was written: the scopes that JAX names in its location."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import CallSiteLoc, NameLoc
from xdsl.ir import Attribute

_WRAPPED = re.compile(r"(\w+)\((.*)\)")

_OF_JAX = frozenset(
    "while body cond branch scan closed_call eval_jaxpr checkpoint remat custom_jvp_call shard_map".split()
)
"""What JAX's own constructs are called where it says in what an op was written."""


def scopes_of(location: Attribute) -> tuple[str, ...]:
    """
    The scopes in which an op was written, from the outermost; none where its location does not say.

    Of what was written in a function that was called, or in the body of a loop, those of the call come first.
    """
    if isinstance(location, CallSiteLoc):
        return scopes_of(location.caller) + scopes_of(location.callee)
    return scopes_in(location.desc.data) if isinstance(location, NameLoc) else ()


def scopes_in(name: str) -> tuple[str, ...]:
    """
    The scopes that stand in what JAX says of an op's place, those of a gradient being those of what it is of.

    >>> scopes_in("jit(step)/jvp(layer)/while/body/hidden/mul"), scopes_in("jit(step)/transpose(jvp(layer))/mul")
    (('layer', 'hidden'), ('layer',))
    """
    found: list[str] = []
    for part in name.split("/")[:-1]:
        wrapped = _WRAPPED.fullmatch(part)
        while wrapped is not None:
            part = "" if wrapped[1] in ("jit", "pjit") else wrapped[2]
            wrapped = _WRAPPED.fullmatch(part)
        if part and part not in _OF_JAX:
            found.append(part)
    return tuple(found)
