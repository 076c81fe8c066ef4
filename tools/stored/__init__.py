"""What commands know of stored messages."""
