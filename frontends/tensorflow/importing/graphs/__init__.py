"""Graphs as data: nodes, functions, what calls what, before anything is evaluated."""
