"""Groups of steps that run as one: tiles, products, chains."""
