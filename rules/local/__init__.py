"""Local hooks: what an op needs beyond new types on each device."""
