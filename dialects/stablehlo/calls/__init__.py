"""Ops that other ops make up, and ops that are known by name only."""
