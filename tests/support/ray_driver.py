"""A controller of two workers on two hosts: says where they are and what they compute, and then what ends them."""

from __future__ import annotations

import sys
import time

import numpy as np
import ray

import shardwright as sw

address, listen = sys.argv[1:]


def main() -> None:
    """Runs until a worker is gone."""
    workers = sw.Workers.ray(2, address=address, listen=listen)
    x = sw.relayout(np.arange(4.0).reshape(2, 2), sw.Layout(["x"], workers.mesh(x=2)))
    hosts = sorted(host["NodeManagerHostname"] for host in ray.nodes())
    print(*hosts, float(sw.sum(x)), flush=True)
    begun = 0.0
    try:
        while True:
            begun = time.monotonic()
            sw.sum(x).numpy()
            time.sleep(0.05)
    except RuntimeError as error:
        print(f"{time.monotonic() - begun:.1f} {error}", flush=True)
    workers.close()


main()
