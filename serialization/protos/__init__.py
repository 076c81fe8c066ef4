"""Schemas of what is stored: `.proto` files and the code that `make protos` generates from them."""
