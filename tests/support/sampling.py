"""How many examples a property is tried on: all of them in `make test-full`, a share by default."""

from __future__ import annotations

from hypothesis import settings

SHARE = "a share of the examples"
"""The profile of the default suite: of a hundred examples of a test it takes `max_examples`."""


def examples(most: int) -> settings:
    """At most so many examples, or the share of them that the profile says."""
    return settings(max_examples=most * settings.default.max_examples // 100)
