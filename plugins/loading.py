"""Finding and importing plugins, once in a process."""

from __future__ import annotations

import os
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from shardwright.diagnostics import Diagnostic, ShardwrightError
from shardwright.diagnostics.caller import line_of, place_of
from shardwright.diagnostics.suggestions import propose

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint
    from types import ModuleType

GROUP = "shardwright.plugins"
"""The group of entry points that packages name their plugins in."""

VARIABLE = "SHARDWRIGHT_PLUGINS"
"""The environment's word on which are loaded: names with commas between them, or nothing for none; unset for all."""


class _Loaded:
    """Whether the plugins of packages were loaded, and what went wrong with them."""

    begun = False
    fault: ShardwrightError | None = None
    extended = False
    places: ClassVar[dict[str, str]] = {}
    """What each plugin is called in messages, by its file or the folder of its package."""


def load_plugins() -> None:
    """
    Imports the plugins of all installed packages, or those that `SHARDWRIGHT_PLUGINS` names.

    Raises SW0732 for one that fails, and SW0733 for a name that no package has; each time, for without them programs
    would mean something else.

    >>> load_plugins()
    """
    if _Loaded.begun:
        if _Loaded.fault is not None:
            raise _Loaded.fault
        return
    _Loaded.begun = True  # a plugin that is being imported may ask for them, too
    try:
        for plugin in _wanted(plugins(), os.environ.get(VARIABLE)):
            _load(plugin)
    except ShardwrightError as error:
        _Loaded.fault = error
        raise


def extend() -> None:
    """Says that what was just added takes part in compiling: our functions that add call it for their callers."""
    adds = str(sys._getframe(2).f_globals.get("__name__"))  # pyright: ignore[reportPrivateUsage]
    if not adds.startswith("shardwright."):
        _Loaded.extended = True


def extended() -> bool:
    """Whether anything from outside takes part in compiling: what is compiled then says nothing about other times."""
    return _Loaded.extended


def failure_of_plugin(error: BaseException) -> Diagnostic | None:
    """
    What to say of an exception that came out of a plugin when what it added ran, at its innermost line; else None.

    >>> failure_of_plugin(ValueError("not from a plugin"))
    """
    trace, found, name = error.__traceback__, None, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        called = next((each for place, each in _Loaded.places.items() if file.startswith(place)), None)
        if called is not None:
            found, name = place_of(trace), called
        trace = trace.tb_next
    if found is None:
        return None
    return Diagnostic("SW0732", f"the plugin {name} failed: {_first_line(error)}", found)


def plugins() -> list[EntryPoint]:
    """The plugins that installed packages have, by their names."""
    from importlib.metadata import entry_points  # loads much, which nothing else of ours needs

    return sorted(entry_points(group=GROUP), key=lambda plugin: plugin.name)


def load_file(path: str) -> None:
    """
    Imports a Python file as a plugin.

    Raises SW0702 for a file that is not there, and SW0732, at the file's line, for one that fails.
    """
    file = Path(path)
    try:
        there = file.is_file()
    except OSError as error:  # a name that is too long, or a folder that may not be looked into
        raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{path}': {error.strerror}")) from error
    if not there:
        raise ShardwrightError(Diagnostic("SW0702", f"cannot read '{path}': there is no such file"))
    # Under a name of its own: a file may be called as a module that others want.
    spec = spec_from_file_location(f"shardwright_plugin_{file.stem}", file)
    if spec is None or spec.loader is None:
        help_text = "--load takes a Python file, whose name ends in .py"
        raise ShardwrightError(Diagnostic("SW0732", f"'{path}' is no Python file", help=help_text))
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    _remember(module, f"'{path}'")
    try:
        spec.loader.exec_module(module)
    except ShardwrightError:
        raise
    except (Exception, SystemExit) as error:
        del sys.modules[spec.name]
        raise _failed(f"'{path}'", error, "mend the file, or leave out --load") from error


def _wanted(found: list[EntryPoint], told: str | None) -> list[EntryPoint]:
    if told is None:
        return found
    names = [name.strip() for name in told.split(",") if name.strip()]
    known = {plugin.name: plugin for plugin in found}
    for name in names:
        if name not in known:
            listed = f"installed are: {', '.join(known) or 'none'}"
            raise ShardwrightError(
                Diagnostic(
                    "SW0733", f"{VARIABLE} names '{name}', which is no plugin", help=propose(name, known, listed)
                )
            )
    return [known[name] for name in names]


def _load(plugin: EntryPoint) -> None:
    package = plugin.dist.name if plugin.dist else plugin.value
    name = f"'{plugin.name}' of {package}"
    try:
        plugin.load()
        _remember(sys.modules[plugin.module], name)
    except ShardwrightError:
        raise
    except (Exception, SystemExit) as error:
        way_out = f"mend or uninstall {package}; {VARIABLE}= leaves plugins out"
        raise _failed(name, error, way_out) from error


def _remember(module: ModuleType, name: str) -> None:
    """Where a plugin's code lies: in a file, or in the folder of a package."""
    file = getattr(module, "__file__", None)
    if file is not None:
        _Loaded.places[os.path.dirname(file) + os.sep if hasattr(module, "__path__") else file] = name


def _failed(what: str, error: BaseException, help_text: str) -> ShardwrightError:
    message = f"the plugin {what} cannot be loaded: {_first_line(error)}"
    return ShardwrightError(Diagnostic("SW0732", message, line_of(error), help=help_text))


def _first_line(error: BaseException) -> str:
    first = (str(error) or "no message").split("\n")[0]
    return f"{type(error).__name__}: {first}"
