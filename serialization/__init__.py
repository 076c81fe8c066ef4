"""
Unbound storage: records on disk, messages split into chunks, and the hashes that guard them.

`splitting/` and `merging/` have the RFC's classes, `riegeli/` the records, `ir/` modules as messages.
"""

__all__: list[str] = []
