"""Operations the shape of whose result comes from data, and what the host needs beside them."""

from __future__ import annotations

from typing import Any

import numpy as np

from shardwright.frontends.tensorflow.importing.evaluate import Call, Value
from shardwright.frontends.tensorflow.importing.host.ragged import checked_room
from shardwright.frontends.tensorflow.importing.table import host_row

SUMS = {"Cumsum": np.add, "Cumprod": np.multiply}


@host_row("Const")
def _const(call: Call) -> Value:
    array = call.interpreter.state.constant(call.node)
    if array.dtype != call.dtype("dtype"):
        raise call.fault(f"its value is {array.dtype.name}, not {call.dtype('dtype').name}", "SW0887")
    return array


@host_row("Where")
def _places(call: Call, x: Any) -> Any:
    return np.argwhere(x).astype(np.int64)


@host_row("Unique", "UniqueV2", "UniqueWithCounts")
def _unique(call: Call, x: Any, *axis: Any) -> tuple[Any, ...]:
    """Each element once, in the order in which they come first; where it is for each; and how often there is one."""
    if x.ndim != 1 or (axis and call.numbers(axis[0], "dims") not in ([], [0])):
        raise call.fault("the elements of several dims are not supported", "SW0885")
    found, first, inverse, counts = np.unique(x, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    places, kind = np.empty_like(order), call.dtype("out_idx")
    places[order] = np.arange(len(order))
    rest = (counts[order].astype(kind),) if call.node.op == "UniqueWithCounts" else ()
    return found[order], places[inverse].astype(kind), *rest


@host_row("Bucketize")
def _buckets(call: Call, x: Any) -> Any:
    """Which of the intervals between boundaries each element is in; NaN stands last."""
    wide = x.astype(np.float64 if x.dtype == np.float64 else np.float32)
    return np.searchsorted(np.array(call["boundaries"], np.float32).astype(wide.dtype), wide, "right").astype(np.int32)


@host_row("DynamicPartition")
def _parted(call: Call, x: Any, owners: Any) -> Any:
    """The rows of each part, in order."""
    count = call["num_partitions"]
    if x.shape[: owners.ndim] != owners.shape or (owners.size and not 0 <= owners.min() <= owners.max() < count):
        raise call.fault(f"elements belong to no one of {count} parts", "SW0898")
    return tuple(x[owners == part] for part in range(count))


SUPPRESSIONS = ("NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4")


@host_row(*SUPPRESSIONS)
def _without_overlaps(call: Call, boxes: Any, scores: Any, most: Any, overlap: Any, *least: Any) -> Any:
    """The best boxes by their scores, none of which overlaps a better one by too much; equal ones as they come."""
    if boxes.ndim != 2 or boxes.shape[1:] != (4,) or scores.shape != boxes.shape[:1]:
        raise call.fault(f"boxes of shape {list(boxes.shape)} do not fit scores of shape {list(scores.shape)}")
    limit, count = float(least[0].reshape(-1)[0]) if least else -np.inf, call.number(most, "most boxes")
    found = np.array(_best(boxes, scores, count, overlap, limit), np.int32)
    if call.node.op != SUPPRESSIONS[-1]:
        return found
    missing = max(count - len(found), 0) if call["pad_to_max_output_size"] else 0
    return np.concatenate([found, np.zeros(missing, np.int32)]), np.array(len(found), np.int32)


def _best(boxes: Any, scores: Any, count: int, overlap: Any, limit: float) -> list[int]:
    """The places of the best boxes above a limit, without those that a better one overlaps."""
    kept: list[int] = []
    for place in np.argsort(-scores, kind="stable").tolist():
        if len(kept) >= count:
            break
        if scores[place] > limit and not (_overlaps(boxes[place], boxes[kept]) > overlap).any():
            kept.append(place)
    return kept


@host_row("CombinedNonMaxSuppression")
def _best_of_classes(
    call: Call, boxes: Any, scores: Any, most: Any, total: Any, overlap: Any, least: Any
) -> tuple[Any, Any, Any, Any]:
    """Of each image the best boxes of all classes, where only those of one class suppress each other."""
    images, count, kinds = scores.shape if scores.ndim == 3 else (0, 0, 0)
    if boxes.ndim != 4 or boxes.shape[:2] != (images, count) or boxes.shape[2] not in (1, kinds) or boxes.shape[3] != 4:
        raise call.fault(f"boxes of shape {list(boxes.shape)} do not fit scores of shape {list(scores.shape)}")
    each, room = call.number(most, "most boxes of a class"), call.number(total, "most boxes")
    size = min(room, each * kinds) if call["pad_per_class"] else room
    shape = checked_room(call, (images, size, 4), boxes.dtype)
    found, best, classes = (
        np.zeros(shape, boxes.dtype),
        np.zeros(shape[:2], scores.dtype),
        np.zeros(shape[:2], np.float32),
    )
    valid = np.zeros(images, np.int32)
    for image in range(images):
        rows: list[tuple[float, int, int]] = []
        for kind in range(kinds):
            own = boxes[image, :, kind if boxes.shape[2] > 1 else 0]
            kept = _best(own, scores[image, :, kind], each, overlap, float(least))
            rows += [(-scores[image, place, kind], kind, place) for place in kept]
        rows = sorted(rows)[:size]
        valid[image] = len(rows)
        for at, (score, kind, place) in enumerate(rows):
            found[image, at] = boxes[image, place, kind if boxes.shape[2] > 1 else 0]
            best[image, at], classes[image, at] = -score, kind
    return np.clip(found, 0, 1) if call["clip_boxes"] else found, best, classes, valid


def _overlaps(box: Any, others: Any) -> Any:
    """Of one box with each of others: the area that both have, as a share of what one or the other has."""
    low, high = (function(box[:2], box[2:]) for function in (np.minimum, np.maximum))
    lows, highs = (function(others[:, :2], others[:, 2:]) for function in (np.minimum, np.maximum))
    own, areas = (high - low).prod(), (highs - lows).prod(1)
    shared = np.maximum(np.minimum(high, highs) - np.maximum(low, lows), 0).prod(1)
    whole = own + areas - shared
    return np.where((own > 0) & (areas > 0), shared / np.where(whole > 0, whole, 1), 0).astype(box.dtype)


@host_row(*SUMS)
def _running(call: Call, x: Any, axis: Any) -> Any:
    dim, function = call.dim(x, call.number(axis, "dim"), scalars=True), SUMS[call.node.op]
    value = np.flip(x, dim) if call["reverse"] else x
    done = function.accumulate(value, dim, dtype=x.dtype)
    if call["exclusive"]:
        edge = np.full_like(np.take(done, [0] if done.shape[dim] else [], dim), function.identity)
        done = np.concatenate([edge, np.take(done, np.arange(done.shape[dim] - 1), dim)], dim)
    return np.flip(done, dim) if call["reverse"] else done
