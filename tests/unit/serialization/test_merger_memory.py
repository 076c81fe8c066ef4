"""Reading takes the largest record beyond the message, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
MIB = 1 << 20

CHILD = """
import json, sys, time
from pathlib import Path
from chunk_cases import constant
from shardwright.serialization.merging import Merger, open_message, verify
from shardwright.serialization.protos import graph_pb2
from shardwright.serialization.splitting import splitter_for

def memory(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name)) << 10

def measured(work):
    Path("/proc/self/clear_refs").write_text("5")
    before, start = memory("VmRSS"), time.perf_counter()
    result = work()
    return result, memory("VmHWM") - before, memory("VmRSS") - before, time.perf_counter() - start

def graph(sizes):
    made = graph_pb2.GraphDef()
    for number, size in enumerate(sizes):
        made.node.append(constant(f"node {number}", bytes(2) + bytes([number % 251]) * (size - 2)))
    return made

def read():
    Merger.read(prefix, message := graph_pb2.GraphDef())
    return message

def one_field():
    with open_message(prefix, graph_pb2.GraphDef) as lazy:
        return lazy.get("node", 4321, "name")

def array():
    with open_message(prefix, graph_pb2.GraphDef) as lazy:
        return lazy.array("node", 0, "attr", "value", "tensor")

prefix, sizes, options = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
splitter_for(graph(sizes), max_size=64 << 20).write(prefix, options)
found = {}
for name, work in {"verify": lambda: verify(prefix, graph_pb2.GraphDef), "one": one_field, "array": array,
                   "one again": one_field, "read": read}.items():
    result, peak, after, seconds = measured(work)
    found[name] = peak, after, seconds
    if name == "read":
        same = all(len(node.attr["value"].tensor.tensor_content) == size for node, size in zip(result.node, sizes))
        found["equal"] = same and len(result.node) == len(sizes)
    if name == "array":
        found["shape"] = result.shape
    result = None
print(json.dumps(found))
"""


@pytest.mark.slow
@pytest.mark.parametrize("options", ["uncompressed", "zstd:1"])
def test_memory_is_the_message_and_its_largest_record(tmp_path: Path, options: str) -> None:
    largest = (700 if options == "uncompressed" else 300) * MIB
    sizes = [largest, *[60 * MIB] * 3, *[3000] * 20000]
    path = f"{ROOT / '.typing'}:{ROOT / 'tests' / 'support'}"
    arguments = [sys.executable, "-c", CHILD, str(tmp_path / "graph"), json.dumps(sizes), options]
    child = subprocess.run(arguments, capture_output=True, text=True, check=True, env={"PYTHONPATH": path})
    found = json.loads(child.stdout)
    print({name: value[2] for name, value in found.items() if isinstance(value, list) and len(value) == 3})
    assert found["equal"]
    assert found["shape"] == [largest]
    assert found["read"][0] - sum(sizes) < largest + 256 * MIB
    assert found["verify"][0] < largest + 256 * MIB
    assert found["one"][0] < 64 * MIB
    assert found["array"][0] < largest + 256 * MIB
    if options == "uncompressed":
        assert found["one again"][2] < 0.05
