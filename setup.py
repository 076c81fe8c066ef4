"""
What an installation has beside pyproject.toml: a file for checkers, and an optional part.

Checkers shall find `import shardwright.jax`, though no file at the root may be called as JAX is.

`SHARDWRIGHT_NATIVE=1 pip install .` compiles the hash of riegeli files in C. Where that fails, as without a compiler,
the rest is installed all the same: numba's kernel then does the work.
"""

import os
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

NATIVE = Extension(
    "shardwright.serialization.hashing.native",
    ["serialization/hashing/highway.c"],
    extra_compile_args=[] if os.name == "nt" else ["-O3"],
    optional=True,
)


class WithJax(build_py):
    """Builds the package, and `shardwright/jax.py`, which is never run: `shardwright` puts the room in its place."""

    def run(self) -> None:
        """Builds; an editable installation reads the tree, which has none."""
        super().run()
        if not self.editable_mode:
            Path(self.build_lib, "shardwright", "jax.py").write_text("from shardwright.frontends.jax import *\n")


if __name__ == "__main__":
    setup(
        script_name="setup.py",
        cmdclass={"build_py": WithJax},
        ext_modules=[NATIVE] if os.environ.get("SHARDWRIGHT_NATIVE") == "1" else [],
    )
