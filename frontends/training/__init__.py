"""Training: variables, modules, optimizers, metrics, datasets and strategies."""

from shardwright.frontends.training import distribute, metrics, optimizers
from shardwright.frontends.training.datasets import create_dtensor_iterable
from shardwright.frontends.training.modules import Module
from shardwright.frontends.training.variables import Variable, device, name_scope

__all__ = [
    "Module",
    "Variable",
    "create_dtensor_iterable",
    "device",
    "distribute",
    "metrics",
    "name_scope",
    "optimizers",
]
