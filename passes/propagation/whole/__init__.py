"""All layouts and strategies of a small program at once, as a cost network that is solved exactly."""
