"""Passes that make dims which do not divide into dims that do, before layouts are propagated."""
