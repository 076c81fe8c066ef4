"""
The error index `docs/errors.md`, generated from the registry.
"""

from __future__ import annotations

from shardwright.diagnostics.registry import AREAS, ENTRIES, area

HEADING = """# Errors

Every error that Shardwright reports carries a code, the place in your program, and a way out:

```
model.mlir:12:8: error[SW0302]: what is wrong
  12 |   %3 = stablehlo.add %1, %2 : tensor<4xf32>
     |        ^^^^^^^^^^^^^ -- what else it is about
  note: why
  help: what to do about it
```

Commands exit with 1 after one of these, and with 2 after an internal error (SW0799). In Python the same text is the
message of a `shardwright.ShardwrightError`.

<!-- Generated from diagnostics/registry.py by `make pages`. -->
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
