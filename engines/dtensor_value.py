"""What a distributed tensor holds: one stacked array and its layout."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

from shardwright.diagnostics import Diagnostic, ShardwrightBufferError, ShardwrightValueError
from shardwright.diagnostics.caller import caller
from shardwright.diagnostics.faults import type_error, value_error
from shardwright.engines.jobs.given import given_to
from shardwright.engines.owned.owners import owner_of
from shardwright.engines.owned.parts import Parts
from shardwright.layout import Layout, Mesh
from shardwright.layout.axes import Axis
from shardwright.runtime import stacking


class Scalars(ABC):
    """Arrays that are Python numbers, too, if they have one element: `float(x)` and its like."""

    __slots__ = ()

    @abstractmethod
    def _seen(self) -> Any:
        """What Python itself can look at."""

    def __bool__(self) -> bool:
        seen = self._seen()
        if isinstance(seen, np.ndarray) and seen.size != 1:
            raise value_error(
                "SW0510",
                f"an array of shape {list(seen.shape)} is no truth value",
                help="shardwright.any(x) or shardwright.all(x) makes one of all elements",
            )
        return bool(seen)

    def __int__(self) -> int:
        return int(self._number("int()"))

    def __float__(self) -> float:
        return float(self._number("float()"))

    def __complex__(self) -> complex:
        return complex(self._number("complex()"))

    def __index__(self) -> int:
        seen = self._number("an index or a size")
        if isinstance(seen, np.ndarray) and seen.dtype.kind not in "iu":
            raise type_error(
                "SW0510", f"a number of {seen.dtype.name} is no index and no size", help="int(x) makes a whole number"
            )
        return seen.__index__()

    def _number(self, wanted: str) -> Any:
        """What is looked at, which has to be one number; TypeError (SW0510) for an array with dims."""
        seen = self._seen()
        if isinstance(seen, np.ndarray) and seen.ndim:
            raise type_error(
                "SW0510",
                f"an array of shape {list(seen.shape)} is no number, as {wanted} needs",
                help="take one element, x[0], or numpy.asarray(x) for all of them",
            )
        return seen

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        seen = self._seen()
        if seen.ndim:
            raise type_error(
                "SW0510",
                f"an array of shape {list(seen.shape)} is no number that {spec!r} could format",
                help="format one element, or numpy.array2string(numpy.asarray(x), precision=...) for all of them",
            )
        return format(seen, spec)


class DTensorValue(Scalars):
    """
    The elements of a distributed tensor, in stacked form: one leading dim for each mesh axis, of size 1 where the
    tensor does not vary, then each device's shape. Never changed once made. On a mesh whose devices somebody else has,
    they have the elements: an array is handed over. With a `shape` that does not divide as the layout splits it, what
    stands behind that shape, in the last parts, is nobody's.
    """

    __slots__ = ("_held", "_layout", "_shape")

    def __init__(
        self, stacked: np.ndarray[Any, Any] | Parts, layout: Layout, shape: Sequence[int] | None = None
    ) -> None:
        local = stacked.shape[len(layout.mesh.axis_names) :]
        owner = owner_of(layout.mesh)
        self._held = stacked if owner is None or isinstance(stacked, Parts) else owner.hold(stacked, layout.mesh)
        self._layout = layout.for_rank(len(local)).close()
        self._shape = layout.global_shape(local) if shape is None else tuple(shape)

    @property
    def held(self) -> np.ndarray[Any, Any] | Parts:
        """
        The stacked form, or what stands for it where it is elsewhere.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.held.shape
        (2, 2)
        """
        return self._held

    @property
    def stacked(self) -> np.ndarray[Any, Any]:
        """
        The stacked form; where it is elsewhere, it is brought here each time.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.stacked.shape
        (2, 2)
        """
        return self._held.here() if isinstance(self._held, Parts) else self._held

    @property
    def shape(self) -> tuple[int, ...]:
        """
        The global shape.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.shape
        (4, 2)
        """
        return self._shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """
        The element type.

        >>> import shardwright
        >>> x = shardwright.ones((4, 2), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.dtype
        dtype('float32')
        """
        return self._held.dtype

    @property
    def layout(self) -> Layout:
        """
        How the tensor is distributed.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.layout
        Layout(['x'], Mesh(x=2))
        """
        return self._layout

    @property
    def mesh(self) -> Mesh:
        """
        The mesh over which it is distributed.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.mesh
        Mesh(x=2)
        """
        return self._layout.mesh

    def numpy(self) -> np.ndarray[Any, Any]:
        """
        The global array, read-only: partial results are combined, parts put together.

        Raises `ValueError` (SW0903) where other processes hold parts of it.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> x.numpy()
        array([1., 1., 1., 1.], dtype=float32)
        """
        elsewhere = [axis for axis in self._layout.spec.axes() if is_across(axis, self.mesh)]
        if elsewhere:
            raise _elsewhere(self, elsewhere)
        whole = stacking.from_stacked(self.stacked, self._layout.spec, self.mesh)
        return read_only(whole if whole.shape == self._shape else whole[tuple(map(slice, self._shape))])

    def components(self) -> list[np.ndarray[Any, Any]]:
        """
        The local array of each device of this process, read-only, in row-major order of the mesh.

        Where a dim does not divide, the last ones are shorter, or empty.

        >>> import shardwright
        >>> x = shardwright.ones((4,), layout=shardwright.Layout(["x"], shardwright.Mesh(x=2)))
        >>> [part.shape for part in x.components()]
        [(2,), (2,)]
        """
        devices = self.mesh.local_device_ids
        stacked = self.stacked if devices else None
        return [read_only(self._component(stacked, device)) for device in devices]

    def _component(self, stacked: np.ndarray[Any, Any] | None, device: int) -> np.ndarray[Any, Any]:
        mesh = self.mesh
        found = stacking.component(stacked, mesh, device)
        if self._layout.global_shape(found.shape) == self._shape:
            return found
        # Only parts of uneven layouts are cut.
        from shardwright.layout.boxes import box

        coordinates = dict(zip(mesh.axis_names, map(int, np.unravel_index(device, mesh.shape)), strict=True))
        held = box(self._layout.spec, self._shape, mesh, coordinates)
        return found[tuple(slice(stop - start) for start, stop in held)]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.array(self.numpy(), dtype=dtype, copy=copy)

    def __dlpack__(
        self,
        *,
        stream: object = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        whole = self.numpy()
        if copy is False and not (max_version and max_version >= READ_ONLY_VERSION and self._shares(whole)):
            raise ShardwrightBufferError(
                Diagnostic("SW0506", "DLPack cannot share the parts of a distributed tensor", help="let it copy")
            )
        try:
            # A copy, unless it was refused: what leaves through DLPack may be written to.
            given = whole if copy is False else whole.copy()
            return given.__dlpack__(stream=stream, max_version=max_version, dl_device=dl_device)
        except BufferError as error:
            raise ShardwrightBufferError(
                Diagnostic(
                    "SW0506",
                    f"DLPack cannot take this {self.dtype.name} tensor: {error}",
                    help="convert it first, with shardwright.astype(x, shardwright.float32), or use numpy.asarray(x)",
                )
            ) from error

    def __dlpack_device__(self) -> Any:
        return self._held.__dlpack_device__()

    def _shares(self, whole: np.ndarray[Any, Any]) -> bool:
        """Whether all parts lie here as they are in the whole."""
        return not isinstance(self._held, Parts) and (not whole.size or np.may_share_memory(whole, self._held))

    def _seen(self) -> np.ndarray[Any, Any]:
        return self.numpy()


READ_ONLY_VERSION = (1, 0)
"""The version of DLPack from which on it can say that memory is not to be written to."""

Make: TypeAlias = "Callable[[np.ndarray[Any, Any] | Parts, Layout | None, Sequence[int] | None], Any]"
"""
Makes a tensor, as its users shall see it, of a stacked array, its layout, and its shape where that does not divide.

An array that has no layout is one as it is.
"""


def scatter(array: np.ndarray[Any, Any], layout: Layout) -> np.ndarray[Any, Any]:
    """
    The stacked form of a global array under `layout`; it may share the array's memory.

    Raises `ValueError` when the layout does not fit the array (SW0104, SW0106).

    >>> scatter(np.arange(4), Layout(["x"], Mesh(x=2))).tolist()
    [[0, 1], [2, 3]]
    """
    local = layout.local_shape(array.shape)
    if not layout.mesh.clients.is_here:  # nothing, of the right shape
        return np.broadcast_to(np.zeros((), array.dtype), (1,) * len(layout.mesh.axis_names) + local)
    if layout.mesh.num_clients > 1:
        given_to(layout.mesh.clients).note(array)
    return stacking.to_stacked(array, layout.for_rank(array.ndim).spec, layout.mesh)


def stack(components: Sequence[np.ndarray[Any, Any]], layout: Layout) -> np.ndarray[Any, Any]:
    """
    The stacked form of the local array of each of this process's devices, given in row-major order of the mesh.

    Raises `ValueError` (SW0512) for another number of components than devices, components of different shapes or types,
    and components that differ where the layout says that they are the same.

    >>> stack([np.zeros(2), np.ones(2)], Layout(["x"], Mesh(x=2))).shape
    (2, 2)
    """
    mesh = layout.mesh
    here = mesh.local_device_ids
    if not here:
        raise _pack_error(f"no device of {mesh!r} is in this process", "let relayout bring an array to other processes")
    if len(components) != len(here):
        devices = "devices" if mesh.num_clients == 1 else "devices in this process"
        raise _pack_error(
            f"{len(components)} components were given for {mesh!r}", f"give one for each of its {len(here)} {devices}"
        )
    first = components[0]
    for device, component in enumerate(components):
        if (component.shape, component.dtype) != (first.shape, first.dtype):
            raise _pack_error(
                f"component {device} is {component.dtype}{list(component.shape)}, "
                f"but component 0 is {first.dtype}{list(first.shape)}",
                "all components have one shape and one type",
            )
    spec = layout.for_rank(first.ndim).spec
    stacked = stacking.stack_components(components, spec, mesh)
    for device, component in zip(here, components, strict=True):
        kept = stacking.component(stacked, mesh, device)
        if kept.tobytes() != component.tobytes():
            raise _pack_error(
                f"component {device} differs from another that {layout} makes a copy of it",
                "split a dim over the axis along which they differ, or give equal components",
            )
    return stacked


def filled_up(
    components: Sequence[np.ndarray[Any, Any]], layout: Layout
) -> tuple[Sequence[np.ndarray[Any, Any]], tuple[int, ...] | None]:
    """
    The components of an uneven layout, each as large as the first, and the shape of the tensor that they make up.

    As they are, and no shape, where they do not make up such a tensor, or other processes have some of them.

    >>> parts, shape = filled_up([np.ones(2), np.ones(1)], Layout(["x"], Mesh(x=2), uneven=True))
    >>> [part.tolist() for part in parts], shape
    ([[1.0, 1.0], [1.0, 0.0]], (3,))
    """
    from shardwright.layout.boxes import box, linear_index

    mesh, ranks = layout.mesh, {component.ndim for component in components}
    if not layout.uneven or len(ranks) != 1 or len(components) != mesh.size or mesh.num_clients > 1:
        return components, None
    spec = layout.for_rank(*ranks).spec
    places = [dict(zip(mesh.axis_names, map(int, at), strict=True)) for at in np.ndindex(*mesh.shape)]
    extents: list[dict[int, int]] = [
        {linear_index(axes, mesh, at): part.shape[dim] for at, part in zip(places, components, strict=True)}
        for dim, axes in enumerate(spec.dims)
    ]
    shape = tuple(sum(sizes.values()) for sizes in extents)
    boxes = [tuple(stop - start for start, stop in box(spec, shape, mesh, at)) for at in places]
    if boxes != [component.shape for component in components] or not layout.splits_unevenly(shape):
        return components, None
    missing = [[(0, most - size) for most, size in zip(boxes[0], found, strict=True)] for found in boxes]
    return [np.pad(part, pads) for part, pads in zip(components, missing, strict=True)], shape


def is_across(axis: Axis, mesh: Mesh) -> bool:
    """Whether processes differ along an axis, or a part of one."""
    border = mesh.client_borders(mesh.num_clients).get(axis.name, 1)
    return mesh.span(axis)[0] < border


def _elsewhere(value: DTensorValue, axes: Sequence[Axis]) -> ShardwrightValueError:
    names = ", ".join(dict.fromkeys(axis.name for axis in axes))
    return ShardwrightValueError(
        Diagnostic(
            "SW0903",
            f"{value!r} is spread over the processes of the mesh along {names}: this one has only its own components",
            caller(),
            help="x.components() are those; shardwright.fetch(x) brings the whole array to every process, and "
            "shardwright.relayout(x, layout) with a layout that does not name the axis makes each device hold it",
        )
    )


def _pack_error(message: str, way_out: str) -> ShardwrightValueError:
    return ShardwrightValueError(Diagnostic("SW0512", f"pack: {message}", caller(), help=way_out))


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The same elements, which cannot be written to through this view."""
    view = array.view()
    view.flags.writeable = False
    return view
