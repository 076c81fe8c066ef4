"""The proof of the sharding table by brute force."""
