"""`shardwright inspect`, `split`, `merge` and `verify`: what they print, write and refuse."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import descriptor_pb2

import shardwright
from shardwright.dialects.text.parsing import parse_module
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.riegeli import RecordReader
from shardwright.tools.main import main
from shardwright.tools.stored.messages import find_type, types_of

Capture = pytest.CaptureFixture[str]
PROGRAM = Path(__file__).resolve().parents[2] / "lit" / "run" / "mlp.mlir"
CONTENT = bytes(range(256)) * 40


def graph() -> graph_pb2.GraphDef:
    """A graph with a constant of 10,240 bytes between small nodes, and a function."""
    message = graph_pb2.GraphDef()
    for number in range(40):
        message.node.add(name=f"before{number}", op="NoOp")
    message.node.add(name="constant", op="Const").attr["value"].tensor.tensor_content = CONTENT
    message.library.function.add().signature.name = "f"
    return message


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "graph.pb"
    path.write_bytes(graph().SerializeToString(deterministic=True))
    return path


def run(capsys: Capture, *arguments: object, code: int = 0) -> str:
    """What a command prints; on standard error where it fails."""
    assert main([str(each) for each in arguments]) == code
    out, err = capsys.readouterr()
    assert bool(err) == bool(code)
    return err if code else out


def data(capsys: Capture, *arguments: object) -> dict[str, Any]:
    return json.loads(run(capsys, *arguments, "--json"))


@pytest.mark.parametrize("option", ["--type", "--descriptors"])
def test_a_program_to_split_has_no_other_type(option: str, tmp_path: Path, capsys: Capture) -> None:
    said = run(capsys, "split", PROGRAM, option, "Foo", "-o", tmp_path / "chunked", code=1)
    assert "error[SW0701]" in said
    assert "--type and --descriptors are for messages" in said
    assert not list(tmp_path.iterdir())


def test_split_and_merge_give_the_same_bytes(file: Path, tmp_path: Path, capsys: Capture) -> None:
    prefix, back = tmp_path / "chunked", tmp_path / "back.pb"
    written = data(capsys, "split", file, "--type", "GraphDef", "-o", prefix, "--max-size", "1K")
    assert written == {"file": f"{prefix}.cpb", "bytes": (tmp_path / "chunked.cpb").stat().st_size}
    merged = data(capsys, "merge", f"{prefix}.cpb", "-o", back)
    assert merged == {"file": str(back), "bytes": file.stat().st_size, "type": "shardwright.tensorflow.GraphDef"}
    assert back.read_bytes() == file.read_bytes()


def test_a_message_that_is_split_where_it_lies_is_said_to_be_gone(file: Path, capsys: Capture) -> None:
    content, prefix = file.read_bytes(), file.with_suffix("")
    assert main(["split", str(file), "--type", "GraphDef", "-o", str(prefix), "--max-size", "1K"]) == 0
    assert capsys.readouterr().err == f"{file} is gone: {prefix}.cpb takes its place\n"
    assert not file.exists()
    assert main(["merge", f"{prefix}.cpb", "-o", str(file)]) == 0
    assert capsys.readouterr().err == f"{prefix}.cpb is gone: {file} takes its place\n"
    assert file.read_bytes() == content


def test_inspect_shows_chunks_and_fields(file: Path, tmp_path: Path, capsys: Capture) -> None:
    run(capsys, "split", file, "--type", "GraphDef", "-o", tmp_path / "chunked", "--max-size", "1K")
    report = data(capsys, "inspect", tmp_path / "chunked.cpb", "--fields")
    by_path = {row["path"]: row for row in report["chunks"]}
    content = by_path['node[40].attr["value"].tensor.tensor_content']
    assert (content["kind"], content["bytes"]) == ("BYTES", len(CONTENT))
    assert all(row["bytes"] <= 1024 for row in report["chunks"] if row["kind"] == "MESSAGE")
    with RecordReader(tmp_path / "chunked.cpb") as reader:
        assert reader.read(content["position"]) == CONTENT
    assert report["message_bytes"] == file.stat().st_size
    (nodes,) = [row for row in report["fields"] if row["path"] == "node"]
    assert nodes["count"] == 41
    assert nodes["bytes"] == file.stat().st_size - graph_pb2.GraphDef(library=graph().library).ByteSize()
    text = run(capsys, "inspect", tmp_path / "chunked.cpb")
    assert "(the message itself)" in text
    assert "10,240" in text


def test_fields_have_numbers_where_the_type_is_not_known(file: Path, tmp_path: Path, capsys: Capture) -> None:
    options = descriptor_pb2.FileDescriptorSet()
    options.file.add(name="own.proto", package="own", syntax="proto3").message_type.add(name="Own").field.add(
        name="data", number=7, type=descriptor_pb2.FieldDescriptorProto.TYPE_BYTES, label=1
    )
    (tmp_path / "own.binpb").write_bytes(options.SerializeToString())
    kind = find_type("Own", str(tmp_path / "own.binpb"))
    (tmp_path / "own.pb").write_bytes(kind(data=CONTENT).SerializeToString())
    arguments = ("--type", "own.Own", "--descriptors", tmp_path / "own.binpb")
    run(capsys, "split", tmp_path / "own.pb", "-o", tmp_path / "split", "--max-size", 1000, *arguments)
    report = data(capsys, "inspect", tmp_path / "split.cpb")
    assert (report["type"], [row["path"] for row in report["chunks"]]) == ("own.Own", ["", ".7"])
    assert "SW0724" in run(capsys, "merge", tmp_path / "split.cpb", "-o", tmp_path / "m.pb", code=1)
    run(capsys, "merge", tmp_path / "split.cpb", "-o", tmp_path / "m.pb", "--descriptors", tmp_path / "own.binpb")
    assert (tmp_path / "m.pb").read_bytes() == (tmp_path / "own.pb").read_bytes()
    assert data(capsys, "verify", tmp_path / "split.cpb")["chunks"] == 2


def test_programs_are_split_and_merged_as_text(tmp_path: Path, capsys: Capture) -> None:
    run(capsys, "split", PROGRAM, "-o", tmp_path / "program", "--max-size", 500)
    run(capsys, "merge", tmp_path / "program.cpb", "-o", tmp_path / "back.mlir")
    module = parse_module((tmp_path / "back.mlir").read_text())
    assert module.is_structurally_equivalent(parse_module(PROGRAM.read_text()))


def test_verify_names_a_flipped_byte(file: Path, tmp_path: Path, capsys: Capture) -> None:
    run(capsys, "split", file, "--type", "GraphDef", "-o", tmp_path / "chunked", "--max-size", "1K")
    chunked = tmp_path / "chunked.cpb"
    assert data(capsys, "verify", chunked)["ok"] is True
    damaged = bytearray(chunked.read_bytes())
    damaged[damaged.index(CONTENT[:200]) + 100] ^= 1
    chunked.write_bytes(damaged)
    assert "SW0803" in run(capsys, "verify", chunked, code=1)
    assert "SW0803" in run(capsys, "merge", chunked, "-o", tmp_path / "back.pb", code=1)
    assert not (tmp_path / "back.pb").exists()


def test_directories_and_checkpoints(tmp_path: Path, capsys: Capture) -> None:
    variable = shardwright.Variable(np.arange(6.0), name="v")
    checkpoint = shardwright.Checkpoint(v=variable).save(tmp_path / "saved")
    assert data(capsys, "inspect", checkpoint)["variables"] == [{"path": "v", "dtype": "float64", "shape": [6]}]
    assert data(capsys, "verify", checkpoint)["bytes"] == 48
    assert run(capsys, "verify", checkpoint) == f"ok: {checkpoint}, 48 bytes, arrays 1\n"
    double = shardwright.function(lambda x: x * variable)
    double(np.ones(6))
    shardwright.save(double, tmp_path / "model")
    report = data(capsys, "inspect", tmp_path / "model")
    assert report["type"] == "shardwright.tensorflow.SavedModel"
    assert "saved_model.pb" in [row["path"] for row in report["files"]]
    assert data(capsys, "verify", tmp_path / "model")["programs"] == 1
    (tmp_path / "model" / "saved_model.pb").write_bytes(b"")
    assert "SW08" in run(capsys, "verify", tmp_path / "model", code=1)


def test_what_cannot_be_is_named(file: Path, tmp_path: Path, capsys: Capture) -> None:
    assert "SW0724" in run(capsys, "inspect", file, "--type", "GraphDeff", code=1)
    assert "did you mean 'GraphDef'" in run(capsys, "inspect", file, "--type", "GraphDeff", code=1)
    assert "SW0724" in run(capsys, "split", file, "-o", tmp_path / "x", code=1)
    assert "SW0726" in run(capsys, "merge", file, "--type", "GraphDef", "-o", tmp_path / "x.txt", code=1)
    assert "SW0727" in run(capsys, "verify", tmp_path, code=1)
    run(capsys, "split", file, "--type", "GraphDef", "-o", tmp_path / "graph2", "--max-size", "1K")
    assert "not a shardwright.ir.Module" in run(
        capsys, "inspect", tmp_path / "graph2.cpb", "--type", "ir.Module", code=1
    )
    assert "SW0725" in run(capsys, "inspect", file, "--type", "A", "--descriptors", file, code=1)
    assert "SW0830" in run(capsys, "inspect", tmp_path / "missing.cpb", code=1)
    assert "SW0701" in run(capsys, "split", file, "-o", "x", "--max-size", "1Q", code=1)
    assert "SW0704" in run(capsys, "split", file, "--type", "GraphDef", "-o", tmp_path / "no" / "x", code=1)


def test_a_descriptor_set_lists_nested_types(tmp_path: Path) -> None:
    files = descriptor_pb2.FileDescriptorSet()
    files.file.add(name="a.proto", package="a").message_type.add(name="Outer").nested_type.add(name="Inner")
    (tmp_path / "a.binpb").write_bytes(files.SerializeToString())
    assert sorted(types_of(str(tmp_path / "a.binpb"))) == ["a.Outer", "a.Outer.Inner"]
