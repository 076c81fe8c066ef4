"""
Fingerprints: the hashes of what was saved, in TensorFlow's message.

All hashes are HighwayHash64 with riegeli's key. `saved_model_checksum` is that of the bytes of the file with the
SavedModel, `signature_def_hash` that of all signatures in the order of their keys, `saved_object_graph_hash` that of
the object graph, both in protobuf's deterministic form, and `checkpoint_hash` that of the checkpoint's manifest, which
has the checksums of everything in it. TensorFlow computes its own with other functions; `uuid` says whose they are.
"""

from __future__ import annotations

from pathlib import Path

from shardwright.saving.checkpoints.manifest import MANIFEST
from shardwright.saving.directory.folders import FINGERPRINT, VARIABLES, file_hash
from shardwright.saving.faults import SavingError
from shardwright.serialization.hashing import HighwayHash64, highwayhash64
from shardwright.serialization.protos import saved_model_pb2

VERSION = 1
PREFIX = "shardwright-"
"""How the uuid of our fingerprints begins."""

LIMIT = 1 << 16
"""The most bytes that a fingerprint's file may have."""


def fingerprint(folder: Path, model: Path, message: saved_model_pb2.SavedModel) -> saved_model_pb2.FingerprintDef:
    """The fingerprint of a directory in which everything else is written already."""
    found = saved_model_pb2.FingerprintDef(saved_model_checksum=file_hash(model))
    if message.meta_graphs:
        graph = message.meta_graphs[0]
        found.signature_def_hash = _signatures_hash(graph)
        found.saved_object_graph_hash = highwayhash64(graph.object_graph_def.SerializeToString(deterministic=True))
    manifest = folder / VARIABLES / MANIFEST
    if manifest.is_file():
        found.checkpoint_hash = file_hash(manifest)
    found.version.producer = found.version.min_consumer = VERSION
    found.uuid = f"{PREFIX}{highwayhash64(found.SerializeToString(deterministic=True)):016x}"
    return found


def _signatures_hash(graph: saved_model_pb2.MetaGraphDef) -> int:
    hasher = HighwayHash64()
    for key in sorted(graph.signature_def):
        data = graph.signature_def[key].SerializeToString(deterministic=True)
        hasher.update(f"{len(key.encode())} {key} {len(data)} ".encode())
        hasher.update(data)
    return hasher.digest()


def read_fingerprint(folder: Path) -> saved_model_pb2.FingerprintDef | None:
    """The fingerprint of a directory, None if it is not ours; `SavingError` (SW0869, SW0870) for one that is none."""
    path = folder / FINGERPRINT
    if path.is_symlink() or not path.is_file():
        return None
    if path.stat().st_size > LIMIT:
        raise SavingError("SW0870", f"{path} is too large for a fingerprint")
    found, data = saved_model_pb2.FingerprintDef(), path.read_bytes()
    try:
        found.ParseFromString(data)
    except Exception as error:  # protobuf's DecodeError, of which each implementation has its own
        raise SavingError("SW0870", f"{path} is no fingerprint") from error
    if not found.uuid.startswith(PREFIX):
        return None
    if found.version.min_consumer > VERSION:
        raise SavingError("SW0881", f"{path} is of version {found.version.producer}")
    if found.SerializeToString(deterministic=True) != data:  # the last byte of a number has bits that nobody reads
        raise SavingError("SW0870", f"{path} is not the file that was saved")
    return found


def check_rest(
    saved: saved_model_pb2.FingerprintDef, folder: Path, model: Path, message: saved_model_pb2.SavedModel
) -> None:
    """`SavingError` (SW0870) that names the first part of a directory that is not what was saved."""
    now = fingerprint(folder, model, message)
    for field in ("checkpoint_hash", "signature_def_hash", "saved_object_graph_hash", "graph_def_program_hash"):
        path = folder / VARIABLES / MANIFEST if field == "checkpoint_hash" else model
        if getattr(now, field) != getattr(saved, field):
            raise SavingError("SW0870", f"{path} is not what was saved: {FINGERPRINT} has another {field}")
    if now != saved:
        raise SavingError("SW0870", f"{folder / FINGERPRINT} is not what was saved")
