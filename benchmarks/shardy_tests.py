"""
Every function of Shardy's own tests as a program of its own: how many are partitioned, and why others are refused.

    python -m shardwright.benchmarks.shardy_tests FOLDER [--json FILE]

FOLDER is `shardy/dialect/sdy` of Shardy's sources. The call that the tests make everywhere (`@sdy_testonly`) is
registered, and the function that compares is given where a file leaves it out.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from shardwright.compiler.stages import read_module
from shardwright.diagnostics import ShardwrightError
from shardwright.dialects.text.parsing import parse_module
from shardwright.frontends.functions.dtensor import BACKEND
from shardwright.frontends.jax.calls.custom_calls import register_custom_call

_NAME = r'@(?:"[^"]*"|[\w.$-]+)'
_FUNCTION = re.compile(rf"func\.func\s+(?:(?P<kind>public|private|nested)\s+)?(?P<name>{_NAME})")
_MESH = re.compile(rf'"?sdy\.mesh"?\s*({_NAME})\s*=\s*(?:#sdy\.mesh)?(?=<)')
_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|->|[()\[\]{}<>]')
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)
_OPENING, _CLOSING = "([{<", ")]}>"
_RESULTS, _TYPE, _ATTRIBUTES = r"\s*->\s*(?=\()", r"\s*->\s*!?[\w.]+", r"\s*attributes\s*(?=\{)"
_AFTER_ARGUMENTS = tuple(map(re.compile, (_RESULTS, _TYPE, _ATTRIBUTES, r"\s*(?=\{)", r"\s*loc\s*(?=\()")))

GREATER = """func.func private @top_k_gt_f32_comparator(
    %a: tensor<f32>, %b: tensor<f32>, %i: tensor<f32>, %j: tensor<f32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}
"""
"""What `ApproxTopK` compares by, which Shardy's tests name and do not give."""

PARTITIONED, DRIVER, CALLED, DECLARED = "partitioned", "runs others", "taken with its caller", "has no body"


@dataclass(frozen=True)
class Function:
    """A function of a text, from its first letter to the end of its body."""

    name: str
    text: str
    is_private: bool

    @property
    def has_body(self) -> bool:
        """Whether it is more than a declaration."""
        return "return" in self.text

    @property
    def uses(self) -> frozenset[str]:
        """The symbols that it names."""
        return frozenset(re.findall(_NAME, self.text)) - {self.name}


@dataclass(frozen=True)
class Outcome:
    """What became of a function."""

    file: str
    part: int
    function: str
    state: str
    message: str = ""


def without_comments(text: str) -> str:
    """
    The text with blanks for comments.

    >>> without_comments('a // b {')
    'a       '
    """
    return _TOKEN.sub(lambda found: " " * len(found[0]) if found[0].startswith("//") else found[0], text)


def closed(text: str, start: int) -> int:
    """
    The place behind what closes the bracket at `start`.

    >>> closed('f("(") -> (a<b>) x', 1)
    6
    """
    depth = 0
    for token in _TOKEN.finditer(text, start):
        depth += (token[0] in _OPENING) - (token[0] in _CLOSING)
        if depth == 0 and token[0] in _CLOSING:
            return token.end()
    raise ValueError(f"nothing closes {text[start : start + 20]!r}")


def functions(text: str) -> dict[str, Function]:
    """The functions of a text without comments, by name."""
    found: dict[str, Function] = {}
    end = 0
    for match in _FUNCTION.finditer(text):
        if match.start() >= end:
            end = _end(text, match.end())
            name = match["name"]
            found[name] = Function(name, text[match.start() : end], match["kind"] == "private")
    return found


def _end(text: str, place: int) -> int:
    """Where a function ends whose name ends at `place`: behind its arguments, results, attributes and body."""
    place = closed(text, text.index("(", place))
    for form in _AFTER_ARGUMENTS:
        match = form.match(text, place)
        if match is not None:
            place = match.end()
            place = closed(text, place) if text.startswith(tuple(_OPENING), place) else place
    return place


def reached(table: dict[str, Function], start: str) -> list[str]:
    """The functions that one reaches, itself first."""
    found, waiting = [start], [start]
    while waiting:
        new = [name for name in sorted(table[waiting.pop()].uses & table.keys()) if name not in found]
        found += new
        waiting += new
    return found


def program(text: str, name: str) -> str:
    """The program of one function: itself as `main`, those that it reaches, and the meshes that these name."""
    text = without_comments(text)
    table = functions(text)
    taken = [table[other] for other in reached(table, name)]
    used = frozenset[str]().union(*(function.uses for function in taken))
    meshes = [text[match.start() : closed(text, match.end())] for match in _MESH.finditer(text) if match[1] in used]
    body = "\n".join(_visible(function, name) for function in taken)
    if name != "@main":
        body = re.sub(r"@main(?![\w.$-])", "@main_", body)
        body = re.sub(re.escape(name) + r"(?![\w.$-])", "@main", body)
    missing = "@top_k_gt_f32_comparator" in used and "@top_k_gt_f32_comparator" not in table
    aliases = re.findall(r"^\s*[#!]\w+\s*=.*$", text, re.MULTILINE)
    return "\n".join([*aliases, f"module{_attributes(text)} {{", *meshes, body, GREATER if missing else "", "}"])


def _visible(function: Function, entry: str) -> str:
    kind = "public" if function.name == entry else "private"
    return _FUNCTION.sub(f"func.func {kind} {function.name}", function.text, count=1)


def _attributes(text: str) -> str:
    """The attributes of the text's own module."""
    match = re.search(r"\bmodule\b\s*(?:@\S+\s*)?attributes\s*(?=\{)", text)
    return "" if match is None else " attributes " + text[match.end() : closed(text, match.end())]


def parts_of(path: Path) -> list[str]:
    """The modules of a file."""
    text = path.read_text()
    return _SPLIT.split(text) if "split-input-file" in text else [text]


def outcomes(folder: Path) -> Iterator[Outcome]:
    """What becomes of each function of the tests in a folder, but for those that expect an error."""
    for path in sorted(folder.rglob("*.mlir")):
        for number, part in enumerate(parts_of(path)):
            if "expected-error" not in part:
                for name in functions(without_comments(part)):
                    yield Outcome(str(path.relative_to(folder)), number, name, *_outcome(part, name))


def _outcome(part: str, name: str) -> tuple[str, str]:
    table = functions(without_comments(part))
    function = table[name]
    if "interpreter.run_parallel" in function.text or "check.expect" in function.text:
        return DRIVER, ""
    if not function.has_body:
        return DECLARED, ""
    public = (other.name for other in table.values() if not other.is_private)
    if "sdy.func_manual_axes" in function.text and any(name in reached(table, other) for other in public):
        return CALLED, ""
    try:
        read_module(parse_module(program(part, name), name), name, BACKEND).partition()
    except ShardwrightError as error:
        return error.diagnostics[0].code, error.diagnostics[0].message
    return PARTITIONED, ""


def main(arguments: list[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="shardy_tests", description=str(__doc__).strip().split("\n", maxsplit=1)[0])
    parser.add_argument("folder", type=Path, help="shardy/dialect/sdy of Shardy's sources")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what became of each function there")
    options = parser.parse_args(arguments)
    register_custom_call("sdy_testonly", None)
    found = list(outcomes(options.folder))
    for state, count in Counter(outcome.state for outcome in found).most_common():
        print(f"{count:6} {state}")
    if options.json is not None:
        options.json.write_text(json.dumps([asdict(outcome) for outcome in found], indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
