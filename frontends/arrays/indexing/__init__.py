"""Functions that choose elements by index or value."""
