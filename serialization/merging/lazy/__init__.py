"""What is at a place of a message, read where it lies."""
