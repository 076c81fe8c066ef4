"""safetensors: files written by hand are read, what we write is what the format says, damaged ones are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import shardwright as sw
from shardwright.saving.tensors.safetensors import DTYPES
from shardwright.tools.main import main

MESH = sw.Mesh(x=2, y=3)
W = np.arange(24, dtype=np.float32).reshape(4, 6)


def by_hand(header: object, data: bytes = b"") -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def about(dtype: str, shape: list[int], start: int, stop: int) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [start, stop]}


WHOLE = by_hand(
    {"__metadata__": {"format": "pt"}, "w": about("F32", [4, 6], 0, 96), "n": about("I64", [], 96, 104)},
    W.tobytes() + np.int64(-5).tobytes(),
)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "model.safetensors"
    path.write_bytes(WHOLE)
    return path


def test_a_file_written_by_hand_is_read(file: Path) -> None:
    found = sw.load_variables(file)
    np.testing.assert_array_equal(found["w"], W)
    assert (found["w"].dtype, found["n"].shape, int(found["n"])) == (np.float32, (), -5)
    assert sw.list_variables(file) == [("w", (4, 6)), ("n", ())]


@pytest.mark.parametrize("sharding", [["x", "y"], ["x", None], [None, ("x", "y")], [None, None]])
def test_each_device_gets_its_box(sharding: list[Any], file: Path) -> None:
    layout = sw.Layout(sharding, MESH)
    found = sw.load_variables(file, {"w": layout})["w"]
    assert found.layout == layout
    expected = sw.relayout(W, layout)
    assert isinstance(found, sw.DTensor)
    assert isinstance(expected, sw.DTensor)
    for mine, part in zip(found.components(), expected.components(), strict=True):
        np.testing.assert_array_equal(mine, part)


def test_layouts_must_fit(file: Path) -> None:
    with pytest.raises(ValueError, match="SW0104"):
        sw.load_variables(file, {"w": sw.Layout(["y", None], MESH)})


def test_partial_results_cannot_be_read(file: Path) -> None:
    partial = sw.Layout.from_string('[{}, {}], unreduced=sum{"x"}', MESH)
    with pytest.raises(ValueError, match=r"SW0879.*partial"):
        sw.load_variables(file, {"w": partial})


def test_layouts_for_names_that_are_not_there(file: Path) -> None:
    with pytest.raises(ValueError, match="SW0879"):
        sw.load_variables(file, {"v": sw.Layout([None], MESH)})


@pytest.mark.parametrize("kind", DTYPES)
def test_every_type_stays_what_it_is(kind: str, tmp_path: Path) -> None:
    values = np.array([0, 1, 1, 0, 1, 1], DTYPES[kind]).reshape(2, 3)
    (tmp_path / "a.safetensors").write_bytes(by_hand({"a": about(kind, [2, 3], 0, values.nbytes)}, values.tobytes()))
    read = sw.load_variables(tmp_path / "a.safetensors")["a"]
    assert (read.dtype, read.tobytes()) == (values.dtype, values.tobytes())
    checkpoint = sw.convert(tmp_path / "a.safetensors", tmp_path / "checkpoint")
    (again,) = sw.convert(checkpoint[0], tmp_path / "b.safetensors")
    written = Path(again).read_bytes()
    length = int.from_bytes(written[:8], "little")
    assert json.loads(written[8 : 8 + length]) == {"a": about(kind, [2, 3], 0, values.nbytes)}
    assert written[8 + length :] == values.tobytes()
    assert length % 8 == 0


def test_models_of_several_files(tmp_path: Path) -> None:
    arrays = {"b": np.ones(3, ml_dtypes.bfloat16), "e": np.zeros((0, 3), np.int8), "w": W, "v": W * 2}
    checkpoint = sw.Checkpoint(arrays).save(tmp_path / "checkpoint")
    files = [Path(file) for file in sw.convert(checkpoint, tmp_path / "model.safetensors", max_file_bytes=100)]
    assert [file.name for file in files] == [
        "model-00001-of-00003.safetensors",
        "model-00002-of-00003.safetensors",
        "model-00003-of-00003.safetensors",
        "model.safetensors.index.json",
    ]
    index = json.loads(files[-1].read_text())
    assert index["metadata"] == {"total_size": 6 + 96 + 96}
    assert set(index["weight_map"]) == set(arrays)
    for path in (files[-1], tmp_path):
        found = sw.load_variables(path)
        assert found.keys() == arrays.keys()
        for name, array in arrays.items():
            assert (found[name].dtype, found[name].tobytes()) == (array.dtype, array.tobytes())


def test_names_stay_there_and_back(tmp_path: Path) -> None:
    """Slashes in them are what parts the names of checkpoints, too."""
    checkpoint = sw.Checkpoint({"layers": [{"w": W, "a/b~": W}]}).save(tmp_path / "checkpoint")
    names = {"layers/0/w", "layers/0/a~1b~0"}
    (file,) = sw.convert(checkpoint, tmp_path / "model.safetensors")
    assert sw.load_variables(file).keys() == names
    (again,) = sw.convert(file, tmp_path / "again")
    assert sw.load_variables(again).keys() == names
    other = sw.Checkpoint({"layers": [{"w": np.zeros_like(W), "a/b~": np.zeros_like(W)}]})
    assert set(other.restore(again).restored) == names


ONE = json.dumps(about("U8", [2], 0, 2)).encode()
HEADERS = {
    "no json": b"{",
    "no names": b"[]",
    "a name twice": b'{"a":' + ONE + b',"a":' + ONE + b"}",
    "a gap": {"a": about("U8", [1], 1, 2)},
    "an overlap": {"a": about("U8", [2], 0, 2), "b": about("U8", [1], 1, 2)},
    "too short": {"a": about("U8", [1], 0, 1)},
    "too long": {"a": about("U8", [9], 0, 9)},
    "another size": {"a": about("F32", [2], 0, 2)},
    "backwards": {"a": about("U8", [1], 2, 0)},
    "no shape": {"a": {"dtype": "U8", "data_offsets": [0, 2]}},
    "a negative dim": {"a": about("U8", [-2, -1], 0, 2)},
    "a truth value": {"a": about("U8", [True, 2], 0, 2)},
    "a huge dim": {"a": about("U8", [1 << 70], 0, 2)},
    "another type": {"a": about("F4", [4], 0, 2)},
    "no array": {"a": 7},
}


@pytest.mark.parametrize("what", HEADERS)
def test_headers_that_make_no_sense_are_refused(what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(by_hand(HEADERS[what], b"\0\0"))
    with pytest.raises(ValueError, match="SW0896"):
        sw.load_variables(path)


@pytest.mark.parametrize("content", [b"", b"1234567", (1 << 62).to_bytes(8, "little"), WHOLE[:-1], WHOLE + b"x"])
def test_files_that_are_cut_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    path.write_bytes(content)
    with pytest.raises(ValueError, match="SW0896"):
        sw.list_variables(path)


@pytest.mark.parametrize("name", ["../model.safetensors", "/etc/passwd", "", ".", "a\\b", "sub/model.safetensors"])
def test_an_index_leads_nowhere_else(name: str, file: Path) -> None:
    index = file.with_name("other.safetensors.index.json")
    index.write_text(json.dumps({"weight_map": {"w": name}}))
    with pytest.raises(ValueError, match=r"SW0896.*no file beside it"):
        sw.load_variables(index)


@pytest.mark.parametrize("content", ["[]", "{}", '{"weight_map": 3}', '{"weight_map": {"z": "model.safetensors"}}'])
def test_an_index_that_makes_no_sense_is_refused(content: str, file: Path) -> None:
    index = file.with_name("other.safetensors.index.json")
    index.write_text(content)
    with pytest.raises(ValueError, match="SW0896"):
        sw.load_variables(index)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="SW0873"):
        sw.load_variables(tmp_path / "none.safetensors")
    index = tmp_path / "a.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {"w": "none.safetensors"}}))
    with pytest.raises(ValueError, match="SW0873"):
        sw.load_variables(index)


def test_a_folder_of_two_models_has_to_be_told_apart(file: Path) -> None:
    file.with_name("other.safetensors").write_bytes(WHOLE)
    with pytest.raises(ValueError, match=r"SW0896.*2 models"):
        sw.load_variables(file.parent)


def test_one_model_lies_in_one_form_only(tmp_path: Path) -> None:
    """Of a model in one file and in several, readers would take the one or the other, also where it is the older."""
    old, new = (sw.Checkpoint(a=np.full(300, v), b=np.full(4, v)).save(tmp_path / f"{v}") for v in (1.0, 2.0))
    for first, second in ((10**6, 1000), (1000, 10**6)):
        place = tmp_path / f"models{first}"
        place.mkdir()
        written = sw.convert(old, place / "m.safetensors", max_file_bytes=first)
        with pytest.raises(
            ValueError, match=rf"SW0876.*{Path(written[-1]).name}' is there, and would be another model"
        ):
            sw.convert(new, place / "m.safetensors", max_file_bytes=second)
        assert sorted(map(str, place.iterdir())) == sorted(written)
        assert sw.load_variables(place)["b"].tolist() == [1.0] * 4
        sw.convert(new, place / "m.safetensors", max_file_bytes=first)
        assert sw.load_variables(place)["b"].tolist() == [2.0] * 4
    (place / "m.safetensors").write_bytes(WHOLE)
    with pytest.raises(ValueError, match=r"SW0896.*2 models(.|\n)*m.safetensors.index.json(.|\n)*m.safetensors"):
        sw.load_variables(place)


def test_what_the_format_lacks_is_named_and_nothing_written(tmp_path: Path) -> None:
    checkpoint = sw.Checkpoint({"q": np.ones(2, ml_dtypes.int4), "w": W}).save(tmp_path / "checkpoint")
    with pytest.raises(ValueError, match=r"SW0875.*1 of 2.*(.|\n)*'q': int4"):
        sw.convert(checkpoint, tmp_path / "model.safetensors")
    assert not (tmp_path / "model.safetensors").exists()


def test_the_command(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checkpoint, back = file.with_name("checkpoint"), file.with_name("back.safetensors")
    assert main(["convert", str(file), str(checkpoint)]) == 0
    assert main(["convert", str(checkpoint), str(back), "--json"]) == 0
    assert json.loads(capsys.readouterr().out.split("\n", 1)[1]) == {"files": [str(back)], "bytes": back.stat().st_size}
    np.testing.assert_array_equal(sw.load_variables(back)["w"], W)
    assert main(["convert", str(file.with_name("none")), str(back)]) == 1
    assert "SW0872" in capsys.readouterr().err
    assert main(["convert", str(checkpoint), "/proc/none/model.safetensors"]) == 1
    assert "SW0876" in capsys.readouterr().err
