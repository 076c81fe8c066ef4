"""`// expected-error {{...}}` comments: places, matching, and what is reported when they do not fit."""

from __future__ import annotations

import pytest

from shardwright.diagnostics import Diagnostic, ShardwrightError, SourceLocation
from shardwright.tools.programs.expected import check_expectations, expectations


def error(line: int | None, message: str, *notes: str) -> Diagnostic:
    location = SourceLocation("f", line, 1) if line else None
    return Diagnostic("SW0201", message, location, notes, "help text")


@pytest.mark.parametrize(
    ("place", "line"), [("", 3), ("@+1", 4), ("@-2", 1), ("@above", 2), ("@below", 4), ("@unknown", 0)]
)
def test_places(place: str, line: int) -> None:
    (found,) = expectations(f"\n\n  // expected-error {place} {{{{bad}}}}\n")
    assert (found.line, found.text, found.written) == (line, "bad", 3)


def test_several_comments_on_one_line_and_other_severities() -> None:
    found = expectations("// expected-error {{a}} // expected-note@+1 {{b}} // expected-help {{c}}")
    assert [(item.severity, item.line) for item in found] == [("error", 1), ("note", 2), ("help", 1)]


def test_all_met() -> None:
    text = "// expected-error @+1 {{SW0201: two of}}\n// expected-note {{why}}\n// expected-help @-1 {{help}}"
    check_expectations("f", text, [error(2, "two of them", "why")])


def test_notes_and_help_need_not_be_expected() -> None:
    check_expectations("f", "// expected-error {{a}}", [error(1, "a", "note")])


def test_each_comment_meets_one_diagnostic() -> None:
    text = "// expected-error {{a}} // expected-error {{a}}"
    check_expectations("f", text, [error(1, "a"), error(1, "a")])
    with pytest.raises(ShardwrightError, match='expected error "a" on line 1 was not produced'):
        check_expectations("f", text, [error(1, "a")])


def test_names_the_missing_and_the_unexpected() -> None:
    with pytest.raises(ShardwrightError) as caught:
        check_expectations("f", "// expected-error {{other}}", [error(1, "a"), error(None, "b")])
    lines = [str(diagnostic).split("\n")[0] for diagnostic in caught.value.diagnostics]
    assert lines == [
        'f:1:1: error[SW0708]: expected error "other" on line 1 was not produced',
        'f:1:1: error[SW0708]: unexpected error "SW0201: a"',
        'f:1:1: error[SW0708]: unexpected error "SW0201: b"',
    ]


def test_the_right_text_on_the_wrong_line_is_not_enough() -> None:
    with pytest.raises(ShardwrightError, match="was not produced"):
        check_expectations("f", "// expected-error {{a}}", [error(2, "a")])
