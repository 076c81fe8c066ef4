"""
What an installation has beside pyproject.toml: files for checkers, and an optional part.

Checkers shall find `import shardwright.linalg` and its like, which lie elsewhere; and no file at the root may be called
as JAX is.

`SHARDWRIGHT_NATIVE=1 pip install .` compiles the hash of riegeli files in C. Where that fails, as without a compiler,
the rest is installed all the same: numba's kernel then does the work.
"""

import os
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

NATIVE = Extension(
    "shardwright.serialization.hashing.native",
    ["serialization/hashing/highway.c"],
    extra_compile_args=[] if os.name == "nt" else ["-O3"],
    optional=True,
)


NAMESPACES = {
    "arrays": ("fft", "linalg", "nn", "random"),
    "training": ("distribute", "metrics", "optimizers"),
    "": ("jax",),
}
"""The namespaces of `shardwright` by the rooms of the frontends in which they lie."""


class WithNamespaces(build_py):
    """
    Builds the package, and a file for each namespace, which is never run: `shardwright` puts the room in its place.

    One that is called as a module of Python's is a stub, so that what is started in that folder finds Python's own.
    """

    def run(self) -> None:
        """Builds; an editable installation reads the tree, which has none."""
        super().run()
        for room, names in NAMESPACES.items() if not self.editable_mode else ():
            for name in names:
                path = ".".join(filter(None, ("shardwright.frontends", room, name)))
                file = f"{name}.pyi" if name in sys.stdlib_module_names else f"{name}.py"
                Path(self.build_lib, "shardwright", file).write_text(f"from {path} import *\n")


if __name__ == "__main__":
    setup(
        script_name="setup.py",
        cmdclass={"build_py": WithNamespaces},
        ext_modules=[NATIVE] if os.environ.get("SHARDWRIGHT_NATIVE") == "1" else [],
    )
