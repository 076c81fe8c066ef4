"""From Python functions to traced programs."""
