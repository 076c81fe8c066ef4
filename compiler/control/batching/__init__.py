"""`vmap`: a program for one row becomes one for all rows."""

__all__: list[str] = []
