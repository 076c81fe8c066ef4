"""Meshes and layouts in the forms of others, and as text."""
