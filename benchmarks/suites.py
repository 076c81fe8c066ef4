"""The benchmarks. Each is one function of `Settings` that returns a report; `SUITES` names them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path

from shardwright.benchmarks import files, ours, shardy, xla
from shardwright.benchmarks.check_programs import OK, Checked, check
from shardwright.benchmarks.export_transformer import SIZES, Options, export
from shardwright.benchmarks.inputs import inputs_alone
from shardwright.benchmarks.jax_child import compile_seconds
from shardwright.benchmarks.layers import without_layers
from shardwright.benchmarks.measure import Timed, in_a_row, interleave, timed
from shardwright.benchmarks.processes import processes
from shardwright.benchmarks.quality import quality
from shardwright.benchmarks.report import Cell, Report, compared
from shardwright.benchmarks.scaling import scaling
from shardwright.benchmarks.through import through
from shardwright.diagnostics import ShardwrightError

NO_JAX = "skipped: JAX is not installed (make peers installs it)"
OURS, JAX, SHARDY = "shardwright", "jax", "shardy"
MILLION = 1_048_576


@dataclass(frozen=True)
class Settings:
    """How much to do: repetitions of short and of long runs, depths, and the seconds that JAX may take for one."""

    repetitions: int = 15
    long_repetitions: int = 3
    depths: tuple[int, ...] = (6, 12, 24, 48)
    jax_timeout: float = 240.0
    program_count: int | None = None
    storage_bytes: int = 1 << 30
    most_processes: int = 1024
    folder: Path = files.PROGRAMS

    def programs(self, report: Report) -> Iterator[files.ProgramFile]:
        """The programs that are timed, or the first few; those that are refused are noted in the report."""
        for file in files.benchmarked(self.folder)[: self.program_count]:
            try:
                ours.compile_text(file.text)
            except ShardwrightError as error:
                report.notes.append(f"{file.name}: {str(error).splitlines()[0]}")
            else:
                yield file

    def described(self) -> list[files.ProgramFile]:
        """The programs that say what others send for them, or the first few."""
        return files.described(self.folder)[: self.program_count]


SMOKE = Settings(
    repetitions=1,
    long_repetitions=1,
    depths=(1,),
    jax_timeout=60.0,
    program_count=1,
    storage_bytes=1 << 24,
    most_processes=2,
    folder=files.OWN,
)


def compile_time(settings: Settings) -> Report:
    """Text to executable: ours from parse to the compiled function, JAX's from parse to the loaded executable."""
    report = Report("compile", "from text to executable; modules are loaded, but nothing is remembered from before")
    for file in settings.programs(report):
        contenders: dict[str, Timed] = {OURS: partial(ours.compile_cold, file.text)}
        if xla.available():
            contenders[JAX] = timed(partial(xla.compile_text, file.text))
        samples = interleave(contenders, settings.repetitions)
        report.add({"program": file.name, **compared(samples, OURS, JAX)})
    return _noted(report)


def step_time(settings: Settings) -> Report:
    """A step among others on the same inputs, split and placed before the clock starts on both sides."""
    report = Report("step", f"one step of five in a row, NumPy engine against JAX on {xla.DEVICES} host devices")
    for file in settings.programs(report):
        inputs = file.inputs(ours.signature(file.text).arguments)
        executable = ours.compile_text(file.text)
        contenders: dict[str, Timed] = {OURS: in_a_row(partial(ours.step_seconds, executable, inputs))}
        if xla.available():
            loaded = xla.compile_text(file.text)
            placed = loaded.place(inputs)
            contenders[JAX] = in_a_row(timed(partial(loaded.run, placed)))
        samples = interleave(contenders, settings.repetitions, warmups=3)
        report.add({"program": file.name, **compared(samples, OURS, JAX), "peak bytes": executable.peak_bytes})
    return _noted(report)


def partition_time(settings: Settings) -> Report:
    """The passes alone: ours down to per-device types, Shardy's down to collectives on global types."""
    report = Report("partition", "the passes alone, from a parsed module, next to Shardy's own (C++) through jaxlib")
    for file in settings.programs(report):
        contenders: dict[str, Timed] = {OURS: partial(ours.partition_seconds, file.text)}
        if xla.available() and shardy.can_partition(file.text):
            contenders[SHARDY] = partial(shardy.partition_seconds, file.text)
        samples = interleave(contenders, settings.repetitions)
        report.add({"program": file.name, **compared(samples, OURS, SHARDY)})
    return _noted(report)


def depth(settings: Settings) -> Report:
    """An unrolled transformer's training step, by depth: cost per op must not grow."""
    report = Report("depth", "a transformer's training step by layers, text to executable (JAX once)")
    if not xla.available():
        return _noted(report)
    roads: dict[int, ours.Road] = {}
    for layers in settings.depths:
        text = export(Options(layers))
        roads[layers] = _median_road(text, settings.long_repetitions)
        row = _depth_row(layers, roads[layers])
        row[f"{JAX} s"] = compile_seconds(text, settings.jax_timeout) or f"more than {settings.jax_timeout:.0f}"
        report.add(row)
    report.parts += [_by_pass(roads), _by_op(roads[max(roads)])]
    return report


def _by_pass(roads: dict[int, ours.Road]) -> Report:
    """Microseconds per op of each pass at each depth, and its seconds at the largest."""
    rows: dict[str, dict[str, Cell]] = {}
    for layers, road in roads.items():
        for step in road.steps:
            row = rows.setdefault(step.name, {"pass": step.name})
            row[f"{layers} layers us per op"] = round(step.seconds / road.ops_by_name.total() * 1e6, 1)
    for step in roads[max(roads)].steps:
        rows[step.name][f"{max(roads)} layers s"] = round(step.seconds, 3)
    return Report("passes", "cost by pass and depth", list(rows.values()))


def _by_op(road: ours.Road) -> Report:
    """How often each op occurs in the deepest program."""
    rows: list[dict[str, Cell]] = [{"op": name, "count": count} for name, count in road.ops_by_name.most_common(12)]
    return Report("ops", "the most frequent ops of the deepest program", rows)


def _median_road(text: str, repetitions: int) -> ours.Road:
    """Of several runs, the one that took the median time."""
    runs = sorted((ours.road(text) for _ in range(repetitions)), key=lambda road: road.seconds)
    return runs[len(runs) // 2]


def _depth_row(layers: int, road: ours.Road) -> dict[str, Cell]:
    ops = road.ops_by_name.total()
    seconds = {f"{OURS} s": round(road.seconds, 3), "us per op": round(road.seconds / ops * 1e6, 1)}
    return {"layers": layers, "ops": ops, "local ops": road.local_ops, **seconds}


def devices(settings: Settings) -> Report:
    """The same program on a mesh of 8 and of 1,048,576 devices: partitioning must cost the same."""
    report = Report("devices", f"partitioning the same program for 8 and for {MILLION:,} devices")
    if not xla.available():
        return _noted(report)
    rows_per_device = SIZES.batch // Options().batch_axis
    many = Options(layers=2, batch_axis=MILLION // Options().model_axis)
    many = replace(many, shape=replace(SIZES, batch=rows_per_device * many.batch_axis))
    few = {"same shapes per device": SIZES, "same global shapes": many.shape}
    for what, shape in few.items():
        texts = {f"{MILLION:,}": export(many), "8": export(Options(layers=2, shape=shape))}
        contenders = {name: partial(ours.partition_seconds, text) for name, text in texts.items()}
        row = compared(interleave(contenders, settings.repetitions), f"{MILLION:,}", "8")
        report.add({"program": f"transformer, {many.layers} layers, {what}", **row})
    return report


def sent_bytes(settings: Settings) -> Report:
    """Bytes sent per device against what `meta.json` records for two other partitioners; results are checked, too."""
    report = Report("bytes", "bytes sent per device and run, counted, next to those of two other partitioners")
    programs = settings.described()
    counts: Counter[str] = Counter()
    for file in programs:
        checked = check(file)
        theirs = [(file.meta.get(peer) or {}).get("sent_bytes") for peer in ("xla", SHARDY)]
        sent = None if checked.sent is None else float(checked.sent)
        verdict = verdict_of(checked, *theirs)
        counts[verdict] += 1
        row: dict[str, Cell] = {"program": file.name, OURS: sent, "xla": theirs[0], SHARDY: theirs[1]}
        report.add(row | {"of xla": _share(sent, theirs[0]), "verdict": verdict})
        report.notes += [f"{file.name}: {fault}" for fault in checked.faults[:1]]
    report.notes.append(", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    if not programs:
        report.notes = [f"skipped: there is no program with a meta.json in {settings.folder}"]
    return report


def engine_layers(settings: Settings) -> Report:
    """Steps without each layer of the NumPy engine."""
    return without_layers(files.benchmarked(settings.folder)[: settings.program_count], settings.repetitions)


def plan_quality(settings: Settings) -> Report:
    """Plans next to layouts by hand, other partitioners, and the least there is; nothing runs."""
    report = quality(settings.described(), settings.program_count)
    if xla.available():
        report.parts.append(inputs_alone(settings.described()))
    return _noted(report)


def verdict_of(checked: Checked, xla_bytes: float | None, shardy_bytes: float | None) -> str:
    """
    One program in a word: how its bytes compare, or why there are none to compare.

    >>> import fractions
    >>> one = Checked("a", "ok", fractions.Fraction(8), 8.0, 0.1)
    >>> verdict_of(one, 8.0, 9.0), verdict_of(one, 9.0, 7.0), verdict_of(one, 7.0, 6.0), verdict_of(one, None, None)
    ('at most both', 'more than Shardy', 'more than XLA', 'right')
    """
    if checked.state != OK or checked.sent is None:
        return checked.state
    if xla_bytes is None:
        return "right"
    if checked.sent > xla_bytes:
        return "more than XLA"
    return "at most both" if shardy_bytes is None or checked.sent <= shardy_bytes else "more than Shardy"


def storage_files(settings: Settings) -> Report:
    """Riegeli files against plain ones on the same disk, and against the codecs alone."""
    if find_spec("numba") is None:
        return Report("storage", "skipped: pip install 'shardwright[storage]'")
    from shardwright.benchmarks.storage import storage

    return storage(settings.storage_bytes, settings.repetitions)


def checkpoint_files(settings: Settings) -> Report:
    """Checkpoints against plain files, safetensors and tensorstore, and what devices read in other layouts."""
    if find_spec("blake3") is None:
        return Report("checkpoints", "skipped: pip install 'shardwright[checkpoints]'")
    from shardwright.benchmarks.checkpoints import checkpoints

    return checkpoints(settings.storage_bytes // 2, max(1, settings.repetitions // 3))


def process_steps(settings: Settings) -> Report:
    """Steps on several MPI processes next to one."""
    return processes(settings.folder, settings.repetitions, settings.program_count)


def through_xla(settings: Settings) -> Report:
    """Steps that XLA compiled from our partitioning next to its own."""
    with_models = settings.program_count is None
    return through(settings.described(), settings.repetitions, settings.long_repetitions, with_models)


def weak_scaling(settings: Settings) -> Report:
    """One process's part of steps on ever more processes, on a network that is a model."""
    return scaling(settings.most_processes)


def _share(ours_bytes: float | None, theirs: float | None) -> float | None:
    return round(ours_bytes / theirs, 3) if ours_bytes is not None and theirs else None


SUITES: dict[str, Callable[[Settings], Report]] = {
    "compile": compile_time,
    "step": step_time,
    "partition": partition_time,
    "depth": depth,
    "devices": devices,
    "bytes": sent_bytes,
    "quality": plan_quality,
    "layers": engine_layers,
    "storage": storage_files,
    "checkpoints": checkpoint_files,
    "through": through_xla,
    "processes": process_steps,
    "scaling": weak_scaling,
}


def _noted(report: Report) -> Report:
    if not xla.available():
        report.notes.append(NO_JAX)
    return report
