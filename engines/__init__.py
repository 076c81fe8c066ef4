"""How a compiled program meets devices."""
