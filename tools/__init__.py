"""
The commands `shardwright-opt` and `shardwright`.

`commands/` has one file for each; what they share is beside.
"""

__all__: list[str] = []
