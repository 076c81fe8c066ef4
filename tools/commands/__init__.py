"""The commands of `shardwright`, one file each."""
