"""Functions that combine elements."""
