"""The error codes of sharding rules and partitioning."""

from __future__ import annotations

RULES = """
SW0401: op without a sharding rule
    An op without a row in the table of rules cannot be partitioned; nothing is replicated silently. All such ops are
    named at once.
    help: add a row as the message shows, or rewrite the program without the op
SW0402: malformed sharding row
    A row maps the dims of operands and results to factors: "i k, k j -> i j", with a kind for each factor that is not
    plain pass-through. The message says what contradicts itself, or which op the row does not fit.
    help: write the row as for a product of matrices: add_row(name, "i k, k j -> i j", k="sum")
SW0403: value that cannot be partitioned
    Only tensors have layouts. The program has a value of another type (a token, a tuple, an index), or a tensor of
    elements that neither NumPy nor ml_dtypes has a type for (an i3, an f80).
    help: rewrite the program with tensors only, of elements that arrays have
SW0404: no function to partition
    The partitioner works on the public function main.
    help: name the entry function @main and make it public
SW0405: several meshes
    All layouts of one program refer to one mesh. Meshes of the same devices are one where the axes of each are axes of
    another, or parts of these.
    help: declare one mesh and use its axes, or sub-axes of them, everywhere
SW0406: impossible relayout
    No sequence of collectives turns one layout into the other.
    help: give the result another layout
SW0407: partial results that do not combine
    The elements of a value cannot be partial results (unreduced) of this kind: complex numbers have no maximum, and
    floats no bits to combine. Or a collective of Shardy's combines them otherwise than the program says of them.
    help: ask for another kind, such as sum, or drop unreduced from the layout
SW0408: one public function
    A program has one public function, @main; the partitioner would leave another one as it is. What the program itself
    calls or names counts as private.
    help: make the other functions private or remove them
SW0431: unknown custom call
    A custom call is known by its name only, so nobody can say what it computes or how it may be split. Those of LAPACK
    that JAX writes for CPUs are known, and those that stand for ops of StableHLO or CHLO. A call back into Python
    (jax.debug.print, io_callback, pure_callback) names a function of the process that traced the program. In a
    shard_map over all axes a call needs no rule.
    help: write the computation with StableHLO's ops, export the program for platform cpu, or register the call with
    shardwright.register_custom_call; leave callbacks whose results nothing needs out with callbacks="drop"
SW0432: op that cannot be repeated, or that has no fixed shape
    Random numbers out of nowhere (stablehlo.rng) differ from run to run and from device to device, a dim whose size is
    computed has no layout, and nobody here fills the queues of infeed, outfeed, send and recv.
    help: make random numbers from a key (jax.random, stablehlo.rng_bit_generator), and export the program for fixed
    sizes
SW0433: function that reads what it cannot have
    The function by which a sort, a reduction, a window or a scatter combines elements may read constants and scalars
    from outside. It was asked to read a tensor, or a scalar where the op has no place for one.
    help: apply what depends on other values before the op or after it
SW0434: results of a custom call that do not fit
    The function that was registered for a custom call gave results of another number, shape or type than the program
    says of one device's part.
    help: let the kernel give each device's part of each result
SW0435: custom call that is built in
    register_custom_call was given the name of a call that means something already.
    help: give your call another name
SW0436: no way to treat callbacks
    The argument callbacks of load_mlir and from_jax says what becomes of calls back into Python: None keeps them, where
    they can be run, and "drop" leaves out those whose results nothing needs.
    help: write callbacks="drop", or leave it out
SW0460: devices that no mesh axes make
    A collective lists its devices. Shardwright finds the mesh axes along which the devices of a group differ, and these
    groups, pairs or meshes are not made by any axes, or parts of axes, of the program's mesh.
    help: let the devices of each group differ along mesh axes, and list every device of the mesh once
SW0461: collective that combines by a general body
    An explicit all_reduce or reduce_scatter combines by one op of its two arguments: add, multiply, maximum, minimum,
    and, or.
    help: gather the values (all_gather) and combine them in the program
SW0462: layout that names a manual axis
    Inside of a manual computation every value is what one device holds along the manual axes, so layouts there may name
    the other axes only.
    help: drop the axis from the layout inside, or do not make it manual
SW0463: result that differs between devices
    A result of the program comes from the number of a device (partition_id) or from an explicit collective outside of a
    manual computation over their axes. As one global array it has no value.
    help: make these axes manual axes of the sdy.manual_computation (shard_map) around the op
SW0464: manual computation that does not fit its shardings
    The body of a manual computation sees each device's part along the manual axes: dims divided by the axes that split
    them, which stand before all other axes of their dim.
    help: correct the shardings, or the types of the body's arguments and results
SW0465: sharding group of different layouts
    All members of a sharding group get one layout, but two of them were given different ones, or have different shapes.
    help: give them the same layout, or take one out of the group
SW0466: collective over replicas
    StableHLO numbers either the replicas or the partitions of a program. Shardwright's programs have one replica, so a
    collective over a list of replicas has nobody to talk to.
    help: give the op a channel_handle above 0, and use_global_device_ids where it has it
SW0467: GSPMD sharding that cannot be read as a layout
    A sharding in mhlo.sharding lists devices in tiles. Shardwright finds the mesh axes that make these tiles, and this
    one is not made by axes of the program's mesh, or puts a value on one device only.
    help: export the program with Shardy, or give the value a sharding over mesh axes
SW0468: no mesh to choose layouts over
    Layouts are chosen over the axes of a mesh, and neither the program nor the call names one with axes.
    help: give one: traced.lay_out(Mesh(data=4, model=2)), or --mesh data=4,model=2
SW0469: no layouts within the memory limit
    No way was found to split the program over its mesh so that each device holds no more than the limit at once. What
    is largest in the one that holds least is listed, and what would come of computing values again: how much a device
    then holds, sends and does, and which lines of the program that is; and of doing the batch in parts. Where the
    arguments alone are too much for all devices together, that is said, and nothing tried.
    help: raise the limit, use more devices, or lay out with recompute=True or microbatches=True (in commands
      --recompute, --microbatches); shardwright.checkpoint says by hand what is computed again
"""
