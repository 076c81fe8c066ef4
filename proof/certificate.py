"""What a certificate says, as data and as JSON: three programs, and in which numbers they were compared."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields

from shardwright.diagnostics import Diagnostic, ShardwrightValueError

FORMAT = "shardwright certificate 1"
"""The first field of each certificate."""

LARGEST = 1 << 30
"""Characters of a certificate that is read, at most."""


@dataclass(frozen=True)
class Certificate:
    """
    The claim that the `local` program, run on each device, computes what the `program` does.

    All programs are texts. `planned` is the program between the two: each value with its layout, each move as a
    collective. Where the programs are too large to run, `reduced` ones of the same structure stand for `program` and
    `local`: empty where there is no need of them. Random numbers follow from the `seed`.

    >>> Certificate.from_json(Certificate("module {}", "module {}", "module {}", "", "", 3).to_json()).seed
    3
    """

    program: str
    planned: str
    local: str
    reduced_program: str
    reduced_local: str
    seed: int

    def to_json(self) -> str:
        """The certificate as text: names and numbers, and programs that nobody runs but the checker, on its numbers."""
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1) + "\n"

    @staticmethod
    def from_json(text: str) -> Certificate:
        """The certificate of a text; `ValueError` (SW0331) for what is none."""
        if len(text) > LARGEST:
            raise _malformed(f"it is longer than {LARGEST:,} characters")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise _malformed(f"it is no JSON: {error}") from error
        if not isinstance(found, dict) or found.get("format") != FORMAT:  # pyright: ignore[reportUnknownMemberType]
            raise _malformed(f"its format is not '{FORMAT}'")
        content: dict[str, object] = {field.name: found.get(field.name) for field in fields(Certificate)}  # pyright: ignore[reportUnknownMemberType]
        wrong = [name for name, item in content.items() if type(item) is not (int if name == "seed" else str)]
        if wrong:
            raise _malformed(f"{', '.join(wrong)} is missing, or of another type")
        return Certificate(**content)  # pyright: ignore[reportArgumentType]


def _malformed(why: str) -> ShardwrightValueError:
    help_text = "write it anew: shardwright certify FILE -o CERTIFICATE"
    return ShardwrightValueError(Diagnostic("SW0331", f"this is no certificate: {why}", help=help_text))
