"""What TensorFlow's operations mean: every module here adds its rows to the table, so all load at once."""

from importlib import import_module
from pkgutil import iter_modules

from shardwright.frontends.tensorflow.importing.table import ROWS

__all__ = ["ROWS"]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
