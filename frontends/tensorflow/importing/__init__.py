"""Graphs and SavedModels as programs."""
