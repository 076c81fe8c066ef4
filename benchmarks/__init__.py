"""Benchmarks against JAX, and the scripts that export programs with it. Not part of the installed package."""
