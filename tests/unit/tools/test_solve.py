"""`shardwright solve`: the format of the contest, what is printed, and what is refused."""

import json
from pathlib import Path

import pytest

from shardwright.tools.main import main

# Two ops with two layouts each, and a limit under which the second cannot keep the whole tensor.
PROBLEM = {
    "name": "small",
    "nodes": {"intervals": [[0, 20], [10, 30]], "costs": [[4, 6], [1, 3]], "usages": [[8, 4], [8, 4]]},
    "edges": {"nodes": [[0, 1]], "costs": [[0, 5, 5, 0]]},
    "usage_limit": 8,
}


def written(folder: Path, problem: object) -> str:
    path = folder / "instance.json"
    path.write_text(json.dumps({"problem": problem}))
    return str(path)


def test_the_cheapest_choices_within_the_limit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", written(tmp_path, PROBLEM)]) == 0
    assert capsys.readouterr().out == (
        "[1, 1]\ncost 9 (nodes 2, edges 1)\nproved: nothing costs less\n8 of 8 used at most\n"
    )
    assert main(["solve", written(tmp_path, PROBLEM | {"usage_limit": 16}), "--time-limit", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {
        "choices": [0, 0],
        "cost": 5,
        "bound": 5,
        "gap": 0,
        "proved": True,
        "peak_usage": 16,
    }


def test_nothing_fits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solve", written(tmp_path, PROBLEM | {"usage_limit": 7})]) == 1
    assert capsys.readouterr().out == "there are no choices that are allowed (nodes 2, edges 1)\n"
    assert main(["solve", written(tmp_path, PROBLEM | {"usage_limit": 7}), "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "choices": None,
        "cost": None,
        "bound": None,
        "gap": None,
        "proved": True,
        "peak_usage": None,
    }


def test_costs_from_a_trillion_times_a_million_on_are_forbidden(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = {"nodes": [[0, 1]], "costs": [[10**18, 10**18, 10**18, 0]]}
    assert main(["solve", written(tmp_path, PROBLEM | {"edges": edges, "usage_limit": None})]) == 0
    assert capsys.readouterr().out.startswith("[1, 1]\ncost 9 ")


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        ([], "the text has no object 'problem'"),
        ({}, "problem has no object 'nodes'"),
        ({"nodes": {}}, "nodes has no list 'costs'"),
        ({"nodes": {"costs": [[1], []]}}, "nodes.costs[1] is no list of numbers"),
        ({"nodes": {"costs": [[1], [-1]]}}, "nodes.costs[1] has -1, which is no number from 0 on"),
        ({"nodes": {"costs": [[1], [True]]}}, "nodes.costs[1] has true"),
        (PROBLEM | {"edges": {"nodes": [[0]], "costs": [[1]]}}, "edges.nodes[0] is no list of two nodes"),
        (PROBLEM | {"edges": {"nodes": [[0, 2]], "costs": [[1]]}}, "edges.nodes[0] names 2, and nodes are 0 to 1"),
        (PROBLEM | {"edges": {"nodes": [[0, 1]], "costs": [[1]]}}, "edges.costs[0] has 1 numbers instead of 4"),
        (PROBLEM | {"edges": {"nodes": [[0, 1]], "costs": []}}, "edges.costs has 0 items instead of 1"),
        (PROBLEM | {"usage_limit": -1}, "usage_limit is no number from 0 on"),
        (PROBLEM | {"nodes": {"costs": [[4, 6], [1, 3]]}}, "nodes has no list 'usages'"),
        (PROBLEM | {"nodes": {**PROBLEM["nodes"], "intervals": [[0, 2], [0]]}}, "nodes.intervals[1] is no list of two"),
    ],
)
def test_what_is_no_network_is_refused(
    problem: object, says: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(tmp_path, problem)
    assert main(["solve", path]) == 1
    output = capsys.readouterr()
    assert output.out == ""
    assert f"{path}:1:1: error[SW0740]: {says}" in output.err


def test_no_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "instance.json"
    path.write_text("{")
    assert main(["solve", str(path)]) == 1
    assert "error[SW0740]: the text is no JSON" in capsys.readouterr().err
    assert main(["solve", str(path), "--time-limit", "0"]) == 1
    assert "'0' is no time: give seconds, more than 0" in capsys.readouterr().err
