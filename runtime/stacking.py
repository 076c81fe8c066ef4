"""
Global arrays as stacked arrays and back.

The *stacked form* of a distributed array has one leading dim for each mesh axis (its size, or 1 where the array does
not vary along it), then the local shape. Scattering is a view wherever the layout has no parts of axes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np

from shardwright.dialects.types import dtype_element, is_integer
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning.algebra import whole_shape
from shardwright.layout.spec import LayoutSpec
from shardwright.runtime.atoms import Atoms, DimAtoms
from shardwright.runtime.kernels.shape import REDUCTIONS

Array = Any

_UNSEEN = 0b1010101
"""An element of padding."""

_IDENTITIES = {"sum": 0, "prod": 1, "or": 0, "and": -1}


def to_stacked(array: Array, spec: LayoutSpec, mesh: Mesh) -> Array:
    """
    The stacked form of a global array: of a mesh over several processes, what this one holds of it.

    Partial axes hold the value at their index 0 and the reduction's identity elsewhere. Where a dim does not divide,
    the last parts are padded.

    >>> from shardwright.layout.axes import Axis
    >>> spec = LayoutSpec("mesh", ((Axis("x"),),))
    >>> to_stacked(np.arange(4), spec, Mesh([("x", 2)])).tolist()
    [[0, 1], [2, 3]]
    """
    atoms = Atoms.cut(mesh, spec.axes(), mesh.clients)
    return merge_atoms(scatter(padded(array, whole_shape(spec, array.shape, mesh)), spec, atoms), atoms)


def from_stacked(stacked: Array, spec: LayoutSpec, mesh: Mesh) -> Array:
    """
    The global array of a stacked form; partial results are combined.

    >>> from shardwright.layout.axes import Axis
    >>> spec = LayoutSpec("mesh", ((Axis("x"),),))
    >>> from_stacked(np.array([[0, 1], [2, 3]]), spec, Mesh([("x", 2)])).tolist()
    [0, 1, 2, 3]
    """
    atoms = Atoms.cut(mesh, spec.axes(), mesh.clients)
    return gather(split_atoms(stacked, spec, atoms), spec, atoms)


def component(stacked: Array, mesh: Mesh, device: int) -> Array:
    """The local array of one device of this process, by its row-major index in the mesh."""
    coordinates = np.unravel_index(device, mesh.shape) if mesh.shape else ()
    held = [int(at) % size for at, size in zip(coordinates, mesh.client_shape, strict=True)]
    return stacked[(*(min(at, size - 1) for at, size in zip(held, stacked.shape, strict=False)), ...)]


def stack_components(components: Sequence[Array], spec: LayoutSpec, mesh: Mesh) -> Array:
    """
    The stacked form made of the local array of every device of this process, in row-major order of the mesh.

    Along axes that the layout does not name the first device's array is taken.
    """
    whole = np.stack(components).reshape(mesh.client_shape + components[0].shape)
    used = {axis.name for axis in spec.axes()}
    return whole[tuple(slice(None) if name in used else slice(0, 1) for name in mesh.axis_names)]


def local_shape(shape: Sequence[int], spec: LayoutSpec, mesh: Mesh) -> tuple[int, ...]:
    """The shape of each device's array, with the padding of those whose part is shorter."""
    return tuple(-(-extent // mesh.group_size(axes)) for extent, axes in zip(shape, spec.dims, strict=True))


def stacked_shape(shape: Sequence[int], spec: LayoutSpec, mesh: Mesh) -> tuple[int, ...]:
    """
    The shape of the stacked form of a global array.

    >>> from shardwright.layout.axes import Axis
    >>> stacked_shape((4, 6), LayoutSpec("mesh", ((Axis("y"),), ())), Mesh(x=2, y=4))
    (1, 4, 1, 6)
    """
    varying = {axis.name for axis in spec.axes()}
    lead = (size if name in varying else 1 for name, size in mesh.sizes.items())
    return (*lead, *local_shape(shape, spec, mesh))


def scatter(array: Array, spec: LayoutSpec, atoms: Atoms) -> Array:
    """A global array with a leading dim for each atom."""
    own = own_part(array, atoms.dims(spec), atoms)
    stacked = split_dims(own[(None,) * atoms.count], atoms.held_dims(atoms.dims(spec)), atoms)
    partial = atoms.positions(spec.partial)
    if not partial:
        return stacked
    varying = {position for dim in atoms.dims(spec) for position in dim} | set(partial)
    whole = np.full(atoms.lead(varying) + stacked.shape[atoms.count :], identity(spec.kind, stacked.dtype))
    if all(atoms.coordinates.get(position, 0) == 0 for position in partial):
        whole[tuple(slice(0, 1) if position in partial else slice(None) for position in range(atoms.count))] = stacked
    return whole.astype(stacked.dtype, copy=False)


def gather(stacked: Array, spec: LayoutSpec, atoms: Atoms) -> Array:
    """The global array of one with a leading dim for each atom."""
    partial = atoms.positions(spec.partial)
    if partial:
        lead = tuple(atoms.held[at] if at in partial else extent for at, extent in enumerate(stacked.shape))
        stacked = combine(np.broadcast_to(stacked, lead), spec.kind, partial)
    merged = merge_dims(stacked, atoms.held_dims(atoms.dims(spec)), atoms)
    return merged.reshape(merged.shape[atoms.count :])


def combine(array: Array, kind: str, positions: Sequence[int]) -> Array:
    """Reduces leading dims, keeping them with size 1."""
    return getattr(np, REDUCTIONS[kind]).reduce(array, axis=tuple(positions), keepdims=True, dtype=array.dtype)


def identity(kind: str, dtype: np.dtype[Any]) -> Any:
    """
    The value that a reduction leaves alone.

    >>> float(identity("max", np.dtype("float32"))), int(identity("min", np.dtype("int8")))
    (-inf, 127)
    """
    if kind in _IDENTITIES:
        return np.array(_IDENTITIES[kind]).astype(dtype)[()]
    sign = -1 if kind == "max" else 1
    if dtype.kind == "b":
        return np.bool_(sign > 0)
    if is_integer(dtype_element(dtype)):
        limits = ml_dtypes.iinfo(dtype)
        return np.array(limits.min if sign < 0 else limits.max).astype(dtype)[()]
    infinity = np.array(sign * np.inf).astype(dtype)[()]
    # Some narrow floats have no infinity.
    return infinity if np.isinf(infinity) else np.array(sign * float(ml_dtypes.finfo(dtype).max)).astype(dtype)[()]


def own_part(array: Array, dims: DimAtoms, atoms: Atoms) -> Array:
    """Of a global array the elements of this process, where `dims` are the atoms that split each dim."""
    for dim, positions in enumerate(dims):
        if not atoms.across.isdisjoint(positions):
            sizes = [atoms.sizes[position] for position in positions]
            before, after, extent = array.shape[:dim], array.shape[dim + 1 :], array.shape[dim]
            at = [atoms.coordinates.get(position, slice(None)) for position in positions]
            parts = array.reshape((*before, *sizes, extent // math.prod(sizes), *after))
            share = atoms.group_size(atoms.across.intersection(positions))
            array = parts[(*(slice(None),) * dim, *at)].reshape((*before, extent // share, *after))
    return array


def split_dims(array: Array, dims: DimAtoms, atoms: Atoms) -> Array:
    """Each dim's major parts moved to the leading dims of its atoms, which have size 1 before: a view."""
    parts, _, order = atoms.splitting(array.shape, dims)
    moved = array.reshape(parts).transpose(order)
    return moved.reshape(moved.shape[: array.ndim])


def merge_dims(array: Array, dims: DimAtoms, atoms: Atoms) -> Array:
    """The leading dims of each dim's atoms moved in front of the dim and merged with it; they keep size 1."""
    full, order, shape = atoms.merging(array.shape, dims)
    return np.broadcast_to(array, full).transpose(order).reshape(shape)


def merge_atoms(array: Array, atoms: Atoms) -> Array:
    """From a leading dim for each atom to one for each mesh axis; an axis that varies in parts is filled up."""
    spread, merged = axis_parts(array.shape, atoms)
    return np.broadcast_to(array, spread).reshape(merged)


def axis_parts(shape: Sequence[int], atoms: Atoms) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """From a `shape` with a dim for each atom to one for each axis: what it is filled up to, and the shape then."""
    spread: list[int] = []
    merged: list[int] = []
    for name in atoms.mesh.axis_names:
        inside = [position for position, axis in enumerate(atoms.axes) if axis.name == name]
        varies = any(shape[position] > 1 for position in inside)
        spread += [atoms.held[position] if varies else 1 for position in inside]
        merged.append(math.prod(atoms.held[position] for position in inside) if varies else 1)
    local = shape[atoms.count :]
    return (*spread, *local), (*merged, *local)


def split_atoms(array: Array, spec: LayoutSpec, atoms: Atoms) -> Array:
    """From a leading dim for each mesh axis to one for each atom, of size 1 where the layout does not vary."""
    parts, index = atom_parts(array.shape, spec, atoms)
    return array.reshape(parts)[index]


def atom_parts(shape: Sequence[int], spec: LayoutSpec, atoms: Atoms) -> tuple[tuple[int, ...], tuple[slice, ...]]:
    """From a `shape` with a dim for each axis to one for each atom, and what is looked at of an array of that."""
    axes = len(atoms.mesh.axis_names)
    extents = [shape[atoms.mesh.axis_names.index(axis.name)] for axis in atoms.axes]
    parts = [held if extent > 1 else 1 for held, extent in zip(atoms.held, extents, strict=True)]
    varying = set(atoms.positions(spec.axes()))
    index = tuple(slice(None) if position in varying else slice(0, 1) for position in range(atoms.count))
    return (*parts, *shape[axes:]), index


def padded(array: Array, shape: Sequence[int]) -> Array:
    """
    The array with elements at the end of each dim that nobody may look at, to have a shape.

    They are NaN, or a number that is neutral to no reduction: who sees them shall be found out.

    >>> padded(np.float32([1, 2, 3]), (4,)).tolist(), padded(np.arange(3), (4,)).tolist()
    ([1.0, 2.0, 3.0, nan], [0, 1, 2, 85])
    """
    if array.shape == tuple(shape):
        return array
    whole = np.full(shape, _UNSEEN if is_integer(dtype_element(array.dtype)) else np.nan).astype(array.dtype)
    whole[tuple(map(slice, array.shape))] = array
    return whole


def row_major(array: Array) -> Array:
    """The array with its elements in one piece, row by row: a copy where they are not; of any namespace."""
    return array if array.flags.c_contiguous else array.copy()


def device_count(atoms: Atoms) -> int:
    """The number of devices."""
    return math.prod(atoms.sizes)
