"""The error codes of programs that are read and verified."""

from __future__ import annotations

PROGRAMS = """
SW0201: malformed text
    The text is not MLIR as the grammar of its ops asks: the message says what was expected at this place.
    help: correct the text at the caret; a file that ends too early may be incomplete
SW0202: undefined name
    The text uses a value, an alias or a block that it does not define.
    help: define the name before its use, or correct its spelling
SW0203: unknown operation
    The text has operations that Shardwright does not know. All of them are listed with their lines.
    help: correct the names, or rewrite the program without these operations
SW0301: op built with operands that do not fit
    The shapes or element types of the operands do not fit the op.
    help: make shapes and element types fit the op
SW0302: op that breaks its own rules
    The verifier of an op found its operands, results or attributes inconsistent.
    help: correct the op; where a pass made it, report the program
SW0303: value used before it is defined
    Each value must be defined above its uses, in the same region or around it.
    help: move the definition up
SW0304: name defined twice
    Functions and meshes of one module have different names.
    help: give each function and mesh its own name
SW0305: shape that is not known
    A tensor type has a dynamic dim (?) or no rank (*). How a tensor is split, and every byte that is sent, follow from
    shapes that are known before the run.
    help: export the program for the sizes that it is to run with, one program for each
SW0310: unknown stage
    The module records a stage that does not exist.
    help: remove the dtensor.stage attribute, or write traced, propagated, aligned, planned or local
SW0311: pass in the wrong stage
    A pass needs a program in a certain stage, and an earlier pass that leads there did not run.
    help: use a named pipeline (shardwright-opt --list-passes), which runs the passes in order
SW0312: op not legal in this stage
    Each stage allows certain ops only: no collectives before the program is planned, no relayouts after it.
    help: run the pass that removes such ops, or correct the recorded stage
SW0313: tensor without a closed layout
    From the propagated to the planned stage every tensor type carries a layout without open dims.
    help: run propagate-layouts, which decides what is left open
SW0314: layout in the local stage
    Types in the local stage are per device: the layouts are in the entry function's attributes.
    help: run localize, which drops the layouts from the types
SW0315: local entry function without its global side
    Each argument and result of a local entry function records its global type and layout, and its own type is one shard
    of that.
    help: let localize write the attributes dtensor.layout and dtensor.global_type
SW0316: layouts that do not fit the op's rule
    From the aligned stage on, the layouts of an op's operands and results follow from its sharding rule, without any
    relayout due.
    help: run insert-relayouts, or correct the layouts by the rule that the message shows
SW0317: a program of ours that is wrong
    What Shardwright made of a program did not stand the checks that it makes before a program leaves it. The fault is
    Shardwright's, not the program's: nothing was run or written.
    help: report it with the reproducer that the command names, or with the program (traced.as_text())
SW0318: weight of messages that is no number of bytes
    Where layouts are chosen, a message counts as many bytes as dtensor.message_bytes on the module says, next to those
    that it sends.
    help: write a whole number of bytes, or remove the attribute: then bytes alone decide
SW0320: op without a source location
    Every op keeps the place in the user's program that it comes from. A pass made an op without one.
    help: report it with the program; in a pass of your own, use the rewriter of passes/rewriter.py
SW0321: recursive call
    A function calls itself, directly or through others. Calls are inlined, so this would never end.
    help: write the repetition as a loop (stablehlo.while)
SW0322: call to an unknown function
    A call names a function that the module does not define.
    help: export the whole program into one module, or correct the name
SW0323: call that does not fit its callee
    The operand and result types of a call must be those of the function.
    help: give the call the callee's operand and result types
SW0324: module inside of a module
    A program is one module with its functions and its mesh. What is inside of another module in it, nothing can call.
    help: give each module as a program of its own, or drop the inner one
SW0325: loop whose gradient is not known
    The gradient of a loop takes what each of its rounds began with, and that takes a number of rounds that the program
    itself says.
    help: count up to a constant, use shardwright.scan, or leave the loop out with shardwright.stop_gradient
SW0326: op without a gradient rule
    A value that a gradient depends on is made by an op for which there is no rule. All such ops are named at once.
    help: give the function a gradient with shardwright.custom_gradient, or leave it out with shardwright.stop_gradient
SW0327: gradient inside of a loop by what its earlier rounds use
    A tape, or a function inside of a loop, asks for a gradient by a value from outside of the loop. What the loop
    carries was computed of that value too, in earlier rounds, which the gradient cannot follow from inside.
    help: differentiate a function of the value inside of the loop, or the whole loop from outside
SW0331: not a certificate
    The file is no certificate of Shardwright, or of another version.
    help: write it anew: shardwright certify FILE -o CERTIFICATE
SW0332: program that is not proved
    A certificate does not hold for the program, or the program has ops that have no meaning in exact numbers. The notes
    say which, and why.
    help: a program that is not proved may be right: 'shardwright run FILE --check' compares numbers
"""
