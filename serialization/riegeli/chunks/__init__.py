"""Chunks of records and the blocks that they lie in."""
