"""
The optional part of an installation; all else is in pyproject.toml.

`SHARDWRIGHT_NATIVE=1 pip install .` compiles the hash of riegeli files in C. Where that fails, as without a compiler,
the rest is installed all the same: numba's kernel then does the work.
"""

import os

from setuptools import Extension, setup

NATIVE = Extension(
    "shardwright.serialization.hashing.native",
    ["serialization/hashing/highway.c"],
    extra_compile_args=[] if os.name == "nt" else ["-O3"],
    optional=True,
)

if __name__ == "__main__":
    setup(script_name="setup.py", ext_modules=[NATIVE] if os.environ.get("SHARDWRIGHT_NATIVE") == "1" else [])
