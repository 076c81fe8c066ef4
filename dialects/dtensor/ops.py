"""
The `dtensor` dialect: meshes, layouts as tensor encodings, relayouts and collectives.

A collective is the same op on global types with layouts (planned stage), where its verifier re-derives the result's
layout from the operand's, and on per-device types (local stage), where it checks the shapes. `docs/architecture.md`
has the table.
"""

from __future__ import annotations

import math
from abc import ABC
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Self, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    ModuleOp,
    NoneAttr,
    StringAttr,
    SymbolRefAttr,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.dtensor.attributes import (
    AXES,
    DIM_AXES,
    KIND,
    MESH,
    AxesAttr,
    DimAxesAttr,
    KindAttr,
    LayoutAttr,
    MeshAttr,
    axes_text,
    mesh_symbol,
)
from shardwright.dialects.sdy.meshes import check_mesh
from shardwright.dialects.stablehlo.parts import forms
from shardwright.dialects.types import Integers, element_of, element_size, integers, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.layout.spec import LayoutSpec

DimAxes = Sequence[Sequence[Axis]]


def layout_of(value: SSAValue) -> LayoutSpec | None:
    """The layout in a value's type, or None."""
    found = value.type
    encoding = cast("TensorType[Attribute]", found).encoding if isinstance(found, TensorType) else None
    return encoding.data if isinstance(encoding, LayoutAttr) else None


def with_layout(tensor: Attribute, spec: LayoutSpec | None) -> TensorType[Attribute]:
    """The tensor type with another layout, or with none."""
    assert isinstance(tensor, TensorType)
    return TensorType(tensor.element_type, tensor.shape, NoneAttr() if spec is None else LayoutAttr(spec))


def meshes(module: ModuleOp) -> dict[str, Mesh]:
    """The meshes declared at the top of the module, by symbol."""
    return {op.sym_name.data: op.mesh for op in module.body.block.ops if isinstance(op, MeshOp)}


def mesh_of(op: Operation, symbol: str) -> Mesh:
    """The mesh that `op` names; `VerifyException` when the module around it declares none of that name."""
    top = op
    while (parent := top.parent_op()) is not None:
        top = parent
    if isinstance(top, ModuleOp):
        for candidate in top.body.block.ops:
            if isinstance(candidate, MeshOp) and candidate.sym_name.data == symbol:
                return candidate.mesh
    raise VerifyException(f"no dtensor.mesh named @{symbol} in this module")


def check_axes(axes: Sequence[Axis], mesh: Mesh) -> None:
    """`VerifyException` unless the mesh has all these axes."""
    for axis in axes:
        if axis.name not in mesh.sizes:
            raise VerifyException(f"{mesh} has no axis {axis}")


@lru_cache(maxsize=1024)
def _mesh(name: str, axes: tuple[tuple[str, int], ...]) -> Mesh:
    return Mesh(axes, name=name)


@irdl_op_definition
class MeshOp(forms.WrittenOp):
    """Declares a mesh: `dtensor.mesh @mesh = <["batch"=4, "model"=2]>`."""

    name = "dtensor.mesh"
    sym_name = prop_def(StringAttr)
    axes = prop_def(MeshAttr)
    traits = traits_def(SymbolOpInterface())
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Field("sym_name", forms.SYMBOL), forms.Field("axes", forms.spelled(MeshAttr), " = "), types=None
    )

    def __init__(self, name: str, axes: Sequence[tuple[str, int]]):
        super().__init__(properties={"sym_name": StringAttr(name), "axes": MeshAttr(tuple(axes))})

    @property
    def mesh(self) -> Mesh:
        """The mesh as data."""
        return _mesh(self.sym_name.data, self.axes.data)

    def verify_(self) -> None:
        check_mesh(self.sym_name.data, self.axes.data)


class Relaid(forms.WrittenOp, forms.TensorOp, ABC):
    """One tensor in, the same tensor with another layout out: `name %x : T1 -> T2`."""

    operand = operand_def(TensorType)
    reason = opt_prop_def(StringAttr)
    FORM: ClassVar[forms.Form] = forms.Form(forms.OPERANDS, types=forms.ARROW)

    def __init__(self, operand: SSAValue, spec: LayoutSpec, reason: str | None = None):
        properties: dict[str, Attribute] = {} if reason is None else {"reason": StringAttr(reason)}
        super().__init__(operands=[operand], result_types=[with_layout(operand.type, spec)], properties=properties)

    def verify_(self) -> None:
        _check_same_tensor(self.operand, self.result)
        if layout_of(self.result) is None:
            raise VerifyException("the result's type must carry a layout")


@irdl_op_definition
class RelayoutOp(Relaid):
    """Changes the layout of a tensor (RFC: relayout). Says nothing about its operand's layout."""

    name = "dtensor.relayout"


@irdl_op_definition
class ConstraintOp(Relaid):
    """Fixes the layout of a value; propagation carries it to the operand as well (Shardy: sharding_constraint)."""

    name = "dtensor.constraint"


def _check_same_tensor(operand: SSAValue, result: SSAValue) -> None:
    source, target = operand.type, result.type
    assert isinstance(source, TensorType)
    assert isinstance(target, TensorType)
    if source.shape != target.shape or source.element_type != target.element_type:
        raise VerifyException(f"operand and result must be the same tensor: {source} against {target}")


class CollectiveOp(forms.WrittenOp, ABC):
    """
    What all collectives share: a mesh, a reason, and a layout rule that the verifier applies.

    Syntax: `name <arguments> %operands : (types) -> (types)`, the arguments as the op's form says. Layout and shape
    stay as they are unless an op says what it makes of them.
    """

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    mesh = prop_def(SymbolRefAttr)
    reason = opt_prop_def(StringAttr)
    traits = traits_def(Pure())

    def make(
        self,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        mesh: str,
        reason: str | None,
        properties: Mapping[str, Attribute],
    ) -> None:
        """Makes the op."""
        found: dict[str, Attribute] = {"mesh": mesh_symbol(mesh)}
        if reason is not None:
            found["reason"] = StringAttr(reason)
        super().__init__(operands=[operands], result_types=[result_types], properties=found | dict(properties))

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        """The result's layout for an operand of layout `spec`; `ValueError` when the op does not apply to it."""
        return spec

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        """The result's per-device shape for an operand of per-device shape `shape`."""
        return shape

    @property
    def mesh_name(self) -> str:
        """The symbol of the mesh."""
        return self.mesh.root_reference.data

    def arguments_text(self) -> str:
        """What stands between the op's name and its operands."""
        return self.FORM.arguments_text(self)

    def verify_(self) -> None:
        inputs, outputs = self.inputs, self.outputs
        if len(inputs) != len(outputs) or not inputs:
            raise VerifyException("needs as many results as operands, and at least one")
        mesh = mesh_of(self, self.mesh_name)
        for operand, result in zip(inputs, outputs, strict=True):
            try:
                self._verify_pair(operand, result, mesh)
            except ValueError as error:
                raise VerifyException(str(error)) from error

    def _verify_pair(self, operand: SSAValue, result: SSAValue, mesh: Mesh) -> None:
        before, after = layout_of(operand), layout_of(result)
        if (before is None) != (after is None):
            raise ValueError("operand and result must both carry a layout (planned) or neither (local)")
        source, target = cast("TensorType[Attribute]", operand.type), cast("TensorType[Attribute]", result.type)
        if before is not None:
            _check_same_tensor(operand, result)
            expected = self.derive(before, mesh)
            if algebra.canonical(expected, mesh) != algebra.canonical(cast(LayoutSpec, after), mesh):
                raise ValueError(f"the result's layout must be {expected}, not {after}")
            return
        if source.element_type != target.element_type:
            raise ValueError(f"element types differ: {source} against {target}")
        if target.get_shape() != self.derive_shape(source.get_shape(), mesh):
            raise ValueError(f"per-device shapes do not fit: {source} against {target}")


def collective_form(*fields: forms.Field) -> forms.Form:
    """The form of a collective with these arguments."""
    return forms.Form(*fields, forms.Operands(least=1), types=forms.FUNCTION)


def _scaled(shape: tuple[int, ...], dim_axes: DimAxes, mesh: Mesh, *, up: bool) -> tuple[int, ...]:
    sizes = [mesh.group_size(axes) for axes in dim_axes]
    if not up and any(extent % size for extent, size in zip(shape, sizes, strict=True)):
        raise ValueError(f"shape {shape} does not divide by {tuple(sizes)}")
    return tuple(n * size if up else n // size for n, size in zip(shape, sizes, strict=True))


def _check_kind(spec: LayoutSpec, kind: KindAttr) -> None:
    if spec.kind != kind.data:
        raise ValueError(f"the operand's partial results combine by {spec.kind or 'nothing'}, not {kind.data}")


class _KindOp(CollectiveOp, ABC):
    """A collective of partial results over some axes, which combine by a kind."""

    axes = prop_def(AxesAttr)
    kind = prop_def(KindAttr)
    FORM: ClassVar[forms.Form] = collective_form(KIND, MESH, AXES)

    def __init__(
        self,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        mesh: str,
        axes: Sequence[Axis],
        kind: str,
        reason: str | None = None,
    ):
        self.make(operands, result_types, mesh, reason, {"axes": AxesAttr(tuple(axes)), "kind": KindAttr(kind)})


@irdl_op_definition
class AllReduceOp(_KindOp):
    """
    Combines partial results over `axes`; several operands travel as one message.

    `%1 = dtensor.all_reduce sum @mesh {"model"} %0 : (T1) -> T2`
    """

    name = "dtensor.all_reduce"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        _check_kind(spec, self.kind)
        return algebra.all_reduce(spec, self.axes.data, mesh)


@irdl_op_definition
class UnreduceOp(_KindOp):
    """
    Makes values partial over axes: the first device along them keeps them, and the others have what adds nothing.

    Nothing is sent.

    `%1 = dtensor.unreduce sum @mesh {"batch"} %0 : (T1) -> T2`
    """

    name = "dtensor.unreduce"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return algebra.unreduce(spec, self.axes.data, self.kind.data, mesh)


class _DimAxesOp(CollectiveOp, ABC):
    """A collective whose argument is a list of axes for each dim, and which makes parts smaller or larger by them."""

    RULE: ClassVar[Callable[..., LayoutSpec]]
    LARGER: ClassVar[bool] = False
    dim_axes = prop_def(DimAxesAttr)
    FORM: ClassVar[forms.Form] = collective_form(MESH, DIM_AXES)

    def __init__(
        self, operand: SSAValue, result_type: Attribute, mesh: str, dim_axes: DimAxes, reason: str | None = None
    ):
        self.make([operand], [result_type], mesh, reason, {"dim_axes": DimAxesAttr(tuple(map(tuple, dim_axes)))})

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return self.RULE(spec, self.dim_axes.data, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return _scaled(shape, self.dim_axes.data, mesh, up=self.LARGER)


@irdl_op_definition
class AllGatherOp(_DimAxesOp):
    """
    Collects the shards over axes at the minor end of each dim.

    `%1 = dtensor.all_gather @mesh [{}, {"model"}] %0 : (T1) -> T2`
    """

    name = "dtensor.all_gather"
    RULE: ClassVar[Callable[..., LayoutSpec]] = staticmethod(algebra.all_gather)
    LARGER: ClassVar[bool] = True


@irdl_op_definition
class AllSliceOp(_DimAxesOp):
    """
    Keeps this device's slice along axes appended to the minor end of each dim; sends nothing.

    `%1 = dtensor.all_slice @mesh [{"batch"}, {}] %0 : (T1) -> T2`
    """

    name = "dtensor.all_slice"
    RULE: ClassVar[Callable[..., LayoutSpec]] = staticmethod(algebra.all_slice)


class _ScatteringOp(_DimAxesOp, ABC):
    """One that knows how partial results combine, too."""

    kind = prop_def(KindAttr)
    FORM: ClassVar[forms.Form] = collective_form(KIND, MESH, DIM_AXES)

    def __init__(
        self,
        operand: SSAValue,
        result_type: Attribute,
        mesh: str,
        dim_axes: DimAxes,
        kind: str,
        reason: str | None = None,
    ):
        super().__init__(operand, result_type, mesh, dim_axes, reason)
        self.properties["kind"] = KindAttr(kind)


@irdl_op_definition
class ReduceScatterOp(_ScatteringOp):
    """
    Combines partial results over axes and keeps this device's slice along them.

    `%1 = dtensor.reduce_scatter sum @mesh [{"x"}, {}] %0 : (T1) -> T2`
    """

    name = "dtensor.reduce_scatter"
    RULE: ClassVar[Callable[..., LayoutSpec]] = staticmethod(algebra.reduce_scatter)

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        _check_kind(spec, self.kind)
        return super().derive(spec, mesh)


@irdl_op_definition
class UnscatterOp(_ScatteringOp):
    """
    Makes a value partial over axes that split dims: each device has its part in its place, among what adds nothing.

    Nothing is sent.

    `%1 = dtensor.unscatter sum @mesh [{"x"}, {}] %0 : (T1) -> T2`
    """

    name = "dtensor.unscatter"
    LARGER: ClassVar[bool] = True

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return algebra.unscatter(spec, self.dim_axes.data, self.kind.data, mesh)


_DIM = forms.Spelling(
    lambda parser: IntegerAttr(parser.parse_integer(allow_negative=False), i64), lambda dim: str(dim.value.data)
)


@irdl_op_definition
class AllToAllOp(CollectiveOp):
    """
    Moves minor axes of one dim to the minor end of another.

    `%1 = dtensor.all_to_all @mesh {"x"} 0 to 1 %0 : (T1) -> T2`
    """

    name = "dtensor.all_to_all"
    axes = prop_def(AxesAttr)
    source_dim = prop_def(IntegerAttr)
    target_dim = prop_def(IntegerAttr)
    FORM: ClassVar[forms.Form] = collective_form(
        MESH, AXES, forms.Field("source_dim", _DIM), forms.Field("target_dim", _DIM, " to ")
    )

    def __init__(
        self,
        operand: SSAValue,
        result_type: Attribute,
        mesh: str,
        axes: Sequence[Axis],
        source_dim: int,
        target_dim: int,
        reason: str | None = None,
    ):
        dims = {"source_dim": IntegerAttr(source_dim, i64), "target_dim": IntegerAttr(target_dim, i64)}
        self.make([operand], [result_type], mesh, reason, {"axes": AxesAttr(tuple(axes)), **dims})

    @property
    def source(self) -> int:
        """The dim that loses the axes."""
        return self.source_dim.value.data

    @property
    def target(self) -> int:
        """The dim that gains the axes."""
        return self.target_dim.value.data

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return algebra.all_to_all(spec, self.axes.data, self.source, self.target, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        size, result = mesh.group_size(self.axes.data), list(shape)
        if self.source == self.target or max(self.source, self.target) >= len(shape) or shape[self.target] % size:
            raise ValueError(f"dims {self.source} and {self.target} of {shape} cannot trade {size} parts")
        result[self.source] *= size
        result[self.target] //= size
        return tuple(result)


class _FromToOp(CollectiveOp, ABC):
    """A collective that states both layouts, since no shorter argument determines them; the mesh is theirs."""

    CHECK: ClassVar[Callable[..., None]]
    """Raises `ValueError` when this op cannot turn one layout into the other on a mesh."""
    source = prop_def(LayoutAttr)
    target = prop_def(LayoutAttr)
    FORM: ClassVar[forms.Form] = forms.Form(
        forms.Field("source", forms.spelled(LayoutAttr)),
        forms.Field("target", forms.spelled(LayoutAttr), " to "),
        forms.Operands(least=1),
        types=forms.FUNCTION,
        implied=["mesh"],
    )

    def __init__(
        self,
        operand: SSAValue,
        result_type: Attribute,
        source: LayoutSpec,
        target: LayoutSpec,
        reason: str | None = None,
    ):
        layouts = {"source": LayoutAttr(source), "target": LayoutAttr(target)}
        self.make([operand], [result_type], source.mesh, reason, layouts)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        op = super().parse(parser)
        op.properties = {"mesh": mesh_symbol(op.source.data.mesh), **op.properties}
        return op

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        if algebra.canonical(spec, mesh) != algebra.canonical(self.source.data, mesh):
            raise ValueError(f"the operand's layout is {spec}, not {self.source.data}")
        self.CHECK(self.source.data, self.target.data, mesh)
        return self.target.data

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        self.CHECK(self.source.data, self.target.data, mesh)
        whole = _scaled(shape, self.source.data.dims, mesh, up=True)
        return _scaled(whole, self.target.data.dims, mesh, up=False)


@irdl_op_definition
class CollectivePermuteOp(_FromToOp):
    """
    Each device sends its whole buffer to one other: axes permuted or renamed, local shapes unchanged.

    `%1 = dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %0 : (T1) -> T2`
    """

    name = "dtensor.collective_permute"
    CHECK: ClassVar[Callable[..., None]] = staticmethod(algebra.check_permute)


@irdl_op_definition
class ExchangeOp(_FromToOp):
    """
    The direct relayout: each device receives each element that it misses once, from one holder, in one round.

    `%1 = dtensor.exchange <@mesh, [{"x"}, {"y"}]> to <@mesh, [{"y"}, {"x"}]> %0 : (T1) -> T2`
    """

    name = "dtensor.exchange"
    CHECK: ClassVar[Callable[..., None]] = staticmethod(algebra.check_exchange)


_NUMBERS = {"starts": "start", "strides": "stride", "dilations": "dilation", "frames": "frame", "steps": "step"}
"""The properties that list the numbers of windows, one for each dim."""


@irdl_op_definition
class WindowOp(CollectiveOp):
    """
    Slices, pads or reverses dims that are split: each device receives what its window lacks, once, from its holder.

    Element `i` of a result dim is what stands at place `start + stride * i`, or `padding` where nothing does; the
    operand's elements stand `dilation` places apart. In frames, which make halos, each `frame` elements of the result
    start `step` places behind the frame before (see `layout.window.Window`). Operand and result are split alike;
    `dim_axes` repeats the axes of the dims along which elements move.

    `%1 = dtensor.window @mesh [{"x"}, {}] [-1, 0] by [1, 1] %0 {padding = dense<0.0> : tensor<f32>} : (T1) -> T2`
    `%1 = dtensor.window @mesh [{"x"}, {}] [-1, 0] by [1, 1] frames [6, 0] every [4, 0] %0 {...} : (T1) -> T2`
    `%1 = dtensor.window @mesh [{"x"}, {}] [-1, 0] by [1, 1] dilated [2, 1] %0 {...} : (T1) -> T2`
    """

    name = "dtensor.window"
    dim_axes = prop_def(DimAxesAttr)
    starts = prop_def(DenseArrayBase)
    strides = prop_def(DenseArrayBase)
    dilations = opt_prop_def(DenseArrayBase)
    frames = opt_prop_def(DenseArrayBase)
    steps = opt_prop_def(DenseArrayBase)
    padding = opt_prop_def(DenseIntOrFPElementsAttr)

    FORM: ClassVar[forms.Form] = collective_form(
        MESH,
        DIM_AXES,
        forms.Field("starts", forms.DIMS),
        forms.Field("strides", forms.DIMS, " by "),
        forms.Field("dilations", forms.DIMS, " dilated ", optional=True),
        forms.Field("frames", forms.DIMS, " frames ", optional=True),
        forms.Field("steps", forms.DIMS, " every ", beside="frames"),
    )

    def __init__(
        self,
        operand: SSAValue,
        result_type: Attribute,
        mesh: str,
        dim_axes: DimAxes,
        windows: Sequence[Window],
        padding: Attribute | None,
        reason: str | None = None,
    ):
        properties = {"dim_axes": DimAxesAttr(tuple(map(tuple, dim_axes))), **_window_numbers(windows)}
        if padding is not None:
            properties["padding"] = padding
        self.make([operand], [result_type], mesh, reason, properties)

    def windows(self, mesh: Mesh) -> tuple[Window, ...]:
        """For each dim of the global tensor how the result comes from the operand; on global and per-device types."""
        whole = layout_of(self.inputs[0]) is not None
        sizes = [1 if whole else mesh.group_size(axes) for axes in self.dim_axes.data]
        source, target = (shape_of(value) for value in (self.inputs[0], self.outputs[0]))
        operands = [extent * size for extent, size in zip(source, sizes, strict=True)]
        results = [extent * size for extent, size in zip(target, sizes, strict=True)]
        defaults = ((1,) * len(sizes), (0,) * len(sizes), (0,) * len(sizes))
        given = (self.dilations, self.frames, self.steps)
        rest = [default if found is None else _numbers(found) for found, default in zip(given, defaults, strict=True)]
        return tuple(map(Window, operands, results, _numbers(self.starts), _numbers(self.strides), *rest))

    def sent_bytes(self, mesh: Mesh) -> Fraction:
        """The bytes that each device receives, on average: the elements of its window that it lacks."""
        spec, shape = layout_of(self.inputs[0]), shape_of(self.inputs[0])
        local = shape if spec is None else algebra.local_shape(spec, shape, mesh)
        windows = [
            (window, mesh.group_size(axes)) if window.moves else None
            for window, axes in zip(self.windows(mesh), self.dim_axes.data, strict=True)
        ]
        others = math.prod(extent for extent, window in zip(local, windows, strict=True) if window is None)
        return missing_elements(list(filter(None, windows))) * others * element_size(element_of(self.inputs[0]))

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        for dim, (axes, mine) in enumerate(zip(spec.dims, self.dim_axes.data, strict=True)):
            if mine and mesh.group_size(mine) > 1 and mine != axes:
                raise ValueError(f"dim {dim} is split by {axes_text(axes)}, not by {axes_text(mine)}")
            if mesh.group_size(axes) > 1 and not mine and self.windows(mesh)[dim].moves:
                raise ValueError(f"elements move along dim {dim}, so dim_axes must name its axes {axes_text(axes)}")
        return spec

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return shape_of(self.outputs[0])

    def _verify_pair(self, operand: SSAValue, result: SSAValue, mesh: Mesh) -> None:
        rank = len(shape_of(operand))
        numbers = [self.starts, self.strides, *filter(None, (self.dilations, self.frames, self.steps))]
        lengths = {rank, len(shape_of(result)), len(self.dim_axes.data), *map(len, numbers)}
        if len(lengths) != 1 or element_of(operand) != element_of(result):
            raise ValueError("operand, result and all lists of numbers must agree in rank, and the element types too")
        before, after = layout_of(operand), layout_of(result)
        if before is None or after is None:
            same = before is after
        else:
            same = algebra.canonical(self.derive(before, mesh), mesh) == algebra.canonical(after, mesh)
        if not same:
            raise ValueError("operand and result must have the same layout")
        windows = self.windows(mesh)
        for window, axes in zip(windows, self.dim_axes.data, strict=True):
            _check_window(window, mesh.group_size(axes))
        if self.padding is None and any(window.pads for window in windows):
            raise ValueError("the window leaves the operand, so it needs padding")


def _check_window(window: Window, parts: int) -> None:
    """Raises `ValueError` for numbers that describe no window, or none that falls into so many parts."""
    if not window.stride:
        raise ValueError("a stride of 0 takes no step")
    if window.dilation < 1 or window.frame < 0:
        raise ValueError("dilations must be at least 1, and frames at least 0")
    if window.frame and window.result % (window.frame * parts):
        raise ValueError(f"{window.result} elements do not fall into frames of {window.frame} in {parts} parts")


def _window_numbers(windows: Sequence[Window]) -> dict[str, Attribute]:
    """The numbers of windows as properties; those that have their defaults everywhere are left out."""
    found: dict[str, Attribute] = {
        name: integers(tuple(getattr(window, number) for window in windows)) for name, number in _NUMBERS.items()
    }
    if all(window.dilation == 1 for window in windows):
        del found["dilations"]
    if not any(window.frame for window in windows):
        del found["frames"], found["steps"]
    return found


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    return tuple(cast(Integers, attribute).get_values())


@irdl_op_definition
class AxisIndexOp(forms.WrittenOp, forms.TensorOp):
    """
    This device's linear index over `axes`, major to minor: `%0 = dtensor.axis_index @mesh {"x"} : tensor<i32>`.
    """

    name = "dtensor.axis_index"
    mesh = prop_def(SymbolRefAttr)
    axes = prop_def(AxesAttr)
    FORM: ClassVar[forms.Form] = forms.Form(MESH, AXES, types=forms.ONE)

    def __init__(self, mesh: str, axes: Sequence[Axis]):
        super().__init__(
            properties={"mesh": mesh_symbol(mesh), "axes": AxesAttr(tuple(axes))},
            result_types=[TensorType(i32, [])],
        )

    def verify_(self) -> None:
        if with_layout(self.result.type, None) != TensorType(i32, []):
            raise VerifyException(f"the result must be tensor<i32>, not {self.result.type}")
        mesh = mesh_of(self, self.mesh.root_reference.data)
        check_axes(self.axes.data, mesh)


COLLECTIVES: tuple[type[CollectiveOp], ...] = (
    AllReduceOp,
    ReduceScatterOp,
    AllGatherOp,
    AllSliceOp,
    UnreduceOp,
    UnscatterOp,
    AllToAllOp,
    CollectivePermuteOp,
    ExchangeOp,
    WindowOp,
)

OPS: tuple[type[Operation], ...] = (MeshOp, RelayoutOp, ConstraintOp, *COLLECTIVES, AxisIndexOp)
ATTRIBUTES: tuple[type[Attribute], ...] = (LayoutAttr, MeshAttr, AxesAttr, DimAxesAttr, KindAttr)
