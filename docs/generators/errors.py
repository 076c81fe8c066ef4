"""
The error index `docs/errors.md`, generated from the registry.

`python -m shardwright.docs.generators.errors` prints it; `--write` puts it in its place.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from shardwright.diagnostics.registry import AREAS, ENTRIES, area
from shardwright.tools.programs.files import write_atomically
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState, guarded
from shardwright.tools.terminal.output import write_data

INDEX = Path(__file__).resolve().parents[1] / "errors.md"

HEADING = """# Errors

Every error that Shardwright reports carries a code, the place in your program, and a way out:

```
model.mlir:12:10: error[SW0701]: what is wrong
  | %3 = stablehlo.add %1, %2 : tensor<4xf32>
  |      ^
  note: why
  help: what to do about it
```

Commands exit with 1 after one of these, and with 2 after an internal error (SW0799). In Python the same text is the
message of a `shardwright.ShardwrightError`.

<!-- Generated from diagnostics/registry.py by `python -m shardwright.docs.generators.errors --write`. -->
"""


def error_index() -> str:
    """The text of `docs/errors.md`."""
    parts = [HEADING]
    for prefix, title in AREAS.items():
        codes = sorted(code for code in ENTRIES if code.startswith(prefix))
        if codes:
            assert area(codes[0]) == title
            parts.append(f"\n## {title}\n")
        parts += [entry_text(code) for code in codes]
    return "".join(parts)


def entry_text(code: str) -> str:
    """One code's part of the index."""
    entry = ENTRIES[code]
    return f"\n### {code}: {entry.title}\n\n{entry.explanation}\n\n**What to do:** {entry.help}.\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the index, or write it with `--write`; returns the exit code."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    return guarded(CommandState("error_index"), lambda _: _run(arguments))


def _run(arguments: Sequence[str]) -> int:
    parser = CodedArgumentParser(prog="error_index", description="Print the error index, docs/errors.md.")
    parser.add_argument("--write", action="store_true", help="write docs/errors.md instead")
    if parser.parse_args(arguments).write:
        write_atomically(str(INDEX), error_index())
    else:
        write_data(error_index())
    return DONE


if __name__ == "__main__":
    sys.exit(main())
