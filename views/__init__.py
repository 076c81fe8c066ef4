"""What people look at: explanations, reports, pictures, traces. Each view is made of data that the rooms below give."""

__all__: list[str] = []
