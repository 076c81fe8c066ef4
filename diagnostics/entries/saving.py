"""The error codes of saved directories and checkpoints."""

from __future__ import annotations

SAVING = """
SW0865: object that cannot be stored
    Saved are functions, stages, modules, variables, arrays, TensorFlow's SavedModel and GraphDef, and containers of
    them; of other Python values those that are data: numbers, texts, containers, slices, types, layouts, meshes,
    dataclasses and named tuples by their fields, and public functions of shardwright. Nothing is pickled.
    help: leave it out, or replace it by data that says the same
SW0866: function without a program
    A function is saved as the programs that it was compiled to, and this one was not compiled yet, or its variables
    were moved to other layouts since.
    help: call it once, or give save what it shall be compiled for: signatures=[(TensorSpec((8, 4), 'float32'),)]
SW0867: directory that is there already
    A saved directory takes the place of another saved directory, if that was asked for, and never of anything else.
    help: choose another path, or say overwrite=True to replace a saved directory
SW0868: name that is no name of a file inside of the directory
    Files of a saved directory have relative names, with slashes, without '..', links, control characters or names that
    differ in case alone. All else could end up somewhere else, now or on another system.
    help: give the asset a plain name: assets={'vocabulary.txt': path}
SW0869: directory that is not whole
    A saved directory holds the files that were saved, all of them and no others.
    help: save it again, or copy the whole directory again
SW0870: file that is not what was saved
    fingerprint.pb has the hashes of what was saved. These files have others: they were changed, damaged, or belong to
    another save.
    help: save it again, or copy the whole directory again
SW0871: saved program that does not fit together
    The directory's hashes are right, but what it says contradicts itself: nobody's save writes that.
    help: get the directory from somebody you trust, and save it again
SW0872: not a checkpoint
    A checkpoint is a folder with a manifest, which is written last. There is none, or no folder at all.
    help: give the path that Checkpoint.save returned, or CheckpointManager.latest_checkpoint
SW0873: damaged checkpoint
    Bytes, files or sizes are not those that were written: every file's size, the hash of every chunk that is read and
    the manifest's hash are compared.
    help: restore an older checkpoint (CheckpointManager.checkpoints lists them), or copy this one again
SW0874: manifest of a checkpoint that makes no sense
    Its hash is right, but no Shardwright of this version writes such a manifest.
    help: get the checkpoint from whom you trust; a newer version of Shardwright may read it
SW0875: what a checkpoint cannot hold
    Checkpoints hold variables, arrays, numbers and text in modules, dicts, lists and tuples; tensors must not have
    partial results, and each value has one name.
    help: name what is to be saved: Checkpoint(model=model, step=step); shardwright.relayout finishes partial results
SW0876: path where no checkpoint can be put
    Something is there that is no checkpoint, or that cannot be exchanged in one step. It is left as it is.
    help: give another path, or move away what is there
SW0877: a package that checkpoints need is not installed
    Chunks of checkpoints are hashed by blake3; what Orbax wrote, and checkpoints of the second format, are read by
    tensorstore, and weights of Keras by h5py. Nothing else needs them.
    help: pip install 'shardwright[checkpoints]'
SW0878: wrong option of a checkpoint or a directory
    Each option has its kind and range.
    help: Python's help(shardwright.Checkpoint), or of CheckpointManager or save, says what it takes
SW0879: checkpoint that does not fit
    Names, shapes and element types of what is saved must be those of what is restored; layouts and meshes may differ.
    Everything that does not fit is listed at once.
    help: restore(path, strict=False) restores what fits, and reports the rest
SW0880: what was replaced while it was read
    What was opened is read to its end, whatever takes its place. Here it was removed under the reader, or replaced
    again and again before it could be opened.
    help: read it again
SW0881: directory or checkpoint of another version
    It was saved in a form that this version of Shardwright does not know: a newer one, or the first form of
    checkpoints, which had no hashes with which a part of an array could be compared.
    help: install a newer Shardwright; read an older checkpoint with the version that wrote it, and save it again
SW0882: call that fits no saved program
    What was loaded runs the programs that were saved, each for arguments of certain shapes, types, layouts and static
    values; it has no Python function that could be traced for others.
    help: call it with what it was saved for, or save it for these arguments as well
SW0883: programs that cannot be brought to this mesh
    Layouts name axes of a mesh. On another mesh every one of them needs an axis, tensors have to split evenly, and what
    was written for one device's share of the old mesh stays there.
    help: give load a mesh with the same axis names, or say which is which: axes={'x': 'batch', 'y': None}
SW0884: packages for storage are not installed
    Saving and loading need protobuf, which import shardwright does not.
    help: pip install 'shardwright[storage]'
SW0895: another process failed
    Several processes save or load together, all of them or none. One of them could not, and says so with its own error.
    What was there before is as it was.
    help: look at what that process says; call it again when the cause is gone
SW0896: safetensors that are not whole
    The header says for each array its type, its shape, and where its bytes are: one behind the other, without gaps, to
    the file's end. Here it does not, or an index names what is not there.
    help: get the file again; load_variables takes one file, its index, or a folder with one model
SW0897: checkpoint of Orbax that is not whole, or several
    A checkpoint of Orbax says in _METADATA which arrays it has, and each of them lies beside it, in zarr or in one
    database. Here something is missing or damaged, or a path has several such trees: steps of a manager, or items.
    help: give the path of one tree, such as checkpoints/100/default; get it again if it is damaged
SW0899: weights of Keras that are not whole
    A file of weights is HDF5, alone or in an archive of a model, and has its arrays in itself. Here it has not, or what
    it has cannot be read, or leads to other files.
    help: save the weights again, or get the file again
"""
