"""The error codes of the Python API."""

from __future__ import annotations

API = """
SW0501: large array captured as a constant
    A NumPy array from outside of the traced function would become a constant of the program and be copied to every
    device.
    help: pass it to the traced function as an argument
SW0502: not a distributed tensor
    The function takes a tensor with a layout on a mesh; the argument is something else, or is being traced.
    help: shardwright.relayout distributes an array over a mesh
SW0503: traced value used as a number
    A function is traced once, before there are any numbers: its values cannot decide an if, a loop or an index.
    Functions of NumPy work on traced and distributed arrays where a function here does the same; the others would
    have to see all elements in one place, and nothing is gathered unasked.
    help: use shardwright.where, or make the decision from shapes and arguments that are no tensors
SW0504: shapes that do not broadcast
    Aligned at the last dim, sizes must be equal or 1.
    help: reshape or expand one of the arrays
SW0505: two meshes in one function
    All arguments of a traced function must live on the same mesh.
    help: bring all arguments to one mesh first, with shardwright.relayout outside of the function
SW0506: element type that does not fit
    The operation is not defined for this element type, or two types have no common one. Nothing is converted silently.
    help: convert first, for instance with shardwright.astype(x, shardwright.float32)
SW0507: argument that is no array
    The operation takes arrays and numbers.
    help: make an array of it first
SW0508: arguments of another program
    A compiled stage takes arguments of the structure, shapes, types and layouts that it was compiled for.
    help: call the function itself, which compiles for each kind of arguments, or trace it again
SW0509: result that cannot be returned
    A traced function returns arrays and numbers, alone or in dicts, lists, tuples and dataclasses.
    help: return only such values; keep the rest outside of the function
SW0510: wrong dim, size or setting
    A dim is a whole number from minus the rank up to the rank, each named once. Sizes, numbers, texts and truth values
    among the arguments of a function are of the kind that its annotation says, or NumPy's of that kind. What does
    nothing without another setting is not taken alone.
    help: count dims from 0, or from the end with negative numbers
SW0511: malformed contraction
    An einsum equation names the dims of its operands and result; names that appear twice must have equal sizes.
    help: write it like 'bij,bjk->bik'
SW0512: components that do not make a tensor
    pack takes one component for each device, of equal shapes and types, equal where the layout says that they are the
    same.
    help: give the components in the order of the mesh's devices, or another layout
SW0513: traced value outside of its function
    A value of one traced function was kept (in a global, an attribute, a closure) and used in another.
    help: return it from its function, or pass it as an argument
SW0514: wrong index
    A tensor is indexed by whole numbers, arrays of them, slices, ... and None, at most one for each dim, and inside of
    it.
    help: choose elements by their values with shardwright.where
SW0515: argument that is no layout
    Where a tensor goes is said by a Layout: the entries for the dims, together with their mesh.
    help: wrap the entries: shardwright.Layout(["batch", None], mesh)
SW0516: no such function or method
    Array functions are functions of the module, with the names of the array API standard; arrays have operators and a
    few properties, but no methods for them.
    help: write shardwright.sum(x) for x.sum(); dir(shardwright) lists the functions
SW0517: device that there is none of
    A tensor's elements are in this process, whose one device is called cpu; where they are on the mesh is its layout.
    help: use shardwright.relayout to move a tensor to another mesh or layout
SW0518: function that JAX did not jit
    shardwright.from_jax takes what jax.jit made, or what lower() made of that, with arguments and results in dicts,
    lists, tuples and dataclasses.
    help: write from_jax(jax.jit(function), *arguments), with shardings in jit or on the arguments
SW0519: nested list that is no array
    A nested list becomes an array where its lists have one length at each depth, and hold numbers of one type.
    help: pad the shorter lists, or keep lists of arrays apart
SW0520: gradient that does not exist
    What is differentiated must be one real number, with respect to floating-point arguments. A tape outside of traced
    functions follows the functions of `shardwright`, and those of NumPy that do the same.
    help: sum the result (shardwright.sum, shardwright.mean), and name the floating-point arguments in argnums
SW0521: loop or branch that does not fit
    Conditions are scalar truth values, all branches return the same shapes and types, and a loop's body returns what it
    was given.
    help: convert or reshape what the body or branch returns
SW0522: tape that cannot answer
    A gradient tape gives one gradient, unless it is persistent, and sources on which the target does not depend get
    none or zeros.
    help: use GradientTape(persistent=True), or ask for all sources in one call
SW0526: function that has no form for all rows
    vmap writes a function of one row for all rows of an array: the dims of the rows have equal sizes, and what takes
    one row to another mesh, or to where another value lies, says nothing about them.
    help: name the dim of the rows in in_axes and out_axes, and lay out arrays before or behind the vmap
SW0530: value that a variable cannot hold
    A variable keeps the shape and the layout with which it was made: what it is given must have them.
    help: bring the value into the variable's layout with shardwright.relayout_like(value, variable)
SW0531: variable made or changed where that cannot be
    A traced function runs once, so that no variable can be made in it. What it assigns to variables is kept after the
    call, also in the branches of cond and switch and in the bodies of while_loop and scan, but not in other regions,
    such as conditions of loops and recomputed functions.
    help: make variables before the first call; return the new value from the region and assign it after that
SW0532: optimizer that is given no gradients
    apply_gradients takes pairs of a gradient and a variable, at least one of which has a gradient; learning rates are
    numbers or functions of the step.
    help: zip gradients and variables: optimizer.apply_gradients(zip(gradients, variables))
SW0533: arguments that an input signature does not allow
    A function with an input signature takes positional arguments of the shapes, types and layouts that this says, and a
    spec says them all before a program can be traced for it.
    help: convert the arguments, or leave input_signature out to compile for each kind of arguments
SW0536: program that cannot be pickled
    A function is pickled by the name under which its module has it, as Python's are; no code travels. What has no such
    name, a lambda, an inner function or a stage, is saved.
    help: use shardwright.save and shardwright.load, or define the function at the top of a module
SW0537: tensor on somebody else's devices that cannot be pickled
    What workers, GPUs or JAX hold stays with them: whoever reads a pickle has no connection to them.
    help: pickle numpy.asarray(x), or save a checkpoint
SW0540: result whose shape depends on data
    Shapes are decided before a program runs, so no result may have as many elements as the data happen to say.
    help: choose elements by their values with shardwright.where, which keeps the shape
SW0541: layer that does not fit its input
    Convolutions, pooling, norms, attention and losses take inputs of a certain number of dims, in the order that
    data_format says, and windows, groups and padding that fit their sizes.
    help: compare the shapes and options that the message names with the function's documentation
SW0542: batch whose parts are not known
    Statistics of each device's part of the batch need to know these parts while the program is written down.
    help: give the input a layout, as an argument or by shardwright.relayout(x, layout)
SW0550: dataset whose elements cannot be batched
    The elements of a dataset are trees of arrays, all with the same keys, whose first dims count the same rows; those
    of one batch stand one behind the other.
    help: let the dataset give arrays of whole rows, for instance by batching it first
SW0551: ragged batch
    A batch has fewer elements or rows than the others, or a number of rows that the devices do not share evenly.
    help: create_dtensor_iterable takes ragged="drop" and ragged="smaller"
SW0552: processes that do not share out a mesh
    When several processes read a dataset, each reads the rows of its own devices: these must be a run of coordinates of
    the batch axis, which splits the rows of every array.
    help: let the batch axis be the mesh's first one, and name it first in the layouts of the elements
SW0553: layout map that does not fit its variables
    The keys of a layout map are regular expressions that are searched in the names of variables; the first that is
    found counts. One that is found nowhere, or two for one variable, are likely mistakes.
    help: print layout_map.resolve(model) to see which pattern each variable meets
SW0554: wrong use of a strategy
    A strategy has one mesh, one of whose axes splits batches.
    help: give a mesh with axes, one of them as batch_dim, and batches that its replicas share evenly
SW0555: Keras model that cannot be trained here
    A Keras model runs here by way of JAX: Keras 3 with its JAX backend, a model and an optimizer that are built.
    help: pip install 'shardwright[keras]', set KERAS_BACKEND=jax, and call the model once before
SW0556: pipeline that does not fit
    A pipeline has a layout for the input of each stage, weights on the stage's mesh, and batches that can be cut into
    equal microbatches, whose rows split evenly where the layouts do not say uneven=True.
    help: give what is said of each stage, and a batch whose rows are a multiple of the microbatches
SW0560: no seed for random numbers
    Random numbers are made from a seed of two whole numbers of 32 or 64 bits, which says all of them: the same seed
    gives the same numbers for every layout.
    help: give seed=(1, 2), or an array of two whole numbers, another one for each call
SW0561: bounds or rates that no random numbers have
    The parameters of a distribution must leave numbers to draw, and broadcast to their shape.
    help: give minval < maxval, a rate from 0 up to 1, and parameters no larger than the shape
SW0570: function that stands inside of JAX's own transformations
    A program is partitioned as a whole. What shardwright.jax.jit made cannot be called by a function that JAX itself
    traces (jit, grad, vmap, eval_shape); inside of another function of shardwright.jax.jit it is part of that one.
    help: put shardwright.jax.jit outermost, as in shardwright.jax.jit(jax.grad(function))
SW0571: no such partitioner
    What Shardwright does not partition may go to XLA's partitioner, with a warning, or nowhere.
    help: give fallback="xla", or leave it out
SW0572: fewer devices of JAX than a mesh has
    A mesh with devices="jax" takes the first of jax.devices(), or those that it is given.
    help: look at jax.devices(); XLA_FLAGS=--xla_force_host_platform_device_count=8 makes eight of one CPU
SW0573: mesh on JAX's devices in other processes
    Our own programs run on the devices of JAX that this process has; shardwright.jax.jit uses those of all.
    help: give jax.local_devices(), or use shardwright.jax.jit
SW0574: what JAX does not count
    The other engines count the bytes of each run; XLA does not.
    help: look at what is predicted: traced.partition().predicted and predicted_bytes
SW0575: program or array that JAX cannot take
    JAX or XLA has refused a program, an array or the memory for it, and says why.
    help: give the mesh no devices="jax": NumPy runs it then
SW0576: nothing to draw
    visualize draws a distributed tensor, a mesh, or a layout, this one for a tensor of the shape that it is given.
    help: give a layout with a shape: shardwright.visualize(layout, (16, 64))
SW0577: no report on a loaded program
    A report shows what was written and how passes changed it; a program that was saved for running has neither.
    help: report on the function that was saved, before it is saved
SW0578: memory that is not kept
    No longer raised: what a program puts into the host's memory in between, and fetches again, is left to XLA so.
    help: nothing is to be done
SW0579: distributed tensor that JAX would gather
    JAX's functions take NumPy arrays whole. Of a distributed tensor that would be a gather that nobody wrote, and the
    result an array on one device.
    help: compute with operators and shardwright's functions, or gather it yourself: numpy.asarray(x)
SW0580: more than the budget allows
    A program would send more bytes, or hold more at once, than `shardwright.budget` or `shardwright check` allow. The
    dearest collectives are named with their lines.
    help: shardwright explain says why they are there, and --layout, --without and --mesh what else would be sent
SW0581: collective that nobody wrote
    Inside of `shardwright.explicit`, and with `shardwright check --no-implicit`, values move only where the user says
    so: here an op's rule needs a value in another layout.
    help: write the change of layout where it shall happen, or give the operands layouts that fit
SW0582: no number of bytes
    Budgets are whole numbers of bytes, or text with a unit: kB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of
    1024).
    help: write it as 2GB, 512MiB, or 1000000
SW0583: another layout than was said
    `dtensor.check_layout` compares a tensor's layout with the one that it should have.
    help: shardwright.relayout changes a layout
SW0584: layout that is still to be chosen
    `Layout.auto(mesh)` leaves a layout to the compiler, which chooses those of a function's arguments when it is traced
    for them. What holds elements, and what a program asks for, needs a layout that says where they are.
    help: give it to a TensorSpec; for other values write the layout
SW0585: objective that nobody knows
    Layouts are chosen so that devices send the fewest bytes, or take the fewest seconds by a topology.
    help: objective="bytes" or objective="seconds"
SW0586: axes on which everything is laid out
    `shardwright.jax.jit` was asked to choose layouts over a mesh of JAX whose axes are explicit (what `jax.make_mesh`
    makes). There each array has the sharding that its type says, whole where nobody said one.
    help: make the mesh with axis_types=(jax.sharding.AxisType.Auto,) for each axis
SW0587: parts that are not equal, where layouts are chosen
    No longer raised: layouts are chosen around a dim that somebody split unevenly.
    help: nothing is to be done
SW0588: reference of JAX from outside of a function
    `shardwright.jax.jit` was given a function that reads or writes a `jax.Ref` that it takes, or that stands around it.
    help: give the function the array, and take the new one back
SW0589: operator that would change a variable in its place
    `variable += value` and the like give a name to what `variable + value` makes: the variable itself would stay as it
    is, without a word. As in TensorFlow they are refused for variables; for tensors they are what they are in Python.
    help: call assign_add, assign_sub or assign; write tensor = variable + value for a tensor
SW0590: function that JAX would lower for others
    `jax.export.export` was given a function of `shardwright.jax.jit`. What it exports is lowered for devices and
    platforms that nobody knows yet, so there is nothing to partition for.
    help: export jax.jit(function), and give exported.call to shardwright.jax.jit where it is loaded
SW0591: parts of sums where not all axes are explicit
    A function of `shardwright.jax.jit` takes or gives an array of which each device has a part of a sum, on a mesh some
    of whose axes are explicit and others not. JAX itself does nothing with it there but `jax.sharding.reshard`.
    help: reshard it first, to a layout without unreduced; or make all axes of the mesh explicit
"""
