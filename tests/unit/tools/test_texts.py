"""The exact texts of errors that no program text can cause."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects.test import TestOp

from shardwright.diagnostics import ShardwrightError
from shardwright.layout.mesh import Mesh
from shardwright.rules.sharding import add_row, rule_for

TEXTS: list[tuple[Callable[[], object], str]] = [
    (
        lambda: Mesh(x=0),
        f"{__file__}:16:17: error[SW0101]: mesh axis 'x' has size 0\n  help: use a whole number of at least 1",
    ),
    (
        lambda: Mesh([("x", 2), ("x", 2)]),
        f"{__file__}:20:17: error[SW0101]: an axis name is repeated in ['x', 'x']\n  help: give each axis its own name",
    ),
    (
        lambda: rule_for(TestOp()),
        "error[SW0401]: 'test.op' has no sharding rule\n"
        "  note: a row says which dims may be split together; with this one every device computes the whole op\n"
        '  help: add one, for example: from shardwright.rules import add_row; add_row("test.op", "->")',
    ),
    (
        lambda: add_row("test.other", "i j -> i", j="nonsense"),
        "error[SW0402]: the sharding row of 'test.other': 'nonsense' is no kind of factor\n"
        "  help: kinds of factors are pass, replicate, permute, sum, max, min, prod, and, or",
    ),
]


@pytest.mark.parametrize(("cause", "text"), TEXTS)
def test_texts(cause: Callable[[], object], text: str) -> None:
    with pytest.raises(ShardwrightError) as caught:
        cause()
    assert str(caught.value) == text
