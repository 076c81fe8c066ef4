"""The layouts of whole programs: decided ones to look at, chosen ones within a memory limit, and none at all."""
