"""Command lines: argparse with coded errors instead of usage dumps and exit code 2."""

from __future__ import annotations

import argparse
import re
from typing import Any, NoReturn, Protocol

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import size_in_bytes
from shardwright.diagnostics.suggestions import propose
from shardwright.tools.terminal.logs import Verbose
from shardwright.tools.terminal.output import write_data

_UNRECOGNIZED = re.compile(r"unrecognized arguments: (\S+)")


class _Load(argparse.Action):
    """`--load FILE`: the file is a plugin."""

    def __call__(self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, *_: Any) -> None:
        from shardwright.plugins import load_file

        load_file(values)


class _Writable(Protocol):
    def write(self, text: str, /) -> object: ...


class CodedArgumentParser(argparse.ArgumentParser):
    """An `ArgumentParser` whose errors are `SW0701` with the closest option's name."""

    def __init__(self, *, prog: str, description: str, epilog: str | None = None) -> None:
        layout = argparse.RawDescriptionHelpFormatter
        super().__init__(prog=prog, description=description, epilog=epilog, allow_abbrev=False, formatter_class=layout)
        about = "say on standard error what is done, -vv in detail"
        self.add_argument("-v", "--verbose", action=Verbose, nargs=0, default=0, help=about)

    def add_program(self) -> None:
        """A program, and the plugins that know what is in it."""
        self.add_argument("file", help="the program: StableHLO text with layouts; '-' is standard input")
        self.add_load()

    def add_callbacks(self) -> None:
        """The option that leaves calls back into Python out."""
        about = "leave out prints and other calls back into Python, where nothing needs their results"
        self.add_argument("--callbacks", choices=["drop"], help=about)

    def add_automatic(self) -> None:
        """The options that have layouts chosen."""
        about = "choose a layout for all that has none, over a mesh of these axes"
        self.add_argument("--auto", type=sizes_of_mesh, metavar="AXIS=SIZE,...", help=about)
        about = "with --auto: what each device may hold at once, such as 16GB"
        self.add_argument("--memory-limit", type=size_of_memory, metavar="SIZE", help=about)
        about = "with --memory-limit: compute values again where nothing fits otherwise"
        self.add_argument("--recompute", action="store_true", help=about)
        about = "with --memory-limit: do the batch in parts, one after the other, where nothing fits otherwise"
        self.add_argument("--microbatches", action="store_true", help=about)
        about = "with --auto: what devices do least of, sending bytes (the default) or seconds"
        self.add_argument("--objective", choices=["bytes", "seconds"], help=about)
        about = "JSON of links and devices that seconds are told by, as shardwright price --json prints it"
        self.add_argument("--topology", metavar="FILE", help=about)

    def add_load(self) -> None:
        """The option that loads plugins."""
        about = "a Python file with ops, rules, passes or engines; may be given several times"
        self.add_argument("--load", action=_Load, metavar="FILE", help=about)

    def add_type(self) -> None:
        """The options that say what message a file holds."""
        about = "what message it is: GraphDef, SavedModel, ... where neither the file nor its name says it"
        self.add_argument("--type", help=about)
        self.add_argument("--descriptors", metavar="FILE", help="a descriptor set that has the type")

    def print_help(self, file: _Writable | None = None) -> None:
        """Print the help; where standard output is closed or full, that is SW0704 (argparse says nothing)."""
        if file is None:
            write_data(self.format_help())
        else:
            super().print_help(file)

    def error(self, message: str) -> NoReturn:
        """Raise the coded error for a wrong command line."""
        wrong = _UNRECOGNIZED.search(message)
        help_text = f"run '{self.prog} --help'"
        if wrong:
            help_text = propose(wrong.group(1).split("=")[0], self._option_string_actions, help_text)
        raise ShardwrightError(Diagnostic("SW0701", f"{self.prog}: {message}", help=help_text))


def positive_line(text: str) -> int:
    """
    A line number given on a command line.

    >>> positive_line("12")
    12
    """
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a line number: lines count from 1")
    return int(text)


def seed(text: str) -> int:
    """
    A whole number from which random numbers begin.

    >>> seed("7")
    7
    """
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is not a seed: give a whole number from 0")
    return int(text)


def tolerance(text: str) -> float:
    """
    A tolerance given on a command line: a finite number that is not negative.

    >>> tolerance("1e-5")
    1e-05
    """
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a tolerance: give a number such as 1e-5")
    return value


def axis_sizes(text: str) -> dict[str, int]:
    """
    The sizes of axes given on a command line.

    >>> axis_sizes("data=2,model=4")
    {'data': 2, 'model': 4}
    """
    pairs = [part.partition("=") for part in text.split(",")]
    if not all(name and size.isdecimal() for name, _, size in pairs):
        raise argparse.ArgumentTypeError(f"'{text}' is not AXIS=SIZE,..., such as data=2,model=4")
    sizes = {name.strip(): int(size) for name, _, size in pairs}
    if len(sizes) < len(pairs):
        raise argparse.ArgumentTypeError(f"'{text}' gives an axis two sizes")
    return sizes


def sizes_of_mesh(text: str) -> dict[str, int]:
    """
    The axes of a mesh given on a command line, each with some devices.

    >>> sizes_of_mesh("data=2,model=1")
    {'data': 2, 'model': 1}
    """
    sizes = axis_sizes(text)
    if 0 in sizes.values():
        raise argparse.ArgumentTypeError(f"'{text}' gives an axis no devices")
    return sizes


def size_of_memory(text: str) -> int:
    """
    A number of bytes given on a command line, as people write it.

    >>> size_of_memory("16GB"), size_of_memory("1MiB")
    (16000000000, 1048576)
    """
    try:
        return size_in_bytes(text)
    except ShardwrightError as error:
        raise argparse.ArgumentTypeError(error.diagnostics[0].message) from None


UNITS = {"": 0, "K": 10, "M": 20, "G": 30}


def byte_count(text: str) -> int:
    """
    A number of bytes given on a command line, with K, M or G for KiB, MiB or GiB.

    >>> byte_count("64M") == 64 * 2**20, byte_count("500")
    (True, 500)
    """
    match = re.fullmatch(r"([0-9]{1,18})([KMG]?)(?:i?B)?", text, re.IGNORECASE)
    if match is None:
        raise argparse.ArgumentTypeError(f"'{text}' is no number of bytes: give one such as 500, 64M or 1G")
    return int(match[1]) << UNITS[match[2].upper()]
