"""What TensorFlow and Keras save, imported: equal values, or a refusal that is listed here; never other values."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from saved_models.making import names

pytestmark = pytest.mark.peers

SUPPORT = Path(__file__).parents[2] / "support"

REFUSED = {
    "augmentation_in_inference": "SW0885",
    "random_crop_in_inference": "SW0885",
    "string_lookup": "SW0885",
    "string_lookup_one_hot": "SW0885",
    "string_lookup_with_several_unknown": "SW0885",
    "names_of_classes": "SW0885",
    "integer_lookup": "SW0885",
    "integer_lookup_counts": "SW0885",
    "text_vectorization": "SW0885",
    "text_vectorization_of_any_length": "SW0885",
    "text_vectorization_multi_hot": "SW0885",
    "text_vectorization_tf_idf": "SW0885",
    "text_vectorization_of_pairs": "SW0885",
    "text_vectorization_of_letters": "SW0885",
    "category_encoding": "SW0890",
    "hashing": "SW0885",
    "hashing_of_numbers_with_salt": "SW0885",
    "hashed_crossing": "SW0885",
    "lu_and_tridiagonal": "SW0885",
    "segments_by_data": "SW0890",
    "sorts": "SW0885",
    "numbers_of_all_kinds": "SW0885",
    "slices": "SW0890",
    "connectionist_loss": "SW0885",
    "words": "SW0885",
    "parsed_numbers": "SW0885",
    "table_of_words": "SW0885",
    "table_with_unknown_words": "SW0885",
    "ragged_words": "SW0885",
    "sparse_inputs": "SW0885",
    "chosen_rows": "SW0885",
    "step_of_an_embedding_by_adagrad": "SW0885",
}
"""The models that are refused, and what the error says."""


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
