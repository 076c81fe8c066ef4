"""Passes that leave the meaning and make it simpler."""
