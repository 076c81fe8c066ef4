"""Transposed chunks: messages taken apart, and put together."""
