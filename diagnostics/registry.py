"""
Every error code: its title, what it means, and what to do about it.

`docs/errors.md` is generated from here (`python -m shardwright.tools.error_index --write`). A code is never reused for
another meaning.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

CODE_PATTERN = re.compile(r"SW\d{4}")

AREAS = {
    "SW01": "Meshes and layouts",
    "SW02": "Reading programs",
    "SW03": "Verifying programs",
    "SW04": "Sharding rules and partitioning",
    "SW05": "The Python API",
    "SW06": "Running",
    "SW07": "Commands and files",
}


@dataclass(frozen=True)
class Entry:
    """One code: a short title, a paragraph that explains it, and the way out."""

    title: str
    explanation: str
    help: str


ENTRIES: dict[str, Entry] = {
    "SW0701": Entry(
        "wrong use of a command",
        "The command line does not fit what the command accepts: an unknown or ambiguous option, a missing file name, "
        "or a value of the wrong kind.",
        "run the command with --help; the message names the closest option",
    ),
    "SW0702": Entry(
        "a file cannot be read",
        "The file does not exist, is a directory, or may not be read by this user.",
        "check the path; give '-' or no file name to read standard input",
    ),
    "SW0703": Entry(
        "a file is not text",
        "Programs are UTF-8 text. The file holds other bytes: an archive, MLIR bytecode, or a damaged download.",
        "print MLIR bytecode as text first, for instance with mlir-opt or jax's as_text()",
    ),
    "SW0704": Entry(
        "a file cannot be written",
        "The output goes into a temporary file next to its place and is then renamed, so that nobody sees half of it. "
        "One of the two steps was refused.",
        "check that the directory exists and can be written",
    ),
    "SW0705": Entry(
        "unknown pass or pipeline",
        "A name after -p is neither a pass nor a named pipeline.",
        "shardwright-opt --list-passes prints all names",
    ),
    "SW0706": Entry(
        "malformed pipeline text",
        "The text after -p is a list of passes separated by commas, each with options in braces: "
        "'canonicalize,propagate-layouts{option=1}'.",
        "quote the whole text in the shell, separate options by one space",
    ),
    "SW0707": Entry(
        "wrong pass option",
        "The pass has no option of that name, the value has another type, or a required option is missing.",
        "shardwright-opt --list-passes prints each pass's options; Booleans are written option=true",
    ),
    "SW0708": Entry(
        "diagnostics are not the expected ones",
        "With --verify-diagnostics, each `// expected-error {{...}}` comment must meet exactly one diagnostic on its "
        "line, and each diagnostic one comment.",
        "correct the comment (@+1 and @-1 move it by lines, @below and @above by one) or the program",
    ),
    "SW0709": Entry(
        "an array file cannot be read",
        "The file is not a NumPy .npz archive, is truncated, or holds Python objects, which are never loaded.",
        "write it again with numpy.savez(path, in_0=..., in_1=...)",
    ),
    "SW0710": Entry(
        "an array is missing",
        "The archive must hold in_0, in_1, ... for the arguments (and out_0, out_1, ... for the results), one each.",
        "the message lists what the archive holds and what the program needs",
    ),
    "SW0711": Entry(
        "an array has the wrong shape",
        "The array's shape is not the global shape that the program declares.",
        "give global (unsharded) arrays; the program's line says which shape",
    ),
    "SW0712": Entry(
        "an array has the wrong element type",
        "The array's element type is not the program's. bfloat16 may also be stored as its bits in uint16.",
        "convert the array before saving it; nothing is converted silently",
    ),
    "SW0713": Entry(
        "results differ",
        "A result differs from the expected one (--expect) or from the unsharded run (--check) by more than "
        "atol + rtol * |expected|.",
        "--rtol and --atol set the tolerance; report a difference that rounding cannot explain",
    ),
    "SW0714": Entry(
        "no value at that line",
        "--why explains the values that a source line defines; this line defines none in the partitioned program.",
        "the message names the closest lines that do",
    ),
    "SW0715": Entry(
        "unknown command",
        "The word after `shardwright` is not one of its commands.",
        "shardwright --help lists them",
    ),
    "SW0716": Entry(
        "no entry function",
        "A program to run or explain needs one public function with a body named main.",
        "rename the function, or export the whole program",
    ),
    "SW0717": Entry(
        "not enough memory",
        "A tensor of the program, or what a run needs at once, is larger than this machine's memory. All devices are "
        "simulated in one process.",
        "run a smaller program, or only partition it with shardwright-opt, which needs no arrays",
    ),
    "SW0799": Entry(
        "internal error",
        "Shardwright itself failed. The input and the command were saved to the named file.",
        "report it with that file",
    ),
}


def area(code: str) -> str:
    """
    The area that a code belongs to.

    >>> area("SW0701")
    'Commands and files'
    """
    return AREAS[code[:4]]
