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
    A process holds the components of its own devices, and none of a tensor on a mesh of other processes. What needs the
    whole array cannot be made of them.
    help: use x.components(), shardwright.fetch(x), or shardwright.relayout(x, layout) to a layout without the axis
SW0904: waited too long
    A process has waited for others longer than it may: one of them has died, has stopped, or has taken another way.
    help: look at what the other processes say; set SHARDWRIGHT_TIMEOUT to more seconds for longer waits
SW0905: process of JAX that is gone
    Processes that share JAX's devices wait for each other in every program. One of them has died or stopped, or the
    coordinator has; those that are left cannot go on.
    help: look at what the other processes say, and start all of them again from the last checkpoint
SW0910: program that failed on a process
    The program that `shardwright launch` runs raised an exception on one process, so all were ended. Its traceback
    stands above, from the program's first line on; the note says which process it was.
    help: mend what the traceback shows
SW0911: process that ended before its time
    A process of a job exited with a code of its own, was killed, or ended while others waited for it; all were ended.
    The note says which one, and where it last came to something that all processes do.
    help: look for what ended it: sys.exit or os._exit in the program, memory that ran out (dmesg), somebody's kill
SW0912: job that was interrupted
    Somebody ended the job, with Ctrl-C or a signal to `shardwright launch` or to one of its processes; all were ended.
    help: start it again
SW0913: nothing to start processes with
    Several processes need mpi4py and MPI. They are not installed, or do not load; or this machine cannot start so many
    processes.
    help: pip install 'shardwright[mpi]'
SW0914: setting that is no number
    A variable of the environment, or an argument, says how many seconds processes wait for each other, and is no such
    number.
    help: leave it out, or give a number of seconds
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
SW0923: Ray that is not there
    Workers on a cluster are actors of Ray. It is not installed, does not load, or there is no cluster at the address.
    help: pip install 'shardwright[ray]'; ray start --head starts a cluster
SW0930: GPU that a process cannot use
    Each process of a mesh of GPUs needs CuPy 14 or newer, a driver and a device of CUDA, and NCCL where there are
    several processes. One of them lacks something; every process says which, and what.
    help: pip install 'shardwright[cupy,mpi]' where there is an NVIDIA GPU with a driver for CUDA 13
SW0931: fewer GPUs than processes
    Each process has a GPU of its own. Those of one host see fewer, all together, than they are.
    help: start as many processes on a host as it has GPUs, and let CUDA_VISIBLE_DEVICES name as many
SW0932: NCCL that failed
    NCCL, which moves arrays between GPUs, reported an error, or found one while the program ran.
    help: NCCL_DEBUG=WARN prints why; another process may have failed first
SW0933: elements that no GPU has arrays of
    CuPy has arrays of NumPy's numbers and of bfloat16. The program, or an array for a mesh of GPUs, has others, such as
    8-bit floats or 4-bit integers.
    help: convert to bfloat16, float16 or a wider type first
"""
