"""Meshes and layouts in TensorFlow's forms: texts of DTensor, and messages."""

from __future__ import annotations

import pytest

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout import Layout, Mesh

HOST = "/job:localhost/task:0/device:CPU"
FULL = "/job:localhost/replica:0/task:0/device"
GRID = f"|x=2,y=2|0,1,2,3|0,1,2,3|{HOST}:0,{HOST}:1,{HOST}:2,{HOST}:3"
"""The example of tensorflow/dtensor/cc/tensor_layout.h."""


def test_a_mesh_of_tensorflow() -> None:
    mesh = Mesh.from_string(GRID)
    assert mesh.sizes == {"x": 2, "y": 2}
    assert mesh.devices == tuple(f"{HOST}:{place}" for place in range(4))
    assert mesh.to_string() == GRID.replace("/task", "/replica:0/task")
    assert Mesh.from_string(mesh.to_string()).sizes == mesh.sizes


def test_a_mesh_has_a_name() -> None:
    mesh = Mesh([("x", 2)], name="rows")
    assert mesh.to_string() == f"rows|x=2|0,1|0,1|{FULL}:CPU:0,{FULL}:CPU:1"
    assert Mesh.from_string(mesh.to_string()).name == "rows"
    assert Mesh.from_string("|x=2|*CPU").name == "mesh"


def test_generated_devices() -> None:
    assert Mesh.from_string("|x=3|*TPU").devices == tuple(f"{FULL}:TPU:{place}" for place in range(3))


def test_meshes_of_several_clients() -> None:
    mesh = Mesh.distributed({"x": 4}, ["GPU:0", "GPU:1"], num_clients=2, client_id=1)
    where = [f"/job:worker/replica:0/task:{task}/device:GPU:{gpu}" for task in range(2) for gpu in range(2)]
    assert mesh.to_string() == f"|x=4|0,1,2,3|2,3|{','.join(where[2:])}|{','.join(where)}"
    for found in (Mesh.from_string(mesh.to_string()), Mesh.from_proto(mesh.to_proto())):
        assert (found, found.local_device_ids, found.num_clients) == (mesh, (2, 3), 2)
    # TensorFlow leaves out the names of all devices when there is only one mesh.
    short = Mesh.from_string(f"|x=4|0,1,2,3|2,3|{','.join(where[2:])}")
    assert (short, short.local_device_ids) == (mesh, (2, 3))


def test_devices_of_other_clients_are_named_alike() -> None:
    # The second of two clients, whose devices are numbered from 4 on, and whose names say no job.
    found = Mesh.from_string("|x=4|4,5,6,7|6,7|GPU:0,GPU:1")
    assert (found.num_clients, found.local_device_ids) == (2, (2, 3))
    assert found.devices == tuple(
        f"/job:worker/replica:0/task:{task}/device:GPU:{gpu}" for task in range(2) for gpu in range(2)
    )
    with_job = Mesh.from_string("|x=2|0,1|1|/job:ps/task:1/device:CPU:0")
    assert with_job.devices == ("/job:ps/replica:0/task:0/device:CPU:0", "/job:ps/replica:0/task:1/device:CPU:0")
    # The names of all devices, where they are given, are what counts.
    named = Mesh.from_string(
        "|x=2|0,1|1|/job:ps/task:1/device:CPU:0|/job:ps/task:5/device:CPU:0,/job:ps/task:1/device:CPU:0"
    )
    assert named.devices == ("/job:ps/task:5/device:CPU:0", "/job:ps/task:1/device:CPU:0")


def test_a_mesh_may_name_no_local_devices_and_no_axes() -> None:
    found = Mesh.from_string("|x=2|0,1||")
    assert (found.sizes, found.num_clients) == ({"x": 2}, 1)
    assert Mesh.from_string("||0|0|CPU:0").sizes == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x=2",
        "|x=2|0,1",
        "|x=2|0,1|0,1",
        "|x|*CPU",
        "|x=two|*CPU",
        "|x=2|CPU",
        "|x=2|*",
        f"|x=2|1,0|0,1|{HOST}:0,{HOST}:1",
        f"|x=2|0,1|0,1|{HOST}:0",
        f"|x=3|0,1,2|1,2|{HOST}:0,{HOST}:1",
        f"|x=4|0,1,2,3|1,2|{HOST}:0,{HOST}:1",
        "|x=2|0,1|0,1|a|b|c|d",
        f"|x=2|0,1|1,0|{HOST}:1,{HOST}:0",
        f"|x=4|0,1,2,3|2,1|{HOST}:0,{HOST}:1",
        f"|x=5|0,1,2,3,4|2,3|{HOST}:0,{HOST}:1",
    ],
)
def test_no_mesh(text: str) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Mesh.from_string(text)


def test_mesh_messages() -> None:
    # MeshProto { mesh_dimensions { name: "x" size: 2 } global_device_ids: [0, 1] local_device_ids: [0, 1] ... }
    named = b"".join(bytes([0x2A, len(f"{HOST}:{place}")]) + f"{HOST}:{place}".encode() for place in range(2))
    content = b"\x0a\x05\x0a\x01x\x10\x02" + b"\x12\x02\x00\x01" + b"\x22\x02\x00\x01" + named
    mesh = Mesh.from_proto(content)
    assert (mesh.sizes, mesh.devices) == ({"x": 2}, (f"{HOST}:0", f"{HOST}:1"))
    unpacked = content.replace(b"\x12\x02\x00\x01", b"\x10\x00\x10\x01")
    assert Mesh.from_proto(unpacked) == mesh
    assert Mesh.from_proto(mesh.to_proto()).sizes == mesh.sizes
    big = Mesh(x=300)
    assert Mesh.from_proto(big.to_proto()).sizes == {"x": 300}


def _field(number: int, content: bytes) -> bytes:
    size = len(content)
    return bytes([number << 3 | 2, *([size] if size < 128 else [size & 127 | 128, size >> 7])]) + content


def test_of_a_field_that_comes_twice_the_last_counts() -> None:
    """As protocol buffers have it; and fields of kinds that no message of ours has are passed over."""
    dim = _field(1, b"y") + b"\x10\x03" + _field(1, b"x") + b"\x10\x02"
    skipped = b"\x79" + bytes(8) + b"\x7d" + bytes(4)  # field 15, in 64 and in 32 bits
    content = _field(3, b"old") + skipped + _field(1, dim) + _field(2, b"\0\1") + _field(4, b"\0\1") + _field(3, b"new")
    names = b"".join(_field(5, f"{HOST}:{place}".encode()) for place in range(2))
    mesh = Mesh.from_proto(content + names)
    assert (mesh.name, mesh.sizes, mesh.devices) == ("new", {"x": 2}, (f"{HOST}:0", f"{HOST}:1"))
    spec = _field(1, _field(2, b"y") + _field(2, b"x"))
    other = Mesh({"y": 4}).to_proto()
    assert Layout.from_proto(spec + _field(2, other) + _field(2, content + names)) == Layout(["x"], mesh)


def test_an_axis_without_a_size_has_none() -> None:
    with pytest.raises(ShardwrightValueError, match=r"SW0101.*axis 'x' has size 0"):
        Mesh.from_proto(_field(1, _field(1, b"x")))


def test_messages_hold_what_texts_do() -> None:
    mesh = Mesh.distributed({"x": 4}, ["GPU:0", "GPU:1"], num_clients=2, client_id=1, name="rows")
    names = [name.encode() for name in mesh.devices or ()]
    assert mesh.to_proto() == (
        _field(1, _field(1, b"x") + b"\x10\x04")
        + _field(2, b"\0\1\2\3")
        + _field(3, b"rows")
        + _field(4, b"\2\3")
        + b"".join(_field(5, name) for name in names[2:])
        + b"".join(_field(6, name) for name in names)
    )
    found = Mesh.from_proto(mesh.to_proto())
    assert (found.name, found.devices, found.local_device_ids) == ("rows", mesh.devices, (2, 3))


def test_the_codes_of_forms() -> None:
    for read in (Mesh.from_string, Mesh.from_proto, Layout.from_proto):
        with pytest.raises(ShardwrightValueError) as caught:
            read("|x=2")  # pyright: ignore
        assert caught.value.diagnostics[0].code == "SW0117"
    with pytest.raises(ShardwrightValueError) as caught:
        Layout.from_string("sharding_specs:x,")
    assert "it has no mesh:" in caught.value.diagnostics[0].message
    for text in ("f32[4]{mean@x}", '[{}], unreduced=mean{"x"}'):
        with pytest.raises(ShardwrightValueError) as caught:
            Layout.from_string(text, Mesh(x=2))
        assert caught.value.diagnostics[0].code == "SW0108"


@pytest.mark.parametrize(
    "content", [b"\x0a", b"\x0a\x09x", b"\x0b", b"\x10\xff", "text", None, b"\x08\x01", b"\x2a\x01\xff", b"\x02\x00"]
)
def test_no_mesh_message(content: object) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Mesh.from_proto(content)


@pytest.mark.parametrize("specs", [(), ("x",), ("unsharded", "x"), ("y", "unsharded", "x")], ids=str)
def test_layouts_of_tensorflow(specs: tuple[str, ...]) -> None:
    text = f"sharding_specs:{''.join(spec + ',' for spec in specs)} mesh:{GRID}"
    layout = Layout.from_string(text)
    assert layout == Layout(list(specs), Mesh.from_string(GRID))
    assert layout.to_string() == text.replace("/task", "/replica:0/task")
    assert Layout.from_string(layout.to_string()).spec == layout.spec
    assert Layout.from_proto(layout.to_proto()).spec == layout.spec


def test_the_form_without_the_last_comma() -> None:
    assert Layout.from_string("sharding_specs:x,unsharded mesh:|x=2|*CPU").sharding_specs == ["x", "unsharded"]
    assert Layout.from_string("sharding_specs:scalar, mesh:|x=2|*CPU").rank == 0


def test_a_layout_goes_to_a_mesh_of_the_same_axes() -> None:
    text = f"sharding_specs:x, mesh:{GRID}"
    mesh = Mesh(x=2, y=2)
    assert Layout.from_string(text, mesh) == Layout(["x"], mesh)
    assert Layout.from_proto(Layout(["x"], mesh).to_proto(), mesh) == Layout(["x"], mesh)
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Layout.from_string(text, Mesh(x=4))
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Layout.from_proto(Layout(["x"], mesh).to_proto(), Mesh(x=4))


def test_layout_message() -> None:
    mesh = Mesh(x=2)
    # LayoutProto { sharding_specs { sharding_spec: "x" } mesh_config { ... } }
    inner = mesh.to_proto()
    assert Layout(["x"], mesh).to_proto() == b"\x0a\x03\x12\x01x" + b"\x12" + bytes([len(inner)]) + inner
    for content in (b"", b"\x0a\x03\x12\x01x", b"\xff", 5):
        with pytest.raises(ShardwrightValueError, match="SW0117"):
            Layout.from_proto(content)


def test_what_tensorflow_cannot_say() -> None:
    mesh = Mesh(x=4, y=2)
    for layout in (Layout([("x", "y")], mesh), Layout(["x:(1)2"], mesh)):
        with pytest.raises(ShardwrightValueError, match="SW0117"):
            layout.to_string()
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Layout.from_string('[{"x"}], unreduced=sum{"y"}', mesh).to_proto()


def test_other_texts_need_a_mesh() -> None:
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Layout.from_string('[{"x"}]')
    with pytest.raises(ShardwrightValueError, match="SW0117"):
        Layout.from_string("sharding_specs:x,")
    with pytest.raises(ShardwrightValueError, match="SW0102"):
        Layout.from_string("sharding_specs:z, mesh:|x=2|*CPU")
