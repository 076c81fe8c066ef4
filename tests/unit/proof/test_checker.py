"""Exact numbers, certificates and their checker: against Python's integers, and on programs that are wrong by hand."""

from __future__ import annotations

import json
import math
import random
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
from shardwright.diagnostics import ShardwrightValueError
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.proof import Certificate, certify, check, checker
from shardwright.proof.checker import differences
from shardwright.proof.exact import PRIME, ROOT, Inexact, make_exact, residue
from shardwright.runtime.executable import compile_module

HALF = PRIME // 2


def centred(number: int) -> int:
    """The remainder that is nearest to zero, by Python's integers."""
    found = number % PRIME
    return found - PRIME if found > HALF else found


def program(body: str, arguments: str, results: str, mesh: str = "") -> ModuleOp:
    text = f"{mesh}\nfunc.func @main({arguments}) -> ({results}) {{\n{body}\n}}"
    return parse_module(text, "test.mlir")


def exactly(module: ModuleOp, *inputs: Any, rounds: int = 8) -> list[Any]:
    arrays = [np.asarray(array) for array in inputs]
    return compile_module(make_exact(module, rounds), fused=False).run(arrays)


def field(seed: int, *shape: int) -> np.ndarray[Any, Any]:
    """Numbers of the field, those at its ends among them."""
    numbers = np.random.default_rng(seed).integers(-HALF, HALF + 1, shape).astype(np.float64)
    numbers.reshape(-1)[:2] = (-HALF, HALF)
    return numbers


def as_integers(array: np.ndarray[Any, Any]) -> list[int]:
    return [int(number) for number in array.reshape(-1)]


def test_the_prime_is_one_and_the_root_is_of_minus_one() -> None:
    assert all(PRIME % n for n in range(2, math.isqrt(PRIME) + 1))
    assert ROOT * ROOT % PRIME == PRIME - 1


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 0.5, -0.75, 0.1, 1e-30, 3.4e38, 2.0**-149, 12345.678])
def test_a_float_is_an_integer_by_a_power_of_two(value: float) -> None:
    number, exact = residue(value), Fraction(value)
    assert abs(number) <= HALF
    assert number * exact.denominator % PRIME == exact.numerator % PRIME


def test_infinities_are_neutral_for_the_smallest_and_the_largest() -> None:
    assert residue(math.inf) > HALF
    assert residue(-math.inf) < -HALF
    body = "\n".join(
        f"""%{kind}_0 = stablehlo.constant dense<{bits}> : tensor<f32>
        %{kind} = stablehlo.reduce(%a init: %{kind}_0) applies stablehlo.{kind} across dimensions = [0]
            : (tensor<5xf32>, tensor<f32>) -> tensor<f32>"""
        for kind, bits in (("maximum", "0xFF800000"), ("minimum", "0x7F800000"))
    )
    module = program(
        body + "\nreturn %maximum, %minimum : tensor<f32>, tensor<f32>", "%a: tensor<5xf32>", "tensor<f32>, tensor<f32>"
    )
    for numbers in (field(0, 5), np.full(5, -HALF, np.float64), np.full(5, HALF, np.float64)):
        found = exactly(module, numbers)
        assert [int(x) for x in found] == [max(as_integers(numbers)), min(as_integers(numbers))]


@pytest.mark.parametrize("kind", ["add", "subtract", "multiply"])
def test_ring_operations_are_those_of_integers(kind: str) -> None:
    left, right = field(1, 64), field(2, 64)[::-1].copy()
    module = program(
        f"%0 = stablehlo.{kind} %a, %b : tensor<64xf32>\nreturn %0 : tensor<64xf32>",
        "%a: tensor<64xf32>, %b: tensor<64xf32>",
        "tensor<64xf32>",
    )
    does = {"add": int.__add__, "subtract": int.__sub__, "multiply": int.__mul__}[kind]
    expected = [centred(does(x, y)) for x, y in zip(as_integers(left), as_integers(right), strict=True)]
    assert as_integers(exactly(module, left, right)[0]) == expected


@pytest.mark.parametrize("length", [3, 1024, 8191, 20000])
@pytest.mark.parametrize("ends", [False, True])
def test_sums_of_products_are_exact(length: int, ends: bool) -> None:
    module = program(
        f"""%0 = stablehlo.dot_general %a, %b, contracting_dims = [0] x [0]
            : (tensor<{length}xf32>, tensor<{length}xf32>) -> tensor<f32>
        return %0 : tensor<f32>""",
        f"%a: tensor<{length}xf32>, %b: tensor<{length}xf32>",
        "tensor<f32>",
    )
    left = np.full(length, -HALF, np.float64) if ends else field(3, length)
    right = np.full(length, HALF, np.float64) if ends else field(4, length)
    expected = centred(sum(x * y for x, y in zip(as_integers(left), as_integers(right), strict=True)))
    assert int(exactly(module, left, right)[0]) == expected


def test_sums_over_a_dim_are_exact() -> None:
    module = program(
        """%z = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0]
            : (tensor<50000xf32>, tensor<f32>) -> tensor<f32>
        return %0 : tensor<f32>""",
        "%a: tensor<50000xf32>",
        "tensor<f32>",
    )
    for numbers in (field(5, 50000), np.full(50000, HALF, np.float64)):
        assert int(exactly(module, numbers)[0]) == centred(sum(as_integers(numbers)))


@pytest.mark.parametrize("kind", ["exponential", "tanh", "rsqrt", "log"])
def test_unknown_functions_know_equal_arguments_alone(kind: str) -> None:
    module = program(
        f"%0 = stablehlo.{kind} %a : tensor<1000xf32>\nreturn %0 : tensor<1000xf32>",
        "%a: tensor<1000xf32>",
        "tensor<1000xf32>",
    )
    numbers = np.random.default_rng(6).choice(PRIME, 500, replace=False).astype(np.float64) - HALF
    found = exactly(module, np.concatenate([numbers, numbers]))[0]
    assert found[:500].tolist() == found[500:].tolist()
    assert len(set(found.tolist())) > 480  # a polynomial of degree three may meet itself, now and then
    assert np.abs(found).max() <= HALF


def test_different_functions_differ() -> None:
    kinds = ("exponential", "tanh", "rsqrt", "log", "sine", "cosine")
    body = "\n".join(f"%{kind} = stablehlo.{kind} %a : tensor<100xf32>" for kind in kinds)
    names, types = ", ".join(f"%{kind}" for kind in kinds), ", ".join(["tensor<100xf32>"] * len(kinds))
    found = exactly(program(f"{body}\nreturn {names} : {types}", "%a: tensor<100xf32>", types), field(7, 100))
    assert len({tuple(array.tolist()) for array in found}) == len(kinds)


def counting(limit: int) -> ModuleOp:
    """The sum of the indices 0 ... limit - 1, and how far the counter came."""
    return program(
        f"""%zero = stablehlo.constant dense<0> : tensor<i32>
        %0:3 = stablehlo.while(%i = %zero, %sum = %zero, %y = %x) : tensor<i32>, tensor<i32>, tensor<f32>
        cond {{
          %n = stablehlo.constant dense<{limit}> : tensor<i32>
          %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        }} do {{
          %one = stablehlo.constant dense<1> : tensor<i32>
          %j = stablehlo.add %i, %one : tensor<i32>
          %2 = stablehlo.add %sum, %i : tensor<i32>
          %3 = stablehlo.add %y, %y : tensor<f32>
          stablehlo.return %j, %2, %3 : tensor<i32>, tensor<i32>, tensor<f32>
        }}
        return %0#0, %0#1, %0#2 : tensor<i32>, tensor<i32>, tensor<f32>""",
        "%x: tensor<f32>",
        "tensor<i32>, tensor<i32>, tensor<f32>",
    )


@pytest.mark.parametrize(
    ("limit", "rounds", "visited"),
    [(5, 8, range(5)), (8, 8, range(8)), (10, 4, (0, 3, 6, 9)), (1000, 8, (0, 142, 285, 428, 570, 713, 856, 999))],
)
def test_a_loop_runs_some_rounds_from_the_first_to_the_last(limit: int, rounds: int, visited: Any) -> None:
    count, total, doubled = exactly(counting(limit), 1.0, rounds=rounds)
    assert (int(count), int(total), int(doubled)) == (limit, sum(visited), 2 ** len(visited))


def test_a_loop_that_never_ends_ends() -> None:
    module = program(
        """%0 = stablehlo.while(%y = %x) : tensor<f32>
        cond {
          %1 = stablehlo.constant dense<true> : tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %2 = stablehlo.add %y, %y : tensor<f32>
          stablehlo.return %2 : tensor<f32>
        }
        return %0 : tensor<f32>""",
        "%x: tensor<f32>",
        "tensor<f32>",
    )
    assert int(exactly(module, 1.0)[0]) == 2**8


@pytest.mark.parametrize("limit", [4, 9, 11, 999])
def test_a_loop_of_another_length_is_another_program(limit: int) -> None:
    found = certified(counting(10), counting(limit))
    assert found.faults, limit
    assert certified(counting(10), counting(10)).proved


def certified(traced: ModuleOp, local: ModuleOp) -> Any:
    """What the checker says of a program that runs on no mesh, as its own plan."""
    from shardwright.proof.checker import Broken, Verdict

    try:
        return Verdict([f"result {number}" for number in differences(traced, local)])
    except Broken as error:
        return Verdict([str(error)])


SUM = """
sdy.mesh @mesh = <["x"=2, "y"=2]>
func.func @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>})
    -> (tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}]>}) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.reduce(%a init: %0) applies stablehlo.add across dimensions = [0]
      : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def stages() -> tuple[ModuleOp, ModuleOp, ModuleOp]:
    traced = parse_module(SUM, "sum.mlir")
    planned = traced.clone()
    run_pipeline(planned, ["plan"])
    local = planned.clone()
    run_pipeline(local, LOCALIZE)
    return traced, planned, local


Stages = tuple[ModuleOp, ModuleOp, ModuleOp]


def with_text(stages: Stages, number: int, old: str, new: str) -> Certificate:
    """The certificate in which one program has another text."""
    texts = [print_module(module) for module in stages]
    assert old in texts[number]
    texts[number] = texts[number].replace(old, new)
    return Certificate(*texts, "", "", 0)


def test_the_right_program_is_proved_and_its_certificate_read_again(stages: Stages) -> None:
    proof = certify(*stages)
    assert proof.proved
    again = Certificate.from_json(proof.certificate.to_json())
    assert again == proof.certificate
    assert all(check(again, module).proved for module in stages)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found | {"seed": "3"},
        lambda found: found | {"seed": True},
        lambda found: found | {"planned": None},
        lambda found: found | {"format": "shardwright certificate 0"},
        lambda found: {name: item for name, item in found.items() if name != "local"},
        lambda found: [found],
    ],
)
def test_what_is_no_certificate_is_refused(change: Any) -> None:
    found = json.loads(Certificate("", "", "", "", "", 0).to_json())
    with pytest.raises(ShardwrightValueError, match="this is no certificate") as error:
        Certificate.from_json(json.dumps(change(found)))
    assert error.value.diagnostics[0].code == "SW0331"


@pytest.mark.parametrize("text", ["", "{", "nonsense", "[" * 100_000, '{"format": '])
def test_text_that_is_cut_off_or_endless_is_refused(text: str) -> None:
    with pytest.raises(ShardwrightValueError, match="this is no certificate"):
        Certificate.from_json(text)


def test_a_truncated_certificate_is_refused(stages: Stages) -> None:
    text = certify(*stages).certificate.to_json()
    for end in random.Random(0).sample(range(len(text) - 2), 20):
        with pytest.raises(ShardwrightValueError, match="this is no certificate"):
            Certificate.from_json(text[:end])


def test_a_certificate_whose_programs_are_none_is_refused(stages: Stages) -> None:
    assert "is none" in check(with_text(stages, 2, "stablehlo.reduce", "stablehlo.rduce")).faults[0]


def test_a_certificate_is_of_one_program(stages: Stages) -> None:
    other = parse_module(SUM.replace("stablehlo.add", "stablehlo.maximum"), "sum.mlir")
    assert check(certify(*stages).certificate, other).faults == ["the certificate is of another program"]


def test_an_open_layout_is_refused(stages: Stages) -> None:
    wrong = with_text(stages, 1, '[{"x"}, {"y"}]', '[{"x", ?}, {"y"}]')
    assert "without a closed layout" in check(wrong).faults[0]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('dtensor.layout<@mesh, [{"x"}, {"y"}]>', 'dtensor.layout<@mesh, [{"y"}, {"x"}]>',
         "argument 0 of the local program has another layout"),
        ('dtensor.layout<@mesh, [{"y"}]>', 'dtensor.layout<@mesh, [{"x"}]>',
         "result 0 of the local program has another layout"),
        ('all_reduce sum @mesh {"x"}', 'all_reduce sum @mesh {"y"}', "the local program lacks dtensor.all_reduce"),
        ('["x"=2, "y"=2]', '["x"=2, "y"=2, "z"=1]', "the local program is on another mesh"),
        ("applies stablehlo.add", "applies stablehlo.maximum", "result 0 differs from the program's"),
    ],
)  # fmt: skip
def test_another_border_is_refused(stages: Stages, old: str, new: str, fault: str) -> None:
    assert check(with_text(stages, 2, old, new)).faults[0].startswith(fault)


def test_a_loop_that_carries_two_layouts_is_refused() -> None:
    carried = 'tensor<4xf32, #dtensor.layout<@mesh, [{"x"}]>>'
    other = "tensor<4xf32, #dtensor.layout<@mesh, [{}]>>"
    flag = "tensor<i1, #dtensor.layout<@mesh, []>>"
    text = f"""
    dtensor.mesh @mesh = <["x"=2]>
    func.func @main(%a: {carried}, %c: {flag}) -> {carried} {{
      %0:2 = stablehlo.while(%b = %a, %d = %c) : {carried}, {flag}
      cond {{
        stablehlo.return %d : {flag}
      }} do {{
        %1 = dtensor.all_gather @mesh [{{"x"}}] %b : ({carried}) -> {other}
        stablehlo.return YIELDED, %d : TYPE, {flag}
      }}
      return %0#0 : {carried}
    }}"""
    from shardwright.proof.checker import _type_faults  # pyright: ignore[reportPrivateUsage]

    right = parse_module(text.replace("YIELDED", "%b").replace("TYPE", carried), "loop.mlir")
    wrong = parse_module(text.replace("YIELDED", "%1").replace("TYPE", other), "loop.mlir")
    assert list(_type_faults(right)) == []
    assert "but carries it as" in next(iter(_type_faults(wrong)))


def test_a_local_program_that_does_not_run_is_refused(stages: Stages) -> None:
    texts = [print_module(module) for module in stages]
    line = next(line for line in texts[2].splitlines() if "all_reduce" in line)
    name, operand = line.split("=")[0].strip(), line.split("} %")[1].split(" ")[0]
    wrong = texts[2].replace(f"return {name}", f"return %{operand}")
    assert wrong != texts[2]
    assert check(Certificate(*texts[:2], wrong, "", "", 0)).faults[0].startswith("the local program cannot run")


def test_the_checker_is_short_enough_to_be_read() -> None:
    parts = [Path(checker.__file__).with_name(f"{name}.py") for name in ("checker", "structure", "certificate")]
    assert sum(len(part.read_text().splitlines()) for part in parts) <= 500


def adding(*rounds: int) -> ModuleOp:
    """Loops that add a number to another one so often, one after the other."""
    lines = ["%z = stablehlo.constant dense<0> : tensor<i32>", "%o = stablehlo.constant dense<1> : tensor<i32>"]
    for number, count in enumerate(rounds):
        carried = f"%r{number - 1}#1" if number else "%a"
        lines.append(f"""%n{number} = stablehlo.constant dense<{count}> : tensor<i32>
  %r{number}:2 = stablehlo.while(%i = %z, %s = {carried}) : tensor<i32>, tensor<i32>
  cond {{
    %p = stablehlo.compare LT, %i, %n{number} : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }} do {{
    %j = stablehlo.add %i, %o : tensor<i32>
    %t = stablehlo.add %s, %b : tensor<i32>
    stablehlo.return %j, %t : tensor<i32>, tensor<i32>
  }}""")
    body = "\n".join([*lines, f"return %r{len(rounds) - 1}#1 : tensor<i32>"])
    return program(body, "%a: tensor<i32>, %b: tensor<i32>", "tensor<i32>", 'dtensor.mesh @mesh = <["x"=2]>')


def test_loops_may_be_others_where_all_rounds_are_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """A loop of 13 rounds is one of 3 and one of 10, and not one of 3 and one of 9; of 8 rounds nothing is said."""
    whole = adding(13)
    assert differences(whole, adding(3, 10)) == []
    assert differences(whole, adding(3, 9)) == [0]
    monkeypatch.setattr(checker, "EASY", 0)
    with pytest.raises(Inexact, match=r"a loop of 13 rounds, of which 8 are run here, has become several"):
        differences(whole, adding(3, 10))
    with pytest.raises(checker.Broken, match="has a loop of 12 rounds that the program lacks"):
        differences(whole, adding(12))
