"""Did you mean: slips of the pen are recognised, nothing far is proposed, and each alias leads to what there is."""

from __future__ import annotations

import re
from functools import reduce

import pytest

import shardwright as sw
from shardwright.diagnostics.suggestions import close_names, distance, nearest
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.naming.aliases import ELSEWHERE

X = sw.ones((2, 2), layout=sw.Layout(["x"], sw.Mesh(x=2)))


@pytest.mark.parametrize(
    ("first", "second", "slips"),
    [
        ("", "abc", 3),
        ("run", "run", 0),
        ("rnu", "run", 1),
        ("ad", "add", 1),
        ("kitten", "sitting", 3),
        ("ca", "abc", 3),
    ],
)
def test_slips_are_counted_both_ways(first: str, second: str, slips: int) -> None:
    assert distance(first, second) == distance(second, first) == slips


@pytest.mark.parametrize(
    ("word", "known", "found"),
    [
        ("sun", ["sum"], "sum"),
        ("sxn", ["sum"], None),
        ("Verify-Each", ["verify_each"], "verify_each"),
        ("verifi-ech", ["verify_each"], "verify_each"),
        ("stablehlo.ad", ["stablehlo.and", "stablehlo.add"], "stablehlo.add"),
        ("stablehlo.foo", ["stablehlo.not", "stablehlo.add"], None),
        ("stablhlo.add", ["stablehlo.add"], "stablehlo.add"),
        ("x", ["y"], None),
        ("keras", ["Workers"], None),
    ],
)
def test_only_what_is_close_is_proposed(word: str, known: list[str], found: str | None) -> None:
    assert nearest(word, known) == found


def test_the_closest_stands_first() -> None:
    assert close_names("weigths", ["weight", "bias", "weights"]) == ["weights", "weight"]


def test_an_alias_is_no_name_of_ours_and_leads_to_one() -> None:
    names = {*sw.__all__}.union(*(getattr(sw, home).__all__ for home in ("nn", "random", "linalg", "fft", "metrics")))
    assert not names & ELSEWHERE.keys()
    for text in ELSEWHERE.values():
        for target in re.findall(r"shardwright((?:\.\w+)+)", text):
            reduce(getattr, target[1:].split("."), sw)
        for attribute in re.findall(r"(?<!\w)x((?:\.[a-z]+)+)", text):
            reduce(getattr, attribute[1:].split("."), X)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("keras", "keras_step"),
        ("index_add", "x.at[places].add("),
        ("device_put", "use shardwright.relayout"),
        ("cast", "use shardwright.astype"),
        ("norm", "use shardwright.linalg.vector_norm"),
        ("eigh", "use shardwright.linalg.eigh"),
        ("sigmod", "use shardwright.nn.sigmoid"),
        ("with_sharding_constrain", "use shardwright.constraint"),
        ("foo", "dir(shardwright)"),
    ],
)
def test_what_the_module_proposes(name: str, says: str) -> None:
    with pytest.raises(AttributeError, match="SW0516") as caught:
        getattr(sw, name)
    assert says in str(caught.value)


def test_attributes_of_tensors_of_others() -> None:
    for name, says in (
        ("full_tensor", "use shardwright.fetch"),
        ("placements", "use x.layout"),
        ("sizes", "use x.size"),
    ):
        with pytest.raises(AttributeError, match="SW0516") as caught:
            getattr(X, name)
        assert says in str(caught.value)


def test_attributes_of_variables_of_others() -> None:
    for name, says in (("scatter_nd_add", "use variable.scatter_add for"), ("get_shape", "use x.shape")):
        with pytest.raises(AttributeError, match=f"SW0516.*a Variable has no attribute '{name}'") as caught:
            getattr(sw.Variable(1.0), name)
        assert says in str(caught.value)


def test_axes_operations_and_values() -> None:
    mesh = sw.Mesh(batch=2, model=2)
    for wrong in (lambda: mesh.dim_size("modle"), lambda: sw.Layout(["modle"], mesh)):
        with pytest.raises(ValueError, match="did you mean 'model'"):
            wrong()
    program = "func.func @main(%left: tensor<4xf32>, %right: tensor<4xf32>) -> tensor<4xf32> {{\n  {}\n}}"
    adding = "%0 = stablehlo.{} %left, {} : tensor<4xf32>\n  return %0 : tensor<4xf32>"
    for words, says in ((("ad", "%right"), "'stablehlo.add'"), (("add", "%rihgt"), "'%right'")):
        with pytest.raises(sw.ShardwrightError, match=f"did you mean {says}"):
            parse_module(program.format(adding.format(*words)))
    with pytest.raises(sw.ShardwrightError, match="SW0202") as caught:
        parse_module(program.format(adding.format("add", "%1")))
    assert "did you mean" not in str(caught.value)
