"""The commands of `shardwright` about stored messages, directories and checkpoints."""
