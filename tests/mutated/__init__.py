"""Mutants of planned and local programs: what edits make them, and whether certificates refuse those that are wrong."""
