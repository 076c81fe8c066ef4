"""
A stand-in for CuPy, stricter than it: arrays that lie on devices of their own, with NumPy's memory beneath.

It has the functions of CuPy 14 that the runtime calls and no other, under CuPy's rules: nothing of the host is taken
where CuPy does not take it, ufuncs reduce sums and products only, results of reductions are arrays. Beyond CuPy's rules
an array of one device is refused on another, and so is the address of memory that is not in one piece.

Each thread is a process of its own, which sees the devices that `seeing` gives it. `nccl_stand_in` connects them.
"""

from __future__ import annotations

import ctypes
import threading
import types
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Self

import ml_dtypes
import numpy as np

DTYPES = {np.dtype(char) for char in "?bBhHiIlLqQefdFD"} | {np.dtype(ml_dtypes.bfloat16)}

FUNCTIONS = """
abs arange argmax argmin argsort bincount clip concatenate conjugate copysign cumsum diagonal empty_like expand_dims eye
flip full full_like isfinite isinf isnan moveaxis ones ones_like stack swapaxes take take_along_axis transpose tril triu
where zeros_like real imag empty zeros rint diff trace
""".split()

UFUNCS = """
add subtract multiply square divide floor_divide fmod power maximum minimum bitwise_and bitwise_or bitwise_xor invert
left_shift right_shift logical_and logical_or logical_xor logical_not equal not_equal greater greater_equal less
less_equal negative positive sqrt cbrt exp expm1 log log1p sin cos tan sinh cosh tanh arcsin arccos arctan arctan2
arcsinh arccosh arctanh floor ceil trunc sign nextafter bitwise_count absolute
""".split()

METHODS = """
reshape transpose astype take view copy any all sum prod max min argmax argmin cumsum cumprod argsort ravel swapaxes
squeeze conj nonzero
""".split()

_HOST = (np.ndarray,)

Memory = dict[int, tuple[int, int, int]]


class CUDARuntimeError(RuntimeError):
    """What CuPy raises where a driver or a device is missing."""


class _Place(threading.local):
    """Which devices a thread sees (by their numbers in the machine), and which of them is in use."""

    def __init__(self) -> None:
        self.seen: tuple[int, ...] = (0,)
        self.current = 0


PLACE = _Place()


@contextmanager
def seeing(*devices: int) -> Generator[None]:
    """This thread is a process that sees these devices of the machine."""
    before = PLACE.seen, PLACE.current
    PLACE.seen, PLACE.current = devices, 0
    try:
        yield
    finally:
        PLACE.seen, PLACE.current = before


def current_device() -> int:
    """The device in use, by its number in the machine."""
    if not PLACE.seen:
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return PLACE.seen[PLACE.current]


_memory: Memory = {}
"""For each allocation, by its owner's identity, its device and where it starts and ends."""


def _root(array: Any) -> Any:
    while getattr(array, "base", None) is not None:
        array = array.base
    return array


def _note(array: np.ndarray[Any, Any], device: int) -> None:
    root = _root(array)
    if isinstance(root, np.ndarray) and id(root) not in _memory:
        start = root.ctypes.data
        stop = start + root.nbytes
        # Memory that is given out anew was given back, also if nobody has come to say so yet: threads take turns.
        for owner, (_, first, last) in list(_memory.items()):
            if first < stop and start < last:
                _memory.pop(owner, None)
        _memory[id(root)] = device, start, stop
        weakref.finalize(root, _memory.pop, id(root), None)


def memory_at(address: int, size: int, device: int) -> np.ndarray[Any, Any]:
    """
    The bytes at an address of a device.

    Raises `ValueError` for memory of the host, of another device, and past the end of an allocation.
    """
    for at, start, stop in list(_memory.values()):
        if start <= address and address + size <= stop:
            if at != device:
                raise ValueError(f"memory of device {at} was given to device {device}")
            return np.ctypeslib.as_array((ctypes.c_uint8 * size).from_address(address))
    raise ValueError(f"{size} bytes at {address:#x} are no memory of a device")


def _wrapped(found: Any) -> Any:
    if isinstance(found, np.ndarray | np.generic):
        return ndarray(np.asarray(found))
    return tuple(_wrapped(item) for item in found) if isinstance(found, tuple | list) else found


def _bare(given: Any, what: str) -> Any:
    """An argument as NumPy takes it; refused where CuPy would refuse it."""
    if isinstance(given, ndarray):
        return given.on_device(what)
    if isinstance(given, _HOST):
        raise TypeError(f"{what}: Unsupported type <class 'numpy.ndarray'>")
    if isinstance(given, tuple | list):
        return type(given)(_bare(item, what) for item in given)
    return given


class _Data:
    def __init__(self, ptr: int) -> None:
        self.ptr = ptr


class ndarray:
    """An array on the device that was in use when it was made."""

    __slots__ = ("__weakref__", "_array", "device")

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        if array.dtype not in DTYPES:
            raise TypeError(f"unsupported dtype {array.dtype}")
        self.device = current_device()
        self._array = array
        _note(array, self.device)

    def on_device(self, what: str) -> np.ndarray[Any, Any]:
        if self.device != current_device():
            raise ValueError(f"{what}: an array of device {self.device} is used on device {current_device()}")
        return self._array

    shape = property(lambda self: self._array.shape)
    dtype = property(lambda self: self._array.dtype)
    ndim = property(lambda self: self._array.ndim)
    size = property(lambda self: self._array.size)
    nbytes = property(lambda self: self._array.nbytes)
    itemsize = property(lambda self: self._array.itemsize)
    strides = property(lambda self: self._array.strides)
    flags = property(lambda self: self._array.flags)
    T = property(lambda self: _wrapped(self._array.T))

    @property
    def real(self) -> ndarray:
        return _wrapped(self._array.real)

    @property
    def imag(self) -> ndarray:
        return _wrapped(self._array.imag)

    @property
    def data(self) -> _Data:
        if not self._array.flags.c_contiguous:
            raise ValueError("the address of an array that is not in one piece is of no use")
        return _Data(self.on_device("data").ctypes.data)

    def get(self) -> np.ndarray[Any, Any]:
        return np.array(self.on_device("get"), order="C")

    def item(self) -> Any:
        return self._array.item()

    def fill(self, value: Any) -> None:
        self.on_device("fill").fill(_bare(value, "fill"))

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. Please use `.get()` to construct a NumPy array "
            "explicitly."
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        function = getattr(cupy, ufunc.__name__, None)
        if function is None:
            return NotImplemented
        return (function if method == "__call__" else getattr(function, method))(*inputs, **options)

    def __array_function__(self, function: Any, kinds: Any, args: Any, options: Any) -> Any:
        found = getattr(cupy, function.__name__, None)
        return NotImplemented if found is None else found(*args, **options)

    def __getitem__(self, index: Any) -> ndarray:
        return _wrapped(self.on_device("index")[_index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.on_device("index")[_index(index)] = _bare(value, "assignment")

    def __iter__(self) -> Any:
        return (self[at] for at in range(len(self)))

    def __len__(self) -> int:
        return len(self._array)

    def __bool__(self) -> bool:
        return bool(self._array)

    def __int__(self) -> int:
        return int(self._array)

    def __index__(self) -> int:
        return self._array.__index__()

    def __float__(self) -> float:
        return float(self._array)

    def __repr__(self) -> str:
        return f"device {self.device}: {self._array!r}"

    __hash__ = None  # type: ignore[assignment]


def _index(index: Any) -> Any:
    """CuPy takes NumPy's arrays as indices, and uploads them."""
    if isinstance(index, tuple):
        return tuple(_index(item) for item in index)
    return index if isinstance(index, _HOST) else _bare(index, "index")


def _method(name: str) -> Callable[..., Any]:
    def method(self: ndarray, *args: Any, **options: Any) -> Any:
        bare = [_bare(item, name) for item in args]
        return _wrapped(getattr(self.on_device(name), name)(*bare, **{k: _bare(v, name) for k, v in options.items()}))

    return method


def _operator(name: str) -> Callable[..., Any]:
    def operator(self: ndarray, *others: Any) -> Any:
        bare = [_bare(item, name) for item in others]
        found = getattr(self.on_device(name), name)(*bare)
        return found if found is NotImplemented else _wrapped(found)

    return operator


for _name in METHODS:
    setattr(ndarray, _name, _method(_name))
for _name in "add sub mul truediv floordiv mod pow and or xor lshift rshift matmul".split():
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))
    setattr(ndarray, f"__r{_name}__", _operator(f"__r{_name}__"))
for _name in "lt le eq ne gt ge neg invert abs".split():
    setattr(ndarray, f"__{_name}__", _operator(f"__{_name}__"))


def _in_place(name: str) -> Callable[..., Any]:
    def operator(self: ndarray, other: Any) -> ndarray:
        getattr(self.on_device(name), name)(_bare(other, name))
        return self

    return operator


for _name in "add sub mul truediv floordiv and or xor".split():
    setattr(ndarray, f"__i{_name}__", _in_place(f"__i{_name}__"))


def _function(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    def call(*args: Any, **options: Any) -> Any:
        bare = [_bare(item, name) for item in args]
        return _wrapped(function(*bare, **{key: _bare(value, name) for key, value in options.items()}))

    return call


class _Ufunc:
    """A ufunc with what CuPy has of its methods."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._call = _function(getattr(np, name), name)

    def __call__(self, *operands: Any, out: Any = None, **options: Any) -> Any:
        if out is None:
            return self._call(*operands, **options)
        out = out[0] if isinstance(out, tuple) else out
        self._call(*operands, out=out, **options)
        return out

    def reduce(self, array: Any, **options: Any) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.name}.reduce` is not supported yet")
        return _function(getattr(np, self.name).reduce, self.name)(array, **options)

    def accumulate(self, array: Any, **options: Any) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`cupy_{self.name}.accumulate` is not supported yet")
        return _function(getattr(np, self.name).accumulate, self.name)(array, **options)

    def at(self, *_: Any) -> None:
        raise NotImplementedError("CuPy's own order of atomic updates differs from run to run")


def _uploaded(array: Any, dtype: Any = None, order: str = "K", copy: bool = True) -> ndarray:
    bare = array.on_device("array") if isinstance(array, ndarray) else _deep(array)
    return ndarray(np.array(bare, dtype=dtype, order="C" if order == "K" else order))  # type: ignore[call-overload]


def _deep(given: Any) -> Any:
    if isinstance(given, list | tuple):
        return [_deep(item) for item in given]
    return given.get() if isinstance(given, ndarray) else given


def _asarray(array: Any, dtype: Any = None) -> ndarray:
    if isinstance(array, ndarray) and (dtype is None or array.dtype == dtype):
        array.on_device("asarray")
        return array
    return _uploaded(array, dtype)


def _ascontiguousarray(array: ndarray) -> ndarray:
    bare = array.on_device("ascontiguousarray")
    return array if bare.flags.c_contiguous and bare.ndim else ndarray(np.array(bare, order="C", ndmin=1))


def _broadcast_to(array: Any, shape: Sequence[int]) -> ndarray:
    if not isinstance(array, ndarray):
        raise TypeError("Argument 'array' has incorrect type")
    return _wrapped(np.broadcast_to(array.on_device("broadcast_to"), shape))


def _matmul(left: Any, right: Any, out: Any = None) -> ndarray:
    found = np.matmul(_bare(left, "matmul"), _bare(right, "matmul"))
    if out is None:
        return _wrapped(found)
    out[...] = _wrapped(found)
    return out


class Device:
    """A device, by its number among those that the process sees."""

    def __init__(self, number: int) -> None:
        if not 0 <= number < len(PLACE.seen):
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number
        self._before: list[int] = []

    def use(self) -> None:
        PLACE.current = self.id

    def __enter__(self) -> Self:
        self._before.append(PLACE.current)
        self.use()
        return self

    def __exit__(self, *_: object) -> None:
        PLACE.current = self._before.pop()


class Stream:
    """The one stream of each process; what is asked for is done at once."""

    ptr = 0

    def synchronize(self) -> None:
        current_device()


def _device_count() -> int:
    if not PLACE.seen:
        raise CUDARuntimeError("cudaErrorNoDevice: no CUDA-capable device is detected")
    return len(PLACE.seen)


def _properties(number: int) -> dict[str, Any]:
    return {"name": b"stand-in", "uuid": b"GPU-%012d" % PLACE.seen[number]}


def _module(name: str, **names: Any) -> Any:
    module = types.ModuleType(name)
    module.__dict__.update(names)
    return module


def _linalg() -> Any:
    names = ("cholesky", "qr", "svd", "eigh", "eigvalsh")
    return _module("cupy.linalg", **{name: _function(getattr(np.linalg, name), name) for name in names})


def _fft() -> Any:
    names = ("fftn", "ifftn", "rfftn", "irfftn")
    return _module("cupy.fft", **{name: _function(getattr(np.fft, name), name) for name in names})


def _cuda() -> Any:
    runtime = _module(
        "cupy.cuda.runtime",
        getDeviceCount=_device_count,
        getDeviceProperties=_properties,
        CUDARuntimeError=CUDARuntimeError,
    )
    stream = Stream()
    return _module("cupy.cuda", runtime=runtime, Device=Device, get_current_stream=lambda: stream)


def _cupy() -> Any:
    tricks = _module("stride_tricks", as_strided=_function(np.lib.stride_tricks.as_strided, "as_strided"))
    return _module(
        "cupy",
        __version__="14.2.0",
        ndarray=ndarray,
        array=_uploaded,
        asarray=_asarray,
        ascontiguousarray=_ascontiguousarray,
        broadcast_to=_broadcast_to,
        matmul=_matmul,
        cuda=_cuda(),
        linalg=_linalg(),
        fft=_fft(),
        lib=_module("cupy.lib", stride_tricks=tricks),
        **{name: _function(getattr(np, name), name) for name in FUNCTIONS},
        **{name: _Ufunc(name) for name in UFUNCS},
    )


cupy = _cupy()
"""What `import cupy` gives where the stand-in takes its place."""
