"""Steps that give elements other places: reshapes, slices, pads, joins, constants and iotas."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

import numpy as np

from whole.build import ELEMENTS, FLOATS, INTEGERS, Builder, UnfitError, Value, literal
from whole.reference import pad
from whole.registry import step

ANY = (*FLOATS, *INTEGERS, "i1", "complex<f32>")
RANKS = (1, 2, 3, 4)


@step("broadcast_in_dim", weight=1.5)
def broadcast(build: Builder) -> None:
    value = build.some(ANY, (0, 1, 2, 3))
    total = value.rank + build.random.randint(0, 2)
    dims = sorted(build.random.sample(range(total), value.rank))
    if build.chance(0.3):
        build.random.shuffle(dims)
    target = list(build.shape(total))
    for dim, size in zip(dims, value.shape, strict=True):
        target[dim] = size if size != 1 or build.chance(0.3) else target[dim]
    order = sorted(range(value.rank), key=lambda i: dims[i])
    spread = [1] * total
    for i in order:
        spread[dims[i]] = value.shape[i]
    text = f"stablehlo.broadcast_in_dim {value.name}, dims = {dims} : ({value.type}) -> RESULT"
    build.emit(text, [value], lambda a: np.broadcast_to(a.transpose(order).reshape(spread), target))


@step("reshape", weight=2.5)
def reshape(build: Builder) -> None:
    value = build.some(ANY, (0, *RANKS))
    shape: list[int] = []
    for size in value.shape:
        if not size:
            shape += build.pick(([0], [0, build.pick((1, 2, 3))]))
            continue
        divisors = [d for d in range(1, size + 1) if size % d == 0]
        major = build.pick(divisors)
        shape += build.pick(([size], [major, size // major], [1, size]))
    while len(shape) > 1 and build.chance(0.5):
        at = build.random.randrange(len(shape) - 1)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    if len(shape) > 5:
        raise UnfitError
    text = f"stablehlo.reshape {value.name} : ({value.type}) -> RESULT"
    build.emit(text, [value], lambda a: a.reshape(shape))


@step("transpose", weight=1.5)
def transpose(build: Builder) -> None:
    value = build.some(ANY, (2, 3, 4))
    order = build.random.sample(range(value.rank), value.rank)
    text = f"stablehlo.transpose {value.name}, dims = {order} : ({value.type}) -> RESULT"
    build.emit(text, [value], lambda a: a.transpose(order))


@step("reverse", weight=1)
def reverse(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    dims = [dim for dim in range(value.rank) if build.chance(0.6)]
    text = f"stablehlo.reverse {value.name}, dims = {dims} : RESULT"
    build.emit(text, [value], lambda a: np.flip(a, tuple(dims)))


@step("slice", weight=2)
def slices(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    spans: list[tuple[int, int, int]] = []
    for size in value.shape:
        start = build.random.randint(0, max(size - 1, 0))
        span = build.pick(
            (
                (0, size, 1),
                (start, build.random.randint(min(start + 1, size), size), 1),
                (start, size, build.pick((2, 3))),
            )
        )
        spans.append(span)
    inside = ", ".join(f"{a}:{b}:{c}" for a, b, c in spans)
    places = tuple(slice(*span) for span in spans)
    build.emit(f"stablehlo.slice {value.name} [{inside}] : ({value.type}) -> RESULT", [value], lambda a: a[places])


@step("pad", weight=2)
def padded(build: Builder) -> None:
    value = build.some((*FLOATS, *INTEGERS, "complex<f32>"), RANKS)
    edges = (0, 0, 0, 1, 2, 4, -1)
    low, high = ([build.pick(edges) for _ in value.shape] for _ in range(2))
    interior = [build.pick((0, 0, 0, 1, 2)) for _ in value.shape]
    sizes = [n + max(n - 1, 0) * i + a + b for n, a, b, i in zip(value.shape, low, high, interior, strict=True)]
    if min(sizes) < (0 if build.style.empty else 1):
        raise UnfitError
    fill = build.scalar(build.pick((0, 0, 1)), value.element)
    text = (
        f"stablehlo.pad {value.name}, {fill.name}, low = {low}, high = {high}, interior = {interior}"
        f" : ({value.type}, {fill.type}) -> RESULT"
    )
    build.emit(text, [value, fill], lambda a, b: pad(a, b, low, high, interior))


@step("concatenate", weight=2)
def concatenate(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    dim = build.random.randrange(value.rank)

    def another() -> Value:
        same = [
            other
            for other in build.scope.values
            if other.element == value.element
            and other.rank == value.rank
            and all(a == b for d, (a, b) in enumerate(zip(other.shape, value.shape, strict=True)) if d != dim)
        ]
        if same and (build.closed or build.chance(0.5)):
            return build.pick(same)
        extent = build.pick((value.shape[dim], value.shape[dim], 1, 2, 3, 4))
        return build.argument((*value.shape[:dim], extent, *value.shape[dim + 1 :]), value.element)

    parts = [value, *(another() for _ in range(build.random.randint(1, 2)))]
    build.random.shuffle(parts)
    names, types = ", ".join(part.name for part in parts), ", ".join(part.type for part in parts)
    text = f"stablehlo.concatenate {names}, dim = {dim} : ({types}) -> RESULT"
    build.emit(text, parts, lambda *arrays: np.concatenate(arrays, dim), value.element)


@step("slice", "concatenate", weight=1)
def rolled(build: Builder) -> None:
    """As `jnp.roll` is exported: two slices joined the other way round."""
    value = build.some(ANY, RANKS)
    dim = build.random.randrange(value.rank)
    size = value.shape[dim]
    if size < 2:
        raise UnfitError
    cut = build.random.randint(1, size - 1)
    parts: list[Value] = []
    for first, last in ((cut, size), (0, cut)):
        spans = [(first, last) if d == dim else (0, n) for d, n in enumerate(value.shape)]
        places = tuple(slice(a, b) for a, b in spans)
        inside = ", ".join(f"{a}:{b}" for a, b in spans)
        text = f"stablehlo.slice {value.name} [{inside}] : ({value.type}) -> RESULT"
        parts.append(build.emit(text, [value], lambda a, places=places: a[places]))
    text = f"stablehlo.concatenate {parts[0].name}, {parts[1].name}, dim = {dim} : ({parts[0].type}, {parts[1].type})"
    build.emit(f"{text} -> RESULT", parts, lambda a, b: np.concatenate((a, b), dim))


@step("iota", weight=1)
def counted(build: Builder) -> None:
    value = build.some(("f32", "i32", "ui32", "f64", "bf16"), (1, 2, 3))
    dim = build.random.randrange(value.rank)
    shape = [1] * value.rank
    shape[dim] = value.shape[dim]
    ramp = lambda: np.broadcast_to(np.arange(value.shape[dim]).reshape(shape), value.shape)  # noqa: E731
    counted = build.emit(f"stablehlo.iota dim = {dim} : RESULT", [], ramp, value.element)
    build.emit(f"stablehlo.add {value.name}, {counted.name} : RESULT", [value, counted], np.add)


@step("constant", weight=1)
def constants(build: Builder) -> None:
    """A constant whose elements differ."""
    value = build.some(("f32", "i32", "f64", "i8"), (1, 2))
    if value.array.size > 64:
        raise UnfitError
    array = build.numbers_of(value.shape, value.element)
    text = _nested(array.tolist(), value.element) if array.size else ""
    made = build.emit(f"stablehlo.constant dense<{text}> : RESULT", [], lambda: array.astype(np.int64), value.element)
    build.emit(f"stablehlo.multiply {value.name}, {made.name} : RESULT", [value, made], np.multiply)


def _nested(numbers: object, element: str) -> str:
    """A dense literal's inside; without elements it is empty."""
    if isinstance(numbers, list):
        return f"[{', '.join(_nested(part, element) for part in numbers)}]"
    return literal(np.array(numbers).astype(ELEMENTS[element]), element)


@step("sdy.sharding_constraint", weight=1.5)
def constraint(build: Builder) -> None:
    value = build.some(ANY, (0, 1, 2, 3))
    layout = build.layout(value.shape)
    build.emit(f"sdy.sharding_constraint {value.name} <@mesh, {layout}> : RESULT", [value], lambda a: a)


@step("sdy.reshard", weight=0.5)
def resharded(build: Builder) -> None:
    value = build.some(ANY, (1, 2, 3))
    layout = build.closed_layout(value.shape)
    free = [name for name in build.mesh if f'"{name}"' not in layout]
    if free and build.random.random() < 0.3:
        kinds = ["", *(["max", "min"] if "complex" not in value.element else [])]
        layout += f', unreduced={build.pick(kinds)}{{"{build.pick(free)}"}}'
    build.emit(f"sdy.reshard {value.name} <@mesh, {layout}> : RESULT", [value], lambda a: a)


@step("sdy.propagation_barrier", weight=0.4)
def propagation_barrier(build: Builder) -> None:
    value = build.some(ANY, (1, 2, 3))
    direction = build.pick(("NONE", "FORWARD", "BACKWARD"))
    text = f"sdy.propagation_barrier {value.name} allowed_direction={direction} : RESULT"
    build.emit(text, [value], lambda a: a)
