"""Python text of a program, plain and fused, and what runs it."""
