"""The error codes of storage: records, chunked messages, directories, checkpoints and graphs."""

from __future__ import annotations

from shardwright.diagnostics.entry import Entry

STORAGE: dict[str, Entry] = {
    "SW0801": Entry(
        "not a riegeli file",
        "A riegeli file begins with 64 bytes that are always the same. These do not.",
        "give a file that riegeli or Shardwright wrote",
    ),
    "SW0802": Entry(
        "file ends inside a chunk",
        "The file was cut, or was not written to its end.",
        "get the whole file; RecordReader(recovery=...) reads what is there",
    ),
    "SW0803": Entry(
        "hash does not match",
        "A header or a chunk's data is not what was written: bytes changed on the disk or on the way.",
        "get the file again; RecordReader(recovery=...) reads what is not damaged",
    ),
    "SW0804": Entry(
        "headers disagree about a chunk",
        "Every 65536 bytes a block header says where the chunk around it begins and ends. It says something else than "
        "the "
        "chunk's own header, as in a file that was put together from parts of others.",
        "get the file again; RecordReader(recovery=...) reads what is not damaged",
    ),
    "SW0805": Entry(
        "chunk that cannot be decoded",
        "The chunk's hash is right, but its contents are not what riegeli writes.",
        "write the file again; RecordReader(recovery=...) leaves the chunk out",
    ),
    "SW0806": Entry(
        "unknown compression or kind of chunk",
        "The chunk holds records in a way that riegeli did not know when this was written.",
        "install a newer Shardwright, or write the file with brotli, zstd, snappy or no compression",
    ),
    "SW0807": Entry(
        "chunk that expands too much",
        "A few bytes would become very many. Hostile files do that, and so do constants that are all zeros.",
        "if you trust the file: RecordReader(file, limits=Limits(always=1 << 40))",
    ),
    "SW0808": Entry(
        "package of a compression is not installed",
        "Brotli, zstd and snappy come from packages that Shardwright does not need otherwise.",
        "pip install 'shardwright[storage]', or write without compression",
    ),
    "SW0809": Entry(
        "wrong option of a record writer",
        "Options are those of riegeli, as text or as fields, each in its range.",
        "see docs/serialization.md, Options",
    ),
    "SW0810": Entry(
        "no record at this position, or no room for it",
        "A record's position is the place of its chunk plus its number within the chunk; a buffer must be large enough.",
        "take positions from RecordWriter.write or RecordReader.position",
    ),
    "SW0885": Entry(
        "graph with operations that are not supported",
        "All operations that the outputs need and that have no row in the table are listed, with how often they "
        "occur and the first node of each.",
        "see docs/graph-ops.md for those that are; freeze the graph, or cut it: from_graph(..., inputs=, outputs=)",
    ),
    "SW0886": Entry(
        "graph that is not well formed",
        "A node takes what there is not, takes itself, or calls a function that there is not or that calls itself.",
        "write the graph again with TensorFlow",
    ),
    "SW0887": Entry(
        "attribute of a node that is missing or wrong",
        "Each operation has attributes of certain types and values. This node's are others.",
        "write the graph again with TensorFlow",
    ),
    "SW0888": Entry(
        "tensor of a graph that is not what its shape says",
        "The number of elements or bytes does not fit shape and type, or is more than a message can hold.",
        "write the graph again; constants of 2 GiB and more must be variables, or be split",
    ),
    "SW0889": Entry(
        "element type that arrays do not have",
        "Strings, resources, variants and quantised numbers are no elements of our arrays; TensorFlow lacks some of "
        "ours.",
        "cut the graph behind such nodes: from_graph(..., inputs=, outputs=)",
    ),
    "SW0890": Entry(
        "shape or number of a graph that must be known",
        "Shapes are decided before a program runs, so that sizes, dims and the like cannot come from data, and the "
        "shapes of inputs must be given where the graph leaves them open.",
        'give the shapes: inputs={"x": shardwright.TensorSpec((8, 4), "float32")}',
    ),
    "SW0891": Entry(
        "no such input, output, signature or set of tags",
        "The graph or SavedModel has others, which the error lists.",
        "take one of the names that the error lists",
    ),
    "SW0892": Entry(
        "variables that cannot be read",
        "The checkpoint beside a SavedModel is damaged, incomplete, or does not hold what the graph needs.",
        "get the whole directory again: variables/variables.index and all of variables/variables.data-*",
    ),
}
