"""The error codes of TensorFlow's graphs, read and written."""

from __future__ import annotations

GRAPHS = """
SW0885: graph with operations that are not supported
    All operations that the outputs need and that have no row in the table are listed, with how often they occur and the
    first node of each.
    help: freeze the graph, or leave these operations out of it: from_graph(..., inputs=, outputs=)
SW0886: graph that is not well formed
    A node takes what there is not, takes itself, or calls a function that there is not or that calls itself.
    help: write the graph again with TensorFlow
SW0887: attribute of a node that is missing or wrong
    Each operation has attributes of certain types and values. This node's are others.
    help: write the graph again with TensorFlow
SW0888: tensor of a graph that is not what its shape says
    The number of elements or bytes does not fit shape and type, or is more than a message can hold.
    help: write the graph again; constants of 2 GiB and more must be variables, or be split
SW0889: element type that arrays do not have
    Strings, resources, variants and quantised numbers are no elements of our arrays; TensorFlow lacks some of ours.
    help: cut the graph behind such nodes: from_graph(..., inputs=, outputs=)
SW0890: shape or number of a graph that must be known
    Shapes are decided before a program runs, so that sizes, dims and the like cannot come from data, and the shapes of
    inputs must be given where the graph leaves them open.
    help: give the shapes: inputs={"x": shardwright.TensorSpec((8, 4), "float32")}
SW0891: no such input, output, signature or set of tags
    The graph or SavedModel has others, which the error lists.
    help: take one of the names that the error lists
SW0892: variables that cannot be read
    The checkpoint beside a SavedModel is damaged, incomplete, or does not hold what the graph needs.
    help: get the whole directory again: variables/variables.index and all of variables/variables.data-*
SW0893: operations that TensorFlow cannot say
    An exported graph consists of operations that TensorFlow runs on any machine. All that have no such form are listed,
    each with its reason.
    help: write the operation by others, or export the part of the program before it
SW0894: stage that is no global program
    Graphs are made of the program as it was written, on whole arrays: of a traced or propagated stage.
    help: shardwright.to_graph_def(function.trace(...))
SW0898: part of a graph that cannot run on the host
    Texts, tables and values whose shapes come from data are worked on by the host, in NumPy, before the program and
    after it. It has no variables and no loops, reads texts as UTF-8, and sees only what is in its own memory.
    help: give the inputs that it reads as NumPy arrays; work on texts outside of loops, or outside of the graph
"""
