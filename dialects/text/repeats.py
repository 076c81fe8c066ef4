"""
Lines that repeat: an op that is written as one before it, but for the names of values, is made like that one.

Models write few operations over and over: 336 lines, names aside, make up the 14,271 of a training step of GPT-2.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.ir import Attribute, Operation, SSAValue

from shardwright.dialects.text.xdsl_patches import SPACE, LocatedParser, operands_of, type_of

_NAME = r"[0-9]+|[a-zA-Z$._-][a-zA-Z0-9$._-]*"
_LINE = re.compile(rf"%(?P<name>{_NAME})(?P<count>:[0-9]+)? = (?P<op>[^\n]*)", re.ASCII)
_LOCATION = re.compile(r" loc\(#[a-zA-Z0-9$._-]+\)$", re.ASCII)
_VALUE = re.compile(rf"%({_NAME})(?:#([0-9]+))?", re.ASCII)

Names = Sequence[tuple[str, str]]
"""Values as a line names them: the name, and the number behind its `#`, or nothing."""


@dataclass(frozen=True, slots=True)
class _Made:
    """What the ops of equal lines have in common."""

    op_class: type[Operation]
    operand_types: tuple[Attribute, ...]
    result_types: tuple[Attribute, ...]
    properties: Mapping[str, Attribute]
    attributes: Mapping[str, Attribute]


class RepeatingParser(LocatedParser):
    """
    A parser that reads each line once, and makes ops of equal lines alike.

    That is for ops without regions that take up a line alone, but for an alias of their location. Where a value is not
    defined yet, or has another type than in the line before, the line is read as any other.
    """

    def __init__(self, ctx: Context, text: str, name: str = "<text>", line_offset: int = 0) -> None:
        self._lines: dict[tuple[str, str | None, str], _Made | None] = {}
        super().__init__(ctx, text, name, line_offset)

    def parse_operation(self) -> Operation:
        content, name = self.lexer.input.content, self._current_token
        line = _LINE.match(content, self.pos)
        if line is None or "//" in line["op"]:
            return super().parse_operation()
        location = _LOCATION.search(line["op"])
        text = line["op"] if location is None else line["op"][: location.start()]
        names: Names = _VALUE.findall(text)
        key = self._parser_state.dialect_stack[-1], line["count"], _VALUE.sub("%", text)
        made = self._lines.get(key)
        operands = None if made is None else self._operands(names, made.operand_types)
        if made is None or operands is None:
            op = super().parse_operation()
            if key not in self._lines:
                self._lines[key] = self._as_made(op, names, line.end())
            return op
        op = made.op_class.create(
            operands=operands,
            result_types=made.result_types,
            properties=made.properties,
            attributes=made.attributes,
            location=self.location_at(line.start("op")),
        )
        self._last_op = op
        self._register_ssa_definition(line["name"], op.results, name.span)
        self._resume_from(line.start("op") + len(text))
        op.location = self.parse_optional_location() or op.location
        self._explicit = None
        return op

    def _operands(self, names: Names, types: Sequence[Attribute]) -> list[SSAValue] | None:
        """The values of these names; None where one is not defined yet, or has another type."""
        found: list[SSAValue] = []
        for named, type_ in zip(names, types, strict=True):
            value = self._defined(*named)
            if value is None or type_of(value) is not type_:
                return None
            found.append(value)
        return found

    def _defined(self, name: str, number: str) -> SSAValue | None:
        values, place = self.ssa_values.get(name, ()), int(number or 0)
        return values[place] if place < len(values) else None

    def _as_made(self, op: Operation, names: Names, end: int) -> _Made | None:
        """What an op has in common with those of equal lines; None where more than the line decides what it is."""
        # The next word stands behind the line: the op has ended with it, and nothing else stands on it.
        alone = SPACE.match(self.lexer.input.content, end)
        operands = operands_of(op)
        if op.regions or op.successors or alone is None or alone.end() != self.pos:
            return None
        if len(names) != len(operands) or any(
            self._defined(*named) is not operand for named, operand in zip(names, operands, strict=True)
        ):
            return None
        types = tuple(map(type_of, operands)), tuple(map(type_of, op.results))
        return _Made(type(op), *types, dict(op.properties), dict(op.attributes))
