"""
How a compiled program meets devices.

`one_process.executable` is the one there is: all devices in this process.
"""

__all__: list[str] = []
