"""Whole models that TensorFlow saved, which show what single operations do not."""

import pytest
from saved_models.making import differences
from saved_models.storing import NAMES, calls, unpacked

import shardwright as sw


@pytest.mark.parametrize("name", NAMES)
def test_as_stored(name):
    program = sw.from_saved_model(unpacked() / name)
    for given, due in calls(name):
        assert differences(program(**given), due) == []
