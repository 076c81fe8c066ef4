"""Steps that depend on computed positions or on order: gathers, scatters, dynamic slices, sorts."""

# pyright: reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from whole.build import FLOATS, INTEGERS, Builder, UnfitError, Value
from whole.reference import GatherDims, dynamic_slice, dynamic_update_slice, gather, scatter, sort, top_k
from whole.registry import step

ANY = (*FLOATS, *INTEGERS, "i1")
RANKS = (1, 2, 3)


def _starts(build: Builder, value: Value) -> list[Value]:
    """Scalar starts, some of them far outside: constants, or arguments."""
    made: list[Value] = []
    for extent in value.shape:
        number = build.pick((0, 1, extent // 2, extent - 1, extent + 3, -2))
        array = np.array(number, np.int32)
        made.append(
            build.scalar(number, "i32") if build.chance(0.5) or build.closed else build.argument((), "i32", array)
        )
    return made


@step("dynamic_slice", weight=1.5)
def sliced(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    sizes = [build.pick((extent, max(extent // 2, 1), 1)) if extent else 0 for extent in value.shape]
    starts = _starts(build, value)
    names, types = ", ".join(one.name for one in starts), ", ".join(one.type for one in starts)
    text = f"stablehlo.dynamic_slice {value.name}, {names}, sizes = {sizes} : ({value.type}, {types}) -> RESULT"
    build.emit(text, [value, *starts], lambda a, *at: dynamic_slice(a, [int(s) for s in at], sizes))


@step("dynamic_update_slice", weight=1.5)
def updated(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    sizes = tuple(build.pick((extent, max(extent // 2, 1), 1)) if extent else 0 for extent in value.shape)
    same = [v for v in build.scope.values if (v.shape, v.element) == (sizes, value.element)]
    update = build.pick(same) if same and (build.closed or build.chance(0.5)) else build.argument(sizes, value.element)
    starts = _starts(build, value)
    names, types = ", ".join(one.name for one in starts), ", ".join(one.type for one in starts)
    text = (
        f"stablehlo.dynamic_update_slice {value.name}, {update.name}, {names}"
        f" : ({value.type}, {update.type}, {types}) -> RESULT"
    )
    function = lambda a, u, *at: dynamic_update_slice(a, u, [int(s) for s in at])  # noqa: E731
    build.emit(text, [value, update, *starts], function)


class _Plan:
    """Random dimension numbers of a gather or scatter; windows are whole dims or single places."""

    def __init__(self, build: Builder, shape: Sequence[int], *, batching: bool) -> None:
        rank = len(shape)
        self.operand_batching = [0] if batching and rank > 1 and build.chance(0.3) else []
        free = [dim for dim in range(rank) if dim not in self.operand_batching]
        mapped = build.random.sample(free, build.random.randint(1, len(free)))
        if not all(shape[dim] for dim in (*mapped, *self.operand_batching)):
            raise UnfitError  # no window of one place fits
        self.sizes = [1 if d in mapped or d in self.operand_batching else n for d, n in enumerate(shape)]
        self.collapsed = sorted(d for d in mapped if build.chance(0.7))
        lead = [shape[0]] if self.operand_batching else []
        loose = [build.pick((1, 2, 3, 4, 8)) for _ in range(build.random.randint(0 if lead else 1, 2 - len(lead)))]
        self.batch_shape = lead + loose
        vector_last = len(mapped) > 1 or build.chance(0.6)
        self.index_shape = [*self.batch_shape, len(mapped)] if vector_last else list(self.batch_shape)
        window = [n for d, n in enumerate(self.sizes) if d not in self.collapsed and d not in self.operand_batching]
        total = len(self.batch_shape) + len(window)
        self.offset = sorted(build.random.sample(range(total), len(window)))
        batch_dims = [d for d in range(total) if d not in self.offset]
        self.result_shape = [0] * total
        for dims, sizes in ((self.offset, window), (batch_dims, self.batch_shape)):
            for dim, size in zip(dims, sizes, strict=True):
                self.result_shape[dim] = size
        self.indices_batching = [0] if lead else []
        self.dims = GatherDims(
            self.offset, self.collapsed, mapped, len(self.batch_shape), self.operand_batching, self.indices_batching
        )
        self.mapped = mapped

    def indices(self, build: Builder, shape: Sequence[int], *, unique: bool = False) -> Value:
        """Indices, some outside; `unique`: no two the same."""
        extent = max(shape[dim] for dim in self.mapped)
        if unique:
            count = int(np.prod(self.index_shape))
            if len(self.mapped) > 1 or count > extent + 4:
                raise UnfitError
            drawn = build.random.sample(range(-2, extent + 2), count)
        else:
            drawn = [build.random.randint(-2, extent + 1) for _ in range(int(np.prod(self.index_shape)))]
        array = np.array(drawn, np.int32).reshape(self.index_shape)
        if build.closed:
            wide = array.astype(np.int64)
            return build.emit(f"stablehlo.constant dense<{array.tolist()}> : RESULT", [], lambda: wide, "i32")
        return build.argument(tuple(self.index_shape), "i32", array)

    def text(self, *names: str) -> str:
        """The dimension numbers, under the names that gather or scatter gives them."""
        offset, collapsed, batching, indices_batching, mapped = names
        pairs = [
            (offset, self.offset),
            (collapsed, self.collapsed),
            (batching, self.operand_batching),
            (indices_batching, self.indices_batching),
            (mapped, self.mapped),
        ]
        lists = ", ".join(f"{name} = {numbers}" for name, numbers in pairs if numbers)
        return f"{lists}, index_vector_dim = {self.dims.vector}"


@step("gather", weight=2)
def gathered(build: Builder) -> None:
    value = build.some(ANY, RANKS)
    plan = _Plan(build, value.shape, batching=True)
    indices = plan.indices(build, value.shape)
    names = ("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims")
    sizes = ", ".join(map(str, plan.sizes))
    text = (
        f'"stablehlo.gather"({value.name}, {indices.name}) <{{dimension_numbers = #stablehlo.gather<'
        f"{plan.text(*names, 'start_index_map')}>, indices_are_sorted = false, slice_sizes = array<i64: {sizes}>}}>"
        f" : ({value.type}, {indices.type}) -> RESULT"
    )
    build.emit(text, [value, indices], lambda a, i: gather(a, i, plan.dims, plan.sizes))


Combiner = tuple[str, Callable[[Any, Any], Any]]
COMBINERS: tuple[Combiner, ...] = (
    ("add", lambda a, b: a + b),
    ("add", lambda a, b: a + b),
    ("maximum", max),
    ("minimum", min),
    ("multiply", lambda a, b: a * b),
    ("set", lambda a, b: b),
)


@step("scatter", weight=2.5)
def scattered(build: Builder) -> None:
    name, combine = build.pick(COMBINERS)
    elements = {"multiply": ("i32",), "set": ("f32", "i32", "bf16", "ui8")}.get(name, ("f32", "i32", "f64", "bf16"))
    value = build.some(elements, RANKS)
    plan = _Plan(build, value.shape, batching=name != "set")
    indices = plan.indices(build, value.shape, unique=name == "set")
    shape = tuple(plan.result_shape)
    same = [v for v in build.scope.values if (v.shape, v.element) == (shape, value.element)]
    updates = build.pick(same) if same and build.chance(0.5) else build.argument(shape, value.element)
    names = ("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims")
    v = f"tensor<{value.element}>"
    body = f"  %0 = stablehlo.{name} %a, %b : {v}\n  stablehlo.return %0 : {v}"
    if name == "set":
        body = f"  stablehlo.return %b : {v}"
    text = (
        f'"stablehlo.scatter"({value.name}, {indices.name}, {updates.name}) <{{indices_are_sorted = false, '
        f"scatter_dimension_numbers = #stablehlo.scatter<{plan.text(*names, 'scatter_dims_to_operand_dims')}>, "
        f"unique_indices = {'true' if name == 'set' else 'false'}}}> ({{\n^bb0(%a: {v}, %b: {v}):\n{body}\n}})"
        f" : ({value.type}, {indices.type}, {updates.type}) -> RESULT"
    )
    function = lambda a, i, u: scatter(a, i, u, plan.dims, combine)  # noqa: E731
    magnitude = (
        (lambda a, i, u: abs(a).max(initial=0) + abs(u).sum()) if name == "add" and value.element in FLOATS else None
    )
    build.emit(text, [value, indices, updates], function, magnitude=magnitude)


@step("sort", weight=1.5)
def sorted_values(build: Builder) -> None:
    keys = build.some(("f32", "i32", "bf16", "i8"), RANKS, exact=True)
    other = build.pick([None, *(v for v in build.scope.values if v.shape == keys.shape and v.exact)])
    dim = build.random.randrange(keys.rank)
    descending = build.chance(0.4)
    operands = [keys] if other is None else [keys, other]
    kind = "FLOAT" if keys.element in FLOATS else "SIGNED"
    arguments = [(f"%a{i}", f"%b{i}", f"tensor<{one.element}>") for i, one in enumerate(operands)]
    header = ", ".join(f"{a}: {kind_}, {b}: {kind_}" for a, b, kind_ in arguments)
    k = f"tensor<{keys.element}>"
    text = f"""\"stablehlo.sort\"({", ".join(one.name for one in operands)}) \
<{{dimension = {dim} : i64, is_stable = true}}> ({{
^bb0({header}):
  %0 = stablehlo.compare {"GT" if descending else "LT"}, %a0, %b0, {kind} : ({k}, {k}) -> tensor<i1>
  stablehlo.return %0 : tensor<i1>
}}) : ({", ".join(one.type for one in operands)}) -> RESULT"""
    function = lambda a, *rest: sort(a, rest, dim, descending=descending)  # noqa: E731
    build.emit_all(text, operands, function, [one.element for one in operands])


@step("chlo.top_k", weight=1)
def largest(build: Builder) -> None:
    value = build.some(("f32", "i32"), RANKS, exact=True)
    if not value.shape[-1]:
        raise UnfitError
    count = build.random.randint(1, min(value.shape[-1], 4))
    text = f"chlo.top_k({value.name}, k = {count}) : {value.type} -> RESULT"
    build.emit_all(text, [value], lambda a: top_k(a, count), [value.element, "i32"])
