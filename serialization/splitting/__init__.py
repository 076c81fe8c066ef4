"""Messages into chunks: sizes, plans and splitters (RFC "Unbound SavedModel")."""
