"""The text after `-p`: expansion, options, and what is said about mistakes."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from shardwright.diagnostics import ShardwrightError
from shardwright.tools.programs.driver import list_passes, split_chunks
from shardwright.tools.programs.pipeline_spec import Catalogue, load_catalogue, option_texts, parse_passes, summary


@dataclass(frozen=True)
class FirstPass(ModulePass):
    """
    Does the first thing.

    Slowly.
    """

    name = "first"
    how_often: int = 1
    fast: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Nothing."""


@dataclass(frozen=True)
class SecondPass(ModulePass):
    """Does the second thing."""

    name = "second"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        """Nothing."""


CATALOGUE = Catalogue(
    {"first": lambda: FirstPass, "second": lambda: SecondPass},
    {"both": ("first", "second"), "all": "both,first{how-often=2}"},
)


def test_passes_with_options() -> None:
    assert parse_passes("first{how-often=3 fast=true},second", CATALOGUE) == (FirstPass(3, True), SecondPass())
    assert parse_passes("", CATALOGUE) == ()


def test_pipelines_expand_also_in_pipelines() -> None:
    assert parse_passes("all,second", CATALOGUE) == (FirstPass(), SecondPass(), FirstPass(2), SecondPass())


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("frist", "SW0705", "did you mean 'first'?"),
        ("zzz", "SW0705", "--list-passes"),
        ("bot", "SW0705", "did you mean 'both'?"),
        ("first,,second", "SW0706", "at character 7"),
        ("first,,second", "SW0706", "here comes the name of a pass, not ','"),
        ("first{", "SW0706", "the name of an option, or '}', but the text ends"),
        ("first second", "SW0706", "after a pass comes a comma, or its options in braces, not a space, at character 6"),
        ("first{fast", "SW0706", "after an option comes '=' and its value, a space, or '}', but the text ends"),
        ("first{how-often=}", "SW0706", "here comes a value: a number, true, false, a name, or a text in"),
        ("first{how-often=1,,2}", "SW0706", "not ',', at character 19"),
        ("first{fast=true;}", "SW0706", "no pass and no option is written so, not ';', at character 16"),
        ("first[second]", "SW0706", "no pass has others in brackets"),
        ("first\nsecond", "SW0706", r"malformed pipeline 'first\nsecond'"),
        ("first{how-oftn=1}", "SW0707", "did you mean 'how-often'?"),
        ("first{how-often=many}", "SW0707", "how-often: int = 1; fast: bool = false"),
        ("first{how-often=many fast=true}", "SW0707", "pass 'first' cannot take how-often=many fast=true"),
        ("first{fast}", "SW0707", ""),
        ("second{x=1}", "SW0707", "it takes no options"),
        ("both{x=1}", "SW0707", "takes no options"),
    ],
)
def test_mistakes(text: str, code: str, says: str) -> None:
    with pytest.raises(ShardwrightError) as caught:
        parse_passes(text, CATALOGUE)
    assert caught.value.diagnostics[0].code == code
    assert caught.value.diagnostics[0].help
    assert says in str(caught.value)
    assert not re.search(r"Expected|Unknown|token|Incompatible|<class|argument", str(caught.value))


def test_summaries_and_options() -> None:
    assert summary(FirstPass) == "Does the first thing."
    assert option_texts(FirstPass) == ["how-often: int = 1", "fast: bool = false"]
    listing = list_passes(CATALOGUE, as_json=False)
    assert "Does the second thing." in listing
    assert "how-often: int = 1" in listing
    assert "both                   first,second" in listing


def test_every_pass_of_the_project_says_in_a_line_what_it_does() -> None:
    catalogue = load_catalogue()
    for name, factory in catalogue.passes.items():
        pass_class = factory()
        assert pass_class.name == name
        assert 15 < len(summary(pass_class)) < 120, name
    for name in catalogue.pipelines:
        assert parse_passes(name, catalogue)


def test_chunks_keep_their_line_numbers() -> None:
    chunks = split_chunks("one\ntwo\n// -----\nthree\n  // -----\n\nfive")
    lines = [[(number, line) for number, line in enumerate(chunk.split("\n"), 1) if line] for chunk in chunks]
    assert lines == [[(1, "one"), (2, "two")], [(4, "three")], [(7, "five")]]
