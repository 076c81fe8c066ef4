"""
Riegeli records, read and written: what C++ riegeli reads, this reads; uncompressed, it writes the same bytes.

>>> import io
>>> file = io.BytesIO()
>>> with RecordWriter(file, "uncompressed") as writer:
...     positions = [writer.write(record) for record in (b"one", b"two")]
>>> reader = RecordReader(file)
>>> list(reader)
[b'one', b'two']
>>> reader.read(positions[1])
b'two'
"""

from shardwright.serialization.errors import RiegeliError
from shardwright.serialization.riegeli.limits import Limits
from shardwright.serialization.riegeli.options import RecordWriterOptions
from shardwright.serialization.riegeli.reader import RecordReader, SkippedRegion
from shardwright.serialization.riegeli.writer import RecordWriter

__all__ = ["Limits", "RecordReader", "RecordWriter", "RecordWriterOptions", "RiegeliError", "SkippedRegion"]
