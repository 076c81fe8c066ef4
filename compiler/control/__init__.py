"""Regions and gradients in programs that are being traced."""
