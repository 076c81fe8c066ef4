"""`Reference`: an array that stands for whatever it holds at the moment, which `Variable` is."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from shardwright.compiler.tracing.array import TypedArray


class Reference(TypedArray):
    """
    An array whose elements change while its shape, type and name stay.

    A traced function takes it by identity: what it holds when a call begins is one more argument, what the function
    assigns to it is one more result (see `Trace.capture` and `Trace.assign`).
    """

    __slots__ = ()

    name: str

    @property
    @abstractmethod
    def held(self) -> Any:
        """
        The distributed tensor or NumPy array that it holds.

        >>> import shardwright
        >>> shardwright.Variable([1.0, 2.0]).held
        array([1., 2.], dtype=float32)
        """

    @abstractmethod
    def keep(self, value: Any) -> None:
        """
        Holds another tensor of its shape, type and layout; the old one is given up.

        >>> import shardwright, numpy
        >>> total = shardwright.Variable([1.0, 2.0])
        >>> total.keep(numpy.ones(2, "float32"))
        >>> total.value
        array([1., 1.], dtype=float32)
        """


def held(value: Any) -> Any:
    """What a reference holds; anything else is itself."""
    return value.held if isinstance(value, Reference) else value
