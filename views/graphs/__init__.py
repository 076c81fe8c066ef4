"""Programs as graphs with their layouts, for tools that draw graphs."""

__all__: list[str] = []
