"""The error codes of records, messages in chunks, and modules as messages."""

from __future__ import annotations

MESSAGES = """
SW0801: not a riegeli file
    A riegeli file begins with 64 bytes that are always the same. These do not.
    help: give a file that riegeli or Shardwright wrote
SW0802: file ends inside a chunk
    The file was cut, or was not written to its end.
    help: get the whole file; RecordReader(recovery=...) reads what is there
SW0803: hash does not match
    A header or a chunk's data is not what was written: bytes changed on the disk or on the way.
    help: get the file again; RecordReader(recovery=...) reads what is not damaged
SW0804: headers disagree about a chunk
    Every 65536 bytes a block header says where the chunk around it begins and ends. It says something else than the
    chunk's own header, as in a file that was put together from parts of others.
    help: get the file again; RecordReader(recovery=...) reads what is not damaged
SW0805: chunk that cannot be decoded
    The chunk's hash is right, but its contents are not what riegeli writes.
    help: write the file again; RecordReader(recovery=...) leaves the chunk out
SW0806: unknown compression or kind of chunk
    The chunk holds records in a way that riegeli did not know when this was written.
    help: install a newer Shardwright, or write the file with brotli, zstd, snappy or no compression
SW0807: chunk that expands too much
    A few bytes would become very many. Hostile files do that, and so do constants that are all zeros.
    help: if you trust the file: RecordReader(file, limits=Limits(always=1 << 40))
SW0808: package of a compression is not installed
    Brotli, zstd and snappy come from packages that Shardwright does not need otherwise.
    help: pip install 'shardwright[storage]', or write without compression
SW0809: wrong option of a record writer
    Options are those of riegeli, as text or as fields, each in its range.
    help: write options like 'brotli:6', 'zstd:3,chunk_size:1M', 'uncompressed' or 'transpose,padding:64k'
SW0810: no record at this position, or no way to it
    A record's position is the place of its chunk plus its number within the chunk. A buffer for it must be large
    enough, and the file must be able to seek: a pipe can only be read from its beginning on.
    help: take positions from RecordWriter.write or RecordReader.position
SW0811: no such field
    A path into a message names a field, by its name or number, that the type of the message does not have.
    help: take one of the fields that the message lists
SW0812: path that a message cannot have
    After a repeated field comes an index, after a map a key of the map's type, after a message a field; nothing comes
    after a scalar.
    help: write the path like node[3].attr["value"].tensor, or as a list of names, numbers, keys and indices
SW0813: field that fits into no chunk
    A message is cut between its fields, list elements and map entries, and a single string or bytes field is a chunk of
    its own. What cannot be cut is larger than a chunk may be.
    help: give the splitter a larger max_size (at most 2 GiB), or keep the value in a single bytes field
SW0814: message nested too deeply
    Protobuf reads messages of at most 100 levels. What is nested deeper could be written and never be read.
    help: nest the message less
SW0815: call of a part of a splitter
    A splitter with a parent hands its chunks to the parent, and has none itself.
    help: call split or write of the parent
SW0816: type that a splitter is not for
    Each specialised splitter is for one type of message, and chunks are messages or bytes.
    help: use splitter_for(message), which finds the splitter of a type
SW0817: message that cannot be written
    Protobuf does not serialise the message, or it was changed while a splitter was working on it.
    help: set all required fields, keep every field below 2 GiB, and leave the message alone until write has returned
SW0818: size or place of chunks that cannot be
    Chunks have at least one byte and fewer than 2 GiB; a chunk is put at a place among those that there are.
    help: give max_size and chunk_size between 1 and 2147483647, and an index from 0 to the number of chunks
SW0830: no file of this message
    A message called `PREFIX` is in `PREFIX.pb` if it is whole, and in `PREFIX.cpb` if it is in chunks.
    help: give the prefix that was written, or the path of one of the two files
SW0831: two files of one message
    `PREFIX.pb` and `PREFIX.cpb` are both there. One of them is from an earlier save, and nothing says which.
    help: delete the one that is older; Splitter.write removes it by itself
SW0832: file of another kind than its name says
    A `.cpb` file begins with riegeli's signature, and a `.pb` file never does. An empty `.cpb` file was not written to
    its end.
    help: write the message again, or give the file its own ending back
SW0833: no chunk metadata at the end
    The last record of a chunked file is its `ChunkMetadata`. A file that was cut between two chunks has another record
    there.
    help: get the whole file
SW0834: version of chunked file that cannot be read
    The file's `VersionDef` says that mergers of this version cannot, or must not, read it.
    help: install a newer Shardwright
SW0835: list of chunks that is not that of the file
    `ChunkMetadata.chunks` has the type, the size and the position of each record but the last, each record once.
    help: write the message again; shardwright verify FILE shows the chunks
SW0836: wrong number of a chunk
    Every `ChunkedField` names a chunk, or has others nested in it; every chunk is named once.
    help: set chunk_index to the chunk's place in the list; Splitter.write does
SW0837: path that the message type does not have
    A chunk's field tags must lead to a message, or a value, of the type that is read: with fields that it has, an index
    after a repeated field, a key of its kind after a map.
    help: read the file with the message type that was written
SW0838: chunk that does not fit its place
    Chunks of type MESSAGE are for messages, of type BYTES for bytes, text that is UTF-8, and numbers as decimal text.
    help: read the file with the message type that was written; Splitter.write chooses the types
SW0839: chunk that is not a message
    The bytes are as they were written, but protobuf cannot parse them as a message of the type at this place.
    help: read the file with the message type that was written
SW0840: index beyond the end of a list
    A chunk is for an element of a repeated field, or for something in one, and elements before it are missing.
    help: write the message again; give elements in their order
SW0841: two members of a oneof
    A chunk is for a member of a oneof in which another member is set. Setting it would drop what is there.
    help: write the message again
SW0842: required fields are missing
    The message that was put together lacks fields that its type requires (proto2).
    help: set them and write the message again; read_partial reads what is there
SW0843: chunk metadata that no splitter writes
    The metadata are larger than what they describe, or nested deeper than messages can be. Hostile files are.
    help: write the message again
SW0844: no such element or entry
    A place of a message that is read lazily goes through an element of a list, or an entry of a map, that the message
    does not have.
    help: ask LazyMessage.len or LazyMessage.has first
SW0845: this is no array
    Arrays are tensors with their elements in `tensor_content`, dense constants of modules, and `bytes` fields. They
    have as many bytes as their type and shape need.
    help: read the message with LazyMessage.get
SW0846: wrong argument for a merger
    Chunks are messages or bytes; what they are merged into is an empty message of the type that was split.
    help: give Merger a new message: Merger.read(prefix, message := GraphDef())
SW0847: no part to read
    Only a chunked file has parts, and metadata. The message itself may be no chunk, if its splitter was told so.
    help: read it whole: Merger.read(prefix, message)
SW0848: list of runs that is not that of the file
    A file of Shardwright says in its riegeli metadata where the runs of its lists begin, so that one element is found
    at once. What it says does not fit the chunks.
    help: read the message whole with Merger.read, which does not need the list, and write it again
SW0850: version of a module's message that is not known
    ir.proto has a version. This one is newer than this Shardwright, or the message is of another type.
    help: install a newer Shardwright
SW0851: reference in a module's message that leads nowhere
    Names, attributes, values and blocks are referred to by their place. There is nothing at this one, or something of
    another sort.
    help: write the module again
SW0852: attribute of a message that refers forwards
    An attribute consists of attributes before it, so that none can contain itself.
    help: write the module again
SW0853: counts in a module's message that do not add up
    Blocks say how many operations they have, and arguments and results have a type, a place and a name each.
    help: write the module again
SW0854: unknown operation in a module's message
    No dialect has an operation of this name: a newer Shardwright wrote it, or a project with its own dialects.
    help: install a newer Shardwright, or give the dialects: module_from_proto(message, context)
SW0855: unknown attribute in a module's message
    No dialect has an attribute or type of this name: a newer Shardwright wrote it, or a project with dialects of its
    own.
    help: install a newer Shardwright, or give the dialects: module_from_proto(message, context)
SW0856: attribute of a message that cannot be made
    Its parts or its text are not what attributes of its kind have.
    help: write the module again
SW0857: module that cannot be written as a message
    A module holds the values that it uses, and the text of an attribute says all that it holds.
    help: correct the pass that made it
SW0858: attributes of a message that are too large
    A few attributes that share their parts can say what no memory holds. Hostile files do that.
    help: write the module again
SW0859: large data of a module's message in the wrong place
    Each blob belongs to one attribute, in the order of the attributes.
    help: write the module again
SW0860: module of a message that cannot be verified
    Operations, regions or attributes are missing that a verifier takes for granted.
    help: write the module again
"""
