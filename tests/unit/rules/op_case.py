"""One op as a small program: what the lists of ops whose rules are checked consist of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from shardwright.rules.proof.trial import Draw, draw_small


@dataclass(frozen=True)
class Case:
    """One op as a program, and how to draw its inputs."""

    name: str
    text: str
    draw: Draw = draw_small

    @property
    def op(self) -> str:
        """The op's name."""
        found = re.search(r"%r(?::\d+)? = \"?(\w+\.\w+)", self.text)
        assert found is not None
        return found[1]


def case(
    name: str,
    line: str,
    operands: Sequence[str] = (),
    results: Sequence[str] = (),
    constants: Sequence[str] = (),
    draw: Draw = draw_small,
) -> Case:
    """
    The program of the op `line`, whose operands are `%a`, `%b` ...

    `TYPES` stands for the signature; `operands` and `results` are the tensors' shapes and elements.
    """
    types = [f"tensor<{operand}>" for operand in operands]
    outputs = [f"tensor<{result}>" for result in results]
    arguments = ", ".join(f"%{letter}: {type_}" for letter, type_ in zip("abcdef", types, strict=False))
    signature = f"({', '.join(types)}) -> ({', '.join(outputs)})"
    names = ", ".join(f"%r#{number}" for number in range(len(outputs))) if len(outputs) > 1 else "%r"
    count = f":{len(outputs)}" if len(outputs) > 1 else ""
    body = "\n".join([*constants, f"%r{count} = {line.replace('TYPES', signature)}"])
    text = (
        f"func.func @main({arguments}) -> ({', '.join(outputs)}) {{\n{body}\nreturn {names} : {', '.join(outputs)}\n}}"
    )
    return Case(name, text, draw)
