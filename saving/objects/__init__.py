"""Python objects as data, and back."""
