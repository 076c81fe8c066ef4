"""TensorFlow's graphs as programs: `from_graph` and `from_saved_model`."""

from __future__ import annotations

import inspect
import keyword
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from google.protobuf.message import Message

from shardwright.compiler.layouts.decided import Layouts
from shardwright.compiler.stages import Compiled, Traced
from shardwright.compiler.tracing import emit
from shardwright.compiler.tracing.dtypes import brief
from shardwright.compiler.tracing.settings import settled
from shardwright.compiler.tracing.trace import Tracer
from shardwright.diagnostics.faults import noted
from shardwright.frontends import arrays, functions
from shardwright.frontends.functions.function import Function
from shardwright.frontends.functions.signature import TensorSpec
from shardwright.frontends.tensorflow.importing.attributes import Signature
from shardwright.frontends.tensorflow.importing.evaluate import (
    Frame,
    Handle,
    Interpreter,
    State,
    Value,
    fits,
    unrolled,
)
from shardwright.frontends.tensorflow.importing.faults import GraphError
from shardwright.frontends.tensorflow.importing.files import read_graph, read_saved_model
from shardwright.frontends.tensorflow.importing.graphs.flattening import flattened
from shardwright.frontends.tensorflow.importing.graphs.frames import with_functions
from shardwright.frontends.tensorflow.importing.graphs.nodes import Body, Library, Node, Reference, reference
from shardwright.frontends.tensorflow.importing.graphs.survey import survey
from shardwright.frontends.tensorflow.importing.host import tables
from shardwright.frontends.tensorflow.importing.host.running import Around, HostInterpreter
from shardwright.frontends.tensorflow.importing.host.stages import needs_host, staged
from shardwright.frontends.tensorflow.importing.operations import ROWS
from shardwright.frontends.tensorflow.importing.table import definitions, on_host
from shardwright.frontends.tensorflow.importing.tensors import STRING, is_repeated, numpy_dtype, static_shape
from shardwright.frontends.tensorflow.importing.variables import (
    CHANGING_TABLES,
    HANDLES,
    handle_name,
    stored_tables,
    stored_variables,
)
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable
from shardwright.layout import Layout
from shardwright.layout.layout_map import LayoutMap
from shardwright.serialization.files.reading import reading, real_path
from shardwright.serialization.protos import saved_model_pb2

__all__ = ["ROWS", "GraphProgram", "from_graph", "from_saved_model"]

Inputs = Mapping[str, TensorSpec | None] | Sequence[str] | str | None
LayoutsByName = LayoutMap | Mapping[str, Layout] | None

OLD_SHAPES = 24
"""From this version of graphs on, a placeholder without dims is a number; before it, its shape is not known."""


@dataclass(frozen=True)
class _Input:
    """One input: the tensor that it stands for, and what the graph says about it."""

    name: str
    source: Reference
    dtype: np.dtype[Any]
    shape: tuple[int | None, ...] | None
    spec: TensorSpec | None

    def checked(self) -> TensorSpec | None:
        """What calls must give; None for texts, and where the graph leaves even the number of dims open."""
        if self.spec is None:
            return (
                None
                if self.shape is None or self.dtype == STRING
                else TensorSpec(self.shape, self.dtype, name=self.name)
            )
        if not isinstance(self.spec, TensorSpec):  # pyright: ignore[reportUnnecessaryIsInstance]
            message = f"input {self.name!r} is given as {self.spec!r}, not as a TensorSpec"
            raise GraphError("SW0891", message, help=_SPEC)
        same = self.spec.dtype == self.dtype
        if not same or (self.shape is not None and not fits(self.spec.shape, self.shape)):
            raise GraphError("SW0891", f"input {self.name!r} is {self.described} and cannot be {self.spec!r}")
        return self.spec

    @property
    def plain(self) -> str:
        """What the graph calls it: the node alone for its first output."""
        return self.name.removesuffix(":0")

    @property
    def described(self) -> str:
        sizes = "[...]" if self.shape is None else str(["?" if size is None else size for size in self.shape])
        return f"{brief(self.dtype)}{sizes.replace(chr(39), '')}"

    def on_host(self, given: Any) -> Value:
        """The value of an argument that the host reads."""
        if isinstance(given, Tracer) or getattr(given, "layout", None) is not None:
            kind = "a traced value" if isinstance(given, Tracer) else "a distributed array"
            raise GraphError("SW0898", f"input {self.name!r} is read on the host, and {kind} is not there")
        return self.taken(_as_bytes(given) if self.dtype == STRING else given)

    def taken(self, given: Any) -> Value:
        """The value of an argument, which must be of the type and shape that the graph says."""
        value = given if isinstance(given, Tracer) else np.asarray(given)
        if isinstance(value, Tracer) and value.scalar_kind is not None:
            return emit.as_tracer(arrays.astype(value, self.dtype))
        if value.dtype != self.dtype or (self.shape is not None and not fits(value.shape, self.shape)):
            found = f"{brief(value.dtype)}{list(value.shape)}"
            raise GraphError("SW0891", f"input {self.name!r} is {self.described} and cannot be {found}")
        return value


def _as_bytes(given: Any) -> np.ndarray[Any, Any]:
    """Texts as TensorFlow has them."""
    texts = np.asarray(given)
    if texts.dtype.kind not in "OSU" or not all(isinstance(text, str | bytes) for text in texts.flat):
        return texts
    found = np.empty(texts.shape, object)
    found.reshape(-1)[:] = [text.encode() if isinstance(text, str) else bytes(text) for text in texts.flat]
    return found


class _Run:
    """The Python function that is traced: it evaluates the graph, node by node."""

    __slots__ = ("__code__", "__name__", "__signature__", "_order", "_state", "inputs", "outputs")

    def __init__(
        self, state: State, order: Sequence[Node], inputs: Sequence[_Input], names: Sequence[str], outputs: _Outputs
    ) -> None:
        self._state, self._order, self.inputs, self.outputs = state, order, inputs, outputs
        self.__name__ = state.label
        self.__code__ = compile("", state.label, "exec")  # where arguments are said to come from
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in names])

    def __call__(self, *arguments: Any) -> Any:
        interpreter = Interpreter(self._state)
        values = [one.taken(value) for one, value in zip(self.inputs, arguments, strict=True)]
        fed = {(one.source.node, one.source.index): value for one, value in zip(self.inputs, values, strict=True)}
        frame = interpreter.run(self._order, Frame({}, fed))
        return self.outputs.made([_result(frame.value(ref, "the output")) for ref in self.outputs.sources])


def _result(value: Value) -> Any:
    if isinstance(value, Handle) or value.dtype.kind == "O":
        raise GraphError("SW0889", "an output is a handle, a list or a string, which a program cannot give")
    return value if isinstance(value, Tracer) else unrolled(value)


@dataclass(frozen=True)
class _Outputs:
    """The tensors that a program gives: one, several in a tuple, or by name."""

    names: tuple[str, ...]
    sources: tuple[Reference, ...]
    kind: str

    def made(self, values: list[Any]) -> Any:
        if self.kind == "one":
            return values[0]
        return dict(zip(self.names, values, strict=True)) if self.kind == "dict" else tuple(values)


class GraphProgram(Module):
    """
    A graph as a function of its inputs, which are given in order or by name.

    Where the graph reads texts or looks into tables, that runs on the host, in NumPy, before the program and after it:
    `host` names these nodes. `trace` and its like then take arguments, and give the stages of what is between.

    Called, it is traced, partitioned and run like any other function; `trace` gives its stages, without arguments for
    the shapes and layouts in `inputs` where all are given. `weights` are its variables by name, and large constants:
    `set_layout` distributes them, and a gradient can be taken with respect to them.
    """

    def __init__(
        self, run: _Run, wanted: Sequence[_Input], made: _Outputs, state: State, around: Around | None = None
    ) -> None:
        super().__init__(state.label)
        self.inputs = inputs = {one.name: one.checked() for one in wanted}
        self.outputs = made.names
        self.host: tuple[str, ...] = around.nodes if around is not None else ()
        self._wanted, self._made, self._around = wanted, made, around
        self.signature = ""
        """The name of the SavedModel's signature that this is, if it is one."""
        self.weights: dict[str, Variable] = {}
        for variable in (*state.variables.values(), *state.wide.values()):
            self.weights.setdefault(variable.name, variable)
        self._run = run
        specs = [spec for spec in inputs.values() if spec is not None]
        self._keywords = dict(zip(inputs, _identifiers(list(inputs)), strict=True))
        signature = specs if len(specs) == len(inputs) and around is None else None
        self._function: Function[..., Any] = functions.function(run, input_signature=signature)

    def __repr__(self) -> str:
        takes = ", ".join(f"{name}: {spec!r}" for name, spec in self.inputs.items())
        around = f", {len(self.host)} nodes on the host" if self.host else ""
        return f"GraphProgram({self.name}({takes}) -> {', '.join(self.outputs)}, {len(self.weights)} weights{around})"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._around is None:
            args, kwargs = self._program_arguments(args, kwargs)
            return self._function(*args, **kwargs)
        frame, given = self._around.before(self._bound(args, kwargs))
        results = self._function(*given) if self._around.stages.program else ()
        return self._made.made(self._around.after(frame, results))

    def trace(self, *args: Any, **kwargs: Any) -> Traced:
        """The program for these arguments, or for the specs of its inputs; the stages are those of `function`."""
        if args or kwargs or not self.inputs:
            args, kwargs = self._program_arguments(args, kwargs)
            return self._named(self._function.trace(*args, **kwargs))
        if self._around is not None:
            message = f"what the host makes of texts has no shape before: {self.host[0]!r} runs there"
            raise GraphError("SW0890", message, help="trace(...) with arguments")
        for name, spec in self.inputs.items():
            if spec is None or spec.is_open:
                raise GraphError("SW0890", f"input {name!r} has no certain shape: {spec!r}")
        return self._named(self._function.trace(*self.inputs.values()))

    def _named(self, traced: Traced) -> Traced:
        """The stage with the graph's own names, which parameters of Python may not have."""
        inputs = zip(traced.interface.parameters, self._run.inputs, strict=True)
        parameters = tuple(replace(parameter, name=one.plain) for parameter, one in inputs)
        outputs = self._run.outputs
        names = outputs.names if outputs.kind != "dict" else ()
        interface = replace(traced.interface, parameters=parameters, outputs=names, signature=self.signature)
        return replace(traced, interface=interface)

    def layouts(self, *args: Any, **kwargs: Any) -> Layouts:
        """The layouts of inputs, weights, results and all values that are decided for these arguments."""
        args, kwargs = self._program_arguments(args, kwargs)
        return self._function.layouts(*args, **kwargs)

    def compiled(self, *args: Any, **kwargs: Any) -> Compiled:
        """The program that a call with these arguments runs."""
        args, kwargs = self._program_arguments(args, kwargs)
        return self._function.compiled(*args, **kwargs)

    def _program_arguments(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """What the program takes for these arguments of the graph."""
        if self._around is None:
            self._check_named(args)
            return args, self._renamed(kwargs)
        return tuple(self._around.before(self._bound(args, kwargs))[1]), {}

    def _bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments by the names of inputs; those that the host reads as NumPy arrays."""
        self._check_named(args)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        signature = inspect.Signature([inspect.Parameter(name, kind) for name in self._keywords.values()])
        try:
            bound = signature.bind(*args, **self._renamed(kwargs)).arguments
        except TypeError as error:
            raise GraphError("SW0891", f"{self.name} is called with other inputs: {error}") from None
        seen = self._around.seen if self._around is not None else frozenset[str]()
        return {
            one.name: one.on_host(bound[keyword]) if one.name in seen else bound[keyword]
            for one, keyword in zip(self._wanted, self._keywords.values(), strict=True)
        }

    def _check_named(self, args: tuple[Any, ...]) -> None:
        """A signature is a map: of two inputs none is the first, whatever their order was in the model (SW0891)."""
        if args and self.signature and len(self.inputs) > 1:
            message = (
                f"signature {self.signature!r} has {len(self.inputs)} inputs, and a SavedModel does not order them"
            )
            call = ", ".join(f"{keyword}=..." for keyword in self._keywords.values())
            raise GraphError("SW0891", message, help=f"give them by name: {self.name}({call})")

    def _renamed(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        return {self._keywords.get(name, name): value for name, value in kwargs.items()}


def from_graph(
    graph: str | PathLike[str] | bytes | Message,
    *,
    inputs: Inputs = None,
    outputs: str | Sequence[str] | Mapping[str, str] | None = None,
    variables: Mapping[str, Any] | None = None,
    layouts: LayoutsByName = None,
    name: str | None = None,
) -> GraphProgram:
    """
    The program of a TensorFlow GraphDef: a message, its bytes, or a file (`.pb`, `.cpb`). TensorFlow is not needed.

    `inputs` are names of tensors, all placeholders if not given; with a `TensorSpec` for a name it has that shape and
    layout, which is needed where the graph leaves shapes open. `outputs` is one name, several (the result is a tuple),
    or a dict of names (the result is one); without it, all that nothing takes. `variables` are the values of variables
    by name. Variables, and constants of more than 64 KiB, are the program's `weights`; `layouts` says by regular
    expressions over their names how they are distributed.

    Raises `ShardwrightValueError`: SW0885 with all operations that are not supported, SW0886 to SW0892 for graphs that
    are wrong, shapes that are not known, and names that there are not.

    >>> import numpy, shardwright
    >>> from shardwright.serialization.protos import graph_pb2
    >>> graph = graph_pb2.GraphDef()
    >>> x = graph.node.add(name="x", op="Placeholder")
    >>> x.attr["dtype"].type = graph_pb2.DT_FLOAT
    >>> y = graph.node.add(name="y", op="Relu", input=["x"])
    >>> y.attr["T"].type = graph_pb2.DT_FLOAT
    >>> shardwright.from_graph(graph, outputs="y")(numpy.array([-1, 2], "float32"))
    array([0., 2.], dtype=float32)
    """
    message, label = read_graph(graph)
    message = with_functions(message)
    body, library = Body("", message.node), Library(message.library.function)
    made = _outputs(body, outputs)
    wanted, order = _wanted(body, inputs, made.sources, message.versions.producer)
    nodes = survey(order, library)
    state = State(library, name or label)
    layout_of = _chooser(layouts)
    state.variables = {handle: _weight(_given(handle, variables), handle, layout_of) for handle in _handles(nodes)}
    fillers = body.order(body.of_kind(tables.INITIALIZERS)) if needs_host(nodes) else []
    return _program(state, order, nodes, wanted, made, layout_of, fillers)


@settled
def from_saved_model(
    path: str | Path,
    signature: str = "serving_default",
    *,
    tags: Iterable[str] = ("serve",),
    inputs: Mapping[str, TensorSpec] | None = None,
    layouts: LayoutsByName = None,
) -> GraphProgram:
    """
    The program of one signature of a TensorFlow SavedModel: a directory. TensorFlow is not needed.

    A call takes the signature's inputs by name, a single one also without, and gives a dict of its outputs. `inputs`
    gives shapes and layouts for some of the inputs; `layouts` says by regular expressions over names how variables are
    distributed. Variables are read from the directory's checkpoint, those only that the signature needs.

    Raises as `from_graph`; SW0891 for a signature or tags that there are not, SW0892 for a checkpoint that cannot be
    read.

    ```
    model = shardwright.from_saved_model("exported", inputs={"x": shardwright.TensorSpec((32, 784), layout=rows)})
    model.weights["dense/kernel"].set_layout(Layout([None, "model"], mesh))
    model(x)["output_0"]
    ```
    """
    with reading(path, "SW0891") as folder:
        return _of_signature(folder, real_path(path).name, signature, set(tags), inputs or {}, layouts)


def _of_signature(
    folder: Path,
    name: str,
    signature: str,
    tags: set[str],
    inputs: Mapping[str, TensorSpec],
    layouts: LayoutsByName,
) -> GraphProgram:
    meta_graph = _tagged(read_saved_model(folder), tags)
    chosen = _signature(meta_graph, signature)
    graph = with_functions(meta_graph.graph_def)
    body, library = Body("", graph.node), Library(graph.library.function)
    names = sorted(chosen.outputs)
    sources = tuple(_tensor_of(chosen.outputs[name], f"output {name!r}") for name in names)
    made = _Outputs(tuple(names), sources, "dict")
    wanted = _signature_inputs(chosen, inputs)
    order = _order(body, sources, wanted)
    nodes = survey(order, library)
    prefix = folder / "variables" / "variables"
    stored = stored_variables(prefix, meta_graph, body, library, _handles(nodes))
    layout_of, state = _chooser(layouts), State(library, name)
    taken: set[str] = set()
    for handle, one in stored.items():
        known_as = one.name if one.name not in taken else handle
        taken.add(known_as)
        state.variables[handle] = _weight(one.value, known_as, layout_of, one.trainable)
    state.stored = stored_tables(prefix, meta_graph, body, library, _changing(nodes))
    fillers = body.order(_filling(meta_graph, body, state)) if needs_host(nodes) else []
    named = _assets(meta_graph, folder)
    state.assets = {name.encode(): path for name, path in named.values()}
    program = _program(state, order, nodes, wanted, made, layout_of, fillers, _names_of_assets(body, named))
    program.signature = signature
    return program


_INIT = "__saved_model_init_op"


def _changing(nodes: Sequence[Node]) -> list[str]:
    return list(dict.fromkeys(handle_name(node.proto) for node in nodes if node.op in CHANGING_TABLES))


def _filling(meta_graph: saved_model_pb2.MetaGraphDef, body: Body, state: State) -> list[str]:
    """The nodes that fill tables when TensorFlow loads a model, but for those of which its checkpoint has the rows."""
    found = [name for name in body.of_kind(tables.INITIALIZERS) if _table_of(body, name) not in state.stored]
    if _INIT in meta_graph.signature_def and _INIT in meta_graph.signature_def[_INIT].outputs:
        found.append(reference(meta_graph.signature_def[_INIT].outputs[_INIT].name).node)
    return found


def _assets(meta_graph: saved_model_pb2.MetaGraphDef, folder: Path) -> dict[str, tuple[str, Path]]:
    """The files of a model, and what they are called, by the nodes that get their names."""
    found: dict[str, tuple[str, Path]] = {}
    for asset in meta_graph.asset_file_def:
        if asset.filename in ("", ".", "..") or Path(asset.filename).name != asset.filename:
            raise GraphError("SW0891", f"an asset is called {asset.filename!r}, which is no name of a file")
        found[reference(asset.tensor_info.name).node] = asset.filename, folder / "assets" / asset.filename
    return found


def _names_of_assets(body: Body, named: Mapping[str, tuple[str, Path]]) -> dict[tuple[str, int], Any]:
    """What TensorFlow feeds when it loads a model: names of files, and what reads the variables that hold them."""
    texts = {name: np.array(text.encode(), object) for name, (text, _) in named.items()}
    held: dict[str, Any] = {}
    for name in body.of_kind(("AssignVariableOp",)):
        inputs = body.node(name, name).inputs
        if len(inputs) == 2 and inputs[1].node in texts:
            held[inputs[0].node] = texts[inputs[1].node]
    for name in body.of_kind(("ReadVariableOp",)):
        inputs = body.node(name, name).inputs
        if inputs and inputs[0].node in held:
            texts[name] = held[inputs[0].node]
    return {(name, 0): text for name, text in texts.items()}


def _table_of(body: Body, name: str) -> str:
    """The name of the table that a node fills."""
    node = body.node(name, name)
    return handle_name(body.node(node.inputs[0].node, str(node)).proto) if node.inputs else ""


def _order(body: Body, sources: Sequence[Reference], wanted: Sequence[_Input]) -> list[Node]:
    """The nodes that the outputs need, down to the inputs."""
    fed = {(one.source.node, one.source.index) for one in wanted}
    return body.order([ref.node for ref in sources if (ref.node, ref.index) not in fed], fed)


def _program(
    state: State,
    order: Sequence[Node],
    nodes: Sequence[Node],
    wanted: Sequence[_Input],
    made: _Outputs,
    layout_of: Callable[[str], Layout | None],
    fillers: Sequence[Node],
    loaded: Mapping[tuple[str, int], Any] | None = None,
) -> GraphProgram:
    if needs_host(nodes):
        _fill_tables(state, fillers, loaded or {})
        return _with_host(state, order, wanted, made, layout_of)
    state.wide = _wide_constants(state, nodes, layout_of)
    return GraphProgram(
        _Run(state, order, wanted, _identifiers([one.name for one in wanted]), made), wanted, made, state
    )


def _with_host(
    state: State,
    order: Sequence[Node],
    wanted: Sequence[_Input],
    made: _Outputs,
    layout_of: Callable[[str], Layout | None],
) -> GraphProgram:
    """A graph of which a part runs on the host: the program is what is between, cut where the host gives and takes."""
    fed = {one.name: (one.source.node, one.source.index) for one in wanted}
    nodes, results = flattened(order, state.library, fed.values())
    outputs = [results.get(ref, ref) for ref in made.sources]
    stages = staged(nodes, state.library, fed.values(), outputs)
    state.wide = _wide_constants(state, survey(stages.program, state.library), layout_of)
    by_key = {key: one for one, key in zip(wanted, fed.values(), strict=True)}
    known = {node.name: node for node in nodes}
    inputs = [by_key.get((ref.node, ref.index)) or _of_host(known[ref.node], ref) for ref in stages.given]
    part = _Outputs(tuple(map(str, stages.wanted)), tuple(stages.wanted), "tuple")
    run = _Run(state, stages.program, inputs, _identifiers([one.name for one in inputs]), part)
    return GraphProgram(run, wanted, made, state, Around(state, stages, fed, outputs))


def _of_host(node: Node, ref: Reference) -> _Input:
    """What a program takes of the host, whose shape is known when the host has made it."""
    kind = Signature(node, definitions()[node.op]).output_types[ref.index]
    return _Input(str(ref).removesuffix(":0"), ref, numpy_dtype(kind, str(node)), None, None)


def _fill_tables(state: State, fillers: Sequence[Node], fed: Mapping[tuple[str, int], Any]) -> None:
    """Tables get what the graph gives them when it is loaded, of what is `fed`; what else happens is of variables."""
    nodes, _ = flattened(fillers, state.library, fed)
    needed: list[Node] = []
    names = {node.name for node in nodes if node.op in tables.INITIALIZERS}
    for node in reversed(nodes):
        if node.name in names:
            needed.append(node)
            names.update(ref.node for ref in node.inputs if (ref.node, ref.index) not in fed)
    for node in needed:
        if not on_host(node.op):
            raise GraphError("SW0898", f"{node} makes what a table is filled with, and the host has no such operation")
    HostInterpreter(state).run(needed[::-1], Frame({}, dict(fed)))


def _chooser(layouts: LayoutsByName) -> Callable[[str], Layout | None]:
    """What gives the layout for a name, or None."""
    return (layouts if isinstance(layouts, LayoutMap) else LayoutMap(layouts or {})).get


def _weight(value: Any, name: str, layout_of: Callable[[str], Layout | None], trainable: bool = True) -> Variable:
    with noted(f"the weight is {name!r}"):
        return Variable(value, name=name, layout=layout_of(name), trainable=trainable)


def _handles(nodes: Sequence[Node]) -> list[str]:
    return list(dict.fromkeys(handle_name(node.proto) for node in nodes if node.op in HANDLES))


def _given(handle: str, variables: Mapping[str, Any] | None) -> Any:
    if variables is None or handle not in variables:
        way_out = "give it: from_graph(..., variables=...)"
        raise GraphError("SW0892", f"the variable {handle!r} has no value", help=way_out)
    return variables[handle]


def _wide_constants(
    state: State, nodes: Sequence[Node], layout_of: Callable[[str], Layout | None]
) -> dict[tuple[str, str], Variable]:
    """Constants that are too large for a program's text, as variables that can be distributed."""
    found: dict[tuple[str, str], Variable] = {}
    for node in nodes:
        if node.op != "Const" or "value" not in node.proto.attr:
            continue
        array = state.constant(node)
        if array.nbytes > emit.LITERAL_LIMIT and array.dtype.kind != "O" and not is_repeated(array):
            name = f"{node.home}/{node.name}" if node.home else node.name
            found[node.home, node.name] = _weight(array, name, layout_of)
    return found


def _identifiers(names: Sequence[str]) -> list[str]:
    """Names of tensors as names of parameters."""
    found: list[str] = []
    for name in names:
        plain = re.sub(r"\W", "_", re.sub(r":0$", "", name), flags=re.ASCII)
        plain = f"_{plain}" if not plain or plain[0].isdigit() or plain == "self" else plain
        plain = f"{plain}_" if keyword.iskeyword(plain) else plain
        while plain in found:
            plain += "_"
        found.append(plain)
    return found


def _outputs(body: Body, outputs: str | Sequence[str] | Mapping[str, str] | None) -> _Outputs:
    if outputs is None:
        names = sources = body.unused()
        kind = "one" if len(names) == 1 else "tuple"
    elif isinstance(outputs, str):
        names, sources, kind = [outputs], [outputs], "one"
    elif isinstance(outputs, Mapping):
        names, sources, kind = list(outputs), list(outputs.values()), "dict"
    else:
        names = sources = list(outputs)
        kind = "tuple"
    refs = tuple(reference(source) for source in sources)
    for ref in refs:
        if ref.node not in body.names:
            raise _unknown("the graph", "output", str(ref), body.unused()[:8])
    if not refs:
        raise GraphError("SW0891", "the graph has no outputs")
    return _Outputs(tuple(names), refs, kind)


def _unknown(where: str, what: str, name: str, others: Sequence[str], none: str = "nothing") -> GraphError:
    return GraphError("SW0891", f"{where} has no {what} {name!r}", f"there are {', '.join(others) or none}")


def _wanted(body: Body, inputs: Inputs, sources: Sequence[Reference], producer: int) -> tuple[list[_Input], list[Node]]:
    """The inputs, and the nodes behind them that the outputs need; all placeholders if no inputs are given."""
    if inputs is None:
        order = body.order([ref.node for ref in sources])
        found = sorted((node for node in order if node.op in _PLACEHOLDERS), key=lambda node: node.ordinal)
        rest = [node for node in order if node.op not in _PLACEHOLDERS]
        return [_input(body, node.name, None, producer) for node in found], rest
    names = [inputs] if isinstance(inputs, str) else inputs
    specs = names if isinstance(names, Mapping) else dict.fromkeys(names)
    wanted = [_input(body, name, spec, producer) for name, spec in specs.items()]
    return wanted, _order(body, sources, wanted)


_PLACEHOLDERS = ("Placeholder", "PlaceholderV2")


def _input(body: Body, name: str, spec: TensorSpec | None, producer: int) -> _Input:
    source = reference(name)
    if source.node not in body.names:
        raise _unknown("the graph", "input", str(source), body.of_kind(_PLACEHOLDERS)[:8])
    node = body.node(source.node, "the program")
    attributes = node.proto.attr
    if node.op not in (*_PLACEHOLDERS, "PlaceholderWithDefault"):
        if not isinstance(spec, TensorSpec):
            raise GraphError("SW0890", f"input {name!r} is {node}, which says nothing about its type", help=_SPEC)
        return _Input(name, source, spec.dtype, None, spec)
    if "dtype" not in attributes:
        raise GraphError("SW0887", f"{node} has no attribute 'dtype'")
    shape = static_shape(attributes["shape"].shape, str(node)) if "shape" in attributes else None
    if shape == () and 0 < producer < OLD_SHAPES:
        shape = None
    return _Input(name, source, numpy_dtype(attributes["dtype"].type, str(node)), shape, spec)


_SPEC = "give its type and shape: inputs={'name': shardwright.TensorSpec((8, 4), 'float32')}"


def _tagged(model: saved_model_pb2.SavedModel, tags: set[str]) -> saved_model_pb2.MetaGraphDef:
    for meta_graph in model.meta_graphs:
        if set(meta_graph.meta_info_def.tags) == tags:
            return meta_graph
    known = " and ".join(str(sorted(meta_graph.meta_info_def.tags)) for meta_graph in model.meta_graphs)
    message = f"the model has no graph with the tags {sorted(tags)}"
    raise GraphError("SW0891", message, f"it has {known or 'none at all'}")


def _signature(meta_graph: saved_model_pb2.MetaGraphDef, name: str) -> saved_model_pb2.SignatureDef:
    if name not in meta_graph.signature_def:
        known = ", ".join(key for key in sorted(meta_graph.signature_def) if not key.startswith("__saved_model"))
        raise GraphError("SW0891", f"the model has no signature {name!r}", f"it has {known or 'none at all'}")
    return meta_graph.signature_def[name]


def _tensor_of(info: saved_model_pb2.TensorInfo, what: str) -> Reference:
    if info.WhichOneof("encoding") != "name":
        raise GraphError("SW0889", f"{what} is no plain tensor")
    return reference(info.name)


def _signature_inputs(chosen: saved_model_pb2.SignatureDef, specs: Mapping[str, TensorSpec]) -> list[_Input]:
    names = sorted(chosen.inputs)
    unknown = sorted(set(specs) - set(names))
    if unknown:
        raise _unknown("the signature", "input", unknown[0], names, "none")
    found: list[_Input] = []
    for name in names:
        info, what = chosen.inputs[name], f"input {name!r}"
        shape = static_shape(info.tensor_shape, what)
        found.append(_Input(name, _tensor_of(info, what), numpy_dtype(info.dtype, what), shape, specs.get(name)))
    return found
