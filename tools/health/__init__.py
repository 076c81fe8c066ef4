"""What `shardwright doctor` looks at: packages, the machine, folders, and whether a program comes out right."""
