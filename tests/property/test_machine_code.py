"""Random loops of whole numbers, in machine code however small they are: what each step by itself gives, to the bit."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.codegen import native
from shardwright.runtime.executable import compile_module
from shardwright.runtime.fusing import tiles

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not native.is_there(), reason="needs llvmlite (the extra fast)"),
]
Dims = tuple[int, ...]
OPS = ("add", "subtract", "maximum", "minimum", "xor")


class Loop:
    """Three rounds over some carries, most of which lack dims that others have, and so may lie over themselves."""

    def __init__(self, random: Random) -> None:
        self.sizes = [random.choice([2, 3, 5]) for _ in range(random.choice([2, 3]))]
        every = tuple(range(len(self.sizes)))
        self.carries = [every, *(self._some(every, random) for _ in range(random.choice([1, 2, 3])))]
        self.lines: list[str] = []
        values = [(f"%c{at}", dims) for at, dims in enumerate(self.carries)]
        for _ in range(random.choice([5, 7, 10])):
            values.append(self._combined(random.choice(values), random.choice(values), random))
        fitting = [[name for name, own in values if own == dims] for dims in self.carries]
        self.yielded = [names[-1] if random.random() < 0.7 else random.choice(names) for names in fitting]

    @staticmethod
    def _some(every: Dims, random: Random) -> Dims:
        count = random.choice([1, 1, len(every) - 1, len(every)])
        return every[:count] if random.random() < 0.6 else tuple(sorted(random.sample(every, count)))

    def shape(self, dims: Dims) -> list[int]:
        """The sizes of some dims."""
        return [self.sizes[dim] for dim in dims]

    def _type(self, dims: Dims) -> str:
        return f"tensor<{'x'.join(map(str, self.shape(dims)))}xi32>"

    def _put(self, line: str) -> str:
        self.lines.append(f"    %s{len(self.lines)} = stablehlo.{line}")
        return f"%s{len(self.lines) - 1}"

    def _spread(self, value: str, dims: Dims, to: Dims) -> str:
        places = [to.index(dim) for dim in dims]
        kinds = f"({self._type(dims)}) -> {self._type(to)}"
        return value if dims == to else self._put(f"broadcast_in_dim {value}, dims = {places} : {kinds}")

    def _combined(self, one: tuple[str, Dims], other: tuple[str, Dims], random: Random) -> tuple[str, Dims]:
        to = tuple(sorted({*one[1], *other[1]}))
        left, right = (self._spread(*each, to) for each in (one, other))
        return self._put(f"{random.choice(OPS)} {left}, {right} : {self._type(to)}"), to

    def text(self) -> str:
        """The program."""
        kinds, count = [self._type(dims) for dims in self.carries], len(self.carries)
        types, body = ", ".join(["tensor<i32>", *kinds]), "\n".join(self.lines)
        return f"""
func.func public @main({", ".join(f"%a{at}: {kind}" for at, kind in enumerate(kinds))}) -> ({", ".join(kinds)}) {{
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %0:{count + 1} = stablehlo.while(%at = %zero, {", ".join(f"%c{at} = %a{at}" for at in range(count))}) : {types}
  cond {{
    %1 = stablehlo.compare LT, %at, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }} do {{
{body}
    %next = stablehlo.add %at, %one : tensor<i32>
    stablehlo.return %next, {", ".join(self.yielded)} : {types}
  }}
  return {", ".join(f"%0#{at + 1}" for at in range(count))} : {", ".join(kinds)}
}}"""


def test_random_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tiles, "_PARALLEL_ELEMENTS", 1)
    monkeypatch.setattr(native, "FEWEST_STEPS", 1)
    made = 0
    for seed in range(200):
        random = Random(seed)
        loop = Loop(random)
        text, generator = loop.text(), np.random.default_rng(seed)
        given = [generator.integers(-99, 99, loop.shape(dims)).astype(np.int32) for dims in loop.carries]
        fused = compile_module(parse_module(text, "loop.mlir"), threads=2)
        made += fused.source.count("@native")
        expected = compile_module(parse_module(text, "loop.mlir"), fused=False).run(given)
        for found, due in zip(fused.run(given), expected, strict=True):
            np.testing.assert_array_equal(found, due, err_msg=f"of the loop {seed}")
    assert made > 200
