"""
Trials: one op on all devices of a mesh under given layouts, next to the same op on whole arrays.

Everything is plain slicing with NumPy: nothing of the passes or the runtime is trusted. Only the kernels come from
outside, as a callable that compiles a module of whole-array ops for one device.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ml_dtypes
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects import dtensor, stablehlo
from shardwright.dialects.types import element_dtype, shape_of, tensor, tensor_type
from shardwright.layout.boxes import box, linear_index
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import local_shape
from shardwright.layout.spec import LayoutSpec
from shardwright.rules.local.hooks import HOOKS, Local, run_hook
from shardwright.rules.sharding import rule_for

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Shape: TypeAlias = tuple[int, ...]
Coordinates: TypeAlias = Mapping[str, int]
Compiled: TypeAlias = Callable[[Sequence[Array]], Sequence[Array]]
Compile: TypeAlias = Callable[[ModuleOp], Compiled]
"""Makes a function of whole arrays from a module without meshes."""

Draw: TypeAlias = Callable[[np.random.Generator, Shape, np.dtype[Any]], Array]
"""Makes random elements: `draw(generator, shape, dtype)`."""

_COMBINE: dict[str, np.ufunc] = {
    "sum": np.add,
    "prod": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
}


@dataclass(frozen=True, slots=True)
class Placement:
    """A layout for each operand and each result of one op."""

    operands: tuple[LayoutSpec, ...]
    results: tuple[LayoutSpec, ...]

    @property
    def uses_axes(self) -> bool:
        """Whether any tensor is split or partial."""
        return any(spec.axes() for spec in self.operands + self.results)

    def __str__(self) -> str:
        sides = (", ".join(spec.body() for spec in side) for side in (self.operands, self.results))
        return " -> ".join(sides)


def draw_small(generator: np.random.Generator, shape: Shape, dtype: np.dtype[Any]) -> Array:
    """Small random numbers, hardly ever the same; floats are multiples of 1/256, so that their sums are exact."""
    bounds = {"b": (0, 2), "u": (0, 250), "i": (-120, 120)}.get(dtype.kind)
    if bounds is not None:
        return generator.integers(*bounds, shape).astype(dtype)
    numbers = generator.integers(-800, 800, shape) / 256
    if dtype.kind == "c":
        numbers = numbers + 1j * generator.integers(-800, 800, shape) / 256
    return np.asarray(numbers).astype(dtype)


def combine(parts: Array, kind: str) -> Array:
    """The finished value of partial results, which lie along the first dim."""
    return parts[0] if len(parts) == 1 else _COMBINE[kind].reduce(parts, axis=0, dtype=parts.dtype)


def agree(found: Array, expected: Array, tolerance: float) -> bool:
    """Whether two results are the same, but for an error that is small next to the largest number."""
    if found.shape != expected.shape or found.dtype != expected.dtype:
        return False
    if found.dtype.kind in "biu":
        return bool(np.array_equal(found, expected))
    wide = np.complex128 if found.dtype.kind == "c" else np.float64
    left, right = found.astype(wide), expected.astype(wide)
    finite = np.abs(right[np.isfinite(right)])
    return bool(np.allclose(left, right, tolerance, tolerance * float(finite.max(initial=1.0)), equal_nan=True))


def rounding(op: Operation) -> float:
    """How much results may differ that are summed in another order: the coarsest of the op's types decides."""
    dtypes = [element_dtype(value.type) for value in (*op.operands, *op.results)]
    return 8 * max([float(ml_dtypes.finfo(dtype).eps) for dtype in dtypes if dtype.kind not in "biu"], default=0.0)


class Trial:
    """
    The last op of a module's `@main`, run whole and run in parts.

    Its operands must be arguments of the function, each used once, or scalar constants.
    """

    def __init__(self, module: ModuleOp, mesh: Mesh, compile_module: Compile, draw: Draw = draw_small) -> None:
        self.module = module
        self.mesh = mesh
        self.op = _subject(module)
        self.rule = rule_for(self.op)
        self.tolerance = rounding(self.op)
        self.draw = draw
        self._compile = compile_module
        self._whole = compile_module(module.clone())
        self._locals: dict[object, list[Compiled] | None] = {}
        self._wholes: dict[object, tuple[list[Array], list[Array]]] = {}
        self.arguments = [operand.index if isinstance(operand, BlockArgument) else None for operand in self.op.operands]

    @property
    def operand_shapes(self) -> list[Shape]:
        """The shape of each operand."""
        return [shape_of(value) for value in self.op.operands]

    @property
    def result_shapes(self) -> list[Shape]:
        """The shape of each result."""
        return [shape_of(value) for value in self.op.results]

    def devices(self) -> list[dict[str, int]]:
        """The coordinates of every device."""
        names = self.mesh.axis_names
        return [dict(zip(names, at, strict=True)) for at in itertools.product(*map(range, self.mesh.shape))]

    def run_whole(self, operands: Sequence[LayoutSpec], seed: int) -> tuple[list[Array], list[Array]]:
        """Each argument's partial results along a new first dim, and the results of the op on whole arguments."""
        key = (tuple((spec.partial, spec.kind) for spec in operands), seed)
        if key not in self._wholes:
            parts = self._draw_all(operands, seed)
            arguments = [combine(parts[place], operands[place].kind) for place in self._places()]
            self._wholes[key] = parts, list(self._whole(arguments))
        return self._wholes[key]

    def _places(self) -> list[int]:
        """For each argument of the function the operand that it is."""
        return [self.arguments.index(index) for index in range(sum(at is not None for at in self.arguments))]

    def _draw_all(self, operands: Sequence[LayoutSpec], seed: int) -> list[Array]:
        generator = np.random.default_rng(seed)
        return [
            self.draw(generator, (self.mesh.group_size(spec.partial), *shape_of(value)), element_dtype(value.type))
            for spec, value in zip(operands, self.op.operands, strict=True)
        ]

    def run_parts(self, placement: Placement, seed: int, *, verify: bool = False) -> list[list[Array]] | None:
        """
        Each device's results under a placement; with `verify`, None when its local shapes make no op.

        Only the dims of the results' layouts count: what is partial shows in the numbers.
        """
        compiled = self._local(placement, verify)
        if compiled is None:
            return None
        parts, _ = self.run_whole(placement.operands, seed)
        outputs: list[list[Array]] = []
        for device, coordinates in enumerate(self.devices()):
            shards = [self._shard(parts[place], placement.operands[place], coordinates) for place in self._places()]
            outputs.append(list(compiled[device % len(compiled)](shards)))
        return outputs

    def _shard(self, parts: Array, spec: LayoutSpec, coordinates: Coordinates) -> Array:
        mine = parts[linear_index(spec.partial, self.mesh, coordinates)]
        return np.array(mine[_slices(spec, mine.shape, self.mesh, coordinates)])

    def assemble(self, shards: Sequence[Array], spec: LayoutSpec, shape: Shape) -> Array | None:
        """The whole result from each device's; None when shapes do not fit or replicas differ."""
        if any(shard.shape != local_shape(spec, shape, self.mesh) for shard in shards):
            return None
        parts = np.zeros((self.mesh.group_size(spec.partial), *shape), shards[0].dtype)
        seen: set[object] = set()
        for shard, coordinates in zip(shards, self.devices(), strict=True):
            slices = _slices(spec, shape, self.mesh, coordinates)
            place = (linear_index(spec.partial, self.mesh, coordinates), *slices)
            name = tuple((at.start, at.stop) if isinstance(at, slice) else at for at in place)
            if name not in seen:
                parts[place] = shard
            elif not np.array_equal(parts[place], shard, equal_nan=shard.dtype.kind in "fc"):
                return None
            seen.add(name)
        return combine(parts, spec.kind)

    def _local(self, placement: Placement, verify: bool) -> list[Compiled] | None:
        """The compiled local op: one for each device if it depends on the device."""
        operands = self._local_shapes(placement.operands, self.operand_shapes)
        results = self._local_shapes(placement.results, self.result_shapes)
        hooked = (placement.operands, placement.results) if self.op.name in HOOKS else ()
        key = (operands, results, hooked, verify)
        if key not in self._locals:
            self._locals[key] = self._compile_local(operands, results, placement, verify)
        return self._locals[key]

    def _compile_local(
        self, operands: Sequence[Shape], results: Sequence[Shape], placement: Placement, verify: bool
    ) -> list[Compiled] | None:
        try:
            module = self._local_module(operands, results, placement)
            if verify:
                # What ops say of their own types; xDSL's way would print the module for each error.
                for op in _function(module).body.block.ops:
                    op.verify_()
        except (VerifyException, ValueError):
            if verify:
                return None
            raise
        return self._for_devices(module)

    def _local_shapes(self, specs: Sequence[LayoutSpec], shapes: Sequence[Shape]) -> tuple[Shape, ...]:
        return tuple(local_shape(spec, shape, self.mesh) for spec, shape in zip(specs, shapes, strict=True))

    def _local_module(self, operands: Sequence[Shape], results: Sequence[Shape], placement: Placement) -> ModuleOp:
        """The module with per-device types, its op as the hooks leave it: what `localize` makes of it."""
        module = self.module.clone()
        op = _subject(module)
        for value, shape in (*zip(op.operands, operands, strict=True), *zip(op.results, results, strict=True)):
            value._type = tensor(shape, tensor_type(value).element_type)  # pyright: ignore[reportPrivateUsage]
        local = Local(lambda new: _insert(new, op), placement.operands, placement.results, self.mesh)
        if op.name in HOOKS and local.split:
            run_hook(op, local)
        _function(module).update_function_type()
        return module

    def _for_devices(self, module: ModuleOp) -> list[Compiled]:
        if not any(isinstance(op, dtensor.AxisIndexOp) for op in module.walk()):
            return [self._compile(module)]
        return [self._compile(_on_device(module.clone(), self.mesh, at)) for at in self.devices()]


def _insert(new: Operation, op: Operation) -> Operation:
    assert op.parent is not None
    op.parent.insert_op_before(new, op)
    return new


def _on_device(module: ModuleOp, mesh: Mesh, coordinates: Coordinates) -> ModuleOp:
    """Puts the numbers of one device in the place of `dtensor.axis_index`."""
    for op in list(module.walk()):
        if isinstance(op, dtensor.AxisIndexOp):
            index = linear_index(op.axes.data, mesh, coordinates)
            constant = stablehlo.make_constant(index, tensor_type(op.results[0]).element_type, ())
            _insert(constant, op)
            op.results[0].replace_all_uses_with(constant.results[0])
            op.detach()
            op.erase()
    return module


def _slices(spec: LayoutSpec, shape: Shape, mesh: Mesh, coordinates: Coordinates) -> tuple[slice, ...]:
    return tuple(slice(start, stop) for start, stop in box(spec, shape, mesh, coordinates))


def _function(module: ModuleOp) -> FuncOp:
    function = module.body.block.first_op
    assert isinstance(function, FuncOp)
    return function


def _subject(module: ModuleOp) -> Operation:
    """The op before the return; `ValueError` when its operands are not what a trial can split."""
    last = _function(module).body.block.last_op
    assert isinstance(last, ReturnOp)
    op = last.prev_op
    if op is None or list(op.results) != list(last.operands):
        raise ValueError("a trial needs an op right before the return, which returns its results")
    arguments = [operand for operand in op.operands if not _is_scalar_constant(operand)]
    if sorted(map(id, arguments)) != sorted(map(id, _function(module).body.block.args)):
        raise ValueError(f"the operands of {op.name} must be the function's arguments, once each, or scalar constants")
    return op


def _is_scalar_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, stablehlo.ConstantOp) and shape_of(value) == ()
