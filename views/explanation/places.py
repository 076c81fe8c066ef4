"""Places of the user's source in running text, as short as they can be."""

from __future__ import annotations

import re
from pathlib import PurePath

_PLACE = re.compile(r"(?P<file>[^\s:()]+\.\w+):(?P<line>\d+)(?::\d+)?")


def brief_places(text: str, file: str = "") -> str:
    """
    `text` with places in the program itself as line numbers, and others without folders and columns.

    >>> brief_places("stablehlo.add at model.mlir:12:5 needs what b.py:3 made", "model.mlir")
    'stablehlo.add at line 12 needs what b.py:3 made'
    >>> brief_places("stablehlo.add at /home/me/train.py:12:5 needs it")
    'stablehlo.add at train.py:12 needs it'
    """
    own = re.sub(rf"{re.escape(file)}:(\d+)(:\d+)?", r"line \1", text) if file else text
    return _PLACE.sub(lambda match: f"{PurePath(match['file']).name}:{match['line']}", own)
