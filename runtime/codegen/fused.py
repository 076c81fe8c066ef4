"""
From a plan to Python text for NumPy: buffers made once, tiles as functions of blocks, everything written in place.

The text has three parts: the windows on the arena and on constants, one function for each fused group, and `main`,
which takes the global arguments and returns the global results. As in `runtime.codegen`, no text of the module becomes
code.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shardwright.runtime.codegen.native import is_there, loop_text
from shardwright.runtime.codegen.plain import FOLDS, Emitted, Table, body_lines, branch_head, comment, kernel_call
from shardwright.runtime.fusing.boxes import Box, Cut, Paste
from shardwright.runtime.fusing.chains import Chain
from shardwright.runtime.fusing.fusion import Places, inward
from shardwright.runtime.fusing.products import Batch, Product
from shardwright.runtime.fusing.tiles import Scratch, Tile
from shardwright.runtime.kernels import table as pointwise
from shardwright.runtime.kernels.elementwise import COMPARISONS, working_dtype
from shardwright.runtime.kernels.shape import REDUCTIONS
from shardwright.runtime.kernels.table import dtype_text
from shardwright.runtime.planning.plan import Plan
from shardwright.runtime.planning.storage import Buffer, Copy, Count, Home, Window
from shardwright.runtime.planning.strided import Strided
from shardwright.runtime.planning.units import Branch, Kernel, Loop, Part, Sum, Tally, Test, Unit
from shardwright.runtime.program import Counter, Kind, Program, Step, Value

_LONGEST_SEARCHED_ROW = 1024
"""Elements of a row up to which searching it for its extreme is faster than reducing it."""


@dataclass
class _Text(Table):
    """The text so far: what is done once, what each run starts with, and what it does."""

    plan: Plan = field(default_factory=Plan)
    once: list[str] = field(default_factory=list[str])
    tiles: list[str] = field(default_factory=list[str])
    tile_count: int = 0
    block_count: int = 0
    loops: dict[Any, tuple[str, ...]] = field(default_factory=dict[Any, tuple[str, ...]])
    start: list[str] = field(default_factory=list[str])
    main: list[str] = field(default_factory=list[str])
    scratch_bytes: int = 0

    def line(self, line: str, location: str = "") -> None:
        """A line of `main`."""
        self.main.append(f"    {line}{comment(location)}")

    def window(self, window: Window) -> str:
        """The name of an array with these elements; made once where the buffer outlives a run."""
        name = self.names.get(window)
        if name is None:
            buffer, strided = window.buffer, window.strided
            form = self._form(strided, buffer.dtype)
            base, offset = self._base(buffer)
            once = buffer.home in (Home.ARENA, Home.CONSTANT)
            name = self.names[window] = f"{'b' if once else 'w'}{len(self.names)}"
            line = f"{name} = {form}({base}, {offset + strided.offset * buffer.dtype.itemsize})"
            self.once.append(line) if once else self.start.append(f"    {line}")
        return name

    def _form(self, strided: Strided, dtype: np.dtype[Any]) -> str:
        """What makes arrays whose elements lie like this: of several layers, say, the arrays differ in place alone."""
        key = "form", strided.shape, strided.strides, dtype
        name = self.names.get(key)
        if name is None:
            name = self.names[key] = f"form{len(self.names)}"
            strides = tuple(step * dtype.itemsize for step in strided.strides)
            self.once.append(f"{name} = partial(xp.ndarray, {strided.shape}, {dtype_text(dtype)}, strides={strides})")
        return name

    def ones(self, count: int, dtype: np.dtype[Any]) -> str:
        """The name of so many ones, which the first run makes."""
        key = "ones", count, dtype
        if key not in self.names:
            self.names[key] = f"ones{len(self.names)}"
            self.once.append(f"{self.names[key]} = xp.ones({count}, {dtype_text(dtype)})")
        return self.names[key]

    def is_one_place(self, one: Window, other: Window) -> bool:
        """Whether two windows are the same memory, seen the same way."""
        return one.strided == other.strided and self._base(one.buffer) == self._base(other.buffer)

    def _base(self, buffer: Buffer) -> tuple[str, int]:
        if buffer.home is Home.ARENA:
            return "arena", self.plan.offsets[buffer]
        if buffer.home is Home.CONSTANT:
            assert buffer.constant is not None
            return self.constant(buffer.constant.reshape(-1).view(np.uint8), buffer), 0
        return f"{'a' if buffer.home is Home.INPUT else 'r'}{buffer.index}", self.plan.offsets.get(buffer, 0)


def generate(program: Program, plan: Plan, results: Sequence[tuple[tuple[int, ...], np.dtype[Any]]]) -> Emitted:
    """The Python text of a plan; `results` gives shape and dtype of each global result."""
    text = _Text(plan=plan)
    arguments = ["ledger", "communicator", "crew", *(f"a{index}" for index in range(len(program.inputs)))]
    for index, (shape, dtype) in enumerate(results):
        text.start.append(f"    r{index} = xp.empty({math.prod(shape) * dtype.itemsize}, dtypes.uint8)")
    for unit in plan.units:
        _emit(unit, text)
    bodies = [line for name, body in program.bodies.items() for line in body_lines(name, body, text.constants)]
    returned = [f"r{at}.view({dtype_text(dtype)}).reshape({shape})" for at, (shape, dtype) in enumerate(results)]
    text.line(f"return [{', '.join(returned)}]")
    head = [*text.legend(), *text.once, ""]
    lines = [*head, *bodies, *text.tiles, f"def main({', '.join(arguments)}):", *text.start, *text.main]
    return Emitted("\n".join(lines) + "\n", text.constants, text.scratch_bytes)


def _emit(unit: Unit, text: _Text) -> None:
    # In one piece: a case for each kind of unit, so that what a kind becomes is found at one look.
    match unit:
        case Tile(outer=1) if not unit.parallel and unit.rows <= unit.block:
            _emit_block(unit, text)
        case Tile():
            text.line(f"{'crew' if unit.parallel else 'alone'}.tiles({_tile(unit, text)})", _span(unit))
        case Product():
            lhs, rhs, out = _operands(unit, text)
            text.line(f"xp.matmul({lhs}, {rhs}, out={out})", unit.location)
        case Batch():
            jobs = [f"({product.axis}, {', '.join(_operands(product, text))})" for product in unit.products]
            places = ", ".join(product.location for product in unit.products if product.location)
            text.line(f"crew.matmul({', '.join(jobs)})", places)
        case Chain():
            _emit_chain(unit, text)
        case Sum():
            names = text.window(unit.source), text.window(unit.target)
            text.line(_reduction(unit.kind, *names, unit.dims, unit.source.buffer.dtype), unit.location)
        case Copy():
            target, source = text.window(unit.target), text.window(unit.source)
            text.line(f"xp.copyto({target}, {source}, casting='unsafe')")
        case Count():
            text.line(f"{text.window(unit.target)}[...] = {_counted(unit.counter, text)}")
        case Loop() | Branch():
            _emit_control(unit, text)
        case Cut():
            place = _box(unit, text.window(unit.source), text)
            text.line(f"xp.copyto({text.window(unit.target)}, {place}, casting='unsafe')", unit.location)
        case Paste():
            _emit_paste(unit, text)
        case Kernel():
            _emit_kernel(unit, text)
        case Tally():
            message = text.constant(unit.message, unit)
            sources = [_tallied(source, text) for source in unit.sources]
            text.line(f"ledger.count({message}, {', '.join(sources)})", unit.location)
        case Test():
            text.line(f"if not {_scalar(unit.predicate, text)}: break")


def _emit_chain(unit: Chain, text: _Text) -> None:
    text.line("crew.chain(")
    for part, axis in unit.links:
        if isinstance(part, Tile):
            text.line(f"    tile_link({axis}, {_tile(part, text)}),", _span(part))
        else:
            text.line(f"    product_link({axis}, {', '.join(_operands(part, text))}),", part.location)
    text.line(")")


def _emit_paste(unit: Paste, text: _Text) -> None:
    target = text.window(unit.target)
    if not text.is_one_place(unit.operand, unit.target):
        text.line(f"xp.copyto({target}, {text.window(unit.operand)}, casting='unsafe')")
    place = _box(unit, target, text)
    text.line(f"{place} = {text.window(unit.update)}", unit.location)


def _operands(unit: Product, text: _Text) -> list[str]:
    return [text.window(window) for window in (unit.lhs, unit.rhs, unit.out)]


def _reduction(kind: str, source: str, target: str, axes: tuple[int, ...], dtype: np.dtype[Any]) -> str:
    if working_dtype(dtype) != dtype:
        return f"{target}[...] = k.reduce(xp, {source}, {kind!r}, {axes})"
    call = f"xp.{REDUCTIONS[kind]}.reduce"
    return f"{call}({source}, axis={axes}, keepdims=True, dtype={dtype_text(dtype)}, out={target})"


def _box(unit: Box, array: str, text: _Text) -> str:
    """A box of an array, after the lines that find its place."""
    ranges: list[str] = []
    for start, size in zip(unit.starts, unit.sizes, strict=True):
        if start.last == 0:
            ranges.append(":")
        elif isinstance(start.place, int):
            ranges.append(f"{start.place}:{start.place + size}")
        else:
            low = _start(start.place, start.last, text)
            ranges.append(f"{low}:{low} + {size}")
    while ranges and ranges[-1] == ":":
        ranges.pop()
    return f"{array}[{', '.join(ranges) or '...'}]"


def _start(place: Window | Counter, last: int, text: _Text) -> str:
    """Where a box starts, after the lines that find and clamp it."""
    name, found = f"i{len(text.main)}", _counted(place, text) if isinstance(place, Counter) else _scalar(place, text)
    inside = isinstance(place, Counter) and place.stays_within(0, last)
    if inside and found.isidentifier():
        return found
    text.line(f"{name} = {found}")
    if not inside:
        text.line(f"{name} = 0 if {name} < 0 else {last} if {name} > {last} else {name}")
    return name


def _scalar(window: Window, text: _Text) -> str:
    """The one element of a window, or whether any of several holds."""
    return f"{text.window(window)}.{'item' if window.strided.size == 1 else 'any'}()"


def _counted(counter: Counter, text: _Text) -> str:
    """The number that the round gives."""
    rounds = text.names[id(counter.program)]
    return f"{counter.start} + {counter.step} * {rounds}" if (counter.start, counter.step) != (0, 1) else rounds


def _emit_control(unit: Loop | Branch, text: _Text) -> None:
    number = f"n{len(text.main)}"
    if isinstance(unit, Loop):
        text.names[id(unit.program)] = number
        text.line(f"for {number} in {'count()' if unit.rounds is None else f'range({unit.rounds})'}:", unit.location)
        _emit_part(unit.part, text)
        name = text.constant(unit.name, ("name", unit.name))
        text.line(f"ledger.ran({name}, 'rounds', {number if unit.rounds is None else unit.rounds})")
        return
    name = text.constant(unit.name, ("name", unit.name))
    text.line(f"{number} = {_scalar(unit.index, text)}", unit.location)
    for at, part in enumerate(unit.parts):
        text.main.append(branch_head(number, at, len(unit.parts) - 1))
        _emit_part(part, text)
        text.line(f"    ledger.ran({name}, 'branch {unit.numbers[at]}')")


def _emit_part(part: Part, text: _Text) -> None:
    start = len(text.main)
    for unit in part.units:
        _emit(unit, text)
    text.main[start:] = [f"    {line}" for line in text.main[start:]] or ["        pass"]


def _tallied(source: Window | Value, text: _Text) -> str:
    """The buffer that is sent; where fusion left none, an array of its shape and dtype without memory."""
    if isinstance(source, Window):
        return text.window(source)
    stand_in = np.broadcast_to(np.empty((), source.dtype), source.shape)
    return text.constant(stand_in, ("shape", source.shape, source.dtype))


def _emit_kernel(unit: Kernel, text: _Text) -> None:
    if unit.step.kind is Kind.SEND:
        _emit_send(unit, text)
        return
    call = kernel_call(unit.step, [text.window(source) for source in unit.sources])
    targets = [text.window(target) for target in unit.targets]
    if unit.step.name in ("concatenate", "scatter"):
        text.line(f"{call[:-1]}, out={targets[0]})", unit.step.location)
        return
    left = ", ".join(f"{target}[...]" for target in targets) + ("," if unit.step.name in FOLDS else "")
    text.line(f"{left} = {call}" if targets else call, unit.step.location)


def _emit_send(unit: Kernel, text: _Text) -> None:
    """Elements travel in the order in which the result lies in memory, which is the same on all processes."""
    source, target = unit.sources[0], unit.targets[0]
    dims = range(len(target.strided.shape))
    inner = target.strided.order()
    order = (*(dim for dim in dims if dim not in inner), *inner)
    plan = text.constant(unit.step.static[0].ordered(order), (unit.step.static[0], order))
    text.line(
        f"communicator.{unit.step.name}({plan}, {text.window(source)}, {text.window(target)})", unit.step.location
    )


def _tile(tile: Tile, text: _Text) -> str:
    """What a crew needs to run a tile; tiles that do the same, say those of several layers, have one function."""
    arguments = [f"x{at}" for at in range(len(tile.reads))], [f"y{at}" for at in range(len(tile.writes))]
    body = _Block(tile, text, *arguments, "t")
    lines, scratch = tuple(body.lines()), _scratch(body, text)
    decorated = _native(tile, lines, scratch, text) if tile.parallel and is_there() else ()
    key = "tile", decorated, lines, scratch
    if key not in text.names:
        index, text.tile_count = text.tile_count, text.tile_count + 1
        names = [*arguments[0], *arguments[1]]
        count = len(body.scratch.slots)
        own = [f"{_listed('t', count)} = [t[: high - low] for t in s]"] if count else []
        cut = (f"{name} = {name}[at, low:high]" for name in names)
        header = f"def tile{index}({', '.join(['at', 'low', 'high', 's', *names])}):"
        text.tiles += [*decorated, header, *(f"    {line}" for line in (*cut, *own, *lines)), "", ""]
        text.once.append(f"s{index} = {scratch}")
        text.names[key] = str(index)
    index = text.names[key]
    arrays = [text.window(access.window) for access in (*tile.reads, *tile.writes)]
    return f"tile{index}, {tile.outer}, {tile.rows}, {tile.block}, s{index}, {', '.join(arrays)}"


def _native(tile: Tile, lines: tuple[str, ...], scratch: str, text: _Text) -> tuple[str, ...]:
    """The line that puts a loop in the place of a tile's function, if there is one: it follows from what is given."""
    layouts = tuple(
        (access.window.strided.shape, access.window.strided.strides, access.value.dtype)
        for access in (*tile.reads, *tile.writes)
    )
    key = "loop", lines, scratch, layouts
    if key not in text.loops:
        loop = loop_text(tile)
        text.loops[key] = () if loop is None else (f"@native({text.constant(loop, ('loop', loop))})",)
    return text.loops[key]


def _emit_block(tile: Tile, text: _Text) -> None:
    """A tile that is one block on one thread: its lines in place of a call."""
    index, text.block_count = text.block_count, text.block_count + 1
    reads, writes = ([text.window(_block(access.window)) for access in side] for side in (tile.reads, tile.writes))
    body = _Block(tile, text, reads, writes, f"t{index}_")
    first, *rest = body.lines()
    count = len(body.scratch.slots)
    if count:
        text.once.append(f"{_listed(f't{index}_', count)} = {_scratch(body, text)}[0]")
    text.line(first, _span(tile))
    text.main += [f"    {line}" for line in rest]


def _block(window: Window) -> Window:
    """The only block of a tile's window."""
    strided = window.strided
    return Window(window.buffer, Strided(strided.shape[1:], strided.strides[1:], strided.offset))


def _listed(prefix: str, count: int) -> str:
    return f"{', '.join(f'{prefix}{at}' for at in range(count))},"


def _span(tile: Tile) -> str:
    places = [location for step in tile.members if (location := step.location)]
    return f"{places[0]} to {places[-1]}" if len(places) > 1 else "".join(places)


def _scratch(block: _Block, text: _Text) -> str:
    slots = ", ".join(f"({at}, {shape}, {dtype_text(dtype)})" for at, shape, dtype in block.scratch.slots)
    text.scratch_bytes = max(text.scratch_bytes, block.scratch.nbytes)
    return f"scratch_arrays(scratch, [{slots}])"


class _Block:
    """The lines that compute one block of a tile, from what is read to what is written, by name."""

    def __init__(self, tile: Tile, text: _Text, reads: Sequence[str], writes: Sequence[str], temporary: str) -> None:
        self.tile, self.text, self.reads, self.temporary = tile, text, reads, temporary
        self.scratch = Scratch(tile.block)
        self.names = {write.value: name for write, name in zip(tile.writes, writes, strict=True)}
        self.slots: dict[Value, int] = {}
        self.body: list[str] = []

    def lines(self) -> list[str]:
        """The statements, in order."""
        traced = {step: self.tile.sources[step] for step in self.tile.members}
        last = {root: step for step, sources in traced.items() for root, _ in sources}
        for step, sources in traced.items():
            pairs = zip(step.operands, sources, strict=True)
            operands = [self._operand(step, operand, *source) for operand, source in pairs]
            read = dict.fromkeys(root for root, _ in sources)
            dead = [self.slots.pop(value) for value in read if value in self.slots and last[value] is step]
            late = step.name == "select" and not self._bits_at_once(step)
            for slot in () if late else dead:
                self.scratch.give(slot)
            target = self._target(step.results[0])
            self.body += self._compute(step, operands, target)
            for slot in dead if late else ():
                self.scratch.give(slot)
        return self.body

    def _bits_at_once(self, step: Step) -> bool:
        """Whether a select may write over what it reads: others write their mask while they have operands to read."""
        dtype = step.results[0].dtype
        plain = step.operands[2].splat is not None and dtype.kind in "fiu" and dtype.itemsize <= 8
        return plain and self._constant_mask(step, np.dtype(f"i{dtype.itemsize}")) is not None

    def _operand(self, step: Step, operand: Value, root: Value, places: Places) -> str:
        if operand.splat is not None:
            return self.text.scalar(operand)
        if root in self.names:
            return self.names[root]
        return self.reads[self.tile.access(root, inward(root, places, self.tile.spaces[step]))]

    def _target(self, value: Value) -> str:
        if value not in self.names:
            slot = self.scratch.take(self.tile.shapes[value], value.dtype)
            self.slots[value] = slot
            self.names[value] = f"{self.temporary}{slot}"
        return self.names[value]

    def _compute(self, step: Step, operands: list[str], target: str) -> list[str]:
        dtype = step.operands[0].dtype
        if step.kind is Kind.REDUCE:
            return [self._reduce(step, operands[0], target)]
        if step.name == "select":
            return self._select(step, operands, target)
        if step.name == "convert" and _plain_convert(dtype, step.results[0].dtype):
            return [f"xp.copyto({target}, {operands[0]}, casting='unsafe')"]
        call = _ufunc(step)
        if call is None:
            pairs = [(name, operand.dtype) for name, operand in zip(operands, step.operands, strict=True)]
            return [f"{target}[...] = {pointwise.expression(step.name, pairs, step.results[0].dtype, step.static)}"]
        return [f"xp.{call}({', '.join(operands)}, out={target})"]

    def _select(self, step: Step, operands: list[str], target: str) -> list[str]:
        dtype = step.results[0].dtype
        if dtype.kind not in "fiu" or dtype.itemsize > 8:
            return [f"{target}[...] = xp.where({', '.join(operands)})"]
        constant = self._constant_mask(step, np.dtype(f"i{dtype.itemsize}"))
        if constant is not None:
            return self._masked(step, constant, operands, target)
        shape = self._mask_shape(step)
        slot = self.scratch.take(shape, np.dtype(f"i{dtype.itemsize}"))
        self.scratch.give(slot)
        return [f"k.blend(xp, {', '.join(operands)}, {target}, {self.temporary}{slot})"]

    def _masked(self, step: Step, mask: str, operands: list[str], target: str) -> list[str]:
        """A blend by a constant mask; where the other choice is a constant too, its masked bits are made once."""
        on_false = step.operands[2].splat
        if on_false is None:
            return [f"k.blend_bits(xp, {mask}, {', '.join(operands[1:])}, {target})"]
        words = self.text.constants[mask]
        rest = np.invert(words) & on_false.view(words.dtype)
        name = self.text.constant(rest, ("rest", mask, on_false.tobytes()))
        bits = dtype_text(words.dtype)
        return [
            f"xp.bitwise_and({operands[1]}.view({bits}), {mask}, out={target}.view({bits}))",
            f"xp.bitwise_or({target}.view({bits}), {name}, out={target}.view({bits}))",
        ]

    def _constant_mask(self, step: Step, bits: np.dtype[Any]) -> str | None:
        """The name of all-ones-or-zeros words for a predicate that is the same in every block of every run."""
        root, places = self.tile.sources[step][0]
        if step.operands[0].splat is not None or root in self.names:
            return None
        at = self.tile.access(root, inward(root, places, self.tile.spaces[step]))
        window = self.tile.reads[at].window
        if window.buffer.constant is None or not window.buffer.size or any(window.strided.strides[:2]):
            return None
        size, kept = window.buffer.constant.itemsize, window.strided
        flat = window.buffer.constant.reshape(-1).view(np.uint8)
        strides = [step * size for step in kept.strides[2:]]
        array = np.ndarray(kept.shape[2:], window.buffer.dtype, flat, kept.offset * size, strides)
        return self.text.constant(-array.astype(bits)[None], ("mask", window, bits.name))

    def _mask_shape(self, step: Step) -> tuple[int, ...]:
        _, places = self.tile.sources[step][0]
        space = self.tile.spaces[step]
        present = {space[dim] for dim, place in enumerate(places) if place is not None}
        pairs = zip(self.tile.segments, self.tile.inner, strict=True)
        return tuple(extent if segment[0] in present else 1 for segment, extent in pairs)

    def _reduce(self, step: Step, operand: str, target: str) -> str:
        axes, dtype = self.tile.axes(step), step.results[0].dtype
        by_row = working_dtype(dtype) == dtype and dtype.kind == "f" and axes == (len(self.tile.inner),)
        if step.name in ("max", "min") and by_row and self.tile.inner[-1] <= _LONGEST_SEARCHED_ROW:
            return f"k.row_extreme(xp, {step.name!r}, {operand}, {target})"
        if step.name == "sum" and by_row:
            return f"xp.matmul({operand}, {self.text.ones(self.tile.inner[-1], dtype)}, out={target}[..., 0])"
        return _reduction(step.name, operand, target, axes, dtype)


def _plain_convert(source: np.dtype[Any], target: np.dtype[Any]) -> bool:
    """Whether a plain cast is the conversion: not from floats to integers, nor to booleans or to narrow integers."""
    if target.kind == "f":
        return source.kind in "fiub" and target.itemsize > 2
    return target.kind in "iu" and source.kind in "iub"


def _ufunc(step: Step) -> str | None:
    """The ufunc that computes the step in place, if one does."""
    dtype = step.operands[0].dtype
    if any(working_dtype(value.dtype) != value.dtype for value in (*step.operands, *step.results)):
        return None
    if step.name == "compare":
        direction, total = step.static
        return None if total and dtype.kind == "f" else COMPARISONS[direction]
    if step.name in ("convert", "reduce_precision", "real") or (step.name == "abs" and dtype.kind == "c"):
        return None
    if dtype.kind in "iu" and dtype.isbuiltin == 1 and step.name in _SHIFTS[dtype.kind]:
        return _SHIFTS[dtype.kind][step.name]
    if step.name == "power" and dtype.kind == "f" and _one_exponent(step.operands[1]):
        return "power"
    return pointwise.ufunc_name(step.name, dtype)


def _one_exponent(exponent: Value) -> bool:
    """Whether all elements have one exponent, and one that NumPy takes for what it is."""
    return exponent.splat is not None and exponent.splat != 0.5


_SHIFTS = {
    "i": {"shift_left": "left_shift", "shift_right_arithmetic": "right_shift"},
    "u": {"shift_left": "left_shift", "shift_right_logical": "right_shift"},
}
"""NumPy's own shifts, by kind of integer: by more than the width they do what StableHLO's do."""
