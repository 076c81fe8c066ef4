"""Checkpoints of the second format, which are read and no longer written."""
