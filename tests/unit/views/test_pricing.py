"""Seconds before anything runs: each term by a closed form, on links and devices that are given."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import shardwright as sw
from shardwright.compiler.answers import Price
from shardwright.compiler.stages import Partitioned
from shardwright.diagnostics import ShardwrightValueError
from shardwright.tools.main import main

MESH = sw.Mesh(data=4, model=2)
SLOW, FAST = sw.Link(latency=1e-3, bandwidth=1e6), sw.Link(latency=1e-5, bandwidth=1e8)
TOPOLOGY = sw.Topology({"data": SLOW, "model": FAST}, flops=1e9, memory=1e7)
ROOT = Path(__file__).resolve().parents[3]
MLP = ROOT / "tests" / "lit" / "run" / "mlp.mlir"


def spec(*shape: int, axes: list[str | tuple[str, ...] | None]) -> sw.TensorSpec:
    return sw.TensorSpec(shape, "float32", layout=sw.Layout(axes, MESH))


def price(function: object, *specs: sw.TensorSpec, topology: sw.Topology = TOPOLOGY) -> Price:
    return sw.function(function).trace(*specs).partition().price(topology)  # pyright: ignore


def test_a_product_takes_as_long_as_its_arithmetic_or_its_memory() -> None:
    rows, whole = spec(64, 32, axes=["data"]), spec(32, 16, axes=[None])
    found = price(lambda x, w: x @ w, rows, whole)
    # On each device a quarter of the rows: 16 by 32, times 32 by 16.
    assert found.flops == 2 * 16 * 32 * 16
    assert found.touched_bytes == 4 * (16 * 32 + 32 * 16 + 16 * 16)
    assert found.compute_seconds == pytest.approx(found.touched_bytes / TOPOLOGY.memory)
    slow = sw.Topology(TOPOLOGY.links, flops=1e3, memory=1e12)
    assert price(lambda x, w: x @ w, rows, whole, topology=slow).compute_seconds == pytest.approx(found.flops / 1e3)


def test_elementwise_chains_touch_memory_at_their_ends() -> None:
    found = price(lambda x: sw.tanh(sw.exp(x * 2) + 1), spec(64, 32, axes=[("data", "model")]))
    assert found.flops == 4 * 8 * 32
    assert found.touched_bytes == 2 * 4 * 8 * 32  # x is read, the result written
    assert found.collective_seconds == 0
    assert found.bytes_by_axes == {}


@pytest.mark.parametrize(
    ("axes", "link", "size"), [(["data"], SLOW, 4), ([None, "model"], FAST, 2)], ids=["slow link", "fast link"]
)
def test_a_sum_goes_up_and_down_its_axis(axes: list[str | tuple[str, ...] | None], link: sw.Link, size: int) -> None:
    found = price(lambda x: sw.sum(x), spec(64, 32, axes=axes))
    rounds = {4: 2, 2: 1}[size]  # a tree of so many steps, up and down
    sent = 2 * 4 * (size - 1) / size
    assert found.bytes_by_axes == {"data" if size == 4 else "model": sent}
    assert found.collective_seconds == pytest.approx(2 * rounds * link.latency + sent / link.bandwidth)
    assert found.seconds == found.compute_seconds + found.collective_seconds


def test_a_gather_over_two_axes_goes_over_the_slow_one_while_there_is_little() -> None:
    whole = sw.Layout.replicated(MESH, rank=1)
    found = price(lambda x: sw.relayout(x, whole), spec(4096, axes=[("data", "model")]))
    part = 4 * 4096 / 8
    over_data = 2 * SLOW.latency + 3 * part / SLOW.bandwidth
    over_model = FAST.latency + 4 * part / FAST.bandwidth
    assert found.collective_seconds == pytest.approx(over_data + over_model)


MESSAGES = sw.Topology({"x": sw.Link(100.0, 1e30), "y": sw.Link(1.0, 1e40)}, flops=1e30, memory=1e30)
"""Seconds are messages: a hundred along x, and one along y."""


def relayout(source: list[Any], target: list[Any], shape: tuple[int, ...], mesh: sw.Mesh) -> Partitioned:
    x = sw.TensorSpec(shape, "float32", layout=sw.Layout(source, mesh))
    return sw.function(lambda x: sw.relayout(x, sw.Layout(target, mesh))).trace(x).partition()


def test_an_exchange_goes_along_the_axes_that_each_box_crosses() -> None:
    """
    Of eight parts along x and y, a device needs the four of one half: one of two devices has one of them.

    What it lacks comes along x, but for a part from its neighbour along y.
    """
    stage = relayout([("x", "y")], ["y"], (64,), sw.Mesh(x=4, y=2))
    assert [row.kind for row in stage.predicted] == ["exchange"]
    found = stage.price(MESSAGES)
    part = 4 * 8  # bytes
    assert found.bytes_by_axes == {"x": 3 * part, "y": part / 2}
    rounds = 4  # as many as some device lacks parts, of 3.5 on average, 3 along x
    assert found.collective_seconds == pytest.approx(rounds * (3 * 100 + 0.5 * 1) / 3.5)


def test_an_exchange_takes_its_rounds_and_no_message_to_each_device() -> None:
    stage = relayout(["x"], ["y"], (64,), sw.Mesh(x=4, y=4))
    assert [row.kind for row in stage.predicted] == ["collective_permute"]
    assert stage.price(MESSAGES).collective_seconds == pytest.approx(100)
    stage = relayout(["x"], ["y"], (64,), sw.Mesh(x=8, y=4))
    assert [row.kind for row in stage.predicted] == ["exchange"]
    found = stage.price(MESSAGES)  # of the two parts of its quarter of rows some device has none
    assert found.collective_seconds == pytest.approx(2 * 100)
    assert found.bytes_by_axes == {"x": 4 * (16 - 2)}  # one of eight devices along x has half of it


def shifted(x: Any) -> Any:
    """Each element from the one before it."""
    return sw.pad(x[:-1], ((1, 0),))


def test_neighbours_take_a_message_each_however_many_devices_there_are() -> None:
    mesh = sw.Mesh(x=8, y=8)

    def pooled(x: Any) -> Any:
        return sw.nn.max_pool1d(x, 3, 1, "SAME")

    for function, messages, shape in ((shifted, 1, (64,)), (pooled, 2, (1, 64, 1))):
        for axis in ("x", "y"):
            specs = [axis if size == 64 else None for size in shape]
            x = sw.TensorSpec(shape, "float32", layout=sw.Layout(specs, mesh))
            stage = sw.function(function).trace(x).partition()
            assert [row.kind for row in stage.predicted if row.bytes_per_device] == ["window"]
            found = stage.price(MESSAGES)
            assert found.collective_seconds == pytest.approx(messages * MESSAGES.link(axis).latency)
            assert found.bytes_by_axes == {axis: 4 * messages * 7 / 8}  # the first, or the last, has no neighbour


def test_a_shift_over_two_axes_crosses_the_major_one_where_their_blocks_meet() -> None:
    x = sw.TensorSpec((64,), "float32", layout=sw.Layout([("x", "y")], sw.Mesh(x=2, y=4)))
    found = sw.function(shifted).trace(x).partition().price(MESSAGES)
    assert found.bytes_by_axes == pytest.approx({"x": 4 * 1 / 8, "y": 4 * 6 / 8})  # of seven borders one is x's


def test_blocks_that_go_round_are_not_free() -> None:
    """Both axes stay with their dim, where they change places."""
    stage = relayout([("x", "y")], [("y", "x")], (64,), sw.Mesh(x=4, y=2))
    assert [(row.kind, row.axes) for row in stage.predicted] == [("collective_permute", ("x", "y"))]
    found = stage.price(MESSAGES)
    assert found.collective_seconds == pytest.approx(100)
    assert found.bytes_by_axes == {"x, y": 4 * 8 * 6 / 8}  # two of eight devices have what they need


def test_a_part_of_an_axis_has_its_link_and_its_own_size() -> None:
    mesh = sw.Mesh(x=8, y=2)
    for source, target, messages in (["x", "x:(1)2", 2], ["x:(2)4", None, 2], ["x:(1)2", None, 1]):
        stage = relayout([source], [target], (64,), mesh)
        assert stage.price(MESSAGES).collective_seconds == pytest.approx(100 * messages)
    assert [row.axes for row in relayout(["x"], ["x:(1)2"], (64,), mesh).predicted] == [("x:(2)4",)]


def test_parts_of_axes_whose_names_nobody_would_write(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.mlir"
    path.write_text("""
sdy.mesh @mesh = <["my axis"=8]>
func.func @main(%a: tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"my axis":(1)2}]>})
    -> (tensor<64xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) { return %a : tensor<64xf32> }
""")
    assert main(["price", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes_by_axes"] == {"my axis": 128.0}


def test_loops_count_their_rounds() -> None:
    @sw.function(static=["rounds"])
    def repeated(x: sw.Array, rounds: int) -> sw.Array:
        carried, _ = sw.scan(lambda c, _: (sw.tanh(c @ sw.matrix_transpose(c) @ c), None), x, length=rounds)
        return carried

    square = spec(8, 8, axes=[None])
    once, often = (repeated.trace(square, rounds).partition().price(TOPOLOGY) for rounds in (1, 10))
    products = 2 * 2 * 8 * 8 * 8
    assert often.flops - once.flops == 9 * (products + 64 + 2)  # tanh of each element, the counter and its test
    assert often.data()["counted_once"] == []


def test_rounds_that_nobody_knows_are_said_to_count_once() -> None:
    def until(x: sw.Array) -> sw.Array:
        return sw.while_loop(lambda c: sw.sum(c) < 100, lambda c: c * 2, x)

    found = price(until, spec(64, 32, axes=["data"]))
    assert any("while" in each for each in found.data()["counted_once"])
    assert "counted as if it ran once" in str(found)


def test_what_is_held_is_what_each_device_holds() -> None:
    found = price(lambda x: sw.exp(x), spec(64, 32, axes=["data", "model"]))
    assert found.peak_bytes == 2 * 4 * 16 * 16


def test_the_usual_orders_of_magnitude_tell_near_axes_from_far_ones() -> None:
    usual = sw.Topology.of(sw.Mesh(data=16, model=8))
    assert usual.links["model"].bandwidth > usual.links["data"].bandwidth
    assert usual.links["model"].latency < usual.links["data"].latency
    assert price(lambda x: x + 1, spec(8, axes=["data"]), topology=None).seconds > 0  # pyright: ignore


HUGE = {"links": {}, "flops": 10**400, "memory": 1}
BROKEN = [None, {}, [], {"links": {}}, {"links": {"x": {"latency": 1, "bandwidth": 0}}, "flops": 1, "memory": 1}]


BROKEN += [{"links": {}, "flops": 1, "memory": 1, **more} for more in ({"lanch": 1}, {"flops": "1"}, {"flops": True})]
BROKEN += [{"links": {"x": {"latency": 1, "bandwidth": 1, "speed": 2}}, "flops": 1, "memory": 1}]


@pytest.mark.parametrize("data", [*BROKEN, {"links": {}, "flops": float("nan"), "memory": 1}, HUGE])
def test_what_is_no_topology(data: object) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0121"):
        sw.Topology.from_dict(data)


HELP = (
    'write {"links": {"data": {"latency": 1e-5, "bandwidth": 25e9}}, "flops": 1e14, "memory": 2e12}, or in Python '
    'Topology({"data": Link(1e-5, 25e9)}, flops=1e14, memory=2e12): seconds, bytes in a second, and operations in a '
    "second, all above zero"
)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sw.Topology({}, -1, 1), "the flops of a topology is -1: it is a number from 1e-60 to 1e+60"),
        (lambda: sw.Topology({}, 1, 0), "the memory of a topology is 0: it is a number from 1e-60 to 1e+60"),
        (
            lambda: sw.Topology({}, 1, 1, launch=-1e-9),
            "the launch of a topology is -1e-09: it is a number from 0 to 1e+60",
        ),
        (lambda: sw.Topology({}, 1, 1, start=True), "the start of a topology is True: it is a number from 0 to 1e+60"),
        (lambda: sw.Topology({}, "1", 1), "the flops of a topology is '1': it is a number from 1e-60 to 1e+60"),
        (lambda: sw.Link(math.nan, 1), "the latency of a link is nan: it is a number from 0 to 1e+60"),
        (lambda: sw.Link(1, math.inf), "the bandwidth of a link is inf: it is a number from 1e-60 to 1e+60"),
        (lambda: sw.Link(1, 1e-300), "the bandwidth of a link is 1e-300: it is a number from 1e-60 to 1e+60"),
        (lambda: sw.Topology({"x": 3}, 1, 1), "the link of axis 'x' is 3"),
        (lambda: sw.Topology([], 1, 1), "the links of a topology are []: it has one by axis"),
    ],
)
def test_what_no_machine_has(make: Any, message: str) -> None:
    with pytest.raises(ShardwrightValueError) as caught:
        make()
    (found,) = caught.value.diagnostics
    assert (found.code, found.message, found.help) == ("SW0121", message, HELP)


@pytest.mark.parametrize(
    ("links", "help"),
    [
        (
            {"dta": SLOW, "model": FAST},
            "did you mean 'data' by 'dta'? its links are dta, model; one named 'any axis' stands for all axes that are "
            "not named",
        ),
        ({"model": FAST}, "its links are model; one named 'any axis' stands for all axes that are not named"),
        ({}, "it has no links; one named 'any axis' stands for all axes that are not named"),
    ],
)
def test_an_axis_without_a_link_is_refused(links: dict[str, sw.Link], help: str) -> None:
    """An axis whose link was misspelt would else have the slowest of all."""
    topology = sw.Topology(links, flops=1e9, memory=1e7)
    plain = sw.function(lambda x: sw.sum(x)).trace(sw.TensorSpec((64, 32), "float32"))
    laid_out = sw.function(lambda x: sw.sum(x)).trace(spec(64, 32, axes=["data"])).partition()
    ways: list[Callable[[], object]] = [
        lambda: laid_out.price(topology),
        lambda: plain.lay_out(MESH, objective="seconds", topology=topology),
    ]
    for way in ways:
        with pytest.raises(ShardwrightValueError) as caught:
            way()
        (found,) = caught.value.diagnostics
        message = f"the topology has no link for axis 'data' of {MESH!r}"
        assert (found.code, found.message, found.help) == ("SW0121", message, help)


def test_a_link_for_any_axis_stands_for_those_that_are_not_named() -> None:
    some = sw.Topology({"model": FAST, "any axis": SLOW}, flops=1e9, memory=1e7)
    for axes in (["data"], [None, "model"]):
        prices = [price(lambda x: sw.sum(x), spec(64, 32, axes=axes), topology=on) for on in (TOPOLOGY, some)]  # pyright: ignore
        assert prices[0].seconds == prices[1].seconds > 0
    slowest = sw.Topology({"model": SLOW, "any axis": FAST}, flops=1e9, memory=1e7)
    sums = [price(lambda x: sw.sum(x), spec(64, 32, axes=["data"]), topology=on) for on in (slowest, TOPOLOGY)]
    assert sums[0].collective_seconds < sums[1].collective_seconds  # the link for any, and not the slowest


def test_links_of_other_meshes_and_axes_of_one_device_ask_for_nothing() -> None:
    mesh = sw.Mesh(data=4, one=1)
    topology = sw.Topology({"data": FAST, "stage": SLOW}, flops=1e9, memory=1e7)
    rows = sw.TensorSpec((64, 32), "float32", layout=sw.Layout(["data"], mesh))
    found = price(lambda x: sw.sum(x), rows, topology=topology)
    assert found.collective_seconds == pytest.approx(4 * FAST.latency + 2 * 4 * 3 / 4 / FAST.bandwidth)


def test_the_command_refuses_a_topology_of_other_axes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    machine = tmp_path / "machine.json"
    link = {"latency": 1e-6, "bandwidth": 1e9}
    data = {"links": {"batch": link, "modle": link}, "flops": 1e9, "memory": 1e9}
    machine.write_text(json.dumps(data))
    plain = tmp_path / "plain.mlir"
    plain.write_text("func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> { return %a : tensor<8xf32> }")
    automatic = ["--auto", "batch=4,model=2", "--objective", "seconds"]
    for command in (["price", str(MLP)], ["explain", str(plain), *automatic], ["price", str(plain), *automatic]):
        assert main([*command, "--topology", str(machine)]) == 1
        said = capsys.readouterr().err
        assert "error[SW0121]: the topology has no link for axis 'model' of Mesh(batch=4, model=2)" in said
        assert "help: did you mean 'model' by 'modle'? its links are batch, modle; one named 'any axis'" in said


def test_numbers_of_numpy_are_numbers() -> None:
    topology = sw.Topology({"x": sw.Link(np.float32(0.5), np.int64(2))}, flops=np.float64(3), memory=4)
    assert json.loads(json.dumps(topology.as_dict()))["links"] == {"x": {"latency": 0.5, "bandwidth": 2.0}}


def test_seconds_are_numbers_of_json_whatever_the_topology(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A price is never infinite: what would make it so is no topology."""
    machine = tmp_path / "machine.json"
    for bandwidth, code in ((1e-60, 0), (1e-300, 1), ("Infinity", 1)):
        link = f'{{"latency": 1e60, "bandwidth": {bandwidth}}}'
        machine.write_text(f'{{"links": {{"any axis": {link}}}, "flops": 1e-60, "memory": 1e-60}}')
        assert main(["price", str(MLP), "--json", "--topology", str(machine)]) == code
        out, err = capsys.readouterr()
        if code:
            assert "error[SW0121]: this describes no topology" in err
        else:
            json.loads(out, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))


def test_the_command_says_what_the_stage_does(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["price", str(MLP), "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["bytes_by_axes"] == {"model": 1024.0}
    assert data["seconds"] == data["compute_seconds"] + data["collective_seconds"]
    measured = tmp_path / "machine.json"
    data["topology"]["links"]["model"] = {"latency": 1.0, "bandwidth": 1.0}
    measured.write_text(json.dumps(data["topology"]))
    assert main(["price", str(MLP), "--topology", str(measured)]) == 0
    alone = capsys.readouterr().out
    assert "1.03e+03 s" in alone  # 1,024 bytes and two messages, a second each
    measured.write_text(json.dumps(data))  # as it was printed, with all that is around it
    assert main(["price", str(MLP), "--topology", str(measured)]) == 0
    assert capsys.readouterr().out == alone
    measured.write_text("{")
    assert main(["price", str(MLP), "--topology", str(measured)]) == 1
    assert f"{measured}:1:1: error[SW0121]" in capsys.readouterr().err


MANUAL = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0:2 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {}]>]
      out_shardings=[<@mesh, [{}, {}]>, <@mesh, [{}, {}]>] manual_axes={"x"}
      (%p: tensor<2x4xf32>, %q: tensor<2x4xf32>) {
    %g:2 = "stablehlo.all_gather"(%p, %q) <{all_gather_dim = 0 : i64, use_global_device_ids,
        channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,
        replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>}>
        : (tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
    sdy.return %g#0, %g#1 : tensor<4x4xf32>, tensor<4x4xf32>
  } : (tensor<4x4xf32>, tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xf32>
}
"""


def test_what_users_gather_together_is_priced_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A device gathers the two values one after the other, and that they are alike along x then sends nothing."""
    path = tmp_path / "manual.mlir"
    path.write_text(MANUAL)
    assert main(["price", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes_by_axes"] == {"x": 2 * 2 * 4 * 4}  # both parts, two rows of four
