"""
Tiles of cheap steps as one loop in machine code: NumPy passes over a block once for each step, a loop once for all.

The loop is written in LLVM's own text and compiled by llvmlite, where that is installed (the extra `fast`); elsewhere
the tile's lines of NumPy run. Each step is the IEEE or integer operation that NumPy's is, in the same order, so that
results are the same to the bit.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Sequence
from functools import cache, lru_cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from packaging.version import Version

from shardwright.runtime.fusing.fusion import Source, inward
from shardwright.runtime.fusing.tiles import Access, Tile
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.program import Kind, Step, Value

_OLDEST = "0.45"
"""The version of llvmlite that the extra `fast` asks for; numba may have brought an older one."""

FEWEST_STEPS = 6
"""A loop of fewer steps gains too little over blocks that stay in the cache."""

_TYPES = {"bool": "i8", "float32": "float", "float64": "double"} | {
    f"{sign}int{bits}": f"i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}
"""LLVM's types of what lies in memory; a truth value is a byte there and a bit in a register."""

_FLOAT = {"add": "fadd", "subtract": "fsub", "multiply": "fmul", "divide": "fdiv"}
_INTEGER = {"add": "add", "subtract": "sub", "multiply": "mul", "and": "and", "or": "or", "xor": "xor"}
_BIT = {"and": "and", "or": "or", "xor": "xor"}
_INTRINSICS = {"abs": "fabs", "sqrt": "sqrt", "floor": "floor", "ceil": "ceil", "round_nearest_even": "rint"}
_SHIFTS = {"shift_left": "shl", "shift_right_logical": "lshr", "shift_right_arithmetic": "ashr"}
_ORDERS = {"EQ": "eq", "NE": "ne", "GE": "ge", "GT": "gt", "LE": "le", "LT": "lt"}


def loop_text(tile: Tile) -> str | None:
    """
    LLVM's text of a function `tile(at, low, high, ...)` for rows `low` to `high`, or None where a step is not cheap.

    Its further arguments are the addresses of what the tile reads and writes, in order.
    """
    if len(tile.members) < FEWEST_STEPS:
        return None
    try:
        return _Loop(tile).text()
    except _NotCheapError:
        return None


class _NotCheapError(Exception):
    """A step that is a call of a library in machine code too, or that NumPy computes in another type."""


class _Loop:
    """
    Writes the loops: in each what is read there, then each step on one element, then what is written there.

    What lacks the inner dims is read, computed and written in the loop around these, once: it may be written over what
    it was read from, and would in the next round be computed from itself.
    """

    def __init__(self, tile: Tile) -> None:
        self._tile = tile
        self._lines: list[list[str]] = [[] for _ in range(1 + len(tile.inner))]
        self._declared: dict[str, None] = {}
        self._registers: dict[Value, str] = {}
        self._depth = 0
        self._depths: dict[str, int] = {}

    def text(self) -> str:
        """The module."""
        tile = self._tile
        extents = [None, *tile.inner]
        accesses = [*tile.reads, *tile.writes]
        loads = [self._load(number, read) for number, read in enumerate(tile.reads)]
        for step in tile.members:
            self._registers[step.results[0]] = self._computed(step, loads)
        for number, write in enumerate(tile.writes, len(tile.reads)):
            self._store(number, write)
        pointers = "".join(f", ptr %p{number}" for number in range(len(accesses)))
        last = len(extents) - 1
        *around, innermost = [[f"  {line}" for line in lines] for lines in self._lines]
        heads = [
            _head(depth, extent, depth == last, before)
            for depth, (extent, before) in enumerate(zip(extents, [[], *around], strict=True))
        ]
        tails = [_tail(depth, depth == last) for depth in reversed(range(len(extents)))]
        return "\n".join([
            *(f"declare {each}" for each in self._declared),
            f"define void @tile(i64 %at, i64 %low, i64 %high{pointers}) {{",
            "entry:",
            "  br label %before0",
            *heads,
            "body:",
            *innermost,
            *tails,
            "end:",
            "  ret void",
            "}",
            # No element is read after another one was written: blocks may be computed several at a time.
            "!0 = distinct !{}",
            '!1 = !{!"llvm.loop.parallel_accesses", !0}',
            "!2 = distinct !{!2, !1}",
            "",
        ])  # fmt: skip

    def _new(self, line: str) -> str:
        register = f"%v{len(self._depths)}"
        self._depths[register] = self._depth
        self._lines[self._depth].append(f"{register} = {line}")
        return register

    def _address(self, number: int, window: Strided, kind: str) -> str:
        places = ["%at", *(f"%i{depth}" for depth in range(len(window.shape) - 1))]
        offset = "0"
        for place, step, extent in zip(places, window.strides, window.shape, strict=True):
            if step and extent > 1:
                scaled = self._new(f"mul nsw i64 {place}, {step}")
                offset = scaled if offset == "0" else self._new(f"add nsw i64 {offset}, {scaled}")
        return self._new(f"getelementptr inbounds {kind}, ptr %p{number}, i64 {offset}")

    def _load(self, number: int, read: Access) -> str:
        dtype = read.value.dtype
        kind = _type(dtype)
        self._depth = _depth(read.window.strided)
        found = self._new(
            f"load {kind}, ptr {self._address(number, read.window.strided, kind)}, align 1, !llvm.access.group !0"
        )
        return self._new(f"icmp ne i8 {found}, 0") if dtype.kind == "b" else found

    def _store(self, number: int, write: Access) -> None:
        kind, register = _type(write.value.dtype), self._registers[write.value]
        self._depth = _depth(write.window.strided)
        if 1 in write.window.strided.shape[2 : 2 + self._depth]:
            raise _NotCheapError  # it lacks a dim around one that it has, and would be computed again along that
        if write.value.dtype.kind == "b":
            register = self._new(f"zext i1 {register} to i8")
        address = self._address(number, write.window.strided, kind)
        self._lines[self._depth].append(f"store {kind} {register}, ptr {address}, align 1, !llvm.access.group !0")

    def _operand(self, step: Step, operand: Value, source: Source, loads: Sequence[str]) -> str:
        if operand.splat is not None:
            return _literal(operand.splat, operand.dtype)
        root, places = source
        if root in self._registers:
            return self._registers[root]
        return loads[self._tile.access(root, inward(root, places, self._tile.spaces[step]))]

    def _computed(self, step: Step, loads: Sequence[str]) -> str:
        if step.kind is not Kind.POINTWISE:
            raise _NotCheapError
        pairs = zip(step.operands, self._tile.sources[step], strict=True)
        operands = [self._operand(step, operand, source, loads) for operand, source in pairs]
        self._depth = max((self._depths.get(operand, 0) for operand in operands), default=0)
        source, target = step.operands[-1].dtype, step.results[0].dtype
        kind = _register(source)
        match step.name:
            case "copy":
                return operands[0]
            case "select":
                return self._new(f"select i1 {operands[0]}, {kind} {operands[1]}, {kind} {operands[2]}")
            case "compare":
                return self._new(f"{_comparison(step.static, source)} {kind} {operands[0]}, {operands[1]}")
            case "convert":
                return self._converted(operands[0], source, target)
            case "maximum" | "minimum":
                return self._extreme(step.name, operands, source)
            case _ if step.name in _SHIFTS and source.kind in "iu":
                return self._shifted(_SHIFTS[step.name], operands, source)
            case _ if len(operands) == 2:
                table = {"f": _FLOAT, "i": _INTEGER, "u": _INTEGER, "b": _BIT}[source.kind]
                return self._new(f"{_known(table, step.name)} {kind} {operands[0]}, {operands[1]}")
            case _:
                return self._of_one(step.name, operands[0], source)

    def _of_one(self, name: str, operand: str, dtype: np.dtype[Any]) -> str:
        kind = _register(dtype)
        if name == "not":
            return self._new(f"xor {kind} {operand}, {'true' if dtype.kind == 'b' else -1}")
        if name == "negate" and dtype.kind in "iu":
            return self._new(f"sub {kind} 0, {operand}")
        if dtype.kind != "f":
            raise _NotCheapError
        if name == "negate":
            return self._new(f"fneg {kind} {operand}")
        if name == "square":
            return self._new(f"fmul {kind} {operand}, {operand}")
        function = f"{kind} @llvm.{_known(_INTRINSICS, name)}.f{dtype.itemsize * 8}"
        self._declared[f"{function}({kind})"] = None
        return self._new(f"call {function}({kind} {operand})")

    def _extreme(self, name: str, operands: Sequence[str], dtype: np.dtype[Any]) -> str:
        """Of floats the first where it is NaN, so that NaN is the result wherever one is involved."""
        kind, (one, other) = _register(dtype), operands
        direction = "gt" if name == "maximum" else "lt"
        first = self._new(f"{_comparison((direction.upper(), False), dtype)} {kind} {one}, {other}")
        if dtype.kind == "f":
            nothing = self._new(f"fcmp uno {kind} {one}, {one}")
            first = self._new(f"or i1 {first}, {nothing}")
        return self._new(f"select i1 {first}, {kind} {one}, {kind} {other}")

    def _shifted(self, shift: str, operands: Sequence[str], dtype: np.dtype[Any]) -> str:
        """By the width or more a shift to the right leaves the sign alone, any other nothing; LLVM leaves that open."""
        kind, width = _register(dtype), dtype.itemsize * 8
        inside = self._new(f"icmp ult {kind} {operands[1]}, {width}")
        by = self._new(f"select i1 {inside}, {kind} {operands[1]}, {kind} {width - 1}")
        shifted = self._new(f"{shift} {kind} {operands[0]}, {by}")
        return shifted if shift == "ashr" else self._new(f"select i1 {inside}, {kind} {shifted}, {kind} 0")

    def _converted(self, operand: str, source: np.dtype[Any], target: np.dtype[Any]) -> str:
        here, there = _register(source), _register(target)
        if here == there:
            return operand
        if target.kind == "f" and source.kind == "f":
            cast = "fpext" if target.itemsize > source.itemsize else "fptrunc"
        elif target.kind == "f":
            cast = "sitofp" if source.kind == "i" else "uitofp"
        elif target.kind in "iu" and source.kind in "iub":
            wider = source.kind == "b" or target.itemsize > source.itemsize
            cast = ("sext" if source.kind == "i" else "zext") if wider else "trunc"
        else:  # from floats to integers, and to truth values
            raise _NotCheapError
        return self._new(f"{cast} {here} {operand} to {there}")


def _depth(window: Strided) -> int:
    """The innermost loop along which the place in the window changes: 0 for the one over rows."""
    own = zip(window.strides[2:], window.shape[2:], strict=True)
    return max((depth for depth, (step, extent) in enumerate(own, 1) if step and extent > 1), default=0)


def _known(table: dict[str, str], name: str) -> str:
    if name not in table:
        raise _NotCheapError
    return table[name]


def _type(dtype: np.dtype[Any]) -> str:
    return _known(_TYPES, dtype.name)


def _register(dtype: np.dtype[Any]) -> str:
    return "i1" if dtype.kind == "b" else _type(dtype)


def _literal(number: Any, dtype: np.dtype[Any]) -> str:
    if dtype.kind == "b":
        return "true" if number else "false"
    _type(dtype)
    return str(int(number)) if dtype.kind in "iu" else f"0x{struct.pack('>d', float(number)).hex().upper()}"


def _comparison(static: tuple[str, bool], dtype: np.dtype[Any]) -> str:
    """How two elements are compared; with NaN nothing holds but that they differ."""
    direction, total = static
    order = _ORDERS[direction]
    if dtype.kind == "f":
        if total:
            raise _NotCheapError
        return f"fcmp {'une' if order == 'ne' else f'o{order}'}"
    signed = "" if order in ("eq", "ne") else "s" if dtype.kind == "i" else "u"
    return f"icmp {signed}{order}"


def _head(depth: int, extent: int | None, innermost: bool, before: Sequence[str]) -> str:
    inside = "body" if innermost else f"before{depth + 1}"
    low, high = ("%low", "%high") if extent is None else ("0", str(extent))
    return "\n".join([
        f"before{depth}:",
        *before,
        f"  br label %head{depth}",
        f"head{depth}:",
        f"  %i{depth} = phi i64 [ {low}, %before{depth} ], [ %n{depth}, %tail{depth} ]",
        f"  %go{depth} = icmp slt i64 %i{depth}, {high}",
        f"  br i1 %go{depth}, label %{inside}, label %{f'tail{depth - 1}' if depth else 'end'}",
    ])  # fmt: skip


def _tail(depth: int, innermost: bool) -> str:
    body = [f"  br label %tail{depth}"] if innermost else []
    metadata = ", !llvm.loop !2" if innermost else ""
    return "\n".join([
        *body,
        f"tail{depth}:",
        f"  %n{depth} = add nsw i64 %i{depth}, 1",
        f"  br label %head{depth}{metadata}",
    ])  # fmt: skip


Tiling = Callable[..., None]


def native(text: str) -> Callable[[Tiling], Tiling]:
    """Puts the machine code of a loop in the place of the function of a tile, where llvmlite can be had."""

    def replaced(tile: Tiling) -> Tiling:
        return tile if not is_there() else _called(text)

    return replaced


@cache
def is_there() -> bool:
    """Whether loops can be compiled: older versions of llvmlite have pointers of many types, which the text has not."""
    try:
        found = version("llvmlite")
    except PackageNotFoundError:
        return False
    return Version(found) >= Version(_OLDEST)


@lru_cache(maxsize=1024)
def _called(text: str) -> Tiling:
    function, engine = _compiled(text)

    def tile(at: int, low: int, high: int, scratch: object, *arrays: Any) -> None:
        function(at, low, high, *[array.__array_interface__["data"][0] for array in arrays])

    tile.__dict__["engine"] = engine  # it owns the code
    return tile


def _compiled(text: str) -> tuple[Callable[..., None], object]:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(text)
    features = llvm.get_host_cpu_features().flatten()
    machine = llvm.Target.from_default_triple().create_target_machine(llvm.get_host_cpu_name(), features, 3)
    builder = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(3))
    builder.getModulePassManager().run(module, builder)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.finalize_object()
    pointers = text.partition("@tile(")[2].partition("{")[0].count("ptr")
    signature = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 3, *[ctypes.c_void_p] * pointers)
    return signature(engine.get_function_address("tile")), engine
