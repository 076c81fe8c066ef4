"""What to write instead of a name that there is not: NumPy's names and methods, and slips of the pen."""

from __future__ import annotations

from difflib import get_close_matches
from types import ModuleType
from typing import NoReturn

from shardwright.diagnostics.faults import attribute_error

ELSEWHERE = {
    "absolute": "shardwright.abs",
    "amax": "shardwright.max",
    "amin": "shardwright.min",
    "arctan2": "shardwright.atan2",
    "array": "shardwright.asarray, or numpy.array outside of traced functions",
    "concatenate": "shardwright.concat",
    "copy": "the tensor itself: no tensor ever changes",
    "dot": "shardwright.matmul",
    "flatten": "shardwright.reshape(x, (-1,))",
    "hstack": "shardwright.concat",
    "item": "float(x) or int(x), outside of traced functions",
    "power": "shardwright.pow",
    "ravel": "shardwright.reshape(x, (-1,))",
    "split": "slices, such as x[:2] and x[2:], or shardwright.unstack",
    "swapaxes": "shardwright.permute_dims",
    "tolist": "numpy.asarray(x).tolist(), outside of traced functions",
    "transpose": "shardwright.permute_dims",
    "vstack": "shardwright.concat",
}
"""NumPy's names for what is called or done otherwise here."""


def instead_of(module: ModuleType, name: str) -> str | None:
    """
    What does what the name says, or is spelled nearly like it.

    >>> import shardwright
    >>> [instead_of(shardwright, name) for name in ("concatenate", "softmax", "sun")]
    ['shardwright.concat', 'shardwright.nn.softmax', 'shardwright.sum']
    """
    public: list[str] = module.__all__
    if name in ELSEWHERE:
        return ELSEWHERE[name]
    if name in public:
        return f"shardwright.{name}"
    if callable(getattr(module.nn, name, None)):
        return f"shardwright.nn.{name}"
    near = get_close_matches(name, public, 1)
    return f"shardwright.{near[0]}" if near else None


def no_method(module: ModuleType, kind: str, name: str, properties: list[str]) -> NoReturn:
    """Refuses an attribute that an array does not have; AttributeError (SW0516)."""
    near = None if name in ELSEWHERE else get_close_matches(name, properties, 1, 0.8)
    found = f"x.{near[0]}" if near and not _is_public(module, name) else instead_of(module, name)
    called = f"{found}(x, ...)" if _is_public(module, name) else found
    raise attribute_error(
        "SW0516",
        f"a {kind} has no attribute {name!r}",
        "what is done with arrays is a function of the module, as in the array API standard",
        help=f"use {called}" if called else "docs/api.md lists the functions",
    )


def no_function(module: ModuleType, name: str) -> NoReturn:
    """Refuses a name that the module does not have; AttributeError (SW0516)."""
    found = instead_of(module, name)
    raise attribute_error(
        "SW0516",
        f"module 'shardwright' has no attribute {name!r}",
        help=f"use {found}" if found else "docs/api.md lists the functions",
    )


def _is_public(module: ModuleType, name: str) -> bool:
    return name in module.__all__ or callable(getattr(module.nn, name, None))
