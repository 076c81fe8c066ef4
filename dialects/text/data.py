"""Attributes that hold plain Python data, by how its text is read and written."""

from __future__ import annotations

from abc import ABC
from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias, TypeVar

from xdsl.ir import Data
from xdsl.parser import AttrParser
from xdsl.printer import Printer

DataT = TypeVar("DataT")
Reader: TypeAlias = Callable[[AttrParser], Any]
Writer: TypeAlias = Callable[[Any], str]


class TextAttr(Data[DataT], ABC):
    """An attribute whose data `READ` reads and `TEXT` writes, also where an op's own text has it."""

    READ: ClassVar[Reader]
    TEXT: ClassVar[Writer] = str
    ANGLED: ClassVar[bool] = False
    """Whether the attribute has angle brackets around that text, which an op has not."""

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DataT:
        if not cls.ANGLED:
            return cls.READ(parser)
        with parser.in_angle_brackets():
            return cls.READ(parser)

    def print_parameter(self, printer: Printer) -> None:
        text = type(self).TEXT(self.data)
        printer.print_string(f"<{text}>" if self.ANGLED else text)
