"""Text to IR and back, locations and verification included."""
