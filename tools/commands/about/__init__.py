"""The commands about Shardwright itself: its codes, its installation, its command line."""
