"""Directories: everything that cannot be saved, or is not what was saved, is refused by name."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
import tracemalloc
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright import Layout, Mesh, Module, ShardwrightError, Variable
from shardwright.saving.directories import asset, read_message
from shardwright.saving.directory.folders import check_names
from shardwright.serialization.protos import program_pb2, saved_model_pb2

MESH = Mesh(x=2)
ROWS = Layout(["x"], MESH)


def refused(code: str, text: str) -> Any:
    return pytest.raises(ShardwrightError, match=rf"(?s)error\[{code}\]: .*{text}")


class Scaled(Module):
    def __init__(self) -> None:
        self.w = Variable(np.arange(8, dtype="float32"), layout=ROWS, name="w")

    @sw.function
    def __call__(self, x: Any) -> Any:
        return x * self.w


def scaled() -> Scaled:
    model = Scaled()
    model(sw.ones(8, layout=ROWS))
    return model


@pytest.fixture
def place(tmp_path: Path) -> Path:
    words = tmp_path / "words.txt"
    words.write_text("one two")
    return Path(sw.save(scaled(), tmp_path / "saved", assets=[words]))


class Opaque:
    pass


@dataclass(frozen=True)
class Configured:
    action: Any


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        (lambda x: x, "argument how of steered is the function .*<lambda>"),
        (Opaque(), "Opaque"),
        (frozenset([1]), "frozenset"),
        ("\ud800", "Unicode"),
        (Scaled(), "module that is not saved along"),
        (Configured(len), "builtin.* len"),
        ([1, (2, Opaque())], r"argument how of steered\[1\]\[1\]"),
        ([Opaque()], r"how of steered\[0\]"),
    ],
)
def test_static_values_that_are_no_data(argument: Any, text: str, tmp_path: Path) -> None:
    @sw.function(static=["how"])
    def steered(x: Any, how: Any) -> Any:
        return x

    steered(np.ones(2), argument)
    with refused("SW0865", text):
        sw.save(steered, tmp_path / "saved")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("item", "text"),
    [
        (Opaque(), "Opaque"),
        (len, "len"),
        ({"a": [1, Variable(0.0), Opaque()]}, "a/2 is of the type Opaque"),
        ({"text": np.array(["a"])}, "text is of the type ndarray"),
        (3, "int alone"),
        ({("a", Opaque()): 1}, "key"),
        (Scaled, "type"),
    ],
)
def test_objects_that_cannot_be_stored(item: Any, text: str, tmp_path: Path) -> None:
    with refused("SW0865", text):
        sw.save(item, tmp_path / "saved")


def test_dicts_with_defaults(tmp_path: Path) -> None:
    same = sw.function(lambda state: state)
    same(defaultdict(list, a=np.ones(2)))
    with refused("SW0865", "argument state of .* is a defaultdict, which cannot be stored"):
        sw.save(same, tmp_path / "saved")


def test_containers_without_an_end(tmp_path: Path) -> None:
    items: list[Any] = [Variable(0.0)]
    items.append(items)
    with refused("SW0865", "contains itself"):
        sw.save({"items": items}, tmp_path / "saved")
    deep: Any = Variable(0.0)
    for _ in range(100):
        deep = [deep]
    with refused("SW0865", "deep"):
        sw.save({"deep": deep}, tmp_path / "saved")


def test_nothing_is_saved_while_tracing(tmp_path: Path) -> None:
    model = scaled()

    @sw.function
    def saving(x: Any) -> Any:
        sw.save(model, tmp_path / "saved")
        return x

    with refused("SW0865", "traced function"):
        saving(np.ones(2))


def test_functions_without_a_program(tmp_path: Path) -> None:
    function = sw.function(lambda x: x)
    with refused("SW0866", "has no program.*signatures="):
        sw.save(function, tmp_path / "saved")
    with refused("SW0866", "step has no program"):
        sw.save({"step": function}, tmp_path / "saved")
    with refused("SW0866", "'other'.*'step'"):
        sw.save({"step": function}, tmp_path / "saved", signatures={"step": (np.ones(2),), "other": (np.ones(2),)})
    with refused("SW0866", "mapping"):
        sw.save({"step": function}, tmp_path / "saved", signatures=[(np.ones(2),)])
    with refused("SW0866", "is a str"):
        sw.save(function, tmp_path / "saved", signatures=["x"])
    with refused("SW0866", "cannot be traced"):
        sw.save(function.trace(np.ones(2)), tmp_path / "saved", signatures=[(np.ones(2),)])


def test_methods_that_were_never_called(tmp_path: Path) -> None:
    class Partial(Module):
        def __init__(self) -> None:
            self.log = print
            self.opaque = Opaque()

        @sw.function
        def unused(self, x: Any) -> Any:
            return x

        def plain(self, x: Any) -> Any:
            return x

    loaded = sw.load(sw.save(Partial(), tmp_path / "saved"))
    for name, text in {"unused": "never called", "opaque": "Opaque", "plain": "signatures="}.items():
        with pytest.raises(AttributeError, match=rf"(?s)SW0882.*{text}"):
            getattr(loaded, name)
    with pytest.raises(AttributeError, match=r"SW0882.*__call__"):
        loaded(1)


def test_calls_that_fit_nothing(place: Path) -> None:
    loaded = sw.load(place)
    for arguments, text in (
        ((np.ones(9, "float32"),), r"f32\[9\].*it was saved for x: f32\[8@x\]"),
        ((np.ones(8),), r"f64\[8\]"),
        ((sw.ones(8, layout=Layout(["x"], Mesh(x=4))),), r"on Mesh\(x=4\).*f32\[8@x\], on Mesh\(x=2\)"),
        ((1.0,), "1.0"),
        ((), "with no arguments"),
        (({"x": np.ones(8, "float32")},), r"with {'x': f32\[8\]}"),
        ((Opaque(),), "with <.*Opaque object"),
        (([1, "a"],), "1"),
    ):
        with pytest.raises(TypeError, match=rf"(?s)SW0882.*{text}"):
            loaded(*arguments)
    with pytest.raises(TypeError, match=r"SW0882.*, with f32\[8\], other=1, y=f64\[2\], mode='minus'\n"):
        loaded(np.ones(8, "float32"), other=1, y=np.ones(2), mode="minus")


def test_whole_numbers_are_not_cut(tmp_path: Path) -> None:
    function = sw.function(lambda x: x + 1)
    function(1)
    loaded = sw.load(sw.save(function, tmp_path / "saved"))
    assert loaded(2) == 3
    with pytest.raises(TypeError, match="SW0882"):
        loaded(1.5)
    with pytest.raises(TypeError, match="SW0506"):
        loaded(1 << 40)


def test_paths_that_are_taken(place: Path, tmp_path: Path) -> None:
    with refused("SW0867", "there already.*overwrite"):
        sw.save(scaled(), place)
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "precious").write_text("mine")
    (tmp_path / "link").symlink_to(place)
    for name in ("file", "folder", "link"):
        with refused("SW0867", "no folder|no saved directory"):
            sw.save(scaled(), tmp_path / name, overwrite=True)
    with refused("SW0867", "cannot be written"):
        sw.save(scaled(), tmp_path / "file" / "below")
    with refused("SW0867", "cannot be written: File name too long"):
        sw.save(scaled(), tmp_path / ("x" * 300))
    assert (tmp_path / "folder" / "precious").read_text() == "mine"
    sw.save({"w": Variable(5.0)}, place, overwrite=True)
    assert float(sw.load(place)["w"]) == 5.0
    assert sorted(os.listdir(place)) == ["assets", "fingerprint.pb", "saved_model.pb", "variables"]


@pytest.mark.parametrize(
    "name",
    [
        "../up",
        "/etc/passwd",
        "a/../b",
        "a//b",
        "",
        ".",
        "..",
        "a\0b",
        "a\\b",
        "c:d",
        "a\nb",
        "end.",
        " a",
        "x" * 300,
        "a/",
    ],
)
def test_names_of_assets_that_lead_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with refused("SW0868", "asset"):
        sw.save(scaled(), tmp_path / "saved", assets={name: tmp_path / "file"})
    with refused("SW0868", "asset"):
        asset(tmp_path, name)
    assert os.listdir(tmp_path) == ["file"]


def test_a_mesh_by_the_name_of_none(tmp_path: Path) -> None:
    place = sw.save({"w": np.ones(4)}, tmp_path / "saved")
    with refused("SW0883", "there is no saved mesh 'mesh', but none"):
        sw.load(place, mesh={"mesh": Mesh(x=2)})


def test_assets_that_are_no_files(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    (tmp_path / "link").symlink_to(tmp_path / "file")
    for given in ([tmp_path / "link"], [tmp_path], [tmp_path / "missing"], [str(tmp_path / "a\0b")]):
        with refused("SW0868", "is no file"):
            sw.save(scaled(), tmp_path / "saved", assets=given)
    with refused("SW0868", "one path"):
        sw.save(scaled(), tmp_path / "saved", assets=str(tmp_path / "file"))
    with refused("SW0868", "an asset is called 3"):
        sw.save(scaled(), tmp_path / "saved", assets={3: tmp_path / "file"})  # type: ignore[dict-item]
    with refused("SW0868", "two assets"):
        sw.save(scaled(), tmp_path / "saved", assets=[tmp_path / "file", tmp_path / "file"])
    for names in (["a", "A"], ["n\u0303", "\u00f1"], ["A/b", "a/c"]):
        with refused("SW0868", "one file on some systems"):
            check_names(names)


def test_assets_are_found_again(place: Path) -> None:
    assert asset(place, "words.txt").read_text() == "one two"
    with refused("SW0869", "no asset 'word.txt'"):
        asset(place, "word.txt")


@pytest.mark.parametrize(
    "options",
    [
        *({"mesh": 3}, {"mesh": {"mesh": 3}}, {"axes": 3}, {"axes": {"x": 3}}, {"layouts": 3}, {"layouts": {"w": 3}}),
        *({"classes": 3}, {"classes": "State"}),
    ],
    ids=str,
)
def test_arguments_of_the_wrong_kind(options: Any, place: Path) -> None:
    with pytest.raises(TypeError, match=rf"SW0878.*{next(iter(options))}"):
        sw.load(place, **options)


@pytest.mark.parametrize("assets", [3, [3], {"a": 3}], ids=str)
def test_assets_of_the_wrong_kind(assets: Any, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=r"SW0878.*assets"):
        sw.save(scaled(), tmp_path / "saved", assets=assets)


@pytest.mark.parametrize("path", [3, None, b"bytes", "a\0b", ""])
def test_paths_that_are_none(path: Any) -> None:
    for call in (sw.load, lambda path: sw.save(scaled(), path), read_message, lambda path: asset(path, "x")):
        with pytest.raises((TypeError, ValueError), match=r"SW0878|SW0867"):
            call(path)


def test_directories_that_are_none(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("x")
    for name in ("missing", "empty", "file"):
        with refused("SW0869", name):
            sw.load(tmp_path / name)


def changed(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())


def test_every_file_is_compared_with_what_was_saved(place: Path, tmp_path: Path) -> None:
    """One bit anywhere, in any file: loading says so, and never gives something else."""
    tried = 0
    for path in files(place):
        size = path.stat().st_size
        for at in sorted({0, size // 3, size // 2, size - 1}):
            copy = tmp_path / "copy"
            shutil.copytree(place, copy)
            changed(copy / path.relative_to(place), at)
            with pytest.raises(ShardwrightError, match=r"error\[SW08(69|7[0-9])\]"):
                sw.load(copy)
            shutil.rmtree(copy)
            tried += 1
    assert tried >= 16


def test_every_file_has_to_be_there(place: Path, tmp_path: Path) -> None:
    for path in files(place):
        for change in (Path.unlink, lambda path: os.truncate(path, path.stat().st_size - 1)):
            copy = tmp_path / "copy"
            shutil.copytree(place, copy)
            change(copy / path.relative_to(place))
            with pytest.raises(ShardwrightError, match=r"error\[SW08(69|7[0-9])\]"):
                sw.load(copy)
            shutil.rmtree(copy)


def test_nothing_else_may_be_there(place: Path) -> None:
    for name in ("other.txt", "assets/other.txt", "saved_model.cpb", "keras_metadata.pb", "assets/deep/er.txt"):
        path = place / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x")
        with refused("SW0869", path.name):
            sw.load(place)
        path.unlink()
        if path.parent.name == "deep":
            path.parent.rmdir()
    sw.load(place)


def test_links_are_refused(place: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("one two")
    words = place / "assets" / "words.txt"
    words.unlink()
    words.symlink_to(tmp_path / "outside")
    with refused("SW0869", "no plain file"):
        sw.load(place)
    words.unlink()
    shutil.copytree(place / "variables", tmp_path / "elsewhere")
    shutil.rmtree(place / "variables")
    (place / "variables").symlink_to(tmp_path / "elsewhere")
    with refused("SW0869", "is a link"):
        sw.load(place)


def test_parts_of_two_saves(place: Path, tmp_path: Path) -> None:
    other = scaled()
    other.w.assign(np.zeros(8, "float32"))
    theirs = Path(sw.save(other, tmp_path / "other", assets=[place / "assets" / "words.txt"]))
    for name in ("variables", "fingerprint.pb"):
        copy = tmp_path / "copy"
        shutil.copytree(place, copy)
        shutil.rmtree(copy / name) if (copy / name).is_dir() else (copy / name).unlink()
        (shutil.copytree if (theirs / name).is_dir() else shutil.copy)(theirs / name, copy / name)
        with refused("SW0870", "not what was saved|not the file"):
            sw.load(copy)
        shutil.rmtree(copy)


def rewritten(place: Path, change: Callable[[saved_model_pb2.SavedModel], object]) -> None:
    """The directory with another message, and the fingerprint of that: what an attacker can write."""
    from shardwright.saving.directory.fingerprints import fingerprint

    model = place / "saved_model.pb"
    message = saved_model_pb2.SavedModel.FromString(model.read_bytes())
    change(message)
    model.write_bytes(message.SerializeToString(deterministic=True))
    (place / "fingerprint.pb").write_bytes(fingerprint(place, model, message).SerializeToString())


HOSTILE: dict[str, Callable[[Any], object]] = {
    "no objects": lambda saved: saved.ClearField("objects"),
    "an object of no kind": lambda saved: saved.objects[0].Clear(),
    "a member that is not there": lambda saved: setattr(saved.objects[0].module.members[0], "object", 10**6),
    "a container in itself": lambda saved: saved.objects[0].CopyFrom(
        program_pb2.Object(container={"members": [{"key": {"integer": 0}, "object": 0}]})
    ),
    "a class that is no name": lambda saved: setattr(saved.objects[0].module, "class_name", "a b"),
    "a class with code": lambda saved: setattr(saved.objects[0].module, "class_name", "x(__import__('os'))"),
    "an attribute that is a number": lambda saved: (
        saved.objects[0].module.members[0].key.CopyFrom(program_pb2.Value(integer=3))
    ),
    "a mesh that is not there": lambda saved: saved.ClearField("meshes"),
    "a mesh of no devices": lambda saved: setattr(saved.meshes[0].axes[0], "size", 0),
    "a program that is not there": lambda saved: saved.ClearField("programs"),
    "a type that is not there": lambda saved: setattr(saved.programs[0].parameters[0], "dtype", "object"),
    "parameters without places": lambda saved: saved.programs[0].parameters.add(dtype="float32"),
    "arguments that are no call": lambda saved: saved.programs[0].arguments.Clear(),
    "captured objects that are no arrays": lambda saved: saved.programs[0].captured.__setitem__(0, 0),
    "updates of something else": lambda saved: saved.programs[0].updated.append(0),
    "an asset outside": lambda saved: setattr(saved.files[0], "path", "../../etc/passwd"),
    "an asset twice": lambda saved: saved.files.add().CopyFrom(saved.files[0]),
    "a layout of another rank": lambda saved: setattr(saved.programs[0].parameters[0].decided, "text", '[{"x"}, {}]'),
    "a layout that is no text": lambda saved: setattr(saved.programs[0].parameters[0].layout, "text", "[["),
    "a layout of another axis": lambda saved: setattr(saved.programs[0].parameters[0].layout, "text", '[{"z"}]'),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_messages_that_contradict_themselves(name: str, place: Path) -> None:
    rewritten(place, lambda message: HOSTILE[name](message.shardwright))
    with pytest.raises(ShardwrightError, match=r"error\[SW(0871|0868|0869|0870|0883|01\d\d)\]"):
        sw.load(place)


def a_chain(saved: Any) -> None:
    """Lists in lists, 20,000 deep."""
    first = len(saved.objects)
    saved.objects[0].module.members.add(key={"text": "chain"}, object=first)
    for number in range(first + 1, first + 20_001):
        saved.objects.add(container={"members": [{"key": {"integer": 0}, "object": number}]})
    saved.objects.add(value={"integer": 1})


def a_doubling(saved: Any) -> None:
    """A list of two lists of two lists ..., of which a static value would have 2**60 parts."""
    first = len(saved.objects)
    for number in range(first + 1, first + 61):
        saved.objects.add(container={"members": [{"key": {"integer": 0}, "object": number}] * 2})
    saved.objects.add(value={"integer": 1})
    static = program_pb2.Value(object_number=first)
    saved.programs[0].arguments.parts[1].keys.add(text="y")
    saved.programs[0].arguments.parts[1].parts.add(kind=program_pb2.Tree.STATIC, value=static)


BOMBS: dict[str, Callable[[Any], object]] = {
    "a chain": a_chain,
    "a doubling": a_doubling,
    "a mesh of all devices": lambda saved: saved.meshes[0].axes[0].__setattr__("size", 1 << 62),
    "a mesh of many processes": lambda saved: saved.meshes[0].MergeFrom(
        program_pb2.Mesh(axes=[{"name": "y", "size": 1 << 61}], clients=2)
    ),
    "a huge variable": lambda saved: saved.objects[1].variable.shape.__setitem__(0, 1 << 62),
    "a huge number": lambda saved: saved.objects[0].module.members.add(key={"large_integer": b"\1" * 10**6}, object=0),
    "a value in values": lambda saved: saved.objects[0].module.members.add(key=nested(30), object=0),
}


def nested(depth: int) -> Any:
    value = program_pb2.Value(integer=1)
    for _ in range(depth):
        value = program_pb2.Value(list_items={"items": [value]})
    return value


@pytest.mark.parametrize("name", BOMBS)
def test_bombs_are_refused_at_once(name: str, place: Path) -> None:
    sw.load(place)
    rewritten(place, lambda message: BOMBS[name](message.shardwright))
    started = time.process_time()
    with pytest.raises(ShardwrightError, match=r"error\[SW\d+\]"):
        sw.load(place)
    assert time.process_time() - started < 1
    tracemalloc.start()
    with pytest.raises(ShardwrightError):
        sw.load(place)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 64 << 20


def test_a_file_that_is_too_large_is_not_read(place: Path) -> None:
    os.truncate(place / "saved_model.pb", 1 << 33)
    started = time.process_time()
    with refused("SW0870", "2 GiB"):
        sw.load(place)
    assert time.process_time() - started < 1


RUNNING: dict[str, Callable[[Any], object]] = {
    "no program": lambda program: program.ClearField("local"),
    "another size": lambda program: program.parameters[0].shape.__setitem__(0, 16),
    "another type": lambda program: setattr(program.parameters[0], "dtype", "int32"),
    "the traced one": lambda program: program.local.CopyFrom(program.traced),
    "results that are not there": lambda program: program.results.CopyFrom(
        program_pb2.Tree(kind=program_pb2.Tree.LIST, parts=[program_pb2.Tree(), program_pb2.Tree()])
    ),
}


@pytest.mark.parametrize("name", RUNNING)
def test_programs_that_are_not_what_they_say(name: str, place: Path) -> None:
    rewritten(place, lambda message: RUNNING[name](message.shardwright.programs[0]))
    loaded = sw.load(place)
    size, dtype = {"another size": (16, "float32"), "another type": (8, "int32")}.get(name, (8, "float32"))
    x = np.arange(size, dtype=dtype)
    if name == "no program":  # then the traced one is partitioned
        assert np.array_equal(loaded(x), x * np.arange(8))
        return
    with pytest.raises(ShardwrightError, match=r"error\[SW0871\]"):
        loaded(x)


LAID_OUT: dict[str, Callable[[Any], object]] = {
    "arguments": lambda saved: setattr(saved.programs[0].parameters[0].decided, "text", "[{}]"),
    "variables": lambda saved: setattr(saved.objects[numbered_in(saved, "variable")].variable.layout, "text", "[{}]"),
    "meshes": lambda saved: setattr(saved.meshes[0].axes[0], "size", 4),
    "names of meshes": lambda saved: setattr(saved.programs[0].meshes[0], "name", "other"),
    "mesh for another": lambda saved: saved.meshes[0].axes.add(name="z", size=3),
}


def numbered_in(saved: Any, kind: str) -> int:
    return next(at for at, item in enumerate(saved.objects) if item.WhichOneof("kind") == kind)


@pytest.mark.parametrize("name", LAID_OUT)
def test_programs_that_are_laid_out_otherwise_than_they_say(name: str, place: Path) -> None:
    """What each device runs has boxes of one size; another layout would cut others, or the same ones elsewhere."""
    rewritten(place, lambda message: LAID_OUT[name](message.shardwright))
    loaded = sw.load(place)
    for call in (loaded, loaded.__call__.compiled):
        with refused("SW0871", "other arrays than it is said to|not written for the meshes"):
            call(np.arange(8, dtype="float32"))


def test_newer_versions(place: Path) -> None:
    rewritten(place, lambda message: setattr(message.shardwright, "version", 2))
    with refused("SW0881", "version 2"):
        sw.load(place)
    found = saved_model_pb2.FingerprintDef.FromString((place / "fingerprint.pb").read_bytes())
    found.version.min_consumer = 2
    (place / "fingerprint.pb").write_bytes(found.SerializeToString())
    with refused("SW0881", "fingerprint.pb"):
        sw.load(place)


def test_a_fingerprint_that_is_none(place: Path) -> None:
    for data, code in ((b"\xff" * 10, "SW0870"), (bytes(1 << 17), "SW0870"), (b"", "SW0869")):
        (place / "fingerprint.pb").write_bytes(data)
        with refused(code, "fingerprint"):
            sw.load(place)


def test_messages_come_back_as_they_are(tmp_path: Path) -> None:
    from shardwright.serialization.protos import graph_pb2

    graph = graph_pb2.GraphDef(node=[{"name": "a", "op": "NoOp"}])
    assert read_message(sw.save(graph, tmp_path / "graph")) == graph
    model = saved_model_pb2.SavedModel(saved_model_schema_version=1)
    model.meta_graphs.add().graph_def.CopyFrom(graph)
    assert read_message(sw.save(model, tmp_path / "model")) == model
    assert read_message(sw.save(scaled(), tmp_path / "scaled")).HasField("shardwright")


def test_classes_that_do_not_fit(tmp_path: Path) -> None:
    function = sw.function(lambda x: Configured(x))
    function(np.ones(2))
    place = sw.save(function, tmp_path / "saved")
    for classes, code in (
        ([int], "SW0865"),
        ([dataclass(type("Configured", (), {"__annotations__": {"a": int}}))], "SW0871"),
    ):
        with refused(code, "Configured|int"):
            sw.load(place, classes=classes)


def test_without_protobuf(tmp_path: Path) -> None:
    code = (
        "import importlib.util, sys\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda name, *rest: None if name.startswith('google') else found(name, *rest)\n"
        "import shardwright\n"
        "for call in (lambda: shardwright.save({}, 'x'), lambda: shardwright.load('x')):\n"
        "    try:\n"
        "        call()\n"
        "    except ImportError as error:\n"
        "        print(error)\n"
        "print('google.protobuf' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert done.stdout.count("SW0884") == 2
    assert "pip install 'shardwright[storage]'" in done.stdout
    assert done.stdout.endswith("False\n")
