"""Element types, and what the standard lets a program ask."""
