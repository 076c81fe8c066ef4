"""What XLA is told in other words, so that it does what a program says, and does it well."""
