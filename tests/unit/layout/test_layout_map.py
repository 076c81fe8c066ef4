"""Layouts by the names of variables: which key counts, what is told, and what is warned of."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import pytest

from shardwright.diagnostics import ShardwrightTypeError, ShardwrightValueError
from shardwright.diagnostics.diagnostic import SourceLocation
from shardwright.layout import Layout, Mesh
from shardwright.layout.layout_map import LayoutMap

MESH = Mesh(x=2, y=2)
ROWS, COLUMNS = Layout(["x", None], MESH), Layout([None, "y"], MESH)


@dataclass
class Weight:
    """Stands for a variable."""

    path: str
    name: str
    shape: tuple[int, ...] = (4, 4)
    layout: Layout | None = None

    def set_layout(self, layout: Layout) -> None:
        self.layout = layout


@dataclass
class Model:
    """Stands for a model of Keras."""

    variables: list[Weight]


def test_the_first_key_that_is_met_counts_unless_a_name_is_a_key() -> None:
    layouts = LayoutMap({"w": ROWS, "out/w": COLUMNS})
    assert (layouts["w1"], layouts["out/w"], layouts.get("in/w")) == (ROWS, COLUMNS, ROWS)
    assert (layouts.get("bias"), layouts.get("bias", COLUMNS)) == (None, COLUMNS)
    assert layouts.patterns("out/w2") == ["w", "out/w"]
    assert layouts.patterns("out/w") == ["out/w"]
    assert layouts.patterns("bias") == layouts.patterns() == []
    with pytest.raises(KeyError):
        layouts["bias"]


def test_a_variable_is_known_by_its_path_and_by_its_name() -> None:
    layouts = LayoutMap([("^kernel$", ROWS), ("dense/", COLUMNS)])
    assert layouts.patterns(Weight("dense/kernel", "kernel")) == ["^kernel$", "dense/"]
    assert layouts.patterns(Weight("other/bias", "bias")) == []


def test_keys_come_and_go() -> None:
    layouts = LayoutMap({"w": ["x", None]}, MESH)
    layouts["b"] = COLUMNS
    assert (list(layouts), len(layouts), layouts["w"]) == (["w", "b"], 2, ROWS)
    del layouts["w"]
    assert list(layouts) == ["b"]


@pytest.mark.parametrize(
    ("pattern", "layout", "mesh", "words"),
    [
        ("(", ROWS, None, "no regular expression"),
        (3, ROWS, None, "no regular expression"),
        ("w", ["x"], None, r"the layout of 'w' is \['x'\]"),
        ("w", 7, MESH, "the layout of 'w' is 7"),
    ],
)
def test_what_no_map_holds(pattern: str, layout: object, mesh: Mesh | None, words: str) -> None:
    with pytest.raises(ShardwrightValueError, match=rf"SW0553.*{words}"):
        LayoutMap({pattern: layout}, mesh)


def test_a_model_is_moved_and_told() -> None:
    model = Model([Weight("a/kernel", "kernel"), Weight("a/bias", "bias", (4,)), Weight("c", "c", (2,), COLUMNS)])
    told = LayoutMap({"kernel": ROWS}).apply(model)
    assert [weight.layout for weight in model.variables] == [ROWS, None, COLUMNS]
    assert str(told).splitlines() == [
        "variable  shape   layout                      pattern",
        'a/kernel  [4, 4]  [{"x"}, {}] Mesh(x=2, y=2)  kernel',
        "a/bias    [4]     -                           -",
        'c         [2]     [{}, {"y"}] Mesh(x=2, y=2)  -',
    ]


def test_resolving_moves_nothing() -> None:
    weight = Weight("w", "w")
    (row,) = LayoutMap({"w": ROWS}).resolve({"given name w": weight}).rows
    assert (row.path, row.shape, row.layout, row.pattern, row.variable) == ("given name w", (4, 4), ROWS, "w", weight)
    assert weight.layout is None
    with pytest.raises(ShardwrightTypeError, match="SW0507"):
        LayoutMap({"w": ROWS}).resolve(7)


def test_patterns_that_nobody_meets_are_warned_of() -> None:
    place = SourceLocation("program.py", 7, 1)
    layouts = LayoutMap({"w": ROWS, "z": ROWS})
    for count, few in ((8, "w7$"), (9, r"w7, \.\.\.$")):
        with pytest.warns(
            UserWarning, match=rf"(?s)SW0553.*no variable meets 'z'.*there are w0, w1, .*{few}"
        ) as caught:
            layouts.warn_unmet({"w"}, [f"w{index}" for index in range(count)], place)
        assert (caught[0].filename, caught[0].lineno) == ("program.py", 7)
    with pytest.warns(UserWarning, match="no variable meets") as caught:
        layouts.resolve([Weight("w", "w")])
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        layouts.warn_unmet({"w", "z"}, ["w"])
        layouts.warn_unmet(set(), [])


def test_a_variable_with_two_layouts_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="SW0553.*w1 meets 'w', '1'; the first one counts"):
        LayoutMap({"w": ROWS, "1": COLUMNS}).resolve([Weight("w1", "w1")])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        LayoutMap({"w": ROWS, "1": ROWS}).resolve([Weight("w1", "w1")])


@pytest.mark.parametrize("models", [[memoryview(b"ab")], "abc", [None]])
def test_what_has_no_name_is_no_variable(models: object) -> None:
    with pytest.raises(ShardwrightTypeError, match=r"SW0507.* is no variable"):
        LayoutMap({"w": ROWS}).resolve(models)
