"""Metrics: `shardwright.metrics`."""

from shardwright.frontends.training.metrics._metrics import Accuracy, Mean, Metric, Sum

__all__ = ["Accuracy", "Mean", "Metric", "Sum"]
