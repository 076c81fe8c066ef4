"""Calls of JAX that are no ops: of Python functions, of users, and of functions that say themselves how they split."""
