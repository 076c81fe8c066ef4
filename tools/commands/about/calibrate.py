"""`shardwright calibrate`: a topology by which `price` foretells what programs take on this machine."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.figures import readable_seconds
from shardwright.tools.terminal.arguments import CodedArgumentParser
from shardwright.tools.terminal.guard import DONE, CommandState
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from shardwright.layout import Topology
    from shardwright.views.calibration import Accuracy, Sample

DESCRIPTION = """Run programs on this machine, and fit what price takes for seconds to what they took: what a device
computes and moves in a second, what an op and a run take to begin, and latency and bandwidth of links. Programs are
measured on random inputs, some dozen runs of each. The more they differ, the more they tell."""

EPILOG = """examples:
  shardwright calibrate a.mlir b.mlir c.mlir --out machine.json     on NumPy, all devices in one process
  shardwright calibrate *.mlir --judge other.mlir more.mlir         and say how well others are foretold
  shardwright launch -n 2 -m shardwright calibrate *.mlir           on two processes
  XLA_FLAGS=--xla_force_host_platform_device_count=8 shardwright calibrate *.mlir --engine jax
  shardwright price model.mlir --topology machine.json              what it is for
"""

FEWEST = 6
"""Programs, so that what is fitted is less than what is known."""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright calibrate`."""
    parser = CodedArgumentParser(prog="shardwright calibrate", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="the programs: StableHLO text with layouts")
    parser.add_load()
    add("--judge", nargs="+", default=[], metavar="FILE", help="further programs, by which the fit is judged")
    add("--engine", choices=["numpy", "jax"], default="numpy", help="what runs them (default: numpy)")
    add("--by-axis", action="store_true", help="a link for each axis, where all meshes have the same; else one for all")
    add("--out", metavar="FILE", help="write the topology there, as price and --objective seconds take it")
    add("--json", action="store_true", help="print the topology and what it foretells as JSON on standard output")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright calibrate`; returns the exit code."""
    options = command_line().parse_args(arguments)
    _check(options)
    from shardwright.compiler.reading.bytecode import required
    from shardwright.serialization.files.text import write_atomically
    from shardwright.tools.programs.measuring import measured
    from shardwright.views.calibration import accuracy, fitted

    required("scipy", "calibrate")
    samples = [measured(path, state, options.engine) for path in options.files]
    if options.by_axis:
        _check_axes(samples)
    topology = fitted(samples, by_axis=options.by_axis)
    judges = [measured(path, state, options.engine) for path in options.judge] or samples
    if options.out is not None:
        write_atomically(options.out, json.dumps(topology.as_dict(), indent=2) + "\n")
    found = accuracy(judges, topology)
    write_report(_data(judges, topology, found), None if options.json else _text(options, judges, topology, found))
    return DONE


def _check(options: argparse.Namespace) -> None:
    count = len(set(options.files))
    if count < FEWEST:
        raise ShardwrightError(
            Diagnostic(
                "SW0701",
                f"{count} programs are too few to fit a topology to",
                help=f"give {FEWEST} or more, of several sizes, which compute and send in several ways",
            )
        )


def _check_axes(samples: Sequence[Sample]) -> None:
    """Axes of one name on meshes of several kinds are no links of one machine."""
    found = list(dict.fromkeys(tuple(sample.stage.interface.mesh.sizes) for sample in samples))
    if len(found) > 1:
        named = " and ".join(", ".join(axes) or "none" for axes in found[:2])
        help_text = "leave --by-axis out for one link, or give programs on one mesh"
        raise ShardwrightError(
            Diagnostic("SW0701", f"the programs' meshes have different axes: {named}", help=help_text)
        )


def _data(judges: Sequence[Sample], topology: Topology, found: Accuracy) -> dict[str, Any]:
    return {
        "topology": topology.as_dict(),
        "mean_error": found.error,
        "kendall_tau": found.tau,
        "programs": [
            {"program": each.name, "seconds": each.seconds, "foretold": each.foretold(topology)} for each in judges
        ],
    }


def _text(options: argparse.Namespace, judges: Sequence[Sample], topology: Topology, found: Accuracy) -> str:
    which = "others" if options.judge else "the same"
    links = [
        f"{axis}: {readable_seconds(link.latency)} a message, {link.bandwidth:.3g} bytes in a second"
        for axis, link in topology.links.items()
    ]
    lines = [
        f"a device: {topology.flops:.3g} operations in a second, {topology.memory:.3g} bytes of its memory",
        f"an op begins in {readable_seconds(topology.launch)}, a run in {readable_seconds(topology.start)}",
        *links,
        f"{len(judges)} programs, {which} as it was fitted to: {found.error:.0%} off on average, "
        f"Kendall's tau {found.tau:.2f}",
    ]
    return "\n".join(lines) + "\n"
