"""What a program is made of, however its text is written: an order of its ops, and layers that are equal."""
