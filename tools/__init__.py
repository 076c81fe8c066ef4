"""The commands `shardwright-opt` and `shardwright`, and the renderers of their reports."""
