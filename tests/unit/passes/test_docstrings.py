"""The Before and After blocks of the passes' docstrings, executed."""

import inspect
import re
import textwrap

import pytest
from xdsl.dialects.builtin import ModuleOp

from shardwright.dialects import make_context
from shardwright.dialects.text.parsing import parse_module
from shardwright.dialects.text.printing import print_module
from shardwright.passes import all_passes
from shardwright.passes.stages import STAGE, set_stage

STAGE_BEFORE = {
    "propagate-layouts": "traced",
    "fit-borders": "propagated",
    "insert-relayouts": "propagated",
    "lower-relayouts": "aligned",
    "optimize-collectives": "planned",
    "localize": "planned",
}
"""The stage that an example starts in, where its pass asks for one."""


def example(docstring: str) -> tuple[str, str]:
    """The two programs of a docstring: what follows `Before:` and `After:`, indented."""
    # Python 3.13 takes the margin away itself.
    match = re.search(r"\nBefore:\n(.*?)\nAfter:\n(.*?)(?:\n\n\S|\Z)", inspect.cleandoc(docstring), re.DOTALL)
    assert match, "the docstring has no Before: and After: blocks"
    return textwrap.dedent(match[1]).strip("\n"), textwrap.dedent(match[2]).strip()


def program(text: str) -> ModuleOp:
    """The module of an example: as it stands, or the body of a function of %x: tensor<4xf32> when it has none."""
    if "func.func" not in text:
        result = text.rsplit(" : ", 1)[1]
        text = f"func.func public @main(%x: tensor<4xf32>) -> {result} {{\n{text}\n}}"
    return parse_module(text, "example.mlir")


@pytest.mark.parametrize("name", all_passes())
def test_docstring_shows_what_the_pass_does(name: str) -> None:
    pass_class = all_passes()[name]()
    before, after = (program(text) for text in example(pass_class.__doc__ or ""))
    if name in STAGE_BEFORE:
        set_stage(before, STAGE_BEFORE[name])
    before.verify()
    pass_class().apply(make_context(), before)
    before.verify()
    for module in (before, after):
        module.attributes.pop(STAGE, None)
    assert print_module(before) == print_module(after)
