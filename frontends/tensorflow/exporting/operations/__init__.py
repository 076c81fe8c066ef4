"""What writes each operation: every module here registers its own in `emitter.HANDLERS`, so all load at once."""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
