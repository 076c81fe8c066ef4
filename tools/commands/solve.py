"""`shardwright solve`: the cheapest choices of a cost network, with a bound."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from shardwright.diagnostics import ShardwrightError, SourceLocation
from shardwright.tools.programs.files import display_name, read_text
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from shardwright.networks import Network, Solution

DESCRIPTION = """Find the cheapest choices of a cost network: nodes with choices, edges that say what two nodes' choices
cost together, and a limit on what is used at a time. The file is JSON in the format of the contest on intra-operator
parallelism (github.com/google/iopddl). No choices cost less than the bound that is printed."""

EPILOG = """examples:
  shardwright solve example.json
  shardwright solve asplos-2025-iopddl-G.json --time-limit 120 --json
"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright solve`."""
    parser = CodedArgumentParser(prog="shardwright solve", description=DESCRIPTION, epilog=EPILOG)
    parser.add_argument("file", help="the network, as JSON; '-' is standard input")
    about = "seconds to search at most (default: 60); narrow networks take none to speak of"
    parser.add_argument("--time-limit", type=_seconds, default=60.0, metavar="S", help=about)
    parser.add_argument("--json", action="store_true", help="print the solution as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright solve`; returns the exit code: 1 where no choices were found that are allowed."""
    options = command_line().parse_args(arguments)
    from shardwright.networks import solve
    from shardwright.networks.instances import read_instance

    text = read_text(options.file)
    try:
        network = read_instance(text)
    except ShardwrightError as error:
        location = SourceLocation(display_name(options.file), 1, 1)
        raise ShardwrightError(replace(error.diagnostics[0], location=location)) from error
    solution = solve(network, options.time_limit)
    write_report(_data(network, solution), None if options.json else _text(network, solution))
    return DONE if solution.choices is not None else USER_ERROR


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is no time: give seconds, more than 0")
    return seconds


def _data(network: Network, solution: Solution) -> dict[str, object]:
    choices = solution.choices
    peak = None if network.memory is None or choices is None else _number(network.memory.peak(choices))
    gap = math.inf if choices is None else solution.gap
    value, bound, gap = (
        _number(each) if math.isfinite(each) else None for each in (solution.value, solution.bound, gap)
    )
    return {
        "choices": None if choices is None else list(choices),
        "cost": value,
        "bound": bound,
        "gap": gap,
        "proved": solution.proved,
        "peak_usage": peak,
    }


def _number(value: float) -> float:
    """As it is written: whole where it is whole."""
    return int(value) if value == int(value) else value


def _text(network: Network, solution: Solution) -> str:
    size = f"nodes {len(network.costs):,}, edges {len(network.edges):,}"
    if solution.choices is None:
        why = "there are no choices that are allowed" if solution.proved else "no choices were found that are allowed"
        return f"{why} ({size})"
    lines = [f"[{', '.join(map(str, solution.choices))}]", f"cost {_figure(solution.value)} ({size})"]
    if solution.proved:
        lines.append("proved: nothing costs less")
    else:
        lines.append(f"nothing costs less than {_figure(solution.bound)}: a gap of {100 * solution.gap:.2f} %")
    if network.memory is not None:
        peak, limit = _figure(network.memory.peak(solution.choices)), _figure(network.memory.limit)
        lines.append(f"{peak} of {limit} used at most")
    return "\n".join(lines)


def _figure(value: float) -> str:
    return f"{_number(value):,}" if math.isfinite(value) else "nothing known"
