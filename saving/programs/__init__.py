"""Saved programs: how they are stored, placed and called."""
