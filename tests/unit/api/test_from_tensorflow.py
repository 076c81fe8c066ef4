"""Coming from TensorFlow: each public name of `tf.experimental.dtensor` (2.21) works, or says what to use."""

from __future__ import annotations

import re
from functools import reduce
from pathlib import Path

import numpy as np
import pytest

import shardwright as sw
from shardwright import dtensor

PAGE = Path(__file__).resolve().parents[3] / "docs" / "from-tensorflow.md"
NAMES = """
    DTensorCheckpoint DTensorDataset DVariable Layout MATCH Mesh UNSHARDED barrier call_with_layout check_layout
    client_id copy_to_mesh create_distributed_mesh create_mesh create_tpu_mesh default_mesh device_name
    enable_save_as_bf16
    fetch_layout full_job_name get_default_mesh heartbeat_enabled initialize_accelerator_system initialize_multi_client
    initialize_tpu_system is_dtensor job_name jobs local_devices name_based_restore name_based_save num_clients
    num_global_devices num_local_devices pack preferred_device_type relayout relayout_like run_on sharded_save
    shutdown_accelerator_system shutdown_tpu_system unpack
""".split()
ROWS = dict(re.findall(r"^\| `(\w+)` \| (.*) \|$", PAGE.read_text(), re.MULTILINE))


def resolved(text: str) -> list[object]:
    """What a text names of this package: all of it exists."""
    return [reduce(getattr, path.split("."), sw) for path in re.findall(r"shardwright\.([A-Za-z_][\w.]*\w)", text)]


def test_there_are_as_many_as_in_tensorflow() -> None:
    assert len(NAMES) == 43
    assert list(ROWS) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_name_works_or_says_what_to_use(name: str) -> None:
    assert resolved(ROWS[name]) or "shardwright launch" in ROWS[name] or name in ("MATCH", "barrier")
    if name in dtensor.__all__:
        assert getattr(dtensor, name) is not None
        return
    with pytest.raises(AttributeError, match="SW0516") as caught:
        getattr(dtensor, name)
    assert isinstance(caught.value, sw.ShardwrightError)
    help_text = caught.value.diagnostics[0].help or ""
    resolved(help_text)
    assert help_text.replace("`", "") == ROWS[name].replace("`", "")


def test_other_names_are_listed() -> None:
    with pytest.raises(AttributeError, match=r"(?s)SW0516.*its names are UNSHARDED, DTensor"):
        _ = dtensor.nothing_of_the_kind


def test_layouts_are_fetched_and_checked() -> None:
    mesh = dtensor.create_mesh([("x", 2)], "rows")
    assert (mesh.name, mesh.size) == ("rows", 2)
    rows, whole = dtensor.Layout(["x", dtensor.UNSHARDED], mesh), dtensor.Layout.replicated(mesh, rank=2)
    x = dtensor.relayout(np.ones((4, 2)), rows)
    assert dtensor.is_dtensor(x)
    assert dtensor.is_dtensor(dtensor.DVariable(x))
    assert not dtensor.is_dtensor(np.ones(2))
    assert dtensor.fetch_layout(x) == rows
    dtensor.check_layout(x, rows)
    with pytest.raises(ValueError, match="SW0583"):
        dtensor.check_layout(x, whole)
    with pytest.raises(ValueError, match="SW0502"):
        dtensor.fetch_layout(np.ones(2))
    assert dtensor.fetch_layout(dtensor.copy_to_mesh(x, whole)) == whole


def test_clients_are_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (dtensor.num_clients(), dtensor.client_id()) == (1, 0)
    monkeypatch.setenv("DTENSOR_NUM_CLIENTS", "4")
    monkeypatch.setenv("DTENSOR_CLIENT_ID", "3")
    assert (dtensor.num_clients(), dtensor.client_id()) == (4, 3)
