"""Cases of TensorFlow's operations on records: lines of text, examples, and rows that are compared."""

from __future__ import annotations

from typing import Any

import numpy as np
from graph_single import Cases, Known, longs, words

from shardwright.serialization.wire import delimited, varint


def distances(c: Cases) -> None:
    ours, theirs = [[0, 0], [0, 1], [0, 2], [2, 0]], [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]
    values = {"hypothesis_values": words("a", "b", "c", "x"), "truth_values": words("b", "c", "d", "e", "x")}
    for normalize in (False, True):
        for given, due in ((ours, theirs), (theirs[:4], [*ours[:3], [3, 1]])):
            lengths = (values["hypothesis_values"], words(*"bcdex")[: len(due)])
            c.add(
                "EditDistance",
                hypothesis_indices=np.array(given, "int64"),
                hypothesis_values=lengths[0][: len(given)],
                hypothesis_shape=longs([3, 4]),
                truth_indices=np.array(due, "int64"),
                truth_values=lengths[1],
                truth_shape=longs([4, 3]),
                normalize=normalize,
            )


def example(**features: list[Any]) -> bytes:
    """A message `tf.train.Example`, by hand: floats packed, whole numbers one by one."""

    def field(number: int, data: bytes) -> bytes:
        return delimited(number, len(data)) + data

    def feature(values: list[Any]) -> bytes:
        if values and isinstance(values[0], bytes):
            return field(1, b"".join(field(1, value) for value in values))
        if values and isinstance(values[0], float):
            return field(2, field(1, np.array(values, "<f4").tobytes()))
        return field(3, b"".join(b"\x08" + varint(value & (1 << 64) - 1) for value in values))

    entries = [field(1, name.encode()) + field(2, feature(values)) for name, values in features.items()]
    return field(1, b"".join(field(1, entry) for entry in entries))


def records(c: Cases) -> None:
    defaults = [Known(np.array([7], "int32")), Known(np.array([0.5], "float32")), Known(words("?"))]
    lines = words('1,2.5,"a ""b"", c"', " -3 ,,", "\n4,1e3,x", ",-inf,NA", '"5",.5,""')
    c.add("DecodeCSV", records=lines, record_defaults=defaults)
    c.add("DecodeCSV", records=lines[:, None], record_defaults=defaults, na_value="NA")
    tabs = words('1\t"2\t3', "4\t\t")
    c.add(
        "DecodeCSV",
        records=tabs,
        record_defaults=[defaults[0], defaults[2], defaults[2]],
        field_delim="\t",
        use_quote_delim=False,
    )
    c.add(
        "DecodeCSV", records=words("a,2,b,3", "c,,d"), record_defaults=defaults[:1] + defaults[2:], select_cols=[1, 2]
    )
    rows = words("", "", "")
    rows[:] = [
        example(a=[1, -2, 3], b=[0.5, 1.5], c=[b"x", b""], e=[1.0, 2.0], r=[7], s=[b"u", b"vw"]),
        example(b=[2.5, 3.5], c=[b"y"], r=[-8, 9]),
        example(a=[4], b=[-1.0, 0.0], d=[9], e=[3.0, 4.0, 5.0, 6.0]),
    ]
    dense = [Known(c.f(0)), Known(np.array(5, "int64")), Known(np.array(-1, "float32"))]
    types = {"sparse_types": [np.int64, object], "dense_shapes": [[2], [], [None, 2]]}
    keys = words("b", "d", "e")
    c.add(
        "ParseExampleV2",
        serialized=rows,
        names=Known(words()),
        sparse_keys=Known(words("a", "c")),
        dense_keys=Known(keys),
        ragged_keys=Known(words("s", "r")),
        dense_defaults=dense,
        num_sparse=2,
        ragged_value_types=[object, np.int64],
        ragged_split_types=[np.int64, np.int32],
        **types,
    )
    c.add(
        "ParseExample",
        serialized=rows,
        names=Known(words()),
        sparse_keys=[Known(key) for key in words("a", "c")],
        dense_keys=[Known(key) for key in keys],
        dense_defaults=dense,
        **types,
    )
