"""Rows of ops that move windows, and what they become when windows cross parts."""
