"""Our own programs on JAX's devices: stored ones, the Python API, training, saving. Expected values are not ours."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import gpu_child
import ml_dtypes
import numpy as np
import pytest
from stored_programs import RUNNABLE

import shardwright as sw
from shardwright.compiler.layouts.memory import memory_of
from shardwright.diagnostics import ShardwrightProcessError

pytestmark = pytest.mark.peers
jax: Any = pytest.importorskip("jax")

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

on_jax = partial(sw.Mesh, devices="jax")


@pytest.mark.parametrize("name", RUNNABLE)
def test_stored_programs(name: str) -> None:
    """Each device has its part of what JAX computed on one."""
    gpu_child.program(on_jax, name)


def test_places_of_extremes_are_written_for_cpus() -> None:
    compiled, _ = gpu_child.program(on_jax, "argmin_ties")
    assert "reducer" not in compiled.source


def test_the_python_api() -> None:
    gpu_child.api(on_jax, 1)


def test_tensors_move_between_here_and_there() -> None:
    whole = np.arange(8.0)
    there = sw.Mesh(y=4, devices=jax.devices()[4:])
    x = sw.relayout(whole, sw.Layout(["x"], on_jax(x=2)))
    for mesh in (there, sw.Mesh(z=8), on_jax(x=2)):
        moved = sw.relayout(x * 2, sw.Layout(mesh.axis_names, mesh))
        assert moved.mesh == mesh
        assert sw.relayout(moved + 1, x.layout).numpy().tolist() == (whole * 2 + 1).tolist()
    shards = held_array(sw.relayout(whole, sw.Layout(["y"], there)) + 1)
    assert [shard.device for shard in shards] == jax.devices()[4:]


def held_array(x: Any) -> Any:
    """The shards that JAX has of a tensor."""
    held: Any = x.held
    return held.array(None, None).addressable_shards


def test_meshes_are_told_apart() -> None:
    assert on_jax(x=2) == on_jax(x=2)
    assert len({on_jax(x=2), sw.Mesh(x=2), sw.Mesh(x=2, devices=jax.devices()[:2])}) == 3
    part = on_jax(x=2, y=4).submesh(x=1)
    x = sw.relayout(np.arange(4), sw.Layout(["y"], part))
    assert [shard.device for shard in held_array(x + 1)] == jax.devices()[4:]


def test_what_is_given_may_change_afterwards() -> None:
    given = np.arange(8.0)
    x = sw.relayout(given, sw.Layout([None], on_jax(x=2)))
    part = np.arange(4, dtype=np.int64)
    packed = sw.pack([part, part], sw.Layout([None], on_jax(x=2)))
    given[:] = 0
    part[:] = 9
    assert (x + 1).numpy().tolist() == list(range(1, 9))
    assert (packed * 2).numpy().tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int4", "int8", "uint16", "int32", "int64", "bfloat16", "float16", "float32", "float64", "complex128"],
)
def test_types_stay(dtype: str) -> None:
    """Of 64 bits, too, which JAX by itself makes 32."""
    numbers, kind = np.arange(6) if dtype != "bool" else np.arange(6) % 2, np.dtype(getattr(ml_dtypes, dtype, dtype))
    x = sw.relayout(numbers.astype(kind), sw.Layout(["x"], on_jax(x=2)))
    assert x.dtype == x.numpy().dtype == kind
    again = sw.concat([x, x])
    assert again.dtype == kind
    assert again.numpy().astype(np.complex128).tolist() == [*numbers, *numbers]
    if dtype in ("int64", "float64"):
        exact = sw.relayout(np.full(4, 2**53 - 1, dtype), sw.Layout(["x"], on_jax(x=2)))
        assert (exact - 1).numpy().tolist() == [2**53 - 2] * 4


def test_a_model_trains_as_in_numpy(tmp_path: Path) -> None:
    """Linear regression with momentum and a dataset of batches; then saved, and loaded on two other devices."""
    mesh = on_jax(batch=2, model=2)
    rng = np.random.default_rng(0)
    inputs, weights = rng.standard_normal((32, 8)), rng.standard_normal((8, 4))
    targets = inputs @ weights
    variable = sw.Variable(np.zeros((8, 4)), layout=sw.Layout([None, "model"], mesh), name="weights")
    optimizer = sw.optimizers.SGD(0.0625, momentum=0.75)
    x, y = sw.relayout(inputs, sw.Layout(["batch"], mesh)), sw.relayout(targets, sw.Layout(["batch", "model"], mesh))

    @sw.function
    def step(x: Any, y: Any) -> Any:
        with sw.GradientTape() as tape:
            loss = sw.mean(sw.square(x @ variable - y))
        optimizer.apply_gradients([(tape.gradient(loss, variable), variable)])
        return loss

    losses = [float(step(x, y)) for _ in range(30)]
    w, velocity, expected = np.zeros((8, 4)), np.zeros((8, 4)), list[float]()
    for _ in range(30):
        wrong = inputs @ w - targets
        expected.append(float((wrong**2).mean()))
        velocity = 0.75 * velocity + inputs.T @ wrong * (2 / wrong.size)
        w = w - 0.0625 * velocity
    np.testing.assert_allclose(losses, expected, rtol=1e-9)
    np.testing.assert_allclose(variable.numpy(), w, rtol=1e-9)

    predict = sw.function(lambda x: x @ variable)
    predict(x)
    module = sw.Module()
    module.predict, module.variable = predict, variable
    sw.save(module, tmp_path / "model")
    loaded: Any = sw.load(tmp_path / "model", mesh=sw.Mesh(batch=1, model=2, devices=jax.devices()[6:]))
    np.testing.assert_allclose(np.asarray(loaded.predict(inputs)), inputs @ w, rtol=1e-9)
    assert {shard.device for shard in held_array(loaded.predict(inputs))} == set(jax.devices()[6:])
    checkpoint = sw.Checkpoint(weights=variable)
    path = checkpoint.save(str(tmp_path / "checkpoint"))
    variable.assign(sw.zeros_like(variable.value))
    checkpoint.restore(path)
    np.testing.assert_allclose(variable.numpy(), w, rtol=1e-9)


@pytest.mark.parametrize("name", ["low_level", "embedding", "single_device"])
def test_examples_print_the_same(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Examples whose meshes are JAX's; rounding differs in the last digits that they print."""
    printed = list[str]()
    for devices in ((), ("jax",)):
        with monkeypatch.context() as patch:
            if devices:
                patch.setattr(sw.Mesh, "__init__", _made_of_jax(sw.Mesh.__init__))
            assert runpy.run_path(str(EXAMPLES / f"train_{name}.py"))["main"]() < (
                1 if name == "single_device" else 1e-5
            )
        printed.append(capsys.readouterr().out)
    here, there = (text.splitlines() for text in printed)
    assert len(here) == len(there)
    assert [line for line in here if "loss" in line] == [line for line in there if "loss" in line]


def _made_of_jax(init: Callable[..., None]) -> Callable[..., None]:
    def made(self: sw.Mesh, dims: Any = (), devices: Any = None, **options: Any) -> None:
        init(self, dims, "jax", **options)

    return made


def test_what_there_is_not_is_said() -> None:
    x = np.arange(16.0)
    with pytest.raises(ValueError, match=r"SW0572.*has 16 devices, and JAX has 8") as caught:
        sw.relayout(x, sw.Layout(["x"], on_jax(x=16)))
    assert "device_count=16" in str(caught.value)
    with pytest.raises(ValueError, match=r"SW0116.*'jacks'"):
        sw.Mesh(x=2, devices="jacks")
    y = sw.relayout(x, sw.Layout(["x"], on_jax(x=8)))
    step = sw.function(lambda x: sw.sum(x)).trace(y)
    compiled = step.compile()
    assert compiled.peak_bytes > 0
    assert "stablehlo.all_reduce" in compiled.source
    assert step.partition().predicted_bytes == 2 * 7 / 8 * 8
    with pytest.raises(ValueError, match="SW0574"):
        compiled.ledger.as_dict()


def test_devices_of_other_processes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another process of a job would see the devices of this one."""
    monkeypatch.setattr(jax, "process_index", lambda: 1)
    with pytest.raises(ValueError, match=r"SW0573.*4 of the 4 devices"):
        sw.relayout(np.arange(4.0), sw.Layout(["elsewhere"], on_jax(elsewhere=4)))


def test_what_jax_refuses_is_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Out of memory, for one, at the user's line."""
    x = sw.relayout(np.arange(16.0), sw.Layout(["x"], on_jax(x=8)))

    def refuse(*_: Any, **__: Any) -> None:
        raise jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory\nwhile allocating")

    monkeypatch.setattr(jax, "device_put", refuse)
    with pytest.raises(ShardwrightProcessError, match=r"SW0575.*RESOURCE_EXHAUSTED"):
        sw.relayout(np.arange(16.0), x.layout)


@pytest.mark.parametrize("microbatches", [1, 2, 4])
def test_a_pipeline_whose_rows_are_split(microbatches: int) -> None:
    """Gradients cannot wait in parts there: they are reduced as they are made."""
    meshes = [on_jax(batch=2), sw.Mesh(batch=4, devices=jax.devices()[4:])]
    rows = [sw.Layout(["batch", None], mesh) for mesh in meshes]
    weights = [sw.ones((4, 4), layout=sw.Layout([], mesh)) for mesh in meshes]
    stages = [lambda w, x: x @ w] * 2
    train = sw.distribute.Pipeline(stages, lambda y, wanted: sw.mean((y - wanted) ** 2), rows, microbatches)
    given = np.ones((16, 4), np.float32)
    loss, gradients = train(weights, given, 0 * given)
    assert float(loss) == 256
    for gradient in gradients:  # the mean of 64 squares of 16, each by four weights of four columns
        np.testing.assert_allclose(gradient.numpy(), np.full((4, 4), 32))


def test_empty_arrays_are_split_as_well() -> None:
    x = sw.relayout(np.zeros((0, 8), np.float32), sw.Layout([None, "x"], on_jax(x=4)))
    assert (x + 1).numpy().shape == (0, 8)


def test_parts_of_an_axis_that_follow_each_other_are_one() -> None:
    mesh = sw.Mesh(x=8, devices="jax")
    for axes in (["x:(1)2", "x:(2)2"], ["x:(1)2", "x:(2)2", "x:(4)2"], ["x:(2)2", "x:(1)2"]):
        x = sw.relayout(np.arange(64.0).reshape(8, 8), sw.Layout([axes], mesh))
        np.testing.assert_array_equal(sw.function(lambda x: x.T @ x)(x), np.asarray(x).T @ np.asarray(x))


@pytest.mark.parametrize("devices", [4, 6, 8])
@pytest.mark.parametrize("dims", [["x", None], [None, "x"]])
def test_a_factor_that_comes_part_by_part(dims: list[str | None], devices: int) -> None:
    """Under a limit nothing is gathered: parts are permuted, one by one."""
    mesh, size = on_jax(x=devices), 24 * devices
    left, right = (sw.Layout(each, mesh) for each in (["x", None], dims))
    shapes = (sw.TensorSpec((size, size), "float32", layout=layout) for layout in (left, right))
    traced = sw.function(lambda a, b: a @ b).trace(*shapes)
    gathered = memory_of(traced.lay_out().partition().module).peak
    stage = traced.lay_out(memory_limit=gathered - 1).partition()
    text = stage.to_stablehlo()
    assert "all_gather" not in text
    assert text.count("collective_permute") >= devices - 1
    given = np.random.default_rng(0).integers(-4, 5, (2, size, size)).astype("float32")
    np.testing.assert_array_equal(stage.compile()(*given).numpy(), given[0] @ given[1])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_random_numbers_have_the_same_bits_and_are_computed_of_them_to_rounding(dtype: str) -> None:
    """What the pages say: bits, whole numbers and floats up to 1 exactly; normals and floats between bounds nearly."""
    random, shape, seed = sw.random, (4096,), (1, 2)

    def both(draw: Any) -> tuple[Any, Any]:
        ours, theirs = (draw(sw.Layout(["x"], sw.Mesh({"x": 4}, devices=on))) for on in (None, "jax"))
        return np.asarray(ours), np.asarray(theirs)

    exact = [
        lambda layout: random.stateless_random_uniform_full_int(shape, seed, layout=layout),
        lambda layout: random.stateless_random_uniform(shape, seed, 0, 100, "int32", layout=layout),
        lambda layout: random.stateless_random_uniform(shape, seed, dtype=dtype, layout=layout),
    ]
    for draw in exact:
        np.testing.assert_array_equal(*both(draw))
    near = [
        lambda layout: random.stateless_random_normal(shape, seed, dtype=dtype, layout=layout),
        lambda layout: random.stateless_random_truncated_normal(shape, seed, dtype=dtype, layout=layout),
        lambda layout: random.stateless_random_uniform(shape, seed, -2.5, 7.1, dtype, layout=layout),
    ]
    for draw in near:
        ours, theirs = both(draw)
        few = 128 * np.finfo(dtype).eps  # far out an error of the logarithm counts several times
        np.testing.assert_allclose(theirs, ours, rtol=few, atol=few)
