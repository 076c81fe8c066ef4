"""Ops that combine elements: products, reductions, and those on whole matrices."""
