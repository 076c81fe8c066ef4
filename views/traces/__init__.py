"""What a run did, and when: recorded line by line, written for viewers of traces."""

__all__: list[str] = []
