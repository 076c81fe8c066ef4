"""
Workers that are actors of a Ray cluster: how they are placed, how they find each other, and how they are found dead.

All else is as with workers on this machine (`engines.workers`). Loads Ray on use: `pip install 'shardwright[ray]'`.
"""

__all__: list[str] = []
