"""What each op is called where it was written: the scopes of JAX's programs, by which profiles of XLA's are read."""

from __future__ import annotations

import re

from xdsl.dialects.builtin import ModuleOp, NameLoc, StringAttr, UnknownLoc

_FUNCTION = re.compile(r"^(?:p?jit\([^/]*\)(?:/|$))+")
"""The function around, which whoever calls the program names once more."""


def keep_names(module: ModuleOp) -> None:
    """Leaves of the ops' locations the names alone, in place: `layer/dot_general`, of whichever file and line."""
    unknown, made = UnknownLoc(), dict[str, NameLoc]()
    for op in module.walk():
        location = op.location
        op.location = unknown
        if isinstance(location, NameLoc) and (name := _FUNCTION.sub("", location.desc.data)):
            op.location = made.setdefault(name, NameLoc(StringAttr(name), unknown))
