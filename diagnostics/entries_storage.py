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
        "no record at this position, or no way to it",
        "A record's position is the place of its chunk plus its number within the chunk. A buffer for it must be large "
        "enough, and the file must be able to seek: a pipe can only be read from its beginning on.",
        "take positions from RecordWriter.write or RecordReader.position",
    ),
    "SW0811": Entry(
        "no such field",
        "A path into a message names a field, by its name or number, that the type of the message does not have.",
        "take one of the fields that the message lists",
    ),
    "SW0812": Entry(
        "path that a message cannot have",
        "After a repeated field comes an index, after a map a key of the map's type, after a message a field; nothing "
        "comes after a scalar.",
        'write the path like node[3].attr["value"].tensor, or as a list of names, numbers, keys and indices',
    ),
    "SW0813": Entry(
        "field that fits into no chunk",
        "A message is cut between its fields, list elements and map entries, and a single string or bytes field is a "
        "chunk of its own. What cannot be cut is larger than a chunk may be.",
        "give the splitter a larger max_size (at most 2 GiB), or keep the value in a single bytes field",
    ),
    "SW0814": Entry(
        "message nested too deeply",
        "Protobuf reads messages of at most 100 levels. What is nested deeper could be written and never be read.",
        "nest the message less",
    ),
    "SW0815": Entry(
        "call of a part of a splitter",
        "A splitter with a parent hands its chunks to the parent, and has none itself.",
        "call split or write of the parent",
    ),
    "SW0816": Entry(
        "type that a splitter is not for",
        "Each specialised splitter is for one type of message, and chunks are messages or bytes.",
        "use splitter_for(message), which finds the splitter of a type",
    ),
    "SW0817": Entry(
        "message that cannot be written",
        "Protobuf does not serialise the message, or it was changed while a splitter was working on it.",
        "set all required fields, keep every field below 2 GiB, and leave the message alone until write has returned",
    ),
    "SW0818": Entry(
        "size or place of chunks that cannot be",
        "Chunks have at least one byte and fewer than 2 GiB; a chunk is put at a place among those that there are.",
        "give max_size and chunk_size between 1 and 2147483647, and an index from 0 to the number of chunks",
    ),
    "SW0830": Entry(
        "no file of this message",
        "A message called `PREFIX` is in `PREFIX.pb` if it is whole, and in `PREFIX.cpb` if it is in chunks.",
        "give the prefix that was written, or the path of one of the two files",
    ),
    "SW0831": Entry(
        "two files of one message",
        "`PREFIX.pb` and `PREFIX.cpb` are both there. One of them is from an earlier save, and nothing says which.",
        "delete the one that is older; Splitter.write removes it by itself",
    ),
    "SW0832": Entry(
        "file of another kind than its name says",
        "A `.cpb` file begins with riegeli's signature, and a `.pb` file never does. An empty `.cpb` file was not "
        "written to its end.",
        "write the message again, or give the file its own ending back",
    ),
    "SW0833": Entry(
        "no chunk metadata at the end",
        "The last record of a chunked file is its `ChunkMetadata`. A file that was cut between two chunks has another "
        "record there.",
        "get the whole file",
    ),
    "SW0834": Entry(
        "version of chunked file that cannot be read",
        "The file's `VersionDef` says that mergers of this version cannot, or must not, read it.",
        "install a newer Shardwright",
    ),
    "SW0835": Entry(
        "list of chunks that is not that of the file",
        "`ChunkMetadata.chunks` has the type, the size and the position of each record but the last, each record once.",
        "write the message again; shardwright verify FILE shows the chunks",
    ),
    "SW0836": Entry(
        "wrong number of a chunk",
        "Every `ChunkedField` names a chunk, or has others nested in it; every chunk is named once.",
        "set chunk_index to the chunk's place in the list; Splitter.write does",
    ),
    "SW0837": Entry(
        "path that the message type does not have",
        "A chunk's field tags must lead to a message, or a value, of the type that is read: with fields that it has, "
        "an index after a repeated field, a key of its kind after a map.",
        "read the file with the message type that was written",
    ),
    "SW0838": Entry(
        "chunk that does not fit its place",
        "Chunks of type MESSAGE are for messages, of type BYTES for bytes, text that is UTF-8, and numbers as decimal "
        "text.",
        "read the file with the message type that was written; Splitter.write chooses the types",
    ),
    "SW0839": Entry(
        "chunk that is not a message",
        "The bytes are as they were written, but protobuf cannot parse them as a message of the type at this place.",
        "read the file with the message type that was written",
    ),
    "SW0840": Entry(
        "index beyond the end of a list",
        "A chunk is for an element of a repeated field, or for something in one, and elements before it are missing.",
        "write the message again; give elements in their order",
    ),
    "SW0841": Entry(
        "two members of a oneof",
        "A chunk is for a member of a oneof in which another member is set. Setting it would drop what is there.",
        "write the message again",
    ),
    "SW0842": Entry(
        "required fields are missing",
        "The message that was put together lacks fields that its type requires (proto2).",
        "set them and write the message again; read_partial reads what is there",
    ),
    "SW0843": Entry(
        "chunk metadata that no splitter writes",
        "The metadata are larger than what they describe, or nested deeper than messages can be. Hostile files are.",
        "write the message again",
    ),
    "SW0844": Entry(
        "no such element or entry",
        "A place of a message that is read lazily goes through an element of a list, or an entry of a map, that the "
        "message does not have.",
        "ask LazyMessage.len or LazyMessage.has first",
    ),
    "SW0845": Entry(
        "this is no array",
        "Arrays are tensors with their elements in `tensor_content`, dense constants of modules, and `bytes` fields. "
        "They have as many bytes as their type and shape need.",
        "read the message with LazyMessage.get",
    ),
    "SW0846": Entry(
        "wrong argument for a merger",
        "Chunks are messages or bytes; what they are merged into is an empty message of the type that was split.",
        "give Merger a new message: Merger.read(prefix, message := GraphDef())",
    ),
    "SW0847": Entry(
        "no part to read",
        "Only a chunked file has parts, and metadata. The message itself may be no chunk, if its splitter was told so.",
        "read it whole: Merger.read(prefix, message)",
    ),
    "SW0848": Entry(
        "list of runs that is not that of the file",
        "A file of Shardwright says in its riegeli metadata where the runs of its lists begin, so that one element is "
        "found at once. What it says does not fit the chunks.",
        "read the message whole with Merger.read, which does not need the list, and write it again",
    ),
    "SW0850": Entry(
        "version of a module's message that is not known",
        "ir.proto has a version. This one is newer than this Shardwright, or the message is of another type.",
        "install a newer Shardwright",
    ),
    "SW0851": Entry(
        "reference in a module's message that leads nowhere",
        "Names, attributes, values and blocks are referred to by their place. There is nothing at this one, or "
        "something of another sort.",
        "write the module again",
    ),
    "SW0852": Entry(
        "attribute of a message that refers forwards",
        "An attribute consists of attributes before it, so that none can contain itself.",
        "write the module again",
    ),
    "SW0853": Entry(
        "counts in a module's message that do not add up",
        "Blocks say how many operations they have, and arguments and results have a type, a place and a name each.",
        "write the module again",
    ),
    "SW0854": Entry(
        "unknown operation in a module's message",
        "No dialect has an operation of this name: a newer Shardwright wrote it, or a project with its own dialects.",
        "install a newer Shardwright, or give the dialects: module_from_proto(message, context)",
    ),
    "SW0855": Entry(
        "unknown attribute in a module's message",
        "No dialect has an attribute or type of this name: a newer Shardwright wrote it, or a project with dialects of "
        "its own.",
        "install a newer Shardwright, or give the dialects: module_from_proto(message, context)",
    ),
    "SW0856": Entry(
        "attribute of a message that cannot be made",
        "Its parts or its text are not what attributes of its kind have.",
        "write the module again",
    ),
    "SW0857": Entry(
        "module that cannot be written as a message",
        "A module holds the values that it uses, and the text of an attribute says all that it holds.",
        "correct the pass that made it",
    ),
    "SW0858": Entry(
        "attributes of a message that are too large",
        "A few attributes that share their parts can say what no memory holds. Hostile files do that.",
        "write the module again",
    ),
    "SW0859": Entry(
        "large data of a module's message in the wrong place",
        "Each blob belongs to one attribute, in the order of the attributes.",
        "write the module again",
    ),
    "SW0860": Entry(
        "module of a message that cannot be verified",
        "Operations, regions or attributes are missing that a verifier takes for granted.",
        "write the module again",
    ),
    "SW0865": Entry(
        "object that cannot be stored",
        "Saved are functions, stages, modules, variables, arrays, TensorFlow's SavedModel and GraphDef, and "
        "containers of them; of other Python values those that are data: numbers, texts, containers, slices, "
        "types, layouts, meshes, dataclasses and named tuples by their fields, and public functions of "
        "shardwright. Nothing is pickled.",
        "leave it out, or replace it by data that says the same",
    ),
    "SW0866": Entry(
        "function without a program",
        "A function is saved as the programs that it was compiled to, and this one was not compiled yet, or its "
        "variables were moved to other layouts since.",
        "call it once, or give save what it shall be compiled for: signatures=[(TensorSpec((8, 4), 'float32'),)]",
    ),
    "SW0867": Entry(
        "directory that is there already",
        "A saved directory takes the place of another saved directory, if that was asked for, and never of "
        "anything else.",
        "choose another path, or say overwrite=True to replace a saved directory",
    ),
    "SW0868": Entry(
        "name that is no name of a file inside of the directory",
        "Files of a saved directory have relative names, with slashes, without '..', links, control characters or "
        "names that differ in case alone. All else could end up somewhere else, now or on another system.",
        "give the asset a plain name: assets={'vocabulary.txt': path}",
    ),
    "SW0869": Entry(
        "directory that is not whole",
        "A saved directory holds the files that were saved, all of them and no others.",
        "save it again, or copy the whole directory again",
    ),
    "SW0870": Entry(
        "file that is not what was saved",
        "fingerprint.pb has the hashes of what was saved. These files have others: they were changed, damaged, or "
        "belong to another save.",
        "save it again, or copy the whole directory again",
    ),
    "SW0871": Entry(
        "saved program that does not fit together",
        "The directory's hashes are right, but what it says contradicts itself: nobody's save writes that.",
        "get the directory from somebody you trust, and save it again",
    ),
    "SW0872": Entry(
        "not a checkpoint",
        "A checkpoint is a folder with a manifest, which is written last. There is none, or no folder at all.",
        "give the path that Checkpoint.save returned, or CheckpointManager.latest_checkpoint",
    ),
    "SW0873": Entry(
        "damaged checkpoint",
        "Bytes, files or sizes are not those that were written: every file's size, every chunk's checksum and the "
        "manifest's hash are compared.",
        "restore an older checkpoint (CheckpointManager.checkpoints lists them), or copy this one again",
    ),
    "SW0874": Entry(
        "manifest of a checkpoint that makes no sense",
        "Its hash is right, but no Shardwright of this version writes such a manifest.",
        "get the checkpoint from whom you trust; a newer version of Shardwright may read it",
    ),
    "SW0875": Entry(
        "what a checkpoint cannot hold",
        "Checkpoints hold variables, arrays, numbers and text in modules, dicts, lists and tuples; tensors must not "
        "have partial results, and each value has one name.",
        "name what is to be saved: Checkpoint(model=model, step=step); shardwright.relayout finishes partial results",
    ),
    "SW0876": Entry(
        "path where no checkpoint can be put",
        "Something is there that is no checkpoint, or that cannot be exchanged in one step. It is left as it is.",
        "give another path, or move away what is there",
    ),
    "SW0877": Entry(
        "tensorstore is not installed",
        "Arrays of checkpoints are stored by this package, which nothing else needs.",
        "pip install 'shardwright[checkpoints]'",
    ),
    "SW0878": Entry(
        "wrong option of a checkpoint or a directory",
        "Each option has its kind and range.",
        "see docs/saving.md, Checkpoints",
    ),
    "SW0879": Entry(
        "checkpoint that does not fit",
        "Names, shapes and element types of what is saved must be those of what is restored; layouts and meshes may "
        "differ. Everything that does not fit is listed at once.",
        "restore(path, strict=False) restores what fits, and reports the rest",
    ),
    "SW0881": Entry(
        "directory of a newer version",
        "It was saved in a form that this version of Shardwright does not know.",
        "install a newer Shardwright",
    ),
    "SW0882": Entry(
        "call that fits no saved program",
        "What was loaded runs the programs that were saved, each for arguments of certain shapes, types, layouts "
        "and static values; it has no Python function that could be traced for others.",
        "call it with what it was saved for, or save it for these arguments as well",
    ),
    "SW0883": Entry(
        "programs that cannot be brought to this mesh",
        "Layouts name axes of a mesh. On another mesh every one of them needs an axis, tensors have to split "
        "evenly, and what was written for one device's share of the old mesh stays there.",
        "give load a mesh with the same axis names, or say which is which: axes={'x': 'batch', 'y': None}",
    ),
    "SW0884": Entry(
        "packages for storage are not installed",
        "Saving and loading need protobuf, which import shardwright does not.",
        "pip install 'shardwright[storage]'",
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
    "SW0893": Entry(
        "operations that TensorFlow cannot say",
        "An exported graph consists of operations that TensorFlow runs on any machine. All that have no such form are "
        "listed, each with its reason.",
        "write the operation by others, or export the part of the program before it",
    ),
    "SW0894": Entry(
        "stage that is no global program",
        "Graphs are made of the program as it was written, on whole arrays: of a traced or propagated stage.",
        "shardwright.to_graph_def(function.trace(...))",
    ),
}
