"""
From Python functions and StableHLO text to partitioned programs.

`tracing/` writes programs down, `control/` their regions and gradients, `stages` takes them through `pipelines`,
`report` says what they send.
"""

__all__: list[str] = []
