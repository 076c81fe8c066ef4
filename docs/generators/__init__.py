"""What writes the generated pages of `docs/`: one module for each page, each with a function that gives its text."""
