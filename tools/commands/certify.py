"""`shardwright certify`: the proof that the partitioned program computes what was written, and its reading again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.registry import coded
from shardwright.serialization.files.text import write_atomically
from shardwright.tools.programs.program import parse, parsed, program_text
from shardwright.tools.terminal.arguments import CodedArgumentParser, seed
from shardwright.tools.terminal.guard import DONE, USER_ERROR, CommandState, report_diagnostics
from shardwright.tools.terminal.output import write_report

if TYPE_CHECKING:
    from shardwright.proof import Certificate, Verdict

DESCRIPTION = """Partition a program, prove that what the devices run computes what was written, and write the
certificate; or read a certificate again, with a checker that knows nothing of how programs are partitioned. Both
programs are run on random integers modulo a prime, where no rounding hides a wrong sum."""

EPILOG = """examples:
  shardwright certify model.mlir                            prove it, and say of each kind of op how
  shardwright certify model.mlir -o model.cert              and keep the certificate
  shardwright certify --verify model.cert model.mlir        read the certificate again
  shardwright certify model.mlir --auto data=4,model=2      choose layouts, and prove what is as it was written

exit codes: 0 proved, 1 not proved (the reasons are named) or a mistake, 2 a wrong program: a fault of Shardwright"""


def command_line() -> CodedArgumentParser:
    """The options of `shardwright certify`."""
    parser = CodedArgumentParser(prog="shardwright certify", description=DESCRIPTION, epilog=EPILOG)
    add = parser.add_argument
    add("file", help="the program: as it was written, or, with --verify, the planned or local one")
    parser.add_load()
    parser.add_automatic()
    add("-o", "--output", metavar="CERTIFICATE", help="write the certificate there")
    add("--verify", metavar="CERTIFICATE", help="read this certificate for the program")
    add("--seed", type=seed, default=0, help="seed of the random numbers (0)")
    add("--json", action="store_true", help="print what was proved of each op as JSON")
    return parser


def command(arguments: Sequence[str], state: CommandState) -> int:
    """The command `shardwright certify`; returns the exit code."""
    options = command_line().parse_args(arguments)
    certificate = _certificate(options.verify, state) if options.verify is not None else None
    with program_text(options.file, state) as (name, text):
        verdict = _proved(options, text, name) if certificate is None else _verified(certificate, options, text, name)
    write_report(_data(verdict), None if options.json else _text(verdict))
    if verdict.proved:
        return DONE
    title = "the certificate does not hold" if verdict.faults else "the program is not proved"
    why = (*verdict.faults, *verdict.unproved)
    report_diagnostics(ShardwrightError(coded("SW0332", title, *why)), state.sources)
    return USER_ERROR


def _proved(options: Any, text: str, name: str) -> Verdict:
    """What the checker says of the program's certificate, which is written where that was asked for."""
    from shardwright.compiler.checking import wrong_program
    from shardwright.compiler.pipelines import LOCALIZE, run_pipeline
    from shardwright.proof import certify

    # Layouts may be chosen with the batch in parts: what is proved is of the program as it was written.
    written, planned = parse(text, name), parsed(text, name, options)
    run_pipeline(planned, ["plan"])
    local = planned.clone()
    run_pipeline(local, LOCALIZE)
    proof = certify(written, planned, local, options.seed)
    if proof.faults:
        raise wrong_program("the partitioned program computes something else: " + "; ".join(proof.faults))
    if options.output is not None:
        write_atomically(options.output, proof.certificate.to_json())
    return proof.verdict


def _certificate(path: str, state: CommandState) -> Certificate:
    """The certificate that was kept in a file."""
    from shardwright.proof import Certificate

    with program_text(path, state) as (_, text):
        return Certificate.from_json(text)


def _verified(certificate: Certificate, options: Any, text: str, name: str) -> Verdict:
    """What the checker says of it, of a program that nobody lays out any more (SW0701)."""
    from shardwright.proof import check, defined

    if options.auto is not None:
        help_text = "leave it out: the certificate has the layouts that were chosen"
        raise ShardwrightError(Diagnostic("SW0701", "--auto is for programs to partition", help=help_text))
    return check(certificate, defined(parsed(text, name, options)))


def _data(verdict: Verdict) -> dict[str, Any]:
    return {
        "proved": verdict.proved,
        "how": verdict.how,
        "faults": verdict.faults,
        "unproved": verdict.unproved,
        "ops": [asdict(op) for op in verdict.ops],
    }


def _text(verdict: Verdict) -> str:
    """The verdict, and for each kind of op how it was proved."""
    said = f"proved: {len(verdict.ops)} ops, by {verdict.how}" if verdict.proved else "not proved"
    kinds = Counter((op.op, op.types, op.values) for op in verdict.ops)
    lines = [f"  {count:>5} {name:<28} {types}; {values}" for (name, types, values), count in sorted(kinds.items())]
    return "\n".join([said, *lines])
