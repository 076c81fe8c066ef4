"""Optimizers: `shardwright.optimizers`."""

from shardwright.frontends.training.optimizers._optimizers import (
    SGD,
    Adam,
    AdamW,
    Optimizer,
    Schedule,
    clip_by_global_norm,
    global_norm,
)

__all__ = ["SGD", "Adam", "AdamW", "Optimizer", "Schedule", "clip_by_global_norm", "global_norm"]
