"""For every test: JAX, where a test uses it, has eight host devices. It reads this when it first looks for devices."""

import os

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")
