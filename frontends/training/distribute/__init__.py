"""Strategies: `shardwright.distribute`, which give variables and batches their places, as `tf.distribute` does."""

from shardwright.frontends.training.distribute._strategy import DTensorStrategy, InputContext, get_strategy

__all__ = ["DTensorStrategy", "InputContext", "get_strategy"]
