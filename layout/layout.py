"""`Layout`: how a tensor is distributed over a mesh, as users write and read it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias, cast

from shardwright.diagnostics import Diagnostic, ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.caller import caller
from shardwright.layout.axes import Axis, parse_axis, symbol
from shardwright.layout.check import check_spec
from shardwright.layout.faults import fault, known_sizes, sizes, truth, whole
from shardwright.layout.forms.layout_record import (
    LayoutRecord,
    is_record_text,
    layout_message,
    layout_text,
    record_of_layout_message,
    record_of_layout_text,
)
from shardwright.layout.forms.mesh_record import form_error
from shardwright.layout.forms.text import is_auto_text, is_type_text, read_spec, read_type
from shardwright.layout.mesh import Mesh
from shardwright.layout.spec import AUTO, LayoutSpec

if TYPE_CHECKING:
    from shardwright.layout.pictures.picture import Picture

DimSharding: TypeAlias = "str | Sequence[str] | None"
"""What splits one dim: an axis name, several (major to minor), or nothing (`Mesh.UNSHARDED`, `None`, `()`)."""


class Layout:
    """
    How a tensor is distributed over a mesh (RFC: `tf.dtensor.Layout`).

    `sharding_spec` says for each dim which mesh axis splits it: an axis name, several as a tuple or list (major to
    minor), or `Mesh.UNSHARDED`. Dims beyond the list are unsharded; `Layout(Mesh.UNSHARDED, mesh)` replicates a
    tensor of any rank. Instances are immutable and can be compared and hashed.

    An `uneven` layout may split dims that do not divide (not in the RFC): the last devices have less of them, or
    nothing. Where a dim divides there is no difference, so that layouts compare without it.

    Raises `TypeError` (SW0109) for arguments of another kind, and `ValueError` for an axis that the mesh lacks
    (SW0102), an axis used twice (SW0105), a part of an axis that is none (SW0107), or an entry that is no axis name
    (SW0109).

    >>> mesh = Mesh([("batch", 4), ("model", 2)])
    >>> layout = Layout(["batch", Mesh.UNSHARDED], mesh)
    >>> layout
    Layout(['batch', 'unsharded'], Mesh(batch=4, model=2))
    >>> print(layout)
    <@mesh, [{"batch"}, {}]>
    >>> layout.local_shape((16, 64))
    (4, 64)
    >>> Layout(["batch"], mesh, uneven=True).local_shape((10, 64))
    (3, 64)
    """

    __slots__ = ("_auto", "_mesh", "_spec", "_uneven")

    _mesh: Mesh
    _spec: LayoutSpec
    _uneven: bool
    _auto: bool

    def __init__(self, sharding_spec: str | Sequence[DimSharding], mesh: Mesh, *, uneven: bool = False) -> None:
        _check_kinds(sharding_spec, mesh)
        entries: Iterable[DimSharding] = [sharding_spec] if isinstance(sharding_spec, str) else sharding_spec
        if sharding_spec == Mesh.UNSHARDED:
            entries = []
        self._mesh, self._uneven, self._auto = mesh, truth(uneven, "uneven"), False
        self._spec = LayoutSpec(mesh.name, tuple(_dim_axes(entry, mesh) for entry in entries))
        _check_without_shape(self._spec, mesh)

    @classmethod
    def from_spec(cls, spec: LayoutSpec, mesh: Mesh, *, uneven: bool = False) -> Layout:
        """
        The layout that the IR writes as `spec`, on `mesh`; there dims need not divide.

        >>> Layout.from_spec(LayoutSpec("mesh", ((Axis("x"),),)), Mesh(x=2))
        Layout(['x'], Mesh(x=2))
        """
        _check_without_shape(spec, mesh)
        layout = cls.__new__(cls)
        layout._mesh, layout._spec, layout._uneven, layout._auto = mesh, spec, uneven, False
        return layout

    @classmethod
    def from_string(cls, text: str, mesh: Mesh | None = None, *, uneven: bool = False) -> Layout:
        """
        Reads a layout as the IR writes it, with or without its mesh, or as people do, with the type around it.

        Reads back what `str`, `describe` and `to_string` write; whether it is `uneven`, none of them says. TensorFlow's
        text (`to_string`) has its own mesh; with `mesh` it must have the same axes. Raises `ValueError` for text that
        is none of these (SW0108, SW0117), and what the constructor raises.

        >>> mesh = Mesh(batch=4, model=2)
        >>> Layout.from_string('[{"batch"}, {}]', mesh) == Layout.from_string("f32[16@batch, 64]", mesh)
        True
        >>> Layout.from_string(str(Layout(["model"], mesh)), mesh)
        Layout(['model'], Mesh(batch=4, model=2))
        >>> Layout.from_string("f32[10@batch]", mesh, uneven=True)
        Layout(['batch'], Mesh(batch=4, model=2), uneven=True)
        """
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise _wrong_kind(text, "a text")
        uneven = truth(uneven, "uneven")
        if is_record_text(text):
            return layout_of_record(record_of_layout_text(text), mesh, uneven=uneven)
        if mesh is None:
            raise form_error(f"{text!r} names no mesh: give it as the second argument")
        if is_auto_text(text):
            return cls.auto(mesh)
        if not is_type_text(text):
            return cls.from_spec(read_spec(text, mesh.name), mesh, uneven=uneven)
        found = read_type(text, mesh.name)
        if found.auto:
            return cls.auto(mesh)
        layout = cls.from_spec(found.spec, mesh, uneven=uneven)
        layout.check(found.shape)
        return layout

    @classmethod
    def from_proto(cls, message: object, mesh: Mesh | None = None) -> Layout:
        """
        Reads a message `tensorflow.dtensor.LayoutProto`, or its bytes; with `mesh`, it must have the same axes.

        Raises `ValueError` (SW0117) for anything else.

        >>> layout = Layout(["x"], Mesh(x=2))
        >>> Layout.from_proto(layout.to_proto()).sharding_specs
        ['x']
        """
        return layout_of_record(record_of_layout_message(message), mesh)

    @classmethod
    def replicated(cls, mesh: Mesh, rank: int) -> Layout:
        """
        The layout in which every device holds the whole tensor.

        >>> Layout.replicated(Mesh(x=2), rank=2)
        Layout(['unsharded', 'unsharded'], Mesh(x=2))
        """
        return cls([Mesh.UNSHARDED] * whole(rank, "the rank"), mesh)

    @classmethod
    def auto(cls, mesh: Mesh) -> Layout:
        """
        The layout that the compiler chooses for an argument of any rank, so that the program sends least.

        In a `TensorSpec` only: what is there already has a layout.

        >>> import shardwright
        >>> chosen = shardwright.Layout.auto(shardwright.Mesh(data=4))
        >>> specs = [shardwright.TensorSpec(shape, "float32", chosen) for shape in [(64, 8), (8, 2)]]
        >>> shardwright.function(lambda x, w: x @ w).layouts(*specs).arguments["x"]
        Layout(['data', 'unsharded'], Mesh(data=4))
        """
        _check_kinds([], mesh)
        layout = cls.from_spec(LayoutSpec(mesh.name, ()), mesh)
        layout._auto = True
        return layout

    @classmethod
    def batch_sharded(cls, mesh: Mesh, batch_dim: str, rank: int) -> Layout:
        """
        The layout that splits the first dim over mesh axis `batch_dim` and nothing else.

        Raises `ValueError` (SW0106) for a rank below one.

        >>> Layout.batch_sharded(Mesh(x=2), "x", rank=2)
        Layout(['x', 'unsharded'], Mesh(x=2))
        """
        if whole(rank, "the rank") < 1:
            raise fault("SW0106", f"a tensor of rank {rank} has no batch dim", "the rank must be at least 1")
        return cls([batch_dim] + [Mesh.UNSHARDED] * (rank - 1), mesh)

    @property
    def mesh(self) -> Mesh:
        """
        The mesh.

        >>> Layout(["x"], Mesh(x=2)).mesh
        Mesh(x=2)
        """
        return self._mesh

    @property
    def spec(self) -> LayoutSpec:
        """
        The layout as the IR has it, with the mesh as a symbol.

        >>> print(Layout(["x"], Mesh(x=2)).spec)
        <@mesh, [{"x"}]>
        """
        return self._spec

    @property
    def rank(self) -> int:
        """
        The number of dims that the layout names; a tensor may have more, which are then unsharded.

        >>> Layout(["x", None], Mesh(x=2)).rank
        2
        """
        return self._spec.rank

    @property
    def uneven(self) -> bool:
        """
        Whether dims may be split that do not divide.

        >>> Layout(["x"], Mesh(x=2)).uneven
        False
        """
        return self._uneven

    @property
    def sharding_specs(self) -> list[str | tuple[str, ...]]:
        """
        What splits each dim, as the constructor takes it.

        >>> Layout([("x", "y"), None], Mesh(x=2, y=2)).sharding_specs
        [('x', 'y'), 'unsharded']
        """
        return [_entry(axes) for axes in self._spec.dims]

    @property
    def is_auto(self) -> bool:
        """
        Whether the compiler is to choose it.

        >>> Layout.auto(Mesh(x=2)).is_auto
        True
        """
        return self._auto

    @property
    def is_replicated(self) -> bool:
        """
        Whether every device holds the whole, finished value.

        >>> Layout([None], Mesh(x=2)).is_replicated, Layout(["x"], Mesh(x=2)).is_replicated
        (True, False)
        """
        return self._spec.replicated and not self._auto

    def to_string(self) -> str:
        """
        The layout with its mesh as TensorFlow's DTensor writes it; `str(layout)` is the form of the IR.

        Raises `ValueError` (SW0117) for a layout that TensorFlow cannot have: a dim split by several axes, by a part of
        one or by whatever is decided later, or partial results.

        >>> Layout(["x", None], Mesh(x=1)).to_string()
        'sharding_specs:x,unsharded, mesh:|x=1|0|0|/job:localhost/replica:0/task:0/device:CPU:0'
        """
        return layout_text(record_of(self))

    def to_proto(self) -> bytes:
        """
        The bytes of TensorFlow's message `tensorflow.dtensor.LayoutProto`; raises `ValueError` as `to_string` does.

        >>> Layout.from_proto(Layout(["x", None], Mesh(x=2)).to_proto())
        Layout(['x', 'unsharded'], Mesh(x=2))
        """
        return layout_message(record_of(self))

    def for_rank(self, rank: int) -> Layout:
        """
        The same layout for a tensor of `rank` dims: missing ones are unsharded.

        Raises `ValueError` (SW0106) when the layout has more dims than that.

        >>> Layout(["x"], Mesh(x=2)).for_rank(3)
        Layout(['x', 'unsharded', 'unsharded'], Mesh(x=2))
        """
        if self._auto:
            return self._with(LayoutSpec(self._spec.mesh, ((),) * rank, frozenset(range(rank))))
        missing = whole(rank, "the rank") - self.rank
        if missing == 0:
            return self
        if missing < 0:
            raise fault(
                "SW0106",
                f"{self!r} has {self.rank} dims, but the tensor has {rank}",
                "leave out the dims that the tensor does not have",
            )
        return self._with(LayoutSpec(self._spec.mesh, self._spec.dims + ((),) * missing, *self._rest()))

    def close(self) -> Layout:
        """
        The same layout of a tensor that is there: what was open is split as far as it says, and no further.

        >>> Layout.from_string('[{"x", ?}, {?}]', Mesh(x=2, y=2)).close()
        Layout(['x', 'unsharded'], Mesh(x=2, y=2))
        """
        return self if self._spec.closed else self._with(self._spec.close())

    def on(self, mesh: Mesh) -> Layout:
        """
        The same sharding on another mesh.

        Raises `ValueError` (SW0102) for an axis that `mesh` lacks.

        >>> Layout(["x"], Mesh(x=2)).on(Mesh(x=4))
        Layout(['x'], Mesh(x=4))
        """
        return Layout.from_spec(LayoutSpec(mesh.name, self._spec.dims, *self._rest()), mesh, uneven=self._uneven)

    def moved_to(self, mesh: Mesh) -> Layout:
        """
        The same sharding on a mesh that has the same axes, as `relayout` to a mesh needs it.

        A layout that splits nothing fits every mesh. Raises `ValueError` for an axis that `mesh` lacks (SW0102), and
        for axes of other names, sizes or order (SW0119).

        >>> Layout([None], Mesh(x=2)).moved_to(Mesh(y=3))
        Layout(['unsharded'], Mesh(y=3))
        """
        moved = self.on(mesh)
        if self._spec.axes() and list(self._mesh.sizes.items()) != list(mesh.sizes.items()):
            raise fault(
                "SW0119",
                f"{self!r} cannot keep its sharding on {mesh!r}, which has other axes",
                "give a layout instead of the mesh: shardwright.relayout(x, shardwright.Layout([...], mesh))",
            )
        return moved

    def local_shape(self, global_shape: Sequence[int]) -> tuple[int, ...]:
        """
        The shape of each device's component of a tensor of `global_shape`; of an uneven layout, that of the first.

        Raises `ValueError` for a dim that does not split evenly (SW0104), unless the layout is uneven, and for a shape
        of lower rank (SW0106).

        >>> Layout(["x"], Mesh(x=2, y=3)).local_shape((5, 4))  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        shardwright.diagnostics.diagnostic.ShardwrightValueError: ...error[SW0104]: dim 0 has 5 elements and does ...
          note: the mesh is Mesh(x=2, y=3)
          help: no axis divides 5; sizes that fit: 4, 6
        """
        shape = sizes(global_shape)
        spec = self.for_rank(len(shape)).spec
        _raise_fault(spec, shape, self._mesh, uneven=self._uneven)
        return tuple(-(-size // self._mesh.group_size(axes)) for size, axes in zip(shape, spec.dims, strict=True))

    def check(self, global_shape: Sequence[int | None]) -> None:
        """
        Raises `ValueError` as `local_shape` does, where None is a dim of any size.

        >>> Layout(["x"], Mesh(x=2)).check((None, 5))
        """
        shape = known_sizes(global_shape)
        fitting = self.global_shape([1] * len(shape))
        self.local_shape([fit if size is None else size for size, fit in zip(shape, fitting, strict=True)])

    def splits_unevenly(self, global_shape: Sequence[int]) -> bool:
        """
        Whether some parts of a tensor of `global_shape` are shorter than others.

        Raises `ValueError` as `local_shape` does.

        >>> Layout(["x"], Mesh(x=2), uneven=True).splits_unevenly((5, 4))
        True
        """
        return self.global_shape(self.local_shape(global_shape)) != tuple(global_shape)

    def global_shape(self, local_shape: Sequence[int]) -> tuple[int, ...]:
        """
        The shape of a tensor whose components have `local_shape`: the inverse of `local_shape`.

        >>> Layout(["x"], Mesh(x=2)).global_shape((3, 4))
        (6, 4)
        """
        dims = self.for_rank(len(local_shape)).spec.dims
        return tuple(size * self._mesh.group_size(axes) for size, axes in zip(local_shape, dims, strict=True))

    def describe(self, shape: Sequence[int | None], dtype: str) -> str:
        """
        The form for people: the layout with the tensor's type around it; None is a dim of any size.

        >>> Layout(["batch"], Mesh(batch=4)).describe((16, 64), "f32")
        'f32[16@batch, 64]'
        >>> Layout.auto(Mesh(batch=4)).describe((16, None), "f32")
        'f32[16, None]{auto}'
        """
        dims = known_sizes(shape)
        spec = self.for_rank(len(dims)).spec
        return f"{spec.close().brief(dims, dtype)}{{{AUTO}}}" if self._auto else spec.brief(dims, dtype)

    def picture(self, shape: Sequence[int] | None = None, dtype: str = "") -> Picture:
        """
        Which device holds which part of a tensor of `shape`, or of any tensor, to look at.

        Raises `ValueError` as `local_shape` does.

        >>> print(Layout(["x"], Mesh(x=2)).picture((4,), "f32"))
        f32[4@x]
        mesh x=2: devices 0 to 1
        dim 0 across
        dim 0: 2 parts over x
          0:2   2:4
        ┌─────┬─────┐
        │ 0   │ 1   │
        └─────┴─────┘
        """
        from shardwright.layout.pictures.picture import picture  # few programs are looked at

        if shape is None:
            return picture(self._spec, self._mesh.sizes)
        self.local_shape(shape)
        return picture(self.for_rank(len(shape)).spec, self._mesh.sizes, shape, dtype)

    def _repr_html_(self) -> str | None:
        return None if self._auto else self.picture().svg()

    def __str__(self) -> str:
        return f"<{symbol(self._mesh.name)}, {AUTO}>" if self._auto else str(self._spec)

    def __repr__(self) -> str:
        if self._auto:
            return f"Layout.auto({self._mesh!r})"
        uneven = ", uneven=True" if self._uneven else ""
        if self._spec.partial or self._spec.open_dims:
            return f"Layout.from_string({self._spec.body()!r}, {self._mesh!r}{uneven})"
        return f"Layout({self.sharding_specs!r}, {self._mesh!r}{uneven})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Layout):
            return NotImplemented
        return self._same(other) and self._mesh == other._mesh

    def __hash__(self) -> int:
        return hash((AUTO if self._auto else self._spec.dims, self._auto or self._rest(), self._mesh))

    def _same(self, other: Layout) -> bool:
        if self._auto or other._auto:  # of any rank
            return self._auto and other._auto
        return self._spec.dims == other._spec.dims and self._rest() == other._rest()

    def _rest(self) -> tuple[frozenset[int], tuple[Axis, ...], str]:
        return self._spec.open_dims, self._spec.partial, self._spec.kind

    def _with(self, spec: LayoutSpec) -> Layout:
        layout = Layout.__new__(Layout)
        layout._mesh, layout._spec, layout._uneven, layout._auto = self._mesh, spec, self._uneven, self._auto
        return layout


def _check_kinds(sharding_spec: object, mesh: object) -> None:
    if isinstance(sharding_spec, str | Sequence) and isinstance(mesh, Mesh):
        return
    wrong, what = (mesh, "a mesh")
    if isinstance(mesh, Mesh):
        wrong, what = sharding_spec, "a list with an entry for each dim"
    raise _wrong_kind(wrong, what)


def _wrong_kind(given: object, what: str) -> ShardwrightTypeError:
    return ShardwrightTypeError(
        Diagnostic(
            "SW0109",
            f"{given!r} is not {what}",
            caller(),
            ("a layout is made of the entries for the dims first, then the mesh",),
            'write Layout(["batch", None], mesh), or Layout(Mesh.UNSHARDED, mesh) for a replicated tensor',
        )
    )


def _dim_axes(entry: object, mesh: Mesh) -> tuple[Axis, ...]:
    if entry is None or (isinstance(entry, str) and entry == Mesh.UNSHARDED):
        return ()
    names = [entry] if isinstance(entry, str) else entry
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in cast("list[object]", names)):
        raise _bad_entry(entry, mesh)
    return tuple(_axis(name, mesh) for name in cast("Sequence[str]", names))


def _axis(name: str, mesh: Mesh) -> Axis:
    if name in mesh.sizes:
        return Axis(name)
    try:
        return parse_axis(name)
    except ValueError:
        raise _bad_entry(name, mesh) from None


def _bad_entry(entry: object, mesh: Mesh) -> ShardwrightValueError:
    return fault(
        "SW0109",
        f"{entry!r} does not say how a dim is split",
        f"give an axis name ({', '.join(mesh.axis_names)}), a tuple of them, or Mesh.UNSHARDED for each dim",
    )


def _entry(axes: tuple[Axis, ...]) -> str | tuple[str, ...]:
    if not axes:
        return Mesh.UNSHARDED
    names = tuple(axis.name if axis.whole else axis.brief() for axis in axes)
    return names[0] if len(names) == 1 else names


def _check_without_shape(spec: LayoutSpec, mesh: Mesh) -> None:
    """Checks all that needs no tensor, by way of the smallest shape that the layout could split."""
    if any(axis.name not in mesh.sizes for axis in spec.axes()):
        shape = (1,) * spec.rank
    else:
        shape = tuple(mesh.group_size(axes) for axes in spec.dims)
    _raise_fault(spec, shape, mesh)


def _raise_fault(spec: LayoutSpec, shape: tuple[int, ...], mesh: Mesh, *, uneven: bool = False) -> None:
    found = check_spec(spec, shape, mesh, uneven=uneven)
    if found is not None:
        raise ShardwrightValueError(replace(found, location=caller()))


def record_of(layout: Layout) -> LayoutRecord:
    """The layout as TensorFlow's forms list it."""
    if layout.is_auto or layout.spec.open_dims:
        raise form_error(f"{layout!r} is still to be decided, but TensorFlow's layouts say how each dim is split")
    entries = layout.sharding_specs
    for dim, entry in enumerate(entries):
        if not isinstance(entry, str) or not all(axis.whole for axis in layout.spec.dims[dim]):
            raise form_error(f"dim {dim} is split by {entry!r}, but TensorFlow splits a dim by one whole axis at most")
    if layout.spec.partial:
        raise form_error("TensorFlow's layouts have no partial results")
    return LayoutRecord(tuple(str(entry) for entry in entries), layout.mesh.record())


def layout_of_record(record: LayoutRecord, mesh: Mesh | None, *, uneven: bool = False) -> Layout:
    """The layout that TensorFlow lists so, on `mesh` if that has the same axes."""
    own = Mesh.from_record(record.mesh)
    if mesh is not None and mesh.sizes != own.sizes:
        raise form_error(f"the layout is for {own!r}, not for {mesh!r}")
    return Layout(record.specs, own if mesh is None else mesh, uneven=uneven)
