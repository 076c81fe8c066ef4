"""Random loops, nested and with branches, against loops in NumPy: nothing that is still read is overwritten."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from shardwright.dialects.text.parsing import parse_module
from shardwright.runtime.executable import compile_module

KIND = "tensor<4x6xf32>"
Step = Callable[[dict[str, Any]], None]


def halve(x: Any) -> Any:
    return (x * np.float32(0.5)).astype(np.float32)


UNARY: list[tuple[str, Callable[[Any], Any]]] = [
    (f"stablehlo.negate {{a}} : {KIND}", lambda x: -x),
    (f"stablehlo.tanh {{a}} : {KIND}", np.tanh),
    (f"stablehlo.reverse {{a}}, dims = [1] : {KIND}", lambda x: x[:, ::-1]),
    (f"stablehlo.multiply {{a}}, %half : {KIND}", halve),
]
BINARY: list[tuple[str, Callable[[Any, Any], Any]]] = [
    (f"stablehlo.add {{a}}, {{b}} : {KIND}", np.add),
    (f"stablehlo.subtract {{a}}, {{b}} : {KIND}", np.subtract),
    (f"stablehlo.maximum {{a}}, {{b}} : {KIND}", np.maximum),
]


@dataclass
class Writer:
    """Writes a program's text, and with it what it means."""

    random: random.Random
    lines: list[str] = field(default_factory=list[str])
    count: int = 0

    def name(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def ops(self, known: list[str], number: int, depth: int, counter: str) -> list[Step]:
        """Some ops on known values; what they make becomes known."""
        return [self.op(known, depth, counter) for _ in range(number)]

    def op(self, known: list[str], depth: int, counter: str) -> Step:
        choice = self.random.random()
        if choice < 0.12 and depth:
            return self.loop(known, depth - 1)
        if choice < 0.2 and depth:
            return self.branch(known, depth - 1, counter)
        if choice < 0.35:
            return self.shift(known)
        if choice < 0.55:
            return self.update(known, counter)
        if choice < 0.65:
            return self.row_sum(known)
        a, b, name = self.random.choice(known), self.random.choice(known), self.name()
        if choice < 0.8:
            text, function = self.random.choice(UNARY)
            self.lines.append(f"{name} = {text.format(a=a)}")
            known.append(name)
            return lambda env: env.update({name: function(env[a])})
        text, combine = self.random.choice(BINARY)
        self.lines.append(f"{name} = {text.format(a=a, b=b)}")
        known.append(name)
        return lambda env: env.update({name: combine(env[a], env[b])})

    def shift(self, known: list[str]) -> Step:
        a, name, left, right = self.random.choice(known), self.name(), self.name(), self.name()
        self.lines += [
            f"{left} = stablehlo.slice {a} [0:4, 1:6] : ({KIND}) -> tensor<4x5xf32>",
            f"{right} = stablehlo.slice {a} [0:4, 0:1] : ({KIND}) -> tensor<4x1xf32>",
            f"{name} = stablehlo.concatenate {left}, {right}, dim = 1 : (tensor<4x5xf32>, tensor<4x1xf32>) -> {KIND}",
        ]
        known.append(name)
        return lambda env: env.update({name: np.roll(env[a], -1, 1)})

    def update(self, known: list[str], counter: str) -> Step:
        """A row of one value, at the counter, goes into another."""
        a, b, row, name = self.random.choice(known), self.random.choice(known), self.name(), self.name()
        starts = f"{counter}, %zero"
        self.lines += [
            f"{row} = stablehlo.dynamic_slice {a}, %one, %zero, sizes = [1, 6] : ({KIND}, tensor<i32>, tensor<i32>)"
            " -> tensor<1x6xf32>",
            f"{name} = stablehlo.dynamic_update_slice {b}, {row}, {starts} : ({KIND}, tensor<1x6xf32>, tensor<i32>,"
            f" tensor<i32>) -> {KIND}",
        ]
        known.append(name)

        def run(env: dict[str, Any]) -> None:
            made = env[b].copy()
            made[min(max(env[counter], 0), 3)] = env[a][1]
            env[name] = made

        return run

    def row_sum(self, known: list[str]) -> Step:
        a, total, name = self.random.choice(known), self.name(), self.name()
        self.lines += [
            f"{total} = stablehlo.reduce({a} init: %nought) applies stablehlo.maximum across dimensions = [1]"
            f" : ({KIND}, tensor<f32>) -> tensor<4xf32>",
            f"{name} = stablehlo.broadcast_in_dim {total}, dims = [0] : (tensor<4xf32>) -> {KIND}",
        ]
        known.append(name)
        return lambda env: env.update(
            {name: np.broadcast_to(np.maximum(env[a].max(1, keepdims=True), np.float32(-9)), (4, 6)) + 0}
        )

    def branch(self, known: list[str], depth: int, counter: str) -> Step:
        name, index = self.name(), counter
        sides: list[tuple[list[Step], str]] = []
        for opening in (f'{name} = "stablehlo.case"({index}) ({{', "}, {"):
            self.lines.append(opening)
            inner = list(known)
            steps = self.ops(inner, self.random.randint(0, 2), depth, counter)
            chosen = self.random.choice(inner)
            self.lines.append(f"stablehlo.return {chosen} : {KIND}")
            sides.append((steps, chosen))
        self.lines.append(f"}}) : (tensor<i32>) -> {KIND}")
        known.append(name)

        def run(env: dict[str, Any]) -> None:
            steps, chosen = sides[0 if env[index] == 0 else 1]
            inner = dict(env)
            for step in steps:
                step(inner)
            env[name] = inner[chosen]

        return run

    def loop(self, known: list[str], depth: int) -> Step:
        name, carried = self.name(), [self.name() for _ in range(self.random.randint(1, 4))]
        counter, following = self.name(), self.name()
        starts = [self.random.choice(known) for _ in carried]
        rounds = self.random.randint(0, 3)
        limit = "%limit" if self.random.random() < 0.5 else f"%n{rounds}"
        types = ", ".join(["tensor<i32>", *([KIND] * len(carried))])
        pairs = ", ".join(f"{a} = {b}" for a, b in zip([counter, *carried], ["%zero", *starts], strict=True))
        self.lines += [
            f"{name}:{len(carried) + 1} = stablehlo.while({pairs}) : {types} cond {{",
            f"%p = stablehlo.compare LT, {counter}, {limit} : (tensor<i32>, tensor<i32>) -> tensor<i1>",
            "stablehlo.return %p : tensor<i1>",
            "} do {",
            f"{following} = stablehlo.add {counter}, %one : tensor<i32>",
        ]
        inner = [*known, *carried]
        steps = self.ops(inner, self.random.randint(1, 5), depth, counter)
        returned = [self.random.choice(inner[-8:]) for _ in carried]
        self.lines += [f"stablehlo.return {', '.join([following, *returned])} : {types}", "}"]
        results = [f"{name}#{number + 1}" for number in range(len(carried))]
        known += results

        def run(env: dict[str, Any]) -> None:
            state = [env[start] for start in starts]
            for at in range(env["%limit"] if limit == "%limit" else rounds):
                local = dict(env) | dict(zip(carried, state, strict=True)) | {counter: at}
                for step in steps:
                    step(local)
                state = [local[value] for value in returned]
            env.update(zip(results, state, strict=True))

        return run


def program(seed: int) -> tuple[str, Callable[[Any, Any, int], list[Any]]]:
    """The text of a random program of loops, and what it computes."""
    writer = Writer(random.Random(seed))
    known = ["%x", "%y"]
    steps = writer.ops(known, writer.random.randint(0, 2), 0, "%zero")
    steps.append(writer.loop(known, 2))
    steps += writer.ops(known, writer.random.randint(0, 2), 1, "%one")
    returned = [writer.random.choice(known[2:]) for _ in range(2)]
    constants = [f"%n{n} = stablehlo.constant dense<{n}> : tensor<i32>" for n in range(4)]
    body = "\n".join(
        [
            "%zero = stablehlo.constant dense<0> : tensor<i32>",
            "%one = stablehlo.constant dense<1> : tensor<i32>",
            "%nought = stablehlo.constant dense<-9.0> : tensor<f32>",
            f"%half = stablehlo.constant dense<0.5> : {KIND}",
            *constants,
            *writer.lines,
            f"return {', '.join(returned)} : {KIND}, {KIND}",
        ]
    )
    signature = f"(%x: {KIND}, %y: {KIND}, %limit: tensor<i32>) -> ({KIND}, {KIND})"

    def run(x: Any, y: Any, limit: int) -> list[Any]:
        env = {"%x": x, "%y": y, "%limit": limit, "%zero": 0, "%one": 1}
        for step in steps:
            step(env)
        return [env[name] for name in returned]

    return f"func.func public @main{signature} {{\n{body}\n}}", run


def check(seed: int) -> None:
    text, run = program(seed)
    generator = np.random.default_rng(seed)
    x, y = (generator.standard_normal((4, 6)).astype(np.float32) for _ in range(2))
    for fused in (True, False):
        executable = compile_module(parse_module(text, "test.mlir"), fused=fused)
        for limit in (0, 1, 3):
            with np.errstate(all="ignore"):
                wanted = run(x, y, limit)
            for one, other in zip(executable.run([x, y, np.int32(limit)]), wanted, strict=True):
                np.testing.assert_allclose(
                    one, other, rtol=1e-4, atol=1e-4, err_msg=f"seed {seed}, fused={fused}\n{text}"
                )


@pytest.mark.every(3)
@pytest.mark.parametrize("seed", range(60))
def test_random_loops(seed: int) -> None:
    check(seed)


@pytest.mark.slow
def test_many_random_loops() -> None:
    for seed in range(100, 1100):
        check(seed)
