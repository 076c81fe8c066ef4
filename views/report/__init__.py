"""A page about one program: its source, its operations, its layouts, what is sent and held, and what passes did."""

__all__: list[str] = []
