"""What TensorFlow and Keras save, imported: equal values, or a refusal that is listed here; never other values."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from saved_models.making import differences, names
from saved_models.storing import calls, unpacked

import shardwright as sw

pytestmark = pytest.mark.peers

SUPPORT = Path(__file__).parents[2] / "support"

REFUSED = {
    "augmentation_in_inference": "ImageProjectiveTransformV3, StatelessRandomGetKeyCounter, StatelessRandomUniformV2",
    "random_crop_in_inference": "StatelessRandomGetKeyCounter, StatelessRandomUniformV2",
    "lu_and_tridiagonal": "Lu, TridiagonalSolve",
    "segments_by_data": "its number of segments must be known",
    "numbers_of_all_kinds": "BesselI0e, Betainc, CumulativeLogsumexp, Igamma, Ndtri",
    "slices": "its begin of a range must be known",
    "old_recurrent_layer": "TensorArrayGatherV3, TensorArrayReadV3, TensorArrayScatterV3",
    "step_of_an_embedding_by_adagrad": "holds Where, which runs on the host",
}
"""The models that are refused, and what the error says."""


def test_most_are_read():
    assert len(names()) - len(REFUSED) >= 126


@pytest.fixture(scope="module")
def verdicts():
    """Of all models, from a process of its own: other tests have loaded Keras for another library."""
    pytest.importorskip("tensorflow")
    environment = os.environ | {"PYTHONPATH": str(SUPPORT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "saved_models"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment, timeout=1800)
    return {key: value for line in done.stdout.splitlines() for key, value in json.loads(line).items()}


@pytest.mark.parametrize("name", names())
def test_a_saved_model(name, verdicts):
    if name in REFUSED:
        assert verdicts[name].startswith("refused: ")
        assert REFUSED[name] in verdicts[name]
    else:
        assert verdicts[name] == "equal"


def test_tensorflow_opens_what_keeps_its_names(tmp_path):
    tf = pytest.importorskip("tensorflow")
    program = sw.from_saved_model(unpacked() / "old_branches")
    given, due = calls("old_branches")[-1]
    sw.to_saved_model(program.trace(**given), tmp_path / "model", signature="score")
    signature = tf.saved_model.load(str(tmp_path / "model")).signatures["score"]
    found = signature(**{name: tf.constant(value) for name, value in given.items()})
    assert differences({key: value.numpy() for key, value in found.items()}, due) == []
