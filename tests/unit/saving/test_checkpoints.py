"""Checkpoints: what is saved is restored, exactly, into any layout and mesh, and what does not fit is named."""

from __future__ import annotations

import math
import resource
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import shardwright
from shardwright import Checkpoint, CheckpointManager, Layout, Mesh, Variable
from shardwright.dialects.types import element_dtype, element_type_named

MESH = Mesh(x=4, y=2)
OTHER = Mesh(a=2, b=3, c=2)

DTYPES = (
    *(
        "bool",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "int2",
        "int4",
        "uint2",
        "uint4",
    ),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "float4_e2m1fn", "float6_e2m3fn"),
    *("float6_e3m2fn", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
)


def placed(array: Any, *entries: Any, mesh: Mesh = MESH) -> Variable:
    """A variable with these elements, split so."""
    return Variable(np.asarray(array), layout=Layout(list(entries), mesh))


def bits(value: Any) -> tuple[Any, Any, bytes]:
    """Everything by which arrays can differ."""
    array = np.asarray(value)
    return array.shape, array.dtype, array.tobytes()


@pytest.mark.parametrize("name", DTYPES)
def test_every_element_type_comes_back_bit_by_bit(name: str, tmp_path: Path) -> None:
    dtype = element_dtype(element_type_named(name))
    every = np.arange(48, dtype=np.uint8).reshape(12, 4) % (2 if name == "bool" else 4)
    values = every.astype(bool) if name == "bool" else every.astype(dtype)
    if name in ("float32", "bfloat16", "complex64"):
        values[3, 1] = np.nan
    path = Checkpoint(v=placed(values, "x")).save(tmp_path / "c")
    there = placed(np.zeros_like(values), "b", "a", mesh=OTHER)
    assert Checkpoint(v=there).restore(path).complete
    assert bits(there.value) == bits(values)
    assert bits(shardwright.load_variables(path)["v"]) == bits(values)


LAYOUTS: list[tuple[Any, ...]] = [
    (),
    ("x",),
    (None, "y"),
    ("y", "x"),
    (("x", "y"),),
    (None, ("y", "x")),
    ("x:(1)2",),
    ("x:(2)2", "x:(1)2"),
]


@pytest.mark.every(3)
@pytest.mark.parametrize("written", LAYOUTS)
@pytest.mark.parametrize("wanted", LAYOUTS)
def test_any_layout_is_read_from_any_other(written: Any, wanted: Any, tmp_path: Path) -> None:
    values = np.arange(16 * 24, dtype="float32").reshape(16, 24)
    path = Checkpoint(v=placed(values, *written)).save(tmp_path / "c")
    read = shardwright.load_variables(path, {"v": Layout(list(wanted), MESH)})["v"]
    assert read.layout == Layout(list(wanted), MESH).for_rank(2)
    rows, columns = (MESH.group_size(axes) for axes in read.layout.spec.dims)
    assert {part.shape for part in read.components()} == {(16 // rows, 24 // columns)}
    np.testing.assert_array_equal(read.numpy(), values)
    assert shardwright.sum(read).numpy() == values.sum()


@pytest.mark.parametrize("shape", [(), (0,), (4, 0), (1,), (0, 3, 0), (7,), (3, 50257), (12, 1, 1, 1, 8)])
def test_empty_scalar_and_odd_shapes(shape: tuple[int, ...], tmp_path: Path) -> None:
    values = np.arange(math.prod(shape), dtype="float32").reshape(shape) + 1
    path = Checkpoint({"v": Variable(values)}).save(tmp_path / "c")
    assert shardwright.verify_checkpoint(path) == values.nbytes
    for layout in (None, Layout([], MESH)):
        there = Variable(np.zeros_like(values), layout=layout)
        Checkpoint({"v": there}).restore(path)
        assert bits(there.value) == bits(values)


def test_constants_that_devices_share_are_whole_on_disk(tmp_path: Path) -> None:
    v = Variable(shardwright.zeros, shape=(8, 4), layout=Layout(["x", "y"], MESH))
    v.assign(shardwright.ones((8, 4), layout=Layout(["x", "y"], MESH)))
    path = Checkpoint(v=v).save(tmp_path / "c")
    np.testing.assert_array_equal(shardwright.load_variables(path)["v"], np.ones((8, 4), "float32"))


class Layer(shardwright.Module):
    def __init__(self, sizes: tuple[int, int], layout: Layout | None) -> None:
        start = np.linspace(-1, 1, math.prod(sizes), dtype="float32").reshape(sizes)
        self.w = Variable(start, layout=layout, name="w")
        self.note = "not a variable"


class Model(shardwright.Module):
    def __init__(self, mesh: Mesh | None, axis: str | None) -> None:
        first = None if mesh is None else Layout([None, axis], mesh)
        second = None if mesh is None else Layout([axis, None], mesh)
        self.layers = [Layer((8, 16), first), Layer((16, 4), second)]
        self.shared = {"again/and~": self.layers[0]}

    def __call__(self, x: Any) -> Any:
        return shardwright.tanh(x @ self.layers[0].w) @ self.layers[1].w


def test_names_are_those_of_the_module(tmp_path: Path) -> None:
    model = Model(MESH, "x")
    names = list(model.named_variables())
    assert names == ["layers/0/w", "layers/1/w"]
    assert shardwright.list_variables(Checkpoint(model).save(tmp_path / "a")) == [
        (names[0], (8, 16)),
        (names[1], (16, 4)),
    ]
    path = Checkpoint(model=model).save(tmp_path / "b")
    assert [name for name, _ in shardwright.list_variables(path)] == [f"model/{name}" for name in names]


def optimizers() -> list[Callable[[], Any]]:
    made = shardwright.optimizers
    return [
        lambda: made.SGD(0.1),
        lambda: made.SGD(0.1, momentum=0.9, nesterov=True),
        lambda: made.Adam(0.05),
        lambda: made.AdamW(0.05, global_clipnorm=1.0),
        lambda: made.Adam(lambda step: 0.1 / (1.0 + step)),
    ]


def trained(model: Model, optimizer: Any, first: int, steps: int, mesh: Mesh | None) -> None:
    """Some steps of training on batches that their numbers define."""

    @shardwright.function
    def step(x: Any, y: Any) -> Any:
        with shardwright.GradientTape() as tape:
            loss = shardwright.mean(shardwright.square(model(x) - y))
        gradients = tape.gradient(loss, list(model.trainable_variables))
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    for number in range(first, first + steps):
        source = np.random.default_rng(number)
        batch = [source.standard_normal(shape, "float32") for shape in ((12, 8), (12, 4))]
        step(*(item if mesh is None else shardwright.relayout(item, Layout([], mesh)) for item in batch))


@pytest.mark.every(3)
@pytest.mark.parametrize("make", optimizers())
@pytest.mark.parametrize(("mesh", "axis"), [(MESH, "x"), (OTHER, "a"), (None, None)], ids=["same", "other", "none"])
def test_training_goes_on_where_it_was_saved(
    make: Callable[[], Any], mesh: Mesh | None, axis: str | None, tmp_path: Path
) -> None:
    straight, optimizer = Model(MESH, "x"), make()
    trained(straight, optimizer, 0, 3, MESH)
    path = Checkpoint(model=straight, optimizer=optimizer).save(tmp_path / "c")
    trained(straight, optimizer, 3, 3, MESH)
    resumed, fresh = Model(mesh, axis), make()
    Checkpoint(model=resumed, optimizer=fresh).restore(path)
    trained(resumed, fresh, 3, 3, mesh)
    assert int(fresh.iterations) == 6
    for mine, other in zip(resumed.variables, straight.variables, strict=True):
        assert mine.layout is None or mine.layout.mesh == mesh
        if mesh is MESH:
            assert bits(mine.value) == bits(other.value)
        np.testing.assert_allclose(mine.numpy(), other.numpy(), rtol=1e-6, atol=1e-6)


def test_states_of_an_optimizer_belong_to_variables_not_to_an_order(tmp_path: Path) -> None:
    first = {name: Variable(np.full(4, at, "float32")) for at, name in enumerate("abc")}
    optimizer = shardwright.optimizers.Adam(0.1)
    optimizer.build([first["c"], first["a"], first["b"]])
    for at, state in enumerate(optimizer.slots["m"].values()):
        state.assign(np.full(4, 10 + at, "float32"))
    path = Checkpoint(variables=first, optimizer=optimizer).save(tmp_path / "c")
    second = {name: Variable(np.zeros(4, "float32")) for name in "abc"}
    there = shardwright.optimizers.Adam(0.1)
    there.build([second["b"]])
    Checkpoint(variables=second, optimizer=there).restore(path)
    found = {name: float(there.slots["m"][variable].numpy()[0]) for name, variable in second.items()}
    assert found == {"c": 10.0, "a": 11.0, "b": 12.0}


class Pair(NamedTuple):
    left: Any
    right: Any


def plain_state(sign: int) -> dict[str, Any]:
    return {
        "step": sign * 2**70,
        "rate": sign * 0.1,
        "huge": sign * math.inf,
        "flag": sign > 0,
        "name": "\0 Ä \ud800" * sign,
        "complex": complex(sign, -0.0),
        "nothing": None,
        "list": [sign, [sign, (sign, Pair(sign, np.float32(sign)))]],
        "": {"..": sign, "/": sign, "~": sign, "a/b": {"c": sign}, "a": {"b/c": sign}, "A": sign},
    }


def test_plain_values_come_back_with_their_types(tmp_path: Path) -> None:
    saved, there = plain_state(1), plain_state(-1)
    there["nothing"], shared = 5, there["list"]
    Checkpoint(state=there).restore(Checkpoint(state=saved).save(tmp_path / "c"))
    assert there == saved
    assert there["list"] is shared
    assert isinstance(there["list"][1][1][1], Pair)
    assert math.copysign(1, there["complex"].imag) == -1
    assert type(there["list"][1][1][1].right) is np.float32


def test_values_of_a_checkpoint_are_its_attributes(tmp_path: Path) -> None:
    checkpoint = Checkpoint(step=1, table=np.arange(3))
    path = checkpoint.write(tmp_path / "c")
    checkpoint.step, table = 2, checkpoint.table
    table[:] = 0
    report = checkpoint.read(path)
    assert (checkpoint.step, table.tolist(), report.restored) == (1, [0, 1, 2], ("step", "table"))
    with pytest.raises(AttributeError, match="no object 'other'"):
        _ = checkpoint.other
    for name in ("save", "_hidden"):
        with pytest.raises(TypeError, match="SW0878"):
            Checkpoint(**{name: 1})


def test_arrays_that_cannot_be_written_to_are_replaced(tmp_path: Path) -> None:
    frozen = np.zeros(3)
    frozen.flags.writeable = False
    tensor = shardwright.relayout(np.zeros(8), Layout(["y"], MESH))
    state = {"frozen": frozen, "tensor": tensor}
    path = Checkpoint(frozen=np.arange(3.0), tensor=np.arange(8.0)).save(tmp_path / "c")
    Checkpoint(state).restore(path)
    assert frozen.tolist() == [0, 0, 0]
    assert state["frozen"].tolist() == [0, 1, 2]
    assert isinstance(state["tensor"], shardwright.DTensor)
    assert state["tensor"].layout == tensor.layout
    assert state["tensor"].numpy().tolist() == list(range(8))


def test_random_numbers_go_on_where_they_were(tmp_path: Path) -> None:
    shardwright.random.set_seed(7)
    shardwright.random.uniform((2,))
    path = Checkpoint(random=shardwright.random).save(tmp_path / "c")
    expected = shardwright.random.uniform((4,)).tolist()
    shardwright.random.set_seed(1)
    Checkpoint(random=shardwright.random).restore(path)
    assert shardwright.random.uniform((4,)).tolist() == expected


def test_all_that_does_not_fit_is_listed_at_once(tmp_path: Path) -> None:
    path = Checkpoint(w=np.zeros((2, 3)), kind=np.zeros(2), step=1, gone=1, number=2, array=np.zeros(1)).save(
        tmp_path / "c"
    )
    checkpoint = Checkpoint(w=np.ones((3, 2)), kind=np.ones(2, "float32"), step=1.5, new=1, number=np.ones(1), array=3)
    expected = [
        "'w' is float64[2, 3] in the checkpoint, but float64[3, 2] here",
        "'kind' is float64[2] in the checkpoint, but float32[2] here",
        "'step' is 1 in the checkpoint, but 1.5 here",
        "'new' is not in the checkpoint",
        "'gone' is only in the checkpoint",
        "'number' is a Python value (a NumPy number is an array) in the checkpoint, but an array here",
        "'array' is an array in the checkpoint, but a Python value (a NumPy number is an array) here",
    ]
    with pytest.raises(ValueError, match="SW0879") as error:
        checkpoint.restore(path)
    assert all(line in str(error.value) for line in expected)
    report = checkpoint.restore(path, strict=False)
    assert sorted(report.faults()) == sorted(expected)
    assert (report.restored, report.missing, report.unexpected) == ((), ("new",), ("gone",))
    assert not report.complete


def test_without_strictness_the_rest_is_restored(tmp_path: Path) -> None:
    path = Checkpoint(a=np.ones(2), b=1).save(tmp_path / "c")
    a, c = np.zeros(2), np.zeros(2)
    report = Checkpoint(a=a, c=c).restore(path, strict=False)
    assert (report.restored, report.missing, report.unexpected) == (("a",), ("c",), ("b",))
    assert (a.tolist(), c.tolist()) == ([1, 1], [0, 0])
    part = Checkpoint(a=a).restore(path, strict=False)
    assert part.assert_existing_objects_matched() is part
    for refuse in (part.assert_consumed, report.assert_consumed, report.assert_existing_objects_matched):
        with pytest.raises(ValueError, match="SW0879"):
            refuse()
    whole = Checkpoint(a=a, b=0).restore(path)
    assert whole.assert_consumed() is whole


@dataclass
class Other:
    x: int = 1


def test_what_cannot_be_saved_is_listed_at_once(tmp_path: Path) -> None:
    bad = {"object": Other(), "bytes": b"", "pair": {1: 1, "1": 2}}
    with pytest.raises(ValueError, match="SW0875") as error:
        Checkpoint(bad)
    text = str(error.value)
    assert all(
        part in text for part in ("'object' is a Other", "'bytes' is a bytes", "'pair/1' is the name of two values")
    )


def test_arrays_that_cannot_be_stored_are_listed_at_once(tmp_path: Path) -> None:
    partial = Layout.from_string('[{}], unreduced=sum{"x"}', MESH)
    tensor = shardwright.relayout(np.ones(4), partial)
    checkpoint = Checkpoint(tensor=tensor, text=np.array(["a"]), deep=np.zeros((1,) * 33), fine=np.zeros(1))
    with pytest.raises(ValueError, match="SW0875") as error:
        checkpoint.save(tmp_path / "c")
    text = str(error.value)
    assert all(part in text for part in ("3 of 4", "'tensor': its layout", "'text': ", "'deep': it has 33 dims"))
    assert list(tmp_path.iterdir()) == []


def test_dims_that_cannot_be_cut_are_refused() -> None:
    from shardwright.saving.checkpoints.archive.chunks import MAX_CHUNK_BYTES, choose_grid

    prime = 4194319  # the smallest prime above 2 ** 22: 16 MiB of float32 and a little more
    assert choose_grid((2 * prime,), (2,), 4).chunk_bytes > MAX_CHUNK_BYTES
    assert choose_grid((prime,), (1,), 4).chunk_bytes <= 1 << 20


def test_layouts_that_do_not_fit_name_the_array(tmp_path: Path) -> None:
    path = Checkpoint({"a": np.ones((4, 4)), "b/c": np.ones((4, 3))}).save(tmp_path / "c")
    columns = Layout([None, "x"], Mesh(x=2))
    for place in (path, *shardwright.convert(path, tmp_path / "c.safetensors")):
        with pytest.raises(ValueError, match=r"SW0104\]: dim 1 has 3 elements(.|\n)*the array is 'b~1c'"):
            shardwright.load_variables(place, shardwright.LayoutMap({".*": columns}))
        with pytest.raises(
            ValueError, match=r"SW0879(.|\n)*'b/c' is not in the checkpoint(.|\n)*list_variables\(path\) has its names"
        ):
            shardwright.load_variables(place, {"b/c": columns})


def test_partial_results_are_no_place_to_read_into(tmp_path: Path) -> None:
    path = Checkpoint(w=np.ones(4)).save(tmp_path / "c")
    partial = Layout.from_string('[{}], unreduced=sum{"x"}', MESH)
    with pytest.raises(ValueError, match=r"SW0879.*partial results"):
        shardwright.load_variables(path, {"w": partial})
    with pytest.raises(ValueError, match=r"SW0879(.|\n)*'w' has partial results here"):
        Checkpoint(w=shardwright.relayout(np.ones(4), partial)).restore(path)


def test_layouts_of_loaded_variables(tmp_path: Path) -> None:
    path = Checkpoint(a=np.arange(8.0), b=np.arange(6)).save(tmp_path / "c")
    layouts = shardwright.LayoutMap({"^a$": ["x"]}, MESH)
    found = shardwright.load_variables(path, layouts)
    assert found["a"].layout == Layout(["x"], MESH)
    assert isinstance(found["b"], np.ndarray)
    with pytest.raises(ValueError, match=r"SW0879(.|\n)*'c' is not in the checkpoint"):
        shardwright.load_variables(path, {"c": Layout(["x"], MESH)})
    with pytest.raises(ValueError, match="SW0104"):
        shardwright.load_variables(path, {"b": Layout(["x"], MESH)})
    with pytest.raises(ValueError, match="SW0106"):
        shardwright.load_variables(path, {"b": Layout([None, "x"], MESH)})


@pytest.mark.parametrize(
    ("layouts", "text"),
    [
        (["w"], r"layouts is a dict of layouts by the names of arrays, or a LayoutMap, not \['w'\]"),
        ({"w": "x"}, "the layout of 'w' is no shardwright.Layout, but 'x'"),
        ({"w": Mesh(x=2)}, r"the layout of 'w' is no shardwright.Layout, but Mesh\(x=2\)"),
    ],
)
def test_layouts_that_are_none(layouts: Any, text: str, tmp_path: Path) -> None:
    path = Checkpoint(w=np.ones(4)).save(tmp_path / "one")
    with pytest.raises(TypeError, match=rf"SW0878.*{text}"):
        shardwright.load_variables(path, layouts)


def test_saving_again_replaces_a_checkpoint_and_nothing_else(tmp_path: Path) -> None:
    v = np.zeros(3)
    checkpoint = Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "new" / "c")
    v[:] = 5
    assert checkpoint.save(path) == path
    assert shardwright.load_variables(path)["v"].tolist() == [5, 5, 5]
    assert [item.name for item in Path(path).parent.iterdir()] == ["c"]
    (tmp_path / "empty").mkdir()
    checkpoint.save(tmp_path / "empty")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "file").touch()
    (tmp_path / "link").symlink_to(path)
    for name in ("mine", "mine/file", "link", "mine/file/c", "x" * 300, "a\0b"):
        with pytest.raises(ValueError, match="SW0876"):
            checkpoint.save(tmp_path / name)
    with pytest.raises(ValueError, match=r"SW0876.*a name has no NUL"):
        CheckpointManager(checkpoint, tmp_path / "a\0b")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["empty", "link", "mine", "new"]


def test_where_folders_cannot_be_exchanged_nothing_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    v = np.zeros(3)
    checkpoint = Checkpoint(v=v)
    path = checkpoint.save(tmp_path / "c")
    v[:] = 5
    monkeypatch.setattr("ctypes.CDLL", lambda *_, **__: object())
    with pytest.raises(ValueError, match=r"SW0876.*cannot be replaced"):
        checkpoint.save(path)
    assert shardwright.load_variables(path)["v"].tolist() == [0, 0, 0]
    assert [item.name for item in tmp_path.iterdir()] == ["c"]


def test_nothing_is_saved_while_a_function_is_traced(tmp_path: Path) -> None:
    checkpoint = Checkpoint(v=Variable([1.0]))

    @shardwright.function
    def step(x: Any) -> Any:
        checkpoint.save(tmp_path / "c")
        return x

    with pytest.raises(ValueError, match=r"SW0875.*traced"):
        step(1.0)


def test_without_blake3_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "blake3", None)
    with pytest.raises(ImportError, match=r"SW0877(.|\n)*pip install 'shardwright\[checkpoints\]'"):
        Checkpoint(v=np.zeros(3)).save(tmp_path / "c")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [3, None, b"bytes"])
def test_paths_that_are_none(path: Any) -> None:
    checkpoint = Checkpoint(v=np.zeros(3))
    read = (shardwright.load_variables, shardwright.list_variables, shardwright.verify_checkpoint)
    for call in (checkpoint.save, checkpoint.restore, *read):
        with pytest.raises(TypeError, match="SW0878"):
            call(path)


def test_a_file_is_no_checkpoint(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=r"SW0872.*it is a file"):
        shardwright.list_variables(tmp_path / "file")


def test_a_full_disk_changes_nothing(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).standard_normal(100_000)
    path = Checkpoint(v=np.ones(3)).save(tmp_path / "c")
    sw_path = shardwright.save({"v": np.ones(3)}, tmp_path / "s")
    limits, handler = resource.getrlimit(resource.RLIMIT_FSIZE), signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # the nearest thing to a full disk
    try:
        with pytest.raises(ValueError, match=r"SW0876.*': file too large"):
            Checkpoint(v=noise).save(path)
        with pytest.raises(ValueError, match=r"SW0867.*written: File too large"):
            shardwright.save({"v": noise}, sw_path, overwrite=True)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, handler)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["c", "s"]
    assert shardwright.load_variables(path)["v"].tolist() == shardwright.load(sw_path)["v"].tolist() == [1, 1, 1]


def test_what_would_be_lost_is_refused(tmp_path: Path) -> None:
    circle: list[Any] = [1]
    circle.append(circle)
    deep: list[Any] = []
    for _ in range(3000):
        deep = [deep]
    masked = np.ma.array([1.0, 2.0], mask=[False, True])
    for given, said in (
        (circle, "'given/1' contains itself"),
        (deep, "is nested more than 100 levels deep"),
        (masked, "'given' is a MaskedArray"),
    ):
        with pytest.raises(ValueError, match=f"(?s)SW0875.*{said}"):
            Checkpoint(given=given).save(tmp_path / "refused")
    shared = [np.ones(2)]
    saved = Checkpoint(one=shared, other={"same": shared}).save(tmp_path / "saved")
    assert list(shardwright.load_variables(saved)) == ["one/0"]


def test_convert_replaces_nothing_by_a_checkpoint(tmp_path: Path) -> None:
    saved = Checkpoint(w=np.ones(3), step=7).save(tmp_path / "saved")
    with pytest.raises(ValueError, match=r"SW0876\]: there is something at .*saved', which a checkpoint would replace"):
        shardwright.convert(saved, saved)
    restored = Checkpoint(w=np.zeros(3), step=0)
    restored.restore(saved)
    assert restored.step == 7
    broken = Checkpoint({"\ud800": np.ones(3)}).save(tmp_path / "broken")
    with pytest.raises(ValueError, match=r"SW0875\]: the name '\\ud800' is no text of Unicode"):
        shardwright.convert(broken, tmp_path / "broken.safetensors")


@pytest.mark.parametrize("what", ["checkpoint", "directory"])
def test_the_working_directory_is_not_replaced(what: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What took its place would be another folder than the one in which this process, or a shell, is."""
    place = tmp_path / "place"
    write = {
        "checkpoint": lambda to: shardwright.Checkpoint(a=np.ones(3)).save(to),
        "directory": lambda to: shardwright.save({"a": np.ones(3)}, to, overwrite=True),
    }[what]
    write(place)
    before = place.stat().st_ino
    monkeypatch.chdir(place)
    for name in (".", place, "../place"):
        with pytest.raises(ValueError, match=r"SW08(67|76).*the working directory, which would be another one"):
            write(name)
    assert place.stat().st_ino == before


def test_a_working_directory_that_is_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    with pytest.raises(ValueError, match=r"SW0872.*'x' does not exist"):
        shardwright.load_variables("x")
    with pytest.raises(ValueError, match=r"SW0869.*x is no directory"):
        shardwright.load("x")
    with pytest.raises(ValueError, match=r"SW0876.*no such file or directory"):
        shardwright.Checkpoint(a=np.ones(3)).save("x")
