"""
What comes from outside the tree: packages that name an entry point, and files given to `--load`.

A plugin is a Python module. When it is imported it adds what it has: dialects, rows of the sharding table, gradients,
kernels, passes, engines. `docs/plugins.md` shows each.
"""

from shardwright.plugins.loading import (
    GROUP,
    VARIABLE,
    extend,
    extended,
    failure_of_plugin,
    load_file,
    load_plugins,
    plugins,
)

__all__ = ["GROUP", "VARIABLE", "extend", "extended", "failure_of_plugin", "load_file", "load_plugins", "plugins"]
