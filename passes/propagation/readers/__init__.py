"""What the readers of a value have in common: where a partial sum is finished, and which copies serve several."""
