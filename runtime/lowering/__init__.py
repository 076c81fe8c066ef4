"""From ops to steps: an emitter for each op."""
