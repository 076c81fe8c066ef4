"""Planned programs in the words of others: StableHLO for each device, Shardy for all."""
