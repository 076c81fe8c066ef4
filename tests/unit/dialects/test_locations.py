"""Where an op comes from, whatever form its location has."""

from xdsl.dialects.builtin import CallSiteLoc, FileLineColLoc, FusedLoc, IntAttr, NameLoc, StringAttr, UnknownLoc

from shardwright.dialects.text.locations import fault, fuse, is_known, source_location, where
from shardwright.dialects.text.parsing import parse_module


def place(line: int) -> FileLineColLoc:
    return FileLineColLoc(StringAttr("f.py"), IntAttr(line), IntAttr(2))


def test_the_first_place_counts() -> None:
    inlined = CallSiteLoc(NameLoc(StringAttr("add"), place(3)), place(9))
    assert str(source_location(inlined)) == "f.py:3:2"
    assert str(source_location(fuse([UnknownLoc(), place(5), place(6)], "combined"))) == "f.py:5:2"
    assert source_location(UnknownLoc()) is None


def test_known_means_anything_is_said() -> None:
    assert is_known(place(1))
    assert is_known(NameLoc(StringAttr("jit(f)"), UnknownLoc()))
    assert not is_known(CallSiteLoc(UnknownLoc(), UnknownLoc()))


def test_fuse_keeps_each_place_once() -> None:
    assert fuse([place(1), place(1)]) == place(1)
    fused = fuse([place(1), place(2), place(1)], "why")
    assert isinstance(fused, FusedLoc)
    assert fused.locations.data == (place(1), place(2))  # pyright: ignore[reportAttributeAccessIssue]
    assert fused.metadata == StringAttr("why")


def test_faults_point_at_ops_arguments_and_results() -> None:
    module = parse_module(
        "func.func @main(%x: tensor<4xf32>) {\n  %0 = stablehlo.negate %x : tensor<4xf32>\n  return\n}", "g"
    )
    function = module.body.block.first_op
    assert function is not None
    negate = function.regions[0].block.first_op
    assert negate is not None
    assert str(where(negate)) == "g:2:8"
    assert where(negate.results[0]) == where(negate)
    assert str(fault("SW0302", "bad", negate.operands[0])).startswith("g:1:17: error[SW0302]: bad")
