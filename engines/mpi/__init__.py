"""
Many processes that run the same Python program, connected by MPI; each holds a block of every mesh over them.

Loads mpi4py on use: `pip install 'shardwright[mpi]'` brings it and MPICH, without a compiler.
"""

__all__: list[str] = []
