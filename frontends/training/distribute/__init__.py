"""Strategies and pipelines: `shardwright.distribute` gives variables, batches and stages their places."""

from shardwright.frontends.training.distribute._pipeline import Pipeline
from shardwright.frontends.training.distribute._strategy import DTensorStrategy, InputContext, get_strategy

__all__ = ["DTensorStrategy", "InputContext", "Pipeline", "get_strategy"]
