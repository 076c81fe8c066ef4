"""The version, in a file of its own: what is saved names it, and the package imports what saves."""

__version__ = "0.2.0"
