"""What passes make of a program, shown pass by pass: whole, as differences, or in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import unified_diff
from pathlib import Path

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.suggestions import propose
from shardwright.serialization.files.text import write_atomically
from shardwright.tools.terminal.output import write_talk


@dataclass(frozen=True)
class Wanted:
    """Which programs are shown: before and after which passes, whether as differences, and the folder for files."""

    before: frozenset[str] = frozenset()
    after: frozenset[str] = frozenset()
    differences: bool = False
    folder: str | None = None

    def __bool__(self) -> bool:
        return bool(self.before or self.after or self.differences or self.folder is not None)


def chosen(option: str, names: Sequence[str], every: bool, passes: Sequence[str]) -> frozenset[str]:
    """
    The passes that `option` names, or every one; one that does not run is refused (SW0701).

    >>> sorted(chosen("--print-ir-after", ["cse"], False, ["cse", "dce"]))
    ['cse']
    """
    for name in names:
        if name not in passes:
            message = f"{option}: no pass '{name}' runs here"
            otherwise = f"the passes that run are {', '.join(passes)}" if passes else "give passes with -p"
            raise ShardwrightError(Diagnostic("SW0701", message, help=propose(name, passes, otherwise)))
    return frozenset(passes if every else names)


class PrintedPasses:
    """Shows what is wanted on standard error, at once, so that it is there when a later pass fails."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._text = ""
        self._files = 0

    def between(self, previous: str | None, following: str | None, show: Callable[[], str]) -> None:
        """Show the program, as `show` prints it, that stands after the pass `previous` and before `following`."""
        if not self._wanted:
            return
        text = show()
        if previous in self._wanted.after:
            write_talk(f"// after {previous}:\n{text.rstrip()}")
        if previous is not None and self._wanted.differences:
            write_talk(difference(self._text, text, previous))
        if following in self._wanted.before:
            write_talk(f"// before {following}:\n{text.rstrip()}")
        if self._wanted.folder is not None:
            self._write(Path(self._wanted.folder), previous or "input", text)
        self._text = text

    def _write(self, folder: Path, name: str, text: str) -> None:
        """One file more in the folder, which is made where there is none (SW0704 where it cannot be)."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or str(error)
            message = f"cannot write to the folder '{folder}': {why}"
            help_text = "name a folder that you may write to"
            raise ShardwrightError(Diagnostic("SW0704", message, help=help_text)) from error
        write_atomically(str(folder / f"{self._files:03}_{name}.mlir"), text)
        self._files += 1


def difference(before: str, after: str, name: str) -> str:
    """
    What a pass changed, as a unified diff.

    >>> print(difference("a\\nb\\n", "a\\nc\\n", "cse"))
    --- before cse
    +++ after cse
    @@ -1,2 +1,2 @@
     a
    -b
    +c
    >>> difference("a\\n", "a\\n", "cse")
    '// cse changes nothing'
    """
    names = f"before {name}", f"after {name}"
    lines = unified_diff(before.splitlines(), after.splitlines(), *names, lineterm="")
    return "\n".join(lines) or f"// {name} changes nothing"
