"""Directories: any Python value that is data comes back equal, and damaged messages never do harm."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from sampling import examples

import shardwright as sw
from shardwright import Layout, Mesh, Module, ShardwrightError, Variable
from shardwright.saving.directory.fingerprints import fingerprint
from shardwright.saving.objects.records import Records
from shardwright.saving.objects.values import Reader, Writer
from shardwright.serialization.protos import program_pb2, saved_model_pb2

MESH = Mesh([("x", 4), ("y", 2)], devices=[f"CPU:{place}" for place in range(8)])
PLAIN = (
    st.none()
    | st.booleans()
    | st.integers(-(1 << 200), 1 << 200)
    | st.floats()
    | st.complex_numbers()
    | st.text()
    | st.binary()
    | st.builds(slice, st.none() | st.integers(-9, 9), st.none() | st.integers(-9, 9), st.none() | st.integers(1, 9))
    | st.builds(range, st.integers(-9, 9), st.integers(-9, 9), st.integers(1, 9))
    | st.sampled_from(
        [..., int, float, complex, bool, str, np.float32, np.int8, ml_dtypes.bfloat16, sw.nn.gelu, sw.sum]
    )
    | st.sampled_from([np.dtype("float16"), np.dtype("bool"), np.dtype(ml_dtypes.float8_e5m2), sw.bfloat16])
    | st.builds(np.float32, st.floats(width=32))
    | st.builds(np.int16, st.integers(-99, 99))
    | st.sampled_from([MESH, Layout(["x", ("y",)], MESH), Layout(["x:(1)2", None, "y"], MESH)])
)
VALUES = st.recursive(
    PLAIN,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text() | st.integers() | st.tuples(st.integers()), inner, max_size=4)
    ),
    max_leaves=12,
)


def same(one: Any, other: Any) -> bool:
    """Equal, of equal types, with NaN equal to itself and zeros of two signs different."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(*pair) for pair in zip(one, other, strict=True))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, complex):
        return same(one.real, other.real) and same(one.imag, other.imag)
    if isinstance(one, float | np.floating):
        return (math.isnan(one) and math.isnan(other)) or (one == other and np.signbit(one) == np.signbit(other))
    return one == other


@examples(50)
@given(VALUES)
def test_values_come_back(value: Any) -> None:
    meshes: list[Mesh] = []
    message = Writer(meshes, lambda item: None).value(value, "it")

    def layout(message: program_pb2.Layout) -> Layout:
        return Layout.from_string(message.text, meshes[message.mesh])

    reader = Reader(lambda number: meshes[number], layout, lambda number: None, Records())
    again = reader.value(program_pb2.Value.FromString(message.SerializeToString()))
    assert same(again, value)
    assert Writer(meshes, lambda item: None).value(again, "it") == message


class Model(Module):
    def __init__(self) -> None:
        self.w = Variable(np.arange(8, dtype="float32"), layout=Layout(["x"], MESH))
        self.parts = [self.w, {"steps": Variable(0)}, (1, "two")]

    @sw.function(static=["mode"])
    def __call__(self, x: Any, params: Any, mode: Any) -> Any:
        self.parts[1]["steps"].assign_add(1)
        return {"y": x * self.w * params["scale"], "mode": (x,)}


ARGUMENTS: Any = (np.ones(8, "float32"), {"scale": 2.0}, ("fast", slice(1, None)))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, bytes]:
    model = Model()
    model(sw.relayout(ARGUMENTS[0], Layout(["x"], MESH)), *ARGUMENTS[1:])
    place = Path(sw.save(model, tmp_path_factory.mktemp("hostile") / "saved"))
    return place, (place / "saved_model.pb").read_bytes()


PARTS = ("all but programs", "local", "traced")
EDITS = st.lists(
    st.tuples(
        st.floats(0, 1, exclude_max=True),
        st.sampled_from(["set", "delete", "insert"]),
        st.binary(min_size=1, max_size=4),
    ),
    min_size=1,
    max_size=3,
)


def edited(data: bytes, edits: list[tuple[float, str, bytes]]) -> bytes:
    """Bytes changed, left out and put in at some places."""
    for where, what, piece in edits:
        at = int(where * len(data))
        data = data[:at] + (b"" if what == "delete" else piece) + data[at + (0 if what == "insert" else len(piece)) :]
    return data


def damaged(data: bytes, part: str, edits: list[tuple[float, str, bytes]]) -> saved_model_pb2.SavedModel | None:
    """The SavedModel with one part of ours changed, if that is still a message."""
    model = saved_model_pb2.SavedModel.FromString(data)
    program = model.shardwright.programs[0]
    kept = program_pb2.Program(traced=program.traced, local=program.local)
    try:
        if part == "all but programs":
            program.ClearField("traced")
            program.ClearField("local")
            changed = program_pb2.Saved.FromString(edited(model.shardwright.SerializeToString(), edits))
            if changed.programs:
                changed.programs[0].MergeFrom(kept)
            model.shardwright.CopyFrom(changed)
        else:
            target = getattr(program, part)
            target.ParseFromString(edited(target.SerializeToString(), edits))
            if part == "traced":
                program.ClearField("local")
    except Exception:  # protobuf's DecodeError, of which each implementation has its own
        return None
    return model


def try_to_use(place: Path, model: saved_model_pb2.SavedModel) -> None:
    """What an attacker writes, who knows the hashes: it is refused by name, or it is a program."""
    file = place / "saved_model.pb"
    file.write_bytes(model.SerializeToString())
    (place / "fingerprint.pb").write_bytes(fingerprint(place, file, model).SerializeToString())
    try:
        loaded = sw.load(place)
        if type(loaded).__module__ == "shardwright.saving.programs.loaded":
            loaded(*ARGUMENTS)
    except ShardwrightError:
        pass


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(PARTS), EDITS)
def test_messages_of_attackers(saved: tuple[Path, bytes], part: str, edits: list[tuple[float, str, bytes]]) -> None:
    model = damaged(saved[1], part, edits)
    if model is not None:
        try_to_use(saved[0], model)


@pytest.mark.slow
@settings(max_examples=4000, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.sampled_from(PARTS), EDITS)
def test_many_messages_of_attackers(
    saved: tuple[Path, bytes], part: str, edits: list[tuple[float, str, bytes]]
) -> None:
    model = damaged(saved[1], part, edits)
    if model is not None:
        try_to_use(saved[0], model)
