"""
Every error code: its title, what it means, and what to do about it.

`docs/errors.md` is generated from here (`make pages`). A code is never
reused for another meaning.
"""

from __future__ import annotations

import re

from shardwright.diagnostics.entries_storage import STORAGE
from shardwright.diagnostics.entry import Entry

CODE_PATTERN = re.compile(r"SW\d{4}")

AREAS = {
    "SW01": "Meshes and layouts",
    "SW02": "Reading programs",
    "SW03": "Verifying programs",
    "SW04": "Sharding rules and partitioning",
    "SW05": "The Python API",
    "SW06": "Running",
    "SW07": "Commands and files",
    "SW08": "Storage",
}

ENTRIES: dict[str, Entry] = {
    "SW0101": Entry(
        "malformed mesh",
        "A mesh needs axes with distinct, non-empty names and sizes of at least one, and as many devices as the "
        "product of the sizes.",
        'write the mesh as axis names and sizes: Mesh(batch=4, model=2) or <["batch"=4, "model"=2]>',
    ),
    "SW0102": Entry(
        "unknown mesh axis",
        "A layout, a collective or a call names an axis that the mesh does not have.",
        "use one of the axes that the message lists, or add the axis to the mesh",
    ),
    "SW0103": Entry(
        "unknown mesh",
        "A layout names a mesh that the module does not declare.",
        'declare it at the top of the module: dtensor.mesh @mesh = <["x"=8]> (or sdy.mesh)',
    ),
    "SW0104": Entry(
        "dim does not split evenly",
        "The axes that split a dim must divide its size. Shardwright never pads or truncates by itself.",
        "split the dim over fewer axes, choose another mesh, or pad the dim in the program",
    ),
    "SW0105": Entry(
        "axis used twice",
        "In one layout each part of a mesh axis may split one dim once, or be partial, but not both.",
        'drop one of the two uses, or split the axis into sub-axes: "x":(1)2 and "x":(2)2',
    ),
    "SW0106": Entry(
        "layout of another rank",
        "A layout lists the axes of each dim, so it has as many entries as the tensor has dims.",
        "write one {...} for each dim, {} for a dim that is not split",
    ),
    "SW0107": Entry(
        "malformed sub-axis",
        '"x":(pre)size takes the digits of axis x between pre and pre * size: pre * size must divide the axis\' '
        "size, and size must be at least 2. Parts of one axis nest: of the places where a layout cuts it, each divides "
        "the next.",
        "use the sizes or the parts that the message lists",
    ),
    "SW0108": Entry(
        "text that is no layout",
        'A layout is written as in the IR, [{"x"}, {}], or around the type, f32[16@x, 64].',
        "compare the text with the two forms; brackets and commas matter",
    ),
    "SW0109": Entry(
        "wrong entry for a dim",
        "Each entry of a layout says how one dim is split: by an axis, by several, or not at all.",
        "give an axis name, a tuple of names, or Mesh.UNSHARDED for each dim",
    ),
    "SW0110": Entry(
        "mesh with its own device order",
        "An sdy.mesh with device_ids orders devices in a special way. Programs refer to axes only; which device "
        "stands where is for the run to say.",
        "drop device_ids, and give the devices to Mesh(devices=...)",
    ),
    "SW0111": Entry(
        "shardings that do not fit the results",
        "An op's sdy.sharding attribute must have one entry for each result.",
        "give #sdy.sharding_per_value<[...]> one entry for each result",
    ),
    "SW0113": Entry(
        "layout on something that is no tensor",
        "Only tensors have layouts.",
        "drop the sharding from this value",
    ),
    "SW0114": Entry(
        "sdy.sharding that is no sharding",
        "The attribute sdy.sharding of an argument or result must be a Shardy sharding; anything else would be "
        "lost silently.",
        "write #sdy.sharding<@mesh, [{...}, ...]>, one {...} for each dim",
    ),
    "SW0115": Entry(
        "unknown attribute of Shardy",
        "An argument, a result or an op has an attribute sdy.NAME that nothing reads. A sharding under a misspelt name "
        "would be lost silently.",
        "write sdy.sharding, or drop the attribute",
    ),
    "SW0116": Entry(
        "malformed device name",
        "The devices of a mesh are named as in TensorFlow, each once: a kind and a number, and before them the job and "
        "the task where there are several processes.",
        'write "GPU:0", "/worker:0/GPU:0" or "/job:worker/task:0/device:GPU:0", one for each place of the mesh',
    ),
    "SW0117": Entry(
        "text or message that is no mesh or layout",
        "TensorFlow's DTensor writes meshes and layouts as texts and as protocol buffers, which Shardwright reads and "
        "writes. This one is neither, or does not fit the mesh, or says what that form cannot say.",
        "give what Mesh.to_string, Layout.to_string or to_proto write; str(layout) can say everything",
    ),
    "SW0118": Entry(
        "OpSharding without a layout",
        "Some of XLA's shardings have no layout: those of tuples, of manual and of unknown ones, of one device out of "
        "many, and lists of devices that are no axes of the mesh.",
        "use a sharding of replicated or evenly tiled type, or leave out the mesh, so that one is made",
    ),
    "SW0119": Entry(
        "mesh with other axes",
        "A tensor keeps its sharding on another mesh only if that has the same axes: the same names and sizes, in the "
        "same order. A replicated tensor can go to every mesh.",
        "give relayout a layout on the other mesh, which says how the tensor is split there",
    ),
    "SW0201": Entry(
        "malformed text",
        "The text is not MLIR as the grammar of its ops asks: the message says what was expected at this place.",
        "correct the text at the caret; a file that ends too early may be incomplete",
    ),
    "SW0202": Entry(
        "undefined name",
        "The text uses a value, an alias or a block that it does not define.",
        "define the name before its use, or correct its spelling",
    ),
    "SW0203": Entry(
        "unknown operation",
        "The text has operations that Shardwright does not know. All of them are listed with their lines.",
        "docs/dialects.md lists the operations that can be read; rewrite the program without the others",
    ),
    "SW0301": Entry(
        "op built with operands that do not fit",
        "The shapes or element types of the operands do not fit the op.",
        "make shapes and element types fit the op",
    ),
    "SW0302": Entry(
        "op that breaks its own rules",
        "The verifier of an op found its operands, results or attributes inconsistent.",
        "correct the op; where a pass made it, report the program",
    ),
    "SW0303": Entry(
        "value used before it is defined",
        "Each value must be defined above its uses, in the same region or around it.",
        "move the definition up",
    ),
    "SW0304": Entry(
        "name defined twice",
        "Functions and meshes of one module have different names.",
        "give each function and mesh its own name",
    ),
    "SW0305": Entry(
        "shape that is not known",
        "A tensor type has a dynamic dim (?) or no rank (*). How a tensor is split, and every byte that is sent, "
        "follow from shapes that are known before the run.",
        "export the program for the sizes that it is to run with, one program for each",
    ),
    "SW0310": Entry(
        "unknown stage",
        "The module records a stage that does not exist.",
        "remove the dtensor.stage attribute, or write traced, propagated, aligned, planned or local",
    ),
    "SW0311": Entry(
        "pass in the wrong stage",
        "A pass needs a program in a certain stage, and an earlier pass that leads there did not run.",
        "use a named pipeline (shardwright-opt --list-passes), which runs the passes in order",
    ),
    "SW0312": Entry(
        "op not legal in this stage",
        "Each stage allows certain ops only: no collectives before the program is planned, no relayouts after it.",
        "run the pass that removes such ops, or correct the recorded stage",
    ),
    "SW0313": Entry(
        "tensor without a closed layout",
        "From the propagated to the planned stage every tensor type carries a layout without open dims.",
        "run propagate-layouts, which decides what is left open",
    ),
    "SW0314": Entry(
        "layout in the local stage",
        "Types in the local stage are per device: the layouts are in the entry function's attributes.",
        "run localize, which drops the layouts from the types",
    ),
    "SW0315": Entry(
        "local entry function without its global side",
        "Each argument and result of a local entry function records its global type and layout, and its own type "
        "is one shard of that.",
        "let localize write the attributes dtensor.layout and dtensor.global_type",
    ),
    "SW0316": Entry(
        "layouts that do not fit the op's rule",
        "From the aligned stage on, the layouts of an op's operands and results follow from its sharding rule, "
        "without any relayout due.",
        "run insert-relayouts, or correct the layouts by the rule that the message shows",
    ),
    "SW0320": Entry(
        "op without a source location",
        "Every op keeps the place in the user's program that it comes from. A pass made an op without one.",
        "report it with the program; in a pass of your own, use the rewriter of passes/rewriter.py",
    ),
    "SW0321": Entry(
        "recursive call",
        "A function calls itself, directly or through others. Calls are inlined, so this would never end.",
        "write the repetition as a loop (stablehlo.while)",
    ),
    "SW0322": Entry(
        "call to an unknown function",
        "A call names a function that the module does not define.",
        "export the whole program into one module, or correct the name",
    ),
    "SW0323": Entry(
        "call that does not fit its callee",
        "The operand and result types of a call must be those of the function.",
        "give the call the callee's operand and result types",
    ),
    "SW0325": Entry(
        "loop whose gradient is not known",
        "The gradient of a loop takes what each of its rounds began with, and that takes a number of rounds that the "
        "program itself says.",
        "count up to a constant, use shardwright.scan, or leave the loop out with shardwright.stop_gradient",
    ),
    "SW0326": Entry(
        "op without a gradient rule",
        "A value that a gradient depends on is made by an op for which there is no rule. All such ops are named at "
        "once.",
        "give the function a gradient with shardwright.custom_gradient, or leave it out with shardwright.stop_gradient",
    ),
    "SW0401": Entry(
        "op without a sharding rule",
        "An op without a row in the table of rules cannot be partitioned; nothing is replicated silently. All "
        "such ops are named at once.",
        "add a row as the message shows, or rewrite the program without the op",
    ),
    "SW0402": Entry(
        "malformed sharding row",
        'A row maps the dims of operands and results to factors: "i k, k j -> i j", with a kind for each factor '
        "that is not plain pass-through. The message says what contradicts itself, or which op the row does not fit.",
        "compare with the rows in docs/rules.md",
    ),
    "SW0403": Entry(
        "value that cannot be partitioned",
        "Only tensors have layouts. The program has a value of another type (a token, a tuple, an index).",
        "rewrite the program with tensors only",
    ),
    "SW0404": Entry(
        "no function to partition",
        "The partitioner works on the public function main.",
        "name the entry function @main and make it public",
    ),
    "SW0405": Entry(
        "several meshes",
        "All layouts of one program refer to one mesh.",
        "declare one mesh and use its axes, or sub-axes of them, everywhere",
    ),
    "SW0406": Entry(
        "impossible relayout",
        "No sequence of collectives turns one layout into the other.",
        "give the result another layout: collectives finish partial results, they do not make them",
    ),
    "SW0407": Entry(
        "partial results asked for in the program",
        "Only arguments may come with partial results (unreduced): a finished value would have to be taken apart "
        "first.",
        "drop unreduced from the layout",
    ),
    "SW0408": Entry(
        "one public function",
        "A program has one public function, @main; the partitioner would leave another one as it is.",
        "make the other functions private or remove them",
    ),
    "SW0431": Entry(
        "unknown custom call",
        "A custom call is known by its name only, so nobody can say what it computes or how it may be split. Those of "
        "LAPACK that JAX writes for CPUs are known, and those that stand for ops of StableHLO or CHLO.",
        "write the computation with StableHLO's ops, or export the program for platform cpu",
    ),
    "SW0432": Entry(
        "op that cannot be repeated, or that has no fixed shape",
        "Random numbers out of nowhere (stablehlo.rng) differ from run to run and from device to device, and a dim "
        "whose "
        "size is computed has no layout.",
        "make random numbers from a key (jax.random, stablehlo.rng_bit_generator), and export the program for fixed "
        "sizes",
    ),
    "SW0460": Entry(
        "devices that no mesh axes make",
        "A collective lists its devices. Shardwright finds the mesh axes along which the devices of a group "
        "differ, and these groups, pairs or meshes are not made by any axes, or parts of axes, of the "
        "program's mesh.",
        "let the devices of each group differ along mesh axes, and list every device of the mesh once",
    ),
    "SW0461": Entry(
        "collective that combines by a general body",
        "An explicit all_reduce or reduce_scatter combines by one op of its two arguments: add, multiply, "
        "maximum, minimum, and, or.",
        "gather the values (all_gather) and combine them in the program",
    ),
    "SW0462": Entry(
        "layout that names a manual axis",
        "Inside of a manual computation every value is what one device holds along the manual axes, so "
        "layouts there may name the other axes only.",
        "drop the axis from the layout inside, or do not make it manual",
    ),
    "SW0463": Entry(
        "result that differs between devices",
        "A result of the program comes from the number of a device (partition_id) or from an explicit "
        "collective outside of a manual computation over their axes. As one global array it has no value.",
        "make these axes manual axes of the sdy.manual_computation (shard_map) around the op",
    ),
    "SW0464": Entry(
        "manual computation that does not fit its shardings",
        "The body of a manual computation sees each device's part along the manual axes: dims divided by the "
        "axes that split them, which stand before all other axes of their dim.",
        "correct the shardings, or the types of the body's arguments and results",
    ),
    "SW0465": Entry(
        "sharding group of different layouts",
        "All members of a sharding group get one layout, but two of them were given different ones, or have "
        "different shapes.",
        "give them the same layout, or take one out of the group",
    ),
    "SW0466": Entry(
        "collective over replicas",
        "StableHLO numbers either the replicas or the partitions of a program. Shardwright's programs have "
        "one replica, so a collective over a list of replicas has nobody to talk to.",
        "give the op a channel_handle above 0, and use_global_device_ids where it has it",
    ),
    "SW0467": Entry(
        "GSPMD sharding that cannot be read as a layout",
        "A sharding in mhlo.sharding lists devices in tiles. Shardwright finds the mesh axes that make these "
        "tiles, and this one is not made by axes of the program's mesh, or puts a value on one device only.",
        "export the program with Shardy, or give the value a sharding over mesh axes",
    ),
    "SW0501": Entry(
        "large array captured as a constant",
        "A NumPy array from outside of the traced function would become a constant of the program and be copied "
        "to every device.",
        "pass it to the traced function as an argument",
    ),
    "SW0502": Entry(
        "not a distributed tensor",
        "The function takes a tensor with a layout on a mesh; the argument is something else, or is being traced.",
        "shardwright.relayout distributes an array over a mesh",
    ),
    "SW0503": Entry(
        "traced value used as a number",
        "A function is traced once, before there are any numbers: its values cannot decide an if, a loop or an index.",
        "use shardwright.where, or make the decision from shapes and arguments that are no tensors",
    ),
    "SW0504": Entry(
        "shapes that do not broadcast",
        "Aligned at the last dim, sizes must be equal or 1.",
        "reshape or expand one of the arrays",
    ),
    "SW0505": Entry(
        "two meshes in one function",
        "All arguments of a traced function must live on the same mesh.",
        "bring all arguments to one mesh first, with shardwright.relayout outside of the function",
    ),
    "SW0506": Entry(
        "element type that does not fit",
        "The operation is not defined for this element type, or two types have no common one. Nothing is "
        "converted silently.",
        "convert first, for instance with shardwright.astype(x, shardwright.float32)",
    ),
    "SW0507": Entry(
        "argument that is no array",
        "The operation takes arrays and numbers.",
        "make an array of it first",
    ),
    "SW0508": Entry(
        "arguments of another program",
        "A compiled stage takes arguments of the structure, shapes, types and layouts that it was compiled for.",
        "call the function itself, which compiles for each kind of arguments, or trace it again",
    ),
    "SW0509": Entry(
        "result that cannot be returned",
        "A traced function returns arrays and numbers, alone or in dicts, lists, tuples and dataclasses.",
        "return only such values; keep the rest outside of the function",
    ),
    "SW0510": Entry(
        "wrong dim",
        "A dim is a whole number from minus the rank up to the rank, each named once.",
        "count dims from 0, or from the end with negative numbers",
    ),
    "SW0511": Entry(
        "malformed contraction",
        "An einsum equation names the dims of its operands and result; names that appear twice must have equal sizes.",
        "write it like 'bij,bjk->bik'",
    ),
    "SW0512": Entry(
        "components that do not make a tensor",
        "pack takes one component for each device, of equal shapes and types, equal where the layout says that "
        "they are the same.",
        "give the components in the order of the mesh's devices, or another layout",
    ),
    "SW0513": Entry(
        "traced value outside of its function",
        "A value of one traced function was kept (in a global, an attribute, a closure) and used in another.",
        "return it from its function, or pass it as an argument",
    ),
    "SW0514": Entry(
        "wrong index",
        "A tensor is indexed by whole numbers, arrays of them, slices, ... and None, at most one for each dim, and "
        "inside of it.",
        "choose elements by their values with shardwright.where",
    ),
    "SW0515": Entry(
        "argument that is no layout",
        "Where a tensor goes is said by a Layout: the entries for the dims, together with their mesh.",
        'wrap the entries: shardwright.Layout(["batch", None], mesh)',
    ),
    "SW0516": Entry(
        "no such function or method",
        "Array functions are functions of the module, with the names of the array API standard; arrays have operators "
        "and a few properties, but no methods for them.",
        "write shardwright.sum(x) for x.sum(); docs/api.md lists the functions",
    ),
    "SW0517": Entry(
        "device that there is none of",
        "A tensor's elements are in this process, whose one device is called cpu; where they are on the mesh is its "
        "layout.",
        "use shardwright.relayout to move a tensor to another mesh or layout",
    ),
    "SW0518": Entry(
        "function that JAX did not jit",
        "shardwright.from_jax takes what jax.jit made, or what lower() made of that, with arguments and results in "
        "dicts, lists, tuples and dataclasses.",
        "write from_jax(jax.jit(function), *arguments), with shardings in jit or on the arguments",
    ),
    "SW0520": Entry(
        "gradient that does not exist",
        "What is differentiated must be one real number, with respect to floating-point arguments.",
        "sum the result (shardwright.sum, shardwright.mean), and name the floating-point arguments in argnums",
    ),
    "SW0521": Entry(
        "loop or branch that does not fit",
        "Conditions are scalar truth values, all branches return the same shapes and types, and a loop's body returns "
        "what it was given.",
        "convert or reshape what the body or branch returns",
    ),
    "SW0522": Entry(
        "tape that cannot answer",
        "A gradient tape gives one gradient, unless it is persistent, and sources on which the target does not depend "
        "get none or zeros.",
        "use GradientTape(persistent=True), or ask for all sources in one call",
    ),
    "SW0530": Entry(
        "value that a variable cannot hold",
        "A variable keeps the shape and the layout with which it was made: what it is given must have them.",
        "bring the value into the variable's layout with shardwright.relayout_like(value, variable)",
    ),
    "SW0531": Entry(
        "variable made or changed where that cannot be",
        "A traced function runs once, so that no variable can be made in it. What it assigns to variables is kept "
        "after the call, also in the branches of cond and switch and in the bodies of while_loop and scan, but not in "
        "other regions, such as conditions of loops and recomputed functions.",
        "make variables before the first call; return the new value from the region and assign it after that",
    ),
    "SW0532": Entry(
        "optimizer that is given no gradients",
        "apply_gradients takes pairs of a gradient and a variable, at least one of which has a gradient; learning "
        "rates are numbers or functions of the step.",
        "zip gradients and variables: optimizer.apply_gradients(zip(gradients, variables))",
    ),
    "SW0533": Entry(
        "arguments that an input signature does not allow",
        "A function with an input signature takes positional arguments of the shapes, types and layouts that this "
        "says, and a spec says them all before a program can be traced for it.",
        "convert the arguments, or leave input_signature out to compile for each kind of arguments",
    ),
    "SW0540": Entry(
        "result whose shape depends on data",
        "Shapes are decided before a program runs, so no result may have as many elements as the data happen to say.",
        "choose elements by their values with shardwright.where, which keeps the shape",
    ),
    "SW0541": Entry(
        "layer that does not fit its input",
        "Convolutions, pooling, norms, attention and losses take inputs of a certain number of dims, in the order that "
        "data_format says, and windows, groups and padding that fit their sizes.",
        "compare the shapes and options that the message names with the function's documentation",
    ),
    "SW0542": Entry(
        "batch whose parts are not known",
        "Statistics of each device's part of the batch need to know these parts while the program is written down.",
        "give the input a layout, as an argument or by shardwright.relayout(x, layout)",
    ),
    "SW0550": Entry(
        "dataset whose elements cannot be batched",
        "The elements of a dataset are trees of arrays, all with the same keys, whose first dims count the same rows; "
        "those of one batch stand one behind the other.",
        "let the dataset give arrays of whole rows, for instance by batching it first",
    ),
    "SW0551": Entry(
        "ragged batch",
        "A batch has fewer elements or rows than the others, or a number of rows that the devices do not share evenly.",
        'create_dtensor_iterable takes ragged="drop" and ragged="smaller"',
    ),
    "SW0552": Entry(
        "processes that do not share out a mesh",
        "When several processes read a dataset, each reads the rows of its own devices: these must be a run of "
        "coordinates of the batch axis, which splits the rows of every array.",
        "let the batch axis be the mesh's first one, and name it first in the layouts of the elements",
    ),
    "SW0553": Entry(
        "layout map that does not fit its variables",
        "The keys of a layout map are regular expressions that are searched in the names of variables; the first that "
        "is found counts. One that is found nowhere, or two for one variable, are likely mistakes.",
        "print layout_map.resolve(model) to see which pattern each variable meets",
    ),
    "SW0554": Entry(
        "wrong use of a strategy",
        "A strategy has one mesh, one of whose axes splits batches.",
        "see docs/api.md, Strategies",
    ),
    "SW0560": Entry(
        "no seed for random numbers",
        "Random numbers are made from a seed of two whole numbers of 32 or 64 bits, which says all of them: the same "
        "seed gives the same numbers for every layout.",
        "give seed=(1, 2), or an array of two whole numbers, another one for each call",
    ),
    "SW0561": Entry(
        "bounds or rates that no random numbers have",
        "The parameters of a distribution must leave numbers to draw, and broadcast to their shape.",
        "give minval < maxval, a rate from 0 up to 1, and parameters no larger than the shape",
    ),
    "SW0555": Entry(
        "Keras model that cannot be trained here",
        "A Keras model runs here by way of JAX: Keras 3 with its JAX backend, a model and an optimizer that are built.",
        "pip install 'shardwright[keras]', set KERAS_BACKEND=jax, and call the model once before",
    ),
    "SW0601": Entry(
        "op without a kernel",
        "The runtime cannot execute this op.",
        "rewrite the program without it",
    ),
    "SW0602": Entry(
        "arguments that do not fit the program",
        "The number, shapes and element types of the arguments must be those of the program.",
        "convert the arrays, or compile the program for these shapes and types",
    ),
    "SW0603": Entry(
        "axes that do not fit together",
        "All layouts of a running program refer to one mesh, and the parts of an axis in use must come from one "
        "grid of it.",
        'use one mesh, and parts of an axis that nest, such as "x":(1)2 and "x":(2)4',
    ),
    "SW0604": Entry(
        "recursive call at run time",
        "A function calls itself. The runtime runs straight-line programs.",
        "write the repetition as a loop (stablehlo.while), or unroll it",
    ),
    "SW0605": Entry(
        "nothing to run",
        "The module has no function main.",
        "name the entry function main",
    ),
    "SW0606": Entry(
        "result that differs between devices",
        "A result may differ along an axis which its layout does not name.",
        "reduce or gather it over the axis, or name the axis in the layout",
    ),
    "SW0607": Entry(
        "program that is not localised",
        "A relayout or constraint is left in a program that is to run on a mesh.",
        "run the pipeline to its end: shardwright-opt -p partition",
    ),
    "SW0608": Entry(
        "collectives that not all devices reach",
        "The condition of a loop, or the index of a branch, differs between devices, and collectives depend on it.",
        "reduce the condition over the devices first, so that all of them decide alike, or move the collectives out",
    ),
    "SW0701": Entry(
        "wrong use of a command",
        "The command line does not fit what the command accepts: an unknown or ambiguous option, a missing file name, "
        "or a value of the wrong kind.",
        "run the command with --help; the message names the closest option",
    ),
    "SW0702": Entry(
        "a file cannot be read",
        "The file does not exist, is a directory, or may not be read by this user.",
        "check the path; give '-' or no file name to read standard input",
    ),
    "SW0703": Entry(
        "a file is not text",
        "Programs are UTF-8 text or MLIR bytecode. The file holds other bytes: an archive, or a damaged download.",
        "give the program as JAX writes it: as_text(), or bytecode",
    ),
    "SW0704": Entry(
        "output cannot be written",
        "The output goes into a temporary file next to its place and is then renamed, so that nobody sees half of it. "
        "One of the two steps was refused, or standard output is closed or full.",
        "check that the directory exists and can be written, and where standard output goes",
    ),
    "SW0705": Entry(
        "unknown pass or pipeline",
        "A name after -p is neither a pass nor a named pipeline.",
        "shardwright-opt --list-passes prints all names",
    ),
    "SW0706": Entry(
        "malformed pipeline text",
        "The text after -p is a list of passes separated by commas, each with options in braces: "
        "'canonicalize,propagate-layouts{option=1}'.",
        "quote the whole text in the shell, separate options by one space",
    ),
    "SW0707": Entry(
        "wrong pass option",
        "The pass has no option of that name, the value has another type, or a required option is missing.",
        "shardwright-opt --list-passes prints each pass's options; Booleans are written option=true",
    ),
    "SW0708": Entry(
        "diagnostics are not the expected ones",
        "With --verify-diagnostics, each `// expected-error {{...}}` comment must meet exactly one diagnostic on its "
        "line, and each diagnostic one comment.",
        "correct the comment (@+1 and @-1 move it by lines, @below and @above by one) or the program",
    ),
    "SW0709": Entry(
        "an array file cannot be read",
        "The file is not a NumPy .npz archive, is truncated, or holds Python objects, which are never loaded.",
        "write it again with numpy.savez(path, in_0=..., in_1=...)",
    ),
    "SW0710": Entry(
        "an array is missing",
        "The archive must hold in_0, in_1, ... for the arguments (and out_0, out_1, ... for the results), one each.",
        "the message lists what the archive holds and what the program needs",
    ),
    "SW0711": Entry(
        "an array has the wrong shape",
        "The array's shape is not the global shape that the program declares.",
        "give global (unsharded) arrays; the program's line says which shape",
    ),
    "SW0712": Entry(
        "an array has the wrong element type",
        "The array's element type is not the program's. bfloat16 may also be stored as its bits in uint16.",
        "convert the array before saving it; nothing is converted silently",
    ),
    "SW0713": Entry(
        "results differ",
        "A result differs from the expected one (--expect) or from the unsharded run (--check) by more than "
        "atol + rtol * |expected|.",
        "--rtol and --atol set the tolerance; report a difference that rounding cannot explain",
    ),
    "SW0714": Entry(
        "no value at that line",
        "--why explains the values that a source line defines; this line defines none in the partitioned program.",
        "the message names the closest lines that do",
    ),
    "SW0715": Entry(
        "unknown command",
        "The word after `shardwright` is not one of its commands.",
        "shardwright --help lists them",
    ),
    "SW0716": Entry(
        "no entry function",
        "A program to run or explain needs one public function with a body named main.",
        "rename the function, or export the whole program",
    ),
    "SW0717": Entry(
        "not enough memory",
        "A tensor of the program, or what a run needs at once, is larger than this machine's memory. All devices are "
        "simulated in one process.",
        "run a smaller program, or only partition it with shardwright-opt, which needs no arrays",
    ),
    "SW0718": Entry(
        "argument or result that is no array",
        "A program to run takes and gives tensors whose elements NumPy knows: numbers or truth values.",
        "change the argument's or result's type in the program",
    ),
    "SW0720": Entry(
        "layout that another form cannot state",
        "An exported program says its layouts in words that others read. Shardy has partial sums but no other partial "
        "results, and a program for one device's arrays cannot take arguments that are partial.",
        "give the value a layout without partial results before you export the program",
    ),
    "SW0721": Entry(
        "JAX is not installed",
        "MLIR bytecode, StableHLO's portable artifacts and jitted functions are read with JAX and jaxlib, which "
        "Shardwright does not need otherwise.",
        "pip install 'shardwright[jax]', or give the program as StableHLO text",
    ),
    "SW0722": Entry(
        "bytecode that cannot be read",
        "jaxlib refused the bytes: the file is not complete, or it was written by a newer version.",
        "write the file again, install a newer jaxlib, or give the program as StableHLO text",
    ),
    "SW0723": Entry(
        "manual computation that cannot be written with annotations",
        "With annotations, a manual computation is a region that takes its operands and nothing else, and stands in no "
        "other one.",
        "export the program of each device instead: shardwright export --to stablehlo",
    ),
    "SW0724": Entry(
        "unknown message type",
        "Protos do not say what they are. The type is named with --type, by our messages' names (GraphDef, SavedModel, "
        "ir.Module ...) or by those of a descriptor set.",
        "give --type NAME, and for a type of your own --descriptors FILE",
    ),
    "SW0725": Entry(
        "not a descriptor set",
        "--descriptors takes the message types of a project as protoc writes them down, with all that they import.",
        "write it with protoc --include_imports --descriptor_set_out=FILE",
    ),
    "SW0726": Entry(
        "message that cannot be in one piece",
        "A message in one piece is a .pb file of less than 2 GiB, the most that protobuf reads.",
        "give a name that ends in .pb, and leave larger messages in chunks",
    ),
    "SW0727": Entry(
        "not a stored directory",
        "A saved directory has a saved_model.pb or saved_model.cpb, a checkpoint its list of variables.",
        "give what save or Checkpoint.save wrote, or a file in it",
    ),
    "SW0799": Entry(
        "internal error",
        "Shardwright itself failed. The input and the command were saved to the named file.",
        "report it with that file",
    ),
    **STORAGE,
}


def area(code: str) -> str:
    """
    The area that a code belongs to.

    >>> area("SW0701")
    'Commands and files'
    """
    return AREAS[code[:4]]
