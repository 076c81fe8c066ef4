"""
What programs are written with, and where they come from.

`functions/` first, `arrays/` on it, then `jax/`, `keras/`, `training/` and `tensorflow/`; each names what is public.
"""

__all__: list[str] = []
