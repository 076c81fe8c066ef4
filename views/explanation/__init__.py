"""Why a program sends what it sends: the data, the questions, and the text."""

__all__: list[str] = []
