"""The text after `-p`: passes, their options and named pipelines, with coded errors."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from xdsl.passes import ModulePass, get_pass_option_infos
from xdsl.utils.arg_spec import ArgSpec, parse_pipeline
from xdsl.utils.exceptions import ArgSpecParseError

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.suggestions import propose


@dataclass(frozen=True)
class Catalogue:
    """What `-p` may name: passes by their factories, and pipelines as lists of pass texts."""

    passes: Mapping[str, Callable[[], type[ModulePass]]]
    pipelines: Mapping[str, str | Iterable[str]]


def load_catalogue() -> Catalogue:
    """The project's passes and pipelines; imported here, since listing options needs neither."""
    from shardwright.compiler.pipelines import PIPELINES
    from shardwright.passes import all_passes

    return Catalogue(all_passes(), PIPELINES)


def parse_passes(text: str, catalogue: Catalogue) -> tuple[ModulePass, ...]:
    """The passes that `text` names, in order, named pipelines expanded."""
    return tuple(_build(spec, catalogue) for spec in _expand(_specs(text), catalogue))


def pipeline_text(steps: str | Iterable[str]) -> str:
    """
    A named pipeline as the text that `-p` takes.

    >>> pipeline_text(("inline", "cse"))
    'inline,cse'
    """
    return steps if isinstance(steps, str) else ",".join(steps)


def summary(pass_class: type[ModulePass]) -> str:
    """The first line of a pass's docstring."""
    lines = (pass_class.__doc__ or "").strip().split("\n")
    return lines[0].strip()


def option_texts(pass_class: type[ModulePass]) -> list[str]:
    """Each option of a pass as `name: type = default`."""
    texts: list[str] = []
    for option in get_pass_option_infos(pass_class):
        default = "" if option.default_value is None else f" = {option.default_value}"
        # Types written under `from __future__ import annotations` are strings, and come quoted.
        expected_type = option.expected_type.strip("'")
        texts.append(f"{option.name.replace('_', '-')}: {expected_type}{default}")
    return texts


def _specs(text: str) -> list[ArgSpec]:
    try:
        specs = list(parse_pipeline(text))
    except ArgSpecParseError as error:
        # xDSL writes a heading, the place, the text, a caret and what is wrong, one line each.
        _, place, *_, said = str(error).rstrip().split("\n")
        raise _malformed(text, int(place.rsplit(":")[-1]) - 1, said.strip()) from error
    _check_once(text)
    return specs


def _check_once(text: str) -> None:
    """SW0707 for an option that is given twice to one pass, of which xDSL keeps the last one."""
    for name, options in _OPTIONS.findall(_QUOTED.sub('""', text)):
        given = [option.partition("=")[0].replace("_", "-") for option in options.split()]
        twice = next((option for option in given if given.count(option) > 1), None)
        if twice is not None:
            message = f"pass '{name}' is given the option '{twice}' twice"
            raise ShardwrightError(Diagnostic("SW0707", message, help="leave one of them out"))


def _malformed(text: str, position: int, said: str) -> ShardwrightError:
    """SW0706 for a text that ends too early, or for what stands at `position`, which `said` tells in xDSL's words."""
    due = next((ours for theirs, ours in _DUE if theirs in said), "no pass and no option is written so")
    word = _WORD.match(text, position)
    found = f"not {word.group().strip()!r}" if word and word.group().strip() else "not a space"
    at = f"{found}, at character {position + 1}" if word else "but the text ends"
    help_text = "write 'first-pass,second-pass{option=1 other=true}'"
    return ShardwrightError(Diagnostic("SW0706", f"malformed pipeline {text!r}: {due}, {at}", help=help_text))


_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')
_OPTIONS = re.compile(r"([\w-]+)\{([^}]*)\}")
_WORD = re.compile(r"[\w-]+|\s+|.", re.DOTALL)

_DUE = (
    ("pass name", "here comes the name of a pass"),
    ("argument name", "here comes the name of an option, or '}'"),
    ("mlir-opt", "no pass has others in brackets"),
    ("comma", "after a pass comes a comma, or its options in braces"),
    ("equals", "after an option comes '=' and its value, a space, or '}'"),
    ("space", "after a value comes a space, or '}'"),
    ("argument value", 'here comes a value: a number, true, false, a name, or a text in "quotes"'),
)
"""What may stand at a place, by what xDSL says about it."""


def _expand(specs: Iterable[ArgSpec], catalogue: Catalogue) -> Iterable[ArgSpec]:
    for spec in specs:
        if spec.name in catalogue.passes:
            yield spec
        elif spec.name in catalogue.pipelines:
            if spec.parameters:
                help_text = "write its passes out: 'shardwright-opt --list-passes' shows them"
                raise ShardwrightError(Diagnostic("SW0707", f"pipeline '{spec.name}' takes no options", help=help_text))
            yield from _expand(_specs(pipeline_text(catalogue.pipelines[spec.name])), catalogue)
        else:
            known = [*catalogue.passes, *catalogue.pipelines]
            help_text = propose(spec.name, known, "'shardwright-opt --list-passes' prints all names")
            raise ShardwrightError(Diagnostic("SW0705", f"no pass or pipeline is named '{spec.name}'", help=help_text))


def _build(spec: ArgSpec, catalogue: Catalogue) -> ModulePass:
    pass_class = catalogue.passes[spec.name]()
    known = [field.name for field in dataclasses.fields(pass_class) if field.init and field.name != "name"]
    given = spec.normalize_parameter_names().parameters
    for option in given:
        if option not in known:
            raise _wrong_option(spec.name, f"has no option '{option.replace('_', '-')}'", option, pass_class)
    for option in pass_class.required_fields() - given.keys():
        raise _wrong_option(spec.name, f"needs its option '{option.replace('_', '-')}'", "", pass_class)
    try:
        return pass_class.from_spec(spec)
    except (ValueError, TypeError) as error:
        values = " ".join(f"{option.replace('_', '-')}={_written(value)}" for option, value in given.items())
        raise _wrong_option(spec.name, f"cannot take {values}", "", pass_class) from error


def _written(value: Iterable[object]) -> str:
    """An option's value as `-p` takes it."""
    return ",".join(str(each).lower() if isinstance(each, bool) else str(each) for each in value)


def _wrong_option(name: str, what: str, option: str, pass_class: type[ModulePass]) -> ShardwrightError:
    options = option_texts(pass_class)
    listing = f"its options are: {'; '.join(options)}" if options else "it takes no options"
    names = [text.split(":")[0] for text in options]
    help_text = propose(option.replace("_", "-"), names, listing)
    return ShardwrightError(Diagnostic("SW0707", f"pass '{name}' {what}", help=help_text))
