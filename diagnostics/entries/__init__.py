"""Every error code by area: what it means, and what to do about it."""
