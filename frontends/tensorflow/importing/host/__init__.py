"""
What runs on the host, in NumPy, before a partitioned program and after it: texts, tables, records, ragged and sparse
values.

Every module here that has operations adds them to the table, so all load at once.
"""

from importlib import import_module

for _name in ("choosing", "ragged", "records", "sparse", "tables", "texts"):
    import_module(f"{__name__}.{_name}")
