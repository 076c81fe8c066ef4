"""The error codes of commands and their files."""

from __future__ import annotations

COMMANDS = """
SW0701: wrong use of a command
    The command line does not fit what the command accepts: an unknown or ambiguous option, a missing file name, or a
    value of the wrong kind.
    help: run the command with --help; the message names the closest option
SW0702: a file cannot be read
    The file does not exist, is a directory, or may not be read by this user.
    help: check the path; give '-' or no file name to read standard input
SW0703: a file is not text
    Programs are UTF-8 text or MLIR bytecode. The file holds other bytes: an archive, or a damaged download.
    help: give the program as JAX writes it: as_text(), or bytecode
SW0704: output cannot be written
    The output goes into a temporary file next to its place and is then renamed, so that nobody sees half of it. One of
    the two steps was refused, or standard output is closed or full.
    help: check that the directory exists and can be written, and where standard output goes
SW0705: unknown pass or pipeline
    A name after -p is neither a pass nor a named pipeline.
    help: shardwright-opt --list-passes prints all names
SW0706: malformed pipeline text
    The text after -p is a list of passes separated by commas, each with options in braces:
    'canonicalize,propagate-layouts{option=1}'.
    help: quote the whole text in the shell, separate options by one space
SW0707: wrong pass option
    The pass has no option of that name, the value has another type, or a required option is missing.
    help: shardwright-opt --list-passes prints each pass's options; Booleans are written option=true
SW0708: diagnostics are not the expected ones
    With --verify-diagnostics, each `// expected-error {{...}}` comment must meet exactly one diagnostic on its line,
    and each diagnostic one comment.
    help: correct the comment (@+1 and @-1 move it by lines, @below and @above by one) or the program
SW0709: an array file cannot be read
    The file is not a NumPy .npz archive, is truncated, or holds Python objects, which are never loaded.
    help: write it again with numpy.savez(path, in_0=..., in_1=...)
SW0710: an array is missing
    The archive must hold in_0, in_1, ... for the arguments (and out_0, out_1, ... for the results), one each.
    help: the message lists what the archive holds and what the program needs
SW0711: an array has the wrong shape
    The array's shape is not the global shape that the program declares.
    help: give global (unsharded) arrays; the program's line says which shape
SW0712: an array has the wrong element type
    The array's element type is not the program's. bfloat16 may also be stored as its bits in uint16.
    help: convert the array before saving it; nothing is converted silently
SW0713: results differ
    A result differs from the expected one (--expect) or from the unsharded run (--check) by more than atol + rtol *
    |expected|.
    help: --rtol and --atol set the tolerance; report a difference that rounding cannot explain
SW0714: no such value, line or collective
    --why explains the values that a source line defines, a value by its name, or a collective by its number; the
    partitioned program has no such thing.
    help: the message names the closest ones
SW0715: unknown command
    The word after `shardwright` is not one of its commands.
    help: shardwright --help lists them
SW0716: no entry function
    A program to run or explain needs one public function with a body named main.
    help: rename the function, or export the whole program
SW0717: not enough memory
    A tensor of the program, or what a run needs at once, is larger than this machine's memory. All devices are
    simulated in one process.
    help: run a smaller program, or only partition it with shardwright-opt, which needs no arrays
SW0718: argument or result that is no array
    A program to run takes and gives tensors whose elements NumPy knows: numbers or truth values.
    help: change the argument's or result's type in the program
SW0720: layout that another form cannot state
    An exported program says its layouts in words that others read. Shardy has partial sums but no other partial
    results, and a program for one device's arrays cannot take arguments that are partial.
    help: give the value a layout without partial results before you export the program
SW0721: JAX is not installed
    MLIR bytecode, StableHLO's portable artifacts and jitted functions are read with JAX and jaxlib, which Shardwright
    does not need otherwise.
    help: pip install 'shardwright[jax]', or give the program as StableHLO text
SW0722: bytecode that cannot be read
    jaxlib, in a process of its own, refused the bytes or was ended by them: the file is damaged or not complete, or it
    was written by a newer version.
    help: write the file again, install a newer jaxlib, or give the program as StableHLO text
SW0723: manual computation that cannot be written with annotations
    With annotations, a manual computation is a region that takes its operands and nothing else, and stands in no other
    one.
    help: export the program of each device instead: shardwright export --to stablehlo
SW0724: unknown message type
    Protos do not say what they are. The type is named with --type, by our messages' names (GraphDef, SavedModel,
    ir.Module ...) or by those of a descriptor set.
    help: give --type NAME, and for a type of your own --descriptors FILE
SW0725: not a descriptor set
    --descriptors takes the message types of a project as protoc writes them down, with all that they import.
    help: write it with protoc --include_imports --descriptor_set_out=FILE
SW0726: message that cannot be in one piece
    A message in one piece is a .pb file of less than 2 GiB, the most that protobuf reads.
    help: give a name that ends in .pb, and leave larger messages in chunks
SW0727: not a stored directory
    A saved directory has a saved_model.pb or saved_model.cpb, a checkpoint its list of variables.
    help: give what save or Checkpoint.save wrote, or a file in it
SW0728: nothing but NaN
    A warning: every floating element of all inputs, or of all results, of a run is NaN. The run is counted, and a
    comparison finds NaN equal to NaN, but such numbers prove nothing.
    help: run with inputs that give numbers; without --inputs they are random
SW0729: no such thing to change
    --without, --layout and --mesh name what they change: a line that asks for a layout, an argument, an axis.
    help: the message names those that the program has
SW0730: no such code
    Codes of errors are SW and four digits.
    help: shardwright explain-code --all lists them
SW0731: no such level of logging
    The variable SHARDWRIGHT_LOG says from which level on commands tell what they do.
    help: set it to debug, info, warning or error, or unset it
SW0732: plugin that fails
    A plugin is a Python module: of a package that names it as an entry point, or a file given to --load. Importing it
    raised an exception, what it added did so when it ran, or it adds something that is there already.
    help: mend or uninstall it; SHARDWRIGHT_PLUGINS= leaves the plugins of packages out
SW0733: no such plugin
    The variable SHARDWRIGHT_PLUGINS names the plugins that are loaded; no installed package has one of this name.
    help: shardwright doctor lists those that there are
SW0734: more devices than can be written
    An exported module counts its devices in 32 bits, and the collectives of StableHLO list the devices of each group
    one by one, of which no more are written than a reader can take.
    help: export for a smaller mesh; shardwright explain and price say what happens on this one
SW0735: program that XLA's partitioner may get wrong
    A warning about programs with annotations: the partitioner of XLA is known to compute some of them wrongly,
    whoever wrote the annotations. Windows over one split value share what the first one padded it with, partial
    results of convolutions are counted several times, slopes of pools go to other elements, and starts of slices are
    clamped on each device.
    help: take the program of each device, in which nothing is left to partition: shardwright export --to stablehlo
SW0740: not a cost network
    shardwright solve reads the JSON of the IOPDDL contest: a problem with nodes (a list of costs for each, and if there
    is a usage_limit, usages and intervals as well) and edges (two nodes each, and a cost for each pair of choices).
    help: write {"problem": {"nodes": {"costs": [[4, 6], [1, 3]]}, "edges": {"nodes": [[0, 1]],
    "costs": [[0, 5, 5, 0]]}}}
SW0799: internal error
    Shardwright itself failed. The input and the command were saved to the named file.
    help: report it with that file
"""
