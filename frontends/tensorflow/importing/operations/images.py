"""TensorFlow's operations on images: changes of size, patches, crops, colours."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shardwright.frontends import arrays
from shardwright.frontends.tensorflow.importing.evaluate import Call, Value, rows
from shardwright.frontends.tensorflow.importing.table import row

Floats = np.ndarray[Any, np.dtype[np.float32]]

WIDEST = 16384
"""The most elements of a dim after a change of size: the places from which they come are constants of the program."""


@row("ResizeNearestNeighbor")
def resized_nearest(call: Call, x: Any, size: Value) -> Any:
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        scale = _scale(call, x.shape[dim], count)
        places = np.arange(count, dtype=np.float32)
        if call["half_pixel_centers"]:
            nearest = np.floor((places + np.float32(0.5)) * scale)
        else:
            nearest = np.floor(places * scale + np.float32(0.5 if call["align_corners"] else 0))
        chosen = np.clip(nearest, 0, x.shape[dim] - 1).astype(np.int32)
        x = arrays.take(x, chosen, axis=dim)
    return x


@row("ResizeBilinear")
def resized_bilinear(call: Call, x: Any, size: Value) -> Any:
    """Along each dim, two neighbours by their distance."""
    x = arrays.astype(x, np.float32)
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        before, scale = x.shape[dim], _scale(call, x.shape[dim], count)
        places = np.arange(count, dtype=np.float32)
        half = np.float32(0.5 if call["half_pixel_centers"] else 0)
        places = np.maximum((places + half) * scale - half, 0)
        low = np.minimum(np.floor(places).astype(np.int64), before - 1)
        share = np.reshape((places - low).astype(np.float32), (count, *(1,) * (3 - dim)))
        first = arrays.take(x, low.astype(np.int32), axis=dim)
        second = arrays.take(x, np.minimum(low + 1, before - 1).astype(np.int32), axis=dim)
        x = arrays.add(first, arrays.multiply(arrays.subtract(second, first), share))
    return x


def _scale(call: Call, before: int, after: int) -> np.float32:
    """How many places before there are for each after, in 32 bits as TensorFlow has it."""
    if not 1 <= after <= WIDEST or before < 1:
        raise call.fault(f"{before} elements cannot become {after}, of at most {WIDEST}")
    corners = call["align_corners"] and after > 1
    return np.float32(before - 1) / np.float32(after - 1) if corners else np.float32(before) / np.float32(after)


def _weighted(x: Any, dim: int, places: Any, weights: Floats) -> Any:
    """Each new element along `dim` as a weighted sum of old ones: both are a row for each new element."""
    beside = (slice(None), *(None,) * (x.ndim - 1 - dim))
    total: Any = None
    for tap in range(places.shape[1]):
        part = arrays.take(x, places[:, tap].astype(np.int32), axis=dim)
        scaled = arrays.multiply(part, weights[:, tap][beside].astype(np.float32))
        total = scaled if total is None else arrays.add(total, scaled)
    return total


def _normed(weights: Floats) -> Floats:
    """Weights whose rows sum to 1, but for rows of zeros."""
    total = weights.sum(1, keepdims=True, dtype=np.float32)
    return np.where(np.abs(total) >= 1000 * np.finfo(np.float32).tiny, weights / np.where(total == 0, 1, total), 0)


@row("ResizeBicubic")
def resized_bicubic(call: Call, x: Any, size: Value) -> Any:
    """Along each dim, four neighbours by two cubics; TensorFlow has these in steps of a 1024th."""
    x, half = arrays.astype(x, np.float32), call["half_pixel_centers"]
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        before, scale = x.shape[dim], _scale(call, x.shape[dim], count)
        shift = np.float32(0.5 if half else 0)
        places = (np.arange(count, dtype=np.float32) + shift) * scale - shift
        low = np.floor(places)
        steps = np.rint((places - low) * np.float32(1024)).astype(np.int64)
        near = low.astype(np.int64)[:, None] + np.arange(-1, 3)
        distances = np.stack([steps + 1024, steps, 1024 - steps, 2048 - steps], 1).astype(np.float32) / np.float32(1024)
        weights = _cubic(distances, -0.5 if half else -0.75)
        inside = np.clip(near, 0, before - 1)
        x = _weighted(x, dim, inside, _normed(np.where(inside == near, weights, 0)) if half else weights)
    return x


def _cubic(distance: Floats, slope: float) -> Floats:
    """The cubics of Keys (1981), whose first derivative at a distance of 1 is `slope`."""
    inner = ((slope + 2) * distance - (slope + 3)) * distance**2 + 1
    outer = ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope
    return np.where(distance <= 1, inner, np.where(distance < 2, outer, 0)).astype(np.float32)


def _mitchell(distance: Floats) -> Floats:
    """The cubics of Mitchell and Netravali (1988) with both parameters a third."""
    inner = (7 / 6 * distance - 2) * distance**2 + 8 / 9
    outer = ((-7 / 18 * distance + 2) * distance - 10 / 3) * distance + 16 / 9
    return np.where(distance <= 1, inner, np.where(distance < 2, outer, 0))


def _lanczos(reach: int) -> Callable[[Floats], Floats]:
    return lambda distance: np.where(distance <= reach, np.sinc(distance) * np.sinc(distance / reach), 0)


def _gaussian(distance: Floats) -> Floats:
    return np.where(distance < 1.5, np.exp(-2 * distance**2), 0)


KERNELS: dict[str, tuple[float, Callable[[Floats], Floats]]] = {
    "lanczos1": (1, _lanczos(1)),
    "lanczos3": (3, _lanczos(3)),
    "lanczos5": (5, _lanczos(5)),
    "gaussian": (1.5, _gaussian),
    "triangle": (1, lambda distance: np.maximum(1 - distance, 0)),
    "keyscubic": (2, lambda distance: _cubic(distance, -0.5)),
    "mitchellcubic": (2, _mitchell),
}
"""How far elements count, and how much, by their distance."""


@row("ScaleAndTranslate")
def _scaled(call: Call, x: Any, size: Value, scale: Value, shift: Value) -> Any:
    kind = call["kernel_type"]
    if kind not in KERNELS:
        raise call.fault(f"kernel {kind!r} is not supported", "SW0885")
    x = arrays.astype(x, np.float32)
    known = (call.known(value, what) for value, what in ((scale, "scale"), (shift, "shift")))
    scales, shifts = (value.astype(np.float32) for value in known)
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        if not 1 <= count <= WIDEST or scales[dim - 1] <= 0:
            raise call.fault(f"{x.shape[dim]} elements cannot become {count}, of at most {WIDEST}")
        centers = (np.arange(count, dtype=np.float32) + np.float32(0.5) - shifts[dim - 1]) / scales[dim - 1]
        wider = np.float32(max(1 / scales[dim - 1], 1) if call["antialias"] else 1)
        x = _weighted(x, dim, *_spans(x.shape[dim], centers, wider, *KERNELS[kind]))
    return x


def _spans(size: int, centers: Floats, wider: np.float32, reach: float, kernel: Any) -> tuple[Any, Floats]:
    """The old elements that count for each new one, which lies at its center, and how much."""
    first = np.ceil(centers - np.float32(reach) * wider - np.float32(0.5)).astype(np.int64)
    near = first[:, None] + np.arange(2 * math.ceil(reach * wider) + 1)
    weights = kernel(np.abs(near + np.float32(0.5) - centers[:, None]) / wider)
    outside = (near < 0) | (near >= size) | (centers < 0)[:, None] | (centers > size)[:, None]
    return np.clip(near, 0, size - 1), _normed(np.where(outside, 0, weights).astype(np.float32))


@row("ResizeArea")
def _resized_by_area(call: Call, x: Any, size: Value) -> Any:
    """Along each dim, the mean of what lies under each new element."""
    x = arrays.astype(x, np.float32)
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        before, scale = x.shape[dim], _scale(call, x.shape[dim], count)
        start = np.arange(count, dtype=np.float32) * scale
        near = np.floor(start).astype(np.int64)[:, None] + np.arange(math.ceil(scale) + 1)
        under = np.minimum(near + 1, (start + scale)[:, None]) - np.maximum(near, start[:, None])
        x = _weighted(x, dim, np.clip(near, 0, before - 1), (np.maximum(under, 0) / scale).astype(np.float32))
    return x


@row("ExtractImagePatches")
def _patches(call: Call, x: Any) -> Any:
    """Each window of pixels as features, row by row."""
    sizes, steps, rates = (call[name] for name in ("ksizes", "strides", "rates"))
    if any(given[0] != 1 or given[3] != 1 for given in (sizes, steps, rates)):
        raise call.fault("patches over batch or features are not supported", "SW0885")
    counts, edges = [], [[0, 0], [0, 0], [0, 0], [0, 0]]
    for dim in (1, 2):
        reach, whole = (sizes[dim] - 1) * rates[dim] + 1, x.shape[dim]
        same = call["padding"] == "SAME"
        counts.append(-(-whole // steps[dim]) if same else max(0, -(-(whole - reach + 1) // steps[dim])))
        missing = max(0, (counts[-1] - 1) * steps[dim] + reach - whole) if same else 0
        edges[dim] = [missing // 2, missing - missing // 2]
    padded = arrays.pad(x, edges)
    parts = [
        padded[:, _along(row, counts[0], rates[1], steps[1]), _along(column, counts[1], rates[2], steps[2])]
        for row in range(sizes[1])
        for column in range(sizes[2])
    ]
    return arrays.concat(parts, axis=3)


def _along(place: int, count: int, rate: int, step: int) -> slice:
    start = place * rate
    return slice(start, start + (count - 1) * step + 1 if count else start, step)


@row("CropAndResize")
def _cropped(call: Call, image: Any, boxes: Any, owner: Any, size: Value) -> Any:
    """Boxes of images, each of one size; what lies outside of an image is one number."""
    if call["method"] != "bilinear":
        raise call.fault(f"method {call['method']!r} is not supported", "SW0885")
    x: Any = arrays.astype(arrays.take(image, owner, axis=0), np.float32)
    outside: Any = None
    for dim, count in zip((1, 2), call.numbers(size, "size"), strict=True):
        last = np.float32(x.shape[dim] - 1)
        first, end = boxes[:, dim - 1 : dim], boxes[:, dim + 1 : dim + 2]
        shares = np.linspace(0, 1, count, dtype=np.float32) if count > 1 else np.array([0.5], np.float32)
        places = arrays.multiply(arrays.add(first, arrays.multiply(arrays.subtract(end, first), shares)), last)
        beyond = arrays.logical_or(arrays.less(places, np.float32(0)), arrays.greater(places, last))
        beyond = arrays.reshape(beyond, (*beyond.shape, 1, 1) if dim == 1 else (beyond.shape[0], 1, count, 1))
        outside = beyond if outside is None else arrays.logical_or(outside, beyond)
        x = _between(x, dim, arrays.clip(places, np.float32(0), last))
    return arrays.where(outside, np.float32(call["extrapolation_value"]), x)


def _between(x: Any, dim: int, places: Any) -> Any:
    """What lies at `places` along a dim, which are others for each image."""
    low = arrays.floor(places)
    share = arrays.subtract(places, low)
    share = arrays.reshape(share, (*share.shape, *(1,) * (x.ndim - 2)) if dim == 1 else (share.shape[0], 1, -1, 1))
    parts = [arrays.gather(x, arrays.astype(at, np.int32), axis=dim, batch_dims=1) for at in (low, arrays.ceil(places))]
    return arrays.add(parts[0], arrays.multiply(arrays.subtract(parts[1], parts[0]), share))


def _adjusted_contrast(call: Call, x: Any, factor: Any) -> Any:
    mean = arrays.mean(x, axis=(-3, -2), keepdims=True)
    return arrays.add(arrays.multiply(arrays.subtract(x, mean), arrays.astype(factor, x.dtype)), mean)


def _to_hsv(call: Call, x: Any) -> Any:
    """Hue, saturation and value, each from 0 to 1, of red, green and blue."""
    red, green, blue = (x[..., place] for place in range(3))
    top, spread = arrays.max(x, axis=-1), arrays.subtract(arrays.max(x, axis=-1), arrays.min(x, axis=-1))
    zero, one = (np.array(number).astype(x.dtype) for number in (0, 1))
    safe = arrays.where(arrays.equal(spread, zero), one, spread)
    turns = [
        arrays.add(arrays.divide(arrays.subtract(a, b), safe), np.array(start).astype(x.dtype))
        for a, b, start in ((green, blue, 0), (blue, red, 2), (red, green, 4))
    ]
    hue = arrays.where(arrays.equal(top, red), turns[0], arrays.where(arrays.equal(top, green), turns[1], turns[2]))
    hue = arrays.divide(hue, np.array(6).astype(x.dtype))
    hue = arrays.where(
        arrays.equal(spread, zero), zero, arrays.where(arrays.less(hue, zero), arrays.add(hue, one), hue)
    )
    grey = arrays.greater(top, zero)
    saturation = arrays.where(grey, arrays.divide(spread, arrays.where(grey, top, one)), zero)
    return arrays.stack([hue, saturation, top], axis=-1)


def _from_hsv(call: Call, x: Any) -> Any:
    hue, saturation, value = (x[..., place] for place in range(3))

    def like(number: float) -> Any:
        return np.array(number).astype(x.dtype)

    colours = []
    for offset, sign, start in ((3, 1, -1), (2, -1, 2), (4, -1, 2)):
        away = arrays.abs(arrays.subtract(arrays.multiply(hue, like(6)), like(offset)))
        share = arrays.clip(arrays.add(arrays.multiply(away, like(sign)), like(start)), like(0), like(1))
        colours.append(
            arrays.multiply(arrays.add(arrays.subtract(like(1), saturation), arrays.multiply(saturation, share)), value)
        )
    return arrays.stack(colours, axis=-1)


def _adjusted_hue(call: Call, x: Any, delta: Any) -> Any:
    hsv = _to_hsv(call, x)
    turned = arrays.add(hsv[..., 0], arrays.astype(delta, x.dtype))
    hue = arrays.subtract(turned, arrays.floor(turned))
    return _from_hsv(call, arrays.stack([hue, hsv[..., 1], hsv[..., 2]], axis=-1))


def _adjusted_saturation(call: Call, x: Any, scale: Any) -> Any:
    hsv = _to_hsv(call, x)
    zero, one = (np.array(number).astype(x.dtype) for number in (0, 1))
    saturation = arrays.clip(arrays.multiply(hsv[..., 1], arrays.astype(scale, x.dtype)), zero, one)
    return _from_hsv(call, arrays.stack([hsv[..., 0], saturation, hsv[..., 2]], axis=-1))


rows(
    {
        "AdjustContrastv2": _adjusted_contrast,
        "AdjustHue": _adjusted_hue,
        "AdjustSaturation": _adjusted_saturation,
        "HSVToRGB": _from_hsv,
        "RGBToHSV": _to_hsv,
    }
)
