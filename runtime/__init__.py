"""
Kernels, codegen and the ledger: runs programs of devices and counts what they send.

`executable.compile_module` is the way in; what it gives is made by `lowering/`, `planning/`, `fusing/` and `codegen/`.
"""

__all__: list[str] = []
