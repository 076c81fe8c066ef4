"""Programs as graphs."""
