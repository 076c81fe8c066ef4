"""What MkDocs is told besides its settings: pages made of the API, and of files that pages link to."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from shardwright.docs.generators.reference import reference

DOCS = Path(__file__).resolve().parents[1]
ROOT = DOCS.parent

_LINK = re.compile(r"\]\((?P<path>[^)#\s]+)(?P<anchor>#[^)]*)?\)")
_CODE = {".py": "python", ".mlir": "text", ".toml": "toml", ".sh": "bash"}


def on_files(files: Files, config: Any) -> Files:
    """Adds the reference, and each file outside of `docs/` to which a page leads."""
    for name, text in reference().items():
        files.append(File.generated(config, f"reference/{name}.md", content=text))
    waiting, known = [DOCS / page.src_uri for page in files.documentation_pages() if not page.generated_by], set[Path]()
    while waiting:
        page = waiting.pop()
        for target in _linked(page):
            if target not in known and not target.is_relative_to(DOCS):
                known.add(target)
                waiting += [target] if target.suffix == ".md" else []
                files.append(File.generated(config, _place(target), content=_shown(target)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Leads the links of our own pages to where their targets stand in the site."""
    return markdown if page.file.generated_by else relinked(markdown, DOCS / page.file.src_uri)


def relinked(markdown: str, origin: Path) -> str:
    """
    The text of a file of the repository with links that are right in the site.

    >>> relinked("[how](../CONTRIBUTING.md), [why](decisions/README.md#x)", DOCS / "api.md")
    '[how](repository/CONTRIBUTING.md), [why](decisions/README.md#x)'
    """

    def moved(link: re.Match[str]) -> str:
        if re.match(r"[a-z]+:", link["path"]):
            return link[0]
        target = os.path.relpath(_place(_target(origin, link["path"])), os.path.dirname(_place(origin)))
        return f"]({target}{link['anchor'] or ''})"

    return _LINK.sub(moved, markdown)


def _linked(page: Path) -> list[Path]:
    paths = [link["path"] for link in _LINK.finditer(page.read_text()) if not re.match(r"[a-z]+:", link["path"])]
    return [target for path in paths if (target := _target(page, path)).is_file()]


def _target(origin: Path, path: str) -> Path:
    found = Path(os.path.normpath(origin.parent / path))
    return found / "README.md" if found.is_dir() else found


def _place(path: Path) -> str:
    """Where a file of the repository stands in the site."""
    if path.is_relative_to(DOCS):
        return str(path.relative_to(DOCS))
    place = f"repository/{path.relative_to(ROOT)}"
    return place if path.suffix == ".md" else f"{place}.md"


def _shown(path: Path) -> str:
    text = path.read_text()
    if path.suffix == ".md":
        return relinked(text, path)
    if path.suffix == ".ipynb":
        return "\n\n".join(_cell(cell["cell_type"], "".join(cell["source"])) for cell in json.loads(text)["cells"])
    return f"# {path.relative_to(ROOT)}\n\n````{_CODE.get(path.suffix, 'text')}\n{text}````\n"


def _cell(kind: str, source: str) -> str:
    return source if kind == "markdown" else f"```python\n{source}\n```"
