"""
The `dtensor` dialect: meshes, layouts as tensor encodings, relayouts and collectives.

A collective is the same op on global types with layouts (planned stage), where its verifier re-derives the result's
layout from the operand's, and on per-device types (local stage), where it checks the shapes. `docs/architecture.md`
has the table.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar, cast

from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    IntegerAttr,
    IntegerType,
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
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from shardwright.dialects.dtensor.attributes import (
    AxesAttr,
    DimAxesAttr,
    KindAttr,
    LayoutAttr,
    MeshAttr,
    axes_text,
    dim_axes_text,
    mesh_symbol,
    parse_axes,
    parse_dim_axes,
    parse_kind,
    parse_spec,
)
from shardwright.dialects.types import element_of, element_size, integers, shape_of
from shardwright.layout.axes import Axis
from shardwright.layout.mesh import Mesh
from shardwright.layout.planning import algebra
from shardwright.layout.planning.window import Window, missing_elements
from shardwright.layout.spec import LayoutSpec

DimAxes = Sequence[Sequence[Axis]]


def layout_of(value: SSAValue) -> LayoutSpec | None:
    """The layout in a value's type, or None."""
    encoding = cast("TensorType[Attribute]", value.type).encoding if isinstance(value.type, TensorType) else None
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


@irdl_op_definition
class MeshOp(IRDLOperation):
    """Declares a mesh: `dtensor.mesh @mesh = <["batch"=4, "model"=2]>`."""

    name = "dtensor.mesh"
    sym_name = prop_def(StringAttr)
    axes = prop_def(MeshAttr)
    traits = traits_def(SymbolOpInterface())

    def __init__(self, name: str, axes: Sequence[tuple[str, int]]):
        super().__init__(properties={"sym_name": StringAttr(name), "axes": MeshAttr(tuple(axes))})

    @property
    def mesh(self) -> Mesh:
        """The mesh as data."""
        return Mesh(self.axes.data, name=self.sym_name.data)

    @classmethod
    def parse(cls, parser: Parser) -> MeshOp:
        name = parser.parse_symbol_name()
        parser.parse_punctuation("=")
        axes = MeshAttr(MeshAttr.parse_parameter(parser))
        attributes = parser.parse_optional_attr_dict()
        return cls.create(properties={"sym_name": name, "axes": axes}, attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" @{self.sym_name.data} = ")
        self.axes.print_parameter(printer)
        printer.print_op_attributes(self.attributes)

    def verify_(self) -> None:
        names = [name for name, _ in self.axes.data]
        if len(set(names)) != len(names):
            raise VerifyException(f"mesh @{self.sym_name.data} names an axis twice: {names}")
        if any(size < 1 for _, size in self.axes.data):
            raise VerifyException(f"mesh @{self.sym_name.data} has an axis of size below 1")


class Relaid(IRDLOperation, ABC):
    """One tensor in, the same tensor with another layout out: `name %x : T1 -> T2`."""

    operand = operand_def(TensorType)
    result = result_def(TensorType)
    reason = opt_prop_def(StringAttr)
    traits = traits_def(Pure())

    def __init__(self, operand: SSAValue, spec: LayoutSpec, reason: str | None = None):
        properties: dict[str, Attribute] = {} if reason is None else {"reason": StringAttr(reason)}
        super().__init__(operands=[operand], result_types=[with_layout(operand.type, spec)], properties=properties)

    @classmethod
    def parse(cls, parser: Parser) -> Relaid:
        operand = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        properties = {name: attributes.pop(name) for name in ("source", "reason") if name in attributes}
        parser.parse_punctuation(":")
        source = parser.parse_type()
        parser.parse_punctuation("->")
        return cls.create(
            operands=[parser.resolve_operand(operand, source)],
            result_types=[parser.parse_type()],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.operand)
        printer.print_op_attributes(self.attributes | self.properties)
        printer.print_string(" : ")
        printer.print_attribute(self.operand.type)
        printer.print_string(" -> ")
        printer.print_attribute(self.result.type)

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
    if source.get_shape() != target.get_shape() or source.element_type != target.element_type:
        raise VerifyException(f"operand and result must be the same tensor: {source} against {target}")


class CollectiveOp(IRDLOperation, ABC):
    """
    What all collectives share: a mesh, a reason, and a layout rule that the verifier applies.

    Syntax: `name <arguments> %operands : (types) -> (types)`; a subclass reads and writes its arguments and derives the
    result's layout from the operand's.
    """

    inputs = var_operand_def(TensorType)
    outputs = var_result_def(TensorType)
    mesh = prop_def(SymbolRefAttr)
    reason = opt_prop_def(StringAttr)
    traits = traits_def(Pure())

    SPELLED: ClassVar[tuple[str, ...]] = ("reason",)
    """Properties that stand in the attribute dictionary."""

    @classmethod
    @abstractmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        """Reads what stands between the op's name and its operands."""

    @abstractmethod
    def arguments_text(self) -> str:
        """Writes what `parse_arguments` reads."""

    @abstractmethod
    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        """The result's layout for an operand of layout `spec`; `ValueError` when the op does not apply to it."""

    @abstractmethod
    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        """The result's per-device shape for an operand of per-device shape `shape`."""

    @property
    def mesh_name(self) -> str:
        """The symbol of the mesh."""
        return self.mesh.root_reference.data

    @classmethod
    def parse(cls, parser: Parser) -> CollectiveOp:
        properties: dict[str, Attribute] = dict(cls.parse_arguments(parser))
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        attributes = parser.parse_optional_attr_dict()
        properties.update({name: attributes.pop(name) for name in cls.SPELLED if name in attributes})
        parser.parse_punctuation(":")
        position = parser.pos
        signature = parser.parse_function_type()
        inputs = parser.resolve_operands(operands, list(signature.inputs), position)
        return cls.create(
            operands=inputs,
            result_types=list(signature.outputs),
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.arguments_text()} ")
        printer.print_list(self.inputs, printer.print_ssa_value)
        shown = {name: self.properties[name] for name in self.SPELLED if name in self.properties}
        printer.print_op_attributes(self.attributes | shown)
        printer.print_string(" : ")
        printer.print_function_type([value.type for value in self.inputs], [value.type for value in self.outputs])

    def verify_(self) -> None:
        if len(self.inputs) != len(self.outputs) or not self.inputs:
            raise VerifyException("needs as many results as operands, and at least one")
        mesh = mesh_of(self, self.mesh_name)
        for operand, result in zip(self.inputs, self.outputs, strict=True):
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


def _symbol(parser: Parser) -> SymbolRefAttr:
    return mesh_symbol(parser.parse_symbol_name().data)


def _scaled(shape: tuple[int, ...], dim_axes: DimAxes, mesh: Mesh, *, up: bool) -> tuple[int, ...]:
    sizes = [mesh.group_size(axes) for axes in dim_axes]
    if not up and any(extent % size for extent, size in zip(shape, sizes, strict=True)):
        raise ValueError(f"shape {shape} does not divide by {tuple(sizes)}")
    return tuple(n * size if up else n // size for n, size in zip(shape, sizes, strict=True))


@irdl_op_definition
class AllReduceOp(CollectiveOp):
    """
    Combines partial results over `axes`; several operands travel as one message.

    `%1 = dtensor.all_reduce sum @mesh {"model"} %0 : (T1) -> T2`
    """

    name = "dtensor.all_reduce"
    axes = prop_def(AxesAttr)
    kind = prop_def(KindAttr)

    def __init__(
        self,
        operands: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        mesh: str,
        axes: Sequence[Axis],
        kind: str,
        reason: str | None = None,
    ):
        properties = _properties(mesh, reason) | {"axes": AxesAttr(tuple(axes)), "kind": KindAttr(kind)}
        super().__init__(operands=[operands], result_types=[result_types], properties=properties)

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        kind = KindAttr(parse_kind(parser))
        return {"kind": kind, "mesh": _symbol(parser), "axes": AxesAttr(parse_axes(parser))}

    def arguments_text(self) -> str:
        return f"{self.kind.data} @{self.mesh_name} {axes_text(self.axes.data)}"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        if spec.kind != self.kind.data:
            raise ValueError(f"the operand's partial results combine by {spec.kind or 'nothing'}, not {self.kind.data}")
        return algebra.all_reduce(spec, self.axes.data, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return shape


class _DimAxesOp(CollectiveOp, ABC):
    """A collective whose argument is a list of axes for each dim."""

    dim_axes = prop_def(DimAxesAttr)

    def __init__(
        self, operand: SSAValue, result_type: Attribute, mesh: str, dim_axes: DimAxes, reason: str | None = None
    ):
        axes = DimAxesAttr(tuple(tuple(dim) for dim in dim_axes))
        super().__init__(
            operands=[[operand]],
            result_types=[[result_type]],
            properties=_properties(mesh, reason) | {"dim_axes": axes},
        )

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        return {"mesh": _symbol(parser), "dim_axes": DimAxesAttr(parse_dim_axes(parser))}

    def arguments_text(self) -> str:
        return f"@{self.mesh_name} {dim_axes_text(self.dim_axes.data)}"


@irdl_op_definition
class AllGatherOp(_DimAxesOp):
    """
    Collects the shards over axes at the minor end of each dim.

    `%1 = dtensor.all_gather @mesh [{}, {"model"}] %0 : (T1) -> T2`
    """

    name = "dtensor.all_gather"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return algebra.all_gather(spec, self.dim_axes.data, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return _scaled(shape, self.dim_axes.data, mesh, up=True)


@irdl_op_definition
class AllSliceOp(_DimAxesOp):
    """
    Keeps this device's slice along axes appended to the minor end of each dim; sends nothing.

    `%1 = dtensor.all_slice @mesh [{"batch"}, {}] %0 : (T1) -> T2`
    """

    name = "dtensor.all_slice"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        return algebra.all_slice(spec, self.dim_axes.data, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return _scaled(shape, self.dim_axes.data, mesh, up=False)


@irdl_op_definition
class ReduceScatterOp(_DimAxesOp):
    """
    Combines partial results over axes and keeps this device's slice along them.

    `%1 = dtensor.reduce_scatter sum @mesh [{"x"}, {}] %0 : (T1) -> T2`
    """

    name = "dtensor.reduce_scatter"
    kind = prop_def(KindAttr)

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

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        kind = KindAttr(parse_kind(parser))
        return {"kind": kind} | super().parse_arguments(parser)

    def arguments_text(self) -> str:
        return f"{self.kind.data} {super().arguments_text()}"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        if spec.kind != self.kind.data:
            raise ValueError(f"the operand's partial results combine by {spec.kind or 'nothing'}, not {self.kind.data}")
        return algebra.reduce_scatter(spec, self.dim_axes.data, mesh)

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        return _scaled(shape, self.dim_axes.data, mesh, up=False)


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
        properties = _properties(mesh, reason) | {
            "axes": AxesAttr(tuple(axes)),
            "source_dim": IntegerAttr(source_dim, i64),
            "target_dim": IntegerAttr(target_dim, i64),
        }
        super().__init__(operands=[[operand]], result_types=[[result_type]], properties=properties)

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        mesh, axes = _symbol(parser), AxesAttr(parse_axes(parser))
        source = IntegerAttr(parser.parse_integer(allow_negative=False), i64)
        parser.parse_keyword("to")
        target = IntegerAttr(parser.parse_integer(allow_negative=False), i64)
        return {"mesh": mesh, "axes": axes, "source_dim": source, "target_dim": target}

    def arguments_text(self) -> str:
        return f"@{self.mesh_name} {axes_text(self.axes.data)} {self.source} to {self.target}"

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
    """A collective that states both layouts, since no shorter argument determines them."""

    source = prop_def(LayoutAttr)
    target = prop_def(LayoutAttr)

    def __init__(
        self,
        operand: SSAValue,
        result_type: Attribute,
        source: LayoutSpec,
        target: LayoutSpec,
        reason: str | None = None,
    ):
        properties = _properties(source.mesh, reason) | {"source": LayoutAttr(source), "target": LayoutAttr(target)}
        super().__init__(operands=[[operand]], result_types=[[result_type]], properties=properties)

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        source = parse_spec(parser)
        parser.parse_keyword("to")
        target = LayoutAttr(parse_spec(parser))
        return {"mesh": mesh_symbol(source.mesh), "source": LayoutAttr(source), "target": target}

    def arguments_text(self) -> str:
        return f"{self.source.data} to {self.target.data}"

    def derive(self, spec: LayoutSpec, mesh: Mesh) -> LayoutSpec:
        if algebra.canonical(spec, mesh) != algebra.canonical(self.source.data, mesh):
            raise ValueError(f"the operand's layout is {spec}, not {self.source.data}")
        self._check(mesh)
        return self.target.data

    def derive_shape(self, shape: tuple[int, ...], mesh: Mesh) -> tuple[int, ...]:
        self._check(mesh)
        whole = _scaled(shape, self.source.data.dims, mesh, up=True)
        return _scaled(whole, self.target.data.dims, mesh, up=False)

    @abstractmethod
    def _check(self, mesh: Mesh) -> None:
        """Raises `ValueError` when this op cannot turn `source` into `target`."""


@irdl_op_definition
class CollectivePermuteOp(_FromToOp):
    """
    Each device sends its whole buffer to one other: axes permuted or renamed, local shapes unchanged.

    `%1 = dtensor.collective_permute <@mesh, [{"x"}, {}]> to <@mesh, [{"y"}, {}]> %0 : (T1) -> T2`
    """

    name = "dtensor.collective_permute"

    def _check(self, mesh: Mesh) -> None:
        algebra.check_permute(self.source.data, self.target.data, mesh)


@irdl_op_definition
class ExchangeOp(_FromToOp):
    """
    The direct relayout: each device receives each element that it misses once, from one holder, in one round.

    `%1 = dtensor.exchange <@mesh, [{"x"}, {"y"}]> to <@mesh, [{"y"}, {"x"}]> %0 : (T1) -> T2`
    """

    name = "dtensor.exchange"

    def _check(self, mesh: Mesh) -> None:
        algebra.check_exchange(self.source.data, self.target.data, mesh)


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

    SPELLED: ClassVar[tuple[str, ...]] = ("padding", "reason")

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
        properties = _properties(mesh, reason) | _window_numbers(windows)
        properties["dim_axes"] = DimAxesAttr(tuple(tuple(dim) for dim in dim_axes))
        if padding is not None:
            properties["padding"] = padding
        super().__init__(operands=[[operand]], result_types=[[result_type]], properties=properties)

    @classmethod
    def parse_arguments(cls, parser: Parser) -> dict[str, Attribute]:
        def numbers() -> Attribute:
            return integers(tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer)))

        found = {"mesh": _symbol(parser), "dim_axes": DimAxesAttr(parse_dim_axes(parser)), "starts": numbers()}
        parser.parse_keyword("by")
        found["strides"] = numbers()
        if parser.parse_optional_keyword("dilated") is not None:
            found["dilations"] = numbers()
        if parser.parse_optional_keyword("frames") is not None:
            found["frames"] = numbers()
            parser.parse_keyword("every")
            found["steps"] = numbers()
        return found

    def arguments_text(self) -> str:
        starts, strides = (list(_numbers(each)) for each in (self.starts, self.strides))
        text = f"@{self.mesh_name} {dim_axes_text(self.dim_axes.data)} {starts} by {strides}"
        if self.dilations is not None:
            text += f" dilated {list(_numbers(self.dilations))}"
        if self.frames is not None and self.steps is not None:
            text += f" frames {list(_numbers(self.frames))} every {list(_numbers(self.steps))}"
        return text

    def windows(self, mesh: Mesh) -> tuple[Window, ...]:
        """For each dim of the global tensor how the result comes from the operand; on global and per-device types."""
        whole = layout_of(self.inputs[0]) is not None
        sizes = [1 if whole else mesh.group_size(axes) for axes in self.dim_axes.data]
        source, target = (shape_of(value) for value in (self.inputs[0], self.outputs[0]))
        operands = [extent * size for extent, size in zip(source, sizes, strict=True)]
        results = [extent * size for extent, size in zip(target, sizes, strict=True)]
        rank = len(sizes)
        return tuple(
            map(
                Window,
                operands,
                results,
                _numbers(self.starts),
                _numbers(self.strides),
                _numbers(self.dilations) if self.dilations is not None else (1,) * rank,
                _numbers(self.frames) if self.frames is not None else (0,) * rank,
                _numbers(self.steps) if self.steps is not None else (0,) * rank,
            )
        )

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
        if (before is None) != (after is None):
            raise ValueError("operand and result must have the same layout")
        if before is not None and after is not None:
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
        "starts": integers(tuple(window.start for window in windows)),
        "strides": integers(tuple(window.stride for window in windows)),
    }
    if any(window.dilation != 1 for window in windows):
        found["dilations"] = integers(tuple(window.dilation for window in windows))
    if any(window.frame for window in windows):
        found["frames"] = integers(tuple(window.frame for window in windows))
        found["steps"] = integers(tuple(window.step for window in windows))
    return found


def _numbers(attribute: Attribute) -> tuple[int, ...]:
    return tuple(cast("DenseArrayBase[IntegerType]", attribute).get_values())


@irdl_op_definition
class AxisIndexOp(IRDLOperation):
    """
    This device's linear index over `axes`, major to minor: `%0 = dtensor.axis_index @mesh {"x"} : tensor<i32>`.
    """

    name = "dtensor.axis_index"
    mesh = prop_def(SymbolRefAttr)
    axes = prop_def(AxesAttr)
    result = result_def(TensorType)
    traits = traits_def(Pure())

    def __init__(self, mesh: str, axes: Sequence[Axis]):
        super().__init__(
            properties={"mesh": mesh_symbol(mesh), "axes": AxesAttr(tuple(axes))},
            result_types=[TensorType(i32, [])],
        )

    @classmethod
    def parse(cls, parser: Parser) -> AxisIndexOp:
        mesh, axes = _symbol(parser), AxesAttr(parse_axes(parser))
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        result = parser.parse_type()
        return cls.create(properties={"mesh": mesh, "axes": axes}, result_types=[result], attributes=attributes)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" @{self.mesh.root_reference.data} {axes_text(self.axes.data)}")
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        if with_layout(self.result.type, None) != TensorType(i32, []):
            raise VerifyException(f"the result must be tensor<i32>, not {self.result.type}")
        mesh = mesh_of(self, self.mesh.root_reference.data)
        for axis in self.axes.data:
            if axis.name not in mesh.sizes:
                raise VerifyException(f"{mesh} has no axis {axis}")


def _properties(mesh: str, reason: str | None) -> dict[str, Attribute]:
    properties: dict[str, Attribute] = {"mesh": mesh_symbol(mesh)}
    return properties if reason is None else properties | {"reason": StringAttr(reason)}


COLLECTIVES: tuple[type[CollectiveOp], ...] = (
    AllReduceOp,
    ReduceScatterOp,
    AllGatherOp,
    AllSliceOp,
    AllToAllOp,
    CollectivePermuteOp,
    ExchangeOp,
    WindowOp,
)

OPS: tuple[type[Operation], ...] = (MeshOp, RelayoutOp, ConstraintOp, *COLLECTIVES, AxisIndexOp)
ATTRIBUTES: tuple[type[Attribute], ...] = (LayoutAttr, MeshAttr, AxesAttr, DimAxesAttr, KindAttr)
