"""What to say where a name is not known: what others call the things that are here."""

__all__: list[str] = []
