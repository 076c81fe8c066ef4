"""How one layout becomes another: what collectives do, what they send, and the cheapest sequence."""
