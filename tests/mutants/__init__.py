"""Mutation testing of our own code: `make mutants`; `docs/mutants.md` says how and what it found."""
