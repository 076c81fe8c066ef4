"""
Processes that save and load in one folder at the same time, and some that are killed while they do.

Everything that is saved says its number in each of its parts, so that a mix of two versions shows. Run as a script:
`storm.py storm FOLDER SECONDS`, `storm.py kill FOLDER COUNT` or `storm.py fill FOLDER ROUNDS`. The first two only fork,
and save and load in children, because threads do not survive that.
"""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import shardwright as sw
from shardwright.serialization.files.pending import is_pending
from shardwright.serialization.merging import Merger
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for

MESH = sw.Mesh(x=4, y=2)
SHAPES = {"first": (128, 64), "second": (3,), "third": (40, 8)}
LAYOUTS = {"first": sw.Layout(["x", "y"], MESH), "third": sw.Layout([None, "y"], MESH)}


def state(number: float) -> dict[str, Any]:
    """Three arrays whose elements all are this number."""
    return {
        name: sw.Variable(np.full(shape, number, "float32"), layout=LAYOUTS.get(name)) for name, shape in SHAPES.items()
    }


def one_number(*values: Any) -> int:
    """The number that all elements of all values are."""
    found = {float(number) for value in values for number in np.unique(np.asarray(value))}
    assert len(found) == 1, f"a mix of {sorted(found)}"
    return int(found.pop())


def graph(number: int) -> graph_pb2.GraphDef:
    nodes = [graph_pb2.NodeDef(name=f"n{at}", op=str(number)) for at in range(40)]
    return graph_pb2.GraphDef(versions=graph_pb2.VersionDef(producer=number), node=nodes)


def manager_of(folder: Path, values: dict[str, Any]) -> sw.CheckpointManager:
    return sw.CheckpointManager(sw.Checkpoint(values), folder / "managed", max_to_keep=2)


def save_checkpoint(folder: Path, number: int) -> None:
    sw.Checkpoint(**state(number), step=number).save(folder / "checkpoint")


def save_directory(folder: Path, number: int) -> None:
    sw.save(state(number), folder / "directory", overwrite=True)


def save_managed(folder: Path, number: int) -> None:
    manager_of(folder, state(number)).save(number)


def save_message(folder: Path, number: int) -> None:
    splitter_for(graph(number), max_size=(1 << 20, 300)[number % 3 == 0]).write(str(folder / "message"))


def load_checkpoint(folder: Path) -> int:
    checkpoint = sw.Checkpoint(**state(0), step=0)
    checkpoint.restore(folder / "checkpoint")
    return one_number(checkpoint.step, *(getattr(checkpoint, name) for name in SHAPES))


def load_arrays(folder: Path) -> int:
    return one_number(*sw.load_variables(folder / "checkpoint", {"first": sw.Layout(["y"], MESH)}).values())


def load_directory(folder: Path) -> int:
    return one_number(*sw.load(folder / "directory").values())


def load_managed(folder: Path) -> int:
    values = state(0)
    assert manager_of(folder, values).restore_or_initialize()
    return one_number(*values.values())


def load_message(folder: Path) -> int:
    found = graph_pb2.GraphDef()
    Merger.read(folder / "message", found)
    return one_number(found.versions.producer, *(int(node.op) for node in found.node))


SAVE: list[Callable[[Path, int], None]] = [save_checkpoint, save_directory, save_managed, save_message]
LOAD: list[Callable[[Path], int]] = [load_checkpoint, load_directory, load_managed, load_message]
STORM_LOAD: list[Callable[[Path], int]] = [load_checkpoint, load_arrays, load_directory, load_managed]


def leftovers(folder: Path) -> list[str]:
    """What is in a folder, at any depth, under the name of something that is being written."""
    return [str(path) for path in folder.rglob("*") if is_pending(path.name)]


def write(folder: Path, seed: int, seconds: float) -> dict[str, int]:
    """Saves until the time is over, odd numbers or even ones; what was saved last of each kind."""
    last: dict[str, int] = {}
    number, end = seed % 2 + 2, time.monotonic() + seconds
    while time.monotonic() < end:
        for save in SAVE[:3]:
            save(folder, number)
            last[save.__name__] = number
        number += 2
    return last


def read(folder: Path, seed: int, seconds: float) -> dict[str, int]:
    """Loads all, and until the time is over; how often each loader gave one version, and which errors there were."""
    seen: Counter[str] = Counter()
    end, source = time.monotonic() + seconds, random.Random(seed)
    first = source.sample(STORM_LOAD, len(STORM_LOAD))
    while first or time.monotonic() < end:
        load = first.pop() if first else source.choice(STORM_LOAD)
        try:
            load(folder)
            seen[load.__name__] += 1
        except sw.ShardwrightError as error:
            seen[error.diagnostics[0].code] += 1
    return dict(seen)


def finished(child: int) -> None:
    """Waits for a process, which must have done what it was to do."""
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def in_child(act: Callable[[], object]) -> int:
    """The process in which something is done, and which then ends."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            act()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    return child


def storm(folder: Path, seconds: int) -> None:
    """Two writers and four readers; says what each of them did, and what is there in the end."""
    finished(in_child(lambda: [save(folder, 1) for save in SAVE]))
    acts = [partial(write, folder, seed) for seed in range(2)] + [partial(read, folder, seed) for seed in range(4)]
    children: list[tuple[int, int]] = []
    for act in acts:
        ours, theirs = os.pipe()
        children.append((in_child(lambda: os.write(theirs, json.dumps(act(seconds)).encode())), ours))  # noqa: B023
        os.close(theirs)
    did: list[dict[str, int]] = []
    for child, ours in children:
        with os.fdopen(ours) as said:
            did.append(json.load(said))
        finished(child)
    wrote, seen = did[:2], Counter[str]()
    for one in did[2:]:
        seen.update(one)
    finished(in_child(partial(check_after_storm, folder, wrote)))
    print(json.dumps({"rounds": sum(number // 2 for one in wrote for number in one.values()) // 3, **seen}))


def check_after_storm(folder: Path, wrote: list[dict[str, int]]) -> None:
    """What one of the writers saved last is there; nothing is left after the next save."""
    for save, load in zip(SAVE[:3], LOAD[:3], strict=True):
        last = [numbers[save.__name__] for numbers in wrote]
        assert load(folder) in last
        save(folder, max(last) + 1)
    assert leftovers(folder) == []


def save_without_end(folder: Path, first: int, saved: int) -> None:
    """Saves one kind after the other, and says so when each is done."""
    for number in range(first, first + 1000):
        for at, save in enumerate(SAVE):
            save(folder, number)
            os.write(saved, b"%d %d\n" % (at, number))


def check_after_kill(folder: Path, kept: list[int], which: int) -> None:
    """What was saved is there, of one version, and what the killed writer left goes with the next save of any kind."""
    for load, least in zip(LOAD, kept, strict=True):
        assert load(folder) >= least, f"{load.__name__}: less than {least}, which was saved"
    next_save = [save_checkpoint, save_directory, save_message][which]
    next_save(folder, max(kept))
    manager_of(folder, state(0))
    assert leftovers(folder) == []


def kill(folder: Path, count: int) -> None:
    """Kills a writer `count` times at a random moment; a process of its own looks at what is there then."""
    source, kept = random.Random(count), [1] * len(SAVE)
    started = time.monotonic()
    finished(in_child(lambda: [save(folder, 1) for save in SAVE]))
    span, died = time.monotonic() - started, 0
    for _ in range(count):
        ours, theirs = os.pipe()
        writer = in_child(partial(save_without_end, folder, max(kept) + 1, theirs))
        os.close(theirs)
        time.sleep(source.random() * 2 * span)
        os.kill(writer, signal.SIGKILL)
        died += os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) == -signal.SIGKILL
        with os.fdopen(ours) as said:
            for at, number in (map(int, line.split()) for line in said):
                kept[at] = number
        finished(in_child(partial(check_after_kill, folder, list(kept), source.randrange(3))))
    print(json.dumps({"kills": died, "saved": max(kept)}))


def fill(folder: Path, count: int) -> None:
    """Saves on a disk that is full to different degrees, and on one that may only be read; says how it was refused."""
    for save in SAVE:
        save(folder, 1)
    refused: Counter[str] = Counter()
    ballast = folder / "ballast"
    for number in range(2, count + 2):
        room = os.statvfs(folder)
        ballast.write_bytes(bytes(max(room.f_bavail * room.f_bsize - (number - 2) * 4096, 0)))
        refused.update(_refused(folder, number))
        ballast.unlink()
    for save in SAVE:
        save(folder, count + 2)
    subprocess.run(["mount", "-o", "remount,ro", str(folder)], check=True)
    refused.update(f"read-only {code}" for code in _refused(folder, count + 3))
    assert [load(folder) for load in LOAD] == [count + 2] * len(LOAD)
    print(json.dumps(refused))


def _refused(folder: Path, number: int) -> list[str]:
    """The codes with which saves are refused; what was there stays, and nothing is left of what was not saved."""
    codes: list[str] = []
    for save, load in zip(SAVE, LOAD, strict=True):
        before = load(folder)
        try:
            save(folder, number)
        except sw.ShardwrightError as error:
            codes.append(error.diagnostics[0].code)
            assert load(folder) == before
        except OSError as error:  # of a splitter, whose users know files
            assert save is save_message
            codes.append(errno.errorcode[error.errno or 0])
            assert load(folder) == before
        else:
            assert load(folder) == number
        assert leftovers(folder) == []
    return codes


if __name__ == "__main__":
    mode, place, much = sys.argv[1:]
    {"storm": storm, "kill": kill, "fill": fill}[mode](Path(place), int(much))
