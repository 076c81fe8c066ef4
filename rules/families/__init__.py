"""Rows of the sharding table, by family of ops."""
