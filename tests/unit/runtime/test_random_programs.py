"""Random array programs: the fused engine against the plain one, which makes one NumPy call for each step."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms
from shardwright.runtime.codegen.crew import shared_crew
from shardwright.runtime.codegen.engines import FusedEngine, PlainEngine
from shardwright.runtime.codegen.images import fused_image, plain_image
from shardwright.runtime.ledger import Ledger
from shardwright.runtime.ports import Port
from shardwright.runtime.program import Builder, Dot, Program, Value

ATOMS = Atoms.cut(Mesh([("x", 2), ("y", 3)]), [])
EVERYWHERE = LayoutSpec("mesh", (), partial=(Axis("x"), Axis("y")), kind="sum")
F32 = np.dtype(np.float32)
SIZES = (1, 2, 4, 6)


class Generator:
    """Grows a program step by step from values that it has already."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = Builder(ATOMS.count)
        self.ports: list[Port] = []
        self.values: list[Value] = [self.input() for _ in range(3)]

    def shape(self, rank: int) -> tuple[int, ...]:
        return tuple(self.random.choice(SIZES) for _ in range(rank))

    def input(self) -> Value:
        local = self.shape(self.random.randint(1, 3))
        dims: list[tuple[Axis, ...]] = [() for _ in local]
        for name in ("x", "y"):
            if self.random.random() < 0.5:
                at = self.random.randrange(len(local))
                dims[at] = (*dims[at], Axis(name))
        whole = tuple(n * ATOMS.mesh.group_size(axes) for n, axes in zip(local, dims, strict=True))
        port = Port(whole, F32, LayoutSpec("mesh", tuple(dims)), ATOMS)
        self.ports.append(port)
        return self.builder.input(port.stacked_shape, F32)

    def grow(self) -> None:
        value = self.random.choice(self.values[-6:])
        choices = [self.unary, self.binary, self.binary, self.reduce, self.transpose, self.reshape, self.spread]
        choices += [self.slice, self.product, self.devices]
        self.values.append(self.random.choice(choices)(value))

    def unary(self, value: Value) -> Value:
        return self.builder.pointwise(self.random.choice(["tanh", "negate", "sine", "abs"]), [value], F32)

    def binary(self, value: Value) -> Value:
        other = self.fitting(value)
        return self.builder.pointwise(
            self.random.choice(["add", "multiply", "maximum", "subtract"]), [value, other], F32
        )

    def fitting(self, value: Value) -> Value:
        """A value of the same local shape: an old one, a scalar, or a reduction spread out again."""
        local = self.builder.local(value)
        same = [other for other in self.values if self.builder.local(other) == local]
        chosen = self.random.random()
        if chosen < 0.2:
            return self.builder.splat(0.5, (1, 1, *local), F32)
        if chosen < 0.5:
            return self.spread_back(value, self.reduce(value))
        return self.random.choice(same)

    def spread_back(self, value: Value, reduced: Value) -> Value:
        return self.builder.broadcast(reduced, reduced.shape[:2] + self.builder.local(value))

    def reduce(self, value: Value) -> Value:
        dims = [dim for dim in range(2, len(value.shape)) if self.random.random() < 0.5]
        return self.builder.reduce(self.random.choice(["sum", "max"]), value, dims)

    def devices(self, value: Value) -> Value:
        dims = [dim for dim in range(2) if value.shape[dim] > 1 and self.random.random() < 0.5]
        return self.builder.reduce("sum", value, dims)

    def transpose(self, value: Value) -> Value:
        order = list(range(2, len(value.shape)))
        self.random.shuffle(order)
        return self.builder.transpose(value, [0, 1, *order])

    def reshape(self, value: Value) -> Value:
        left = value.size // (value.shape[0] * value.shape[1])
        shape: list[int] = []
        while left > 1 and len(shape) < 3:
            shape.append(self.random.choice([n for n in range(1, left + 1) if left % n == 0]))
            left //= shape[-1]
        return self.builder.reshape(value, (*value.shape[:2], *shape, left))

    def spread(self, value: Value) -> Value:
        wide = [self.random.choice(SIZES) if extent == 1 else extent for extent in self.builder.local(value)]
        return self.builder.broadcast(value, (*value.shape[:2], *wide))

    def slice(self, value: Value) -> Value:
        ranges = [(0, extent, 1) for extent in value.shape[:2]]
        for extent in self.builder.local(value):
            ranges.append(self.random.choice([(0, extent, 1), (extent // 2, extent, 1), (extent - 1, -1, -1)]))
        return self.builder.slice(value, ranges)

    def product(self, value: Value) -> Value:
        others = [other for other in self.values if len(other.shape) >= 3]
        other = self.random.choice(others)
        pairs = [
            (a, b)
            for a in range(2, len(value.shape))
            for b in range(2, len(other.shape))
            if value.shape[a] == other.shape[b]
        ]
        if len(value.shape) < 3 or not pairs:
            return self.unary(value)
        contract = self.random.choice(pairs)
        left = [n for dim, n in enumerate(value.shape) if dim >= 2 and dim != contract[0]]
        right = [n for dim, n in enumerate(other.shape) if dim >= 2 and dim != contract[1]]
        lead = np.broadcast_shapes(value.shape[:2], other.shape[:2])
        shape = (*lead, *left, *right)
        if len(shape) > 6 or np.prod(shape) > 20000:
            return self.unary(value)
        result = self.builder.dot(value, other, Dot(((0, 0), (1, 1)), (contract,)), shape, F32)
        return self.builder.pointwise("tanh", [result], F32) if self.random.random() < 0.3 else result

    def finish(self) -> tuple[Program, list[Port]]:
        outputs: list[Port] = []
        for value in self.random.sample(self.values, 4):
            whole = self.builder.broadcast(value, (2, 3, *self.builder.local(value)))
            local = self.builder.local(value)
            spec = LayoutSpec("mesh", ((),) * len(local), partial=EVERYWHERE.partial, kind="sum")
            outputs.append(Port(local, F32, spec, ATOMS))
            self.builder.program.outputs.append(whole)
        return self.builder.program, outputs


def generate(seed: int, steps: int) -> tuple[Program, list[Port], list[Port]]:
    generator = Generator(seed)
    for _ in range(steps):
        generator.grow()
    program, outputs = generator.finish()
    return program, generator.ports, outputs


@pytest.mark.parametrize("seed", range(60))
def test_fused_and_plain_agree(seed: int) -> None:
    steps = 5 + seed % 25
    program, inputs, outputs = generate(seed, steps)
    bases: list[Any] = [
        np.random.default_rng(at).standard_normal(port.base_shape).astype(np.float32) for at, port in enumerate(inputs)
    ]
    plain = PlainEngine(plain_image(program, None, inputs, outputs), np).call(Ledger(), bases)
    program, inputs, outputs = generate(seed, steps)
    fused = FusedEngine(fused_image(program, None, inputs, outputs, 2), shared_crew(2))
    for _ in range(2):
        for found, expected in zip(fused.call(Ledger(), bases), plain, strict=True):
            np.testing.assert_allclose(found, np.broadcast_to(expected, found.shape), rtol=1e-3, atol=1e-3)
