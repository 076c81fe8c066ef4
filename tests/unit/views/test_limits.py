"""Budgets: programs that send or hold more than they may, or what nobody wrote, are refused before they run."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import shardwright
from shardwright.diagnostics import ShardwrightValueError
from shardwright.diagnostics.figures import size_in_bytes
from shardwright.tools.main import main

Capture = pytest.CaptureFixture[str]
DTensor = shardwright.dtensor.DTensor
MESH = shardwright.Mesh(x=4)
WHOLE = shardwright.Layout.replicated(MESH, rank=2)
MLP = Path(__file__).resolve().parents[3] / "tests" / "lit" / "run" / "mlp.mlir"


def rows() -> DTensor:
    """8x16 numbers whose rows four devices share: 512 bytes, of which each lacks 384."""
    return shardwright.relayout(np.ones((8, 16), np.float32), shardwright.Layout(["x"], MESH))


def gathered(x: DTensor) -> DTensor:
    return shardwright.relayout(shardwright.tanh(x), WHOLE)


def test_a_function_within_its_budget_and_over_it() -> None:
    inside = shardwright.budget(max_bytes=384)(shardwright.function(gathered))
    np.testing.assert_allclose(inside(rows()).numpy(), np.tanh(np.ones((8, 16))), rtol=1e-6)
    outside = shardwright.budget(max_bytes=383)(shardwright.function(gathered))
    line = gathered.__code__.co_firstlineno + 1
    with pytest.raises(ShardwrightValueError, match=r"SW0580.*sends 384 bytes, where 383 are allowed") as caught:
        outside(rows())
    (found,) = caught.value.diagnostics
    assert found.location is not None
    assert (Path(found.location.file).name, found.location.line) == ("test_limits.py", line)
    assert found.notes[0].startswith("#1 all_gather x: 384 bytes per device of f32[8@x, 16]")
    assert inside.trace(rows()).partition().predicted_bytes == 384


def both_sums(x: DTensor) -> tuple[DTensor, DTensor]:
    """A sum of all numbers, then one of each column: the devices add both up in one message."""
    return shardwright.sum(x), shardwright.relayout(shardwright.sum(x, axis=0), shardwright.Layout([], MESH))


def test_the_largest_of_what_is_sent_together_names_it() -> None:
    with shardwright.budget(max_bytes=0), pytest.raises(ShardwrightValueError) as caught:
        shardwright.function(both_sums)(rows())
    (note,) = caught.value.diagnostics[0].notes  # 17 numbers, of which a device sends three quarters twice
    assert note.startswith("#1 all_reduce x: 102 bytes per device of f32[16]{sum@x} and 1 more, asked by ")
    found = caught.value.diagnostics[0].location
    assert found is not None
    assert found.line == both_sums.__code__.co_firstlineno + 2


def test_a_block_counts_programs_that_were_made_before() -> None:
    gather = shardwright.function(gathered)
    gather(rows())
    with shardwright.budget(max_bytes=100), pytest.raises(ShardwrightValueError, match="SW0580"):
        gather(rows())
    gather(rows())


def test_blocks_add_up() -> None:
    refused = pytest.raises(ShardwrightValueError, match="where 10 are allowed")
    with shardwright.budget(max_bytes="1kB"), shardwright.budget(max_bytes="10B"), refused:
        gathered(rows())
    with shardwright.budget(max_bytes="1kB"):
        gathered(rows())


def test_what_a_program_holds() -> None:
    double = shardwright.function(lambda x: x * 2)
    with shardwright.budget(max_peak=512):
        double(rows())
    with shardwright.budget(max_peak=511), pytest.raises(ShardwrightValueError, match="hold 512 bytes at once"):
        double(rows())


def test_nothing_moves_that_nobody_wrote() -> None:
    columns = shardwright.relayout(np.ones((8, 16), np.float32), shardwright.Layout([None, "x"], MESH))
    with shardwright.explicit():
        with pytest.raises(
            ShardwrightValueError, match=r"SW0581.: nobody wrote this: #1 all_to_all x: 96 bytes"
        ) as caught:
            _ = rows() + columns
        there = shardwright.relayout(columns, shardwright.Layout(["x"], MESH))
        total = shardwright.sum(rows() + there)
    assert caught.value.diagnostics[0].location is not None
    assert float(total) == 2 * 8 * 16


def test_a_sum_over_a_split_dim_is_what_was_written() -> None:
    @shardwright.explicit()
    @shardwright.function
    def product(a: DTensor, b: DTensor) -> DTensor:
        return shardwright.relayout(a @ b, WHOLE)

    a = shardwright.relayout(np.ones((4, 8), np.float32), shardwright.Layout([None, "x"], MESH))
    b = shardwright.relayout(np.ones((8, 4), np.float32), shardwright.Layout(["x"], MESH))
    np.testing.assert_array_equal(product(a, b).numpy(), np.full((4, 4), 8.0))


def test_plain_functions_can_be_limited_too() -> None:
    @shardwright.budget(max_bytes=0)
    def step() -> DTensor:
        return gathered(rows())

    with pytest.raises(ShardwrightValueError, match="SW0580"):
        step()


@pytest.mark.parametrize(
    ("text", "size"),
    [("0", 0), ("12", 12), ("1kB", 1000), ("1KiB", 1024), ("1.5 GB", 1_500_000_000), ("2T", 2 * 10**12), (3, 3)],
)
def test_sizes(text: str | int, size: int) -> None:
    assert size_in_bytes(text) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "1XB", "1iB", "2GB!", -1])
def test_no_sizes(text: str | int) -> None:
    with pytest.raises(ShardwrightValueError, match="SW0582"):
        shardwright.budget(max_bytes=text)


def test_the_command_says_yes_or_no(capsys: Capture) -> None:
    assert main(["check", str(MLP), "--max-bytes", "1024", "--max-peak", "1MB", "--no-implicit"]) == 0
    assert capsys.readouterr().out.startswith("within the limits: each device sends 1,024 bytes")
    assert main(["check", str(MLP), "--max-bytes", "1kB", "--max-peak", "1kB"]) == 1
    output = capsys.readouterr()
    assert output.out.startswith("over the limits")
    assert "error[SW0580]: each device sends 1,024 bytes, where 1,000 are allowed" in output.err
    assert "mlp.mlir:26:3" in output.err
    assert "hold 12,288 bytes at once, where 1,000 are allowed" in output.err


def test_the_command_as_data(capsys: Capture) -> None:
    assert main(["check", str(MLP), "--max-bytes", "1", "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert (data["ok"], data["bytes_per_device"], [each["code"] for each in data["broken"]]) == (
        False,
        1024,
        ["SW0580"],
    )


@pytest.mark.parametrize("size", ["x", "-3", "1iB"])
def test_wrong_sizes_on_the_command_line(size: str, capsys: Capture) -> None:
    assert main(["check", str(MLP), f"--max-bytes={size}"]) == 1
    assert "error[SW0701]" in capsys.readouterr().err


def test_limits_hold_for_programs_on_several_meshes() -> None:
    """Eight rows of sixteen go to another mesh: half of them to each of its devices, and all are summed there."""
    other = shardwright.Layout(["y"], shardwright.Mesh(y=2, name="other", devices=["GPU:0", "GPU:1"]))
    both = shardwright.function(lambda x: shardwright.sum(shardwright.relayout(x, other), axis=0))
    np.testing.assert_array_equal(both(rows()).numpy(), np.full(16, 8))
    received, summed = 8 * 16 // 2 * 4, 16 * 4
    stage = both.trace(rows()).partition()
    assert stage.predicted_bytes == received + summed
    with shardwright.budget(max_bytes=received + summed):
        both(rows())
    with shardwright.budget(max_bytes=received + summed - 1), pytest.raises(ShardwrightValueError) as caught:
        both.trace(rows()).compile()
    (found,) = caught.value.diagnostics
    assert (found.code, found.help) == ("SW0580", "look at why: stage.explain()")
    assert found.message == "devices send 320 bytes within meshes and between them, where 319 are allowed"
    with shardwright.budget(max_peak=64), pytest.raises(ShardwrightValueError, match=r"SW0580.*hold"):
        both(rows())
    with shardwright.explicit(), pytest.raises(ShardwrightValueError, match="SW0581"):
        shardwright.function(lambda x: shardwright.fft.fft(shardwright.relayout(x, other).T))(rows())


def test_an_array_function_that_is_over_it_is_named_where_it_is_called() -> None:
    x = shardwright.relayout(np.arange(8.0), shardwright.Layout(["x"], shardwright.Mesh(x=4)))
    with shardwright.budget(max_bytes=0), pytest.raises(ShardwrightValueError, match="SW0580") as caught:
        shardwright.sum(x)
    (found,) = caught.value.diagnostics
    assert found.location is not None
    assert found.location.file == __file__
