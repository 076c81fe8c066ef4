"""Cost networks: what to choose at each node, where neighbours' choices cost something together. Pure data."""

from shardwright.networks.network import Memory, Network, Solution
from shardwright.networks.solving import solve

__all__ = ["Memory", "Network", "Solution", "solve"]
