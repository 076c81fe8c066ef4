"""The error codes of programs that several processes run."""

from __future__ import annotations

PROCESSES = """
SW0901: processes that are not there
    The mesh is spread over several processes, and what started this one did not start the others: each would compute
    with its own part alone.
    help: start the program with: shardwright launch -n 2 train.py
SW0902: processes that disagree
    All processes of a job run the same program on the same mesh with the same versions, in the same order. One of them
    does something else, and the others would wait for it, or take its data for what it is not.
    help: let nothing that is distributed depend on the number of the process
SW0903: value that other processes hold parts of
    A process holds the components of its own devices. What needs the whole array cannot be made of them.
    help: use x.components(), shardwright.fetch(x), or shardwright.relayout(x, layout) to a layout without the axis
SW0904: waited too long
    A process has waited for others longer than it may: one of them has died, has stopped, or has taken another way.
    help: look at what the other processes say; set SHARDWRIGHT_TIMEOUT to more seconds for longer waits
SW0920: workers that cannot be started
    A controller starts its workers with `mpiexec`, and each of them comes to it with the token that it was given. Some
    did not come, or there is no `mpiexec` or no mpi4py.
    help: pip install 'shardwright[mpi]'
SW0921: call that failed on a worker
    A controller does not wait for the calls that it asks for. One of them failed where it ran; the error names the
    worker and the line of the call, wherever it was noticed.
    help: results of the call, and of calls behind it, are lost; what was there before can still be used
SW0922: workers that are gone
    The workers of this mesh have ended: one of them died, or they were closed. What they held went with them.
    help: start new ones with shardwright.Workers, and make the arrays again
"""
