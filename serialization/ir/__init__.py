"""Modules as messages, and back."""
