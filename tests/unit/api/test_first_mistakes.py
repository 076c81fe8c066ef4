"""What newcomers from NumPy write first, and what they are told."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import shardwright as sw

MESH = sw.Mesh(batch=4)
ROWS = sw.Layout(["batch"], MESH)
WHOLE = np.arange(32, dtype="float32").reshape(8, 4)
X = sw.relayout(WHOLE, ROWS)


@pytest.mark.parametrize("layout", [None, 3, ["batch", None], "batch", WHOLE])
def test_what_is_no_layout(layout: Any) -> None:
    calls: list[Any] = [
        lambda: sw.relayout(WHOLE, layout),
        lambda: sw.relayout(X, layout),
        lambda: sw.pack([WHOLE] * 4, layout),
        lambda: sw.function(lambda x: sw.relayout(x, layout))(X),
    ]
    for call in calls:
        with pytest.raises(sw.ShardwrightTypeError, match="SW0515") as caught:
            call()
        assert "test_first_mistakes.py" in str(caught.value)


def test_lists_are_to_be_wrapped() -> None:
    for call in (lambda: sw.relayout(WHOLE, ["batch", None]), lambda: sw.zeros((8, 4), layout=["batch", None])):  # pyright: ignore
        with pytest.raises(TypeError, match=r"wrap it: shardwright.Layout\(\['batch', None\], mesh\)"):
            call()


def test_traced_values_have_no_elements() -> None:
    with pytest.raises(TypeError, match="SW0503"):
        sw.function(lambda x: x.numpy())(X)


MASKS: dict[str, Callable[[], Any]] = {
    "elements": lambda: X > 0,
    "rows": lambda: (X > 0)[:, 0],
    "array": lambda: WHOLE > 0,
    "bool": lambda: True,
    "columns": lambda: (slice(None), X[0] > 0),
}


@pytest.mark.parametrize("name", MASKS)
def test_masks_are_refused_with_a_way_out(name: str) -> None:
    mask = MASKS[name]()
    for call in (lambda: X[mask], lambda: sw.function(lambda x: x[mask])(X)):
        with pytest.raises(TypeError, match="SW0514") as caught:
            call()
        assert "boolean mask" in str(caught.value)
        assert "shardwright.where" in str(caught.value)


def test_arrays_that_are_no_positions_are_refused() -> None:
    with pytest.raises(TypeError, match="an array of float64 cannot be an index"):
        X[np.array([0.0, 1.0])]


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("sum", "use shardwright.sum(x, ...)"),
        ("reshape", "use shardwright.reshape(x, ...)"),
        ("softmax", "use shardwright.nn.softmax(x, ...)"),
        ("item", "float(x)"),
        ("shap", "use x.shape"),
        ("copy", "the tensor itself"),
        ("index_put", "x.at[places].set(values)"),
        ("qqqqqq", "dir(shardwright)"),
    ],
)
def test_methods_that_are_functions(name: str, says: str) -> None:
    for call in (lambda: getattr(X, name), lambda: sw.function(lambda x: getattr(x, name))(X)):
        with pytest.raises(AttributeError) as caught:
            call()
        assert isinstance(caught.value, sw.ShardwrightError)
        assert "SW0516" in str(caught.value)
        assert says in str(caught.value)
    assert not hasattr(X, name)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("pmap", "shardwright.function"),
        ("chunk", "use shardwright.split"),
        ("concatenate", "use shardwright.concat"),
        ("relu", "shardwright.nn.relu"),
        ("qqqqqq", "dir(shardwright)"),
    ],
)
def test_functions_that_there_are_not(name: str, says: str) -> None:
    with pytest.raises(AttributeError, match="SW0516") as caught:
        getattr(sw, name)
    assert says in str(caught.value)


def test_private_names_are_plainly_missing() -> None:
    for thing in (X, sw):
        with pytest.raises(AttributeError, match="no attribute '_nothing'"):
            thing._nothing  # noqa: B018  # pyright: ignore


def test_dlpack_refuses_what_it_has_no_type_for() -> None:
    with pytest.raises(BufferError, match="SW0506") as caught:
        np.from_dlpack(sw.astype(X, sw.bfloat16))
    assert "shardwright.astype" in str(caught.value)


def test_arrays_of_others_by_dlpack() -> None:
    taken = sw.from_dlpack(WHOLE)
    assert type(taken) is sw.Tensor
    assert np.shares_memory(taken, WHOLE)
    assert not np.shares_memory(sw.from_dlpack(WHOLE, copy=True), WHOLE)
    assert sw.from_dlpack(X) is X
    assert sw.from_dlpack(WHOLE, layout=ROWS).layout == X.layout
    with pytest.raises(TypeError, match="SW0507"):
        sw.from_dlpack([1, 2])
    with pytest.raises(ValueError, match="SW0517"):
        sw.from_dlpack(WHOLE, device="gpu")


def test_the_device_is_this_process() -> None:
    assert X.device == "cpu"
    assert X.to_device(X.device) is X
    assert sw.function(lambda x: x.to_device("cpu"))(X).layout == X.layout
    for call in (lambda: X.to_device("gpu"), lambda: X.to_device("cpu", stream=1)):
        with pytest.raises(ValueError, match="SW0517"):
            call()
