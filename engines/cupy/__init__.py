"""
GPUs, by CuPy: each process of a job has one, and NCCL moves elements between them.

Arrays stay on the device from call to call (`gpus`); `namespace` is CuPy with NumPy's manners, for the generated code.
"""

__all__: list[str] = []
