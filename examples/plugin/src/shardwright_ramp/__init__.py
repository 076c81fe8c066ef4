"""A plugin of Shardwright: importing it adds an op with all that belongs to it, a pass, and an engine."""

from shardwright_ramp import count_ops, engine, sharding
from shardwright_ramp.running import ramp

__all__ = ["count_ops", "engine", "ramp", "sharding"]
