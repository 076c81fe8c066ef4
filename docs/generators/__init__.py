"""What writes the generated pages of `docs/`: `python -m shardwright.docs.generators.NAME --write`."""
