"""
What outlives the process: programs and variables in directories, and checkpoints.

`directories` has `save` and `load`, `checkpoints/` the rest; they are loaded when they are used.
"""

__all__: list[str] = []
