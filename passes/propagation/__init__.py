"""Passes that decide layouts and where they change."""
