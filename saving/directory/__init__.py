"""Saved directories: what lies in them, how they are written, read and checked."""
