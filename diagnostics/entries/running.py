"""The error codes of running programs."""

from __future__ import annotations

RUNNING = """
SW0601: op without a kernel
    The runtime cannot execute this op.
    help: rewrite the program without it
SW0602: arguments that do not fit the program
    The number, shapes and element types of the arguments must be those of the program.
    help: convert the arrays, or compile the program for these shapes and types
SW0603: axes that do not fit together
    All layouts of a running program refer to one mesh. Where several processes share an axis of it, each holds a part
    that nests with those in use: of six devices, halves go with halves, and not with thirds.
    help: use one mesh, and as many processes as nest with the parts of its axes, such as one for each device
SW0604: recursive call at run time
    A function calls itself. The runtime runs straight-line programs.
    help: write the repetition as a loop (stablehlo.while), or unroll it
SW0605: nothing to run
    The module has no function main.
    help: name the entry function main
SW0606: result that differs between devices
    A result may differ along an axis which its layout does not name.
    help: reduce or gather it over the axis, or name the axis in the layout
SW0607: program that is not localised
    A relayout or constraint is left in a program that is to run on a mesh.
    help: run the pipeline to its end: shardwright-opt -p partition
SW0608: collectives that not all devices reach
    The condition of a loop, or the index of a branch, differs between devices, and collectives depend on it.
    help: reduce the condition over the devices first, so that all of them decide alike, or move the collectives out
SW0609: program that does not fit into memory
    A run would hold more at once than this process may have, or was given no more; the values that take most of it
    are named.
    help: run it on several machines, or a smaller program; to explain and to certify it takes no memory
"""
