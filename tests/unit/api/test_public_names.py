"""What the public modules show is what they name, and every name that a program may have used still works."""

from __future__ import annotations

from typing import Any

import pytest

import shardwright
from shardwright.frontends import arrays

NAMESPACES = ("linalg", "fft", "nn", "random", "metrics", "optimizers", "distribute", "dtensor")

PUBLIC = """
    Checkpoint CheckpointManager DTensor Diagnostic GradientTape Layout LayoutMap Mesh Module ShardwrightError
    ShardwrightTypeError ShardwrightValueError TensorSpec Variable XlaOpSharding __array_api_version__
    __array_namespace_info__ __version__ abs acos acosh add all any arange argmax argmin argsort asarray asin asinh
    astype atan atan2 atanh batch_norm bfloat16 bitwise_and bitwise_invert bitwise_left_shift bitwise_or
    bitwise_right_shift bitwise_xor bool broadcast_arrays broadcast_to can_cast ceil checkpoint clip complex128
    complex64 concat cond conj constraint copysign cos cosh count_nonzero create_dtensor_iterable cumprod cumsum
    cumulative_prod cumulative_sum custom_gradient device diff distribute divide dtensor e einsum empty empty_like
    equal erf exp expand_dims expm1 eye fft fill finfo flip float16 float32 float64 floor floor_divide from_dlpack
    from_graph from_jax from_saved_model full full_like function gather grad greater greater_equal hypot iinfo imag
    inf int16 int32 int64 int8 isdtype isfinite isin isinf isnan less less_equal linalg linspace list_variables load
    load_mlir load_variables log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor matmul
    matrix_transpose max maximum mean meshgrid metrics min minimum moveaxis multiply name_scope nan negative newaxis
    nextafter nn nonzero not_equal one_hot ones ones_like optimizers pack permute_dims pi positive pow prod random
    real reciprocal relayout relayout_like remainder repeat reshape result_type roll round rsqrt save scan
    scatter_add scatter_max scatter_min scatter_update searchsorted segment_max segment_min segment_sum sign signbit
    sin sinh sort sqrt square squeeze stack std stop_gradient subtract sum switch take take_along_axis tan tanh
    tensordot tile to_graph_def to_saved_model top_k tril triu trunc uint16 uint32 uint64 uint8 unique_all
    unique_counts unique_inverse unique_values unpack unstack value_and_grad var vecdot verify_checkpoint where
    while_loop zeros zeros_like
""".split()


def shown(module: Any) -> list[str]:
    """The names of a module that do not begin with an underscore."""
    return [name for name in dir(module) if not name.startswith("_")]


@pytest.mark.parametrize("name", NAMESPACES)
def test_namespaces_show_what_they_name(name: str) -> None:
    namespace = getattr(shardwright, name)
    assert shown(namespace) == sorted(namespace.__all__)
    assert all(hasattr(namespace, public) for public in namespace.__all__)


def test_the_room_of_arrays_shows_what_it_names() -> None:
    assert dir(arrays) == sorted(arrays.__all__)


@pytest.mark.parametrize("name", ["linalg", "fft", "nn", "random"])
def test_functions_of_namespaces_say_what_they_do(name: str) -> None:
    namespace = getattr(shardwright, name)
    functions = [getattr(namespace, public) for public in namespace.__all__]
    assert [function for function in functions if callable(function) and not function.__doc__] == []


def test_no_public_name_is_lost() -> None:
    assert len(PUBLIC) == 226
    assert set(PUBLIC) <= set(shardwright.__all__)
    assert len(set(shardwright.__all__)) == len(shardwright.__all__)
    assert dir(shardwright) == sorted(shardwright.__all__)


def test_every_public_name_leads_somewhere() -> None:
    assert [name for name in PUBLIC if not hasattr(shardwright, name)] == []
