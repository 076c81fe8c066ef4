"""No message leads to a page that only the repository has: who installed the package has its help texts alone."""

from __future__ import annotations

import ast
from pathlib import Path

from shardwright.diagnostics.registry import ENTRIES

ROOT = Path(__file__).resolve().parents[3]
ELSEWHERE = {"tests", "docs", "benchmarks", "examples", "build"}
MODULES = [
    path
    for path in sorted(ROOT.rglob("*.py"))
    if not any(part in ELSEWHERE or part.startswith(".") for part in path.relative_to(ROOT).parts)
]


def messages(source: str) -> list[str]:
    """The texts of a module that are no docstrings: a text that stands alone tells readers of the source something."""
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = (node for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str))
    return [str(node.value) for node in texts if id(node) not in alone]


def test_docstrings_are_no_messages() -> None:
    assert messages('"""docs/a.md"""\ndef f(x):\n    """docs/b.md"""\n    return f"see docs/{x}.md"\n') == [
        "see docs/",
        ".md",
    ]


def test_no_entry_names_a_page() -> None:
    texts = [text for entry in ENTRIES.values() for text in (entry.title, entry.explanation, entry.help)]
    assert not [text for text in texts if "docs/" in text or ".md" in text]


def test_no_message_names_a_page() -> None:
    assert len(MODULES) > 300
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in MODULES}
    found = {
        name: [text for text in messages(source) if "docs/" in text]
        for name, source in sources.items()
        if "docs/" in source
    }
    assert {name: texts for name, texts in found.items() if texts} == {}
