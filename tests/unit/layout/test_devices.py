"""Device names, meshes over several clients, and parts of meshes."""

from __future__ import annotations

import numpy as np
import pytest

from shardwright.diagnostics import ShardwrightValueError
from shardwright.layout import Mesh
from shardwright.layout.forms.devices import DeviceSpec, device_names

NAMES = [
    ("CPU:0", DeviceSpec(None, None, None, "CPU", 0), "/job:localhost/replica:0/task:0/device:CPU:0"),
    ("/gpu:3", DeviceSpec(None, None, None, "GPU", 3), "/job:localhost/replica:0/task:0/device:GPU:3"),
    ("/device:TPU:1", DeviceSpec(None, None, None, "TPU", 1), "/job:localhost/replica:0/task:0/device:TPU:1"),
    ("/worker:0/GPU:1", DeviceSpec("worker", None, 0, "GPU", 1), "/job:worker/replica:0/task:0/device:GPU:1"),
    ("/ps:1/cpu:0", DeviceSpec("ps", None, 1, "CPU", 0), "/job:ps/replica:0/task:1/device:CPU:0"),
    (
        "/job:worker/task:2/device:GPU:0",
        DeviceSpec("worker", None, 2, "GPU", 0),
        "/job:worker/replica:0/task:2/device:GPU:0",
    ),
    (
        "/job:a/replica:1/task:2/device:GPU:0",
        DeviceSpec("a", 1, 2, "GPU", 0),
        "/job:a/replica:1/task:2/device:GPU:0",
    ),
]


@pytest.mark.parametrize(("name", "parts", "full"), NAMES, ids=[name for name, _, _ in NAMES])
def test_parts_of_a_name(name: str, parts: DeviceSpec, full: str) -> None:
    assert DeviceSpec.parse(name) == parts == DeviceSpec.parse(str(parts))
    assert parts.full() == full


@pytest.mark.parametrize(
    "name", ["", "GPU", "GPU:", "GPU:-1", "GPU:x", "/worker/GPU:0", "/job:a/b:0/GPU:0", "a/b/c", "CPU:0 CPU:1", 7, None]
)
def test_no_device_name(name: object) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0116"):
        Mesh({"x": 1}, devices=[name])


def test_kinds_that_there_are_not() -> None:
    with pytest.raises(ShardwrightValueError, match=r"SW0116.*'FOO:0' is a device of no kind(?s:.*)CPU, GPU, TPU"):
        Mesh({"x": 1}, devices=["FOO:0"])


def test_the_argument_is_dims() -> None:
    with pytest.raises(ShardwrightValueError, match=r"SW0101(?s:.*)the argument is dims: Mesh\(dims=\[\('embedding'"):
        Mesh(dim=[("embedding", 2)])  # type: ignore[arg-type]
    assert Mesh(dim=2).sizes == {"dim": 2}


class _Spec:
    """Stands for `tf.DeviceSpec`."""

    def to_string(self) -> str:
        return "/job:worker/replica:0/task:3/device:GPU:1"


def test_device_specs_of_tensorflow_are_names() -> None:
    assert Mesh({"x": 1}, devices=[_Spec()]).devices == ("/job:worker/replica:0/task:3/device:GPU:1",)


def test_a_device_stands_in_one_place() -> None:
    with pytest.raises(ShardwrightValueError, match=r"SW0116.*places 0 and 2"):
        device_names(["cpu:0", "CPU:1", "/CPU:0"])
    with pytest.raises(ShardwrightValueError, match=r"SW0116.*is one text"):
        Mesh({"x": 3}, devices="abc")


def test_the_meshes_of_the_rfc() -> None:
    mesh = Mesh({"x": 2, "y": 3}, devices=["CPU:0", "CPU:1", "CPU:2", "CPU:3", "CPU:4", "CPU:5"])
    assert mesh.shape == (2, 3)
    accelerators = Mesh(dims=[("batch", 4), ("model", 2)], devices=["TPU:i" for _ in range(8)])
    assert accelerators.devices == tuple(f"TPU:{place}" for place in range(8))
    embedding = Mesh(dims=[("embedding", 2)], devices=["/worker:0/GPU:0", "/worker:0/GPU:1"])
    assert embedding.devices == ("/job:worker/task:0/device:GPU:0", "/job:worker/task:0/device:GPU:1")
    with pytest.raises(ShardwrightValueError, match="SW0101"):
        Mesh({"x": 2, "y": 3}, devices=["CPU:0"])


def test_each_client_brings_its_devices() -> None:
    for client in range(3):
        mesh = Mesh.distributed({"x": 3, "y": 2}, ["GPU:0", "GPU:1"], num_clients=3, client_id=client, job="node")
        assert mesh.devices is not None
        assert [DeviceSpec.parse(name) for name in mesh.devices] == [
            DeviceSpec("node", 0, task, "GPU", index) for task in range(3) for index in range(2)
        ]
        assert mesh.num_clients == 3
        assert mesh.local_device_ids == (2 * client, 2 * client + 1)
        assert mesh.local_devices == mesh.devices[2 * client : 2 * client + 2]


def test_one_client_unless_the_environment_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SHARDWRIGHT_NUM_CLIENTS", "SHARDWRIGHT_CLIENT_ID", "DTENSOR_NUM_CLIENTS", "DTENSOR_CLIENT_ID"):
        monkeypatch.delenv(name, raising=False)
    assert Mesh.distributed({"x": 2}, ["CPU:0", "CPU:1"]).local_device_ids == (0, 1)
    monkeypatch.setenv("DTENSOR_NUM_CLIENTS", "4")
    monkeypatch.setenv("DTENSOR_CLIENT_ID", "2")
    assert Mesh.distributed({"x": 4}, ["GPU:0"]).local_device_ids == (2,)
    monkeypatch.setenv("SHARDWRIGHT_CLIENT_ID", "3")
    assert Mesh.distributed({"x": 4}, ["GPU:0"]).local_device_ids == (3,)
    monkeypatch.setenv("SHARDWRIGHT_CLIENT_ID", "4")
    with pytest.raises(ShardwrightValueError, match="SW0116"):
        Mesh.distributed({"x": 4}, ["GPU:0"])
    monkeypatch.setenv("SHARDWRIGHT_CLIENT_ID", "last")
    with pytest.raises(ShardwrightValueError) as caught:
        Mesh.distributed({"x": 4}, ["GPU:0"])
    assert caught.value.diagnostics[0].code == "SW0116"


def test_the_number_of_devices_of_all_clients_is_checked() -> None:
    with pytest.raises(ShardwrightValueError, match="SW0101"):
        Mesh.distributed({"x": 4}, ["GPU:0"], num_clients=2, client_id=0)


def test_parts_of_a_mesh_have_its_devices() -> None:
    mesh = Mesh({"x": 2, "y": 3, "z": 4})
    places = np.arange(24).reshape(2, 3, 4)

    def names(found: np.ndarray[tuple[int, ...], np.dtype[np.int64]]) -> tuple[str, ...]:
        return tuple(f"CPU:{place}" for place in found.ravel().tolist())

    assert mesh.submesh(y=1).devices == names(places[:, 1])
    assert mesh.submesh(y=1).sizes == {"x": 2, "z": 4}
    assert mesh.submesh({"x": 1, "z": 3}).devices == names(places[1, :, 3])
    assert mesh.submesh(z=slice(None, None, 2)).devices == names(places[:, :, ::2])
    assert mesh.submesh(z=slice(1, 2)).sizes == {"x": 2, "y": 3, "z": 1}
    assert mesh.submesh(x=0) != mesh.submesh(x=1)
    assert mesh.submesh(x=1).submesh(y=2).devices == names(places[1, 2])


def test_no_such_part() -> None:
    mesh = Mesh(x=2, y=3)
    with pytest.raises(ShardwrightValueError, match="SW0102"):
        mesh.submesh(z=0)
    for at in (2, -1, slice(5, 9)):
        with pytest.raises(ShardwrightValueError, match="SW0101"):
            mesh.submesh(x=at)
