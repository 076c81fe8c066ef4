"""The benchmarks' counters read what two other partitioners print; expected bytes are worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from shardwright.benchmarks import shardy
from shardwright.engines.jax.hlo import collectives, summary


def hlo(kind: str, result: str, rest: str) -> str:
    """One line of an HLO module."""
    return f"  %r.1 = {result} {kind}(%x), channel_id=1, {rest}, use_global_device_ids=true"


@pytest.mark.parametrize(
    ("line", "group", "size"),
    [
        (hlo("all-reduce", "f32[10]{0}", "replica_groups={{0,1},{2,3},{4,5},{6,7}}"), 2, Fraction(40)),
        (hlo("all-reduce", "f32[]", "replica_groups={}"), 8, Fraction(7)),
        (hlo("all-gather", "bf16[4,8]{1,0}", "replica_groups=[2,4]<=[4,2]T(1,0), dimensions={0}"), 4, Fraction(48)),
        (hlo("reduce-scatter", "f32[2]{0}", "replica_groups=[1,8]<=[8], dimensions={0}"), 8, Fraction(56)),
        (
            hlo("all-to-all", "(f32[2,4]{1,0}, /*index=1*/f32[2,4]{1,0})", "replica_groups=[4,2]<=[8]"),
            2,
            Fraction(32),
        ),
        (
            hlo(
                "all-gather",
                "f32[256,256]{1,0}",
                "replica_groups=mesh['axis_0'=2,'axis_1'=1,'axis_2'=4], device_ids=([4,2]T(1,0)) {'axis_0','axis_2'}",
            ),
            8,
            Fraction(256 * 256 * 4 * 7, 8),
        ),
        (
            hlo("collective-permute", "s32[6]{0}", "source_target_pairs={{0,0},{1,2},{2,1},{3,3}}"),
            2,
            Fraction(6),
        ),
    ],
)
def test_hlo_collective(line: str, group: int, size: Fraction) -> None:
    (found,) = collectives(line, 8)
    assert (found.group_size, found.sent_bytes) == (group, size)


def test_hlo_of_other_ops_sends_nothing() -> None:
    assert collectives("  %a = f32[8]{0} add(%x, %y)\n  %all-reduce.1 = f32[8]{0} copy(%x)", 8) == []


LOOP = """%body (p: f32[]) -> f32[] {
REDUCE
}

%cond (p: f32[]) -> pred[] {
  ROOT %c = pred[] constant(true)
}

ENTRY %main (p: f32[]) -> f32[] {
  %w = f32[] while(%x), condition=%cond, body=%bodyTRIPS
}
"""


@pytest.mark.parametrize(
    ("known", "given", "expected"), [("3", (), 3), ("", (5,), 5), ("4", (5,), 4)], ids=["known", "given", "both"]
)
def test_hlo_loop_counts_by_its_turns(known: str, given: tuple[int, ...], expected: int) -> None:
    turns = f', backend_config={{"known_trip_count":{{"n":"{known}"}}}}' if known else ""
    text = LOOP.replace("REDUCE", hlo("all-reduce", "f32[]", "replica_groups={}")).replace("TRIPS", turns)
    assert sum(one.sent_bytes for one in collectives(text, 8, given)) == 7 * expected


def test_hlo_loop_of_unknown_length_is_refused() -> None:
    text = LOOP.replace("REDUCE", hlo("all-reduce", "f32[]", "replica_groups={}")).replace("TRIPS", "")
    with pytest.raises(ValueError, match="trip count"):
        collectives(text, 8)


def test_hlo_condition_counts_its_dearest_branch() -> None:
    sizes = (1, 3, 2)
    reduces = [hlo("all-reduce", f"f32[{size}]", "replica_groups={}") for size in sizes]
    branches = [f"%b{size} (p: f32[]) -> f32[] {{\n{line}\n}}\n" for size, line in zip(sizes, reduces, strict=True)]
    entry = "ENTRY %m (i: s32[]) -> f32[] {\n  %r = f32[] conditional(%i), branch_computations={%b1, %b3, %b2}\n}"
    assert [one.sent_bytes for one in collectives("".join(branches) + entry, 8)] == [21]


def test_hlo_groups_in_an_unknown_form_are_refused() -> None:
    with pytest.raises(ValueError, match="not known"):
        collectives(hlo("all-reduce", "f32[]", "replica_groups=everyone"), 8)


def test_summary_counts_by_kind() -> None:
    line = hlo("all-reduce", "f32[4]{0}", "replica_groups=[4,2]<=[8]")
    assert summary(collectives(f"{line}\n{line}", 8)) == {"all-reduce": {"count": 2, "sent_bytes": 32.0}}


MODULE = """module {
  sdy.mesh @mesh = <["x"=4, "y"=2]>
  func.func public @main(%arg0: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> (T) {
BODY
    return %arg0 : tensor<16x8xf32>
  }
  func.func private @inner(%arg0: tensor<16x8xf32>) -> tensor<16x8xf32> {
    %0 = sdy.all_gather [{"x"}, {}] %arg0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x8xf32>
    return %0 : tensor<16x8xf32>
  }
}
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ('%1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{"y"}]> : tensor<8xf32>', {"all-reduce": 24.0}),
        (
            '%1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<16x8xf32>',
            {"all-gather": 192.0},
        ),
        (
            '%1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]> : tensor<16x8xbf16>',
            {"all-to-all": 48.0},
        ),
        ('%1 = sdy.all_slice [{"x"}] %0 out_sharding=<@mesh, [{"x"}]> : tensor<8xf32>', {}),
        ("%1 = call @inner(%arg0) : (tensor<16x8xf32>) -> tensor<16x8xf32>", {"all-gather": 192.0}),
        (
            '%1 = sdy.all_gather [{"x":(2)2}, {}] %0 out_sharding=<@mesh, [{"x":(1)2}, {}]> : tensor<16x8xf32>',
            {"all-gather": 128.0},
        ),
        (
            '%1 = sdy.all_reduce {"x"} %0 out_sharding=<@mesh, [{}, {}]> : tensor<16x8xf32>\n'
            '    %2 = sdy.all_slice [{"x"}, {}] %1 out_sharding=<@mesh, [{"x"}, {}]> : tensor<16x8xf32>',
            {"reduce-scatter": 384.0},
        ),
        # Device (x, y) has part (x, y) and needs part (2y + x // 2, x % 2): only (0, 0) and (3, 1) have what they need.
        (
            '%1 = sdy.collective_permute %arg0 out_sharding=<@mesh, [{"y", "x":(1)2}, {"x":(2)2}]> : tensor<16x8xf32>',
            {"collective-permute": 64.0 * 6 / 8},
        ),
    ],
)
def test_shardy_collective(body: str, expected: dict[str, float]) -> None:
    counted = shardy.sent(MODULE.replace("BODY", f"    {body}"))
    assert {kind: row["sent_bytes"] for kind, row in counted.items()} == expected


def test_shardy_reshard_is_refused() -> None:
    with pytest.raises(ValueError, match="reshard"):
        shardy.sent(MODULE.replace("BODY", "    %1 = sdy.reshard %0 <@mesh, [{}]> : tensor<8xf32>"))
