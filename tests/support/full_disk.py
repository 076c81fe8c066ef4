"""A program that saves little, then much: `full_disk.py FOLDER`; with `look`, only sees what is there."""

from __future__ import annotations

import sys

import numpy as np

import shardwright as sw

mesh = sw.Mesh.distributed({"x": 4})
path = sys.argv[1] + "/checkpoint"


def saved(rows: int) -> None:
    """Saves so many rows, all of the same number: how many they are."""
    v = sw.Variable(sw.relayout(np.full((rows, 8), float(rows)), sw.Layout(["x"], mesh)))
    sw.Checkpoint(v=v).save(path)


if sys.argv[2:] == ["look"]:
    whole = sw.load_variables(path)["v"]
    sw.relayout(np.zeros(4), sw.Layout(["x"], mesh)) + 1.0  # until all have looked
    if mesh.clients.place == 0:
        print(f"{np.unique(whole).tolist()} in {whole.shape}", flush=True)
    sys.exit()
saved(64)
saved(1 << 17)
