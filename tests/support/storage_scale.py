"""
A child process that saves, verifies, opens and loads a message or module of many GiB, and prints what it measured.

    python tests/support/storage_scale.py graph|module FOLDER GIB

Memory is the process's resident set, looked at every few milliseconds from beside.
"""

from __future__ import annotations

import gc
import json
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

GIB = 1 << 30
LOOK_EVERY = 0.003
ATTEMPTS = ("field", "second field", "third field")


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Peak:
    """The largest resident set while something runs, above what it was before."""

    def __init__(self) -> None:
        self.bytes: dict[str, int] = {}
        self.seconds: dict[str, float] = {}

    @contextmanager
    def of(self, name: str) -> Generator[None]:
        begin, highest, done = resident(), 0, threading.Event()

        def look() -> None:
            nonlocal highest
            while not done.wait(LOOK_EVERY):
                highest = max(highest, resident() - begin)

        watcher = threading.Thread(target=look)
        watcher.start()
        started = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = time.perf_counter() - started
            done.set()
            watcher.join()
            self.bytes[name] = max(highest, resident() - begin)


def constants(total: int, largest: int) -> list[int]:
    """Sizes in bytes: one as large as may be, then pieces of an eighth of it."""
    sizes, left = [largest], total - largest
    while left > 0:
        sizes.append(min(left, largest // 64 * 8))
        left -= sizes[-1]
    return sizes


def limit(sizes: list[int]) -> int:
    """The largest message in one piece: the usual one, and for smaller messages one that is split all the same."""
    return min(GIB, sum(sizes) // 4)


def content(number: int, size: int) -> bytes:
    """Bytes that no other constant has; cheap to make and to check."""
    return np.full(size // 8, number * 2654435761 + 1, np.uint64).tobytes()


def graph(prefix: Path, sizes: list[int], peak: Peak) -> dict[str, Any]:
    """A graph of constants, half of them in functions, and 100,000 other nodes."""
    from shardwright.serialization.merging import Merger, open_message, verify
    from shardwright.serialization.protos import graph_pb2
    from shardwright.serialization.splitting import splitter_for

    message = graph_pb2.GraphDef()
    for number, size in enumerate(sizes):
        nodes = message.node if number % 2 == 0 else message.library.function.add().node_def
        node = nodes.add(name=f"constant{number}", op="Const")
        node.attr["value"].tensor.tensor_content = content(number, size)
    for number in range(100_000):
        node = message.node.add(name=f"node{number}", op="AddV2", input=[f"node{number - 1}", "constant0"])
        node.attr["T"].type = graph_pb2.DT_FLOAT
    with peak.of("save"):
        path = splitter_for(message, max_size=limit(sizes)).write(prefix)
    with peak.of("verify"):
        verify(path, graph_pb2.GraphDef)
    nodes, functions = len(message.node), len(message.library.function)
    del message
    for attempt in ATTEMPTS:
        with peak.of(attempt), open_message(prefix, graph_pb2.GraphDef) as lazy:
            name = lazy.get("node", nodes - 7, "name")
    with peak.of("constant"), open_message(prefix, graph_pb2.GraphDef) as lazy:
        view = lazy.view("library", "function", 0, "node_def", 0, "attr", "value", "tensor", "tensor_content")
        right = bytes(view) == content(1, sizes[1])
    before = resident()
    loaded = graph_pb2.GraphDef()
    with peak.of("load"):
        Merger.read(prefix, loaded)
    kept = resident() - before
    same = all(
        get.attr["value"].tensor.tensor_content == content(number, sizes[number])
        for number, get in [(0, loaded.node[0]), (1, loaded.library.function[0].node_def[0])]
    )
    return {
        "file": Path(path).stat().st_size,
        "nodes": len(loaded.node),
        "constants": len([node for node in loaded.node if node.op == "Const"]),
        "functions": len(loaded.library.function),
        "functions_saved": functions,
        "name": name,
        "right": right and same,
        "kept": kept,
    }


def module(prefix: Path, sizes: list[int], peak: Peak) -> dict[str, Any]:
    """A module of constants and of 20,000 operations."""
    from xdsl.dialects.builtin import BytesAttr, DenseIntOrFPElementsAttr, TensorType, f64
    from xdsl.dialects.func import FuncOp, ReturnOp
    from xdsl.ir import Block, Region

    from shardwright.dialects import stablehlo
    from shardwright.dialects.text.parsing import parse_module
    from shardwright.serialization.ir.files import read_module, write_module
    from shardwright.serialization.merging import open_message, verify
    from shardwright.serialization.protos import ir_pb2

    block = Block()
    for number, size in enumerate(sizes):
        kind = TensorType(f64, [size // 8])
        block.add_op(stablehlo.ConstantOp(DenseIntOrFPElementsAttr(kind, BytesAttr(content(number, size)))))
    value = block.last_op.results[0]
    for _ in range(20_000):
        block.add_op(add := stablehlo.AddOp(value, value))
        value = add.results[0]
    block.add_op(ReturnOp(value))
    whole = parse_module("module {}")
    whole.body.block.add_op(FuncOp("main", ((), (value.type,)), Region(block)))
    with peak.of("save"):
        path = write_module(whole, prefix, max_size=limit(sizes))
    with peak.of("verify"):
        verify(path, ir_pb2.Module)
    del whole, block, value, add
    gc.collect()
    for attempt in ATTEMPTS:
        with peak.of(attempt), open_message(prefix, ir_pb2.Module) as lazy:
            names = lazy.get("names")[lazy.get("operations", 20_000, "name")]
    before = resident()
    with peak.of("load"):
        loaded = read_module(prefix)
    kept = resident() - before
    operations = list(loaded.body.block.first_op.body.block.ops)
    datas = [operation.value.data.data for operation in operations[: len(sizes)]]
    return {
        "file": Path(path).stat().st_size,
        "operations": len(operations),
        "constants": len(sizes),
        "name": names,
        "right": all(
            data == content(number, size) for number, (data, size) in enumerate(zip(datas, sizes, strict=True))
        ),
        "kept": kept,
    }


def main() -> None:
    kind, folder, gib = sys.argv[1], Path(sys.argv[2]), float(sys.argv[3])
    peak = Peak()
    total = int(gib * GIB) // 8 * 8
    sizes = constants(total, int(total * 1.9 / 5) // 8 * 8)
    run: Callable[[Path, list[int], Peak], dict[str, Any]] = {"graph": graph, "module": module}[kind]
    found = run(folder / "large", sizes, peak)
    print(json.dumps({**found, "largest": sizes[0], "peak": peak.bytes, "seconds": peak.seconds}))


if __name__ == "__main__":
    main()
