"""What the ops of StableHLO are made of: attributes, constants, shapes, and their syntax."""
