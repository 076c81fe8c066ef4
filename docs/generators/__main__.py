"""Writes the generated pages of `docs/`: `python -m shardwright.docs.generators`, which is `make pages`."""

from shardwright.docs.generators.pages import PAGES
from shardwright.serialization.files.text import write_atomically

for path, text in PAGES.items():
    write_atomically(str(path), text())
