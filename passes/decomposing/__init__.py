"""Passes that take ops apart: composed ones, custom calls, gradients."""
